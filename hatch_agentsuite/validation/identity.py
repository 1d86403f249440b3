"""AS-ID-001: every content-addressed identity matches its algorithm (specification 6, 11).

Manifests are compared by their JCS digest, other files by their exact bytes, variants by the rule of 6.3. The digest
in a build profile's ``imageRef`` must be the one in its descriptor (11).
"""

from __future__ import annotations

from collections.abc import Iterator

from hatch_agentsuite.findings import Finding, pointer
from hatch_agentsuite.jsondoc import variant_digest
from hatch_agentsuite.validation.suite import Suite

REQUIREMENT = "AS-ID-001"


def check(suite: Suite) -> Iterator[Finding]:
    """Yield every identity that does not match what it names."""
    for reference in suite.references:
        if reference.kind:
            document = suite.documents.get(reference.path)
            actual = document.digest if document else None
        else:
            entry = suite.entry(reference.path)
            actual = entry.digest if entry and entry.type == "file" else None
        if actual and actual != reference.digest:
            what = "JCS digest" if reference.kind else "digest of the exact bytes"
            yield _stale(f"{reference.location}/digest", f"{what} of {reference.path}", reference.digest, actual)
    for document, index, variant in suite.variants():
        actual = variant_digest(variant)
        if variant["variantDigest"] != actual:
            location = f"{document.path}#{pointer('variants', index, 'variantDigest')}"
            yield _stale(location, "digest of the variant (section 6.3)", variant["variantDigest"], actual)
    for document in suite.profiles.values():
        for member in ("runtimeBase", "harness"):
            for index, image in enumerate((document.value or {}).get(member, [])):
                if image["imageRef"].rpartition("@")[2] != image["image"]["digest"]:
                    yield Finding(
                        REQUIREMENT,
                        "build",
                        f"{document.path}#{pointer(member, index, 'imageRef')}",
                        "the digest in the image reference is not the digest of the image descriptor",
                        f"it should end in @{image['image']['digest']}",
                    )


def _stale(location: str, what: str, written: str, actual: str) -> Finding:
    return Finding(REQUIREMENT, "digest", location, f"the {what} is {actual}, not {written}", "write the former")
