"""The flattened file system of an image: layers applied one upon the other, and paths looked up in the result.

It is held as names and facts alone; nothing of it is on the host's disk. A layer entry below a symlink is refused:
container engines disagree whether it goes where the link leads or hides it. A file system is what
:class:`hatch_agentsuite.sandbox.lookup.Files` asks for.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from hatch_agentsuite.sandbox.elf import ElfError, Executable
from hatch_agentsuite.sandbox.lookup import Lookup
from hatch_agentsuite.sandbox.nodes import Change, Layer, Node

ROOT = "/"
IMPLIED = Node("directory", 0o755)
"""A folder that no entry names: engines make it for root, with mode 0755."""

_KINDS = {"file": "file", "directory": "directory", "symlink": "symlink"}


MAX_NAMES = 256 * 1024**2
"""How many characters the names of folders that no entry names may have together."""


class PathError(Exception):
    """A path that leads nowhere, or out; the text follows "the path"."""


class Filesystem:
    """Nodes by absolute path. What is wrong with layers is gathered in ``faults`` as path and words."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {ROOT: IMPLIED}
        self.faults: list[tuple[str, str]] = []
        self._children: dict[str, dict[str, None]] = {ROOT: {}}
        self._layers = 0
        self._names = 0

    def copy(self) -> Filesystem:
        """Return a file system of its own with the same nodes."""
        other = Filesystem()
        other.nodes = dict(self.nodes)
        other.faults = list(self.faults)
        other._children = {path: dict(names) for path, names in self._children.items()}
        other._layers, other._names = self._layers, self._names
        return other

    # --- changing ---

    def apply(self, layer: Layer, component: str) -> None:
        """Put a layer on top: first what it removes of the layers below, then its entries in their order."""
        self._layers += 1
        for change in layer.changes:
            if change.removes:
                self._remove(change)
        for change in layer.changes:
            if change.hardlink:
                self._link(change)
            elif change.node is not None:
                known = self.nodes.get(change.path)
                if known is not None and known.kind == "directory" and known.identity == change.node.identity:
                    continue  # said again, as layers do of the folders above what they add
                inode = self._layers << 32 | change.node.inode
                self.put(change.path, change.node._replace(component=component, inode=inode))

    def put(self, path: str, node: Node) -> None:
        """Add a node or replace the one that is there; folders above it that nothing names are made."""
        if path == ROOT:
            if node.kind == "directory":
                self.nodes[ROOT] = node
            else:
                self.faults.append((path, f"the root of the file system is a {node.kind}"))
            return
        above, _, name = path.rpartition("/")
        folder = above or ROOT
        if folder not in self._children and not self._make_folder(folder, path, node.component):
            return
        known = self.nodes.get(path)
        if known is not None and known.kind == "directory" and node.kind != "directory":
            self._drop(path)
        self.nodes[path] = node
        self._children[folder][name] = None
        if node.kind == "directory":
            self._children.setdefault(path, {})

    def _make_folder(self, folder: str, path: str, component: str) -> bool:
        missing: list[str] = []
        while folder not in self._children:
            known = self.nodes.get(folder)
            if known is not None:
                self.faults.append((path, f"the entry lies below `{folder}`, which is a {known.kind}"))
                return False
            missing.append(folder)
            self._names += len(folder)
            folder = posixpath.dirname(folder)
        if self._names > MAX_NAMES:
            self.faults.append((path, "the layers imply more folders than are read"))
            return False
        for name in reversed(missing):
            self.nodes[name] = IMPLIED._replace(component=component)
            self._children[name] = {}
            self._children[posixpath.dirname(name)][posixpath.basename(name)] = None
        return True

    def _link(self, change: Change) -> None:
        target = self.nodes.get(change.hardlink)
        if target is None or target.kind == "directory":
            what = "a directory" if target else "nothing"
            self.faults.append((change.path, f"the hard link names `{change.hardlink}`, where there is {what}"))
        elif change.path != change.hardlink:
            self.put(change.path, target)

    def _remove(self, change: Change) -> None:
        if change.opaque:
            for name in list(self._children.get(change.path, ())):
                self._drop(posixpath.join(change.path, name))
        elif change.path in self.nodes and change.path != ROOT:
            self._drop(change.path)

    def _drop(self, path: str) -> None:
        self._children[posixpath.dirname(path)].pop(posixpath.basename(path), None)
        pending = [path]
        while pending:
            here = pending.pop()
            del self.nodes[here]
            pending.extend(posixpath.join(here, name) for name in self._children.pop(here, ()))

    # --- looking ---

    def __iter__(self) -> Iterator[tuple[str, Node]]:
        """Yield paths and nodes, sorted by the bytes of the path."""
        for path in sorted(self.nodes, key=str.encode):
            yield path, self.nodes[path]

    def get(self, path: str) -> Node | None:
        """Return the node at a path whose parents are no symlinks."""
        return self.nodes.get(path)

    def place(self, path: str) -> str:
        """Return where an entry at an absolute path belongs: the links above it resolved, the last name as it is.

        Folders that are not there yet are taken as they are written. Raises :class:`PathError` where a link leads to
        nothing, or where something that is no folder stands in the way.
        """
        folder, name = posixpath.split(path)
        here = ROOT
        for part in filter(None, folder.split("/")):
            full = posixpath.join(here, part)
            node = self.nodes.get(full)
            if node is not None and node.kind == "symlink":
                found = self.resolve(full)
                if found is None:
                    raise PathError(f"lies below the symlink `{full}`, which leads to nothing")
                full, node = found, self.nodes[found]
            if node is not None and node.kind != "directory":
                raise PathError(f"lies below `{full}`, which is a {node.kind}")
            here = full
        return posixpath.join(here, name)

    def resolve(self, path: str) -> str | None:
        """Return what an absolute path finally leads to, never beyond the root; None where it leads nowhere."""
        return Lookup(self).resolve(path)

    # --- what hatch_agentsuite.sandbox.lookup.Files asks for ---

    def kind(self, path: str) -> str | None:
        """Return ``file``, ``directory``, ``symlink`` or ``other``, or None for what is not there."""
        node = self.nodes.get(path)
        return None if node is None else _KINDS.get(node.kind, "other")

    def target(self, path: str) -> str:
        """Return the target of a symlink as it is written."""
        return self.nodes[path].target

    def mode(self, path: str) -> int:
        """Return the permission bits."""
        return self.nodes[path].mode

    def executable(self, path: str) -> Executable | None:
        """Return the facts of a regular file; raises :class:`ElfError` for a broken ELF file."""
        facts = self.nodes[path].facts
        if isinstance(facts, ElfError):
            raise facts
        return facts

    def text(self, path: str) -> bytes:
        """Return the bytes of a file that were kept, none where they were not."""
        return self.nodes[path].text or b""

    def children(self, path: str) -> Sequence[str]:
        """Return the names in a directory."""
        return tuple(self._children.get(path, ()))
