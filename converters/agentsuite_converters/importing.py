"""Import: documents of other formats become agents of an authoring tree that builds without an edit.

Everything is computed before a file is written: :func:`import_documents` returns the files of the tree, and
:mod:`.writing` puts them in place, all or none.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentsuite_converters.converting import absorb, keep_rest, publish
from agentsuite_converters.document import dump
from agentsuite_converters.members import member, text
from agentsuite_converters.places import leaves
from agentsuite_converters.relations import Edges, relate
from agentsuite_converters.report import Note, Route, is_kept
from agentsuite_converters.storage import store
from agentsuite_converters.toolservers import provide
from hatch_agentsuite.configuration import is_identifier
from hatch_agentsuite.documents import PLACEHOLDER_REGISTRY, profile_path
from hatch_agentsuite.findings import Finding, RefusedError, pointer, printable
from hatch_agentsuite.jsondoc import DEFAULT_LIMITS, JSONDocumentError, canonical, loads
from hatch_agentsuite.paths import PathSet, path_fault

if TYPE_CHECKING:
    from agentsuite_converters.converting import Absorbed
    from agentsuite_converters.formats import ForeignFormat
    from agentsuite_converters.profile import AgentProfile
    from agentsuite_converters.storage import StoredAgent
    from hatch_agentsuite.documents import JSONObject

_ZERO = "0" * 64
_PLATFORMS = ("amd64", "arm64")
_EPOCH = 1_767_225_600


@dataclass(frozen=True)
class ImportOptions:
    """What documents leave open.

    ``model_protocol``, ``model`` and ``instructions`` (a text) are used where a document says none; a protocol that is
    given wins over a provider's name, which stays in the profile. ``ids`` are agent ids by the document's own id or its
    file's name. ``public`` are further capabilities to publish, ``invoke_relations`` the kinds of relationships that
    become permissions to invoke. ``tool_schemas`` is a folder of ``<server>/<tool>.json``.
    """

    model_protocol: str = ""
    model: str = ""
    instructions: str | None = None
    ids: Mapping[str, str] = field(default_factory=dict)
    public: frozenset[str] = frozenset()
    invoke_relations: frozenset[str] = frozenset()
    tool_schemas: Path | None = None


@dataclass(frozen=True)
class ImportedAgent:
    """An agent of an import: its id, the document, and what to say: of places in it, of places in the profile."""

    id: str
    source: str
    kept: tuple[str, ...]
    notes: tuple[Note, ...]


@dataclass
class Imported:
    """The outcome of an import: files by path in the authoring tree, endpoints by their identifier, and what to say.

    ``changed`` are paths of files that the tree had and whose edges were worked out anew.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    endpoints: dict[str, str] = field(default_factory=dict)
    agents: list[ImportedAgent] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    changed: frozenset[str] = frozenset()


def import_documents(form: ForeignFormat, paths: Sequence[Path], tree: Path, options: ImportOptions) -> Imported:
    """Return what documents of one format are in the authoring tree at ``tree``, which need not exist.

    Raises :class:`RefusedError` with everything that is wrong with any of them.
    """
    outcome = Imported()
    problems: list[Finding] = []
    brought: dict[str, tuple[ImportedAgent, AgentProfile, StoredAgent]] = {}
    idle = set(options.ids) - {""}
    for path in paths:
        try:
            told, agent, stored = _one(form, path, options, outcome.warnings)
        except RefusedError as error:
            problems += error.findings
            continue
        if told.id in brought:
            problems.append(_twin(form, path, told.id, brought[told.id][0].source))
        brought[told.id] = (told, agent, stored)
        idle -= {text(agent.value, "identifier"), path.name, str(path)}
    if idle and not problems:
        problems = [_nobody(form, name) for name in sorted(idle)]
    if problems:
        raise RefusedError(*problems)
    edges = relate(tree, [agent for _, agent, _ in brought.values()], options.invoke_relations)
    outcome.warnings += edges.warnings
    outcome.files |= edges.files
    outcome.changed = frozenset(edges.files)
    for told, agent, stored in brought.values():
        notes = _add(outcome, agent, stored, edges, options)
        outcome.agents.append(replace(told, notes=(*told.notes, *notes)))
    outcome.files |= _build_profile(tree, outcome)
    _refuse_paths(form, outcome.files)
    _refuse_yaml(form, tree, outcome.files)
    return outcome


