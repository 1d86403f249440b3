"""What is read of programs, libraries and scripts for ASI-ABI-001 (specification 15.2), and what is refused."""

import io
import re
import shutil
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatch_agentsuite.sandbox.elf import ElfError, Executable, examine, looks_executable
from tests.sandbox.elves import AARCH64, BASE, CORE, EXEC, I386, LOADER, REL, elf

RICH: dict[str, Any] = {
    "interpreter": LOADER,
    "needed": ["libm.so.6", "libc.so.6"],
    "soname": "librich.so.1",
    "rpath": "$ORIGIN/../lib:/opt/lib",
    "runpath": "/run/lib:",
    "needs": {"libc.so.6": ["GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_2.99?"], "libm.so.6": ["GLIBC_2.29"]},
    "defines": ["RICH_1.0", "RICH_1.1"],
    "isa": 0b11,
}


def read(data: bytes) -> Executable | None:
    return examine(io.BytesIO(data))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("little", [True, False])
def test_every_fact_is_read_in_both_classes_and_byte_orders(bits: int, little: bool) -> None:
    assert read(elf(bits=bits, little=little, **RICH)) == Executable(
        kind="elf",
        bits=bits,
        little_endian=little,
        machine="x86_64",
        type="DYN",
        osabi="sysv",
        interpreter=LOADER,
        needed=("libm.so.6", "libc.so.6"),
        soname="librich.so.1",
        rpath=("$ORIGIN/../lib", "/opt/lib"),
        runpath=("/run/lib", ""),
        version_needs={"libc.so.6": ("GLIBC_2.2.5", "GLIBC_2.34"), "libm.so.6": ("GLIBC_2.29",)},
        version_definitions=frozenset({"RICH_1.0", "RICH_1.1"}),
        isa_needed=("x86-64-v1", "x86-64-v2"),
    )


@pytest.mark.parametrize(
    ("members", "facts"),
    [
        ({"machine": AARCH64, "isa": 2}, {"machine": "aarch64", "isa_needed": ()}),
        ({"machine": I386, "bits": 32}, {"machine": "i386", "bits": 32}),
        ({"machine": 4711}, {"machine": "machine 4711"}),
        ({"osabi": 3}, {"osabi": "gnu"}),
        ({"osabi": 9}, {"osabi": "freebsd"}),
        ({"osabi": 200}, {"osabi": "system 200"}),
        ({"type": EXEC}, {"type": "EXEC", "needed": (), "interpreter": ""}),
        ({"type": REL, "needed": ["x"]}, {"type": "REL", "needed": ()}),
        ({"type": CORE}, {"type": "CORE"}),
        ({"type": 0xFE00}, {"type": "OTHER"}),
        ({"isa": 0b1000}, {"isa_needed": ("x86-64-v4",)}),
        ({"needed": ["a"] * 3}, {"needed": ("a", "a", "a")}),
        ({"soname": "grün"}, {"soname": "grün"}),
    ],
)
def test_a_fact_by_itself(members: dict[str, Any], facts: dict[str, Any]) -> None:
    found = read(elf(**members))
    assert found is not None
    assert {name: getattr(found, name) for name in facts} == facts


@pytest.mark.parametrize(
    ("text", "interpreter", "argument"),
    [
        (b"#!/bin/sh\n", "/bin/sh", ""),
        (b"#! \t/bin/sh \t\necho", "/bin/sh", ""),
        (b"#!/usr/bin/env  python3 -u \nx", "/usr/bin/env", "python3 -u"),
        (b"#!/bin/sh", "/bin/sh", ""),
        (b"#!/bin/sh\r\n", "/bin/sh\r", ""),
        (b"#!/bin/sh\0-e\n", "/bin/sh", ""),
        (b"#!\n/bin/sh\n", "", ""),
        (b"#!", "", ""),
        (b"#!   \t\n", "", ""),
        (b"#!/" + b"a" * 253, "", ""),  # 256 bytes without an end: the path may be cut off
        (b"#!/" + b"a" * 400 + b"\n", "", ""),
        (b"#!/" + b"a" * 252, "/" + "a" * 252, ""),
        (b"#!/" + b"a" * 252 + b"\n", "/" + "a" * 252, ""),
        (b"#!/bin/sh " + b"a" * 400, "/bin/sh", "a" * 246),  # an argument may be cut off
        (b"#!/b\xff\n", "/b\udcff", ""),
    ],
)
def test_the_first_line_of_a_script_is_read_as_the_kernel_does(text: bytes, interpreter: str, argument: str) -> None:
    assert read(text) == Executable(kind="script", interpreter=interpreter, argument=argument)


@pytest.mark.parametrize("data", [b"", b"\x7f", b"\x7fEL", b"#", b"MZ\x90\0", b"!<arch>\n", b" #!/bin/sh\n", bytes(64)])
def test_what_is_neither_elf_nor_script_is_nothing(data: bytes) -> None:
    assert read(data) is None
    assert not looks_executable(data[:4])


