"""Judging JSON Schemas that somebody else wrote, each by the metaschema of its own dialect.

The schema is data here: no reference in it is resolved, no pattern compiled, no format asserted.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from agentsuite_schemas._engines import Fast, Refusal, Thorough, _refuse, _unique_items
from agentsuite_schemas._explain import _KINDS, SchemaError, _general, _nearest
from agentsuite_schemas._validator import MAX_ERRORS, _accepts, _order

if TYPE_CHECKING:
    from collections.abc import Iterator

DIALECTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-03/schema",
)
"""What ``$schema`` may name, with or without a final ``#``; the first one is meant where it is absent."""


def dialect(schema: Any) -> str | None:
    """Return the dialect of a schema, or None when it names one that is not known."""
    written = schema.get("$schema", DIALECTS[0]) if isinstance(schema, dict) else DIALECTS[0]
    found = written.removesuffix("#") if isinstance(written, str) else ""
    return found if found in DIALECTS else None


def schema_errors(schema: Any) -> Iterator[SchemaError]:
    """Yield what keeps a value from being a JSON Schema, in the order of paths; no value of it is repeated.

    At most 100 errors come, then one that says there are more.
    """
    known = dialect(schema)
    if known is None:
        yield SchemaError(("$schema",), "$schema", f"must be one of {', '.join(DIALECTS)}")
        return
    engine = _fast(known)
    if engine and _accepts(engine, schema):
        return
    try:
        found = list(islice(_each_once(known, schema), MAX_ERRORS + 1))
    except RecursionError:
        yield SchemaError((), "depth", "is nested too deeply to be judged")
        return
    yield from sorted(found[:MAX_ERRORS], key=_order)
    if len(found) > MAX_ERRORS:
        yield SchemaError((), "limit", f"there are more than {MAX_ERRORS} errors; the others are not shown")
    if engine and not found:
        yield SchemaError((), "engines", "one JSON Schema engine refuses the schema, the other does not say why")


def _each_once(uri: str, schema: Any) -> Iterator[SchemaError]:
    """Yield errors, each once: several parts of a metaschema can say the same."""
    seen: set[SchemaError] = set()
    for refusal in _thorough(uri).iter_errors(schema):
        for error in _explained(refusal):
            if error not in seen:
                seen.add(error)
                yield error


def _explained(error: Refusal) -> Iterator[SchemaError]:
    if error.validator in {"anyOf", "oneOf"} and error.context:
        for cause in _nearest(error.context):
            yield from _explained(cause)
        return
    rule = error.validator_value
    kinds = rule if isinstance(rule, list) else [rule]
    if error.validator == "type" and not all(isinstance(kind, str) and kind in _KINDS for kind in kinds):
        message = "is of another kind than the metaschema wants"  # draft 3 has schemas as types
    else:
        message = _general(error)
    yield SchemaError(tuple(error.absolute_path), str(error.validator), message)


@cache
def _fast(uri: str) -> Fast | None:
    """Return ``jsonschema_rs`` with one of the metaschemas that it brings along, where it has the official text."""
    try:
        import jsonschema_rs
    except ImportError:
        return None
    if not hasattr(jsonschema_rs, "Registry"):  # before 0.29 it cannot be kept from fetching
        return None
    engines = {DIALECTS[0]: jsonschema_rs.Draft202012Validator, DIALECTS[2]: jsonschema_rs.Draft7Validator}
    if uri not in engines:
        return None
    engine: Fast = engines[uri]({"$ref": uri}, validate_formats=False, retriever=_refuse)
    return engine


@cache
def _thorough(uri: str) -> Thorough:
    """Return ``jsonschema`` with a metaschema; its registry holds that one's parts and can fetch nothing.

    A part that names its dialect would be judged by the library's own class instead of this one, so none does here.
    """
    import jsonschema
    import jsonschema_specifications
    import referencing
    import referencing.jsonschema

    specification = referencing.jsonschema.specification_with(uri)
    known = jsonschema_specifications.REGISTRY
    parts = {part: dict(known.contents(part)) for part in known}
    registry: referencing.Registry[Any] = referencing.Registry().with_resources(
        (part, specification.create_resource(contents))
        for part, contents in parts.items()
        if contents.pop("$schema").removesuffix("#") == uri
    )
    extend: Any = jsonschema.validators.extend
    base = jsonschema.validators.validator_for({"$schema": uri})
    judge = extend(base, validators={"uniqueItems": _unique_items, "pattern": _pattern})
    engine: Thorough = judge(parts[uri], registry=registry)
    return engine


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Exception]:
    """Hold a string against a metaschema's pattern, in which ``$`` is the end and never a line's end."""
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not re.search(f"(?:{pattern})(?!\n)", instance):
        yield ValidationError("the pattern does not match")
