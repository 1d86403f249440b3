"""MCP servers of an agent and the remote ToolProviders that stand for them in a suite (specification 9.5, 9.8).

A server that speaks streamable HTTP and has tools becomes the cataloged ToolProvider ``<agent>.<server>``. It is
``retained``, since no agent can require a remote provider yet, and has identifiers where a deployment has URLs. The
URLs stay in the profile, and are listed in a bindings file outside the suite.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentsuite_converters.document import dump
from agentsuite_converters.identifiers import server_slug
from agentsuite_converters.members import objects, texts
from agentsuite_converters.report import Note
from hatch_agentsuite.configuration import is_identifier
from hatch_agentsuite.findings import Finding, RefusedError, printable
from hatch_agentsuite.jsondoc import JSONDocumentError, loads

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agentsuite_converters.profile import AgentProfile
    from hatch_agentsuite.documents import JSONObject

VERSION = "1.0.0"
REVISION = "2026-07-28"
"""The revision of MCP that the BRICK draft refers to (section 12)."""

_TIMEOUTS = {"connectMilliseconds": 10_000, "requestMilliseconds": 60_000}
_ANYTHING = b'{"type": "object"}\n'


@dataclass
class Provided:
    """The ToolProviders of an agent: files of a source tree, endpoints by their identifier, and what to say."""

    files: dict[str, bytes] = field(default_factory=dict)
    endpoints: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def provide(agent: AgentProfile, profile: JSONObject, schemas: Path | None) -> Provided:
    """Return the ToolProviders of an agent's servers, and note them in the stored ``profile``.

    ``schemas`` is a folder with ``<server>/<tool>.json`` for input schemas. Tools that a ToolProvider lists are taken
    out of the profile; where a suite cannot hold every name, all names stay there too.
    """
    made = Provided()
    for number, server in objects(profile, "servers"):
        place = f"/servers/{number}"
        tools = [tool for _, tool in texts(server, "tools")]
        held = list(dict.fromkeys(tool for tool in tools if is_identifier(tool)))
        name = f"{agent.id}.{server_slug(str(server.get('id', '')))}"
        if server.get("transport") != "streamable-http" or not held or not is_identifier(name):
            made.notes.append(Note(place, "no ToolProvider stands for this server; it stays in the profile"))
            continue
        for tool in sorted(set(tools) - set(held)):
            message = f"`{printable(tool)}` is no name for a tool of a suite; it stays in the profile"
            made.notes.append(Note(place, message))
        folder = f"tool-providers/{name}/{VERSION}"
        made.files[f"{folder}/tool-provider.json"] = dump(_manifest(name, folder, held))
        for tool in held:
            found = _schema(schemas, str(server["id"]), tool)
            if found is None:
                made.notes.append(Note(place, f"the input schema of `{tool}` allows any object: give --tool-schemas"))
            made.files[f"{folder}/schemas/{tool}.json"] = found or _ANYTHING
        made.notes.append(
            Note(place, f"ToolProvider `{name}`: version {VERSION}, MCP revision {REVISION} and timeouts are defaults")
        )
        made.endpoints[name] = str(server.get("endpoint", ""))
        server["toolProvider"] = {"id": name, "version": VERSION}
        if held == tools:
            del server["tools"]
    return made


def tools_of(server: JSONObject, manifests: Mapping[tuple[str, str], Any]) -> None:
    """Put the tools of a stored server's ToolProvider back into it, where the profile does not hold them."""
    provider = server.pop("toolProvider", None)
    if isinstance(provider, dict) and "tools" not in server:
        manifest = manifests.get((str(provider.get("id")), str(provider.get("version"))), {})
        server["tools"] = [tool["name"] for tool in manifest.get("tools", [])]


def _manifest(name: str, folder: str, tools: list[str]) -> dict[str, Any]:
    return {
        "retained": True,
        "protocol": "mcp",
        "revision": REVISION,
        "tools": [{"name": tool, "inputSchema": {"path": f"{folder}/schemas/{tool}.json"}} for tool in tools],
        "remote": {
            "transport": "streamable-http",
            "endpointRef": name,
            "network": [{"destinationRef": name}],
            "timeouts": _TIMEOUTS,
            "cancellation": "propagate",
            "connection": "session-aware",
        },
    }


def _schema(folder: Path | None, server: str, tool: str) -> bytes | None:
    """Return a tool's input schema as it is written, or None where there is none."""
    if folder is None or "/" in server or server in {".", ".."}:
        return None
    path = folder / server / f"{tool}.json"
    if not path.is_file():
        return None
    data = path.read_bytes()
    try:
        loads(data)
    except JSONDocumentError as error:
        found = Finding("AS-JSON-001", "json", f"{path}#{error.pointer}", error.message, error.hint)
        raise RefusedError(found) from None
    return data
