"""Relationships between agents and the permissions to invoke that follow from them (specification 8.1).

A relationship is a description, an edge of the invocation graph a permission: only the kinds that somebody names become
edges. They are worked out anew on every import, between the agents that it brings and those that the tree has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentsuite_converters.document import dump
from agentsuite_converters.members import member, text
from hatch_agentsuite.documents import profile_path
from hatch_agentsuite.findings import Finding
from hatch_agentsuite.jsondoc import DEFAULT_LIMITS, JSONDocumentError, loads
from hatch_agentsuite.regular import open_regular
from hatch_agentsuite.yamldoc import YAMLDocumentError
from hatch_agentsuite.yamldoc import loads as load_yaml

if TYPE_CHECKING:
    from agentsuite_converters.profile import AgentProfile
    from hatch_agentsuite.documents import JSONObject

_BOUNDS = {"maxConcurrent": 1, "maxDepth": 1}


@dataclass
class Edges:
    """The edges of imported agents by agent, changed manifests of agents that were there, and what to say."""

    of: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    warnings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class _Known:
    """An agent that the tree has: the file of its manifest, and both documents."""

    file: str
    manifest: dict[str, Any]
    profile: dict[str, Any]


def relate(tree: Path, imported: Sequence[AgentProfile], kinds: frozenset[str]) -> Edges:
    """Return the edges that relationships of the named kinds are, with bounds of 1 where nobody chose others.

    An agent of the tree gets edges to imported agents and loses those that no longer follow; its other edges stay.
    """
    edges = Edges()
    brought = {agent.id: agent for agent in imported}
    known = {name: agent for name, agent in _known(tree) if name not in brought}
    names = {text(agent.profile, "identifier"): name for name, agent in known.items()}
    names |= {text(agent.value, "identifier"): name for name, agent in brought.items()}
    names.pop("", None)  # agents that have no id of their own
    before = dict(_known(tree))
    for name, agent in brought.items():
        targets = _targets(agent.value, names, name, kinds)
        written = before[name].manifest.get("invokes", []) if name in before else []
        edges.of[name] = [_edge(target, written) for target in targets]
    for name, stored in known.items():
        _update(edges, name, stored, names, set(brought), kinds)
    return edges


def _targets(value: JSONObject, names: dict[str, str], own: str, kinds: frozenset[str]) -> list[str]:
    related = member(value, "relationships")
    found = {names[other] for other, kind in related.items() if kind in kinds and other in names}
    return sorted(found - {own})


def _edge(target: str, written: list[dict[str, Any]]) -> dict[str, Any]:
    return next((dict(edge) for edge in written if edge.get("agent") == target), {"agent": target, **_BOUNDS})


def _update(
    edges: Edges, name: str, stored: _Known, names: dict[str, str], brought: set[str], kinds: frozenset[str]
) -> None:
    """Work out the edges of an agent that was there, to those that come; nothing is done where nothing changes."""
    related = {names[other] for other in member(stored.profile, "relationships") if other in names} & brought
    if not related:
        return
    written = stored.manifest.get("invokes", [])
    wanted = [target for target in _targets(stored.profile, names, name, kinds) if target in brought]
    kept = [edge for edge in written if edge.get("agent") not in related]
    made = sorted([*kept, *(_edge(target, written) for target in wanted)], key=lambda edge: str(edge.get("agent")))
    if made == sorted(written, key=lambda edge: str(edge.get("agent"))):
        return
    if not stored.file.endswith(".json"):
        message = f"its relationships ask for edges to {', '.join(f'`{target}`' for target in wanted) or 'nobody'}"
        hint = "change `invokes` yourself: a YAML file is not rewritten"
        edges.warnings.append(Finding("PROFILE-EDGE-001", "graph", stored.file, message, hint, "warning"))
        return
    manifest = {key: value for key, value in stored.manifest.items() if key != "invokes"}
    edges.files[stored.file] = dump({**manifest, "invokes": made} if made else manifest)


def _known(tree: Path) -> Iterator[tuple[str, _Known]]:
    """Yield the agents of a tree that have a profile; what cannot be read is for packing to refuse."""
    folder = tree / "agents"
    for file in sorted(folder.iterdir()) if folder.is_dir() else []:
        manifest = _document(file)
        profile = _profile(tree, file.stem)
        if manifest is not None and profile is not None:
            yield file.stem, _Known(f"agents/{file.name}", manifest, profile)


def _profile(tree: Path, name: str) -> dict[str, Any] | None:
    stem = tree / profile_path(name).removesuffix(".json")
    for suffix in (".json", ".yaml", ".yml"):
        found = _document(stem.with_name(stem.name + suffix))
        if found is not None:
            return found
    return None


def _document(file: Path) -> dict[str, Any] | None:
    try:
        with open_regular(file) as stream:
            data = stream.read(DEFAULT_LIMITS.document_bytes + 1)
        value = loads(data) if file.suffix == ".json" else load_yaml(data).value
    except (OSError, JSONDocumentError, YAMLDocumentError):
        return None
    return value if isinstance(value, dict) else None
