"""ASI-ABI-001: the interpreters of scripts, and what an entrypoint must be (specification 15.2, 9.4)."""

from typing import Any

import pytest

from tests.sandbox.elves import AARCH64, REL, elf
from tests.sandbox.images import LIBC, ROOT, STATIC, A, Entries, Plain, assert_errors, judge, program, script

GOOD: dict[str, tuple[Entries, dict[str, Any] | None]] = {
    "a script": ({A: script("#!/bin/sh -e")}, {"abi": "static"}),
    "a script by env": ({A: script("#!/usr/bin/env sh")}, {}),
    "a script by env -S": ({A: script("#!/usr/bin/env -S LANG=C sh -e")}, {}),
    "a script behind scripts": (
        {
            A: script("#!/opt/p/1"),
            "/opt/p/1": script("#!/opt/p/2"),
            "/opt/p/2": script("#!/opt/p/3"),
            "/opt/p/3": script("#!/bin/sh"),
        },
        {},
    ),
    "a script that nobody executes": ({A: Plain(script("#!/nowhere"))}, {}),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_resolves_has_no_finding(name: str) -> None:
    entries, runtime = GOOD[name]
    assert judge(entries, runtime) == []


BAD: dict[str, tuple[Entries, dict[str, Any] | None, list[str]]] = {
    "a script without interpreter": (
        {A: script("#!/usr/bin/ruby")},
        {"abi": "static"},
        [f"`{A}` names the interpreter `/usr/bin/ruby`, which is not in the final file system"],
    ),
    "a script with an empty first line": ({A: script("#!")}, None, [f"`{A}` is a script whose first line names no"]),
    "a script with a relative interpreter": ({A: script("#!bin/sh")}, None, ["`bin/sh`, which depends on the working"]),
    "a script with CRLF": ({A: b"#!/bin/sh\r\necho\r\n"}, None, [f"`{A}` is a script with Windows line ends"]),
    "a script by env with CRLF": ({A: b"#!/usr/bin/env sh\r\n"}, None, [f"`{A}` is a script with Windows line ends"]),
    "an interpreter without an executable bit": (
        {A: script("#!/sh"), "/sh": Plain(STATIC)},
        None,
        [f"`{A}` names the interpreter `/sh`, which has no executable bit"],
    ),
    "an interpreter that is a text": (
        {A: script("#!/sh"), "/sh": b"text"},
        None,
        ["`/sh`, which is neither an ELF program nor a script"],
    ),
    "an interpreter for another machine": (
        {A: script("#!/sh"), "/sh": elf(machine=AARCH64)},
        None,
        ["`/sh`, which is for aarch64, 64-bit"],
    ),
    "an interpreter that is an object file": ({A: script("#!/sh"), "/sh": elf(type=REL)}, None, ["of type REL"]),
    "an interpreter that is a library": ({A: script("#!/sh"), "/sh": elf(needed=[LIBC])}, None, ["names no loader"]),
    "an interpreter that lacks a library": (
        {A: script("#!/sh"), "/sh": program("libgone")},
        None,
        ["`/sh` needs `libgone`"],
    ),
    "an interpreter found by env that lacks a library": (
        {A: script("#!/usr/bin/env node"), "/usr/bin/node": program("libgone")},
        None,
        ["`/usr/bin/node` needs `libgone`"],
    ),
    "a script behind too many": (
        {A: script("#!/s/1"), **{f"/s/{index}": script(f"#!/s/{index + 1}") for index in range(1, 9)}},
        None,
        ["`/s/4`, which is a script behind 4 others"],
    ),
    "a script that interprets itself": ({A: script(f"#!{A}")}, None, ["is a script behind 4 others"]),
    "env of nothing": ({A: script("#!/usr/bin/env")}, None, [f"`{A}` is a script that starts `env` without a command"]),
    "env of what is not there": (
        {A: script("#!/usr/bin/env node")},
        None,
        [f"`{A}` has `env` start `node`, which is not on the search path"],
    ),
    "env with two words": (
        {A: script("#!/usr/bin/env sh -e")},
        None,
        ["`sh -e`, which is not on the search path"],
    ),
    "env of a relative path": ({A: script("#!/usr/bin/env ./sh")}, None, ["`./sh`, which depends on the working"]),
    "env of an absolute path": ({A: script("#!/usr/bin/env /x")}, None, ["has `env` start `/x`, which is not in the"]),
    "env of a program for another machine": (
        {A: script("#!/usr/bin/env x"), "/bin": "usr/bin", "/usr/bin/x": elf(machine=AARCH64)},
        None,
        ["has `env` start `/usr/bin/x`, which is for aarch64"],
    ),
    "no env": ({A: script("#!/opt/env sh")}, None, ["names the interpreter `/opt/env`, which is not in the final"]),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_resolve_is_an_error_by_name(name: str) -> None:
    entries, runtime, words = BAD[name]
    assert_errors(judge(entries, runtime), words)


ENTRYPOINTS: dict[str, tuple[Entries, str]] = {
    "none": ({}, "is not in the final file system"),
    "a folder": ({A: None}, "is no regular file"),
    "not executable": ({A: Plain(STATIC)}, "has no executable bit"),
    "a text": ({A: b"echo"}, "is neither an ELF program nor a script"),
    "broken": ({A: b"\x7fELF"}, "is an ELF file that ends within its ELF header"),
    "another machine": ({A: elf(machine=AARCH64)}, "is for aarch64"),
    "a library": ({A: elf(needed=["libc.so.6"])}, "needs shared libraries but names no loader"),
    "an object file": ({A: elf(type=REL)}, "is an ELF file of type REL, not a program"),
    "a script": ({A: script("#!/nowhere")}, "names the interpreter `/nowhere`, which is not in"),
    "a loop": ({A: "a"}, "is not in the final file system"),
}


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("name", ENTRYPOINTS)
def test_an_entrypoint_that_cannot_be_started_is_refused_once(name: str, declared: bool) -> None:
    """Whether the variant names it, or it is one of the roots."""
    entries, words = ENTRYPOINTS[name]
    if declared:
        findings = judge(entries, {"abi": "gnu"}, entrypoint=A)
    else:
        findings = judge(entries, None, roots=[ROOT, A] if name == "a folder" else [A])
        if name == "a folder":  # a root that is a folder is a payload
            assert findings == []
            return
    (finding,) = findings
    assert finding.message.startswith(f"the entrypoint `{A}` {words}")


def test_the_search_path_of_the_variant_is_before_the_default_one() -> None:
    """Section 9.4, search paths."""
    entries = {A: script("#!/usr/bin/env tool"), f"{ROOT}/tools/tool": STATIC}
    assert judge(entries, {}, searchPath=[f"{ROOT}/tools"]) == []
    assert len(judge(entries, {})) == 1


def test_env_passes_over_what_cannot_be_executed() -> None:
    entries = {A: script("#!/usr/bin/env tool"), "/usr/sbin/tool": Plain(b"x"), "/usr/bin/tool": STATIC}
    assert judge(entries, {}) == []


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("bin/x.py", "error"),
        ("x.py", "error"),
        ("lib/python3.11/cgi.py", "warning"),
        ("python/lib64/x", "warning"),
        ("node_modules/p/bin/x", "warning"),
        ("lib/on-path/x", "error"),
    ],
)
def test_a_script_inside_a_library_is_a_warning(path: str, severity: str) -> None:
    """CPython's own cgi.py names an interpreter of elsewhere; nothing but the library could start it."""
    findings = judge({f"{ROOT}/{path}": script("#!/nowhere")}, {}, searchPath=[f"{ROOT}/lib/on-path"])
    assert [(item.severity, "`/nowhere`" in item.message) for item in findings] == [(severity, True)]


def test_an_entrypoint_inside_a_library_is_none_the_less_an_error() -> None:
    entry = f"{ROOT}/lib/x"
    (finding,) = judge({entry: script("#!/nowhere")}, {}, entrypoint=entry)
    assert finding.severity == "error"
