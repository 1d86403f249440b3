"""One gzip member, compressed on all cores to bytes that do not depend on how many, and gzip read strictly.

The stream is cut into blocks of exactly 1 MiB, a format constant. Each block is deflated by itself with the previous
32 KiB as dictionary and ended by a sync flush, so blocks can be compressed side by side and still form one stream.
The header is written by hand: no flags, no time, XFL 0, OS 255 (unknown).
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Final, Literal, Protocol

BLOCK: Final = 1 << 20
HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

Codec = Literal["zlib", "store", "zlib-ng"]
CODECS: Final[tuple[Codec, ...]] = ("zlib", "store", "zlib-ng")

_WINDOW = 32 * 1024
_LEVEL = 6
_STORED_MAX = 65_535
_EMPTY_STORED_BLOCK = b"\x01\x00\x00\xff\xff"

Deflate = Callable[[bytes, bytes, bool], bytes]


class Sink(Protocol):
    """Where compressed bytes go."""

    def write(self, data: bytes, /) -> object:
        """Take all the bytes."""
        ...


class GzipError(Exception):
    """A stream that is not gzip as this project reads it."""


# --- out ---------------------------------------------------------------------------------------------------------


class BlockGzipWriter:
    """Compresses what is written to it into ``sink``; :meth:`close` ends the member.

    ``workers`` threads compress and one more writes; at most twice as many blocks wait, so memory does not grow with
    the input. What ``sink`` raises is raised by a later :meth:`write`, or by :meth:`close`.
    """

    def __init__(self, sink: Sink, codec: Codec = "zlib", workers: int | None = None) -> None:
        self._sink = sink
        self._deflate = deflater(codec)
        count = workers or default_workers()
        self._deflating = ThreadPoolExecutor(count, thread_name_prefix="deflate")
        self._emitting = ThreadPoolExecutor(1, thread_name_prefix="emit")
        self._waiting: deque[Future[None]] = deque()
        self._most_waiting = 2 * count
        self._parts: list[bytes] = []
        self._length = 0
        self._dictionary = b""
        self._checksum = 0
        self._size = 0
        sink.write(HEADER)

    def write(self, data: bytes) -> None:
        """Take bytes of the uncompressed stream in."""
        self._parts.append(data)
        self._length += len(data)
        # Strictly longer: only the end of the input tells which block is the last one.
        if self._length > BLOCK:
            self._cut()

    def close(self) -> None:
        """Compress what is left and write the trailer."""
        try:
            self._submit(b"".join(self._parts), last=True)
            while self._waiting:
                self._waiting.popleft().result()
            self._sink.write(struct.pack("<II", self._checksum, self._size & 0xFFFFFFFF))
        finally:
            self._stop()

    def _cut(self) -> None:
        """Submit whole blocks, and keep what is left, which is at least a byte of the last part."""
        while self._length > BLOCK:
            self._length -= BLOCK
            part = self._parts.pop()
            self._parts.append(part[: -self._length])
            self._submit(b"".join(self._parts), last=False)
            self._parts = [part[-self._length :]]

    def _submit(self, block: bytes, *, last: bool) -> None:
        compressed = self._deflating.submit(self._deflate, block, self._dictionary, last)
        self._dictionary = block[-_WINDOW:]
        self._waiting.append(self._emitting.submit(self._emit, block, compressed))
        while len(self._waiting) > self._most_waiting:
            self._waiting.popleft().result()

    def _emit(self, block: bytes, compressed: Future[bytes]) -> None:
        """Account for a block and write what became of it; a single thread does so, block by block."""
        self._checksum = zlib.crc32(block, self._checksum)
        self._size += len(block)
        self._sink.write(compressed.result())

    def _stop(self) -> None:
        self._deflating.shutdown(cancel_futures=True)
        self._emitting.shutdown(cancel_futures=True)

    def __enter__(self) -> BlockGzipWriter:  # noqa: PYI034 -- typing.Self needs Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._stop()


def default_workers() -> int:
    """Return how many cores this process may use, at most eight."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min(count, 8)


def deflater(codec: Codec) -> Deflate:
    """Return the function that compresses one block, given its dictionary and whether it is the last one.

    Raises :class:`ValueError` for a codec that is not known or not installed.
    """
    if codec == "zlib":
        return _deflate_zlib
    if codec == "store":
        return _deflate_store
    if codec == "zlib-ng":
        return _zlib_ng_deflater()
    raise ValueError(f"unknown codec `{codec}`; known are {', '.join(CODECS)}")


def zlib_is_zlib_ng() -> bool:
    """Whether this Python's own zlib is zlib-ng, whose bytes differ from zlib's."""
    return hasattr(zlib, "ZLIBNG_VERSION") or "zlib-ng" in zlib.ZLIB_RUNTIME_VERSION


def _deflate_zlib(block: bytes, dictionary: bytes, last: bool) -> bytes:
    return _deflate_with(zlib, block, dictionary, last)


