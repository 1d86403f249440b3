"""JSON Schemas inside other documents: whether they are schemas, and whether examples obey them.

Nothing is fetched, and nothing in a hostile schema can make judging it long: patterns are matched by RE2, evaluation
has a budget, and what passes it is reported as not judged.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import agentsuite_schemas
from hatch_agentsuite.findings import Finding, pointer

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject, JSONValue

Path = tuple["str | int", ...]

MAX_VALUES = 20_000
MAX_STEPS = 50_000
MAX_FAULTS = 10

_LONGEST_PATTERN = 1_024
_NAMED = frozenset({"$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"})
_LITERAL = frozenset({"const", "enum", "default", "examples", "example"})
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class NotJudgedError(Exception):
    """An example cannot be judged by its schema; the message says why."""


@dataclass(frozen=True)
class _Fault:
    """What is wrong at a place within a schema; ``reference`` where it leads nowhere."""

    path: Path
    message: str
    hint: str = ""
    is_error: bool = True
    reference: bool = False


class EmbeddedSchemas:
    """Judges the schemas of one document and the examples for them, with one budget for all."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._values = MAX_VALUES
        self._steps = _Steps(MAX_STEPS)

    def findings(self, place: Path, schema: JSONValue) -> Iterator[Finding]:
        """Yield why the value at a place of the document is no JSON Schema that stands by itself."""
        if self._values < 0:
            return
        self._values -= sum(len(node) + 1 for node in _containers(schema))
        if self._values < 0:
            message = f"the schemas of the document have more than {MAX_VALUES:,} values; from here on none is judged"
            yield Finding(f"{self._prefix}-EMBEDDED-001", "json", f"#{pointer(*place)}", message).as_warning()
            return
        for fault in _faults(schema):
            requirement = f"{self._prefix}-{'REF' if fault.reference else 'EMBEDDED'}-001"
            location = f"#{pointer(*place, *fault.path)}"
            found = Finding(requirement, "graph" if fault.reference else "json", location, fault.message, fault.hint)
            yield found if fault.is_error else found.as_warning()

    def example_faults(self, schema: JSONObject, example: JSONValue) -> list[str]:
        """Return the pointers within an example at which a valid schema refuses it, a few at most.

        Raises :class:`NotJudgedError`.
        """
        import referencing

        if self._values < 0:
            raise NotJudgedError("the schemas of the document are not judged")
        root = _undeclared(schema)
        if any(name in node for node in _containers(root) for name in ("patternProperties", "$schema")):
            raise NotJudgedError("its schema has what is not judged here (patternProperties, an inner $schema)")
        registry: referencing.Registry[Any] = referencing.Registry()
        judge = _bounded(agentsuite_schemas.dialect(schema), self._steps)(root, registry=registry)
        try:
            found = list(islice(judge.iter_errors(example), MAX_FAULTS))
        except NotJudgedError:
            raise
        except RecursionError:
            raise NotJudgedError("its schema refers to itself without an end") from None
        except Exception:  # a number beyond what the library calculates with, a reference through what is no schema
            raise NotJudgedError("its schema cannot be evaluated") from None
        return list(dict.fromkeys(pointer(*error.absolute_path) for error in found))


def _faults(schema: JSONValue) -> list[_Fault]:
    named = schema.get("$schema") if isinstance(schema, dict) else None
    found = []
    if isinstance(schema, dict) and isinstance(named, str) and agentsuite_schemas.dialect(schema) is None:
        message = "the schema names a dialect that we do not know, and is judged by draft 2020-12"
        found.append(_Fault(("$schema",), message, "name one of JSON Schema's own, or leave it out", is_error=False))
        schema = _undeclared(schema)
    errors = list(islice(agentsuite_schemas.schema_errors(schema), MAX_FAULTS))
    found += [_Fault(error.path, f"no JSON Schema: {error.message}") for error in errors]
    if isinstance(schema, dict) and not errors:
        found += _pattern_faults(schema)
        found += _reference_faults(schema)
    return found


def _undeclared(schema: JSONObject) -> JSONObject:
    return {name: value for name, value in schema.items() if name != "$schema"}


def _pattern_faults(schema: JSONObject) -> Iterator[_Fault]:
    for path, node, _ in subschemas(schema):
        named = node.get("patternProperties")
        patterns = [(("patternProperties", name), name) for name in (named if isinstance(named, dict) else ())]
        for where, pattern in [(("pattern",), node.get("pattern")), *patterns]:
            if isinstance(pattern, str) and not _is_regex(pattern):
                hint = "write a regular expression that RE2 or Python can read"
                message = "this is no regular expression that we can read"
                yield _Fault((*path, *where), message, hint, is_error=False)


