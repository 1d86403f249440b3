"""The schema files of this package, by name and by URI, in their packed and in their authoring form."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Form = Literal["packed", "authoring"]
Schema = dict[str, Any]

URI_PREFIX = "https://hatch-agentsuite.dev/schemas/"
_CONTENT_PATH = {"$ref": "common.json#/$defs/contentPath"}
_MEDIA_TYPE = {"$ref": "common.json#/$defs/text"}

# An author names the file; packing computes the descriptor.
_EVIDENCE: Schema = {
    "if": {"type": "string"},
    "then": _CONTENT_PATH,
    "else": {
        "type": "object",
        "properties": {
            "path": _CONTENT_PATH,
            "mediaType": _MEDIA_TYPE,
            "digest": {"$ref": "common.json#/$defs/digest"},
            "size": {"$ref": "common.json#/$defs/size"},
        },
        "additionalProperties": False,
        "if": {"required": ["path"]},
        "then": {
            "propertyNames": {
                "enum": ["path", "mediaType"],
                "description": "digest and size of a named file are computed",
            }
        },
        "description": "the path of a file, an object of path and mediaType, or a descriptor",
    },
}


def names() -> tuple[str, ...]:
    """Return the names of the document schemas, sorted: ``agentsuite/agent``, ``agentsuite/build-profile``, ..."""
    return tuple(name for name in _texts() if not name.endswith("/common"))


def load(name: str) -> Schema:
    """Return a schema by name (``agentsuite/agent``, or a shared part such as ``agentsuite/common``).

    The value is the caller's own: changing it changes nothing here.
    """
    try:
        text = _texts()[name]
    except KeyError:
        raise LookupError(f"no schema is named {name!r}; there are {', '.join(names())}") from None
    schema: Schema = json.loads(text)
    return schema


def uri(name: str) -> str:
    """Return the ``$id`` of the schema of that name."""
    return f"{URI_PREFIX}{name}.json"


@cache
def resources(form: Form) -> dict[str, Schema]:
    """Return every schema of this package by its URI, in one form. Callers share the value and leave it alone."""
    schemas = {uri(name): load(name) for name in _texts()}
    if form == "packed":
        return schemas
    return {identifier: _with_evidence(_relaxed(schema)) for identifier, schema in schemas.items()}


@cache
def _texts() -> dict[str, str]:
    """Return the text of every schema file by its name, in the order of the names; a folder holds one format."""
    found = {
        f"{folder.name}/{entry.name.removesuffix('.json')}": entry.read_text(encoding="utf-8")
        for folder in files(__package__).iterdir()
        if folder.is_dir()
        for entry in folder.iterdir()
        if entry.name.endswith(".json")
    }
    return dict(sorted(found.items()))


def _relaxed(schema: Schema) -> Schema:
    """Return the schema in which no object has a required member; conditions (``if``, ``allOf``) stay."""
    relaxed = {keyword: value for keyword, value in schema.items() if keyword != "required"}
    for keyword in ("properties", "$defs"):
        if keyword in relaxed:
            relaxed[keyword] = {name: _relaxed(part) for name, part in relaxed[keyword].items()}
    if "items" in relaxed:
        relaxed["items"] = _relaxed(relaxed["items"])
    return relaxed


def _with_evidence(schema: Schema) -> Schema:
    """Let ``sbom`` and ``provenance`` name a source file, and inventory entries leave out what the file tells."""
    for condition in schema.get("$defs", {}).get("inventoryEntry", {}).get("allOf", []):
        condition["then"].pop("required", None)
    variant = schema.get("$defs", {}).get("variant")
    if variant is not None:
        schema["$defs"]["evidence"] = _EVIDENCE
        for member in ("sbom", "provenance"):
            variant["properties"][member] = {"$ref": "#/$defs/evidence"}
    return schema
