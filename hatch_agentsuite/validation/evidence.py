"""Blobs of SBOM and provenance descriptors are present in the layout (specification 4.2; part of AS-OCI-001).

In an extracted directory this cannot be judged. Images in build profiles lie outside the layout (11).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hatch_agentsuite.findings import Finding, pointer
from hatch_agentsuite.layout import Layout, blob_path
from hatch_agentsuite.validation.oci import REQUIREMENT, has_blob
from hatch_agentsuite.validation.suite import Suite

MEMBERS = ("sbom", "provenance")


def evidence(suite: Suite) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield location and descriptor of every SBOM and provenance document."""
    for document, index, variant in suite.variants():
        for member in MEMBERS:
            if member in variant:
                yield f"{document.path}#{pointer('variants', index, member)}", variant[member]


def check(suite: Suite, layout: Layout) -> Iterator[Finding]:
    """Yield descriptors whose blob is absent or different."""
    faults: dict[tuple[str, int], str | None] = {}
    for location, descriptor in evidence(suite):
        blob = (descriptor["digest"], descriptor["size"])
        if blob not in faults:
            faults[blob] = has_blob(layout, descriptor)
        fault = faults[blob]
        if fault:
            yield Finding(
                REQUIREMENT,
                "oci",
                location,
                f"blob {blob_path(descriptor['digest'])}: {fault}",
                "tools that copy only what the OCI manifest names, such as `skopeo copy`, leave these blobs behind",
            )
