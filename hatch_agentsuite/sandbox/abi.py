"""ASI-ABI-001: loaders, libraries, interpreters, CPU baseline and base paths resolve in the final file system (15.2).

    for finding in check_abi(files, "linux/amd64", variant, ["/opt/agentsuite/tool-providers/clock/1.0.0"], location):
        print(finding)

Every ELF program and shared library below the roots is judged, and every script that has an executable bit; of the
base, whatever those load or are interpreted by. What follows from the file system alone is an error. Warnings are for
what only other code could decide: a script inside a runtime's or package's own folders (``lib``, ``node_modules``,
...), a library that must be opened before the one that needs it; and for a declared ``abiVersion``, of which the
specification says no more than the name. A library that others load is judged with them, by their search paths.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from hatch_agentsuite.findings import Category, Finding, Severity, printable
from hatch_agentsuite.sandbox.elf import ElfError, Executable
from hatch_agentsuite.sandbox.loaders import MACHINES, Closure, Fault, Glibc, Loaded, Machine, Musl, Rules, load
from hatch_agentsuite.sandbox.lookup import MAX_LOOKUPS, Files, Lookup, TooManyLookupsError
from hatch_agentsuite.sandbox.programs import Problem, Programs

__all__ = ["Files", "check_abi"]

MAX_FINDINGS = 1_000
"""How many findings one judgement makes before it ends with an error that says so."""

_LIBRARY_FOLDERS = {"lib", "lib64", "share", "node_modules", "site-packages"}
_LOADERS = {"gnu": "ld-linux", "musl": "ld-musl"}
_BASELINES = {"x86-64": 0, "x86-64-v1": 0, "x86-64-v2": 1, "x86-64-v3": 2, "x86-64-v4": 3}
_FAMILIES = {"x86_64": re.compile(r"x86|amd64|i[3-6]86"), "aarch64": re.compile(r"arm|aarch")}
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.\d{1,4})?")


def check_abi(
    files: Files, platform: str, variant: Mapping[str, Any] | None, roots: Sequence[str], location: str
) -> Iterator[Finding]:
    """Yield what keeps the executables at or below ``roots`` from running in a final file system.

    A root that is a file is an entrypoint, as is that of the variant. Messages name files by their path in the image;
    ``location`` is where the caller wants them placed.
    """
    machine = MACHINES.get(platform)
    if machine is None:
        message = f"the platform `{printable(platform)}` is none of {', '.join(MACHINES)}"
        yield Finding("ASI-ABI-001", "platform", location, message)
        return
    seen: set[str] = set()
    try:
        for finding in _Judge(files, machine, variant or {}, roots, location).findings():
            if len(seen) == MAX_FINDINGS:
                message = f"there are more than {MAX_FINDINGS:,} findings; the rest is left out"
                yield Finding("ASI-ABI-001", "build", location, message)
                return
            if finding.message not in seen:
                seen.add(finding.message)
                yield finding
    except TooManyLookupsError:
        message = f"judging the executables takes more than {MAX_LOOKUPS:,} look-ups in the file system"
        yield Finding("ASI-ABI-001", "build", location, message, "have fewer libraries, or shorter search paths")


class _Judge:
    """One judgement: the file system, what the variant declares of it, and what has been found so far."""

    def __init__(
        self, files: Files, machine: Machine, variant: Mapping[str, Any], roots: Sequence[str], location: str
    ) -> None:
        self._lookup = Lookup(files)
        self._machine = machine
        self._variant = variant
        self._runtime: Mapping[str, Any] = variant.get("runtime", {})
        self._abi: str = self._runtime.get("abi", "")
        self._roots = roots
        self._location = location
        self._programs = Programs(self._lookup, machine, variant.get("searchPath", ()))
        self._own: dict[str, Executable] = {}
        self._refused: set[str] = set()
        self._said: set[Fault] = set()

    def _finding(
        self, message: str, hint: str = "", *, category: Category = "build", severity: Severity = "error", at: str = ""
    ) -> Finding:
        location = f"{self._location}{at if '#' in self._location or not at else '#' + at}"
        return Finding("ASI-ABI-001", category, location, printable(message), hint, severity)

    def _problem(self, path: str, problem: Problem, what: str = "") -> Finding:
        return self._finding(f"{what}`{path}` {problem.text}", category=problem.category)

    def findings(self) -> Iterator[Finding]:
        """Yield every finding: what is declared, then what can be started, then what is loaded."""
        yield from self._base_paths()
        yield from self._baseline_name()
        paths: dict[str, str] = {}  # with the root that each lies below
        entries = [self._variant["entrypoint"]] if "entrypoint" in self._variant else []
        for root in dict.fromkeys([*self._roots, *entries]):
            resolved = self._lookup.resolve(root)
            if root not in entries and resolved is not None and self._lookup.kind(resolved) == "directory":
                paths.update(dict.fromkeys(self._lookup.files_below(resolved), resolved))
                continue
            problem = self._programs.fault(root)
            if problem is not None:
                yield self._problem(root, problem, "the entrypoint ")
                self._refused.add(resolved or root)
            elif resolved is not None:
                paths[resolved] = ""
        for path, root in paths.items():
            if path not in self._refused:
                yield from self._file(path, root)
        yield from self._loaded()
        yield from self._abi_version()

    def _base_paths(self) -> Iterator[Finding]:
        for index, path in enumerate(self._runtime.get("requiredBasePaths", [])):
            if self._lookup.resolve(path) is None:
                message = f"the required base path `{path}` is not in the final file system"
                yield self._finding(message, at=f"/runtime/requiredBasePaths/{index}")

    def _baseline_name(self) -> Iterator[Finding]:
        name = self._runtime.get("cpuBaseline", "")
        for machine, names in _FAMILIES.items():
            if machine != self._machine.name and names.match(name.lower()):
                message = f"the CPU baseline `{name}` is one of {machine}, not of {self._machine.name}"
                yield self._finding(message, category="platform", at="/runtime/cpuBaseline")

    def _file(self, path: str, root: str) -> Iterator[Finding]:
        """Judge one file by itself: its machine, its interpreter, and what the variant says of its ABI."""
        try:
            facts = self._lookup.facts(path)
        except ElfError as error:
            matters = self._lookup.may_run(path) or ".so" in posixpath.basename(path)
            message = f"`{path}` is an ELF file that {error}"
            yield self._finding(message, severity="error" if matters else "warning")
            return
        if facts is None or (facts.kind == "script" and not self._lookup.may_run(path)):
            return
        if facts.kind == "script":
            problem = self._programs.script_fault(facts)
            if problem is not None:
                finding = self._problem(path, problem)
                yield finding.as_warning() if self._is_inside_library(path, root) else finding
        elif facts.type in ("EXEC", "DYN"):
            problem = self._programs.elf_fault(facts)
            if problem is not None:
                yield self._problem(path, problem)
                return
            self._own[path] = facts
            yield from self._declared_abi(path, facts)

    def _is_inside_library(self, path: str, root: str) -> bool:
        """Whether a script is a part of a runtime or package: CPython's own ``cgi.py`` has a ``#!`` of elsewhere."""
        folder = posixpath.dirname(path)
        parts = folder.removeprefix(root).split("/") if root else []
        return folder not in self._variant.get("searchPath", ()) and not _LIBRARY_FOLDERS.isdisjoint(parts)

    def _declared_abi(self, path: str, facts: Executable) -> Iterator[Finding]:
        if facts.interpreter and ".so" not in posixpath.basename(path) and not self._lookup.may_run(path):
            yield self._finding(f"`{path}` is a program without an executable bit", severity="warning")
        if facts.type == "EXEC" and facts.needed and not facts.interpreter:
            yield self._finding(f"`{path}` needs shared libraries but names no loader")
        if self._abi == "static":
            if facts.interpreter:
                yield self._finding(f"`{path}` names the loader `{facts.interpreter}`; the ABI is `static`")
            if facts.needed:
                names = ", ".join(f"`{name}`" for name in facts.needed[:5])
                yield self._finding(f"`{path}` needs {names}; the ABI is `static`")
        loader = posixpath.basename(facts.interpreter)
        if self._abi in _LOADERS and loader and not loader.startswith(_LOADERS[self._abi]):
            what = f"names the loader `{facts.interpreter}`; the ABI is `{self._abi}`"
            yield self._finding(f"`{path}` {what}, whose loader is `{_LOADERS[self._abi]}*`")
        elif self._abi == "musl" and "libc.so.6" in facts.needed:
            yield self._finding(f"`{path}` needs `libc.so.6`, which is glibc's; the ABI is `musl`")

    def _loaded(self) -> Iterator[Finding]:
        """Judge what programs load, and then the libraries that no program loads by itself."""
        own = {} if self._abi == "static" else self._own  # of a static variant all has been said
        programs = {path: facts for path, facts in own.items() if facts.interpreter}
        reached: set[str] = set()
        present: dict[str, Loaded] = {}
        for path, facts in {**programs, **self._programs.started}.items():
            loader, findings = self._loader(path, facts)
            yield from findings
            closure = self._load(path, facts, loader=loader)
            yield from self._faults(path, closure.faults)
            for other, item in closure.objects.items():
                yield from self._isa(other, item.facts)
            reached.update(closure.objects)
            for name, item in closure.names.items():
                present.setdefault(name, item)
        libraries = [path for path in own if path not in reached]
        offered = {
            name: Loaded(path, path, facts)
            for path, facts in reversed(own.items())
            for name in (posixpath.basename(path), facts.soname)
            if name and not facts.interpreter
        }
        loads: dict[str, set[str]] = {}
        faults: dict[str, list[Fault]] = {}
        for path in libraries:
            closure = self._load(path, own[path], present=present, offered=offered)
            loads[path], faults[path] = own.keys() & closure.objects.keys(), closure.faults
            for other, item in closure.objects.items():
                yield from self._isa(other, item.facts)
        for path in _outermost(loads):
            yield from self._faults(path, faults[path])
        if self._abi == "static":
            for path, facts in self._own.items():
                yield from self._isa(path, facts)

    def _load(self, path: str, facts: Executable, **known: Any) -> Closure:
        return load(self._lookup, self._machine, self._rules(facts), Loaded(path, path, facts), **known)

    def _rules(self, facts: Executable) -> Rules:
        """Return the rules of a program's own loader, or of that which a library is made for."""
        if facts.interpreter:
            musl = posixpath.basename(facts.interpreter).startswith("ld-musl")
        elif self._abi in _LOADERS:
            musl = self._abi == "musl"
        else:
            musl = any(name == "libc.so" or name.startswith("libc.musl-") for name in facts.needed)
        if not musl:
            return self._glibc
        return Musl(self._lookup, self._machine, facts.interpreter or f"/lib/ld-musl-{self._machine.name}.so.1")

    @cached_property
    def _glibc(self) -> Glibc:
        return Glibc(self._lookup, self._machine)

    def _loader(self, path: str, facts: Executable) -> tuple[Loaded | None, list[Finding]]:
        name = facts.interpreter
        if not name:
            return None, []  # a static program
        start = f"`{path}` names the loader `{name}`, which"
        if not name.startswith("/"):
            return None, [self._finding(f"{start} depends on the working directory")]
        problem = self._programs.fault(name)
        resolved = self._lookup.resolve(name)
        found = self._lookup.facts(resolved) if resolved and not problem else None
        if problem is None and (found is None or found.kind != "elf"):
            problem = Problem("is a script")
        if problem is not None or resolved is None or found is None:
            text, category = (problem.text, problem.category) if problem else ("is missing", "build")
            return None, [self._finding(f"{start} {text}", category=category)]
        return Loaded(name, resolved, found), []

    def _faults(self, main: str, faults: list[Fault]) -> Iterator[Finding]:
        """Yield the faults of what one object loads, each the first time that it is met."""
        for fault in faults:
            if fault not in self._said:
                self._said.add(fault)
                behind = "" if fault.path == main else f" (it is loaded for `{main}`)"
                yield self._finding(f"`{fault.path}` {fault.text}{behind}", severity=fault.severity)

    def _isa(self, path: str, facts: Executable) -> Iterator[Finding]:
        """Hold the notes of one object to the declared baseline; a baseline of another name counts as the lowest."""
        baseline = self._runtime.get("cpuBaseline")
        if baseline is None or not facts.isa_needed:
            return
        needed = facts.isa_needed[-1]
        if _BASELINES[needed] > _BASELINES.get(baseline.lower(), 0):
            known = "" if baseline.lower() in _BASELINES else f", which is none of {', '.join(_BASELINES)}"
            message = f"`{path}` needs {needed}; the declared CPU baseline is `{baseline}`{known}"
            yield self._finding(message, "declare the baseline that the files need, or build them for a lower one")

    def _abi_version(self) -> Iterator[Finding]:
        declared = _VERSION.search(self._runtime.get("abiVersion", ""))
        if self._abi != "gnu" or declared is None:
            return
        needs = [
            ((int(version[1]), int(version[2])), path)
            for path, facts in self._own.items()
            for versions in facts.version_needs.values()
            for name in versions
            if (version := _VERSION.fullmatch(name.removeprefix("GLIBC_"))) and name.startswith("GLIBC_")
        ]
        highest, path = max(needs, default=((0, 0), ""))
        if highest > (int(declared[1]), int(declared[2])):
            message = f"`{path}` needs GLIBC_{highest[0]}.{highest[1]}; the declared ABI version is "
            message += f"`{self._runtime['abiVersion']}`"
            yield self._finding(message, severity="warning", at="/runtime/abiVersion")


def _outermost(loads: Mapping[str, set[str]]) -> list[str]:
    """Return the libraries that no other one loads; of those that load each other the first."""
    order = {path: index for index, path in enumerate(loads)}
    inner = {
        other
        for path, others in loads.items()
        for other in others
        if other != path and other in loads and (path not in loads[other] or order[path] < order[other])
    }
    return [path for path in loads if path not in inner]
