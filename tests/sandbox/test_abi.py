"""ASI-ABI-001: machines, loaders, CPU baseline and base paths in the final file system (specification 15.2, 9.4)."""

from typing import Any

import pytest

from hatch_agentsuite.sandbox.abi import check_abi
from tests.sandbox.elves import AARCH64, EXEC, I386, LOADER, MUSL_LOADER, REL, elf
from tests.sandbox.images import (
    LIB,
    LIBC,
    LOCATION,
    LOOP,
    ROOT,
    STATIC,
    A,
    Entries,
    Plain,
    Tree,
    assert_errors,
    judge,
    library,
    program,
    script,
)

GOOD: dict[str, tuple[Entries, dict[str, Any] | None]] = {
    "nothing": ({}, {"abi": "static"}),
    "no variant": ({A: program()}, None),
    "gnu": ({A: program()}, {"abi": "gnu"}),
    "static": ({A: STATIC}, {"abi": "static"}),
    "static-pie": ({A: elf()}, {"abi": "static"}),
    "a static program in a gnu variant": ({A: STATIC}, {"abi": "gnu"}),
    "a private loader": (
        {A: program(interpreter="/opt/p/lib/ld-linux.so"), f"{LIB}/ld-linux.so": elf()},
        {"abi": "gnu"},
    ),
    "no ISA note": ({A: program()}, {"cpuBaseline": "haswell"}),
    "an ISA note at the baseline": ({A: program(isa=0b10)}, {"cpuBaseline": "x86-64-v2"}),
    "an ISA note below the baseline": ({A: program(isa=0b11)}, {"cpuBaseline": "x86-64-v4"}),
    "a lowest note with an unknown baseline": ({A: program(isa=0b1)}, {"cpuBaseline": "haswell"}),
    "base paths": (
        {"/etc/certs": "ssl", "/etc/ssl/ca.pem": b"x"},
        {"requiredBasePaths": ["/", "/bin", "/etc/certs/ca.pem"]},
    ),
    "ABI version": ({A: program(needs={LIBC: ["GLIBC_2.34"]})}, {"abi": "gnu", "abiVersion": "2.34"}),
    "ABI version without a number": ({A: program(needs={LIBC: ["GLIBC_2.34"]})}, {"abi": "gnu", "abiVersion": "any"}),
    "an object file": ({A: elf(type=REL, machine=AARCH64)}, {}),
    "data": ({f"{ROOT}/data": b"\0\1"}, {}),
    "a broken link": ({A: "/nowhere"}, {}),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_resolves_has_no_finding(name: str) -> None:
    entries, runtime = GOOD[name]
    assert judge(entries, runtime) == []


BAD: dict[str, tuple[Entries, dict[str, Any] | None, list[str]]] = {
    "another machine": (
        {A: program(machine=AARCH64)},
        None,
        [f"`{A}` is for aarch64, 64-bit, little-endian; the platform's machine is 64-bit x86_64"],
    ),
    "32-bit x86": ({A: program(machine=I386, bits=32)}, None, [f"`{A}` is for i386, 32-bit"]),
    "x32": ({A: program(bits=32)}, None, [f"`{A}` is for x86_64, 32-bit"]),
    "big-endian": ({A: elf(little=False)}, None, [f"`{A}` is for x86_64, 64-bit, big-endian"]),
    "another system": ({A: elf(osabi=9)}, None, [f"`{A}` is for the system freebsd"]),
    "no loader": (
        {A: program(interpreter="/lib64/ld-linux-none.so.2")},
        {"abi": "gnu"},
        [f"`{A}` names the loader `/lib64/ld-linux-none.so.2`, which is not in the final file system"],
    ),
    "a loader for another machine": (
        {A: program(interpreter="/ld-linux"), "/ld-linux": elf(machine=AARCH64)},
        {"abi": "gnu"},
        [f"`{A}` names the loader `/ld-linux`, which is for aarch64"],
    ),
    "a loader without an executable bit": (
        {A: program(interpreter="/ld-linux"), "/ld-linux": Plain(elf())},
        {"abi": "gnu"},
        [f"`{A}` names the loader `/ld-linux`, which has no executable bit"],
    ),
    "a script as loader": (
        {A: program(interpreter="/ld-linux"), "/ld-linux": script("#!/bin/sh")},
        None,
        [f"`{A}` names the loader `/ld-linux`, which is a script"],
    ),
    "a folder as loader": ({A: program(interpreter="/usr")}, None, ["`/usr`, which is no regular file"]),
    "a relative loader": ({A: program(interpreter="ld-linux")}, None, ["depends on the working directory"]),
    "a loader that is a loop": ({A: program(interpreter="/l0"), **LOOP}, None, ["`/l0`, which is not in the final"]),
    "needed without loader": ({A: elf(type=EXEC, needed=[LIBC])}, None, [f"`{A}` needs shared libraries but names no"]),
    "static with a loader": (
        {A: elf(interpreter=LOADER)},
        {"abi": "static"},
        [f"`{A}` names the loader `{LOADER}`; the ABI is `static`"],
    ),
    "static with a library": (
        {A: elf(needed=["libx"])},
        {"abi": "static"},
        [f"`{A}` needs `libx`; the ABI is `static`"],
    ),
    "gnu with the loader of musl": (
        {A: elf(interpreter=MUSL_LOADER, needed=["libc.so"]), f"/usr{MUSL_LOADER}": elf()},
        {"abi": "gnu"},
        [f"`{A}` names the loader `{MUSL_LOADER}`; the ABI is `gnu`, whose loader is `ld-linux*`"],
    ),
    "ISA above the baseline": (
        {A: program(isa=0b111)},
        {"cpuBaseline": "x86-64-v2"},
        [f"`{A}` needs x86-64-v3; the declared CPU baseline is `x86-64-v2`"],
    ),
    "ISA with an unknown baseline": (
        {A: program(isa=0b10)},
        {"cpuBaseline": "haswell"},
        [f"`{A}` needs x86-64-v2; the declared CPU baseline is `haswell`, which is none of x86-64, "],
    ),
    "ISA of a base library above the baseline": (
        {A: program("libx"), "/lib64/libx": library("libx", isa=0b1000)},
        {"abi": "gnu"},
        ["`/lib64/libx` needs x86-64-v4; the declared CPU baseline is `x86-64-v1`"],
    ),
    "ISA of a static program": ({A: elf(isa=0b10)}, {"abi": "static"}, [f"`{A}` needs x86-64-v2"]),
    "a broken program": ({A: b"\x7fELF"}, None, [f"`{A}` is an ELF file that ends within its ELF header"]),
    "a broken library of ours": (
        {f"{LIB}/libx.so.1": Plain(b"\x7fELF")},
        None,
        [f"`{LIB}/libx.so.1` is an ELF file that ends within its ELF header"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_resolve_is_an_error_by_name(name: str) -> None:
    entries, runtime, words = BAD[name]
    assert_errors(judge(entries, runtime), words)


WARNINGS: dict[str, tuple[Entries, dict[str, Any], str, str]] = {
    "the ABI version": (
        {A: program(needs={LIBC: ["GLIBC_2.2.5", "GLIBC_2.34"]})},
        {"abi": "gnu", "abiVersion": "glibc-2.31"},
        f"`{A}` needs GLIBC_2.34; the declared ABI version is `glibc-2.31`",
        f"{LOCATION}/runtime/abiVersion",
    ),
    "no executable bit": (
        {A: Plain(program())},
        {"abi": "gnu"},
        f"`{A}` is a program without an executable bit",
        LOCATION,
    ),
    "a broken file of data": ({f"{ROOT}/data": Plain(b"\x7fELF")}, {}, "ends within its ELF header", LOCATION),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_what_a_loader_lets_pass_is_a_warning(name: str) -> None:
    entries, runtime, words, location = WARNINGS[name]
    (finding,) = judge(entries, runtime)
    assert words in finding.message
    assert (finding.severity, finding.location) == ("warning", location)


def test_every_missing_base_path_is_named_at_its_place() -> None:
    """Section 9.4, required base paths."""
    paths = ["/etc/ssl", "/bin/sh", "/l0", "/bin/sh/x"]
    findings = judge(LOOP, {"requiredBasePaths": paths})
    assert [(item.location, item.message.split("`")[1]) for item in findings] == [
        (f"{LOCATION}/runtime/requiredBasePaths/{index}", paths[index]) for index in (0, 2, 3)
    ]


@pytest.mark.parametrize(
    ("platform", "baseline", "machine"),
    [("linux/amd64", "armv8-a", "aarch64"), ("linux/arm64", "x86-64-v1", "x86_64"), ("linux/arm64", "AMD64", "x86_64")],
)
def test_a_baseline_of_another_machine_is_refused(platform: str, baseline: str, machine: str) -> None:
    (finding,) = judge({}, {"cpuBaseline": baseline}, platform=platform)
    assert finding.location == f"{LOCATION}/runtime/cpuBaseline"
    assert finding.category == "platform"
    assert f"`{baseline}` is one of {machine}" in finding.message


@pytest.mark.parametrize("platform", ["linux/riscv64", "windows/amd64", "linux", "linux/arm64/v8", ""])
def test_a_platform_that_images_are_not_made_for_is_refused(platform: str) -> None:
    (finding,) = judge({A: program()}, None, platform=platform)
    assert finding.category == "platform"
    assert "none of linux/amd64, linux/arm64" in finding.message


def test_arm64_has_folders_of_its_own() -> None:
    loader = "/lib/ld-linux-aarch64.so.1"
    base = {loader: elf(machine=AARCH64), f"/lib/aarch64-linux-gnu/{LIBC}": elf(machine=AARCH64, soname=LIBC)}
    entries = {A: program(interpreter=loader, machine=AARCH64)}
    assert judge(entries, {"abi": "gnu", "cpuBaseline": "armv8-a"}, base=base, platform="linux/arm64") == []
    assert [item.category for item in judge({A: program()}, None, base=base, platform="linux/arm64")] == ["platform"]


def test_independent_faults_are_all_reported() -> None:
    entries = {A: program("libgone"), f"{ROOT}/bin/b": script("#!/nowhere"), f"{ROOT}/bin/c": elf(machine=AARCH64)}
    findings = judge(entries, {"abi": "gnu", "requiredBasePaths": ["/x"], "cpuBaseline": "armv8-a"})
    assert len(findings) == 5


def test_a_root_that_is_not_there_is_refused() -> None:
    (finding,) = judge({}, None, roots=["/opt/none"])
    assert "`/opt/none` is not in the final file system" in finding.message


def test_a_location_without_a_pointer_gets_one() -> None:
    variant = {"runtime": {"abi": "static", "cpuBaseline": "x", "requiredBasePaths": ["/x"]}}
    (finding,) = check_abi(Tree({"/a": None}), "linux/amd64", variant, [], "image")
    assert finding.location == "image#/runtime/requiredBasePaths/0"


def test_names_from_a_file_cannot_steer_a_terminal() -> None:
    (finding,) = judge({A: program("lib\x1b[2J\n")}, None)
    assert "lib\\x1b[2J\\n" in finding.message
