"""AS-PROVIDER-001, tools: what ``inputSchema`` and ``outputSchema`` name are JSON Schemas (specification 9.2).

Each is strict JSON (5.3) and valid by the metaschema of its dialect, draft 2020-12 where it names none. No reference
is resolved and none may lead out of the file, so that nobody who uses the schema has anything to fetch. Patterns are
neither compiled nor run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import urldefrag, urljoin

import agentsuite_schemas
from hatch_agentsuite.findings import Finding, pointer
from hatch_agentsuite.jsondoc import JSONDocumentError, loads
from hatch_agentsuite.validation.suite import Suite

REQUIREMENT = "AS-PROVIDER-001"

MAX_SUBSCHEMAS = 10_000
"""A tool schema with more objects and booleans is refused unjudged: each costs as much as a whole schema."""

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_DATA = frozenset({"const", "default", "enum", "examples"})
_NAMED = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})

_Place = tuple["str | int", ...]


def check(suite: Suite) -> Iterator[Finding]:
    """Yield what is wrong with the schema files of tools; a file that several tools name is judged once."""
    inputs: dict[str, bool] = {}
    for document in suite.providers.values():
        for tool in (document.value or {}).get("tools", []):
            for member in ("inputSchema", "outputSchema"):
                if member in tool:
                    path = tool[member]["path"]
                    inputs[path] = inputs.get(path, False) or member == "inputSchema"
    for path, is_input in inputs.items():
        entry = suite.entry(path)
        if entry is not None and entry.type == "file":
            yield from _file(suite, path, is_input)


def _file(suite: Suite, path: str, is_input: bool) -> Iterator[Finding]:
    data = suite.tree.documents.get(path)
    if data is None and not path.endswith(".json"):
        message = "the tool schema is not judged; only `.json` files are read as JSON"
        yield _finding(path, message, "give it a name that ends in `.json`").as_warning()
        return
    limits = suite.tree.limits.json
    if data is None:
        yield _finding(path, f"the tool schema has more than {limits.document_bytes:,} bytes")
        return
    try:
        schema = loads(data, limits)
    except JSONDocumentError as error:
        yield Finding(
            REQUIREMENT,
            "tool-provider",
            f"{path}#{error.pointer}",
            error.message,
            error.hint,
            line=error.line,
            column=error.column,
        )
        return
    if _subschemas(schema) > MAX_SUBSCHEMAS:
        yield _finding(path, f"the tool schema has more than {MAX_SUBSCHEMAS:,} objects and booleans; it is not judged")
        return
    for fault in agentsuite_schemas.schema_errors(schema):
        yield _finding(f"{path}#{pointer(*fault.path)}", f"this is no valid JSON Schema: {fault.message}")
    for place in islice(_outward(schema), agentsuite_schemas.MAX_ERRORS):
        message = "the reference leads out of the file; nothing is ever fetched for it"
        yield _finding(f"{path}#{pointer(*place)}", message, "put what it refers to under `$defs`")
    stated = schema.get("type", "object") if isinstance(schema, dict) else "object"
    if is_input and stated != "object" and not (isinstance(stated, list) and "object" in stated):
        yield _finding(f"{path}#/type", "the schema of a tool's input must accept an object", "write `object`")


def _subschemas(value: Any) -> int:
    """Return how many parts of a value could be schemas: objects and booleans, wherever they stand."""
    count = 0
    pending = [value]
    while pending:
        item = pending.pop()
        count += isinstance(item, (dict, bool))
        if isinstance(item, (dict, list)):
            pending.extend(item.values() if isinstance(item, dict) else item)
    return count


def _outward(schema: Any) -> Iterator[_Place]:
    """Yield the place of every reference whose target is neither in the file nor in a part of it that has an ``$id``.

    What stands under an unknown keyword is taken for a schema; values that are data by definition are left alone.
    """
    identifier = "id" if str(agentsuite_schemas.dialect(schema)).endswith(("-03/schema", "-04/schema")) else "$id"
    known = {""}
    found: list[tuple[_Place, str, str]] = []
    pending: list[tuple[_Place, str, Any]] = [((), "", schema)]
    while pending:
        place, base, value = pending.pop()
        if isinstance(value, list):
            pending.extend(((*place, index), base, item) for index, item in enumerate(value))
        if not isinstance(value, dict):
            continue
        if isinstance(value.get(identifier), str):
            base = _joined(base, value[identifier]) or base
            known.add(base)
        for name, member in value.items():
            if name in _REFERENCES and isinstance(member, str):
                found.append(((*place, name), base, member))
            elif name in _NAMED and isinstance(member, dict):
                pending.extend(((*place, name, key), base, item) for key, item in member.items())
            elif name not in _DATA and isinstance(member, (dict, list)):
                pending.append(((*place, name), base, member))
    for place, base, reference in found:
        if not reference.startswith("#") and _joined(base, reference) not in known:
            yield place


def _joined(base: str, reference: str) -> str | None:
    """Return what a reference names, without its fragment, or None when it is no URI."""
    try:
        return urldefrag(urljoin(base, reference)).url
    except ValueError:
        return None


def _finding(location: str, message: str, hint: str = "") -> Finding:
    return Finding(REQUIREMENT, "tool-provider", location, message, hint)
