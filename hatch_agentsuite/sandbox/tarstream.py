"""Tar as container images hold it, read front to back: USTAR, old tar, GNU long names, PAX, base-256 numbers.

Image layers are made by many programs, so far more is read than :mod:`hatch_agentsuite.archive.tar` allows a suite;
what readers of tar would take for different files (sparse files, data behind links, other global headers, damage in
the middle) is refused. One header is held at a time, and every length is bounded before it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

BLOCK: Final = 512

MemberType = Literal["file", "directory", "symlink", "hardlink", "character-device", "block-device", "fifo"]

_TYPES: dict[bytes, MemberType] = {
    b"0": "file",
    b"\0": "file",
    b"7": "file",
    b"1": "hardlink",
    b"2": "symlink",
    b"3": "character-device",
    b"4": "block-device",
    b"5": "directory",
    b"6": "fifo",
}
_MAX_HEADER_DATA = 1 << 20
_MAX_SIZE = 1 << 40
_XATTR_CAPABILITIES = ("SCHILY.xattr.security.capability", "LIBARCHIVE.xattr.security.capability")


class TarStreamError(Exception):
    """An archive that cannot be read on; ``path`` is the entry at hand, if one is known."""

    def __init__(self, message: str, path: str = "") -> None:
        self.message = message
        self.path = path
        super().__init__(message)


@dataclass(frozen=True)
class Member:
    """One entry as the archive tells it; ``path`` and ``target`` are as written."""

    path: str
    type: MemberType
    mode: int
    uid: int
    gid: int
    size: int
    target: str
    device: tuple[int, int] | None = None
    capabilities: bool = False


class TarStream:
    """``for member in stream``, and then :meth:`data` for a file's bytes; what is not read is skipped.

    ``read`` returns exactly as many bytes as asked for, or fewer at the end. Raises :class:`TarStreamError`.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._left = 0
        self._padding = 0

    def __iter__(self) -> Iterator[Member]:
        while (member := self._next()) is not None:
            yield member

    def data(self, chunk_size: int = 1 << 20) -> Iterator[bytes]:
        """Yield the bytes of the current file in pieces."""
        while self._left:
            chunk = self._exactly(min(self._left, chunk_size))
            self._left -= len(chunk)
            yield chunk

    def _exactly(self, size: int) -> bytes:
        data = self._read(size)
        if len(data) != size:
            raise TarStreamError("the archive ends in the middle of an entry")
        return data

    def _next(self) -> Member | None:
        for _ in self.data():
            pass
        if self._padding:
            self._exactly(self._padding)
            self._padding = 0
        pax: dict[bytes, bytes] = {}
        while True:
            block = self._read(BLOCK)
            if len(block) == BLOCK and block.count(0) != BLOCK:
                _check_sum(block)
                kind = block[156:157]
                if kind not in (b"x", b"g", b"L", b"K"):
                    return self._member(block, pax)
                self._more(kind, block, pax)
                continue
            if pax:
                raise TarStreamError("a header that belongs to an entry is followed by none")
            self._end(block)
            return None

    def _end(self, block: bytes) -> None:
        if block and len(block) != BLOCK:
            raise TarStreamError("the archive ends in the middle of a header")
        while block:
            block = self._read(1 << 16)
            if block.count(0) != len(block):
                raise TarStreamError("bytes follow the end of the archive")

    def _more(self, kind: bytes, block: bytes, pax: dict[bytes, bytes]) -> None:
        """Take in what a PAX or GNU header says about the entry that follows."""
        size = _number(block[124:136], "size")
        if size > _MAX_HEADER_DATA:
            raise TarStreamError(f"a header has {size:,} bytes; at most {_MAX_HEADER_DATA:,} are read")
        data = self._exactly(size)
        self._exactly(-size % BLOCK)
        if kind in (b"L", b"K"):
            pax[b"path" if kind == b"L" else b"linkpath"] = data.partition(b"\0")[0]
            return
        records = dict(_records(data))
        if kind == b"x":
            pax.update(records)
        elif set(records) - {b"comment"}:
            raise TarStreamError("a global PAX header changes the entries after it; not every reader knows that")

    def _member(self, block: bytes, pax: dict[bytes, bytes]) -> Member:
        path = _text(_path(block, pax))
        kind = _TYPES.get(block[156:157])
        if kind is None:
            raise TarStreamError(f"this is an entry of unknown or sparse type {block[156:157]!r}", path)
        if any(key.startswith(b"GNU.sparse.") for key in pax):
            raise TarStreamError("this is a sparse file, which not every reader knows", path)
        if kind == "file" and path.endswith("/"):
            kind = "directory"  # as old tar wrote them
        size = _decimal(pax, b"size") if b"size" in pax else _number(block[124:136], "size")
        if size > _MAX_SIZE:
            raise TarStreamError(f"the entry claims {size:,} bytes", path)
        if kind == "file":
            self._left, self._padding = size, -size % BLOCK
        elif size:
            raise TarStreamError(f"a {kind} claims {size:,} bytes of data; readers treat that in different ways", path)
        target = pax[b"linkpath"] if b"linkpath" in pax else block[157:257].partition(b"\0")[0]
        return Member(
            path=path,
            type=kind,
            mode=_number(block[100:108], "mode") & 0o7777,
            uid=_decimal(pax, b"uid") if b"uid" in pax else _number(block[108:116], "owner"),
            gid=_decimal(pax, b"gid") if b"gid" in pax else _number(block[116:124], "group"),
            size=size if kind == "file" else 0,
            target=_text(target) if kind in ("symlink", "hardlink") else "",
            device=_device(block) if kind in ("character-device", "block-device") else None,
            capabilities=any(name.encode() in pax for name in _XATTR_CAPABILITIES),
        )


