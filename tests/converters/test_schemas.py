"""The schemas of the three formats: valid, explained, the same in both engines, and without a rule that is for show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agentsuite_schemas import _engines, _store, load, names, validator
from tests.converters import documents, test_aib, test_aidip, test_brick
from tests.converters.mutations import changed
from tests.schemas.mutations import of_another_type
from tests.schemas.test_files import RULES, STRUCTURE, subschemas, weakened

BUILD: dict[str, Callable[[], Any]] = {
    "aib/blueprint": documents.aib,
    "aidip/metadata": documents.aidip,
    "brick/manifest": documents.brick,
}
BROKEN: dict[str, list[tuple[str, Any]]] = {
    "aib/blueprint": [(pointer, value) for pointer, value, *_ in test_aib.BROKEN],
    "aidip/metadata": [(pointer, value) for pointer, value, *_ in test_aidip.BROKEN],
    "brick/manifest": [(pointer, value) for pointer, value, *_ in test_brick.BROKEN],
}


def candidates(name: str) -> list[Any]:
    """Documents of which many are wrong: the tables, another type at every place."""
    found = [changed(BUILD[name](), pointer, value) for pointer, value in BROKEN[name]]
    found += [document for _, document in of_another_type(BUILD[name])]
    return found


@pytest.mark.parametrize("name", BUILD)
def test_a_schema_is_a_valid_schema_under_its_own_name(name: str) -> None:
    assert name in names()
    schema = load(name)
    assert schema["$id"] == f"https://hatch-agentsuite.dev/schemas/{name}.json"
    Draft202012Validator.check_schema(schema)
    assert {keyword for _, part in subschemas(schema) for keyword in part} <= RULES | STRUCTURE


@pytest.mark.parametrize("name", BUILD)
def test_every_rule_is_explained_and_every_definition_used(name: str) -> None:
    schema = load(name)
    silent = {"required", "properties", "items", "additionalProperties"}
    for at, part in subschemas(schema):
        if RULES & part.keys() - silent:
            assert part.get("description"), at
    uses = {part["$ref"].rpartition("/")[2] for _, part in subschemas(schema) if "$ref" in part}
    assert schema["$defs"].keys() <= uses


@pytest.mark.parametrize("name", BUILD)
def test_only_the_top_of_brick_is_closed(name: str) -> None:
    """BRICK section 5 rejects unknown top-level members; everything else is kept."""
    closed = [at for at, part in subschemas(load(name)) if part.get("additionalProperties") is False]
    assert closed == ([()] if name == "brick/manifest" else [])


@pytest.mark.parametrize("name", BUILD)
def test_both_engines_say_the_same(name: str) -> None:
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    fast, thorough = _engines.fast(name, "packed"), _engines.thorough(name, "packed")
    assert fast is not None
    integers = [_without_floats(document) for document in [BUILD[name](), *candidates(name)]]
    assert {fast.is_valid(document) for document in integers} == {True, False}
    for document in integers:
        assert fast.is_valid(document) == thorough.is_valid(document)


def _without_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_floats(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_floats(part) for part in value]
    return int(value) if isinstance(value, float) else value


@pytest.mark.parametrize("name", BUILD)
def test_one_wrong_type_is_one_error(name: str) -> None:
    """A condition on text says nothing about what is no text."""
    for where, document in of_another_type(BUILD[name], (None, 7)):
        errors = [error for error in validator(name).errors(document) if error.path == where]
        assert len(errors) <= 1, (where, errors)


@pytest.mark.parametrize("name", BUILD)
def test_without_any_one_rule_something_wrong_passes(name: str) -> None:
    rust = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    wrong = [document for document in candidates(name) if not validator(name).is_valid(document)]
    unnoticed = []
    for rule, schema in weakened(load(name)):
        registry = rust.Registry(list({**_store.resources("packed"), schema["$id"]: schema}.items()))
        judge = rust.Draft202012Validator({"$ref": _store.uri(name)}, registry=registry)
        if not any(judge.is_valid(document) for document in wrong):
            unnoticed.append(rule)
    assert unnoticed == []
