"""Documents taken into a suite and out again, as the commands do it, and what a valid suite has to be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentsuite_converters.converting import Absorbed, absorb, keep_rest
from agentsuite_converters.exporting import Exported, export_agent
from agentsuite_converters.formats import ForeignFormat
from agentsuite_converters.importing import Imported, ImportOptions, import_documents
from agentsuite_converters.profile import AgentProfile
from agentsuite_converters.storage import load, store
from agentsuite_converters.suites import read_suite
from agentsuite_converters.writing import write_files
from hatch_agentsuite.jsondoc import canonical, loads
from hatch_agentsuite.source import Options, Resolved, resolve
from tests.converters.agents import Agent

Json = dict[str, Any]

SUPPLIED = ImportOptions(model_protocol="openai-chat", model="example-model", instructions="Answer in one sentence.\n")
"""What every document lacks at times; a protocol that is given wins over the provider's name."""

BUILD = Options(default_name="demo")


def remembered(agent: Agent) -> tuple[Absorbed, AgentProfile]:
    """Return an agent as it is absorbed, and as it is read back from the documents that store it, all in memory."""
    absorbed = absorb(agent.form, agent.document, agent.files)
    complete(absorbed.agent)
    keep_rest(agent.form, absorbed, agent.document)
    stored = store(absorbed.agent)
    name = absorbed.agent.id
    folder = f"metadata/profiles/{name}/files/"
    files = {path.removeprefix(folder): data for path, data in stored.files.items() if path.startswith(folder)}
    manifest = {**stored.manifest, "id": name, "instructions": {"path": f"instructions/{name}.md"}}
    prompt = stored.files[f"instructions/{name}.md"]
    return absorbed, load(through_bytes(manifest), through_bytes(stored.profile), prompt, files, {})


def complete(agent: AgentProfile) -> None:
    """Supply what a suite needs and a document may not say."""
    model: Any = agent.value.setdefault("model", {})
    model.update(protocol="openai-chat")
    model.setdefault("name", "example-model")
    agent.value.setdefault("prompt", "Answer in one sentence.\n")


def through_bytes(value: Any) -> Any:
    """Return a value as it is read back once it was written; fails where the strict profile refuses it."""
    return loads(canonical(value))


def imported(
    form: ForeignFormat, documents: list[Path], tree: Path, options: ImportOptions = SUPPLIED, *, force: bool = False
) -> Imported:
    """Import documents into a tree."""
    made = import_documents(form, documents, tree, options)
    write_files(tree, made.files, force=force, own=made.changed)
    return made


def exported(suite: Path, form: ForeignFormat, supplies: Mapping[Any, Any] | None = None) -> dict[str, Exported]:
    """Export every agent of a suite."""
    return {name: export_agent(form, agent, supplies or {}) for name, agent in read_suite(suite).items()}


def only(suite: Path, form: ForeignFormat) -> Exported:
    """Export the one agent of a suite."""
    (found,) = exported(suite, form).values()
    return found


def resolved(tree: Path) -> Resolved:
    """Return a tree as packing resolves it; fails where packing would refuse it."""
    return resolve(tree, BUILD)


def content(tree: Path) -> dict[str, bytes]:
    """Return the files of the content layer that a tree makes, by path."""
    members = resolved(tree).members
    return {member.entry.path: _bytes(member) for member in members if member.entry.type == "file"}


def _bytes(member: Any) -> bytes:
    if isinstance(member.source, bytes):
        return member.source
    return bytes((member.source / member.entry.path).read_bytes())


def files_below(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder by path, none where it is absent."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def edit(path: Path) -> Json:
    """Return a JSON document of a tree, to be changed and written by :func:`save`."""
    value: Json = json.loads(path.read_text(encoding="utf-8"))
    return value


def save(path: Path, value: Json) -> None:
    """Write a JSON document."""
    path.write_text(json.dumps(value), encoding="utf-8")
