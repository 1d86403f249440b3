"""Judging a document by a schema: a verdict, and the errors behind a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from agentsuite_schemas import _engines
from agentsuite_schemas._explain import Explainer, SchemaError
from agentsuite_schemas._store import Form, load, resources, uri

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MAX_ERRORS = 100
_MEANINGLESS = frozenset({"const", "enum", "maximum", "minimum", "not"})  # once the type is wrong
_Path = tuple["str | int", ...]


@dataclass(frozen=True)
class Validator:
    """One schema, ready to judge parsed JSON: ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool``, ``None``.

    A float is refused wherever it stands in an AgentSuite document (no member of any is one), so that ``1.0`` is not an
    integer in one engine and none in the other. Other formats are open: a document that holds a float is judged by the
    engine that tells the two apart.
    """

    name: str
    form: Form = "packed"

    def is_valid(self, value: Any) -> bool:
        """Say whether the schema accepts the value; an engine that fails on it has not accepted it."""
        floats = _has_float(value)
        if floats and self._without_floats:
            return False
        engine = None if floats else _engines.fast(self.name, self.form)
        if engine is None:
            return _engines.verdict(self.name, self.form).is_valid(value)
        return _accepts(engine, value)

    def errors(self, value: Any, *, show_values: bool = False) -> Iterator[SchemaError]:
        """Yield what is wrong with the value, in the order of paths; nothing if and only if it is valid.

        At most 100 errors come, then one that says there are more. A message repeats a value of the document only where
        ``show_values`` asks for it. Where one engine refuses and the other finds nothing wrong, that is the error.
        """
        if self.is_valid(value):
            return
        found = self._explained(value, show_values)
        yield from sorted(found[:MAX_ERRORS], key=_order)
        if len(found) > MAX_ERRORS:
            yield SchemaError((), "limit", f"there are more than {MAX_ERRORS} errors; the others are not shown")
        if not found:
            yield SchemaError((), "engines", "one JSON Schema engine refuses the document, the other does not say why")

    def _explained(self, value: Any, show_values: bool) -> list[SchemaError]:
        """Return up to one error more than is shown, each once."""
        found: dict[tuple[_Path, str, str], SchemaError] = {}
        for error in self._unlimited(value, show_values):
            if error.keyword in _MEANINGLESS and (error.path, "type", error.definition) in found:
                continue
            detail = error.message if error.keyword in {"required", "dependentRequired"} else ""
            found.setdefault((error.path, error.keyword, detail or error.definition), error)
            if len(found) > MAX_ERRORS:
                break
        return list(found.values())

    def _unlimited(self, value: Any, show_values: bool) -> Iterator[SchemaError]:
        schemas = resources(self.form)
        explainer = Explainer(schemas, schemas[uri(self.name)], show_values)
        typed = set()
        for refusal in _engines.thorough(self.name, self.form).iter_errors(value):
            for error in explainer.explain(refusal):
                if error.keyword == "type":
                    typed.add(error.path)
                yield error
        for path, number in _floats(value) if self._without_floats else ():
            if path not in typed:
                shown = f"; found {number!r}" if show_values else ""
                yield SchemaError(path, "type", f"must not be a number with a fraction or exponent{shown}")

    @property
    def _without_floats(self) -> bool:
        return self.name.startswith("agentsuite/")


@cache
def validator(name: str) -> Validator:
    """Return the validator of a document schema, such as ``agentsuite/agent``."""
    load(name)
    return Validator(name)


@cache
def authoring(name: str) -> Validator:
    """Return the validator of the form in which people write a document: what can be computed may be left out.

    No object has a required member, and the ``sbom`` and ``provenance`` of a variant may name a file: its path, or an
    object of ``path`` and ``mediaType``. Everything that is written has to be right.
    """
    load(name)
    return Validator(name, "authoring")


def _accepts(engine: _engines.Fast, value: Any) -> bool:
    try:
        return engine.is_valid(value)
    except (ValueError, TypeError, OverflowError):  # no JSON (a lone surrogate, a date), or a limit of the engine
        return False


def _has_float(value: Any) -> bool:
    pending: list[Collection[Any]] = [(value,)]
    while pending:
        items = pending.pop()
        kinds = set(map(type, items))
        if float in kinds:
            return True
        if dict in kinds:
            pending.extend(item.values() for item in items if type(item) is dict)
        if list in kinds:
            pending.extend(item for item in items if type(item) is list)
    return False


def _floats(value: Any) -> Iterator[tuple[_Path, float]]:
    stack: list[tuple[_Path, Any]] = [((), value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, dict):
            stack.extend(((*path, name), member) for name, member in item.items())
        elif isinstance(item, list):
            stack.extend(((*path, position), member) for position, member in enumerate(item))
        elif isinstance(item, float):
            yield path, item


def _order(error: SchemaError) -> tuple[list[tuple[int, int, str]], str]:
    """Sort by path (positions as numbers, before names), then by keyword."""
    path = [(0, step, "") if isinstance(step, int) else (1, 0, step) for step in error.path]
    return path, error.keyword
