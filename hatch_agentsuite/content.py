"""A content tree: entries with type, mode, owner, size, digest and link target (specification 5).

The tree is a value. It is filled entry by entry, in the order of a tar stream or of a sorted walk, by whoever reads a
layer (:mod:`hatch_agentsuite.archive.layer`) or an extracted directory (:func:`read_directory`); both are held to the
same rules (5.2), and every fault is a finding that the tree carries.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from hatch_agentsuite.findings import Category, Finding, printable
from hatch_agentsuite.limits import DEFAULT_LIMITS, Limits
from hatch_agentsuite.paths import PathSet, path_fault, symlink_fault
from hatch_agentsuite.regular import read_regular

_OPEN_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)

EntryType = Literal["file", "directory", "symlink", "hardlink"]


class Entry(NamedTuple):
    """One entry of a content tree.

    ``mode`` holds permission bits and, in hostile trees, set-id and sticky bits. ``size`` and ``digest`` are those of a
    regular file's bytes; a hardlink's ``link_target`` is a content path.
    """

    path: str
    type: EntryType
    mode: int
    uid: int = 0
    gid: int = 0
    size: int = 0
    digest: str | None = None
    link_target: str | None = None


Observer = Callable[[Entry, Iterator[bytes]], Iterator[bytes]]
"""Passes a regular file's bytes on as they are, having looked at them: what hashes a file reads it for all."""


class TreeLimitError(Exception):
    """A bound was passed; reading on would spend what the bound protects. The finding is in the tree already."""


