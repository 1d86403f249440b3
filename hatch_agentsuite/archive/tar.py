"""Tar headers, written one way only and read strictly.

Written: USTAR, the name split into prefix and name where it fits, else one PAX record set holding only ``path`` and
``linkpath``; permission bits, root's numeric owner, no names, the epoch, nothing else.

Read: what every reader of tar sees the same way. GNU long names, sparse files, base-256 numbers, global PAX headers,
repeated PAX keys, data after links and directories, and bytes after the end are refused by name.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from hatch_agentsuite.content import Entry, EntryType

BLOCK: Final = 512
END: Final = bytes(2 * BLOCK)

_FIELDS = struct.Struct("100s8s8s8s12s12s8s1s100s8s64x8s8s155s12x")  # each filled up with NUL bytes
_ZERO, _EPOCH = b"0" * 7, b"0" * 11
_MAX_SIZE = 8**11 - 1
_MAX_PAX_BYTES = 64 * 1024
_TYPEFLAGS: dict[EntryType, bytes] = {"file": b"0", "hardlink": b"1", "symlink": b"2", "directory": b"5"}
_TYPES: dict[bytes, EntryType] = {
    b"0": "file",
    b"\0": "file",
    b"1": "hardlink",
    b"2": "symlink",
    b"5": "directory",
}
_REFUSED_TYPES = {
    b"3": "a character device",
    b"4": "a block device",
    b"6": "a FIFO",
    b"7": "a contiguous file",
    b"g": "a global PAX header",
    b"L": "a GNU long name",
    b"K": "a GNU long link target",
    b"S": "a GNU sparse file",
    b"D": "a GNU directory dump",
    b"M": "a multi-volume continuation",
    b"V": "a volume label",
}
_PAX_KEYS = frozenset({"path", "linkpath", "size", "uid", "gid", "uname", "gname", "mtime"})


class TarError(Exception):
    """An archive that cannot be read on; ``path`` is the entry at hand, if one is."""

    def __init__(self, message: str, path: str = "") -> None:
        self.message = message
        self.path = path
        super().__init__(message)


class Source(Protocol):
    """A forward-only stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return exactly ``size`` bytes, or fewer at the end only."""
        ...


# --- out ---------------------------------------------------------------------------------------------------------


def header(entry: Entry) -> bytes:
    """Return the header blocks of an entry, PAX records included (a multiple of 512 bytes).

    ``entry.path`` is clean and UTF-8; a directory gets its trailing slash here. Raises :class:`ValueError` for a size
    that USTAR cannot express (8 GiB and more, which content limits forbid).
    """
    if entry.size > _MAX_SIZE:
        raise ValueError(f"{entry.path}: {entry.size} bytes do not fit a tar header")
    name = entry.path.encode() + (b"/" if entry.type == "directory" else b"")
    target = (entry.link_target or "").encode()
    split = _split(name)
    records = b""
    if len(target) > 100 or not target.isascii():
        records += _record("linkpath", target)
        target = _placeholder(target)
    if split is None:
        records += _record("path", name)
        split = b"", _placeholder(name)
    size = entry.size if entry.type == "file" else 0
    block = _block(*split, _TYPEFLAGS[entry.type], entry.mode, size, target)
    if not records:
        return block
    return _block(b"", b"PaxHeaders", b"x", 0o644, len(records)) + records + padding(len(records)) + block


def padding(size: int) -> bytes:
    """Return the zero bytes that follow ``size`` bytes of data."""
    return bytes(-size % BLOCK)


def _split(name: bytes) -> tuple[bytes, bytes] | None:
    """Return USTAR prefix and name, or None where they cannot hold the path."""
    if not name.isascii():
        return None
    if len(name) <= 100:
        return b"", name
    cut = name.find(b"/", len(name) - 101, len(name) - 1)
    if cut == -1 or cut > 155 or cut == 0:
        return None
    return name[:cut], name[cut + 1 :]


def _placeholder(name: bytes) -> bytes:
    """Return what stands in the header field of a name that the PAX records hold: a name, and never a way out."""
    return bytes(byte if byte < 0x80 else 0x5F for byte in name.rstrip(b"/")[-100:]).lstrip(b"./") or b"_"


def _record(key: str, value: bytes) -> bytes:
    body = b" " + key.encode() + b"=" + value + b"\n"
    size = len(body)
    while len(str(size)) + len(body) != size:
        size = len(str(size)) + len(body)
    return str(size).encode() + body


def _block(prefix: bytes, name: bytes, typeflag: bytes, mode: int, size: int, target: bytes = b"") -> bytes:
    fields = (name, b"%07o" % (mode & 0o777), _ZERO, _ZERO, b"%011o" % size, _EPOCH)
    more = (typeflag, target, b"ustar\x0000", _ZERO, _ZERO, prefix)
    unsummed = _FIELDS.pack(*fields, b" " * 8, *more)
    return b"%b%06o\0 %b" % (unsummed[:148], _byte_sum(unsummed), unsummed[156:])


def _byte_sum(block: bytes) -> int:
    """Return the sum of a block's bytes, far faster than `sum`.

    The lower half of an Adler-32 is one more than the sum, modulo 65,521, which 256 bytes cannot reach.
    """
    return (zlib.adler32(block[:256]) & 0xFFFF) + (zlib.adler32(block[256:]) & 0xFFFF) - 2


# --- in ----------------------------------------------------------------------------------------------------------


class Header(NamedTuple):
    """An entry as the archive tells it, its bytes not yet read, with the time faults that end no reading."""

    entry: Entry
    time_fault: str | None = None


class TarReader:
    """Reads a tar archive front to back; ``for header in reader`` and then :meth:`data` for a file's bytes.

    Raises :class:`TarError` at whatever readers of tar disagree about. Bytes that the caller does not read are skipped.
    After the last entry the stream has been seen to end with exactly two zero blocks. An archive that only carries an
    image layout (``carrier``) may also be padded with zero blocks and hold PAX records about times and vendors' own
    attributes: every blob in it is judged by its digest. ``offset`` is where the next byte of the stream stands.
    """

    def __init__(self, source: Source, *, carrier: bool = False) -> None:
        self._source = source
        self._carrier = carrier
        self._left = 0
        self._padding = 0
        self.offset = 0

    def __iter__(self) -> Iterator[Header]:
        while True:
            self._skip_data()
            found = self._next()
            if found is None:
                return
            yield found

    def data(self, chunk_size: int = 1 << 20) -> Iterator[bytes]:
        """Yield the bytes of the current file in pieces."""
        while self._left:
            chunk = self._read(min(self._left, chunk_size))
            self._left -= len(chunk)
            yield chunk

    def _skip_data(self) -> None:
        if self._left:
            for _ in self.data():
                pass
        if self._padding:
            self._read(self._padding)
            self._padding = 0

    def _read(self, size: int) -> bytes:
        data = self._source.read(size)
        if len(data) != size:
            raise TarError("the archive ends in the middle of an entry")
        self.offset += size
        return data

    def _next(self) -> Header | None:
        block = self._header_block()
        if block is None:
            return None
        pax: dict[str, str] = {}
        if block[156:157] == b"x":
            pax = self._pax(block)
            following = self._header_block()
            if following is None or following[156:157] == b"x":
                raise TarError("a PAX header is followed by no entry")
            block = following
        found = _parse(block, pax)
        if found.entry.type == "file":
            self._left = found.entry.size
            self._padding = -found.entry.size % BLOCK
        return found

    def _header_block(self) -> bytes | None:
        block = self._source.read(BLOCK)
        self.offset += len(block)
        if len(block) < BLOCK:
            raise TarError("the archive is not ended by two zero blocks")
        if block.count(0) != BLOCK:
            _check_block(block)
            return block
        if self._source.read(BLOCK) != bytes(BLOCK):
            raise TarError("the archive is not ended by two zero blocks")
        while rest := self._source.read(BLOCK):
            if self._carrier and rest.count(0) == len(rest):
                continue
            raise TarError("bytes follow the two zero blocks that end the archive; some tar programs pad there")
        return None

    def _pax(self, block: bytes) -> dict[str, str]:
        size = _octal(block[124:136], "size")
        if size > _MAX_PAX_BYTES:
            raise TarError(f"a PAX header has {size:,} bytes; at most {_MAX_PAX_BYTES:,} are allowed")
        records = self._read(size)
        self._read(-size % BLOCK)
        found = _parse_pax(records)
        if not self._carrier:
            _check_pax_keys(found)
        return found


def _check_block(block: bytes) -> None:
    stored = _octal(block[148:156], "checksum")
    if stored != _byte_sum(block) - sum(block[148:156]) + 8 * 0x20:
        raise TarError("an entry's header has a wrong checksum")
    magic = block[257:265]
    if magic not in {b"ustar\x0000", b"ustar  \0"}:
        raise TarError("an entry's header is not USTAR; other tar formats are read in different ways")
    if magic == b"ustar  \0" and block[345:512].count(0) != 167:
        raise TarError("an entry's header carries GNU extensions (access time, change time or sparse data)")


def _parse(block: bytes, pax: dict[str, str]) -> Header:
    name = _text(block[0:100], "name")
    prefix = _text(block[345:500], "prefix") if block[257:265] == b"ustar\x0000" else ""
    path = pax.get("path", f"{prefix}/{name}" if prefix else name)
    typeflag = block[156:157]
    kind = _TYPES.get(typeflag)
    if kind is None:
        what = _REFUSED_TYPES.get(typeflag, f"an entry of unknown type {typeflag!r}")
        raise TarError(f"this is {what}; content holds files, directories, symlinks and hardlinks only", path)
    if path.endswith("/"):
        if kind != "directory":
            raise TarError(f"the name of a {kind} ends with a slash", path)
        path = path[:-1]
    target = pax.get("linkpath", _text(block[157:257], "link target"))
    size = _number(pax, "size", block[124:136])
    if kind != "file" and size:
        raise TarError(f"a {kind} claims {size:,} bytes of data", path)
    mode = _usual_octal(block[100:108], "mode") & 0o7777
    uid, gid = _number(pax, "uid", block[108:116]), _number(pax, "gid", block[116:124])
    entry = Entry(path, kind, mode, uid, gid, size, None, target if kind in {"symlink", "hardlink"} else None)
    return Header(entry, _time_fault(pax, block))


def _time_fault(pax: dict[str, str], block: bytes) -> str | None:
    if _usual_octal(block[136:148], "modification time") != 0 or ("mtime" in pax and pax["mtime"].strip("0.") != ""):
        return "the modification time is not the Unix epoch"
    return None


def _number(pax: dict[str, str], key: str, octal: bytes) -> int:
    if key not in pax:
        return _octal(octal, key) if key == "size" else _usual_octal(octal, key)
    text = pax[key]
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        raise TarError(f"the PAX record `{key}` is not a number")
    return int(text)


def _octal(field: bytes, what: str) -> int:
    if field[0] & 0x80:
        raise TarError(f"the {what} is written in base 256, which not every reader knows")
    digits = field.rstrip(b"\0 ").lstrip(b" ")
    if not digits:
        return 0
    if digits.strip(b"01234567"):
        raise TarError(f"the {what} is not an octal number")
    return int(digits, 8)


_usual_octal = lru_cache(maxsize=64)(_octal)
"""For modes, owners and times: the same few in every entry of an archive."""


def _text(field: bytes, what: str) -> str:
    text = field.rstrip(b"\0")
    if b"\0" in text:
        raise TarError(f"the {what} holds a NUL")
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise TarError(f"the {what} is not valid UTF-8", text.decode("utf-8", "backslashreplace")) from None


def _parse_pax(records: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    while position < len(records):
        space = records.find(b" ", position, position + 8)
        digits = records[position:space] if space != -1 else b""
        end = position + int(digits) if digits.isdigit() and digits[:1] != b"0" else 0
        if not space < end <= len(records) or records[end - 1 : end] != b"\n":
            raise TarError("a PAX record has a wrong length")
        key_bytes, separator, value_bytes = records[space + 1 : end - 1].partition(b"=")
        try:
            key, value = key_bytes.decode(), value_bytes.decode()
        except UnicodeDecodeError:
            raise TarError("a PAX record is not valid UTF-8") from None
        if not separator or "\0" in value:
            raise TarError("a PAX record is malformed")
        if key in found:
            raise TarError(f"the PAX record `{key}` stands twice")
        found[key] = value
        position = end
    return found


def _check_pax_keys(records: dict[str, str]) -> None:
    for key in records:
        if key in {"atime", "ctime"}:
            raise TarError("a PAX record sets an access or change time")
        if key not in _PAX_KEYS:
            raise TarError(f"the PAX record `{key[:80]}` is not known; readers treat it in different ways")