def _reference_faults(schema: JSONObject) -> Iterator[_Fault]:
    import referencing
    import referencing.jsonschema

    specification = referencing.jsonschema.specification_with(agentsuite_schemas.dialect(schema) or "")
    empty: referencing.Registry[Any] = referencing.Registry()
    try:
        registry = empty.with_resource("", specification.create_resource(schema)).crawl()
    except Exception:  # whatever the library makes of identifiers that are none
        yield _Fault((), "the schema's identifiers cannot be resolved")
        return
    for path, node, base in subschemas(schema):
        for name in _REFERENCES:
            target = node.get(name)
            if isinstance(target, str) and not _resolves(registry, base, target):
                inside = target.startswith("#")
                message = "the reference leads nowhere in this schema" if inside else "the reference leaves this schema"
                hint = "" if inside else "nothing is fetched; put the definition under $defs"
                yield _Fault((*path, name), message, hint, reference=True)


def _resolves(registry: Any, base: str, target: str) -> bool:
    try:
        registry.resolver(base).lookup(target)
    except Exception:  # a pointer into a string, a broken URI: it leads nowhere
        return False
    return True


def subschemas(schema: JSONObject) -> Iterator[tuple[Path, JSONObject, str]]:
    """Yield every schema within a schema, with its place and its base URI; values that only look like one are not."""
    pending: list[tuple[Path, JSONValue, str]] = [((), schema, "")]
    while pending:
        path, node, base = pending.pop()
        if isinstance(node, list):
            pending.extend(((*path, position), item, base) for position, item in enumerate(node))
        if not isinstance(node, dict):
            continue
        identifier = node.get("$id")
        if isinstance(identifier, str):
            base = _joined(base, identifier)
        yield path, node, base
        for name, value in node.items():
            if name in _NAMED and isinstance(value, dict):
                pending.extend(((*path, name, key), part, base) for key, part in value.items())
            elif name not in _LITERAL:
                pending.append(((*path, name), value, base))


def _joined(base: str, identifier: str) -> str:
    try:
        return urljoin(base, identifier).rstrip("#")
    except ValueError:
        return base


def _containers(value: JSONValue) -> Iterator[JSONObject | list[JSONValue]]:
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield node
            pending.extend(node.values())
        elif isinstance(node, list):
            yield node
            pending.extend(node)


# --- what judging may cost ---------------------------------------------------------------------------------------


class _Steps:
    """What is left of a budget."""

    def __init__(self, left: int) -> None:
        self._left = left

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise NotJudgedError("judging the examples of this document takes too long")


def _bounded(dialect: str | None, steps: _Steps) -> Any:
    """Return an engine for a dialect that spends steps, matches patterns by RE2, and compares items in linear time."""
    import jsonschema
    from jsonschema import validators

    base = validators.validator_for({"$schema": dialect}, default=jsonschema.Draft202012Validator)

    def charged(rule: Callable[..., Any]) -> Callable[..., Any]:
        def judge(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
            steps.spend(1 + _size(value) + _size(instance))
            return rule(validator, value, instance, schema)

        return judge

    rules: dict[str, Any] = {**base.VALIDATORS, "pattern": _pattern, "uniqueItems": _unique_items}
    extend: Any = validators.extend
    return extend(base, {keyword: charged(rule) for keyword, rule in rules.items()})


def _size(value: object) -> int:
    return len(value) if isinstance(value, (dict, list)) else len(value) // 100 if isinstance(value, str) else 0


def _pattern(_validator: Any, pattern: str, instance: object, _schema: object) -> Iterator[Exception]:
    from jsonschema import ValidationError

    if not isinstance(instance, str):
        return
    compiled = _re2(pattern)
    if compiled is None:
        raise NotJudgedError("its schema has a pattern that RE2 cannot read")
    if compiled.search(instance) is None:
        yield ValidationError("the pattern does not match")


def _unique_items(_validator: Any, unique: object, instance: object, _schema: object) -> Iterator[Exception]:
    from jsonschema import ValidationError

    from hatch_agentsuite.jsondoc import canonical

    if unique and isinstance(instance, list) and len({canonical(item) for item in instance}) != len(instance):
        yield ValidationError("two items are equal")


def _is_regex(pattern: str) -> bool:
    """Whether RE2 or Python can read a pattern; one that is too long to try counts as read."""
    if len(pattern) > _LONGEST_PATTERN or _re2(pattern) is not None:
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _re2(pattern: str) -> Any:
    if len(pattern) > _LONGEST_PATTERN:
        return None
    try:
        import re2
    except ImportError:
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error:
        return None
