"""Tar archives as they are read (section 5.2): what readers disagree about is refused, by name."""

from __future__ import annotations

import io
import tarfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatch_agentsuite.archive.tar import TarError, TarReader
from tests.core.archives import END, GNU, block, faults, file, octal, padded, pax, read, record

FILE = file(b"f", b"data")
GIBIBYTE = 1 << 30


def by_tarfile(name: str, *, form: int = tarfile.GNU_FORMAT, headers: dict[str, str] | None = None) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        item = tarfile.TarInfo(name)
        item.pax_headers = headers or {}
        archive.addfile(item)
    return stream.getvalue()


REFUSED = {
    # forms that readers treat in different ways
    "GNU long name": (by_tarfile("n" * 101), "a GNU long name"),
    "GNU long link target": (block(b"././@LongLink", b"K", size=3) + padded(b"abc") + FILE + END, "GNU long link"),
    "GNU sparse file": (block(b"s", b"S") + END, "a GNU sparse file"),
    "PAX sparse file": (pax(record(b"GNU.sparse.major", b"1")) + FILE + END, "`GNU.sparse.major` is not known"),
    "GNU dump": (block(b"d", b"D") + END, "a GNU directory dump"),
    "GNU continuation": (block(b"d", b"M") + END, "a multi-volume continuation"),
    "GNU label": (block(b"d", b"V") + END, "a volume label"),
    "GNU access time": (block(b"f", magic=GNU, patch=(345, octal(0, 12))) + END, "GNU extensions"),
    "GNU sparse map": (block(b"f", magic=GNU, patch=(386, octal(1, 12))) + END, "GNU extensions"),
    "base-256 size": (block(b"f", patch=(124, b"\x80" + bytes(11))) + END, "size is written in base 256"),
    "base-256 negative": (block(b"f", patch=(136, b"\xff" * 12)) + END, "modification time is written in base 256"),
    "base-256 owner": (block(b"f", patch=(108, b"\x80" + bytes(7))) + END, "uid is written in base 256"),
    "v7 header": (block(b"f", magic=bytes(8)) + END, "not USTAR"),
    "other magic": (block(b"f", magic=b"ustar\x0001") + END, "not USTAR"),
    # types that no content has
    "character device": (block(b"d", b"3") + END, "a character device"),
    "block device": (block(b"d", b"4") + END, "a block device"),
    "FIFO": (block(b"d", b"6") + END, "a FIFO"),
    "contiguous file": (block(b"d", b"7") + END, "a contiguous file"),
    "unknown type": (block(b"d", b"Z") + END, "an entry of unknown type"),
    # PAX
    "global header": (pax(record(b"path", b"x"), typeflag=b"g") + FILE + END, "a global PAX header"),
    "global after extended": (pax() + pax(typeflag=b"g") + FILE + END, "a global PAX header"),
    "repeated key": (pax(record(b"path", b"x"), record(b"path", b"y")) + FILE + END, "`path` stands twice"),
    "unknown key": (pax(record(b"LIBARCHIVE.creationtime", b"1")) + FILE + END, "is not known"),
    "access time": (pax(record(b"atime", b"0")) + FILE + END, "an access or change time"),
    "change time": (pax(record(b"ctime", b"0")) + FILE + END, "an access or change time"),
    "size is no number": (pax(record(b"size", b"-1")) + FILE + END, "`size` is not a number"),
    "uid is no number": (pax(record(b"uid", b"1e3")) + FILE + END, "`uid` is not a number"),
    "size of other digits": (pax(record(b"size", "\u0661".encode())) + FILE + END, "`size` is not a number"),
    "size of many digits": (pax(record(b"size", b"1" * 5_000)) + FILE + END, "`size` is not a number"),
    "not UTF-8": (pax(record(b"path", b"\xff")) + FILE + END, "not valid UTF-8"),
    "NUL in a value": (pax(record(b"path", b"a\0b")) + FILE + END, "malformed"),
    "no equals sign": (pax(b"7 path\n") + FILE + END, "malformed"),
    "length too short": (pax(b"5 path=x\n") + FILE + END, "wrong length"),
    "length too long": (pax(b"99 path=x\n") + FILE + END, "wrong length"),
    "length with a zero": (pax(b"010 path=x\n") + FILE + END, "wrong length"),
    "length of zero": (pax(b"0 path=x\n") + FILE + END, "wrong length"),
    "length negative": (pax(b"-9 path=x\n") + FILE + END, "wrong length"),
    "length absent": (pax(b"path=x\n") + FILE + END, "wrong length"),
    "length of many digits": (pax(b"1" * 4_000 + b" path=x\n") + FILE + END, "wrong length"),
    "a gibibyte of records": (block(b"p", b"x", size=GIBIBYTE) + END, "1,073,741,824 bytes; at most 65,536"),
    "two in a row": (pax(record(b"path", b"x")) * 2 + FILE + END, "followed by no entry"),
    "at the end": (FILE + pax(record(b"path", b"x")) + END, "followed by no entry"),
    "records cut off": (block(b"p", b"x", size=600) + bytes(100), "in the middle of an entry"),
    # fields
    "wrong checksum": (block(b"f", checksum=1) + END, "wrong checksum"),
    "NUL, then garbage in a name": (block(b"f\0/../../x") + END, "the name holds a NUL"),
    "NUL, then garbage in a prefix": (block(b"f", prefix=b"p\0q") + END, "the prefix holds a NUL"),
    "NUL, then garbage in a target": (block(b"f", b"2", link=b"a\0b") + END, "the link target holds a NUL"),
    "name not UTF-8": (block(b"\xff") + END, "the name is not valid UTF-8"),
    "mode not octal": (block(b"f", patch=(100, b"0000999\0")) + END, "the mode is not an octal number"),
    "size with a sign": (block(b"f", patch=(124, b"-0000000001\0")) + END, "the size is not an octal number"),
    "size with a NUL inside": (block(b"f", patch=(124, b"1\0001".ljust(12, b"\0"))) + END, "not an octal number"),
    "data on a symlink": (block(b"l", b"2", size=1, link=b"t") + padded(b"x") + END, "a symlink claims 1 bytes"),
    "data on a hardlink": (FILE + block(b"l", b"1", size=4, link=b"f") + padded(b"data") + END, "a hardlink claims 4"),
    "data on a directory": (block(b"d/", b"5", size=1) + padded(b"x") + END, "a directory claims 1 bytes"),
    "PAX data on a directory": (pax(record(b"size", b"1")) + block(b"d/", b"5") + padded(b"x") + END, "claims 1 bytes"),
    "slash after a file": (block(b"f/") + END, "a file ends with a slash"),
    "slash after a file of the old type": (block(b"f/", b"\0") + END, "a file ends with a slash"),
    "slash after a symlink": (block(b"f/", b"2", link=b"t") + END, "a symlink ends with a slash"),
    # the end
    "empty": (b"", "not ended by two zero blocks"),
    "no end": (FILE, "not ended by two zero blocks"),
    "one zero block": (FILE + bytes(512), "not ended by two zero blocks"),
    "zero block inside": (FILE + bytes(512) + FILE + END, "not ended by two zero blocks"),
    "half a block": (FILE + END[:1000], "not ended by two zero blocks"),
    "padding": ((FILE + END).ljust(10_240, b"\0"), "bytes follow the two zero blocks"),
    "a byte after the end": (FILE + END + b"\0", "bytes follow the two zero blocks"),
    "an archive after the end": (FILE + END + FILE + END, "bytes follow the two zero blocks"),
    "data cut off": (block(b"f", size=600) + bytes(599), "in the middle of an entry"),
    "data padding cut off": (block(b"f", size=600) + bytes(1000), "in the middle of an entry"),
    "a size beyond the archive": (block(b"f", size=8**11 - 1) + END, "files have more than"),
    "header cut off": (FILE + FILE[:300], "not ended by two zero blocks"),
}


