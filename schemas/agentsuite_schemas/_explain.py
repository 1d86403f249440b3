"""Plain English for what ``jsonschema`` holds against a document: what is wrong there and what would be right."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agentsuite_schemas._engines import Refusal
    from agentsuite_schemas._store import Schema

_SHOWN = 80
_KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}


@dataclass(frozen=True)
class SchemaError:
    """One thing that a schema holds against a document.

    ``path`` leads to the member at fault, ``keyword`` is the JSON Schema keyword that refused it, and ``definition`` is
    the last ``$defs`` name on the way to that keyword (``""`` where there is none).
    """

    path: tuple[str | int, ...]
    keyword: str
    message: str
    definition: str = ""


@dataclass(frozen=True)
class Explainer:
    """Turns the errors of one schema into :class:`SchemaError`; ``schemas`` are all there are, by their URI."""

    schemas: Mapping[str, Schema]
    root: Schema
    show_values: bool = False

    def explain(self, error: Refusal) -> Iterator[SchemaError]:
        """Yield one error for each member that is missing or unknown, else one in all."""
        if error.validator in {"anyOf", "oneOf"} and error.context and "description" not in error.schema:
            for cause in _nearest(error.context):
                yield from self.explain(cause)
            return
        path = tuple(error.absolute_path)
        keyword = str(error.validator)
        steps = list(error.absolute_schema_path)
        base, definition = self._locate(steps[:-1])
        if "propertyNames" in steps[-2:-1]:
            yield SchemaError((*path, error.instance), "propertyNames", _misplaced(error), definition)
        elif keyword == "required":
            for member in error.validator_value:
                if member not in error.instance:
                    yield SchemaError(path, keyword, self._missing(member, error.schema, base), definition)
        elif keyword == "additionalProperties":
            known = sorted(error.schema.get("properties", {}))
            patterns = error.schema.get("patternProperties", {})
            for member in error.instance:
                if member not in known and not any(re.search(pattern, member) for pattern in patterns):
                    yield SchemaError((*path, member), keyword, _unknown(member, known), definition)
        else:
            yield SchemaError(path, keyword, _general(error) + self._found(error.instance), definition)

    def _found(self, value: object) -> str:
        return "" if not self.show_values or isinstance(value, (dict, list)) else f"; found {_shown(value)}"

    def _locate(self, steps: list[str | int]) -> tuple[str, str]:
        """Return the document and the last ``$defs`` name on the way that ``steps`` lead from the root.

        jsonschema leaves ``$ref`` and ``if`` out of that way.
        """
        node: Any = self.root
        base, definition = str(self.root["$id"]), ""
        for step in steps:
            if isinstance(node, list) or step not in node:
                base, definition, node = self._dereferenced(base, definition, node)
            node = node[step]
        base, definition, _ = self._dereferenced(base, definition, node)
        return base, definition

    def _dereferenced(self, base: str, definition: str, node: Any) -> tuple[str, str, Any]:
        while isinstance(node, dict) and "$ref" in node:
            base, fragment = urldefrag(urljoin(base, node["$ref"]))
            definition = fragment.rpartition("/")[2]
            node = self.schemas[base]["$defs"][definition] if definition else self.schemas[base]
        return base, definition, node

    def _missing(self, member: str, schema: Schema, base: str) -> str:
        part = schema.get("properties", {}).get(member) or schema.get("propertyNames", {})
        hint = self._dereferenced(base, "", part)[2].get("description", "")
        return f"the member {_shown(member)} is missing" + (f" ({hint})" if hint else "")


def _nearest(context: Sequence[Refusal]) -> list[Refusal]:
    """Return the errors of the alternative that the value comes closest to.

    That is the one which refuses deepest inside the value, then the one which refuses least.
    """
    alternatives: dict[str | int, list[Refusal]] = {}
    for error in context:
        alternatives.setdefault(error.schema_path[0], []).append(error)
    return max(alternatives.values(), key=lambda errors: (min(len(error.path) for error in errors), -len(errors)))


def _general(error: Refusal) -> str:
    keyword, rule = str(error.validator), error.validator_value
    description = error.schema.get("description", "")
    if keyword == "dependentRequired":
        return _dependent(error.instance, rule)
    wrong = {
        "type": lambda: f"must be {_kinds(rule)}, not {_kind(error.instance)}",
        "const": lambda: f"must be exactly {_literal(rule)}",
        "enum": lambda: "must be one of " + ", ".join(_literal(value) for value in rule),
        "uniqueItems": lambda: error.message,
        "minItems": lambda: f"must hold at least {rule} {'item' if rule == 1 else 'items'}",
        "maxItems": lambda: f"must hold at most {rule} {'item' if rule == 1 else 'items'}",
        "maxLength": lambda: f"must hold at most {rule} characters",
        "minimum": lambda: f"must be at least {rule}",
        "maximum": lambda: f"must be at most {rule}",
    }.get(keyword)
    if wrong is None:
        return f"must be {description}" if description else f"is refused by the schema's {keyword!r}"
    return f"{wrong()} ({description})" if description else wrong()


def _dependent(instance: Mapping[str, Any], rule: Mapping[str, list[str]]) -> str:
    return "; ".join(
        f"the member {_shown(member)} needs " + " and ".join(_shown(other) for other in others if other not in instance)
        for member, others in rule.items()
        if member in instance and not instance.keys() >= set(others)
    )


def _misplaced(error: Refusal) -> str:
    return f"the member {_shown(error.instance)} does not belong here ({error.schema.get('description', '')})"


def _unknown(member: str, known: list[str]) -> str:
    near = difflib.get_close_matches(member[:_SHOWN], known, n=1)
    guess = f"did you mean {_shown(near[0])}? " if near else ""
    return f"the member {_shown(member)} is unknown ({guess}known members: {', '.join(known)})"


def _kinds(rule: str | list[str]) -> str:
    return " or ".join(_KINDS[name] for name in ([rule] if isinstance(rule, str) else rule))


def _kind(value: object) -> str:
    kinds: dict[type, str] = {
        bool: "a boolean",
        int: "an integer",
        float: "a number with a fraction or exponent",
        str: "a string",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }
    return kinds.get(type(value), f"a value of type {type(value).__name__}")


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _shown(value: object) -> str:
    """Return a short, printable form of a name or value from an untrusted document."""
    text = repr(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
