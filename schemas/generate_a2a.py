"""Write ``agentsuite_schemas/a2a/card-1.0.json`` from the descriptor of a2a-sdk, whose proto is the normative schema.

    python schemas/generate_a2a.py

Stricter than the schema that A2A publishes: what the proto marks REQUIRED is required and not empty, exactly one member
of each oneof, camelCase alone, no unknown members and no nulls (a2a.proto, field_behavior; ADR-001 for the JSON names).
A map that is REQUIRED (the scopes of a flow) is not empty either, as in the check of the SDK; every other map may be.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from a2a.types import AgentCard
from google.api import field_behavior_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor

TARGET = Path(__file__).parent / "agentsuite_schemas" / "a2a" / "card-1.0.json"

_TITLE = "A2A Agent Card 1.0 (package lf.a2a.v1), derived from the descriptor of a2a-sdk"
_FREE = "google.protobuf.Struct"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of an Agent Card."""
    definitions: dict[str, Any] = {}
    root = _message(AgentCard.DESCRIPTOR, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://hatch-agentsuite.dev/schemas/a2a/card-1.0.json",
        "title": _TITLE,
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def _message(message: Descriptor, definitions: dict[str, Any]) -> dict[str, Any]:
    required = [field.json_name for field in message.fields if _is_required(field)]
    members = {field.json_name: _member(field, definitions) for field in message.fields}
    made: dict[str, Any] = {"type": "object"}
    if required:
        made["required"] = required
    made |= {"properties": members, "additionalProperties": False}
    made["description"] = _words(message.name)
    choices = [oneof for oneof in message.oneofs if not _is_synthetic(oneof)]
    if choices:
        names = [field.json_name for oneof in choices for field in oneof.fields]
        made["oneOf"] = [{"required": [name]} for name in names]
        made["description"] = f"an object with exactly one of the members {', '.join(names)} ({made['description']})"
    return made


def _member(field: FieldDescriptor, definitions: dict[str, Any]) -> dict[str, Any]:
    words = _words(field.name)
    if _is_map(field):
        value = field.message_type.fields_by_name["value"]
        made: dict[str, Any] = {"type": "object", "additionalProperties": _single(value, definitions, words)}
        if _is_required(field):
            return {**made, "minProperties": 1, "description": f"an object of one or more {words}"}
        return {**made, "description": f"an object of {words}"}
    if field.is_repeated:
        made = {"type": "array", "items": _single(field, definitions, words)}
        return {**made, **({"minItems": 1} if _is_required(field) else {}), "description": f"a list of {words}"}
    return _single(field, definitions, words)


def _single(field: FieldDescriptor, definitions: dict[str, Any], words: str) -> dict[str, Any]:
    if field.type == FieldDescriptor.TYPE_BOOL:
        return {"type": "boolean", "description": f"true or false: {words}"}
    if field.type == FieldDescriptor.TYPE_STRING:
        if _is_required(field) and not field.is_repeated:
            return {"type": "string", "minLength": 1, "description": f"text that is not empty: {words}"}
        return {"type": "string", "description": f"text: {words}"}
    message = field.message_type
    if message.full_name == _FREE:
        return {"type": "object", "description": f"any object: {words}"}
    name = message.name
    if name not in definitions:
        definitions[name] = {}  # messages refer to each other
        definitions[name] = _message(message, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _is_required(field: FieldDescriptor) -> bool:
    behaviors = field.GetOptions().Extensions[field_behavior_pb2.field_behavior]
    return field_behavior_pb2.REQUIRED in behaviors


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _is_synthetic(oneof: Any) -> bool:
    """Whether a oneof only stands for ``optional`` on one field."""
    return len(oneof.fields) == 1


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).lower()


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
