"""The runtime base and the harness, one upon the other, and where they collide.

A harness that is built on the base (its layers begin with all of the base's) is what its publisher pinned: what its
further layers change or remove is as it should be. Two images that are not, are two file systems that must agree
wherever both have something; a folder in both is no collision when mode and owner are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hatch_agentsuite.findings import Finding, printable
from hatch_agentsuite.sandbox.filesystem import Filesystem
from hatch_agentsuite.sandbox.nodes import BASE, HARNESS, Layer, Node

REQUIREMENT = "ASI-FS-001"
MAX_FINDINGS = 1_000


@dataclass(frozen=True)
class Stacked:
    """The layers of both images, shared ones once, and their file system."""

    filesystem: Filesystem
    base: tuple[Layer, ...]
    harness: tuple[Layer, ...]
    findings: tuple[Finding, ...]

    @property
    def layers(self) -> tuple[Layer, ...]:
        """All layers, lowest first."""
        return (*self.base, *self.harness)


def stack(base: list[Layer], harness: list[Layer]) -> Stacked:
    """Return base and harness stacked, every fault and collision a finding."""
    shared = 0
    for below, above in zip(base, harness, strict=False):
        if below.diff_id != above.diff_id:
            break
        shared += 1
    rest = harness[shared:]
    lower = flattened(base, BASE)
    final = lower.copy()
    for layer in rest:
        final.apply(layer, HARNESS)
    findings = list(faults(final))
    if rest and shared < len(base):
        findings.extend(_collisions(lower, flattened(harness, HARNESS), final))
    return Stacked(final, tuple(base), tuple(rest), bounded(findings))


def flattened(layers: list[Layer], component: str) -> Filesystem:
    """Return the file system of some layers."""
    found = Filesystem()
    for layer in layers:
        found.apply(layer, component)
    return found


def faults(filesystem: Filesystem) -> Iterator[Finding]:
    """Yield what was wrong with the layers that a file system is made of."""
    for path, message in filesystem.faults:
        yield Finding(REQUIREMENT, "path", printable(path), message)


def bounded(findings: list[Finding]) -> tuple[Finding, ...]:
    """Return the findings, or the first of far too many and one that says so."""
    if len(findings) <= MAX_FINDINGS:
        return tuple(findings)
    more = f"there are {len(findings) - MAX_FINDINGS:,} more findings of this kind"
    return (*findings[:MAX_FINDINGS], Finding(REQUIREMENT, "build", "", more))


def _collisions(base: Filesystem, harness: Filesystem, final: Filesystem) -> Iterator[Finding]:
    for path, node in harness:
        other = base.get(path)
        if other is not None and other.identity != node.identity and path != "/":
            message = f"the runtime base and the harness put different entries there: {difference(other, node)}"
            hint = "build the harness on the runtime base, or let both agree"
            yield Finding(REQUIREMENT, "build", printable(path), message, hint)
    for path, _ in base:
        if final.get(path) is None and harness.get(path) is None:
            yield Finding(REQUIREMENT, "build", printable(path), "a layer of the harness removes it from the base")


def difference(one: Node, other: Node) -> str:
    """Say in what two nodes differ, the first of what matters."""
    if one.kind != other.kind:
        return f"a {one.kind} and a {other.kind}"
    if one.digest != other.digest or one.size != other.size:
        return f"files of {one.size:,} and {other.size:,} bytes with different content"
    if one.target != other.target:
        return f"links to `{printable(one.target)}` and `{printable(other.target)}`"
    if one.mode != other.mode:
        return f"modes {one.mode:04o} and {other.mode:04o}"
    if (one.uid, one.gid) != (other.uid, other.gid):
        return f"owners {one.uid}:{one.gid} and {other.uid}:{other.gid}"
    return "different device numbers or file capabilities"
