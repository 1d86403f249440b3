"""ASI-ABI-001: needed libraries, found by the rules of the loader that looks for them (specification 15.2, 11)."""

import io
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatch_agentsuite.sandbox import abi, lookup
from hatch_agentsuite.sandbox.abi import check_abi
from hatch_agentsuite.sandbox.elf import Executable, examine
from hatch_agentsuite.sandbox.loaders import MACHINES, Glibc, Loaded, configured_folders, load
from hatch_agentsuite.sandbox.lookup import Lookup
from tests.sandbox.elves import AARCH64, I386, LOADER, elf
from tests.sandbox.images import (
    BASE,
    LIB,
    LIBC,
    LOCATION,
    ROOT,
    TRIPLET,
    A,
    Entries,
    Tree,
    assert_errors,
    judge,
    library,
    program,
)

GOOD: dict[str, tuple[Entries, dict[str, Any] | None]] = {
    "versions": ({A: program(needs={LIBC: ["GLIBC_2.34"]})}, {"abi": "gnu"}),
    "a weak version": ({A: program(needs={LIBC: ["GLIBC_9.9?"]})}, {"abi": "gnu"}),
    "the loader as a library": (
        {A: program("ld-linux-x86-64.so.2", needs={"ld-linux-x86-64.so.2": ["GLIBC_2.3"]})},
        {"abi": "gnu"},
    ),
    "runpath with $ORIGIN": ({A: program("libx", runpath="$ORIGIN/../lib"), f"{LIB}/libx": library("libx")}, {}),
    "runpath with ${ORIGIN}": ({A: program("libx", runpath="${ORIGIN}/../lib"), f"{LIB}/libx": library("libx")}, {}),
    "runpath with $LIB": ({A: program("libx", rpath="/opt/p/$LIB"), f"{LIB}/{TRIPLET}/libx": library("libx")}, {}),
    "runpath with $LIB as Fedora": (
        {A: program("libx", rpath="/opt/p/$LIB"), f"{ROOT}/lib64/libx": library("libx")},
        {},
    ),
    "runpath with $PLATFORM": (
        {A: program("libx", runpath="/opt/p/$PLATFORM"), f"{ROOT}/x86_64/libx": library("libx")},
        {},
    ),
    "$ORIGIN of a program is where it really is": (
        {f"{ROOT}/real/a": program("libx", runpath="$ORIGIN"), f"{ROOT}/real/libx": library("libx"), A: "../real/a"},
        {},
    ),
    "$ORIGIN of a library is where it was found": (
        {
            A: program("libx", runpath="$ORIGIN/../lib"),
            f"{LIB}/libx": "../real/libx",
            f"{ROOT}/real/libx": library("libx", "liby", runpath="$ORIGIN"),
            f"{LIB}/liby": library("liby"),
        },
        {},
    ),
    "rpath is handed down": (
        {
            A: program("libx", rpath="$ORIGIN/../lib"),
            f"{LIB}/libx": library("libx", "liby"),
            f"{LIB}/liby": library("liby"),
        },
        {},
    ),
    "rpath of a plugin is handed down, though its library is a file of its own": (
        {
            f"{LIB}/a/libx": library("libx", "liby"),
            f"{LIB}/a/liby": library("liby"),
            f"{LIB}/plugin.so": elf(needed=["libx"], rpath="$ORIGIN/a"),
        },
        {},
    ),
    "what the program has loaded is there for all": (
        {
            A: program("libx", "liby", runpath="$ORIGIN/../lib"),
            f"{LIB}/libx": library("libx", "liby"),
            f"{LIB}/liby": library("liby"),
        },
        {},
    ),
    "what a program has loaded is there for a plugin": (
        {
            A: program("libx", runpath="$ORIGIN/../lib"),
            f"{LIB}/libx": library("libx"),
            f"{ROOT}/plugins/p.so": elf(needed=["libx"]),
        },
        {},
    ),
    "a soname is a name": (
        {
            A: program("first.so", "libx.so.1", runpath="$ORIGIN"),
            f"{ROOT}/bin/first.so": library("libx.so.1"),
        },
        {},
    ),
    "libraries that need each other": (
        {
            f"{LIB}/libx": library("libx", "liby", runpath="$ORIGIN"),
            f"{LIB}/liby": library("liby", "libx", runpath=LIB),
        },
        {},
    ),
    "a stranger is passed over": (
        {
            A: program("libx", runpath="/opt/p/other:/opt/p/32:/opt/p/lib"),
            f"{LIB}/libx": library("libx"),
            "/opt/p32/libx": library("libx", bits=32, machine=I386),
        },
        {},
    ),
    "a library by its path": ({A: program(f"{LIB}/libx"), f"{LIB}/libx": library("libx")}, {}),
    "a folder of /etc/ld.so.conf": (
        {
            A: program("libx"),
            f"{LIB}/libx": library("libx"),
            "/etc/ld.so.cache": b"",
            "/etc/ld.so.conf": b"include ld.so.conf.d/*.conf\n",
            "/etc/ld.so.conf.d/p.conf": b"# ours\n/opt/p/lib\n",
        },
        {},
    ),
    "/lib64": ({A: program("libx"), "/lib64/libx": library("libx")}, {}),
    "/usr/lib": ({A: program("libx"), "/usr/lib/libx": library("libx")}, {}),
    "a link to the C library": ({A: program("libz.so.1"), "/lib64/libz.so.1": f"/usr/lib/{TRIPLET}/{LIBC}"}, {}),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_resolves_has_no_finding(name: str) -> None:
    entries, runtime = GOOD[name]
    assert judge(entries, runtime) == []


FOR_A = f"(it is loaded for `{A}`)"
BAD: dict[str, tuple[Entries, dict[str, Any] | None, list[str]]] = {
    "no library": (
        {A: program("libgone.so.1")},
        {"abi": "gnu"},
        [f"`{A}` needs `libgone.so.1`, which is in none of the folders where its loader looks"],
    ),
    "no library of a library": (
        {A: program("libx"), "/usr/lib/libx": library("libx", "libgone")},
        None,
        [
            f"`/usr/lib/libx` needs `libgone`, which is in none of the folders where its loader looks {FOR_A}",
        ],
    ),
    "only a stranger": (
        {A: program("libx"), "/lib64/libx": library("libx", machine=AARCH64)},
        None,
        [f"`{A}` needs `libx`, of which there is only `/lib64/libx`, for another machine"],
    ),
    "a text as library": (
        {A: program("libx"), "/lib64/libx": b"INPUT(libx.so.1)"},
        None,
        ["`libx`, but `/lib64/libx`, which its loader takes for it, is no ELF file"],
    ),
    "a broken library": (
        {A: program("libx"), "/lib64/libx": b"\x7fELF"},
        None,
        ["`/lib64/libx`, which its loader takes for it, ends within its ELF header"],
    ),
    "runpath is not handed down": (
        {
            A: program("libx", runpath="$ORIGIN/../lib"),
            f"{LIB}/libx": library("libx", "liby"),
            f"{LIB}/liby": library("liby"),
        },
        None,
        [f"`{LIB}/libx` needs `liby`"],
    ),
    "runpath hides rpath": (
        {A: program("libx", rpath=LIB, runpath="/nowhere"), f"{LIB}/libx": library("libx")},
        None,
        [f"`{A}` needs `libx`"],
    ),
    "runpath of a library hides the rpath of its program": (
        {
            A: program("libx", rpath=LIB),
            f"{LIB}/libx": library("libx", "liby", runpath="/nowhere"),
            f"{LIB}/liby": library("liby"),
        },
        None,
        [f"`{LIB}/libx` needs `liby`"],
    ),
    "a relative runpath": (
        {A: program("libx", runpath="lib:"), f"{LIB}/libx": library("libx")},
        None,
        [f"`{A}` needs `libx`"],
    ),
    "ld.so.conf without a cache": (
        {A: program("libx"), f"{LIB}/libx": library("libx"), "/etc/ld.so.conf": b"/opt/p/lib"},
        None,
        [f"`{A}` needs `libx`"],
    ),
    "a cycle that lacks a library": (
        {
            f"{LIB}/libx": library("libx", "liby", "libgone", runpath="$ORIGIN"),
            f"{LIB}/liby": library("liby", "libx", runpath="$ORIGIN"),
        },
        None,
        [f"`{LIB}/libx` needs `libgone`"],
    ),
    "a library by a relative path": ({A: program("lib/libx")}, None, [f"`{A}` needs `lib/libx`"]),
    "a version that the base lacks": (
        {A: program(needs={LIBC: ["GLIBC_2.34", "GLIBC_2.38", "GLIBC_2.39"]})},
        {"abi": "gnu"},
        [f"`{A}` needs `GLIBC_2.38`, `GLIBC_2.39` of `{LIBC}`, which `/usr/lib/{TRIPLET}/{LIBC}` does not define"],
    ),
    "a version of what is not loaded": (
        {A: program(needs={"libz.so.1": ["Z_1"]})},
        None,
        [f"`{A}` needs versions of `libz.so.1`, which it does not load"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_resolve_is_an_error_by_name(name: str) -> None:
    entries, runtime, words = BAD[name]
    assert_errors(judge(entries, runtime), words)


def test_a_library_without_versions_is_a_warning_as_for_the_loader() -> None:
    entries = {A: program("libx", needs={"libx": ["X_1"]}), "/lib64/libx": library("libx")}
    (finding,) = judge(entries, {"abi": "gnu"})
    assert f"`{A}` needs versions of `libx`, but `/lib64/libx` has none" in finding.message
    assert (finding.severity, finding.location) == ("warning", LOCATION)


def test_a_library_that_must_be_opened_first_is_a_warning() -> None:
    """As a JVM opens its libjvm.so by path: no search path leads there, and nothing is wrong for sure."""
    entries = {f"{LIB}/libjava.so": elf(needed=["libjvm.so"]), f"{LIB}/server/libjvm.so": library("libjvm.so")}
    (finding,) = judge(entries, {"abi": "gnu"})
    assert f"`{LIB}/libjava.so` needs `libjvm.so`" in finding.message
    assert f"`{LIB}/server/libjvm.so` must be in memory first" in finding.message
    assert finding.severity == "warning"


def test_a_fault_of_a_shared_library_is_reported_once() -> None:
    """Whatever the order in which libraries are met that load it."""
    entries = {f"{LIB}/{name}": library(name, "libm", runpath="$ORIGIN") for name in ("liba", "libz")}
    (finding,) = judge({**entries, f"{LIB}/libm": library("libm", "libgone")}, None)
    assert f"`{LIB}/libm` needs `libgone`" in finding.message
    assert f"(it is loaded for `{LIB}/liba`)" in finding.message


def test_an_entrypoint_of_the_base_is_judged_with_what_it_loads() -> None:
    base = {**BASE, "/usr/bin/agent": program("libgone")}
    (finding,) = judge({}, None, base=base, roots=["/bin/agent"])
    assert "`/usr/bin/agent` needs `libgone`" in finding.message


def test_includes_of_ld_so_conf_are_followed_once_each() -> None:
    conf = {
        "/etc/ld.so.conf": b"/first\ninclude ld.so.conf.d/*.conf ld.so.conf nowhere/*\n/last # end\nhwcap 1 x\n",
        "/etc/ld.so.conf.d/b.conf": b"/b\n",
        "/etc/ld.so.conf.d/a.conf": b"include /etc/ld.so.conf\n\t/a  \n/first\nrelative\n",
        "/etc/ld.so.conf.d/.hidden.conf": b"/hidden\n",
        "/etc/ld.so.conf.d/note.txt": b"/note\n",
    }
    assert configured_folders(Lookup(Tree(conf))) == ["/first", "/last", "/a", "/b"]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(["l0", "l1", "l2", "l3", "l9"]), max_size=4),
            st.sampled_from(["", "/x", "$ORIGIN"]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_graph_of_libraries_is_judged_to_its_end(graph: list[tuple[list[str], str]]) -> None:
    """Cycles included: a missing library is reported exactly when one that lacks it is loaded."""
    entries = {
        f"{LIB}/l{index}": library(f"l{index}", *needed, runpath=f"$ORIGIN:{path}")
        for index, (needed, path) in enumerate(graph)
    }
    messages = [finding.message for finding in judge(entries, {"abi": "gnu"})]
    there = {f"l{index}" for index in range(len(graph))}
    lacking = {name for needed, _ in graph for name in needed if name not in there}
    assert {message.split("`")[3] for message in messages} == lacking


def test_hostile_search_paths_end_in_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of places for thousands of names are not looked at one by one."""
    monkeypatch.setattr(lookup, "MAX_LOOKUPS", 100_000)
    names = [f"l{index}" for index in range(1_500)]
    data = elf(needed=names, runpath=":".join(f"/{index:x}" for index in range(700)))
    started = time.process_time()
    findings = judge({f"{LIB}/x.so": data}, None)
    assert time.process_time() - started < 5
    assert "look-ups" in findings[-1].message
    assert findings[-1].severity == "error"


def test_findings_without_end_are_cut_with_an_error() -> None:
    entries = {f"{LIB}/{number}.so": elf(needed=[f"l{index}" for index in range(200)]) for number in range(20)}
    findings = judge(entries, None)
    assert len(findings) == abi.MAX_FINDINGS + 1
    assert "more than 1,000 findings" in findings[-1].message


def test_hostile_includes_of_ld_so_conf_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wildcards upon wildcards, and files that include each other, are looked at up to a bound."""
    monkeypatch.setattr(lookup, "MAX_LOOKUPS", 5_000)
    folders = {f"/etc/{a}/{b}/x.conf": b"include /etc/*/*/*.conf\n" * 50 for a in range(10) for b in range(20)}
    started = time.process_time()
    findings = judge({**folders, "/etc/ld.so.conf": b"include */*/*", "/etc/ld.so.cache": b"", A: program()}, None)
    assert time.process_time() - started < 5
    assert "look-ups" in findings[-1].message


class Machine(Tree):
    """The file system of the machine that the tests run on."""

    def __init__(self) -> None:
        super().__init__({})

    def kind(self, path: str) -> str | None:
        here = Path(path)
        if here.is_symlink():
            return "symlink"
        return "directory" if here.is_dir() else "file" if here.is_file() else "other" if here.exists() else None

    def target(self, path: str) -> str:
        return str(Path(path).readlink())

    def mode(self, path: str) -> int:
        return Path(path).stat().st_mode & 0o7777

    def executable(self, path: str) -> Executable | None:
        with Path(path).open("rb") as stream:
            return examine(stream)

    def text(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def children(self, path: str) -> Sequence[str]:
        return [item.name for item in Path(path).iterdir()]


def test_real_programs_of_this_machine_resolve_on_it() -> None:
    shell = examine(io.BytesIO(Path("/bin/sh").read_bytes())) if Path("/bin/sh").exists() else None
    if shell is None or shell.machine != "x86_64" or not shell.interpreter.startswith("/lib64/ld-linux"):
        pytest.skip("no glibc on amd64 here")
    programs = [path for path in ("/bin/sh", "/usr/bin/env", "/usr/bin/ldd", "/bin/ls") if Path(path).exists()]
    assert list(check_abi(Machine(), "linux/amd64", None, programs, "host")) == []
    assert next(check_abi(Machine(), "linux/arm64", None, ["/bin/sh"], "host")).category == "platform"


@pytest.mark.parametrize("command", ["sh", "ls", "env", "tar", "perl", "readelf"])
def test_what_is_loaded_is_what_the_real_loader_loads(command: str, require_tool: Callable[[str], str]) -> None:
    ldd, found = require_tool("ldd"), shutil.which(command)
    view = Lookup(Machine())
    path = view.resolve(found) if found else None
    facts = view.facts(path) if path else None
    if path is None or facts is None or f"{facts.machine} {facts.interpreter}" != f"x86_64 {LOADER}":
        pytest.skip(f"no {command} for glibc on amd64 here")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    shown = subprocess.run([ldd, path], check=True, capture_output=True, text=True, env=clean).stdout
    resolved = view.resolve(LOADER)
    assert resolved is not None
    loader_facts = view.facts(resolved)
    assert loader_facts is not None
    loader = Loaded(LOADER, resolved, loader_facts)
    machine = MACHINES["linux/amd64"]
    closure = load(view, machine, Glibc(view, machine), Loaded(path, path, facts), loader=loader)
    assert closure.faults == []
    assert closure.objects.keys() - {path, resolved} == {
        str(Path(item).resolve()) for item in re.findall(r"=> (/\S+)", shown)
    }
