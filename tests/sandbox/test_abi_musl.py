"""ASI-ABI-001 where the loader is musl's: other folders, other inheritance, no versions (specification 15.2)."""

from typing import Any

import pytest

from tests.sandbox.elves import AARCH64, LOADER, MUSL_LOADER, elf
from tests.sandbox.images import LIB, LIBC, MUSL_BASE, A, Entries, judge, library, program


def musl(*needed: str, **members: Any) -> bytes:
    return elf(**{"interpreter": MUSL_LOADER, "needed": needed or ["libc.musl-x86_64.so.1"], **members})


MUSL: dict[str, tuple[Entries, str]] = {
    "the C library is the loader": ({A: musl("libc.so", "libpthread.so.0")}, ""),
    "/usr/local/lib": ({A: musl("libx"), "/usr/local/lib/libx": library("libx")}, ""),
    "not /lib64": ({A: musl("libx"), "/lib64/libx": library("libx")}, "needs `libx`"),
    "a path file": (
        {A: musl("libx"), "/etc/ld-musl-x86_64.path": b"/a:/b\n/opt/x\n", "/opt/x/libx": library("libx")},
        "",
    ),
    "a path file replaces the default": (
        {A: musl("libx"), "/etc/ld-musl-x86_64.path": b"/a", "/usr/lib/libx": library("libx")},
        "needs `libx`",
    ),
    "runpath is handed down": (
        {
            A: musl("libx", runpath="$ORIGIN/../lib"),
            f"{LIB}/libx": library("libx", "liby"),
            f"{LIB}/liby": library("liby"),
        },
        "",
    ),
    "another variable drops the path": (
        {A: musl("libx", runpath="/$LIB:/opt/p/lib"), f"{LIB}/libx": library("libx")},
        "needs `libx`",
    ),
    "a stranger is not passed over": (
        {A: musl("libx"), "/lib/libx": elf(machine=AARCH64), "/usr/lib/libx": library("libx")},
        "`/lib/libx`, which its loader takes for it, is for another machine",
    ),
    "versions are not looked at": (
        {A: musl("libx", needs={"libx": ["X_9"]}), "/lib/libx": library("libx", defines=["X_1"])},
        "",
    ),
    "glibc's C library": ({A: musl(LIBC)}, f"`{A}` needs `libc.so.6`, which is glibc's; the ABI is `musl`"),
    "glibc's loader": (
        {A: program("libc.so"), LOADER: elf(), "/lib/libc.so": library("x")},
        "whose loader is `ld-musl*`",
    ),
    "a plugin": ({f"{LIB}/p.so": elf(needed=["libc.musl-x86_64.so.1", "libx"]), "/lib/libx": library("libx")}, ""),
}


@pytest.mark.parametrize("name", MUSL)
def test_musl_looks_by_its_own_rules(name: str) -> None:
    entries, words = MUSL[name]
    messages = [finding.message for finding in judge(entries, {"abi": "musl"}, base=MUSL_BASE)]
    assert len(messages) == bool(words), messages
    assert all(words in message for message in messages)


def test_a_plugin_for_musl_is_known_without_a_variant() -> None:
    entries = {f"{LIB}/p.so": elf(needed=["libc.musl-x86_64.so.1", "libx"]), "/usr/local/lib/libx": library("libx")}
    assert judge(entries, None, base=MUSL_BASE) == []


def test_a_private_musl_reads_its_own_path_file() -> None:
    own = "/opt/m/lib/ld-musl-x86_64.so.1"
    entries = {
        A: musl("libx", interpreter=own),
        own: elf(),
        "/opt/m/etc/ld-musl-x86_64.path": b"/opt/y",
        "/opt/y/libx": elf(),
    }
    assert judge(entries, {"abi": "musl"}, base=MUSL_BASE) == []