def _one(
    form: ForeignFormat, path: Path, options: ImportOptions, warnings: list[Finding]
) -> tuple[ImportedAgent, AgentProfile, StoredAgent]:
    document, files, findings = form.load(path)
    warnings += findings
    absorbed = absorb(form, document, files)
    agent = absorbed.agent
    agent.value["id"] = _identifier(form, path, agent, options)
    unknown = publish(form, agent, options.public)
    _complete(form, path, agent, options)
    keep_rest(form, absorbed, document)
    stored = store(agent)
    _check_size(form, path, stored)
    return _told(path, absorbed, document, unknown), agent, stored


def _identifier(form: ForeignFormat, path: Path, agent: AgentProfile, options: ImportOptions) -> str:
    original = text(agent.value, "identifier")
    chosen = next((options.ids[key] for key in (original, path.name, str(path), "") if key in options.ids), agent.id)
    if not is_identifier(chosen):
        message = f"`{printable(chosen)}` is no identifier of a suite"
        raise RefusedError(Finding(f"{form.prefix}-SUPPLY-001", "graph", str(path), message, "give --id ORIGINAL=ID"))
    return chosen


def _twin(form: ForeignFormat, path: Path, name: str, other: str) -> Finding:
    message = f"this agent and that of {other} would both be `{name}` in the suite"
    hint = f"give one of them another id: --id {path.name}=ID"
    return Finding(f"{form.prefix}-SUPPLY-001", "graph", printable(str(path)), message, hint)


def _nobody(form: ForeignFormat, name: str) -> Finding:
    message = f"no document has the id or the file name `{printable(name)}`, for which --id gives one"
    return Finding(f"{form.prefix}-SUPPLY-001", "graph", "", message)


def _complete(form: ForeignFormat, path: Path, agent: AgentProfile, options: ImportOptions) -> None:
    """Supply model and instructions where a document has none; what is still missing is asked for by name."""
    value = agent.value
    model: JSONObject = dict(member(value, "model"))
    provider = text(model, "provider")
    model["protocol"] = options.model_protocol or provider
    model.setdefault("name", options.model)
    if provider == model["protocol"]:
        model.pop("provider", None)
    value["model"] = model
    if options.instructions is not None:
        value.setdefault("prompt", options.instructions)
    lacks = {
        "a model protocol": ("--model-protocol PROTOCOL", bool(model["protocol"])),
        "a model": ("--model MODEL", bool(model["name"])),
        "instructions": ("--instructions FILE", "prompt" in value),
    }
    missing = [
        Finding(f"{form.prefix}-SUPPLY-001", "graph", printable(str(path)), f"a suite needs {what}", f"give {option}")
        for what, (option, is_there) in lacks.items()
        if not is_there
    ]
    if missing:
        raise RefusedError(*missing)


def _check_size(form: ForeignFormat, path: Path, stored: StoredAgent) -> None:
    """Refuse a document that fits the limits of a document, but whose profile would not (specification 5.2)."""
    try:
        loads(canonical(stored.profile))
    except JSONDocumentError as error:
        message = f"the document is too large for the profile of an agent: {error.message}"
        found = Finding(f"{form.prefix}-JSON-001", "json", printable(str(path)), message, "nest less, or say less")
        raise RefusedError(found) from None


