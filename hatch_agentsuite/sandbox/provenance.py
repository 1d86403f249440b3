"""Where an image comes from, as an unsigned in-toto statement: an artifact of the layout whose subject is the image.

It is evidence and no proof (12.1, 13): whoever signs it makes it one. No time and no host is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hatch_agentsuite.documents import EMPTY_CONFIG_MEDIA_TYPE, IMAGE_MANIFEST_MEDIA_TYPE
from hatch_agentsuite.findings import Finding, printable
from hatch_agentsuite.jsondoc import JSONDocumentError, canonical, loads
from hatch_agentsuite.layout import EMPTY_CONFIG, LayoutError
from hatch_agentsuite.sandbox.images import Image, ImageStore, is_descriptor
from hatch_agentsuite.sandbox.sources import REQUIREMENT, Selection
from hatch_agentsuite.sandbox.writing import LayoutWriter

MEDIA_TYPE: Final = "application/vnd.in-toto+json"
PREDICATE: Final = "https://slsa.dev/provenance/v1"
BUILD_TYPE: Final = "https://hatch-agentsuite.dev/sandbox-image/v1"


def statement(
    name: str,
    images: list[dict[str, Any]],
    suite_digest: str,
    selections: list[Selection],
    inputs: list[Image],
) -> dict[str, Any]:
    """Return the statement that images were made from a suite and from other images."""
    first = selections[0]
    role = "agent" if first.sources.agent is not None else "toolProvider"
    materials = {image.digest: {"uri": f"oci://{image.reference}", **_digest(image.digest)} for image in inputs}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, **_digest(item["digest"])} for item in images],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {role: first.name, "platforms": [item.platform for item in selections]},
                "internalParameters": {
                    "buildProfiles": sorted({item.sources.composition["buildProfile"] for item in selections})
                },
                "resolvedDependencies": [
                    {"name": "suite", **_digest(suite_digest)},
                    *(materials[key] for key in sorted(materials)),
                ],
            },
            "runDetails": {"builder": {"id": "https://hatch-agentsuite.dev/image-build/v1"}},
        },
    }


def attach(writer: LayoutWriter, subject: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """Write a statement as an artifact that refers to ``subject``; return its descriptor for the index."""
    layer = writer.blob(MEDIA_TYPE, canonical(value))
    layer["annotations"] = {"in-toto.io/predicate-type": PREDICATE}
    manifest = {
        "schemaVersion": 2,
        "mediaType": IMAGE_MANIFEST_MEDIA_TYPE,
        "artifactType": MEDIA_TYPE,
        "config": writer.blob(EMPTY_CONFIG_MEDIA_TYPE, EMPTY_CONFIG),
        "layers": [layer],
        "subject": {name: subject[name] for name in ("mediaType", "digest", "size")},
    }
    return {**writer.document(IMAGE_MANIFEST_MEDIA_TYPE, manifest), "artifactType": MEDIA_TYPE}


def check(store: ImageStore, index: dict[str, Any], top: dict[str, Any]) -> Iterator[Finding]:
    """Yield what is wrong with the statements that a layout carries: blobs, and what they are about."""
    for item in index["manifests"]:
        if item.get("artifactType") != MEDIA_TYPE:
            continue
        try:
            manifest = _object(store.document(item["digest"], item["size"], "provenance"))
            subject, layers = manifest.get("subject"), manifest.get("layers")
            if not isinstance(subject, dict) or subject.get("digest") != top["digest"]:
                yield _finding(item, "the provenance is not about this image")
            if not isinstance(layers, list) or not all(map(is_descriptor, layers)):
                raise LayoutError("its manifest has no list of statements")
            for layer in layers:
                value = _object(store.document(layer["digest"], layer["size"], "provenance"))
                if value.get("predicateType") != PREDICATE:
                    yield _finding(item, f"the statement is none of type {PREDICATE}")
        except LayoutError as error:
            yield _finding(item, f"the provenance cannot be used: {error}")


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = loads(data)
    except JSONDocumentError as error:
        raise LayoutError(error.message) from None
    if not isinstance(value, dict):
        raise LayoutError("a document is no object")
    return value


def _finding(item: dict[str, Any], message: str) -> Finding:
    return Finding(REQUIREMENT, "build", item["digest"], printable(message))


def _digest(digest: str) -> dict[str, Any]:
    return {"digest": {"sha256": digest.removeprefix("sha256:")}}
