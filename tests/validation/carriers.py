"""Layers and image layouts made of ``tarfile`` headers and ``gzip``, every part of them open to change."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hatch_agentsuite.jsondoc import digest_bytes

Json = dict[str, Any]
Change = Callable[[Json], object]

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
SUITE = "application/vnd.agentsuite.suite.v1"
LAYER = "application/vnd.agentsuite.content.v1.tar+gzip"
EMPTY = "application/vnd.oci.empty.v1+json"


@dataclass(frozen=True)
class TarEntry:
    """One entry of a tar, as hostile as it has to be."""

    name: str
    kind: bytes = b"0"
    mode: int = 0o644
    data: bytes = b""
    target: str = ""
    time: int = 0
    owner: int = 0
    pax: dict[str, str] = field(default_factory=dict)

    def block(self) -> bytes:
        info = tarfile.TarInfo(self.name + ("/" if self.kind == b"5" else ""))
        info.type, info.mode, info.linkname = self.kind, self.mode, self.target
        info.mtime, info.uid, info.gid = self.time, self.owner, self.owner
        info.size = len(self.data)
        info.pax_headers = dict(self.pax)
        return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape") + self.data + bytes(-len(self.data) % 512)


def tar(entries: Iterable[TarEntry]) -> bytes:
    """Return a tar that ends with two zero blocks."""
    return b"".join(entry.block() for entry in entries) + bytes(1024)


def gzipped(data: bytes, time: int = 0) -> bytes:
    """Return one gzip member."""
    stream = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=time, compresslevel=1) as member:
        member.write(data)
    return stream.getvalue()


def described(media_type: str, data: bytes) -> Json:
    """Return the descriptor of some bytes."""
    return {"mediaType": media_type, "digest": digest_bytes(data), "size": len(data)}


def blob(root: Path, data: bytes) -> Path:
    """Put a blob into a layout."""
    path = root / "blobs" / "sha256" / digest_bytes(data).removeprefix("sha256:")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def layout(
    root: Path,
    layer: bytes,
    *,
    blobs: Iterable[bytes] = (),
    config: bytes = b"{}",
    marker: Change | None = None,
    index: Change | None = None,
    manifest: Change | None = None,
) -> Path:
    """Write an image layout; each change is given the document to change it in place."""
    for data in (layer, config, *blobs):
        blob(root, data)
    document: Json = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": SUITE,
        "config": described(EMPTY, config),
        "layers": [described(LAYER, layer)],
    }
    data = _changed(document, manifest)
    blob(root, data)
    selected = {**described(MANIFEST, data), "artifactType": SUITE}
    whole: Json = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [selected]}
    (root / "index.json").write_bytes(_changed(whole, index))
    (root / "oci-layout").write_bytes(_changed({"imageLayoutVersion": "1.0.0"}, marker))
    return root


def archived(root: Path, path: Path) -> Path:
    """Write the files of a layout into one tar."""
    names = sorted(item.relative_to(root).as_posix() for item in root.rglob("*") if item.is_file())
    path.write_bytes(tar(TarEntry(name, data=(root / name).read_bytes()) for name in names))
    return path


def blob_of(root: Path, part: str) -> Path:
    """Return the file of the manifest, config or layer of a layout."""
    selected: Json = json.loads((root / "index.json").read_bytes())["manifests"][0]
    path = root / "blobs" / "sha256" / str(selected["digest"]).removeprefix("sha256:")
    if part == "manifest":
        return path
    document = json.loads(path.read_bytes())
    found: Json = document["config"] if part == "config" else document["layers"][0]
    return path.with_name(str(found["digest"]).removeprefix("sha256:"))


def _changed(document: Json, change: Change | None) -> bytes:
    if change:
        change(document)
    return json.dumps(document).encode()