def test_four_bytes_tell_what_is_worth_a_look() -> None:
    assert looks_executable(elf()[:4])
    assert looks_executable(b"#!/b")
    assert looks_executable(b"#!")


def patched(at: int, layout: str, value: int, **members: Any) -> bytes:
    data = bytearray(elf(**members))
    struct.pack_into("<" + layout, data, at, value)
    return bytes(data)


HEADERS = 64  # where the program headers of a 64-bit file begin; each has 56 bytes, the first is the PT_LOAD
SECOND = HEADERS + 56
ADDRESS_BEYOND = BASE + 0x100000


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x7fELF", "ends within its ELF header"),
        (elf()[:40], "ends before its ELF header"),
        (patched(4, "B", 3), "class or byte order"),
        (patched(5, "B", 0), "class or byte order"),
        (patched(6, "B", 2), "ELF version 2"),
        (patched(56, "H", 0), "no program headers"),
        (patched(56, "H", 0xFFFF), "65,535 program headers"),
        (patched(54, "H", 32), "program headers of 32 bytes"),
        (patched(32, "Q", 2**64 - 8), "ends before its program headers"),
        (patched(32, "Q", 2**32), "ends before its program headers"),
        (patched(HEADERS + 32, "Q", 2**32), "ends before its last segment"),
        (elf(needed=["libc.so.6"])[:-8], "ends before its last segment"),
        (patched(SECOND + 32, "Q", 1, interpreter=LOADER), "names its loader in 1 bytes"),
        (patched(SECOND + 32, "Q", 5, interpreter=LOADER), "names a loader without an end"),
        (elf(interpreter="/" + "a" * 5000), "names its loader in 5,002 bytes"),
        (elf(needed=["a"], terminated=False), "dynamic table without an end"),
        (patched(SECOND + 16, "Q", ADDRESS_BEYOND, needed=["a"]), "dynamic table outside of what is loaded"),
        (elf(extra_tags=[(1, 10**6)]), "name outside of its table of names"),
        (elf(needed=["a"], extra_tags=[(0x6FFFFFFE, 0)]), "table of versions outside of what is loaded"),
        (elf(needed=["a"], extra_tags=[(0x6FFFFFFC, BASE + 2**40)]), "table of versions outside of what is loaded"),
        (elf(needed=["a" * 5000]), "name without an end, or of more than 4,096 bytes"),
    ],
)
def test_a_broken_elf_file_is_refused_with_one_clear_message(data: bytes, words: str) -> None:
    with pytest.raises(ElfError, match=re.escape(words)):
        read(data)


def test_a_table_of_names_beyond_what_is_loaded_is_refused() -> None:
    data = elf(needed=["libc.so.6"])
    at = data.rindex(struct.pack("<Q", 10))
    with pytest.raises(ElfError, match="not loaded as a whole"):
        read(data[: at + 8] + struct.pack("<Q", 2**40) + data[at + 16 :])


def test_of_equal_entries_the_last_counts_as_in_the_loaders() -> None:
    found = read(elf(needed=["one", "two"], extra_tags=[(14, 1), (14, 5)]))
    assert found is not None
    assert found.soname == "two"


def test_section_headers_are_never_looked_at() -> None:
    """A loader does not read them, so they may be stripped or lie."""
    data = bytearray(elf(**RICH))
    struct.pack_into("<Q", data, 40, 2**63)  # e_shoff
    struct.pack_into("<HHH", data, 58, 64, 0xFFFF, 0xFFFE)  # e_shentsize, e_shnum, e_shstrndx
    assert read(bytes(data)) == read(elf(**RICH))


def test_split_debug_information_is_no_program() -> None:
    """It has the headers of a program, and no bytes in them."""
    data = bytearray(elf(interpreter=LOADER, needed=["libc.so.6"]))
    for header in range(3):
        struct.pack_into("<Q", data, HEADERS + header * 56 + 32, 0)
    found = read(bytes(data))
    assert found is not None
    assert (found.type, found.interpreter) == ("OTHER", "")


@pytest.mark.parametrize(
    "data",
    [
        elf(needed=["a"] * 40_000),
        elf(needed=["n" * 4_000], extra_tags=[(1, 1 + index) for index in range(3_000)]),
        elf(needed=["a"], needs={f"lib{index}.so": ["V"] for index in range(9_000)}),
        elf(soname="s", defines=[f"V{index}" for index in range(9_000)]),
    ],
    ids=["needed", "overlapping names", "version needs", "version definitions"],
)
def test_tables_without_end_are_refused_soon(data: bytes) -> None:
    started = time.process_time()
    with pytest.raises(ElfError, match="without end"):
        read(data)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("layout", ["HHIII", "IHHII"], ids=["needs", "their versions"])
