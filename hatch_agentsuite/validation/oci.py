"""AS-OCI-001: the OCI layout, index, manifest, descriptors, config and the one content layer (specification 4).

These are OCI documents: an unknown member is a warning, never an error, as the OCI image specification asks.
Verification comes before use: every blob is hashed against its descriptor before a byte of it is interpreted, and the
layer once more while it is read, so that a file which changes in between is noticed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import agentsuite_schemas
from hatch_agentsuite.archive.layer import LayerSink, read_layer
from hatch_agentsuite.content import ContentTree, Observer
from hatch_agentsuite.findings import Finding, pointer
from hatch_agentsuite.jsondoc import JSONDocumentError, digest_bytes, is_digest, loads
from hatch_agentsuite.layout import EMPTY_CONFIG_DIGEST, INDEX_FILE, LAYOUT_FILE, Layout, LayoutError, blob_path
from hatch_agentsuite.limits import Limits
from hatch_agentsuite.regular import CHUNK

REQUIREMENT = "AS-OCI-001"

_KNOWN_MEMBERS = {
    "oci/oci-layout": {"imageLayoutVersion"},
    "oci/image-index": {"schemaVersion", "mediaType", "artifactType", "manifests", "subject", "annotations"},
    "oci/image-manifest": {"schemaVersion", "mediaType", "artifactType", "config", "layers", "subject", "annotations"},
}


@dataclass
class Envelope:
    """What an image layout led to; ``tree`` is None when the layer could not be read safely.

    ``documents`` holds the values of the layout's own documents by file, also of those that are not as they should be.
    """

    findings: list[Finding]
    manifest_digest: str | None = None
    manifest: dict[str, Any] | None = None
    layer_size: int = 0
    tree: ContentTree | None = None
    documents: dict[str, Any] = field(default_factory=dict)


def read_envelope(
    layout: Layout, limits: Limits, sink: LayerSink | None = None, observer: Observer | None = None
) -> Envelope:
    """Return the content tree that a layout carries, and what is wrong with the envelope.

    The first fault of a document ends the way through it; nothing that failed verification is interpreted.
    """
    envelope = Envelope([])
    marker = _document(layout, LAYOUT_FILE, "oci/oci-layout", limits, envelope)
    index = _document(layout, INDEX_FILE, "oci/image-index", limits, envelope)
    if marker is None or index is None or not _check_index_size(index, limits, envelope):
        return envelope
    selected = index["manifests"][0]
    digest = selected["digest"]
    if not _verify(layout, selected, f"{INDEX_FILE}#/manifests/0", envelope):
        return envelope
    envelope.manifest_digest = digest
    name = blob_path(digest)
    manifest = envelope.manifest = _document(layout, name, "oci/image-manifest", limits, envelope, digest)
    if manifest is None:
        return envelope
    _check_config(layout, manifest["config"], name, envelope)
    layer = manifest["layers"][0]
    envelope.layer_size = layer["size"]
    if _verify(layout, layer, f"{name}#/layers/0", envelope):
        envelope.tree = _read_content(layout, layer, name, limits, envelope, sink, observer)
    return envelope


def has_blob(layout: Layout, descriptor: dict[str, Any]) -> str | None:
    """Return what is wrong with the blob that a descriptor names, or None (4.2)."""
    try:
        with layout.open(blob_path(descriptor["digest"])) as stream:
            return _compare(descriptor, *_hash(stream, descriptor["size"]))
    except LayoutError as error:
        return str(error)


def _document(
    layout: Layout, name: str, kind: str, limits: Limits, envelope: Envelope, digest: str | None = None
) -> dict[str, Any] | None:
    try:
        with layout.open(name) as stream:
            data = stream.read(limits.json.document_bytes + 1)
        value = loads(data, limits.json)
        if digest and digest_bytes(data) != digest:
            raise LayoutError("it changed while it was read")
    except LayoutError as error:
        _report(envelope, name, f"the file cannot be used: {error}")
        return None
    except JSONDocumentError as error:
        location = f"{name}#{error.pointer}"
        envelope.findings.append(
            Finding(REQUIREMENT, "oci", location, error.message, error.hint, line=error.line, column=error.column)
        )
        return None
    envelope.documents[name] = value
    faults = list(_shape(kind, name, value))
    envelope.findings.extend(faults)
    if any(fault.is_error for fault in faults) or not isinstance(value, dict):
        return None
    return value


def _shape(kind: str, name: str, value: Any) -> Iterator[Finding]:
    for error in agentsuite_schemas.validator(kind).errors(value, show_values=True):
        location = f"{name}#{pointer(*error.path)}"
        hint = ""
        if error.path == ("manifests",) and error.keyword == "maxItems":
            hint = "`skopeo copy` into an existing layout and `umoci tag` add descriptors; copy to a fresh directory"
        yield Finding(REQUIREMENT, "oci", location, error.message, hint)
    if isinstance(value, dict):
        for member in sorted(set(value) - _KNOWN_MEMBERS[kind]):
            message = "the member is not known to this version of the OCI specification"
            yield Finding(REQUIREMENT, "oci", f"{name}#{pointer(member)}", message, severity="warning")


def _check_index_size(index: dict[str, Any], limits: Limits, envelope: Envelope) -> bool:
    total = sum(item["size"] for item in index["manifests"])
    if len(index["manifests"]) <= limits.index_descriptors and total <= limits.index_bytes:
        return True
    _report(envelope, f"{INDEX_FILE}#/manifests", f"the index references more than {limits.index_bytes:,} bytes")
    return False


def _verify(layout: Layout, descriptor: dict[str, Any], location: str, envelope: Envelope) -> bool:
    """Check size and digest of a descriptor's blob, and its inline data; report and return False on a mismatch."""
    digest = descriptor["digest"]
    if not is_digest(digest):
        _report(envelope, f"{location}/digest", "the digest is not `sha256:` and 64 lowercase hexadecimal digits")
        return False
    fault = has_blob(layout, descriptor)
    if fault:
        _report(envelope, location, f"blob {blob_path(digest)}: {fault}")
        return False
    if "data" not in descriptor:
        return True
    try:
        inline = base64.b64decode(descriptor["data"], validate=True)
    except (binascii.Error, ValueError):
        _report(envelope, f"{location}/data", "the inline data is not base64")
        return False
    if _compare(descriptor, len(inline), f"sha256:{hashlib.sha256(inline).hexdigest()}"):
        _report(envelope, f"{location}/data", "the inline data is not the bytes of the blob")
        return False
    return True


