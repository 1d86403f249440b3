"""The files of an authoring tree, found once, judged by their form, and marked as they are reached.

Nothing is followed out of the tree and nothing hostile is passed over: a link outside a payload, a link loop, a FIFO,
a device, a name that is not UTF-8, two names that some file system takes for one, a set-id file. All of them are found
before a byte is packed, whether or not anything refers to them.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from hatch_agentsuite.content import special_kind, walk_folders
from hatch_agentsuite.findings import Category, Finding, RefusedError, printable
from hatch_agentsuite.limits import DEFAULT_LIMITS, Limits
from hatch_agentsuite.paths import PathSet, are_plain, parents, path_fault, symlink_fault

DOCUMENT_SUFFIXES: Final = (".yaml", ".yml", ".json")

_PAYLOAD = re.compile(r"(tool-providers/[^/]+/[^/]+/[a-z0-9]+-[a-z0-9]+)(?:/|\Z)")
_MOST_LINKS = 40


class SourceEntry(NamedTuple):
    """One entry of the tree: ``mode`` as found, ``target`` of a symlink."""

    path: str
    kind: str
    mode: int
    size: int
    target: str = ""

    @property
    def is_executable(self) -> bool:
        """Whether the owner may execute it."""
        return bool(self.mode & 0o100)


class SourceTree:
    """The entries below ``root``, sorted by path bytes; reading bytes is left to whoever needs them.

    Raises :class:`RefusedError` with everything that is wrong with the tree's form.
    """

    def __init__(self, root: Path, limits: Limits = DEFAULT_LIMITS) -> None:
        self.root = root
        self.entries: dict[str, SourceEntry] = {}
        self._children: dict[str, list[str]] = {}
        self._reached: set[str] = set()
        self._reached_below: set[str] = set()
        findings = self._scan(limits)
        findings.extend(self._strays({finding.location for finding in findings}))
        if findings:
            raise RefusedError(*findings)

    def file(self, path: str) -> Path:
        """Return where an entry lies on disk."""
        return self.root / path

    def kind(self, path: str) -> str | None:
        """Return ``file``, ``directory``, ``symlink``, or None for what is not there."""
        entry = self.entries.get(path)
        return entry.kind if entry else None

    def children(self, folder: str) -> list[str]:
        """Return the paths directly inside a folder, sorted; none when there is no such folder."""
        return self._children.get(folder, [])

    def below(self, folder: str) -> Iterator[SourceEntry]:
        """Yield everything below a folder, parents first."""
        pending = self.children(folder)[::-1]
        while pending:
            path = pending.pop()
            yield self.entries[path]
            pending.extend(reversed(self.children(path)))

    def documents(self, folder: str) -> dict[str, list[str]]:
        """Return the documents directly inside a folder by stem, each with the files that claim it."""
        found: dict[str, list[str]] = {}
        for path in self.children(folder):
            stem, suffix = posixpath.splitext(path)
            if suffix in DOCUMENT_SUFFIXES:
                found.setdefault(stem, []).append(path)
        return found

    def reach(self, path: str) -> None:
        """Mark an entry as one that the suite is made from."""
        self._reached.add(path)

    def reach_below(self, folder: str) -> None:
        """Mark everything below a folder."""
        self._reached_below.add(folder)

    def unreached(self) -> list[tuple[str, int]]:
        """Return what nothing reached: files, and whole folders (with a slash) and the number of files in them."""
        found: list[tuple[str, int]] = []
        self._collect_unreached("", found)
        return found

    def _collect_unreached(self, folder: str, found: list[tuple[str, int]]) -> None:
        for path in self.children(folder):
            if self.entries[path].kind != "directory":
                if path not in self._reached:
                    found.append((path, 1))
            elif path in self._reached_below:
                continue
            elif any(map(self._is_reached, self._files_below(path))):
                self._collect_unreached(path, found)
            else:
                count = sum(1 for _ in self._files_below(path))
                found.extend([(f"{path}/", count)] if count else [])

    def _files_below(self, folder: str) -> Iterator[str]:
        return (entry.path for entry in self.below(folder) if entry.kind != "directory")

    def _is_reached(self, path: str) -> bool:
        return path in self._reached or not self._reached_below.isdisjoint(parents(path))

    def _scan(self, limits: Limits) -> list[Finding]:
        faults: dict[str, Finding] = {}
        is_plain = True
        total = 0
        for folder, found in walk_folders(self.root):
            names = [name for name, _ in found]
            is_plain = is_plain and are_plain(folder, names)
            paths = [f"{folder}/{name}" for name in names] if folder else names
            self._children[folder] = paths
            for path, (_, status) in zip(paths, found, strict=True):
                if len(self.entries) >= limits.entries:
                    message = f"the source tree has more than {limits.entries:,} entries"
                    return [*faults.values(), _finding("", message)]
                self.entries[path], fault = self._entry(path, status)
                if fault:
                    faults[path] = fault
                total += self.entries[path].size
                if total > limits.expanded_bytes:
                    message = f"the files have more than {limits.expanded_bytes:,} bytes together"
                    return [*faults.values(), _finding(path, message)]
        if not is_plain:
            self._check_paths(faults)
        return [faults[path] for path in self.entries if path in faults]

    def _check_paths(self, faults: dict[str, Finding]) -> None:
        """Find what is wrong with the path of any entry that is otherwise in order."""
        paths = PathSet()
        for path, entry in self.entries.items():
            if path not in faults:
                wrong = path_fault(path) or paths.add(path, entry.kind)  # type: ignore[arg-type]
                if wrong:
                    faults[path] = _finding(path, f"the path {wrong}", "rename it")

    def _entry(self, path: str, status: os.stat_result) -> tuple[SourceEntry, Finding | None]:
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISREG(status.st_mode):
            return SourceEntry(path, "file", mode, status.st_size), _mode_fault(path, mode) if mode & 0o7000 else None
        if stat.S_ISDIR(status.st_mode):
            return SourceEntry(path, "directory", mode, 0), None
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(self.root / path)  # noqa: PTH115 -- a Path would tidy the text
            return SourceEntry(path, "symlink", 0o777, 0, target), _link_fault(path, target)
        what = special_kind(status.st_mode)
        fault = _finding(path, f"this is a {what}; a source tree holds files and folders", "remove it")
        return SourceEntry(path, "special", mode, 0), fault

    def _strays(self, refused: set[str]) -> Iterator[Finding]:
        links = {entry.path: entry.target for entry in self.entries.values() if entry.kind == "symlink"}
        for path in links:
            fault = None if printable(path) in refused else _way_fault(path, links)
            if fault:
                yield _finding(path, *fault)


def payload_root(path: str) -> str | None:
    """Return the payload folder (``tool-providers/<id>/<version>/<os>-<arch>``) that a path is or lies in."""
    match = _PAYLOAD.match(path)
    return match[1] if match else None


def _mode_fault(path: str, mode: int) -> Finding:
    message = f"the file's mode {mode:04o} has a set-id or sticky bit"
    return _finding(path, message, f"`chmod {mode & 0o777:04o}` removes it", "security")


def _link_fault(path: str, target: str) -> Finding | None:
    root = payload_root(path)
    if root is None or root == path:
        hint = "put the file itself there; only payloads may hold symlinks"
        return _finding(path, f"this is a symlink to `{printable(target)}`", hint)
    fault = symlink_fault(path, target)
    return _finding(path, f"the symlink {fault}", "a link in a payload stays inside the suite") if fault else None


def _way_fault(path: str, links: dict[str, str]) -> tuple[str, str] | None:
    """Return what is wrong with the way that begins at a link, links on it followed, and what to do; or None."""
    pending = path.split("/")[::-1]
    resolved: list[str] = []
    followed = 0
    while pending:
        segment = pending.pop()
        if segment in {"", "."}:
            continue
        if segment == "..":
            if not resolved:
                return "the symlink leads out of the tree by way of other links", "let it stay inside the suite"
            resolved.pop()
            continue
        resolved.append(segment)
        target = links.get("/".join(resolved))
        if target is not None:
            followed += 1
            if followed > _MOST_LINKS:
                return "the symlink leads back to itself", "remove one of the links of the circle"
            resolved.pop()
            pending.extend(target.split("/")[::-1])
    return None


def _finding(path: str, message: str, hint: str = "", category: Category = "path") -> Finding:
    return Finding("AS-PATH-001", category, printable(path), message, hint)
