"""Hypothesis strategies for valid documents of each format, with the files that they refer to.

    @given(agents("brick"))
    def test_x(agent: Agent) -> None: ...

Documents are made from the schemas and mended until the rules hold too; the few that a rule still refuses are
discarded. They say everything that a format allows: unknown members at every level, odd names, numbers of all kinds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

from agentsuite_converters import aib, aidip, brick
from agentsuite_converters.formats import ForeignFormat
from agentsuite_schemas import _store
from tests.converters import documents
from tests.schemas.strategy import Generator

Json = dict[str, Any]
Strategy = st.SearchStrategy[Any]

FORMATS: Mapping[str, ForeignFormat] = {form.name: form for form in (brick.FORMAT, aib.FORMAT, aidip.FORMAT)}

LINE = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=10)
LINES = st.builds(lambda text: text if text.strip() else f"x{text}", LINE)
BLOCKS = st.builds("".join, st.lists(st.sampled_from(["a", "Wörter", "\n", " ", "\t", "0", "~1", "/", "\u202e"])))
NONBLANK = LINES | BLOCKS.map(lambda text: text if text.strip() else f"{text}x")
NAMES = st.sampled_from(
    ["~", "/", "~0", "~1/0", "0", "-1", "", " ", "foreign", "at", "value", "absent", "type", "id", "a.b", "a", "b", "é"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.sampled_from([0, 1, -1, 1.5, 1.0, 0.0, 1e300, 5e-324, 0.1]),
    st.text(st.characters(codec="utf-8"), max_size=5),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=5,
)
RECORDS = st.fixed_dictionaries({"x": st.lists(st.fixed_dictionaries({"at": VALUES}, optional={"value": VALUES}))})
ANYTHING = VALUES | st.fixed_dictionaries({"foreign": RECORDS})

_TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"]
_PLAIN = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(_TYPES) | st.lists(st.sampled_from(_TYPES), min_size=1, max_size=2, unique=True),
        "enum": st.lists(SCALARS, max_size=2),
        "description": BLOCKS,
        "x-unit": VALUES,
    },
)
_PARTS: Strategy = st.recursive(
    _PLAIN,
    lambda inner: st.fixed_dictionaries(
        {"properties": st.dictionaries(NAMES, inner, max_size=2)},
        optional={"type": st.just("object"), "items": inner, "required": st.lists(NAMES, max_size=2, unique=True)},
    ),
    max_leaves=3,
)
_REFERRING = st.builds(lambda part: {"$ref": "#/$defs/a", "$defs": {"a": part}}, _PARTS)
SCHEMAS = _PARTS | _REFERRING
_TYPED = st.builds(lambda schema, kind: {"type": kind, **schema}, SCHEMAS, st.sampled_from(_TYPES))
PARAMETERS = _TYPED | st.dictionaries(NAMES, SCHEMAS, max_size=3)

URLS = st.builds(
    "https://{}.example.net{}".format, st.sampled_from(["a", "b.c", "x-1"]), st.sampled_from(["", "/", "/mcp?x=1#y"])
)
_URIS = st.builds(
    lambda kind, rest: kind + rest,
    st.sampled_from(["urn:", "https://agents.example.net/", "a+b:"]),
    st.sampled_from(["x", "Guide", "a%20b", "a/b?c=d#e", "[", "~~", "%C3%A9", "x" * 80]),
)
REMOTE = st.sampled_from(["https://policies.example.net/a.md", "urn:example:policy", "HTTPS://x.example/?q#f"])
ENDPOINTS = URLS | st.sampled_from(["/agents/{id}", "a?b", "//x.example.net/%20", "http://localhost:1/", "~"])

_OWN: Mapping[str, Strategy] = {
    "nonblank": NONBLANK,
    "line": LINES,
    "agentId": _URIS,
    "serverId": LINES.map(lambda text: text.replace(":", ";")),
    "endpoint": ENDPOINTS,
    "schema": SCHEMAS,
    "parameters": PARAMETERS,
    "number": st.sampled_from([0, 1, 1.0, 0.5, -2, 1e21]),
}


class _Documents(Generator):
    def _referenced(self, uri: str) -> Strategy:
        own = _OWN.get(uri.rpartition("/")[2])
        return super()._referenced(uri) if own is None else own


@cache
def _judge(uri: str) -> Any:
    registry = Registry[Any]().with_contents(_store.resources("packed").items())
    return Draft202012Validator({"$ref": uri}, registry=registry)


_GENERATOR = _Documents(lambda uri, value: bool(_judge(uri).is_valid(value)))


@dataclass
class Agent:
    """A valid document of a format and the files below its folder, more than it refers to perhaps."""

    form: ForeignFormat = field(repr=False)
    document: Json
    files: dict[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write the document and its files into a folder; return the document's path."""
        for path, data in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        folder.mkdir(parents=True, exist_ok=True)
        document = folder / "document.json"
        document.write_text(json.dumps(self.document), encoding="utf-8")
        return document


def agents(name: str) -> Strategy:
    """Return a strategy for valid agents of a format."""
    return {"brick": _brick, "aib": _aib, "aidip": _aidip}[name]().flatmap(st.just)


def every_agent() -> Strategy:
    """Return a strategy for valid agents of all formats."""
    return st.sampled_from(sorted(FORMATS)).flatmap(agents)


