"""Layers of images read as streams: what they add, link and remove, and the facts of the programs in them.

Nothing is unpacked. A blob is hashed before a byte of it is interpreted, and once more while it is; a program is
held in memory or in a temporary file for as long as its headers are looked at.
"""

from __future__ import annotations

import hashlib
import posixpath
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, BinaryIO, Final

from hatch_agentsuite.regular import CHUNK
from hatch_agentsuite.sandbox.elf import ElfError, Executable, examine, looks_executable
from hatch_agentsuite.sandbox.inflating import Inflated, LayerDataError
from hatch_agentsuite.sandbox.nodes import Change, Layer, Node
from hatch_agentsuite.sandbox.tarstream import Member, TarStream, TarStreamError

WHITEOUT: Final = ".wh."
OPAQUE: Final = ".wh..wh..opq"
METADATA: Final = "/.agentsuite/"

MAX_NAMES: Final = 1024**3
MAX_EXPANDED: Final = 128 * 1024**3
ENTRY_COST: Final = 1024
MAX_DOCUMENT: Final = 192 * 1024**2
_MAX_TEXT = 64 * 1024
_MAX_TEXTS = 16 * 1024**2
_MAX_PATH = 4_096
_IN_MEMORY = 8 * 1024**2


@dataclass
class Budget:
    """What the names of all layers that are read together may still cost; entries and the bytes of names count.

    One entry costs 1 KiB, about what is held of it, and four times its name.
    """

    left: int = field(default_factory=lambda: MAX_NAMES)

    def spend(self, *names: str) -> None:
        """Pay for an entry; raises :class:`LayerDataError` when there is nothing left."""
        self.left -= ENTRY_COST + 4 * sum(map(len, names))
        if self.left < 0:
            raise LayerDataError(
                f"the layers have more than {MAX_NAMES // ENTRY_COST:,} entries, long names counted more"
            )


@dataclass
class _Kept:
    """How much text has been kept of one layer, and how many bytes its files have."""

    texts: int = 0
    documents: int = 0
    expanded: int = 0


Progress = Callable[[int], object]


Opener = Callable[[], AbstractContextManager[BinaryIO]]
"""Opens a blob at its start; it is opened twice."""


def read_layer(
    blob: Opener,
    descriptor: dict[str, Any],
    diff_id: str,
    progress: Progress | None = None,
    budget: Budget | None = None,
) -> Layer:
    """Return what a blob holds, having verified size, digest and diff id.

    Raises :class:`LayerDataError`; nothing of a blob that is not what its descriptor says is interpreted.
    """
    with blob() as stream:
        _verify(stream, descriptor, progress)
    kept, budget = _Kept(), budget or Budget()
    changes: list[Change] = []
    with blob() as stream, Inflated(stream, descriptor["mediaType"]) as pieces:
        try:
            tar = TarStream(pieces.read)
            for member in tar:
                budget.spend(member.path, member.target)
                kept.expanded += member.size
                if kept.expanded > MAX_EXPANDED:
                    raise LayerDataError(f"the files of the layer have more than {MAX_EXPANDED:,} bytes together")
                changes.append(_change(member, tar, kept, len(changes) + 1))
        except TarStreamError as error:
            where = f"`{error.path}`: " if error.path else ""
            raise LayerDataError(f"{where}{error.message}") from None
    if pieces.digest != descriptor["digest"]:
        raise LayerDataError("the blob changed while it was read")
    if pieces.diff_id != diff_id:
        raise LayerDataError(f"the tar in the blob has the digest {pieces.diff_id}; the config says {diff_id}")
    return Layer(descriptor["digest"], descriptor["size"], descriptor["mediaType"], diff_id, tuple(changes))


