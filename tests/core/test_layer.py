"""Content layers: what is packed is what was hashed, what is read is bounded (sections 5.2 and 6.2)."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hatch_agentsuite.archive.layer import LayerSink, Member, read_layer, write_layer
from hatch_agentsuite.content import ContentTree, Entry
from hatch_agentsuite.findings import RefusedError
from hatch_agentsuite.jsondoc import JSONLimits
from hatch_agentsuite.limits import Limits
from tests.core.archives import END, block, compress, faults, file, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
MEBIBYTE = 1 << 20


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def entry(path: str, data: bytes, mode: int = 0o644) -> Entry:
    return Entry(path, "file", mode, size=len(data), digest=digest(data))


def on_disk(folder: Path, data: bytes) -> Member:
    (folder / "f").write_bytes(data)
    return Member(entry("f", data), folder)


# -- out and in


def test_what_is_packed_is_read_back(tmp_path: Path) -> None:
    data = os.urandom(MEBIBYTE + 17)
    members = [
        Member(entry("a.json", b"{}"), b"{}"),
        Member(Entry("d", "directory", 0o755)),
        Member(entry("empty", b""), b""),
        on_disk(tmp_path, data),
        Member(Entry("l", "symlink", 0o777, link_target="f")),
    ]
    stream, done = io.BytesIO(), list[int]()
    blob = write_layer(stream, members, progress=done.append)
    assert (blob.digest, blob.size) == (digest(stream.getvalue()), len(stream.getvalue()))
    assert sum(done) == len(data) + 2
    tree = read_layer(io.BytesIO(stream.getvalue()))
    assert tree.findings == []
    assert list(tree.entries.values()) == [member.entry for member in members]
    assert tree.documents == {"a.json": b"{}"}


CHANGES: dict[str, Callable[[Path], object]] = {
    "same size": lambda path: path.write_bytes(b"0123456788"),
    "cut off": lambda path: path.write_bytes(b"012345678"),
    "emptied": lambda path: path.write_bytes(b""),
    "grown": lambda path: path.write_bytes(b"0123456789a"),
    "grown by a lot": lambda path: path.write_bytes(b"0123456789" * MEBIBYTE),
    "removed": lambda path: path.unlink(),
    "a symlink to the same bytes": lambda path: path.symlink_to(path.rename(path.with_name("g"))),
    "a FIFO": lambda path: os.mkfifo(path.rename(path.with_name("g")).with_name("f")),
    "a directory": lambda path: path.rename(path.with_name("g")).with_name("f").mkdir(),
}


@pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs and symlinks")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_that_changes_after_it_was_hashed_is_refused(change: Callable[[Path], object], tmp_path: Path) -> None:
    """6.2: never a digest in one document and other bytes in the layer; a FIFO is not waited for."""
    member = on_disk(tmp_path, b"0123456789")
    change(tmp_path / "f")
    with pytest.raises(RefusedError) as caught:
        write_layer(io.BytesIO(), [member])
    (finding,) = caught.value.findings
    assert (finding.requirement, finding.category, finding.location) == ("SOURCE-CHANGE-001", "digest", "f")


def test_a_stream_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_layer(Full(), [on_disk(tmp_path, b"x")])


# -- limits on both sides


def numbered(count: int) -> bytes:
    return b"".join(file(b"f%d" % number) for number in range(count)) + END


@pytest.mark.parametrize(
    ("accepted", "refused", "limits", "message"),
    [
        (numbered(3), numbered(4), Limits(entries=3), "more than 3 entries"),
        (
            file(b"a", b"x" * 6) + file(b"b", b"x" * 4) + END,
            file(b"a", b"x" * 6) + file(b"b", b"x" * 5) + END,
            Limits(expanded_bytes=10),
            "more than 10 bytes together",
        ),
        (
            file(b"a.json", b"x" * 6) + file(b"b.json", b"x" * 4) + file(b"c", b"x" * 99) + END,
            file(b"a.json", b"x" * 6) + file(b"b.json", b"x" * 5) + END,
            Limits(metadata_bytes=10),
            "JSON files have more than 10 bytes",
        ),
    ],
)
def test_limits_hold_on_both_sides(accepted: bytes, refused: bytes, limits: Limits, message: str) -> None:
    """5.2: content exceeding implementation-declared limits is refused."""
    assert faults(read(accepted, limits)) == []
    assert [message in fault for fault in faults(read(refused, limits))] == [True]


def test_the_limits_of_the_reference_validator_are_the_default() -> None:
    limits = Limits()
    assert (limits.entries, limits.expanded_bytes, limits.metadata_bytes) == (100_000, 4 << 30, 256 << 20)
    assert (limits.index_descriptors, limits.index_bytes) == (1_000, 1 << 30)
    assert limits.json == JSONLimits(4 << 20, 100, 1_024, 100_000)


@pytest.mark.parametrize(("size", "kept"), [(4, True), (5, False)])
def test_a_json_file_beyond_the_limit_is_content_but_no_document(size: int, kept: bool) -> None:
    tree = read(file(b"a.json", b"x" * size) + END, Limits(json=JSONLimits(document_bytes=4)))
    assert tree.findings == []
    assert ("a.json" in tree.documents) is kept
    assert tree.entries["a.json"].digest == digest(b"x" * size)


@pytest.mark.parametrize("name", [b"bomb", b"../bomb"])
def test_a_bomb_is_left_as_soon_as_it_passes_a_limit(name: bytes) -> None:
    """Not a byte of ten gibibytes is unpacked when the header alone says that they are too many."""
    piece = compress(bytes(16 * MEBIBYTE))
    stream = io.BytesIO(compress(block(name, size=8**11 - 1)) + piece * 640)
    tree = read_layer(stream, Limits(expanded_bytes=MEBIBYTE))
    assert "more than 1,048,576 bytes" in faults(tree)[0]
    assert len(stream.getvalue()) > 10_000_000
    assert stream.tell() < 1_000_000


def test_an_archive_of_refused_entries_is_bounded_too() -> None:
    tree = read(file(b"../x") * 5_000 + END, Limits(entries=10))
    assert len(tree.findings) == 11
    assert "more than 10 entries" in tree.findings[-1].message


# -- faults of the gzip stream


def test_damage_after_the_archive_is_noticed() -> None:
    """A reader that stops at the end of the tar would miss it."""
    data = compress(file(b"f", b"x") + END)
    tree = read_layer(io.BytesIO(data[:-1] + bytes([data[-1] ^ 1])))
    assert [(finding.category, finding.message) for finding in tree.findings] == [
        ("oci", "the gzip checksum or size does not match the data")
    ]
    assert "bytes follow" in faults(read_layer(io.BytesIO(data + b"\0")))[0]
    assert "not gzip" in faults(read_layer(io.BytesIO(file(b"f") + END)))[0]


def test_a_gzip_time_is_refused_and_further_members_are_worth_a_warning() -> None:
    """5.2."""
    tar = file(b"f", b"x") + END
    timed = bytearray(compress(tar))
    timed[4] = 1
    assert faults(read_layer(io.BytesIO(bytes(timed)))) == ["a gzip modification time is not zero"]
    tree = read_layer(io.BytesIO(compress(tar[:700]) + compress(tar[700:])))
    assert [finding.severity for finding in tree.findings] == ["warning"]
    assert list(tree.entries) == ["f"]


# -- what receives the entries


class Recorder(LayerSink):
    def __init__(self, pieces: int | None = None) -> None:
        self.taken: list[tuple[str, bytes]] = []
        self._pieces = pieces

    def entry(self, entry: Entry, chunks: Iterator[bytes]) -> None:
        data = b"" if self._pieces == 0 else b"".join(chunks)
        self.taken.append((entry.path, data))


def received(tar: bytes, recorder: Recorder) -> ContentTree:
    return read_layer(io.BytesIO(compress(tar)), sink=recorder)


def test_a_sink_receives_every_entry_with_its_bytes() -> None:
    tar = block(b"d/", b"5") + file(b"d/f", b"x" * (MEBIBYTE + 1)) + block(b"l", b"2", link=b"d/f") + END
    recorder = Recorder()
    assert received(tar, recorder).findings == []
    assert recorder.taken == [("d", b""), ("d/f", b"x" * (MEBIBYTE + 1)), ("l", b"")]


def test_what_a_sink_does_not_read_is_hashed_all_the_same() -> None:
    tree = received(file(b"f", b"data") + END, Recorder(pieces=0))
    assert tree.entries["f"].digest == digest(b"data")


@pytest.mark.parametrize(
    "fault",
    [
        block(b"../x"),
        block(b"h", b"1", link=b"/etc/passwd"),
        block(b"l", b"2", link=b"/etc"),
        block(b"w", mode=0o666),
        block(b"s", mode=0o4755),
        block(b"t", mtime=1),
        block(b"f"),
        block(b"F"),
        block(b"f/x"),
    ],
)
def test_a_sink_receives_nothing_from_the_first_fault_on(fault: bytes) -> None:
    """5.2: no unsafe entry, and nothing after one, reaches whoever writes files."""
    recorder = Recorder()
    tree = received(file(b"f", b"1") + fault + file(b"g", b"2") + END, recorder)
    assert len(tree.findings) == 1
    assert recorder.taken == [("f", b"1")]
    assert "g" in tree.entries


def test_an_error_of_the_sink_ends_reading() -> None:
    class Broken(LayerSink):
        def entry(self, entry: Entry, chunks: Iterator[bytes]) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        read_layer(io.BytesIO(compress(file(b"f", bytes(32 * MEBIBYTE)) + END)), sink=Broken())


def test_an_error_of_the_stream_is_raised() -> None:
    class Torn(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output error"):
        read_layer(Torn())


# -- memory

MEASURED = """
import pathlib, sys, tracemalloc
from hatch_agentsuite.archive.layer import Member, read_layer, write_layer
from hatch_agentsuite.content import Entry
from hatch_agentsuite.regular import hash_file
folder = pathlib.Path(sys.argv[1])
size, digest = hash_file(folder / "f")
member = Member(Entry("f", "file", 0o644, size=size, digest=digest), folder)
tracemalloc.start()
with (folder / "layer").open("wb") as stream:
    write_layer(stream, [member], codec=sys.argv[2], workers=2)
packing = tracemalloc.get_traced_memory()[1]
tracemalloc.reset_peak()
with (folder / "layer").open("rb") as stream:
    tree = read_layer(stream)
assert not tree.findings and tree.entries["f"].digest == digest
print(packing, tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.parametrize("codec", ["store", "zlib"])
def test_memory_does_not_grow_with_a_file(codec: str, tmp_path: Path) -> None:
    """64 MiB pass through in pieces."""
    with (tmp_path / "f").open("wb") as stream:
        stream.truncate(64 * MEBIBYTE)
    command = [sys.executable, "-c", MEASURED, str(tmp_path), codec]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    packing, reading = map(int, done.stdout.split())
    assert packing < 24 * MEBIBYTE
    assert reading < 24 * MEBIBYTE


def test_an_entry_keeps_what_the_layer_says() -> None:
    tree = read(block(b"f", mode=0o750, uid=7, gid=8) + END)
    assert tree.entries["f"] == Entry("f", "file", 0o750, uid=7, gid=8, digest=digest(b""))