@dataclass
class ContentTree:
    """Entries by path, the bytes of JSON documents among them, and what was wrong on the way.

    ``documents`` retains every ``.json`` file within the document limit; nothing else is held in memory. Where reading
    ended early, the tree is not ``complete``: what it lacks says nothing.
    """

    limits: Limits = DEFAULT_LIMITS
    entries: dict[str, Entry] = field(default_factory=dict)
    documents: dict[str, bytes] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    complete: bool = True
    observer: Observer | None = None
    _paths: PathSet = field(default_factory=PathSet, repr=False)
    _seen: int = 0
    _expanded: int = 0
    _retained: int = 0

    def report(self, path: str, message: str, hint: str = "", category: Category = "path") -> None:
        """Take a fault of the tree's form down."""
        self.findings.append(Finding("AS-PATH-001", category, printable(path), message, hint))

    def admit(self, entry: Entry) -> bool:
        """Judge an entry before its bytes are read; return whether it may join the tree.

        Raises :class:`TreeLimitError` when the count of entries or of bytes passes a limit.
        """
        self._charge(entry)
        fault = path_fault(entry.path)
        if fault:
            self.report(entry.path, f"the path {fault}", "content paths are relative, clean and `/`-separated")
            return False
        self._check_mode(entry)
        fault = self._link_fault(entry)
        if fault:
            self.report(entry.path, f"the {entry.type} {fault}")
        fault = self._paths.add(entry.path, "file" if entry.type == "hardlink" else entry.type)
        if fault:
            self.report(entry.path, f"the path {fault}")
            return False
        return True

    def add(self, entry: Entry, document: bytes | None = None) -> None:
        """Take an admitted entry in, with its bytes if :meth:`retains` asked for them."""
        self.entries[entry.path] = entry
        if document is not None:
            self.documents[entry.path] = document

    def retains(self, entry: Entry) -> bool:
        """Whether the bytes of a regular file are kept: JSON documents are, up to the limits of 5.2."""
        if entry.type != "file" or not entry.path.endswith(".json") or entry.size > self.limits.json.document_bytes:
            return False
        self._retained += entry.size
        if self._retained > self.limits.metadata_bytes:
            self._exceed(entry.path, f"the JSON files have more than {self.limits.metadata_bytes:,} bytes together")
        return True

    def observed(self, entry: Entry, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Return a regular file's bytes by way of the observer, if there is one."""
        return self.observer(entry, chunks) if self.observer else chunks

    def _charge(self, entry: Entry) -> None:
        self._seen += 1
        if self._seen > self.limits.entries:
            self._exceed(entry.path, f"the content has more than {self.limits.entries:,} entries")
        self._expanded += entry.size
        if self._expanded > self.limits.expanded_bytes:
            self._exceed(entry.path, f"the files have more than {self.limits.expanded_bytes:,} bytes together")

    def _exceed(self, path: str, message: str) -> None:
        self.report(path, message)
        raise TreeLimitError(message)

    def _check_mode(self, entry: Entry) -> None:
        if entry.mode & 0o7000:
            self.report(
                entry.path,
                f"the mode {entry.mode:04o} has a set-id or sticky bit",
                f"`chmod {entry.mode & 0o777:04o}` removes it",
                "security",
            )
        if entry.type in {"file", "hardlink"} and entry.mode & 0o022:
            self.report(
                entry.path,
                f"the file is group or world writable (mode {entry.mode:04o})",
                f"`chmod {entry.mode & 0o755:04o}` mends it",
                "security",
            )

    def _link_fault(self, entry: Entry) -> str | None:
        if entry.type == "symlink":
            return symlink_fault(entry.path, entry.link_target or "")
        if entry.type != "hardlink":
            return None
        target = self.entries.get(entry.link_target or "")
        if target is None:
            return "names a target that is absent or comes later"
        return None if target.type == "file" else f"names a {target.type}; it must name a regular file"


def read_directory(root: Path, limits: Limits = DEFAULT_LIMITS, observer: Observer | None = None) -> ContentTree:
    """Return the tree of an extracted content directory, following no link.

    Ownership is taken as root's and times are not looked at: an extracted directory cannot carry them. A file linked
    more than once is a regular file. A folder that cannot be read ends the reading.
    """
    tree = ContentTree(limits, observer=observer)
    try:
        for path, status in walk(root):
            _take(tree, root, path, status)
    except TreeLimitError:
        tree.complete = False
    except OSError as error:
        tree.report("", f"the directory cannot be read: {error.strerror or error}")
        tree.complete = False
    return tree


def walk(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every path below ``root`` with its own status, links not followed.

    Parents come first, each folder is sorted by bytes. Paths are `/`-separated; names that are not UTF-8 carry
    surrogates.
    """
    for folder, found in walk_folders(root):
        prefix = f"{folder}/" if folder else ""
        for name, status in found:
            yield prefix + name, status


def walk_folders(root: Path) -> Iterator[tuple[str, list[tuple[str, os.stat_result]]]]:
    """Yield ``root`` (as the empty path) and every folder below it, each with what is in it, as :func:`walk` does."""
    pending = [""]
    while pending:
        folder = pending.pop()
        found = _listed(root, folder)
        yield folder, found
        prefix = f"{folder}/" if folder else ""
        pending.extend(prefix + name for name, status in reversed(found) if stat.S_ISDIR(status.st_mode))


def _listed(root: Path, folder: str) -> list[tuple[str, os.stat_result]]:
    """Return names and status of what is in a folder, sorted by bytes.

    Where the system can, all are looked up from the opened folder: that is faster, and a folder that becomes a link
    meanwhile leads nowhere.
    """
    if os.scandir not in os.supports_fd:
        return _scanned(root / folder)
    descriptor = os.open(root / folder, _OPEN_FOLDER | (os.O_NOFOLLOW if folder else 0))
    try:
        return _scanned(descriptor)
    finally:
        os.close(descriptor)


def _scanned(folder: Path | int) -> list[tuple[str, os.stat_result]]:
    with os.scandir(folder) as iterator:
        found = [(item.name, item.stat(follow_symlinks=False)) for item in iterator]
    return sorted(found, key=lambda item: item[0].encode("utf-8", "surrogateescape"))


def special_kind(mode: int) -> str | None:
    """Return the name of a file type that no content tree may hold, or None for file, directory and symlink."""
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode):
        return None
    for test, name in (
        (stat.S_ISFIFO, "FIFO"),
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISCHR, "character device"),
        (stat.S_ISBLK, "block device"),
    ):
        if test(mode):
            return name
    return "special file"


def _take(tree: ContentTree, root: Path, path: str, status: os.stat_result) -> None:
    kind = special_kind(status.st_mode)
    if kind:
        tree.report(path, f"this is a {kind}; content holds files, directories and symlinks only")
        return
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        entry = Entry(path, "directory", mode)
    elif stat.S_ISLNK(status.st_mode):
        target = os.readlink(root / path)  # noqa: PTH115 -- a Path would tidy the text
        entry = Entry(path, "symlink", 0o777, link_target=target)
    else:
        entry = Entry(path, "file", mode, size=status.st_size)
    if not tree.admit(entry):
        return
    if entry.type != "file":
        tree.add(entry)
        return
    hasher = hashlib.sha256()
    kept: list[bytes] | None = [] if tree.retains(entry) else None
    size = 0
    try:
        for chunk in tree.observed(entry, read_regular(f"{root}/{path}", entry.size + 1)):
            hasher.update(chunk)
            size += len(chunk)
            if kept is not None:
                kept.append(chunk)
    except OSError as error:
        tree.report(path, f"the file cannot be read: {error.strerror or error}")
        return
    if size != entry.size:
        tree.report(path, "the file changed while it was read")
        return
    tree.add(entry._replace(digest=f"sha256:{hasher.hexdigest()}"), None if kept is None else b"".join(kept))