def _refuse_paths(form: ForeignFormat, files: Mapping[str, bytes]) -> None:
    """Refuse files that a suite cannot hold, by the length of their path or beside each other (specification 5.2)."""
    known = PathSet()
    faults = {path: path_fault(path) or known.add(path, "file") for path in sorted(files)}
    problems = [
        Finding(f"{form.prefix}-FILE-001", "path", printable(path), f"in the suite the path {fault}", "rename the file")
        for path, fault in faults.items()
        if fault
    ]
    if problems:
        raise RefusedError(*problems)


def _refuse_yaml(form: ForeignFormat, tree: Path, files: Mapping[str, bytes]) -> None:
    """Refuse documents that the tree has as YAML: two files of one document do not build."""
    problems = []
    for path in files:
        stem, suffix = posixpath.splitext(path)
        is_verbatim = path.startswith("metadata/profiles/") and "/files/" in path
        for other in (f"{stem}.yaml", f"{stem}.yml") if suffix == ".json" and not is_verbatim else ():
            if os.path.lexists(tree / other):
                message = f"the tree has this document already, and not as `{posixpath.basename(path)}`"
                hint = "remove it, or give the agent another id by --id"
                problems.append(Finding(f"{form.prefix}-SUPPLY-001", "path", other, message, hint))
    if problems:
        raise RefusedError(*problems)


def _told(path: Path, absorbed: Absorbed, document: JSONObject, unknown: set[str]) -> ImportedAgent:
    route = Route(absorbed.passage.steps, absorbed.passage.refused)
    kept = [
        pointer(*leaf)
        for leaf in leaves(document)
        if (arrivals := route.follow(leaf)) and all(is_kept(arrival.place) for arrival in arrivals)
    ]
    notes = [
        Note("/capabilities", f"`{name}` is none of its capabilities, so it is not public") for name in sorted(unknown)
    ]
    return ImportedAgent(absorbed.agent.id, printable(str(path)), tuple(kept), tuple(notes))


def _add(
    outcome: Imported, agent: AgentProfile, stored: StoredAgent, edges: Edges, options: ImportOptions
) -> list[Note]:
    """Add the files of one agent and of its ToolProviders; return what is to be said of the latter."""
    provided = provide(agent, stored.profile, options.tool_schemas)
    invokes = {"invokes": edges.of[agent.id]} if edges.of.get(agent.id) else {}
    outcome.files[f"agents/{agent.id}.json"] = dump({**stored.manifest, **invokes})
    outcome.files[profile_path(agent.id)] = _written(stored.profile)
    outcome.files |= stored.files | provided.files
    outcome.endpoints |= provided.endpoints
    return provided.notes


def _written(profile: JSONObject) -> bytes:
    """Return a profile as people read it, or in one line where it would be too large for a document otherwise."""
    data = dump(profile)
    return data if len(data) <= DEFAULT_LIMITS.document_bytes else canonical(profile)


def _build_profile(tree: Path, outcome: Imported) -> dict[str, bytes]:
    """Return a build profile of placeholders for a tree that has none; packing recognises and reports them."""
    folder = tree / "build-profiles"
    if folder.is_dir() and any(folder.iterdir()):
        return {}
    path = "build-profiles/default.json"
    message = "the images are placeholders; no sandbox image can be built until they are pinned"
    outcome.warnings.append(
        Finding("SOURCE-PLACEHOLDER-001", "build", path, message, "pin the images that you use", "warning")
    )
    images: dict[str, Any] = {name: _placeholders(name) for name in ("runtimeBase", "harness")}
    return {path: dump({**images, "sourceEpoch": _EPOCH})}


def _placeholders(name: str) -> list[dict[str, Any]]:
    repository = "runtime-base" if name == "runtimeBase" else name
    return [
        {
            "platform": {"os": "linux", "architecture": architecture},
            "imageRef": f"{PLACEHOLDER_REGISTRY}/{repository}@sha256:{_ZERO}",
            "image": {
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "digest": f"sha256:{_ZERO}",
                "size": 1,
            },
        }
        for architecture in _PLATFORMS
    ]