@pytest.mark.parametrize(("tar", "message"), REFUSED.values(), ids=REFUSED)
def test_what_readers_disagree_about_is_refused(tar: bytes, message: str) -> None:
    """5.2: also device nodes, FIFOs, unknown types, and access and change times."""
    tree = read(tar)
    (found,) = faults(tree)
    assert message in found
    assert {finding.requirement for finding in tree.findings} == {"AS-PATH-001"}


@pytest.mark.parametrize(
    ("tar", "message"),
    [
        (block(b"f", mtime=1) + END, "modification time"),
        (pax(record(b"mtime", b"1")) + block(b"f") + END, "modification time"),
        (pax(record(b"mtime", b"0.5")) + block(b"f") + END, "modification time"),
        (pax(record(b"mtime", b"-1")) + block(b"f") + END, "modification time"),
        (pax(record(b"path", b"")) + block(b"f") + END, "the path is empty"),
        (block(b"/etc/passwd") + END, "the path is absolute"),
        (block(b"./f") + END, "a `.` segment"),
        (block(b"./", b"5") + END, "a `.` segment"),
        (block(b"d//", b"5") + END, "an empty segment"),
        (block(b"/", b"5") + END, "the path is empty"),
        (block(b"") + END, "the path is empty"),
        (block(b"x", prefix=b"..") + END, "a `..` segment"),
        (block(b"f", mode=0o4755) + END, "set-id"),
        (block(b"f", b"2") + END, "an empty target"),
    ],
)
def test_a_fault_of_one_entry_does_not_hide_those_of_the_next(tar: bytes, message: str) -> None:
    """5.2: independent faults are reported together."""
    tree = read(tar[: -len(END)] + file(b"next", mode=0o666) + END)
    assert [message in faults(tree)[0], "writable" in faults(tree)[1]] == [True, True]
    assert len(faults(tree)) == 2


