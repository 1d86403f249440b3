"""The agents of a suite, wherever it is: an authoring tree, a content directory, a layout or an archive."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentsuite_converters.profile import AgentProfile
from agentsuite_converters.storage import load
from hatch_agentsuite.documents import profile_path
from hatch_agentsuite.findings import Finding, RefusedError, printable
from hatch_agentsuite.jsondoc import loads
from hatch_agentsuite.layout import INDEX_FILE, LayoutArchive, LayoutDirectory, is_layout_directory
from hatch_agentsuite.source import Options, Resolved, resolve
from hatch_agentsuite.unpacking import unpack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hatch_agentsuite.archive.layer import Member

_OWN = ("toolProviders", "evals")


def read_suite(path: Path) -> dict[str, AgentProfile]:
    """Return the agents of the suite at ``path`` by id; nothing is fetched or executed.

    A layout or archive is unpacked to a folder that is gone afterwards. Raises :class:`RefusedError` with what is wrong
    with the suite, and :class:`OSError`.
    """
    if not path.exists():
        raise RefusedError(Finding("AS-PATH-001", "path", printable(str(path)), "there is no such file or folder"))
    if path.is_dir() and not is_layout_directory(path):
        return _agents(path)
    with tempfile.TemporaryDirectory(prefix="agentsuite-") as folder:
        content = Path(folder) / "content"
        unpack(path, content)
        return _agents(content)


def manifest_digest(path: Path) -> str:
    """Return the digest of the OCI manifest of a layout or archive that :func:`read_suite` has read, else ``""``."""
    if path.is_dir() and not is_layout_directory(path):
        return ""
    layout = LayoutDirectory(path) if path.is_dir() else LayoutArchive(path)
    with layout.open(INDEX_FILE) as stream:
        index: Any = loads(stream.read())
    return str(index["manifests"][0]["digest"])


def select(agents: Mapping[str, AgentProfile], wanted: tuple[str, ...]) -> list[AgentProfile]:
    """Return the wanted agents in their order, all where none is named; raises :class:`RefusedError`."""
    unknown = [name for name in wanted if name not in agents]
    if unknown:
        known = ", ".join(f"`{name}`" for name in agents)
        findings = [
            Finding(
                "AS-GRAPH-001",
                "graph",
                "agentsuite.json",
                f"no agent is called `{printable(name)}`",
                f"agents: {known}",
            )
            for name in unknown
        ]
        raise RefusedError(*findings)
    return [agents[name] for name in wanted or agents]


def _agents(root: Path) -> dict[str, AgentProfile]:
    return agents_of(resolve(root, Options(default_name="suite")))


def agents_of(resolved: Resolved) -> dict[str, AgentProfile]:
    """Return the agents of a resolved source tree by id, in the order of the suite manifest."""
    members = {member.entry.path: member for member in resolved.members}
    suite = _document(members["agentsuite.json"])
    catalog = _document(members[suite["toolProviderCatalog"]["path"]])
    providers = {
        (item["id"], item["version"]): _document(members[item["path"]]) for item in catalog.get("toolProviders", [])
    }
    manifests = [_document(members[item["path"]]) for item in suite["agents"]]
    return {manifest["id"]: _agent(manifest, members, providers) for manifest in manifests}


def _agent(manifest: dict[str, Any], members: dict[str, Member], providers: dict[tuple[str, str], Any]) -> AgentProfile:
    path = profile_path(manifest["id"])
    profile = _document(members[path]) if path in members else None
    folder = f"{path.removesuffix('.json')}/files/"
    listed = [item["path"] for item in (profile or {}).get("files", [])]
    files = {name.removeprefix(folder): _bytes(members[name]) for name in listed if name.startswith(folder)}
    prompt = _bytes(members[manifest["instructions"]["path"]])
    agent = load(manifest, profile, prompt, files, providers)
    agent.secrets = _secrets(manifest, providers)
    own = {name: manifest[name] for name in _OWN if manifest.get(name)}
    edges = _own_edges(manifest, profile or {})
    if edges:
        own["invokes"] = edges
    if own:
        agent.value["suite"] = own
    return agent


def _secrets(manifest: dict[str, Any], providers: dict[tuple[str, str], Any]) -> dict[str, str]:
    """Return the names that a suite holds for its runtime, by what they are."""
    model = manifest["model"]
    found = dict.fromkeys(model.get("secretRefs", []), "the name of a secret")
    if "endpointEnv" in model:
        found[model["endpointEnv"]] = "the name of an environment variable"
    for required in manifest.get("toolProviders", []):
        provider = providers.get((required["id"], required["version"]), {})
        found[required["id"]] = "the id of a ToolProvider"
        found |= dict.fromkeys((tool["name"] for tool in provider.get("tools", [])), "the name of a tool")
        for variant in provider.get("variants", []):
            names = (item["name"] for item in variant.get("environment", []))
            found |= dict.fromkeys(names, "the name of an environment variable")
    return found


def _own_edges(manifest: dict[str, Any], profile: dict[str, Any]) -> list[Any]:
    """Return the edges of an agent that has no relationships from which they could follow."""
    return [] if profile.get("relationships") else list(manifest.get("invokes", []))


def _document(member: Member) -> Any:
    return loads(_bytes(member))


def _bytes(member: Member) -> bytes:
    if isinstance(member.source, bytes):
        return member.source
    return b"" if member.source is None else (member.source / member.entry.path).read_bytes()
