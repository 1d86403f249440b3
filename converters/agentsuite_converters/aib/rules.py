"""The rules of a blueprint that a schema cannot say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agentsuite_converters.embedded import EmbeddedSchemas
from agentsuite_converters.members import member, objects, repeated, text
from agentsuite_converters.parameters import is_schema
from hatch_agentsuite.findings import Finding, pointer

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject, JSONValue

_MIRRORS = (("agent_id", "agent_id"), ("agent_name", "name"))


def mirrors(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Blueprint Components: ``agent_config`` repeats the id and the name of the top."""
    config = member(document, "agent_config")
    for mirror, name in _MIRRORS:
        written, expected = text(config, mirror), text(document, name)
        if written and expected and written != expected:
            message = f"`{mirror}` must be the same as the top-level `{name}`"
            place = f"#{pointer('agent_config', mirror)}"
            yield Finding("AIB-MIRROR-001", "graph", place, message, "change one of the two")


def view(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Extensibility and Exposure: without ``agent_config`` this is what others see of an agent."""
    if "agent_config" not in document:
        message = "without `agent_config` this is a public view: enough to call the agent, not to build it"
        yield Finding("AIB-VIEW-001", "graph", "#", message, "add `agent_config` for a whole blueprint").as_warning()


def methods(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """JSON-RPC Interface: a method is called by its name."""
    found = list(objects(member(document, "interface"), "methods"))
    for position, name, first in repeated((position, text(method, "name")) for position, method in found):
        message = f"the method `{name[:80]}` is that of methods/{first} too"
        yield Finding("AIB-METHOD-001", "graph", _method(position, "name"), message, "give each its own name")
    judge = EmbeddedSchemas("AIB")
    for position, method in found:
        if text(method, "name").startswith("rpc."):
            message = "JSON-RPC 2.0 keeps names that begin with `rpc.` for itself"
            yield Finding("AIB-METHOD-001", "graph", _method(position, "name"), message, "choose another").as_warning()
        for name in ("input", "output"):
            value = method.get(name)
            if isinstance(value, dict):
                yield from _parameters(("interface", "methods", position, name), value, judge)


def _parameters(place: tuple[str | int, ...], value: JSONObject, judge: EmbeddedSchemas) -> Iterator[Finding]:
    schemas: list[tuple[tuple[str | int, ...], JSONValue]] = [(place, value)]
    if not is_schema(value):
        schemas = [((*place, name), schema) for name, schema in value.items()]
    for where, schema in schemas:
        if isinstance(schema, dict):
            yield from judge.findings(where, schema)
        else:
            message = "this must be the JSON Schema of a parameter, an object"
            hint = "one JSON Schema for the whole has a `type`"
            yield Finding("AIB-EMBEDDED-001", "json", f"#{pointer(*where)}", message, hint)


def relationships(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Blueprint Components: relationships are with other agents."""
    identifier = text(document, "agent_id")
    if identifier and identifier in member(member(document, "agent_config"), "relationships"):
        place = f"#{pointer('agent_config', 'relationships', identifier)}"
        message = "the agent has a relationship with itself"
        yield Finding("AIB-RELATION-001", "graph", place, message, "name another agent").as_warning()


def _method(position: int, name: str) -> str:
    return f"#{pointer('interface', 'methods', position, name)}"


RULES = (mirrors, view, methods, relationships)
