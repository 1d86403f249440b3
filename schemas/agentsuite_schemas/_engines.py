"""The two JSON Schema engines, each given our own schemas and nothing else to resolve a reference with.

``jsonschema`` is always there and explains. ``jsonschema_rs`` is a hundred times faster and optional; it only accepts
or refuses. Both are imported when a document is first judged: neither is cheap to load.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn, Protocol
from urllib.parse import urljoin

from agentsuite_schemas._store import Form, Schema, resources, uri

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_SIMPLE = frozenset(
    {"const", "description", "enum", "maxLength", "maximum", "minLength", "minimum", "pattern", "title", "type"}
)


class Fast(Protocol):
    """What is used of ``jsonschema_rs``."""

    def is_valid(self, instance: Any) -> bool:
        """Say whether the schema accepts the value."""


class Refusal(Protocol):
    """What is used of the errors of ``jsonschema``."""

    validator: Any
    validator_value: Any
    instance: Any
    schema: Any
    message: str
    context: Sequence[Refusal]
    path: Sequence[str | int]
    schema_path: Sequence[str | int]

    @property
    def absolute_path(self) -> Sequence[str | int]:
        """Return the way from the document to the instance."""

    @property
    def absolute_schema_path(self) -> Sequence[str | int]:
        """Return the way from the schema to the keyword."""


class Thorough(Protocol):
    """What is used of ``jsonschema``."""

    def is_valid(self, instance: Any) -> bool:
        """Say whether the schema accepts the value."""

    def iter_errors(self, instance: Any) -> Iterator[Refusal]:
        """Yield what the schema holds against the value."""


@cache
def fast(name: str, form: Form) -> Fast | None:
    """Return the compiled schema in ``jsonschema_rs``, or None where that is not installed or too old."""
    try:
        import jsonschema_rs
    except ImportError:
        return None
    if not hasattr(jsonschema_rs, "Registry"):  # before 0.29 it cannot be kept from fetching
        return None
    schema, registry = resources(form)[uri(name)], _fast_registry(form)
    validator: Fast = jsonschema_rs.Draft202012Validator(schema, registry=registry, retriever=_refuse)
    return validator


@cache
def _fast_registry(form: Form) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Registry(list(resources(form).items()), retriever=_refuse)


@cache
def verdict(name: str, form: Form) -> Thorough:
    """Return the schema in ``jsonschema`` for a yes or no, without references: each takes longer than what it names."""
    identifier = uri(name)
    schema = _inlined(identifier, resources(form)[identifier], form, ())
    validator: Thorough = _dialect()(schema, registry=_registry(form))
    return validator


@cache
def thorough(name: str, form: Form) -> Thorough:
    """Return the schema in ``jsonschema``, for which a float is never an integer."""
    validator: Thorough = _dialect()(resources(form)[uri(name)], registry=_registry(form))
    return validator


@cache
def _registry(form: Form) -> Any:
    import referencing
    import referencing.jsonschema

    registry: referencing.Registry[Any] = referencing.Registry()
    return registry.with_resources(
        (identifier, referencing.jsonschema.DRAFT202012.create_resource(schema))
        for identifier, schema in resources(form).items()
    )


def _inlined(base: str, part: Any, form: Form, way: tuple[str, ...]) -> Any:
    """Return a part of the schema at ``base`` with what it refers to in its place; only a circle stays a reference."""
    if isinstance(part, list):
        return [_inlined(base, item, form, way) for item in part]
    if not isinstance(part, dict):
        return part
    is_document = isinstance(part.get("$id"), str)
    kept = {
        key: _inlined(base, value, form, way)
        for key, value in part.items()
        if not (is_document and key in {"$id", "$schema", "$defs"})
    }
    if not isinstance(part.get("$ref"), str):
        return kept
    reference = urljoin(base, kept.pop("$ref"))
    kept.pop("description", None)
    if reference in way:
        return {**kept, "$ref": reference}
    document, _, fragment = reference.partition("#")
    target = resources(form)[document]
    for step in fragment.split("/")[1:]:
        target = target[step]
    found = _inlined(document, target, form, (*way, reference))
    return {"allOf": [found], **kept} if kept else found


@cache
def _dialect() -> Any:
    import jsonschema

    base = jsonschema.Draft202012Validator
    extend: Any = jsonschema.validators.extend
    types = base.TYPE_CHECKER.redefine("integer", lambda _, it: isinstance(it, int) and not isinstance(it, bool))
    keywords = {"uniqueItems": _unique_items, "properties": _properties, "propertyNames": _property_names}
    return extend(base, validators=keywords, type_checker=types)


def _properties(validator: Any, properties: Schema, instance: Any, _schema: Schema) -> Iterator[Exception]:
    if isinstance(instance, dict):
        for name, schema in properties.items():
            if name in instance and not _fits(validator, schema, instance[name]):
                yield from validator.descend(instance[name], schema, path=name, schema_path=name)


def _property_names(validator: Any, schema: Schema, instance: Any, _schema: Schema) -> Iterator[Exception]:
    if isinstance(instance, dict):
        for name in instance:
            if not _fits(validator, schema, name):
                yield from validator.descend(name, schema)


def _fits(validator: Any, schema: Any, instance: Any) -> bool:
    """Whether a schema of simple keywords accepts a value; the library makes a new validator to find that out."""
    if not isinstance(schema, dict) or not schema.keys() <= _SIMPLE:
        return False
    keywords = validator.VALIDATORS
    judged = (keywords[key](validator, rule, instance, schema) for key, rule in schema.items() if key in keywords)
    return not any(True for errors in judged for _ in errors)


def _unique_items(_validator: Any, unique: bool, instance: Any, _schema: Schema) -> Iterator[Exception]:
    """Look for equal items in linear time (the library compares objects pair by pair)."""
    from jsonschema.exceptions import ValidationError

    if not unique or not isinstance(instance, list):
        return
    seen: dict[str, int] = {}
    for position, item in enumerate(instance):
        first = seen.setdefault(json.dumps(item, sort_keys=True, default=repr), position)
        if first != position:
            yield ValidationError(f"items {first} and {position} are equal")
            return


def _refuse(identifier: str) -> NoReturn:
    """Answer whoever asks for a schema that this package does not hold."""
    raise LookupError(f"{identifier} is no schema of this package, and nothing is ever fetched")