ACCEPTED = {
    "as Go writes it": block(b"d/", b"5", mode=0o755) + block(b"d/f", size=4) + padded(b"data"),
    "type NUL": block(b"f", b"\0", size=1) + padded(b"x"),
    "GNU magic": block(b"f", magic=GNU, size=1) + padded(b"x"),
    "directory without a slash": block(b"d", b"5", mode=0o755),
    "name of 100 bytes": block(b"n" * 100),
    "prefix of 155 bytes": block(b"n" * 100, prefix=b"p" * 155),
    "all known records": pax(
        *(record(key, b"0") for key in (b"gid", b"gname", b"linkpath", b"mtime", b"size", b"uid", b"uname")),
        record(b"path", b"p"),
    )
    + block(b"f"),
    "time zero with a fraction": pax(record(b"mtime", b"0.000")) + block(b"f"),
    "numbers with spaces": block(b"f", patch=(100, b"   644 \0")),
    "empty numbers": block(b"f", patch=(108, bytes(16))),
    "no records": pax() + block(b"f"),
    "link mode": block(b"l", b"2", link=b"f", mode=0o777),
    "hardlink": FILE + block(b"h", b"1", link=b"f"),
    "nothing": b"",
}


@pytest.mark.parametrize("tar", ACCEPTED.values(), ids=ACCEPTED)
def test_what_all_readers_read_alike_is_accepted(tar: bytes) -> None:
    tree = read(tar + END)
    assert tree.findings == []
    with tarfile.open(fileobj=io.BytesIO(tar + END)) as archive:
        assert [item.name.removesuffix("/") for item in archive] == list(tree.entries)


def test_pax_records_take_the_place_of_fields() -> None:
    records = pax(record(b"path", "\u00e9".encode()), record(b"size", b"3"), record(b"uid", b"7"), record(b"gid", b"8"))
    tree = read(records + block(b"f", uid=1, gid=2) + padded(b"abc") + file(b"g", b"x") + END)
    entry = tree.entries["\u00e9"]
    assert (entry.size, entry.uid, entry.gid) == (3, 7, 8)
    assert (tree.entries["g"].size, tree.entries["g"].uid) == (1, 0)
    assert tree.findings == []


def test_the_entry_at_hand_is_named() -> None:
    tree = read(FILE + block(b"dev/null", b"3") + END)
    assert [finding.location for finding in tree.findings] == ["dev/null"]
    assert list(tree.entries) == ["f"]


def test_bytes_that_the_caller_does_not_read_are_skipped() -> None:
    reader = TarReader(io.BytesIO(file(b"a", b"x" * 1_000) + file(b"b", b"y") + END))
    found = []
    for item in reader:
        offset = reader.offset
        found.append((item.entry.path, offset, b"".join(reader.data()) if item.entry.path == "b" else None))
    assert found == [("a", 512, None), ("b", 2_048, b"y")]


@pytest.mark.parametrize("extra", [b"", bytes(512), bytes(8_192), bytes(100)])
def test_an_archive_that_only_carries_a_layout_may_be_padded(extra: bytes) -> None:
    times = pax(record(b"atime", b"1.5"), record(b"SCHILY.xattr.user.x", b"y"))
    data = times + FILE + END + extra
    assert [item.entry.path for item in TarReader(io.BytesIO(data), carrier=True)] == ["f"]
    with pytest.raises(TarError):
        list(TarReader(io.BytesIO(data + b"x"), carrier=True))
    with pytest.raises(TarError):
        list(TarReader(io.BytesIO(data)))


@given(st.binary(max_size=2_048) | st.tuples(st.integers(0, 511), st.integers(0, 255)))
def test_damage_is_a_tar_error_or_no_fault_and_nothing_else(damage: bytes | tuple[int, int]) -> None:
    if isinstance(damage, bytes):
        data = damage
    else:
        data = pax(record(b"path", b"x")) + FILE + END
        position, value = damage
        changed = bytearray(data)
        changed[512 + position] = value
        data = bytes(changed)
    with suppress(TarError):
        list(TarReader(io.BytesIO(data)))