def complete_agent(name: str) -> Agent:
    """Return an agent with every member that its format has, and the files that it refers to."""
    return Agent(FORMATS[name], getattr(documents, name)(), dict(documents.FILES) if name == "brick" else {})


# --- BRICK -------------------------------------------------------------------------------------------------------

_SKILL = "skills/tides/SKILL.md"
_TEXTS = ("GUIDE.md", "docs/Pölicy 1.md", "docs/empty.md", _SKILL, "instructions.md", "brick.json")
_BLOBS = ("skills/tides/scripts/run.sh", "skills/tides/data.bin", "skills/tides/.hidden")
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "GUIDE.md": ("./GUIDE.md", "GUIDE.md", "GUIDE%2Emd", "GUIDE.md#limits"),
    "docs/Pölicy 1.md": ("docs/P%C3%B6licy%201.md", "./docs/./Pölicy 1.md"),
}


@st.composite
def _brick(draw: st.DrawFn) -> Agent:
    document = draw(_GENERATOR.document("brick/manifest"))
    texts = {path: draw(BLOCKS).encode() for path in _TEXTS}
    files = {**texts, **{path: draw(st.binary(max_size=8)) for path in _BLOBS}}
    for name in ("instructions", "skills", "mcpServers", "capabilities"):
        if name in document:
            document[name] = list({item["id"]: item for item in document[name]}.values())
    for resource in [*document.get("instructions", []), *document.get("skills", [])]:
        _refer(draw, resource, files)
    for server in document.get("mcpServers", []):
        if server["transport"] == "streamable-http":
            server["endpoint"] = draw(URLS)
    tools = [f"{item['id']}:{tool}" for item in document.get("mcpServers", []) for tool in item["allowedTools"]]
    skills = [skill["id"] for skill in document.get("skills", [])]
    for capability in document["capabilities"]:
        _choose(draw, capability, "toolRefs", tools)
        _choose(draw, capability, "skillRefs", skills)
    a2a = document.get("a2a", {})
    if "endpoint" in a2a:
        a2a["endpoint"] = draw(URLS)
    if a2a.get("enabled"):
        a2a.update(endpoint=draw(URLS), protocolVersion="1.0")
    _add(draw, list(_places(document))[1:])
    return _valid(Agent(brick.FORMAT, document, files))


def _refer(draw: st.DrawFn, resource: Json, files: Mapping[str, bytes]) -> None:
    path = draw(st.none() | st.sampled_from(_TEXTS))
    if path is None:
        resource["uri"] = draw(REMOTE)
        return
    resource["uri"] = draw(st.sampled_from(_SPELLINGS.get(path, (path, f"./{path}"))))
    if "sha256" in resource:
        digest = hashlib.sha256(files[path]).hexdigest()
        resource["sha256"] = draw(st.sampled_from([digest, digest.upper(), f"sha256:{digest}"]))


def _choose(draw: st.DrawFn, holder: Json, name: str, known: list[str]) -> None:
    if name in holder:
        holder[name] = draw(st.lists(st.sampled_from(known), max_size=3)) if known else []


# --- AIB and AIDIP -----------------------------------------------------------------------------------------------


@st.composite
def _aib(draw: st.DrawFn) -> Agent:
    document: Any = draw(_GENERATOR.document("aib/blueprint"))
    methods = {method["name"]: method for method in document["interface"]["methods"]}
    if methods and draw(_OFTEN):
        first = next(iter(methods.values()))
        methods = {item["name"]: item for item in [{**first, "name": "run"}, *list(methods.values())[1:]]}
    document["interface"]["methods"] = list(methods.values())
    config = document.get("agent_config")
    if config is not None:
        config.update(agent_id=document["agent_id"], agent_name=document["name"])
    _add(draw, list(_places(document)))
    return _valid(Agent(aib.FORMAT, document))


@st.composite
def _aidip(draw: st.DrawFn) -> Agent:
    document = draw(_GENERATOR.document("aidip/metadata"))
    operations = {item["name"]: item for item in document.get("operations", [])}
    if operations:
        document["operations"] = list(operations.values())
    else:
        document.setdefault("inputs", draw(SCHEMAS))
        document.setdefault("outputs", draw(SCHEMAS))
    _add(draw, list(_places(document)))
    return _valid(Agent(aidip.FORMAT, document))


_OFTEN: Strategy = st.booleans()
_CLOSED = frozenset({"input", "output", "inputs", "outputs", "relationships"})
_UNKNOWN = ["~", "/", "0", "foreign", "instructions", "skills", "owner", "type", "visibility", "files", "prompt"]
_MORE = st.tuples(st.sampled_from(_UNKNOWN), ANYTHING | st.just([{"id": "a", "uri": "./GUIDE.md"}]))


def _places(value: Any) -> Iterator[Json]:
    """Yield the objects that may have members of any name, which are not those of schemas or of relationships."""
    if isinstance(value, dict):
        yield value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inside in members:
        if name not in _CLOSED:
            yield from _places(inside)


def _add(draw: st.DrawFn, holders: list[Json]) -> None:
    """Put unknown members into some of the objects."""
    for holder in draw(st.lists(st.sampled_from(holders), max_size=4)) if holders else []:
        holder.setdefault(*draw(_MORE))


# --- what holds --------------------------------------------------------------------------------------------------


def _valid(agent: Agent) -> Agent:
    """Discard what the format's own rules refuse; the files are not read for that, since they are as they should be."""
    assume(not any(finding.is_error for finding in agent.form.check(agent.document)))
    return agent
