"""The search rules of the two dynamic loaders, glibc's and musl's, applied to a final file system.

What a loader does at run time only is left out: ``LD_LIBRARY_PATH``, ``/etc/ld.so.preload``, the hardware
subdirectories (``glibc-hwcaps``), which offer faster copies of what is found anyway, and places relative to the working
directory. ``/etc/ld.so.cache`` is not parsed: where it is there, the folders of ``/etc/ld.so.conf`` stand for it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import islice
from types import MappingProxyType
from typing import Literal, Protocol

from hatch_agentsuite.sandbox.elf import ElfError, Executable
from hatch_agentsuite.sandbox.lookup import MAX_PATH_BYTES, Lookup

_INCLUDES = 1_000  # files that one /etc/ld.so.conf may lead to
_FAULTS = 100  # of one program or library and what it loads; nobody reads more
_TOKEN = re.compile(r"\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)(?![A-Za-z0-9_]))")
_MUSL_ORIGIN = re.compile(r"\$(?:ORIGIN|\{ORIGIN\})")


@dataclass(frozen=True)
class Machine:
    """A machine that images are made for; all of them are 64-bit and little-endian."""

    name: str

    @property
    def triplet(self) -> str:
        """Return the name of its folders on Debian and its kin."""
        return f"{self.name}-linux-gnu"

    def fits(self, facts: Executable) -> bool:
        """Whether an ELF file is for this machine; the 32-bit x86 and x32 are not (a kernel may lack both)."""
        return (facts.machine, facts.bits, facts.little_endian) == (self.name, 64, True)


MACHINES: Mapping[str, Machine] = {"linux/amd64": Machine("x86_64"), "linux/arm64": Machine("aarch64")}


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """An object in memory: the path it was opened by, what that resolves to, and the object that asked for it."""

    path: str
    resolved: str
    facts: Executable
    requester: Loaded | None = None

    @property
    def origin(self) -> str:
        """Return what ``$ORIGIN`` is: of a program the folder it is really in, of a library the one it was found in."""
        return posixpath.dirname(self.path if self.requester else self.resolved)

    def chain(self) -> Iterator[Loaded]:
        """Yield this object, the one that asked for it, and so on up to the program."""
        link: Loaded | None = self
        while link is not None:
            yield link
            link = link.requester


@dataclass(frozen=True)
class Fault:
    """What is wrong with one object: words that follow its path."""

    path: str
    text: str
    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True)
class Closure:
    """What a program or library loads, by the names it is known by, and what is wrong with that."""

    main: Loaded
    objects: dict[str, Loaded] = field(default_factory=dict)
    names: dict[str, Loaded] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


class Rules(Protocol):
    """Where one kind of loader looks."""

    versioned: bool
    """Whether it holds libraries to the symbol versions that are needed of them."""
    skips_strangers: bool
    """Whether it passes over libraries for other machines."""
    own: tuple[str, ...]
    """How the names begin that ask for the loader itself."""

    def folders(self, requester: Loaded) -> Iterator[str]:
        """Yield the folders that a name without a slash is looked for in, in order."""

    def expand(self, path: str, requester: Loaded) -> list[str]:
        """Return what a path with variables can stand for."""


class Glibc:
    """``ld-linux``: DT_RPATH of the chain unless there is DT_RUNPATH, the cache's folders, the built-in folders.

    The built-in folders are those of Debian, Fedora and Arch together: which of them a loader has is in its code.
    """

    versioned = True
    skips_strangers = True
    own: tuple[str, ...] = ()

    def __init__(self, lookup: Lookup, machine: Machine) -> None:
        self._machine = machine
        built_in = (
            f"/lib/{machine.triplet}",
            f"/usr/lib/{machine.triplet}",
            "/lib64",
            "/usr/lib64",
            "/lib",
            "/usr/lib",
        )
        configured = configured_folders(lookup) if lookup.text("/etc/ld.so.cache") is not None else []
        self._system = list(dict.fromkeys([*configured, *built_in]))

    def folders(self, requester: Loaded) -> Iterator[str]:
        """Yield the folders that a name is looked for in."""
        if requester.facts.runpath:
            for element in requester.facts.runpath:
                yield from self.expand(element, requester)
        else:
            for link in requester.chain():
                for element in () if link.facts.runpath else link.facts.rpath:
                    yield from self.expand(element, link)
        yield from self._system

    def expand(self, path: str, requester: Loaded) -> list[str]:
        """Return what a path can stand for; nothing for one that depends on the working directory."""
        libraries = (f"lib/{self._machine.triplet}", "lib64", "lib") if "LIB" in path else ("lib",)
        found = []
        for library in libraries:
            values = {"ORIGIN": requester.origin, "LIB": library, "PLATFORM": self._machine.name}
            found.append(_TOKEN.sub(lambda match, values=values: values[match[1] or match[2]], path))  # type: ignore[misc]
        return [path for path in dict.fromkeys(found) if path.startswith("/") and len(path) <= MAX_PATH_BYTES]


class Musl:
    """``ld-musl``: DT_RUNPATH or DT_RPATH of the chain, then ``/etc/ld-musl-<arch>.path`` or the built-in folders."""

    versioned = False
    skips_strangers = False
    own: tuple[str, ...] = ("libc.", "libpthread.", "librt.", "libm.", "libdl.", "libutil.", "libxnet.")

    def __init__(self, lookup: Lookup, machine: Machine, loader: str) -> None:
        prefix = posixpath.dirname(posixpath.dirname(loader)).rstrip("/")
        text = lookup.text(f"{prefix}/etc/ld-musl-{machine.name}.path")
        self._system = _musl_elements("/lib:/usr/local/lib:/usr/lib" if text is None else text)

    def folders(self, requester: Loaded) -> Iterator[str]:
        """Yield the folders that a name is looked for in."""
        for link in requester.chain():
            path = ":".join(link.facts.runpath or link.facts.rpath)
            if "$" not in _MUSL_ORIGIN.sub("", path):  # with any other variable the whole path is dropped
                for element in _musl_elements(path):
                    yield from self.expand(element, link)
        yield from self._system

    def expand(self, path: str, requester: Loaded) -> list[str]:
        """Return what a path can stand for; nothing for one that depends on the working directory."""
        full = _MUSL_ORIGIN.sub(lambda _: requester.origin, path)
        return [full] if full.startswith("/") and len(full) <= MAX_PATH_BYTES else []


def _musl_elements(path: str) -> list[str]:
    return [element for element in re.split(r"[:\n]", path) if element]


def configured_folders(lookup: Lookup) -> list[str]:
    """Return the folders that ``/etc/ld.so.conf`` names, includes followed, each file once."""
    found: list[str] = []
    pending = ["/etc/ld.so.conf"]
    seen: set[str] = set()
    while pending and len(seen) < _INCLUDES:
        path = pending.pop()
        text = None if path in seen else lookup.text(path)
        seen.add(path)
        included: list[str] = []
        for line in (text or "").splitlines():
            words = line.partition("#")[0].split()
            if words[:1] == ["include"]:
                for pattern in words[1:]:
                    included.extend(_matches(lookup, posixpath.join(posixpath.dirname(path), pattern)))
            elif words and words[0].startswith("/"):
                found.append(words[0].partition("=")[0])
        pending.extend(reversed(included))
    return list(dict.fromkeys(found))


def _matches(lookup: Lookup, pattern: str) -> list[str]:
    """Return the paths that a shell pattern matches, name by name; a wildcard does not match a leading dot."""
    found = ["/"]
    for part in pattern.split("/"):
        if not any(character in part for character in "*?["):
            found = [posixpath.join(above, part) for above in found]
            continue
        found = [
            posixpath.join(above, name)
            for above in found
            for name in lookup.names(above)
            if fnmatchcase(name, part) and name.startswith(".") <= part.startswith(".")
        ][:_INCLUDES]
    return found


def load(
    lookup: Lookup,
    machine: Machine,
    rules: Rules,
    main: Loaded,
    *,
    loader: Loaded | None = None,
    present: Mapping[str, Loaded] = MappingProxyType({}),
    offered: Mapping[str, Loaded] = MappingProxyType({}),
) -> Closure:
    """Return what an object loads, breadth first as the loaders do it: whatever has a name by then is not sought again.

    ``loader`` is in memory before everything else. Where a library is not found, ``present`` is what may be there
    because a program has loaded it, and ``offered`` what may be there if somebody opens it first, as a JVM does.
    """
    closure = Closure(main)
    missing: set[str] = set()
    order = [main]
    _take(closure, main)
    if loader is not None:
        _take(closure, loader, main.facts.interpreter, posixpath.basename(main.facts.interpreter))
    for item in order:
        for name in dict.fromkeys(item.facts.needed):
            if name in closure.names or name.startswith(rules.own):
                continue
            found = _find(lookup, machine, rules, name, item)
            if isinstance(found, str) and name in present:
                closure.names[name] = present[name]
            elif isinstance(found, str) and name in offered:
                closure.names[name] = offered[name]
                text = f"needs `{name}`, {found}; `{offered[name].path}` must be in memory first"
                closure.faults.append(Fault(item.resolved, text, "warning"))
            elif isinstance(found, str):
                missing.add(name)
                if len(missing) <= _FAULTS:
                    closure.faults.append(Fault(item.resolved, f"needs `{name}`, {found}"))
            elif _take(closure, found, name):
                order.append(found)
    if rules.versioned:
        faults = (fault for item in order for fault in _version_faults(closure, item, missing))
        closure.faults.extend(islice(faults, _FAULTS))
    return closure


def _take(closure: Closure, item: Loaded, *names: str) -> bool:
    """Make an object known by its names; return whether it is new. One file is one object, whatever led to it."""
    known = closure.objects.setdefault(item.resolved, item)
    for name in (*names, item.facts.soname):
        if name:
            closure.names.setdefault(name, known)
    return known is item


def _find(lookup: Lookup, machine: Machine, rules: Rules, name: str, requester: Loaded) -> Loaded | str:
    """Return the library that a loader takes for a name, or words that follow the name."""
    strangers: list[str] = []
    if "/" in name:
        paths: Iterator[str] = iter(rules.expand(name, requester))
    else:
        paths = (f"{folder.rstrip('/')}/{name}" for folder in rules.folders(requester))
    for path in paths:
        resolved = lookup.resolve(path)
        if resolved is None or not lookup.is_file(resolved):
            continue
        try:
            facts = lookup.facts(resolved)
        except ElfError as error:
            return f"but `{path}`, which its loader takes for it, {error}"
        if facts is None or facts.kind != "elf":
            return f"but `{path}`, which its loader takes for it, is no ELF file"
        if machine.fits(facts):
            return Loaded(path, resolved, facts, requester)
        if not rules.skips_strangers:
            return f"but `{path}`, which its loader takes for it, is for another machine"
        strangers.append(path)
    if strangers:
        return f"of which there is only `{strangers[0]}`, for another machine"
    return "which is in none of the folders where its loader looks"


def _version_faults(closure: Closure, item: Loaded, missing: set[str]) -> Iterator[Fault]:
    for library, versions in item.facts.version_needs.items():
        found = closure.names.get(library)
        if found is None:
            if library not in missing:
                yield Fault(item.resolved, f"needs versions of `{library}`, which it does not load")
            continue
        defined = found.facts.version_definitions
        lacking = [f"`{version}`" for version in dict.fromkeys(versions) if version not in defined]
        if lacking and not defined:
            text = f"needs versions of `{library}`, but `{found.resolved}` has none: its loader does not check them"
            yield Fault(item.resolved, text, "warning")
        elif lacking:
            some = ", ".join(lacking[:5]) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
            yield Fault(item.resolved, f"needs {some} of `{library}`, which `{found.resolved}` does not define")
