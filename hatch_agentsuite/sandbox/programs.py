"""What the kernel can start: ELF programs for the machine, and scripts whose interpreters lead to one.

Every fault is words that follow the path of what cannot be started, so that a chain of scripts reads as one sentence.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hatch_agentsuite.findings import Category
from hatch_agentsuite.sandbox.elf import ElfError, Executable
from hatch_agentsuite.sandbox.loaders import Machine
from hatch_agentsuite.sandbox.lookup import Lookup

SEARCH_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Where ``env`` looks for a name, after the search path of the variant."""

MAX_INTERPRETERS = 4
"""How many interpreters may stand in for one another, script by script."""

_SYSTEMS = ("sysv", "gnu")  # what ELF files for Linux say of their system
_SPLIT = re.compile(r"(?:-[iv0]*S|--split-string[= ])\s*(.*)", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True)
class Problem:
    """Why something cannot be started: words that follow its path."""

    text: str
    category: Category = "build"


class Programs:
    """Judges programs of one final file system; ``started`` are the ELF programs that scripts lead to."""

    def __init__(self, lookup: Lookup, machine: Machine, search_path: Sequence[str] = ()) -> None:
        self._lookup = lookup
        self._machine = machine
        self._search_path = (*search_path, *SEARCH_PATH)
        self.started: dict[str, Executable] = {}

    def fault(self, path: str, interpreters: int = 0) -> Problem | None:
        """Return why a program that is started by an absolute path cannot be, or None."""
        resolved = self._lookup.resolve(path)
        if resolved is None:
            return Problem("is not in the final file system")
        if not self._lookup.is_file(resolved):
            return Problem("is no regular file")
        if not self._lookup.may_run(resolved):
            return Problem("has no executable bit")
        try:
            facts = self._lookup.facts(resolved)
        except ElfError as error:
            return Problem(f"is an ELF file that {error}")
        if facts is None:
            return Problem("is neither an ELF program nor a script")
        if facts.kind == "script":
            return self.script_fault(facts, interpreters)
        fault = self.elf_fault(facts) or _kind_fault(facts)
        if fault is None and interpreters:
            self.started[resolved] = facts
        return fault

    def elf_fault(self, facts: Executable) -> Problem | None:
        """Return what is wrong with the machine or system of an ELF file, or None."""
        if not self._machine.fits(facts):
            order = "little" if facts.little_endian else "big"
            what = f"{facts.machine}, {facts.bits}-bit, {order}-endian"
            return Problem(f"is for {what}; the platform's machine is 64-bit {self._machine.name}", "platform")
        if facts.osabi not in _SYSTEMS:
            return Problem(f"is for the system {facts.osabi}, not for Linux", "platform")
        return None

    def script_fault(self, facts: Executable, interpreters: int = 0) -> Problem | None:
        """Return why the interpreter of a script cannot be started, or None."""
        name = facts.interpreter
        if "\r" in name + facts.argument:
            return Problem("is a script with Windows line ends: its first line ends in a carriage return")
        if not name:
            return Problem("is a script whose first line names no interpreter that the kernel can read")
        if interpreters == MAX_INTERPRETERS:
            return Problem(f"is a script behind {MAX_INTERPRETERS} others; the kernel follows no more")
        if not name.startswith("/"):
            return Problem(f"names the interpreter `{name}`, which depends on the working directory")
        fault = self.fault(name, interpreters + 1)
        if fault is not None:
            return Problem(f"names the interpreter `{name}`, which {fault.text}", fault.category)
        if posixpath.basename(name) == "env":
            return self._env_fault(facts.argument, interpreters)
        return None

    def _env_fault(self, argument: str, interpreters: int) -> Problem | None:
        """Judge what ``env`` starts; the kernel hands it everything behind its name as one argument."""
        split = _SPLIT.fullmatch(argument)
        words = split[1].split() if split else [argument]
        names = [word for word in words if word and not word.startswith("-") and not _ASSIGNMENT.match(word)]
        if not names:
            return Problem("is a script that starts `env` without a command")
        name = names[0]
        if name.startswith("/"):
            fault = self.fault(name, interpreters + 1)
            return fault and Problem(f"has `env` start `{name}`, which {fault.text}", fault.category)
        if "/" in name:
            return Problem(f"has `env` start `{name}`, which depends on the working directory")
        for folder in self._search_path:
            path = posixpath.join(folder, name)
            resolved = self._lookup.resolve(path)
            if resolved is not None and self._lookup.is_file(resolved) and self._lookup.may_run(resolved):
                fault = self.fault(path, interpreters + 1)
                return fault and Problem(f"has `env` start `{path}`, which {fault.text}", fault.category)
        return Problem(f"has `env` start `{name}`, which is not on the search path")


def _kind_fault(facts: Executable) -> Problem | None:
    if facts.type not in ("EXEC", "DYN"):
        return Problem(f"is an ELF file of type {facts.type}, not a program")
    if facts.needed and not facts.interpreter:
        return Problem("needs shared libraries but names no loader")
    return None