def test_a_chain_that_advances_byte_by_byte_ends(layout: str) -> None:
    """Distances are unsigned, so a chain cannot lead back; tiny ones make it long."""
    size = 200_000
    data = bytearray(elf(needed=["a"], needs={"a": ["V"]}, extra_tags=[(0x6FFFFFF0, 0)]))
    at = struct.unpack_from("<Q", data, data.rindex(struct.pack("<Q", 0x6FFFFFFE)) + 8)[0] - BASE
    tail = len(data)
    data += b"\0\0\0\1" * (size // 4)  # wherever a record is read, its last member is a distance
    struct.pack_into("<QQ", data, HEADERS + 32, len(data), len(data))
    if layout == "HHIII":
        struct.pack_into("<I", data, at + 12, tail - at + 3)
    else:
        struct.pack_into("<I", data, at + 16 + 12, tail - at - 16 + 3)
    started = time.process_time()
    with pytest.raises(ElfError):
        read(bytes(data))
    assert time.process_time() - started < 5


def test_notes_that_are_longer_than_their_segment_are_refused() -> None:
    data = bytearray(elf(isa=1))
    at = data.index(b"GNU\0") - 8
    struct.pack_into("<I", data, at, 2**32 - 1)
    with pytest.raises(ElfError, match="note that is longer than its segment"):
        read(bytes(data))


def test_a_sparse_file_of_gigabytes_costs_nothing(tmp_path: Path) -> None:
    """Offsets beyond 4 GiB are read where they are, and nothing between."""
    path = tmp_path / "large"
    data = bytearray(elf(needed=["libc.so.6"]))
    with path.open("wb") as stream:
        stream.write(data)
        stream.truncate(5 * 1024**3)
        stream.seek(0)
        struct.pack_into("<Q", data, SECOND + 16, BASE + 4 * 1024**3)
        struct.pack_into("<QQ", data, HEADERS + 32, 5 * 1024**3, 5 * 1024**3)
        stream.write(data)
        stream.seek(4 * 1024**3)
        at = struct.unpack_from("<Q", data, SECOND + 8)[0]
        stream.write(data[at:])
    started = time.process_time()
    with path.open("rb") as readable:
        found = examine(readable)
    assert found is not None
    assert found.needed == ("libc.so.6",)
    assert time.process_time() - started < 5


@settings(max_examples=300, deadline=None)
@given(
    bits=st.sampled_from([32, 64]),
    little=st.booleans(),
    patches=st.lists(st.tuples(st.integers(0, 2_000), st.binary(min_size=1, max_size=8)), max_size=6),
    cut=st.integers(0, 2_000),
)
def test_a_mutated_file_is_read_or_refused_and_nothing_else(
    bits: int, little: bool, patches: list[tuple[int, bytes]], cut: int
) -> None:
    """Whatever a hostile file holds, the only exception is ElfError, and the answer comes soon."""
    data = bytearray(elf(bits=bits, little=little, **RICH))
    for at, patch in patches:
        data[at % len(data) : at % len(data) + len(patch)] = patch
    started = time.process_time()
    try:
        examine(io.BytesIO(bytes(data[: len(data) - cut % 64])))
    except ElfError as error:
        assert "\n" not in str(error)  # noqa: PT017
    assert time.process_time() - started < 5


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=512), st.sampled_from([b"\x7fELF", b"\x7fELF\2\1\1\0", b"\x7fELF\1\2\1\0", b"#!"]))
def test_noise_behind_a_true_beginning(noise: bytes, head: bytes) -> None:
    try:
        examine(io.BytesIO(head + noise))
    except ElfError:
        return


REAL = ["sh", "ls", "python3", "ldd", "cat"]


@pytest.mark.parametrize("command", REAL)
def test_real_programs_are_read_as_readelf_reads_them(command: str, require_tool: Callable[[str], str]) -> None:
    readelf = require_tool("readelf")
    path = shutil.which(command)
    if path is None:
        pytest.skip(f"{command} is not installed")
    with Path(path).open("rb") as stream:
        found = examine(stream)
    assert found is not None
    if found.kind == "script":
        assert Path(found.interpreter).name in {"bash", "sh", "python3", "env"}
        return
    shown = subprocess.run([readelf, "-dW", path], check=True, capture_output=True, text=True).stdout
    assert list(found.needed) == re.findall(r"\(NEEDED\).*\[(.*)\]", shown)


def test_the_c_library_of_this_machine_defines_versions(require_tool: Callable[[str], str]) -> None:
    readelf = require_tool("readelf")
    library = next(iter(Path("/lib").glob("*-linux-gnu/libc.so.6")), None)
    if library is None:
        pytest.skip("no glibc in a Debian place")
    with library.open("rb") as stream:
        found = examine(stream)
    assert found is not None
    assert found.soname == "libc.so.6"
    shown = subprocess.run([readelf, "-VW", library], check=True, capture_output=True, text=True).stdout
    definitions = shown.partition("Version definition section")[2].partition("Version needs section")[0]
    named = set(re.findall(r"Rev: \d+ .*Cnt: \d+  Name: (\S+)", definitions)) - {"libc.so.6"}
    assert found.version_definitions == named
