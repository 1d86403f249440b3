"""Payload folders: what a variant's inventory says of them, and what is packed (specification 6.2, 9.4).

Modes are normalised, so that an inventory does not depend on anybody's umask: 0755 where the owner may execute, 0644
elsewhere, 0777 for symlinks, 0755 for directories. Owners are root. Empty directories are listed, others are implied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from hatch_agentsuite.archive.gzip import default_workers
from hatch_agentsuite.archive.layer import Member
from hatch_agentsuite.content import CHUNK, Entry, EntryType, hash_file
from hatch_agentsuite.findings import printable
from hatch_agentsuite.jsondoc import DEFAULT_LIMITS
from hatch_agentsuite.paths import sort_key
from hatch_agentsuite.source.draft import Draft, Path
from hatch_agentsuite.source.tree import SourceEntry, SourceTree

Progress = Callable[[int], None]

_MEMBERS_OF_ENTRY = {"file": 7, "directory": 5, "symlink": 6}
_BYTES_OF_ENTRY = {"file": 180, "directory": 70, "symlink": 90}


class PayloadEntry(NamedTuple):
    """An entry of a payload folder; ``path`` is relative to the folder, ``digest`` known once it was hashed."""

    path: str
    source: SourceEntry
    digest: str = ""

    def to_inventory(self) -> dict[str, Any]:
        """Return the entry as an inventory says it."""
        kind = self.source.kind
        item: dict[str, Any] = {"path": self.path, "type": kind, "mode": _mode(self.source), "uid": 0, "gid": 0}
        if kind == "file":
            item["size"] = self.source.size
            item["digest"] = self.digest
        elif kind == "symlink":
            item["linkTarget"] = self.source.target
        return item


def payload_entries(tree: SourceTree, folder: str) -> list[PayloadEntry]:
    """Return what an inventory of a folder lists, sorted by path bytes, not yet hashed."""
    found = [
        PayloadEntry(entry.path[len(folder) + 1 :], entry)
        for entry in tree.below(folder)
        if entry.kind != "directory" or not tree.children(entry.path)
    ]
    return sorted(found, key=lambda item: sort_key(item.path))


def check_inventory_size(draft: Draft, where: Path, payloads: list[list[PayloadEntry]]) -> bool:
    """Report an inventory that no manifest could hold (5.2), before anything is hashed; return whether it fits."""
    kinds = [entry.source.kind for payload in payloads for entry in payload]
    members = sum(_MEMBERS_OF_ENTRY.get(kind, 0) for kind in kinds)
    size = sum(_BYTES_OF_ENTRY.get(kind, 0) for kind in kinds)
    size += sum(len(entry.path.encode()) + len(entry.source.target) for payload in payloads for entry in payload)
    limits = DEFAULT_LIMITS
    if members < limits.document_members and size < limits.document_bytes:
        return True
    draft.report(
        "AS-JSON-001",
        "json",
        where,
        f"the payloads have {len(kinds):,} entries, about {members:,} members and {size:,} bytes of inventory; one "
        f"manifest holds {limits.document_members:,} members and {limits.document_bytes:,} bytes (section 5.2)",
        "split the ToolProvider, or put what it needs into bundles of their own and name them under `dependencies`",
    )
    return False


def hash_entries(
    tree: SourceTree, payload: list[PayloadEntry], workers: int | None, progress: Progress | None
) -> list[PayloadEntry]:
    """Return the entries with the digests of their files; large files are hashed on all cores.

    Small ones are not: threads that contend for the interpreter take several times as long. Raises :class:`OSError` for
    a file that cannot be read; its name is the file's.
    """
    root = str(tree.root)

    def hashed(entry: PayloadEntry) -> PayloadEntry:
        source = entry.source
        if source.kind != "file":
            return entry
        size, digest = hash_file(f"{root}/{source.path}")
        if progress:
            progress(size)
        return PayloadEntry(entry.path, source if size == source.size else source._replace(size=size), digest)

    large = [entry for entry in payload if entry.source.size >= CHUNK]
    with ThreadPoolExecutor(workers or default_workers(), thread_name_prefix="hash") as pool:
        done = {entry.path: entry for entry in pool.map(hashed, large)}
    return [done.get(entry.path) or hashed(entry) for entry in payload]


def settle_inventory(tree: SourceTree, draft: Draft, where: Path, payload: list[PayloadEntry]) -> None:
    """Fill ``files`` in, or hold a written inventory against the payload folder.

    A written entry may leave out what the folder tells, may add its ``component``, and may have another mode than the
    normalised one, as long as it is executable or not as the file is.
    """
    written = draft.at((*where, "files"))
    if written is None:
        draft.settle((*where, "files"), [entry.to_inventory() for entry in payload], "the payload folder")
        return
    missing = {entry.path: entry for entry in payload}
    for index, item in enumerate(written):
        place = (*where, "files", index)
        path = item.get("path", "")
        entry = missing.pop(path, None)
        if entry is not None:
            _settle_entry(draft, place, item, entry)
        elif item.get("type") != "directory" or tree.kind(f"{draft.at(where)['payloadRoot']}/{path}") != "directory":
            draft.report("AS-PROVIDER-001", "tool-provider", place, f"`{printable(path)}` is not in the payload folder")
    for path in missing:
        draft.report(
            "AS-PROVIDER-001",
            "tool-provider",
            (*where, "files"),
            f"`{printable(path)}` is in the payload folder, but not in the written inventory",
            "add it, or leave `files` out to have it computed",
        )


def _settle_entry(draft: Draft, place: Path, item: dict[str, Any], entry: PayloadEntry) -> None:
    computed = entry.to_inventory()
    mode = item.get("mode")
    if isinstance(mode, int) and bool(mode & 0o111) == bool(computed["mode"] & 0o111):
        computed["mode"] = mode
    for key, value in computed.items():
        draft.settle((*place, key), value, "the payload folder")


def payload_members(tree: SourceTree, root: str, variant: dict[str, Any]) -> Iterator[Member]:
    """Yield what is packed for a variant: exactly the entries of its inventory."""
    for item in variant["files"]:
        kind: EntryType = item["type"]
        path = f"{root}/{item['path']}"
        entry = Entry(
            path,
            kind,
            item["mode"],
            size=item.get("size", 0),
            digest=item.get("digest"),
            link_target=item.get("linkTarget"),
        )
        yield Member(entry, tree.root if kind == "file" else None)


def _mode(source: SourceEntry) -> int:
    if source.kind == "symlink":
        return 0o777
    return 0o755 if source.kind == "directory" or source.is_executable else 0o644
