"""The rules of sections 4 to 10 that a schema cannot say; each looks at what is there, shape is the schema's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agentsuite_converters.brick.files import package
from agentsuite_converters.members import items, listed, member, objects, repeated, text, texts
from agentsuite_converters.privacy import Private, leaks
from agentsuite_converters.references import Folder, RefusedReferenceError, local_path
from agentsuite_converters.urls import endpoint_fault, host, scheme
from hatch_agentsuite.findings import Finding, pointer

if TYPE_CHECKING:
    from agentsuite_converters.references import ReferencedFile
    from hatch_agentsuite.documents import JSONObject

_IDENTIFIED = ("instructions", "skills", "mcpServers", "capabilities")
_QUOTED_BYTES = 1 << 20


def unique_ids(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Section 5: local identifiers are unique; each list has identifiers of its own, as in Appendix A."""
    for name in _IDENTIFIED:
        ids = ((position, text(item, "id")) for position, item in objects(document, name))
        for position, identifier, first in repeated(ids):
            message = f"the id `{identifier[:80]}` is that of {name}/{first} too, so references to it are ambiguous"
            yield Finding("BRICK-ID-001", "graph", _at(name, position, "id"), message, "give each its own id")


def skill_references(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Section 4: each ``skillRefs`` entry resolves to the id of a skill."""
    skills = {text(skill, "id") for _, skill in objects(document, "skills")}
    hint = f"skills: {listed(skills)}"
    for number, capability in objects(document, "capabilities"):
        found = list(texts(capability, "skillRefs"))
        for position, reference in found:
            if reference not in skills:
                place = _at("capabilities", number, "skillRefs", position)
                message = f"no skill has the id `{reference[:80]}`"
                yield Finding("BRICK-REF-001", "graph", place, message, hint)
        yield from _repetitions("BRICK-REF-001", found, ("capabilities", number, "skillRefs"))


def tool_references(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Sections 4 and 7: each ``toolRefs`` entry names a declared server and a tool that it allows.

    The first ``:`` ends the server's id, which holds none; a tool's name may.
    """
    servers: dict[str, set[str]] = {}
    for number, server in objects(document, "mcpServers"):
        allowed = list(texts(server, "allowedTools"))
        servers.setdefault(text(server, "id"), set()).update(tool for _, tool in allowed)
        yield from _repetitions("BRICK-TOOL-001", allowed, ("mcpServers", number, "allowedTools"))
    hint = f"servers: {listed(servers)}"
    hints = {name: f"its allowedTools: {listed(tools)}" for name, tools in servers.items()}
    for number, capability in objects(document, "capabilities"):
        found = list(texts(capability, "toolRefs"))
        for position, reference in found:
            name, colon, tool = reference.partition(":")
            place = _at("capabilities", number, "toolRefs", position)
            if not (name and colon and tool):
                continue  # the schema has said so
            if name not in servers:
                message = f"no MCP server has the id `{name[:80]}`"
                yield Finding("BRICK-REF-001", "graph", place, message, hint)
            elif tool not in servers[name]:
                message = f"the server `{name[:80]}` does not allow the tool `{tool[:80]}`"
                yield Finding("BRICK-TOOL-001", "tool-provider", place, message, hints[name])
        yield from _repetitions("BRICK-TOOL-001", found, ("capabilities", number, "toolRefs"))


def endpoints(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Sections 5 and 7: the endpoint policy of each transport, and of the agent's own A2A endpoint."""
    for number, server in objects(document, "mcpServers"):
        endpoint = text(server, "endpoint")
        place = _at("mcpServers", number, "endpoint")
        if text(server, "transport") == "streamable-http":
            yield from _endpoint(place, endpoint)
        elif text(server, "transport") == "stdio" and scheme(endpoint) in {"http", "https"}:
            message = "a stdio server is no URL"
            hint = "give what the runtime knows the server by, or the transport streamable-http"
            yield Finding("BRICK-ENDPOINT-001", "security", place, message, hint).as_warning()
    yield from _endpoint(_at("a2a", "endpoint"), text(member(document, "a2a"), "endpoint"))


def _endpoint(place: str, endpoint: str) -> Iterator[Finding]:
    fault = endpoint_fault(endpoint) if endpoint.strip() else None
    if fault:
        found = Finding("BRICK-ENDPOINT-001", "security", place, f"the endpoint {fault.message}", fault.hint)
        yield found if fault.is_error else found.as_warning()


def a2a(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Section 8: an agent that is offered through A2A says where and in which version."""
    offered = member(document, "a2a")
    if offered.get("enabled") is not True:
        return
    for name in ("endpoint", "protocolVersion"):
        if name not in offered:
            message = f"A2A is enabled, but the member '{name}' is missing"
            yield Finding("BRICK-A2A-001", "graph", "#/a2a", message, f"add `{name}`, or do not enable A2A")
    if not any(True for _ in _advertised(document)) and items(document, "capabilities"):
        message = "A2A is enabled, but no capability is advertised: the Agent Card would name no skill"
        hint = "set `advertise: true` where a capability is public"
        yield Finding("BRICK-A2A-001", "graph", "#/a2a/enabled", message, hint).as_warning()


def files(document: JSONObject, folder: Path | None) -> Iterator[Finding]:
    """Sections 4 and 6: references can be read, digests match; only a skill that nothing refers to may be absent."""
    reader = Folder(folder) if folder else None
    claimed = {reference for _, item in objects(document, "capabilities") for _, reference in texts(item, "skillRefs")}
    for name in ("instructions", "skills"):
        for number, resource in objects(document, name):
            if not text(resource, "uri").strip():
                continue
            mandatory = name == "instructions" or text(resource, "id") in claimed
            yield from _file(_at(name, number), resource, reader, mandatory, name == "skills")
            if name == "instructions" and reader:
                yield from _not_text(_at(name, number, "uri"), _readable(text(resource, "uri"), reader))


def _file(
    place: str, resource: JSONObject, reader: Folder | None, mandatory: bool, is_skill: bool
) -> Iterator[Finding]:
    reference, digest = text(resource, "uri"), text(resource, "sha256").removeprefix("sha256:").lower()
    try:
        path = local_path(reference)
        if path is None:
            yield from _remote(place, reference, digest)
            return
        found = reader.file(path) if reader else None
        if reader and is_skill:
            package(reader, path)
    except RefusedReferenceError as error:
        refused = Finding("BRICK-FILE-001", error.category, f"{place}/uri", error.message, error.hint)
        yield refused.as_warning() if error.missing and not mandatory else refused
        return
    if found and len(digest) == 64 and digest != found.sha256:
        message = f"the file has the SHA-256 digest {found.sha256}"
        yield Finding("BRICK-FILE-001", "digest", f"{place}/sha256", message, "write this digest, or mend the file")


def _not_text(place: str, file: ReferencedFile | None) -> Iterator[Finding]:
    try:
        _ = file.data.decode() if file else ""
    except UnicodeError:
        yield Finding("BRICK-FILE-001", "json", place, "an instruction is UTF-8 text, and this file is not")


def _remote(place: str, reference: str, digest: str) -> Iterator[Finding]:
    if scheme(reference) == "http" and not digest:
        message = "the reference is plain http without a digest, so anybody on the way can change what is read"
        yield Finding("BRICK-FILE-001", "security", f"{place}/uri", message, "use https, or add sha256")


def unsupported(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Sections 4 and 10: what is meant for one runtime, or extends the format, is kept and not understood."""
    for holder in ("extensions", "runtime"):
        for name in member(document, holder):
            message = "this is an unsupported requirement: it is kept, and nothing is done about it"
            yield Finding("BRICK-UNSUPPORTED-001", "platform", _at(holder, name), message).as_warning()


def privacy(document: JSONObject, folder: Path | None) -> Iterator[Finding]:
    """Sections 5 and 9: what an Agent Card would show of an advertised capability discloses nothing private."""
    public = {
        _at("capabilities", number, *path): value
        for number, capability in _advertised(document)
        for path, value in _shown(capability)
    }
    if public:
        agent = member(document, "agent")
        public.update({_at("agent", name): text(agent, name) for name in ("name", "description") if text(agent, name)})
    for leak in leaks(public, _private(document, folder)):
        hint = "say it in other words, or do not advertise the capability"
        found = Finding("BRICK-PRIVACY-001", "security", leak.place, f"{leak.message}, which is private", hint)
        yield found if leak.is_error else found.as_warning()


def _advertised(document: JSONObject) -> Iterator[tuple[int, JSONObject]]:
    return (pair for pair in objects(document, "capabilities") if pair[1].get("advertise") is True)


def _shown(capability: JSONObject) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for name in ("id", "description"):
        if text(capability, name):
            yield (name,), text(capability, name)
    for name in ("inputs", "outputs"):
        for position, value in texts(capability, name):
            yield (name, position), value


def _private(document: JSONObject, folder: Path | None) -> Private:
    servers = [server for _, server in objects(document, "mcpServers")]
    given = [text(server, "endpoint") for server in servers if text(server, "endpoint")]
    offered = text(member(document, "a2a"), "endpoint")
    resources = [item for name in ("instructions", "skills") for _, item in objects(document, name)]
    return Private(
        urls=tuple(endpoint for endpoint in given if "://" in endpoint),
        names=tuple(text(server, "id") for server in servers),
        tools=tuple((text(server, "id"), tool) for server in servers for _, tool in texts(server, "allowedTools")),
        references=tuple(text(item, "uri") for item in resources) + tuple(it for it in given if "://" not in it),
        texts=_instructions(document, Folder(folder)) if folder else {},
        public_hosts=frozenset({host(text(member(document, "agent"), "id")), host(offered)}),
    )


def _instructions(document: JSONObject, reader: Folder) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, resource in objects(document, "instructions"):
        file = _readable(text(resource, "uri"), reader)
        if file:
            found[f"instructions/{number}"] = file.data[:_QUOTED_BYTES].decode(errors="replace")
    return found


def _readable(reference: str, reader: Folder) -> ReferencedFile | None:
    try:
        path = local_path(reference)
        return None if path is None else reader.file(path)
    except RefusedReferenceError:
        return None


def _repetitions(requirement: str, values: list[tuple[int, str]], place: tuple[str | int, ...]) -> Iterator[Finding]:
    for position, _, first in repeated(values):
        message = f"this is the same as item {first}"
        yield Finding(requirement, "graph", _at(*place, position), message, "remove one of them").as_warning()


def _at(*tokens: str | int) -> str:
    return f"#{pointer(*tokens)}"


RULES = (
    unique_ids,
    skill_references,
    tool_references,
    endpoints,
    a2a,
    files,
    unsupported,
    privacy,
)