def _check_sum(block: bytes) -> None:
    stored = _number(block[148:156], "checksum")
    unsigned = sum(block) - sum(block[148:156]) + 8 * 0x20
    if stored == unsigned:
        return
    signed = unsigned - 256 * sum(byte > 127 for byte in block[:148] + block[156:])
    if stored != signed:
        raise TarStreamError("an entry's header has a wrong checksum")


def _path(block: bytes, pax: dict[bytes, bytes]) -> bytes:
    if b"path" in pax:
        return pax[b"path"]
    name = block[:100].partition(b"\0")[0]
    if block[257:265] != b"ustar\x0000":
        return name  # old tar and GNU tar keep something else where USTAR has the prefix
    prefix = block[345:500].partition(b"\0")[0]
    return prefix + b"/" + name if prefix else name


def _device(block: bytes) -> tuple[int, int]:
    return _number(block[329:337], "device number"), _number(block[337:345], "device number")


@lru_cache(maxsize=512)
def _number(field: bytes, what: str) -> int:
    if field[0] & 0x80:
        value = int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
        if field[0] & 0x40:
            raise TarStreamError(f"the {what} is negative")
        return value
    digits = field.partition(b"\0")[0].strip(b" ")
    if digits.strip(b"01234567"):
        raise TarStreamError(f"the {what} is not a number")
    return int(digits, 8) if digits else 0


def _decimal(pax: dict[bytes, bytes], key: bytes) -> int:
    text = pax[key]
    if not (text.isdigit() and len(text) <= 19):
        raise TarStreamError(f"the PAX record `{key.decode('ascii', 'replace')}` is not a number")
    return int(text)


def _text(name: bytes) -> str:
    try:
        text = name.decode()
    except UnicodeDecodeError:
        shown = name.decode("utf-8", "backslashreplace")
        raise TarStreamError("the name is not valid UTF-8, so no inventory can hold it", shown) from None
    if "\0" in text:
        raise TarStreamError("the name holds a NUL", text)
    return text


def _records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = 0
    while position < len(data):
        space = data.find(b" ", position, position + 8)
        digits = data[position:space] if space != -1 else b""
        end = position + int(digits) if digits.isdigit() else 0
        if not space < end <= len(data) or data[end - 1 : end] != b"\n":
            raise TarStreamError("a PAX record has a wrong length")
        key, separator, value = data[space + 1 : end - 1].partition(b"=")
        if not separator:
            raise TarStreamError("a PAX record has no value")
        yield key, value
        position = end
