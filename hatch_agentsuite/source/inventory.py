"""Payload folders: what a variant's inventory says of them, and what is packed (specification 6.2, 9.4).

Modes are normalised, so that an inventory does not depend on anybody's umask: 0755 where the owner may execute, 0644
elsewhere, 0777 for symlinks, 0755 for directories. Owners are root. Empty directories are listed, others are implied.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hatch_agentsuite.findings import printable
from hatch_agentsuite.jsondoc import DEFAULT_LIMITS
from hatch_agentsuite.paths import sort_key
from hatch_agentsuite.source.draft import Draft, Path
from hatch_agentsuite.source.members import PayloadMembers
from hatch_agentsuite.source.tree import SourceEntry, SourceTree

_quoted = json.encoder.encode_basestring  # what canonical JSON writes, too: only what must be is escaped
_MEMBERS_OF_ENTRY = {"file": 7, "directory": 5, "symlink": 6}
_BYTES_OF_ENTRY = {"file": 180, "directory": 70, "symlink": 90}


def payload_entries(tree: SourceTree, folder: str) -> list[SourceEntry]:
    """Return what an inventory of a folder lists, sorted by path bytes."""
    found = [entry for entry in tree.below(folder) if entry.kind != "directory" or not tree.children(entry.path)]
    return sorted(found, key=lambda entry: sort_key(entry.path))


def check_inventory_size(draft: Draft, where: Path, payloads: list[tuple[str, list[SourceEntry]]]) -> bool:
    """Report inventories that no manifest could hold (5.2), before anything is hashed; return whether they fit.

    ``payloads`` are payload folders, each with its entries.
    """
    kinds = Counter(entry.kind for _, payload in payloads for entry in payload)
    members = sum(_MEMBERS_OF_ENTRY.get(kind, 0) * count for kind, count in kinds.items())
    size = sum(_BYTES_OF_ENTRY.get(kind, 0) * count for kind, count in kinds.items())
    for root, payload in payloads:
        size += sum(len(entry.path.encode()) + len(entry.target) for entry in payload) - len(payload) * (len(root) + 1)
    limits = DEFAULT_LIMITS
    if members < limits.document_members and size < limits.document_bytes:
        return True
    draft.report(
        "AS-JSON-001",
        "json",
        where,
        f"the payloads have {kinds.total():,} entries, about {members:,} members and {size:,} bytes of inventory; one "
        f"manifest holds {limits.document_members:,} members and {limits.document_bytes:,} bytes (section 5.2)",
        "split the ToolProvider, or put what it needs into bundles of their own and name them under `dependencies`",
    )
    return False


def inventory(root: str, payload: list[SourceEntry], found: Iterator[tuple[int, str]]) -> list[dict[str, Any]]:
    """Return what an inventory says of the entries of a payload folder, given size and digest of each file in turn."""
    start = len(root) + 1
    return [_item(entry, entry.path[start:], found) for entry in payload]


def _item(entry: SourceEntry, path: str, found: Iterator[tuple[int, str]]) -> dict[str, Any]:
    item: dict[str, Any] = {"path": path, "type": entry.kind, "mode": _mode(entry), "uid": 0, "gid": 0}
    if entry.kind == "file":
        item["size"], item["digest"] = next(found)
    elif entry.kind == "symlink":
        item["linkTarget"] = entry.target
    return item


def packed_inventory(items: list[dict[str, Any]]) -> bytes:
    """Return the RFC 8785 bytes of what :func:`inventory` made; an encoder would have to look at everything first."""
    return f"[{','.join(map(_packed_item, items))}]".encode()


def _packed_item(item: dict[str, Any]) -> str:
    kind, mode, path = item["type"], item["mode"], _quoted(item["path"])
    if kind == "file":
        digest, size = item["digest"], item["size"]
        return f'{{"digest":"{digest}","gid":0,"mode":{mode},"path":{path},"size":{size},"type":"file","uid":0}}'
    target = f'"linkTarget":{_quoted(item["linkTarget"])},' if kind == "symlink" else ""
    return f'{{"gid":0,{target}"mode":{mode},"path":{path},"type":"{kind}","uid":0}}'


def settle_inventory(tree: SourceTree, draft: Draft, where: Path, computed: list[dict[str, Any]]) -> None:
    """Fill ``files`` in, or hold a written inventory against what was computed from the payload folder.

    A written entry may leave out what the folder tells, may add its ``component``, and may have another mode than the
    normalised one, as long as it is executable or not as the file is.
    """
    written = draft.at((*where, "files"))
    if written is None:
        draft.settle((*where, "files"), computed, "the payload folder")
        return
    missing = {item["path"]: item for item in computed}
    for index, item in enumerate(written):
        place = (*where, "files", index)
        path = item.get("path", "")
        found = missing.pop(path, None)
        if found is not None:
            _settle_entry(draft, place, item, found)
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


def _settle_entry(draft: Draft, place: Path, item: dict[str, Any], computed: dict[str, Any]) -> None:
    mode = item.get("mode")
    if isinstance(mode, int) and bool(mode & 0o111) == bool(computed["mode"] & 0o111):
        computed["mode"] = mode
    for key, value in computed.items():
        draft.settle((*place, key), value, "the payload folder")


def payload_members(tree: SourceTree, variant: dict[str, Any]) -> PayloadMembers:
    """Return what is packed for a variant: exactly the entries of its inventory."""
    root, items = variant["payloadRoot"], variant["files"]
    # the tree's own texts, which need not be held twice
    paths = [tree.entries[f"{root}/{item['path']}"].path for item in items]
    return PayloadMembers(tree.root, paths, items)


def _mode(source: SourceEntry) -> int:
    if source.kind == "symlink":
        return 0o777
    return 0o755 if source.kind == "directory" or source.is_executable else 0o644
