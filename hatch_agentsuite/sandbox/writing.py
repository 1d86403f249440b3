"""The output: our layer as tar and gzip, blobs of other images linked or copied, manifests, index and layout."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from hatch_agentsuite.archive.gzip import BlockGzipWriter, Codec
from hatch_agentsuite.archive.layer import HashingSink
from hatch_agentsuite.archive.tar import END, header, padding
from hatch_agentsuite.content import Entry, EntryType
from hatch_agentsuite.documents import IMAGE_INDEX_MEDIA_TYPE
from hatch_agentsuite.findings import Finding, RefusedError, printable
from hatch_agentsuite.jsondoc import canonical, digest_bytes
from hatch_agentsuite.layout import BLOBS, INDEX_FILE, LAYOUT_FILE, LayoutError, blob_path, descriptor
from hatch_agentsuite.regular import CHUNK
from hatch_agentsuite.sandbox.composing import Planned, chunks
from hatch_agentsuite.sandbox.images import ImageStore

_TYPES: dict[str, EntryType] = {"file": "file", "directory": "directory", "symlink": "symlink"}
_MAX_OWNER = 8**7 - 1
_CLONE: Final = 0x40049409  # FICLONE of linux/fs.h


@dataclass(frozen=True)
class Written:
    """A layer that was written: digest and size of the blob, digest of the tar in it."""

    digest: str
    size: int
    diff_id: str


class _Tar:
    """Hashes a tar on its way into the compressor."""

    def __init__(self, compressed: BlockGzipWriter) -> None:
        self._compressed = compressed
        self._hasher = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self._hasher.update(data)
        self._compressed.write(data)

    def diff_id(self) -> str:
        return f"sha256:{self._hasher.hexdigest()}"


def write_layer(
    stream: BinaryIO, entries: list[tuple[str, Planned]], epoch: int, codec: Codec, workers: int | None
) -> Written:
    """Write our layer; equal entries give equal bytes, whatever ``workers`` is."""
    sink = HashingSink(stream)
    with BlockGzipWriter(sink, codec, workers) as compressed:
        tar = _Tar(compressed)
        for path, planned in entries:
            if max(planned.node.uid, planned.node.gid) > _MAX_OWNER:
                continue  # a folder of the base whose owner does not fit a header; it is there without us
            tar.write(tar_header(path, planned, epoch))
            if planned.node.kind == "file":
                for chunk in _unchanged(path, planned):
                    tar.write(chunk)
                tar.write(padding(planned.node.size))
        tar.write(END)
    blob = sink.blob()
    return Written(blob.digest, blob.size, tar.diff_id())


def tar_header(path: str, planned: Planned, epoch: int) -> bytes:
    """Return the header of an entry with owner, mode and time, which a suite's own headers never have."""
    node = planned.node
    kind = _TYPES[node.kind]
    plain = header(Entry(path[1:], kind, node.mode, size=node.size, link_target=node.target or None))
    block = bytearray(plain[-512:])
    block[100:124] = b"%07o\0%07o\0%07o\0" % (node.mode, node.uid, node.gid)
    block[136:148] = b"%011o\0" % epoch
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return plain[:-512] + bytes(block)


def _unchanged(path: str, planned: Planned) -> Iterator[bytes]:
    size = 0
    for chunk in chunks(planned):
        size += len(chunk)
        yield chunk
    if size != planned.node.size:
        raise RefusedError(Finding("ASI-SRC-001", "digest", printable(path), "the file changed while it was packed"))


class LayoutWriter:
    """An image layout that is being written; a blob that is there is not written again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / BLOBS).mkdir(parents=True)

    def layer(self, entries: list[tuple[str, Planned]], epoch: int, codec: Codec, workers: int | None) -> Written:
        """Write our layer as a blob."""
        unnamed = self._folder / BLOBS / "layer"
        with unnamed.open("xb") as stream:
            written = write_layer(stream, entries, epoch, codec, workers)
        unnamed.replace(self._folder / blob_path(written.digest))
        return written

    def open(self, digest: str) -> BinaryIO:
        """Open a blob that was written."""
        return (self._folder / blob_path(digest)).open("rb")

    def document(self, media_type: str, value: Mapping[str, Any]) -> dict[str, Any]:
        """Write a document as a blob of canonical JSON and return its descriptor."""
        return self.blob(media_type, canonical(dict(value)))

    def blob(self, media_type: str, data: bytes) -> dict[str, Any]:
        """Write bytes as a blob and return its descriptor."""
        digest = digest_bytes(data)
        (self._folder / blob_path(digest)).write_bytes(data)
        return descriptor(media_type, digest, len(data))

    def take(self, store: ImageStore, digest: str) -> None:
        """Take a verified blob over: cloned or linked where the file system can do it, else copied and hashed again."""
        target = self._folder / blob_path(digest)
        if target.exists():
            return
        source = store.file(digest)
        if source is not None and (_clone(source, target) or _link(source, target)):
            return
        try:
            with store.whole(digest) as stream, target.open("wb") as copy:
                sink = HashingSink(copy)
                while chunk := stream.read(CHUNK):
                    sink.write(chunk)
        except LayoutError as error:
            raise RefusedError(Finding("ASI-SRC-001", "build", digest, f"the layer is gone: {error}")) from None
        if sink.blob().digest != digest:
            raise RefusedError(Finding("ASI-SRC-001", "digest", digest, "the layer changed while it was copied"))

    def finish(self, descriptors: list[dict[str, Any]]) -> None:
        """Write the index and the marker of the layout."""
        index = {"schemaVersion": 2, "mediaType": IMAGE_INDEX_MEDIA_TYPE, "manifests": descriptors}
        (self._folder / INDEX_FILE).write_bytes(canonical(index))  # type: ignore[arg-type]
        (self._folder / LAYOUT_FILE).write_bytes(canonical({"imageLayoutVersion": "1.0.0"}))


def _clone(source: Path, target: Path) -> bool:
    """Let two files share their blocks, where the file system knows how to."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        with source.open("rb") as original, target.open("xb") as copy:
            fcntl.ioctl(copy.fileno(), _CLONE, original.fileno())
    except OSError:
        target.unlink(missing_ok=True)
        return False
    return True


def _link(source: Path, target: Path) -> bool:
    """Give a file a second name, if it is ours and has the mode of output; a mode is common to both names."""
    with suppress(OSError):
        status = source.lstat()
        is_ours = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
        if is_ours and stat.S_IMODE(status.st_mode) == 0o644:
            os.link(source, target)
            return True
    return False
