"""A final file system looked at from inside: paths resolved as the kernel does, never beyond its root.

The files are somebody else's (:class:`Files`: layers, a directory, a dictionary); the links are followed here.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Protocol

from hatch_agentsuite.sandbox.elf import ElfError, Executable

MAX_LINKS = 40
"""How many symlinks one path may lead over, as for the kernel."""

MAX_PATH_BYTES = 4_096
MAX_LOOKUPS = 5_000_000
"""How many paths one judgement looks at; a payload of 5,000 libraries comes to about a fifth of that."""

_REMEMBERED = 50_000  # folders


class Files(Protocol):
    """The entries of a final file system by absolute, normalised paths whose parents are no symlinks."""

    def kind(self, path: str) -> str | None:
        """Return ``file``, ``directory``, ``symlink``, ``other``, or None for what is not there."""

    def target(self, path: str) -> str:
        """Return the target of a symlink as it is written."""

    def mode(self, path: str) -> int:
        """Return the permission bits."""

    def executable(self, path: str) -> Executable | None:
        """Return the facts of a regular file; may raise :class:`~hatch_agentsuite.sandbox.elf.ElfError`."""

    def text(self, path: str) -> bytes:
        """Return the bytes of a small regular file; what is beyond the implementation's bound may be left out."""

    def children(self, path: str) -> Sequence[str]:
        """Return the names in a directory."""


class TooManyLookupsError(Exception):
    """A file system was made to be searched without end."""


class Lookup:
    """Follows links, and remembers what it has seen of one final file system."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._resolved: dict[str, str | None] = {}
        self._facts: dict[str, Executable | ElfError | None] = {}
        self._lookups = 0

    def resolve(self, path: str) -> str | None:
        """Return the path of what an absolute path finally leads to; None for what is not there, or a loop."""
        self._charge(1)
        folder, _, name = path.rpartition("/")
        if name in {"", ".", ".."}:
            return self._follow(path)
        if folder not in self._resolved:  # most look-ups are names in few folders
            if len(self._resolved) >= _REMEMBERED:
                self._resolved.clear()
            self._resolved[folder] = self._follow(f"{folder}/.")  # the dot: only a directory will do
        above = self._resolved[folder]
        if above is None or len(path) > MAX_PATH_BYTES:
            return None
        full = posixpath.join(above, name)
        kind = self._files.kind(full)
        return self._follow(full) if kind == "symlink" else full if kind else None

    def _follow(self, path: str) -> str | None:
        pending = path.split("/")[::-1]
        here, links = "/", 0
        while pending:
            name = pending.pop()
            if name in {"", "."}:
                continue
            if name == "..":
                here = posixpath.dirname(here)
                continue
            full = posixpath.join(here, name)
            if len(full) > MAX_PATH_BYTES:
                return None
            kind = self._files.kind(full)
            if kind == "symlink":
                links += 1
                target = self._files.target(full)
                if links > MAX_LINKS or len(target) > MAX_PATH_BYTES:
                    return None
                here = "/" if target.startswith("/") else here
                pending.extend(target.split("/")[::-1])
            elif kind == "directory" or (kind and not pending):
                here = full
            else:
                return None
        return here

    def kind(self, path: str) -> str | None:
        """Return what a resolved path is; the root is a directory even where nothing says so."""
        return "directory" if path == "/" else self._files.kind(path)

    def is_file(self, path: str | None) -> bool:
        """Whether a resolved path is a regular file."""
        return path is not None and self.kind(path) == "file"

    def may_run(self, path: str) -> bool:
        """Whether somebody has the right to execute a resolved path."""
        return bool(self._files.mode(path) & 0o111)

    def facts(self, path: str) -> Executable | None:
        """Return the facts of a resolved regular file, read once; raises :class:`ElfError` for a broken ELF file."""
        if path not in self._facts:
            try:
                self._facts[path] = self._files.executable(path)
            except ElfError as error:
                self._facts[path] = error
        facts = self._facts[path]
        if isinstance(facts, ElfError):
            raise facts.with_traceback(None)
        return facts

    def text(self, path: str) -> str | None:
        """Return the text of a regular file, links followed, or None."""
        resolved = self.resolve(path)
        if resolved is None or not self.is_file(resolved):
            return None
        return self._files.text(resolved).decode("utf-8", "surrogateescape")

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, sorted; none for what is no directory."""
        resolved = self.resolve(path)
        if resolved is None or self.kind(resolved) != "directory":
            return []
        return self._children(resolved)

    def _children(self, folder: str) -> list[str]:
        names = sorted(self._files.children(folder))
        self._charge(len(names))
        return names

    def _charge(self, count: int) -> None:
        self._lookups += count
        if self._lookups > MAX_LOOKUPS:
            raise TooManyLookupsError

    def files_below(self, folder: str) -> list[str]:
        """Return the regular files below a resolved directory, in order; links are not followed."""
        found = []
        pending = [folder]
        while pending:
            above = pending.pop()
            for name in self._children(above):
                path = posixpath.join(above, name)
                kind = self._files.kind(path)
                if kind == "file":
                    found.append(path)
                elif kind == "directory":
                    pending.append(path)
        return sorted(found)
