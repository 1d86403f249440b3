"""Gzip as it is read: the same by every inflate, every byte accounted for."""

from __future__ import annotations

import gzip
import io
import struct
import sys
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatch_agentsuite.archive.gzip import BLOCK, GzipError, GzipReader
from tests.core.archives import compress

if TYPE_CHECKING:
    from collections.abc import Callable

BACKENDS = {"isal": (), "zlib_ng": ("isal",), "zlib": ("isal", "zlib_ng")}
CHECKSUMS = {"isal": "isal.isal_zlib", "zlib_ng": "zlib_ng.zlib_ng", "zlib": "zlib"}
SMALL = compress(b"hello, hello, hello")
BODY, TRAILER = SMALL[10:-8], SMALL[-8:]


@pytest.fixture(params=BACKENDS, autouse=True)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let only this inflate be importable."""
    name: str = request.param
    if name != "zlib":
        pytest.importorskip(name)
    for other in BACKENDS[name]:
        monkeypatch.setitem(sys.modules, other, None)
    assert GzipReader(io.BytesIO().read)._crc32.__module__ == CHECKSUMS[name]
    return name


def inflated(data: bytes, read: Callable[[int], bytes] | None = None) -> tuple[bytes, GzipReader]:
    reader = GzipReader(read or io.BytesIO(data).read)
    pieces = list(reader)
    assert all(0 < len(piece) <= BLOCK for piece in pieces)
    return b"".join(pieces), reader


def refusal(data: bytes) -> str:
    with pytest.raises(GzipError) as caught:
        list(GzipReader(io.BytesIO(data).read))
    return str(caught.value)


def header(flags: int, rest: bytes = b"", *, time: int = 0, method: int = 8) -> bytes:
    return struct.pack("<2sBBIBB", b"\x1f\x8b", method, flags, time, 0, 3) + rest


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
@pytest.mark.parametrize("level", [0, 1, 9])
def test_what_was_compressed_is_read(size: int, level: int) -> None:
    data = (b"some text, " * (size // 11 + 1))[:size]
    found, reader = inflated(gzip.compress(data, level, mtime=0))
    assert found == data
    assert (reader.members, reader.time_fault) == (1, False)


@pytest.mark.parametrize("size", [BLOCK - 259, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 257, BLOCK + 258, 2 * BLOCK])
def test_a_run_that_ends_at_a_bound_of_the_output_is_read_to_its_end(size: int) -> None:
    """The last bytes of a stream are in the inflater when its input is used up already."""
    assert inflated(compress(bytes(size)))[0] == bytes(size)


def test_the_stream_may_come_byte_by_byte() -> None:
    stream = io.BytesIO(SMALL + SMALL)
    found, reader = inflated(b"", lambda _size: stream.read(1))
    assert found == b"hello, hello, hello" * 2
    assert reader.members == 2


@given(st.lists(st.binary(max_size=100), min_size=1, max_size=4))
def test_members_are_read_as_one_stream(parts: list[bytes]) -> None:
    """RFC 1952, section 2.2; an empty member counts too."""
    found, reader = inflated(b"".join(compress(part) for part in parts))
    assert found == b"".join(parts)
    assert reader.members == len(parts)


@pytest.mark.parametrize("end", range(len(SMALL)))
def test_a_stream_cut_off_anywhere_is_refused(end: int) -> None:
    assert refusal(SMALL[:end]) in {"the layer is not gzip", "the gzip stream ends too early"}


@pytest.mark.parametrize("end", range(1, len(SMALL)))
def test_a_second_member_cut_off_anywhere_is_refused(end: int) -> None:
    message = refusal(SMALL + SMALL[:end])
    assert message in {"bytes follow the end of the gzip stream", "the gzip stream ends too early"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not gzip"),
        (b"PK\x03\x04 and so on", "not gzip"),
        (zlib.compress(b"x" * 50), "not gzip"),
        (header(0, BODY + struct.pack("<II", 0, 19)), "checksum or size"),
        (header(0, BODY + TRAILER[:4] + struct.pack("<I", 20)), "checksum or size"),
        (header(0, b"\xff" * 30), "damaged"),
        (header(0, b"\x07" + bytes(30)), "damaged"),
        (header(0, BODY + TRAILER, method=7), "unknown method or flag"),
        (header(0x20, BODY + TRAILER), "unknown method or flag"),
        (header(0x80, BODY + TRAILER), "unknown method or flag"),
        (header(8, b"n" * 200_000), "has no end"),
        (header(8, b"n" * 100), "ends too early"),
        (header(4, b"\xff\xff" + b"x" * 100), "ends too early"),
        (SMALL + b"\0", "bytes follow"),
        (SMALL + bytes(512), "bytes follow"),
        (SMALL + b"x", "bytes follow"),
    ],
)
def test_what_is_no_gzip_is_refused(data: bytes, message: str) -> None:
    assert message in refusal(data)


@pytest.mark.parametrize("position", range(len(BODY)))
def test_no_damage_of_the_data_goes_unnoticed(position: int) -> None:
    body = bytearray(BODY)
    body[position] ^= 0x10
    assert refusal(header(0, bytes(body) + TRAILER))


@pytest.mark.parametrize(
    ("flags", "fields"),
    [
        (1, b""),
        (2, b"\x12\x34"),
        (4, b"\x03\x00abc"),
        (4, b"\x00\x00"),
        (8, b"name\0"),
        (8, b"\0"),
        (16, b"comment\0"),
        (31, b"\x02\x00ab" + b"n\0" + b"c\0" + b"\0\0"),
        (24, b"n" * 65_000 + b"\0" + b"c" * 65_000 + b"\0"),
    ],
)
def test_optional_header_fields_are_passed_over(flags: int, fields: bytes) -> None:
    assert inflated(header(flags, fields + BODY + TRAILER))[0] == b"hello, hello, hello"


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (SMALL, False),
        (header(0, BODY + TRAILER, time=1), True),
        (SMALL + header(0, BODY + TRAILER, time=1 << 31), True),
        (header(0, BODY + TRAILER, time=1) + SMALL, True),
    ],
)
def test_the_time_of_every_member_is_seen(data: bytes, fault: bool) -> None:
    """5.2: a gzip modification time other than zero is refused, in whichever member."""
    assert inflated(data)[1].time_fault is fault


def test_a_bomb_is_inflated_only_as_far_as_it_is_asked_for() -> None:
    bomb = compress(bytes(64 * BLOCK))
    stream = io.BytesIO(bomb + bomb)
    pieces = iter(GzipReader(stream.read))
    assert [len(next(pieces)) for _ in range(3)] == [BLOCK] * 3
    assert stream.tell() <= 128 * 1024


def test_members_without_end_are_refused() -> None:
    reader = GzipReader(io.BytesIO(compress(b"") * 65_537).read)
    with pytest.raises(GzipError, match="more than 65,536 members"):
        list(reader)
