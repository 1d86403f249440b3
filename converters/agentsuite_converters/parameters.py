"""The three ways to say what goes in or comes out: names, parameters by name, one JSON Schema; each from another.

BRICK lists names, AIB gives parameters or a schema, AIDIP a schema.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING
from urllib.parse import quote

from agentsuite_converters.embedded import subschemas
from agentsuite_converters.places import ABSENT, Absence

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject, JSONValue

_ALL_TYPES: list[JSONValue] = ["array", "boolean", "null", "number", "object", "string"]


def is_schema(value: JSONObject) -> bool:
    """Whether an AIB input is one JSON Schema, and not an object from parameter names to schemas.

    One schema has a ``type`` that is text or a list; in the other form a parameter called ``type`` has a schema.
    """
    return isinstance(value.get("type"), (str, list))


def only_schema(value: JSONValue) -> JSONValue | Absence:
    """Return an input that is one JSON Schema."""
    return value if isinstance(value, dict) and is_schema(value) else ABSENT


def only_parameters(value: JSONValue) -> JSONValue | Absence:
    """Return an input that is an object from parameter names to schemas."""
    return value if isinstance(value, dict) and not is_schema(value) else ABSENT


def names_of_parameters(parameters: JSONValue) -> JSONValue | Absence:
    """Return the names of parameters that are not blank."""
    return [name for name in parameters if name.strip()] if isinstance(parameters, dict) else ABSENT


def names_of_schema(schema: JSONValue) -> JSONValue | Absence:
    """Return the names of a schema's properties, where it describes an object."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return names_of_parameters(properties) if isinstance(properties, dict) and properties else ABSENT


def parameters_of_names(names: JSONValue) -> JSONValue | Absence:
    """Return parameters that may be anything, by name."""
    return {name: {} for name in names if isinstance(name, str)} if isinstance(names, list) else ABSENT


def schema_of_names(names: JSONValue) -> JSONValue | Absence:
    """Return the schema of an object with properties that may be anything."""
    properties = parameters_of_names(names)
    return ABSENT if properties is ABSENT else {"type": "object", "properties": properties}


def schema_of_parameters(parameters: JSONValue) -> JSONValue | Absence:
    """Return the schema of an object that has the parameters as properties."""
    if not isinstance(parameters, dict):
        return ABSENT
    properties = {name: _below(f"#/properties/{_escaped(name)}", schema) for name, schema in parameters.items()}
    return {"type": "object", "properties": properties}


def schema_with_type(schema: JSONValue) -> JSONValue | Absence:
    """Return an equivalent schema that AIB reads as one: with a ``type``, all types where it has none."""
    if not isinstance(schema, dict):
        return ABSENT
    return schema if is_schema(schema) else {"type": list(_ALL_TYPES), **schema}


def _below(place: str, schema: JSONValue) -> JSONValue:
    """Return a schema whose references to its own root lead to the place that it is put at."""
    moved = copy.deepcopy(schema)
    for _, node, base in subschemas(moved) if isinstance(moved, dict) else ():
        for name in ("$ref", "$dynamicRef"):
            target = node.get(name)
            if not base and isinstance(target, str) and (target == "#" or target.startswith("#/")):
                node[name] = place + target[1:]
    return moved


def _escaped(name: str) -> str:
    """Return a member's name as a step of a JSON pointer in a URI fragment (RFC 6901, section 6)."""
    return quote(name.replace("~", "~0").replace("/", "~1"), safe="~")
