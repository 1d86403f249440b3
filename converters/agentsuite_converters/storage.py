"""Where the parts of an agent profile live in a suite, and back.

The agent manifest holds what a suite has a member for: the description, the model, the instructions by their path.
``metadata/profiles/<agent>.json`` holds the rest, files that documents refer to are below ``.../files/``, and the tools
of a server are in its ToolProvider. Nothing is in two places.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentsuite_converters.members import objects, text
from agentsuite_converters.profile import AgentProfile
from agentsuite_converters.references import RefusedReferenceError, local_path
from agentsuite_converters.toolservers import tools_of
from hatch_agentsuite.documents import profile_path
from hatch_agentsuite.findings import Finding, RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hatch_agentsuite.documents import JSONObject

_LONGEST_DESCRIPTION = 4096


@dataclass(frozen=True)
class StoredAgent:
    """The documents of an agent as a source tree writes them; ``files`` are by content path."""

    manifest: dict[str, Any]
    profile: dict[str, Any]
    files: dict[str, bytes]


def store(agent: AgentProfile) -> StoredAgent:
    """Return the manifest, the profile and the files of an agent that has a model and instructions."""
    profile: dict[str, Any] = copy.deepcopy(agent.value)
    name, prompt = profile.pop("id"), profile.pop("prompt")
    manifest: dict[str, Any] = {}
    if len(profile.get("description", "")) <= _LONGEST_DESCRIPTION and "description" in profile:
        manifest["description"] = profile.pop("description")
    model = profile["model"]
    manifest["model"] = {"protocol": model.pop("protocol"), "model": model.pop("name")}
    if not model:
        del profile["model"]
    folder = f"{profile_path(name).removesuffix('.json')}/files"
    kept = {path: data for path, data in agent.files.items() if not _is_home(agent, path)}
    files = {f"{folder}/{path}": data for path, data in sorted(kept.items())}
    if files:
        profile["files"] = [{"path": path} for path in files]
    return StoredAgent(manifest, profile, {f"instructions/{name}.md": prompt.encode(), **files})


def load(
    manifest: Mapping[str, Any],
    profile: Mapping[str, Any] | None,
    prompt: bytes,
    files: Mapping[str, bytes],
    providers: Mapping[tuple[str, str], Any],
) -> AgentProfile:
    """Return the agent that documents of a suite are together; the inverse of :func:`store`.

    ``files`` are those below the profile's folder, by path in it. Raises :class:`RefusedError` where they contradict.
    """
    value: dict[str, Any] = copy.deepcopy(dict(profile or {}))
    for bookkeeping in ("schemaVersion", "mediaType", "files"):
        value.pop(bookkeeping, None)
    value["id"] = manifest["id"]
    if "description" in manifest:
        value["description"] = manifest["description"]
    value.setdefault("model", {}).update(protocol=manifest["model"]["protocol"], name=manifest["model"]["model"])
    try:
        value["prompt"] = prompt.decode()
    except UnicodeError:
        place = manifest["instructions"]["path"]
        raise RefusedError(Finding("PROFILE-TEXT-001", "json", place, "the instructions are not UTF-8 text")) from None
    for server in value.get("servers", []):
        tools_of(server, providers)
    agent = AgentProfile(value, dict(files))
    _settle_instructions(agent)
    return agent


def instruction_files(document: JSONObject) -> list[str]:
    """Return the paths of the instruction files below a document's folder, in order, each once."""
    found: dict[str, None] = {}
    for _, resource in objects(document, "instructions"):
        try:
            path = local_path(text(resource, "uri"))
        except RefusedReferenceError:
            continue
        if path is not None:
            found[path] = None
    return list(found)


def joined(texts: list[str]) -> str:
    """Return the instructions that files are together: a single one as it is, several with a blank line between."""
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"{part.strip(chr(10))}\n" for part in texts)


def _is_home(agent: AgentProfile, path: str) -> bool:
    """Whether a file is the agent's instructions, which have their own place in a suite."""
    return instruction_files(agent.value) == [path]


def _settle_instructions(agent: AgentProfile) -> None:
    """Give the single instruction file its text back; refuse parts that are not the whole any more."""
    paths = instruction_files(agent.value)
    prompt = str(agent.value["prompt"])
    if len(paths) == 1:
        agent.files.setdefault(paths[0], prompt.encode())
    if not paths:
        return
    absent = [path for path in paths if path not in agent.files]
    whole = "" if absent else joined([agent.files[path].decode(errors="replace") for path in paths])
    if whole != prompt:
        place = f"instructions/{agent.id}.md"
        message = "the instructions are no longer what their parts in the profile are together"
        hint = f"edit the files below {profile_path(agent.id).removesuffix('.json')}/files as well"
        raise RefusedError(Finding("PROFILE-FILE-001", "graph", place, message, hint))
