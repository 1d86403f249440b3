"""Our own layer: bundles at their install roots, documents below ``/.agentsuite/``, empty mount points.

A destination below a symlink of the base or the harness is resolved inside their file system and written where the
link leads, never through it; one that leads nowhere is refused. What is there already must be identical.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from hatch_agentsuite.findings import Finding, printable
from hatch_agentsuite.jsondoc import digest_bytes
from hatch_agentsuite.regular import read_regular
from hatch_agentsuite.sandbox.filesystem import IMPLIED, ROOT, Filesystem, PathError
from hatch_agentsuite.sandbox.layers import examined
from hatch_agentsuite.sandbox.nodes import OURS, Node
from hatch_agentsuite.sandbox.stacking import REQUIREMENT, bounded, difference
from hatch_agentsuite.validation.suite import ProviderKey

METADATA: Final = "/.agentsuite"
DIRECTORY: Final = Node("directory", 0o755, component=OURS)

Source: TypeAlias = "bytes | Path | None"


@dataclass(frozen=True)
class Planned:
    """An entry of our layer and where its bytes come from; ``implied`` folders take over what is there."""

    node: Node
    source: Source = None
    implied: bool = False


class Plan:
    """What our layer adds to a file system, gathered entry by entry; collisions are findings."""

    def __init__(self, below: Filesystem) -> None:
        self._below = below
        self._entries: dict[str, Planned] = {}
        self._findings: list[Finding] = []
        if below.get(METADATA) is not None:
            self._refuse(METADATA, "the runtime base or the harness has it already; the path is the image's own")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What collides, all of it."""
        return bounded(self._findings)

    @property
    def entries(self) -> list[tuple[str, Planned]]:
        """The entries in the order of the archive: sorted, parents before children."""
        return sorted(self._entries.items(), key=lambda item: item[0].encode())

    def add(self, path: str, node: Node, source: Source = None) -> str | None:
        """Add an entry at an absolute path; return where it lands, or None where it cannot."""
        try:
            place = self._below.place(path)
        except PathError as error:
            self._refuse(path, f"the path {error}")
            return None
        if not self._make_folders(posixpath.dirname(place), path, node.component):
            return None
        known = self._entries.get(place)
        if known is not None and known.implied and node.kind == "directory":
            known = None
        there = known.node if known is not None else self._below.get(place)
        if there is None:
            self._entries[place] = Planned(node, source)
        elif there.identity != node.identity:
            owner = there.component or "the base"
            self._refuse(path, f"{owner} and {node.component} put different entries there: {difference(there, node)}")
        return place

    def folder(self, path: str, component: str) -> None:
        """Add a folder whose mode nothing declares; one that is there stays as it is."""
        try:
            place = self._below.place(posixpath.join(path, "_"))
        except PathError as error:
            self._refuse(path, f"the path {error}")
            return
        self._make_folders(posixpath.dirname(place), path, component)

    def mount_point(self, path: str) -> None:
        """Make an empty folder for a mount, unless there is one; whatever has something in it is refused (12)."""
        try:
            place = self._below.place(path)
            there = self._below.get(place)
            if there is not None and there.kind == "symlink":
                place = self._below.resolve(place) or place
        except PathError as error:
            self._refuse(path, f"the writable path {error}")
            return
        planned = self._entries.get(place)
        node = planned.node if planned else self._below.get(place)
        if node is None:
            self.add(place, DIRECTORY)
        elif node.kind != "directory":
            self._refuse(path, f"the writable path is a {node.kind}; it must be an empty folder for a mount")
        elif self._below.children(place) or self._has_below(place):
            self._refuse(path, "the writable path is not empty; writable content is never part of an image")

    def _has_below(self, folder: str) -> bool:
        prefix = folder.rstrip("/") + "/"
        return any(path.startswith(prefix) for path in self._entries)

    def _make_folders(self, folder: str, path: str, component: str) -> bool:
        """Plan the folders above an entry; those of the base are said again, so that no engine changes them."""
        chain = []
        while folder != ROOT:
            chain.append(folder)
            folder = posixpath.dirname(folder)
        for name in reversed(chain):
            planned = self._entries.get(name)
            if planned is not None:
                if planned.node.kind != "directory":
                    self._refuse(path, f"the entry lies below `{name}`, where there is a {planned.node.kind}")
                    return False
                continue
            there = self._below.get(name)
            self._entries[name] = Planned(there or IMPLIED._replace(component=component), implied=True)
        return True

    def _refuse(self, path: str, message: str) -> None:
        self._findings.append(Finding(REQUIREMENT, "build", printable(path), printable(message)))

    def applied(self) -> Filesystem:
        """Return the file system with the planned entries in it."""
        final = self._below.copy()
        for path, planned in self.entries:
            if not (planned.implied and final.get(path) is not None):
                final.put(path, planned.node)
        return final


def add_document(plan: Plan, path: str, data: bytes) -> None:
    """Plan a document or text of ours: root's, readable by everybody, writable by nobody else."""
    node = Node("file", 0o644, size=len(data), digest=digest_bytes(data), component=OURS, text=data)
    plan.add(f"{METADATA}/{path}", node, data)


def add_bundle(plan: Plan, key: ProviderKey, variant: dict[str, Any], files: dict[str, Path]) -> None:
    """Plan the payload of a bundle; ``files`` are the bytes of content paths. Hard links become files of their own."""
    component = f"{key[0]}@{key[1]}"
    root, payload = variant["installRoot"], variant["payloadRoot"]
    plan.folder(root, component)
    for item in sorted(variant["files"], key=lambda item: item["path"].encode()):
        path = posixpath.join(root, item["path"])
        if item["type"] == "directory":
            plan.add(path, Node("directory", item["mode"], component=component))
        elif item["type"] == "symlink":
            plan.add(path, Node("symlink", 0o777, target=item["linkTarget"], component=component))
        else:
            content = item["linkTarget"] if item["type"] == "hardlink" else f"{payload}/{item['path']}"
            source = files[content]
            size = source.stat().st_size
            digest, facts, text = examined(read_regular(source), size)
            node = Node("file", item["mode"], 0, 0, size, digest, component=component, facts=facts, text=text)
            plan.add(path, node, source)


def chunks(planned: Planned) -> Iterator[bytes]:
    """Yield the bytes of a planned file."""
    if isinstance(planned.source, bytes):
        yield planned.source
    elif planned.source is not None:
        yield from read_regular(planned.source)