def _verify(stream: BinaryIO, descriptor: dict[str, Any], progress: Progress | None) -> None:
    hasher = hashlib.sha256()
    left = descriptor["size"] + 1
    while left and (chunk := stream.read(min(CHUNK, left))):
        hasher.update(chunk)
        left -= len(chunk)
        if progress:
            progress(len(chunk))
    if left != 1:
        raise LayerDataError(f"the blob does not have the {descriptor['size']:,} bytes that its descriptor says")
    if f"sha256:{hasher.hexdigest()}" != descriptor["digest"]:
        raise LayerDataError(f"the bytes of the blob have the digest sha256:{hasher.hexdigest()}")


def _change(member: Member, tar: TarStream, kept: _Kept, inode: int) -> Change:
    path = _absolute(member.path, member.path)
    folder, name = posixpath.split(path)
    if name == OPAQUE:
        return Change(folder, opaque=True)
    if name.startswith(WHITEOUT):
        hidden = name.removeprefix(WHITEOUT)
        if hidden in ("", ".", "..") or hidden.startswith(WHITEOUT):
            raise TarStreamError("this marker of a union file system is not one of OCI's whiteouts", path)
        return Change(posixpath.join(folder, hidden))
    if member.type == "hardlink":
        return Change(path, hardlink=_absolute(member.target, member.path))
    if member.type == "symlink" and not 0 < len(member.target.encode()) < _MAX_PATH:
        raise TarStreamError("the target of the symlink is empty or too long", path)
    if member.type != "file":
        mode = 0o777 if member.type == "symlink" else member.mode
        node = Node(member.type, mode, member.uid, member.gid, target=member.target, device=member.device, inode=inode)
        return Change(path, node)
    digest, facts, text = examined(tar.data(), member.size, _limit(path, kept))
    if text is not None:
        kept.documents, kept.texts = _charged(path, kept, len(text))
    found = Node(
        "file",
        member.mode,
        member.uid,
        member.gid,
        member.size,
        digest,
        capabilities=member.capabilities,
        inode=inode,
        facts=facts,
        text=text,
    )
    return Change(path, found)


def _absolute(name: str, path: str) -> str:
    """Return a name in a layer as an absolute path; names begin with ``./``, ``/`` or neither."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise TarStreamError("the name leads out of its folder by `..`", path)
    if len(name.encode()) > _MAX_PATH:
        raise TarStreamError("the name is longer than 4,096 bytes", path)
    return "/" + "/".join(parts)


def _limit(path: str, kept: _Kept) -> int:
    """Return up to which size the bytes of a file are kept: our own documents, and what loaders read."""
    if path.startswith(METADATA):
        return MAX_DOCUMENT - kept.documents
    name = posixpath.basename(path)
    if path.startswith("/etc/") or name == "ld.so.conf" or "/ld.so.conf.d/" in path or name.startswith("ld-musl-"):
        return min(_MAX_TEXT, _MAX_TEXTS - kept.texts)
    return -1


def _charged(path: str, kept: _Kept, size: int) -> tuple[int, int]:
    return (kept.documents + size, kept.texts) if path.startswith(METADATA) else (kept.documents, kept.texts + size)


def examined(
    chunks: Iterator[bytes], size: int, keep: int = -1
) -> tuple[str, Executable | ElfError | None, bytes | None]:
    """Return digest, facts where it is a program, and the bytes where there are at most ``keep`` of them."""
    hasher = hashlib.sha256()
    held: list[bytes] | None = [] if size <= keep else None
    facts: Executable | ElfError | None = None
    spool: BinaryIO | None = None
    for number, chunk in enumerate(chunks):
        hasher.update(chunk)
        if held is not None:
            held.append(chunk)
        if number == 0 and looks_executable(chunk[:4]):
            spool = BytesIO() if size <= _IN_MEMORY else tempfile.TemporaryFile()  # noqa: SIM115 -- closed below
        if spool is not None:
            spool.write(chunk)
    if spool is not None:
        with spool:
            facts = _facts(spool)
    return f"sha256:{hasher.hexdigest()}", facts, None if held is None else b"".join(held)


def _facts(stream: BinaryIO) -> Executable | ElfError | None:
    stream.seek(0)
    try:
        return examine(stream)
    except ElfError as error:
        return error.with_traceback(None)
