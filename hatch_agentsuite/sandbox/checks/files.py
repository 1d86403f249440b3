"""ASI-FS-001: the final inventory, ownership, modes, links, collisions and writable paths hold (15.2).

What the runtime base and the harness bring is theirs: set-id programs and file capabilities, which the runtime
contract takes the power from, are warnings there. In what a suite brings they are errors.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from hatch_agentsuite.findings import Category, Finding, Severity, printable
from hatch_agentsuite.jsondoc import digest_bytes
from hatch_agentsuite.sandbox import binding, inventory
from hatch_agentsuite.sandbox.checks.subject import Subject
from hatch_agentsuite.sandbox.composing import METADATA
from hatch_agentsuite.sandbox.config import INVENTORY_LABEL
from hatch_agentsuite.sandbox.filesystem import Filesystem, PathError
from hatch_agentsuite.sandbox.nodes import BASE, HARNESS, Node
from hatch_agentsuite.sandbox.sources import Sources
from hatch_agentsuite.sandbox.stacking import bounded, faults

REQUIREMENT = "ASI-FS-001"

_DEVICES = ("character-device", "block-device", "fifo")


def check(subject: Subject) -> Iterator[Finding]:
    """Yield what is wrong with the flattened file system and its inventory."""
    yield from bounded(list(faults(subject.filesystem)))
    yield from bounded(list(_inventory(subject)))
    yield from bounded([finding for path, node in subject.filesystem for finding in entry_findings(path, node)])
    yield from bounded(list(_dangling(subject.filesystem)))
    yield from bounded(list(_our_changes(subject)))
    if subject.sources is not None:
        for path in subject.sources.mount_points:
            yield from _writable(subject.filesystem, path)
        yield from _reserved(subject.sources)


def _inventory(subject: Subject) -> Iterator[Finding]:
    read = subject.document(binding.INVENTORY, "", REQUIREMENT)
    if read.finding:
        yield read.finding
    data = subject.data(binding.INVENTORY)
    if data is None:
        return
    if subject.is_agent:
        record = subject.document(binding.BINDING, "agentsuite/sandbox-binding", REQUIREMENT).value
        said = record["inventory"] if record else None
        expected = {"mediaType": inventory.MEDIA_TYPE, "digest": digest_bytes(data), "size": len(data)}
        if said is not None and said != expected:
            yield _finding(inventory.PATH, f"its descriptor is {expected}, the binding says {said}", category="digest")
    elif subject.labels.get(INVENTORY_LABEL) != digest_bytes(data):
        said = subject.labels.get(INVENTORY_LABEL)
        message = f"the inventory has the digest {digest_bytes(data)}, the label `{INVENTORY_LABEL}` says {said}"
        yield _finding(inventory.PATH, message, category="digest")
    if read.value is not None:
        yield from inventory.compare(read.value, subject.filesystem)


def entry_findings(path: str, node: Node) -> Iterator[Finding]:
    """Yield what is wrong with one entry by itself."""
    is_foreign = node.component in (BASE, HARNESS)
    severity: Severity = "warning" if is_foreign else "error"
    if node.kind in _DEVICES:
        hidden = is_foreign and path.startswith("/dev/")
        hint = "the runtime mounts a `/dev` of its own over it" if hidden else ""
        yield _finding(path, f"this is a {node.kind}", hint, severity="warning" if hidden else "error")
        return
    if node.kind == "file" and node.mode & 0o6000:
        message = f"the file is set-id (mode {node.mode:04o})"
        yield _finding(path, message, "`no_new_privs` keeps it from working", category="security", severity=severity)
    if node.kind == "file" and node.capabilities:
        yield _finding(path, "the file has capabilities of its own", category="security", severity=severity)
    if node.kind == "file" and node.mode & 0o002:
        yield _finding(path, f"the file is writable by everybody (mode {node.mode:04o})", category="security")
    elif node.kind == "file" and node.mode & 0o020 and not is_foreign:
        yield _finding(path, f"the file is writable by its group (mode {node.mode:04o})", category="security")
    if not is_foreign and (node.uid or node.gid):
        yield _finding(path, f"the owner is {node.uid}:{node.gid}; what a suite brings is root's", category="security")
    if not is_foreign and node.kind == "directory" and node.mode & 0o7022:
        message = f"the folder has the mode {node.mode:04o}; only root should write to what a suite brings"
        kind: Severity = "error" if node.mode & 0o7002 else "warning"
        yield _finding(path, message, category="security", severity=kind)


def _dangling(filesystem: Filesystem) -> Iterator[Finding]:
    for path, node in filesystem:
        if node.kind == "symlink" and node.component not in (BASE, HARNESS) and filesystem.resolve(path) is None:
            yield _finding(path, f"the symlink leads to nothing in the image (`{node.target}`)", severity="warning")


def _our_changes(subject: Subject) -> Iterator[Finding]:
    """Yield where our layer changes what is below it, which only identical entries may (9.4, 12)."""
    for change in subject.layers[-1].changes:
        there = subject.below.get(change.path)
        if change.removes or change.hardlink:
            yield _finding(change.path, "the suite's layer removes or links; it only adds")
        elif there is not None and change.node is not None and there.identity != change.node.identity:
            yield _finding(change.path, f"the suite's layer replaces what {there.component or 'the base'} has there")


def _reserved(sources: Sources) -> Iterator[Finding]:
    """Yield where a bundle installs itself into the image's own metadata."""
    for key, variant in sources.bundles():
        for item in variant["files"]:
            path = posixpath.join(variant["installRoot"], item["path"])
            if path == METADATA or path.startswith(f"{METADATA}/"):
                message = f"the bundle of `{key[0]}` {key[1]} puts it there; the folder is the image's own"
                yield _finding(path, message, category="security")


def _writable(filesystem: Filesystem, path: str) -> Iterator[Finding]:
    try:
        place = filesystem.resolve(path) or filesystem.place(path)
    except PathError as error:
        yield _finding(path, f"the writable path {error}")
        return
    node = filesystem.get(place)
    if node is None or node.kind != "directory":
        what = f"a {node.kind}" if node else "absent"
        yield _finding(path, f"the writable path is {what}; it must be an empty folder for a mount")
    elif filesystem.children(place):
        yield _finding(path, "the writable path is not empty; writable content is never part of an image")
    elif place == METADATA or place.startswith(f"{METADATA}/"):
        yield _finding(path, "the image's own metadata is never writable", category="security")


def _finding(
    path: str, message: str, hint: str = "", *, category: Category = "build", severity: Severity = "error"
) -> Finding:
    return Finding(REQUIREMENT, category, printable(path), printable(message), hint, severity)
