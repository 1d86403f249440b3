"""Hand-made tar, PAX and gzip bytes for the tests of the archive modules; nothing here uses the code under test."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING

from hatch_agentsuite.archive.layer import read_layer
from hatch_agentsuite.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from hatch_agentsuite.content import ContentTree

USTAR = b"ustar\x0000"
GNU = b"ustar  \0"
END = bytes(1024)


def octal(value: int, width: int) -> bytes:
    return b"%0*o\0" % (width - 1, value)


def block(
    name: bytes,
    typeflag: bytes = b"0",
    *,
    size: int = 0,
    mode: int = 0o644,
    mtime: int = 0,
    uid: int = 0,
    gid: int = 0,
    link: bytes = b"",
    magic: bytes = USTAR,
    prefix: bytes = b"",
    patch: tuple[int, bytes] = (0, b""),
    checksum: int | None = None,
) -> bytes:
    """Return one header block; ``patch`` overwrites bytes at an offset before the checksum is taken."""
    fields = name.ljust(100, b"\0") + octal(mode, 8) + octal(uid, 8) + octal(gid, 8) + octal(size, 12)
    fields += octal(mtime, 12) + b" " * 8 + typeflag + link.ljust(100, b"\0") + magic
    data = bytearray(fields.ljust(345, b"\0") + prefix.ljust(167, b"\0"))
    assert len(data) == 512
    start, replacement = patch
    data[start : start + len(replacement)] = replacement
    data[148:156] = b"%06o\0 " % (sum(data) if checksum is None else checksum)
    return bytes(data)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def file(name: bytes, data: bytes = b"", *, mode: int = 0o644) -> bytes:
    return block(name, size=len(data), mode=mode) + padded(data)


def record(key: bytes, value: bytes) -> bytes:
    """Return a PAX record, its length found by trying."""
    rest = b" " + key + b"=" + value + b"\n"
    length = next(n for n in range(len(rest), len(rest) + 20) if len(str(n)) + len(rest) == n)
    return str(length).encode() + rest


def pax(*records: bytes, typeflag: bytes = b"x") -> bytes:
    data = b"".join(records)
    return block(b"PaxHeaders", typeflag, size=len(data)) + padded(data)


def compress(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)


def read(tar: bytes, limits: Limits = DEFAULT_LIMITS) -> ContentTree:
    """Read a layer of these tar bytes."""
    return read_layer(io.BytesIO(compress(tar)), limits)


def faults(tree: ContentTree) -> list[str]:
    """Return the messages of a tree's errors."""
    return [finding.message for finding in tree.findings if finding.is_error]
