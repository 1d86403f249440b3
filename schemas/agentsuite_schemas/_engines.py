"""The two JSON Schema engines, each given our own schemas and nothing else to resolve a reference with.

``jsonschema`` is always there and explains. ``jsonschema_rs`` is a hundred times faster and optional; it only accepts
or refuses. Both are imported when a document is first judged: neither is cheap to load.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from agentsuite_schemas._store import Form, Schema, resources, uri

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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
    schemas = resources(form)
    registry = jsonschema_rs.Registry(list(schemas.items()), retriever=_refuse)
    validator: Fast = jsonschema_rs.Draft202012Validator(schemas[uri(name)], registry=registry, retriever=_refuse)
    return validator


@cache
def thorough(name: str, form: Form) -> Thorough:
    """Return the schema in ``jsonschema``, for which a float is never an integer."""
    import referencing
    import referencing.jsonschema

    schemas = resources(form)
    registry: referencing.Registry[Any] = referencing.Registry().with_resources(
        (identifier, referencing.jsonschema.DRAFT202012.create_resource(schema))
        for identifier, schema in schemas.items()
    )
    validator: Thorough = _dialect()(schemas[uri(name)], registry=registry)
    return validator


@cache
def _dialect() -> Any:
    import jsonschema

    base = jsonschema.Draft202012Validator
    extend: Any = jsonschema.validators.extend
    types = base.TYPE_CHECKER.redefine("integer", lambda _, it: isinstance(it, int) and not isinstance(it, bool))
    return extend(base, validators={"uniqueItems": _unique_items}, type_checker=types)


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
