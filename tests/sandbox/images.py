"""Final file systems in dictionaries, and what ASI-ABI-001 finds in them."""

import io
import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from hatch_agentsuite.findings import Finding
from hatch_agentsuite.sandbox.abi import check_abi
from hatch_agentsuite.sandbox.elf import Executable, examine
from tests.sandbox.elves import EXEC, LOADER, MUSL_LOADER, elf

ROOT = "/opt/p"
A = f"{ROOT}/bin/a"
LIB = f"{ROOT}/lib"
LIBC = "libc.so.6"
TRIPLET = "x86_64-linux-gnu"
LOCATION = "tp.json#/variants/0"
LOOP = {"/l0": "/l1", "/l1": "/l0"}
STATIC = elf(type=EXEC)

Entries = Mapping[str, bytes | str | None]


class Plain(bytes):
    """A file without an executable bit."""


class Tree:
    """A final file system in a dictionary: bytes are files, text is the target of a symlink, None a directory."""

    def __init__(self, entries: Mapping[str, bytes | str | None]) -> None:
        self.entries = dict(entries)
        self.asked: list[str] = []
        for path in entries:
            above = path
            while above != "/":
                above = posixpath.dirname(above)
                self.entries.setdefault(above, None)

    def kind(self, path: str) -> str | None:
        self.asked.append(path)
        if path not in self.entries:
            return None
        value = self.entries[path]
        return "directory" if value is None else "symlink" if isinstance(value, str) else "file"

    def target(self, path: str) -> str:
        value = self.entries[path]
        assert isinstance(value, str)
        return value

    def mode(self, path: str) -> int:
        return 0o644 if isinstance(self.entries[path], Plain) else 0o755

    def executable(self, path: str) -> Executable | None:
        return examine(io.BytesIO(self.text(path)))

    def text(self, path: str) -> bytes:
        value = self.entries[path]
        assert isinstance(value, bytes)
        return value

    def children(self, path: str) -> Sequence[str]:
        return [posixpath.basename(other) for other in self.entries if posixpath.dirname(other) == path != other]


def program(*needed: str, **members: Any) -> bytes:
    return elf(**{"interpreter": LOADER, "needed": needed or [LIBC], **members})


def library(soname: str, *needed: str, **members: Any) -> bytes:
    return elf(soname=soname, needed=needed, **members)


BASE: dict[str, bytes | str | None] = {
    LOADER: elf(soname="ld-linux-x86-64.so.2", defines=["GLIBC_2.3"]),
    f"/usr/lib/{TRIPLET}/{LIBC}": library(LIBC, defines=["GLIBC_2.2.5", "GLIBC_2.34"]),
    "/lib": "usr/lib",
    "/bin": "usr/bin",
    "/usr/bin/sh": program(),
    "/usr/bin/env": program(),
}
MUSL_BASE: dict[str, bytes | str | None] = {
    MUSL_LOADER: elf(soname="libc.musl-x86_64.so.1"),
    "/bin/sh": elf(interpreter=MUSL_LOADER, needed=["libc.musl-x86_64.so.1"]),
}


def judge(
    entries: Entries,
    runtime: Mapping[str, Any] | None = None,
    *,
    base: Entries = BASE,
    roots: Sequence[str] = (ROOT,),
    platform: str = "linux/amd64",
    **variant: Any,
) -> list[Finding]:
    declared = None if runtime is None else {"runtime": {"cpuBaseline": "x86-64-v1", **runtime}, **variant}
    files = Tree({ROOT: None, **base, **entries})
    return list(check_abi(files, platform, declared, roots, LOCATION))


def script(line: str) -> bytes:
    return line.encode() + b"\necho\n"


def assert_errors(findings: Sequence[Finding], words: Sequence[str]) -> None:
    """Hold findings to the words that each message must have, in order, and to where and what they are."""
    assert len(findings) == len(words), [finding.message for finding in findings]
    for finding, expected in zip(findings, words, strict=True):
        assert expected in finding.message
        assert (finding.requirement, finding.location, finding.severity) == ("ASI-ABI-001", LOCATION, "error")
        assert finding.category == ("platform" if "is for " in finding.message else "build")