def _deflate_with(module: Any, block: bytes, dictionary: bytes, last: bool) -> bytes:
    options = {"zdict": dictionary} if dictionary else {}
    compressor = module.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, 0, **options)
    compressed: bytes = compressor.compress(block)
    ending: bytes = compressor.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
    return compressed + ending


def _deflate_store(block: bytes, _dictionary: bytes, last: bool) -> bytes:
    if not block:
        return _EMPTY_STORED_BLOCK if last else b""
    pieces: list[bytes | memoryview] = []
    view = memoryview(block)
    for start in range(0, len(block), _STORED_MAX):
        piece = view[start : start + _STORED_MAX]
        final = last and start + _STORED_MAX >= len(block)
        pieces.append(struct.pack("<BHH", final, len(piece), len(piece) ^ 0xFFFF))
        pieces.append(piece)
    return b"".join(pieces)


def _zlib_ng_deflater() -> Deflate:
    try:
        from zlib_ng import zlib_ng
    except ImportError:
        raise ValueError("the codec `zlib-ng` needs the package zlib-ng (pip install hatch-agentsuite[fast])") from None
    return lambda block, dictionary, last: _deflate_with(zlib_ng, block, dictionary, last)


# --- in ----------------------------------------------------------------------------------------------------------

_FTEXT, _FHCRC, _FEXTRA, _FNAME, _FCOMMENT = 1, 2, 4, 8, 16
_MAX_HEADER_FIELD = 64 * 1024
_MAX_MEMBERS = 65_536
_INPUT = 64 * 1024
_OUTPUT = 1 << 20


class GzipReader:
    """Yields the uncompressed bytes of a gzip stream in pieces of at most 1 MiB.

    Every member's header, checksum and size are checked; bytes after the last member are refused. ``time_fault`` says
    whether a member's modification time was not zero, ``members`` how many there were. Raises :class:`GzipError`.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._pending = b""
        self._inflate, self._crc32 = _fastest_inflate()
        self.members = 0
        self.time_fault = False

    def __iter__(self) -> Iterator[bytes]:
        while self._fill(1) or not self.members:
            self._header()
            self.members += 1
            if self.members > _MAX_MEMBERS:
                raise GzipError(f"the gzip stream has more than {_MAX_MEMBERS:,} members")
            yield from self._member()

    def _fill(self, size: int) -> bool:
        while len(self._pending) < size:
            more = self._read(_INPUT)
            if not more:
                return False
            self._pending += more
        return True

    def _take(self, size: int) -> bytes:
        if not self._fill(size):
            raise GzipError("the gzip stream ends too early")
        taken, self._pending = self._pending[:size], self._pending[size:]
        return taken

    def _header(self) -> None:
        if not self._fill(10) or self._pending[:2] != HEADER[:2]:
            what = "bytes follow the end of the gzip stream" if self.members else "the layer is not gzip"
            raise GzipError(what)
        header = self._take(10)
        flags = header[3]
        if header[2] != 8 or flags & 0xE0:
            raise GzipError("the gzip header names an unknown method or flag")
        if header[4:8] != bytes(4):
            self.time_fault = True
        if flags & _FEXTRA:
            self._take(struct.unpack("<H", self._take(2))[0])
        for flag in (_FNAME, _FCOMMENT):
            if flags & flag:
                self._skip_text()
        if flags & _FHCRC:
            self._take(2)

    def _skip_text(self) -> None:
        """Pass over a name or comment, which ends in a NUL."""
        while (end := self._pending.find(b"\0")) == -1:
            if len(self._pending) > _MAX_HEADER_FIELD:
                raise GzipError("a gzip header field has no end")
            if not self._fill(len(self._pending) + 1):
                raise GzipError("the gzip stream ends too early")
        self._pending = self._pending[end + 1 :]

    def _member(self) -> Iterator[bytes]:
        inflater = self._inflate(-zlib.MAX_WBITS)
        checksum = size = 0
        while not inflater.eof:
            if not self._fill(1):
                raise GzipError("the gzip stream ends too early")
            data, self._pending = self._pending, b""
            while data and not inflater.eof:
                try:
                    output = inflater.decompress(data, _OUTPUT)
                except Exception as error:
                    raise GzipError(f"the compressed data is damaged: {error}") from None
                data = inflater.unconsumed_tail
                if output:
                    checksum = self._crc32(output, checksum)
                    size += len(output)
                    yield output
        self._pending = inflater.unused_data + self._pending
        if self._take(8) != struct.pack("<II", checksum, size & 0xFFFFFFFF):
            raise GzipError("the gzip checksum or size does not match the data")


def _fastest_inflate() -> tuple[Callable[[int], Any], Callable[[bytes, int], int]]:
    """Return the fastest installed inflate and its CRC-32: speed only, the bytes are the same."""
    try:
        from isal import isal_zlib
    except ImportError:
        pass
    else:
        return isal_zlib.decompressobj, isal_zlib.crc32
    try:
        from zlib_ng import zlib_ng
    except ImportError:
        return zlib.decompressobj, zlib.crc32
    return zlib_ng.decompressobj, zlib_ng.crc32
