"""What a file system of an image is made of: nodes at absolute paths, as one layer brings them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from hatch_agentsuite.sandbox.elf import ElfError, Executable

Kind = Literal["file", "directory", "symlink", "character-device", "block-device", "fifo"]

BASE = "runtime-base"
HARNESS = "harness"
OURS = "agentsuite"
"""The components that are no ToolProvider, whose name is ``id@version``."""


class Node(NamedTuple):
    """One entry of a file system. Names that are hard links of one another have one ``inode``.

    ``facts`` and ``text`` are kept of what a loader reads: programs, libraries and scripts, and small files of
    configuration. ``capabilities`` says that the file has capabilities of its own.
    """

    kind: Kind
    mode: int
    uid: int = 0
    gid: int = 0
    size: int = 0
    digest: str = ""
    target: str = ""
    device: tuple[int, int] | None = None
    capabilities: bool = False
    component: str = ""
    inode: int = 0
    facts: Executable | ElfError | None = None
    text: bytes | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """What must be equal for two entries at one path to be identical (9.4)."""
        own = (self.kind, self.mode, self.uid, self.gid, self.size, self.digest, self.target, self.device)
        return (*own, self.capabilities)


class Change(NamedTuple):
    """One entry of a layer: a node, a hard link to another path, or the removal of what lower layers have."""

    path: str
    node: Node | None = None
    hardlink: str = ""
    opaque: bool = False

    @property
    def removes(self) -> bool:
        """Whether the entry takes away: a path, or with ``opaque`` what a folder holds."""
        return self.node is None and not self.hardlink


@dataclass(frozen=True)
class Layer:
    """A layer blob that was read and verified: its changes in the order of the archive."""

    digest: str
    size: int
    media_type: str
    diff_id: str
    changes: tuple[Change, ...]