def _check_config(layout: Layout, config: dict[str, Any], name: str, envelope: Envelope) -> None:
    location = f"{name}#/config"
    if not _verify(layout, config, location, envelope):
        return
    if config["digest"] != EMPTY_CONFIG_DIGEST:
        _report(envelope, location, "the config blob is not exactly `{}`", "AgentSuites have the empty OCI config")


def _read_content(
    layout: Layout,
    layer: dict[str, Any],
    name: str,
    limits: Limits,
    envelope: Envelope,
    sink: LayerSink | None,
    observer: Observer | None,
) -> ContentTree | None:
    try:
        with layout.open(blob_path(layer["digest"])) as stream:
            observed = _HashingReader(stream)
            tree = read_layer(observed, limits, sink, observer)  # type: ignore[arg-type]
    except LayoutError as error:
        _report(envelope, f"{name}#/layers/0", f"the layer can no longer be read: {error}")
        return None
    if tree.complete and observed.digest() != layer["digest"]:
        _report(envelope, f"{name}#/layers/0", "the layer changed while it was read")
        return None
    return tree


class _HashingReader:
    """Hashes what is read through it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._hasher = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._hasher.update(data)
        return data

    def digest(self) -> str:
        return f"sha256:{self._hasher.hexdigest()}"


def _hash(stream: BinaryIO, expected: int) -> tuple[int, str]:
    """Return size and digest, reading at most one byte more than expected."""
    hasher = hashlib.sha256()
    size = 0
    while size <= expected and (chunk := stream.read(min(CHUNK, expected + 1 - size))):
        hasher.update(chunk)
        size += len(chunk)
    return size, f"sha256:{hasher.hexdigest()}"


def _compare(descriptor: dict[str, Any], size: int, digest: str) -> str | None:
    if size > descriptor["size"]:
        return f"it has more than the {descriptor['size']:,} bytes its descriptor says"
    if size < descriptor["size"]:
        return f"it has {size:,} bytes; its descriptor says {descriptor['size']:,}"
    if digest != descriptor["digest"]:
        return f"its bytes have the digest {digest}"
    return None


def _report(envelope: Envelope, location: str, message: str, hint: str = "") -> None:
    envelope.findings.append(Finding(REQUIREMENT, "oci", location, message, hint))
