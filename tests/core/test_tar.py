"""Tar headers as they are written (section 5.2): one way only, and read back alike by every other reader."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatch_agentsuite.archive.tar import BLOCK, END, Header, TarReader, _byte_sum, header, padding
from hatch_agentsuite.content import Entry, EntryType
from tests.core.archives import octal, record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SAMPLE = [
    (Entry("agents", "directory", 0o755), b""),
    (Entry("agents/a.json", "file", 0o644, size=2), b"{}"),
    (Entry("bin", "directory", 0o755), b""),
    (Entry("bin/run", "file", 0o755, size=513), b"r" * 513),
    (Entry("bin/run2", "hardlink", 0o755, link_target="bin/run"), b""),
    (Entry("bin/sh", "symlink", 0o777, link_target="run"), b""),
    (Entry("caf\u00e9", "file", 0o600, size=1), b"x"),
    (Entry("d" * 60 + "/" + "f" * 60, "file", 0o644, size=0), b""),
    (Entry("e" * 120, "symlink", 0o777, link_target="t" * 101), b""),
]


def write(contents: Sequence[tuple[Entry, bytes]]) -> bytes:
    return b"".join(header(entry) + data + padding(len(data)) for entry, data in contents) + END


def read(data: bytes) -> list[tuple[Header, bytes]]:
    reader = TarReader(io.BytesIO(data))
    return [(found, b"".join(reader.data())) for found in reader]


def field(block: bytes, start: int, size: int) -> bytes:
    return block[start : start + size]


def test_a_header_is_ustar_with_permission_bits_and_nothing_of_the_machine() -> None:
    """5.2: the epoch, no access or change time; no owner but root, no names."""
    block = header(Entry("bin/run", "file", 0o4755, uid=1000, gid=1000, size=9))
    assert len(block) == 512
    assert field(block, 0, 100) == b"bin/run".ljust(100, b"\0")
    assert field(block, 100, 24) == b"0000755\x000000000\x000000000\0"
    assert field(block, 124, 24) == b"00000000011\x0000000000000\0"
    assert field(block, 148, 8) == b"%06o\0 " % (sum(block) - sum(block[148:156]) + 8 * 32)
    assert field(block, 156, 1) == b"0"
    assert field(block, 157, 100) == bytes(100)
    assert field(block, 257, 8) == b"ustar\x0000"
    assert field(block, 265, 64) == bytes(64)
    assert field(block, 329, 16) == octal(0, 8) * 2
    assert field(block, 345, 167) == bytes(167)


@pytest.mark.parametrize(
    ("entry", "name", "flag", "size"),
    [
        (Entry("d", "directory", 0o755, size=7), b"d/", b"5", 0),
        (Entry("l", "symlink", 0o777, size=7, link_target="t"), b"l", b"2", 0),
        (Entry("h", "hardlink", 0o644, size=7, link_target="t"), b"h", b"1", 0),
        (Entry("f", "file", 0o644, size=8**11 - 1), b"f", b"0", 8**11 - 1),
    ],
)
def test_only_files_have_a_size_and_only_directories_a_slash(entry: Entry, name: bytes, flag: bytes, size: int) -> None:
    block = header(entry)
    assert field(block, 0, 100).rstrip(b"\0") == name
    assert field(block, 156, 1) == flag
    assert field(block, 124, 12) == octal(size, 12)
    assert field(block, 157, 100).rstrip(b"\0") == (entry.link_target or "").encode()


def test_a_size_that_ustar_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit a tar header"):
        header(Entry("f", "file", 0o644, size=8**11))


def test_the_bytes_of_an_archive_are_pinned() -> None:
    """Equal entries give equal bytes, in every version of this project."""
    data = write(SAMPLE)
    assert len(data) == 9_728
    assert hashlib.sha256(data).hexdigest() == "58d4bd5cb7fa02545451369506dcbae097fa5d255ab3d6798d8615d53ba9259d"


NAMES = [
    # path, type, bytes of prefix and name, or None where a PAX record is needed
    ("a" * 99, "directory", (0, 100)),
    ("a" * 100, "file", (0, 100)),
    ("a" * 101, "file", None),
    ("a" * 100, "directory", None),
    ("a/" + "b" * 99, "file", (1, 99)),
    ("a/" + "b" * 100, "file", (1, 100)),
    ("a/" + "b" * 101, "file", None),
    ("a/" + "b" * 99, "directory", (1, 100)),
    ("a/" + "b" * 100, "directory", None),
    ("p" * 155 + "/" + "n" * 100, "file", (155, 100)),
    ("p" * 156 + "/" + "n" * 100, "file", None),
    ("p" * 155 + "/" + "n" * 101, "file", None),
    ("p" * 156 + "/" + "n" * 99, "file", None),
    ("p/" * 78 + "n" * 100, "file", (155, 100)),
    ("p/" * 50 + "n", "file", (1, 99)),
    ("a/" * 511 + "a", "file", None),
    ("\u00e9", "file", None),
    ("a/" + "\u00e9" * 40, "file", None),
]


@pytest.mark.parametrize(("path", "kind", "split"), NAMES, ids=range(len(NAMES)))
def test_a_long_name_is_split_where_it_fits_and_a_pax_record_elsewhere(
    path: str, kind: EntryType, split: tuple[int, int] | None
) -> None:
    data = header(Entry(path, kind, 0o755))
    name = path.encode() + (b"/" if kind == "directory" else b"")
    block = data[-512:]
    if split is None:
        assert data[:512] == header_of_pax(len(record(b"path", name)))
        assert data[512:-512].rstrip(b"\0") == record(b"path", name)
        assert field(block, 345, 155) == bytes(155)
        assert block[:100].isascii()
    else:
        assert len(data) == 512
        prefix, rest = field(block, 345, 155).rstrip(b"\0"), field(block, 0, 100).rstrip(b"\0")
        assert (len(prefix), len(rest)) == split
        assert (prefix + b"/" if prefix else b"") + rest == name


def header_of_pax(size: int) -> bytes:
    block = bytearray(b"PaxHeaders".ljust(100, b"\0") + octal(0o644, 8) + octal(0, 8) * 2 + octal(size, 12))
    block += octal(0, 12) + b" " * 8 + b"x" + bytes(100) + b"ustar\x0000" + bytes(64) + octal(0, 8) * 2 + bytes(167)
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


@pytest.mark.parametrize("length", [101, 985, 986, 987, 988, 989, 1_023])
def test_a_link_target_of_any_length_is_one_record_of_the_right_length(length: int) -> None:
    target = "t" * length
    data = header(Entry("l", "symlink", 0o777, link_target=target))
    assert data[512:-512].rstrip(b"\0") == record(b"linkpath", target.encode())
    assert read(data + END)[0][0].entry.link_target == target


@pytest.mark.parametrize("length", range(40, 52))
def test_the_length_of_a_record_counts_its_own_digits(length: int) -> None:
    """Around 99 and 100 bytes the number of digits depends on itself."""
    path = "\u00e9" * length
    data = header(Entry(path, "file", 0o644))
    text = data[512:1024].rstrip(b"\0")
    digits, _, rest = text.partition(b" ")
    assert int(digits) == len(text)
    assert rest == b"path=" + path.encode() + b"\n"


def test_records_are_sorted_and_only_those_needed() -> None:
    data = header(Entry("n" * 101, "symlink", 0o777, link_target="t" * 101))
    records = record(b"linkpath", b"t" * 101) + record(b"path", b"n" * 101)
    assert data[512:-512].rstrip(b"\0") == records
    short = header(Entry("n" * 101, "symlink", 0o777, link_target="t" * 100))
    assert b"linkpath" not in short


# -- other readers

TYPES: dict[bytes, EntryType] = {
    tarfile.REGTYPE: "file",
    tarfile.DIRTYPE: "directory",
    tarfile.SYMTYPE: "symlink",
    tarfile.LNKTYPE: "hardlink",
}


def by_tarfile(data: bytes) -> list[tuple[Entry, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        found = []
        for item in archive:
            assert (item.mtime, item.uname, item.gname) == (0, "", "")
            stream = archive.extractfile(item) if item.isreg() else None
            entry = Entry(
                item.name,
                TYPES[item.type],
                item.mode,
                uid=item.uid,
                gid=item.gid,
                size=item.size,
                link_target=item.linkname or None,
            )
            found.append((entry, stream.read() if stream else b""))
        return found


def by_us(data: bytes) -> list[tuple[Entry, bytes]]:
    assert all(found.time_fault is None for found, _ in read(data))
    return [(found.entry, content) for found, content in read(data)]


def test_the_sample_is_read_alike_by_us_and_by_tarfile() -> None:
    assert by_us(write(SAMPLE)) == by_tarfile(write(SAMPLE)) == SAMPLE


SEGMENT = st.text(st.characters(codec="utf-8", exclude_characters="/\\\0"), min_size=1, max_size=120).filter(
    lambda text: text not in {".", ".."}
)
ASCII = st.text("ab.-_ ", min_size=1, max_size=130).filter(lambda text: text.strip(". ") != "")
PATH = st.lists(ASCII | SEGMENT, min_size=1, max_size=6).map("/".join).filter(lambda path: len(path.encode()) <= 1024)


@st.composite
def contents(draw: st.DrawFn) -> tuple[Entry, bytes]:
    kind: EntryType = draw(st.sampled_from(["file", "directory", "symlink", "hardlink"]))
    data = draw(st.binary(max_size=1_100)) if kind == "file" else b""
    target = draw(PATH) if kind in {"symlink", "hardlink"} else None
    return Entry(draw(PATH), kind, draw(st.integers(0, 0o777)), size=len(data), link_target=target), data


@given(st.lists(contents(), max_size=4))
@settings(deadline=None)
def test_whatever_is_written_is_read_alike_by_us_and_by_tarfile(found: list[tuple[Entry, bytes]]) -> None:
    data = write(found)
    assert len(data) % 512 == 0
    assert by_us(data) == found
    assert by_tarfile(data) == found


def test_gnu_tar_lists_the_same_entries(require_tool: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(write(SAMPLE))
    command = [require_tool("tar"), "-tvf", str(path), "--numeric-owner", "--full-time", "--quoting-style=literal"]
    environment = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
    done = subprocess.run(command, capture_output=True, check=False, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split(maxsplit=5) for line in done.stdout.splitlines()]
    assert {(owner, date, time) for _, owner, _, date, time, _ in lines} == {("0/0", "1970-01-01", "00:00:00")}
    assert [(mode, size) for mode, _, size, *_ in lines] == [
        ("drwxr-xr-x", "0"),
        ("-rw-r--r--", "2"),
        ("drwxr-xr-x", "0"),
        ("-rwxr-xr-x", "513"),
        ("hrwxr-xr-x", "0"),
        ("lrwxrwxrwx", "0"),
        ("-rw-------", "1"),
        ("-rw-r--r--", "0"),
        ("lrwxrwxrwx", "0"),
    ]
    assert [line[5] for line in lines[:2]] == ["agents/", "agents/a.json"]
    assert lines[4][5] == "bin/run2 link to bin/run"
    assert lines[5][5] == "bin/sh -> run"
    assert lines[6][5] == "caf\u00e9"
    assert lines[8][5] == "e" * 120 + " -> " + "t" * 101


@given(st.binary(min_size=BLOCK, max_size=BLOCK) | st.sampled_from([bytes(BLOCK), b"\xff" * BLOCK]))
def test_checksum_is_the_sum_of_the_bytes(block: bytes) -> None:
    """However large: a checksum that were right modulo some number would let a damaged header pass."""
    assert _byte_sum(block) == sum(block)
