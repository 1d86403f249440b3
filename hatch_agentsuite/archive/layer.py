"""The content layer: entries packed into one tar+gzip blob, and a blob read back into a content tree.

Packing and reading both stream; what is held is one entry's metadata at a time, a few blocks, and JSON documents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from hatch_agentsuite.archive.gzip import BlockGzipWriter, Codec, GzipError, GzipReader
from hatch_agentsuite.archive.pieces import Pieces
from hatch_agentsuite.archive.tar import END, TarError, TarReader, header, padding
from hatch_agentsuite.content import ContentTree, Entry, Observer, TreeLimitError
from hatch_agentsuite.findings import Finding, RefusedError, printable
from hatch_agentsuite.limits import DEFAULT_LIMITS, Limits
from hatch_agentsuite.regular import read_regular

Progress = Callable[[int], None]
"""Called with the number of payload bytes that were done since the last call."""


class Member(NamedTuple):
    """An entry and where its bytes come from, if it has any: memory, or the folder below which its path leads to them.

    ``entry.digest`` and ``entry.size`` were found when the file was first read; packing verifies them.
    """

    entry: Entry
    source: bytes | Path | None = None


@dataclass(frozen=True)
class Blob:
    """What a written blob turned out to be."""

    digest: str
    size: int


def write_layer(
    stream: BinaryIO,
    members: Iterable[Member],
    *,
    codec: Codec = "zlib",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Blob:
    """Write a content layer to ``stream`` and return its digest and size.

    ``members`` come sorted, parents before children; equal members give equal bytes whatever ``workers`` is. Raises
    :class:`RefusedError` when a file is no longer what it was when it was hashed, and :class:`OSError` when the stream
    cannot be written.
    """
    sink = HashingSink(stream)
    with BlockGzipWriter(sink, codec, workers) as compressed:
        for member in members:
            compressed.write(header(member.entry))
            if member.entry.type != "file":
                continue
            for chunk in _verified(member):
                compressed.write(chunk)
                if progress:
                    progress(len(chunk))
            compressed.write(padding(member.entry.size))
        compressed.write(END)
    return sink.blob()


class HashingSink:
    """Writes to a stream and hashes on the way."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._hasher = hashlib.sha256()
        self._size = 0

    def write(self, data: bytes) -> int:
        """Write and hash all of ``data``."""
        self._stream.write(data)
        self._hasher.update(data)
        self._size += len(data)
        return len(data)

    def blob(self) -> Blob:
        """Return digest and size of everything written so far."""
        return Blob(f"sha256:{self._hasher.hexdigest()}", self._size)


def read_layer(
    stream: BinaryIO,
    limits: Limits = DEFAULT_LIMITS,
    sink: LayerSink | None = None,
    observer: Observer | None = None,
) -> ContentTree:
    """Return the content tree of a layer blob; what is wrong with the archive are findings of the tree.

    A fault that ends reading leaves the tree as it was found so far. ``sink``, where given, receives every admitted
    entry with its bytes, in order, up to the first fault; ``observer`` sees the bytes of every regular file.
    """
    tree = ContentTree(limits, observer=observer)
    gzip = GzipReader(stream.read)
    pieces = Pieces(gzip)
    try:
        reader = TarReader(pieces)
        for found in reader:
            if found.time_fault:
                tree.report(found.entry.path, found.time_fault, "content layers carry no times")
            if tree.admit(found.entry):
                _read_entry(tree, found.entry, reader, None if tree.findings else sink)
    except GzipError as error:
        tree.report("", str(error), category="oci")
        tree.complete = False
    except TarError as error:
        tree.report(error.path, error.message)
        tree.complete = False
    except TreeLimitError:
        tree.complete = False
    finally:
        pieces.close()
    if gzip.time_fault:
        tree.report("", "a gzip modification time is not zero", "content layers carry no times")
    if gzip.members > 1:
        tree.findings.append(
            Finding(
                "AS-PATH-001",
                "path",
                "",
                f"the layer has {gzip.members:,} gzip members; some readers stop after the first",
                "pack the suite again to get a single member",
                severity="warning",
            )
        )
    return tree


class LayerSink:
    """Receives a layer's entries; the base takes them and does nothing."""

    def entry(self, entry: Entry, chunks: Iterator[bytes]) -> None:
        """Take an entry in; ``chunks`` yields a regular file's bytes and is empty for anything else."""


def _read_entry(tree: ContentTree, entry: Entry, reader: TarReader, sink: LayerSink | None) -> None:
    if entry.type != "file":
        tree.add(entry)
        if sink:
            sink.entry(entry, iter(()))
        return
    hasher = hashlib.sha256()
    kept: list[bytes] | None = [] if tree.retains(entry) else None

    def hashed() -> Iterator[bytes]:
        for chunk in reader.data():
            hasher.update(chunk)
            if kept is not None:
                kept.append(chunk)
            yield chunk

    chunks = tree.observed(entry, hashed())
    if sink:
        sink.entry(entry, chunks)
    for _ in chunks:
        pass
    digest = f"sha256:{hasher.hexdigest()}"
    tree.add(entry._replace(digest=digest), None if kept is None else b"".join(kept))


def _verified(member: Member) -> Iterator[bytes]:
    """Yield a file's bytes, having found at the end that they are still those that were hashed."""
    entry, source = member.entry, member.source
    if isinstance(source, bytes):
        yield source
        return
    assert source is not None
    hasher = hashlib.sha256()
    left = entry.size
    try:
        for chunk in read_regular(f"{source}/{entry.path}", left + 1):
            left -= len(chunk)
            if left < 0:
                break
            hasher.update(chunk)
            yield chunk
    except OSError as error:
        raise RefusedError(_change(entry, f"the file can no longer be read: {error.strerror or error}")) from None
    if left or f"sha256:{hasher.hexdigest()}" != entry.digest:
        raise RefusedError(_change(entry, "the file changed while it was packed"))


def _change(entry: Entry, message: str) -> Finding:
    hint = "build again when nothing writes to the source tree"
    return Finding("SOURCE-CHANGE-001", "digest", printable(entry.path), message, hint)
