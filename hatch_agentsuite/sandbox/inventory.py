"""The final inventory: every entry of the flattened file system, as a document in the image.

It leaves out itself and ``binding.json``, which pins it. Entries are sorted by the bytes of their paths; of names
that are hard links of one another the first is a file and the others are ``hardlink`` entries that name it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hatch_agentsuite.documents import SCHEMA_VERSION
from hatch_agentsuite.findings import Finding, printable
from hatch_agentsuite.sandbox.filesystem import Filesystem
from hatch_agentsuite.sandbox.nodes import BASE, HARNESS, OURS

REQUIREMENT: Final = "ASI-FS-001"
MEDIA_TYPE: Final = "application/vnd.hatch-agentsuite.sandbox.inventory.v1+json"
PATH: Final = "/.agentsuite/inventory.json"
EXCLUDED: Final = frozenset({PATH, "/.agentsuite/binding.json"})

Entry = dict[str, Any]


def entries(filesystem: Filesystem) -> Iterator[Entry]:
    """Yield the inventory's entries of a file system."""
    first: dict[int, str] = {}
    for path, node in filesystem:
        if path in EXCLUDED:
            continue
        entry: Entry = {"path": path, "type": node.kind, "mode": node.mode, "uid": node.uid, "gid": node.gid}
        if node.component:
            entry["component"] = node.component
        if node.inode and node.kind != "directory" and first.setdefault(node.inode, path) != path:
            entry |= {"type": "hardlink", "linkTarget": first[node.inode]}
        elif node.kind == "file":
            entry |= {"size": node.size, "digest": node.digest}
        elif node.kind == "symlink":
            entry["linkTarget"] = node.target
        elif node.device is not None:
            entry["device"] = list(node.device)
        yield entry


def document(filesystem: Filesystem) -> dict[str, Any]:
    """Return the inventory of a file system."""
    return {"schemaVersion": SCHEMA_VERSION, "mediaType": MEDIA_TYPE, "entries": list(entries(filesystem))}


def compare(value: Any, filesystem: Filesystem) -> Iterator[Finding]:
    """Yield where an inventory and a file system differ, entry by entry."""
    if not isinstance(value, dict) or value.get("mediaType") != MEDIA_TYPE or set(value) != _MEMBERS:
        yield _finding("", "the document is no inventory: media type or members are other than they should be")
        return
    listed: dict[str, Any] = {}
    for number, item in enumerate(value["entries"] if isinstance(value["entries"], list) else ()):
        path = item.get("path") if isinstance(item, dict) else None
        if not isinstance(path, str) or path in listed:
            yield _finding(f"#/entries/{number}", "the entry has no path, or one that stands twice")
            continue
        listed[path] = item
    for entry in entries(filesystem):
        item = listed.pop(entry["path"], None)
        if item is None:
            yield _finding("", f"`{printable(entry['path'])}` is in the image and not in the inventory")
        elif item != entry:
            yield from _differences(entry, item)
    for path in listed:
        yield _finding("", f"`{printable(path)}` is in the inventory and not in the image")


_MEMBERS = {"schemaVersion", "mediaType", "entries"}


def _differences(entry: Entry, item: Entry) -> Iterator[Finding]:
    for name in sorted(entry.keys() | item.keys()):
        actual, said = entry.get(name), item.get(name)
        if actual == said:
            continue
        if name == "component" and actual == OURS and said not in (None, BASE, HARNESS):
            continue  # the layer does not say which bundle a file came with
        message = f"`{printable(entry['path'])}`: {name} is {_shown(actual)}, the inventory says {_shown(said)}"
        yield _finding("", message)


def _shown(value: object) -> str:
    return "absent" if value is None else printable(f"`{value}`")


def _finding(where: str, message: str) -> Finding:
    return Finding(REQUIREMENT, "digest", f"{PATH}{where}", message)
