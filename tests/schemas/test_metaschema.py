"""Schemas that somebody else wrote, held against their metaschemas: one verdict, whichever engine is installed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agentsuite_schemas
from agentsuite_schemas import _meta

KEYWORDS = (
    "$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "additionalProperties", "allOf",
    "const", "contains", "default", "definitions", "dependencies", "dependentRequired", "enum", "exclusiveMinimum",
    "format", "if", "items", "maxLength", "minItems", "multipleOf", "not", "pattern", "patternProperties",
    "prefixItems", "properties", "readOnly", "required", "title", "type", "unevaluatedItems", "uniqueItems", "unknown",
)  # fmt: skip
_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.5, 1.0, "", "object", "a\n", "#", "a#b", "("])
)
VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=12,
)
SCHEMAS = VALUES | st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=3)


@pytest.mark.parametrize(
    "dialect", ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]
)
def test_engines_agree(dialect: str) -> None:
    """With and without jsonschema-rs every schema gets the same verdict."""
    pytest.importorskip("jsonschema_rs")
    fast, thorough = _meta._fast(dialect.removesuffix("#")), _meta._thorough(dialect.removesuffix("#"))
    assert fast is not None

    @settings(max_examples=300, deadline=None)
    @given(SCHEMAS)
    def agree(schema: Any) -> None:
        if isinstance(schema, dict):
            schema = {**schema, "$schema": dialect}
        assert fast.is_valid(schema) is thorough.is_valid(schema)

    agree()


@pytest.mark.parametrize("dialect", _meta.DIALECTS)
def test_every_dialect_is_known(dialect: str) -> None:
    """Each accepts its own metaschema's simplest schema and refuses a title that is no string."""
    for written in (dialect, f"{dialect}#"):
        assert agentsuite_schemas.dialect({"$schema": written}) == dialect
        assert list(agentsuite_schemas.schema_errors({"$schema": written})) == []
        [error] = agentsuite_schemas.schema_errors({"$schema": written, "title": 5})
        assert (error.path, error.keyword) == (("title",), "type")


def test_absent_dialect_is_the_first() -> None:
    assert agentsuite_schemas.dialect({}) == agentsuite_schemas.dialect(True) == _meta.DIALECTS[0]
    assert agentsuite_schemas.dialect({"$schema": "https://a.example/"}) is None


def test_errors_are_bounded() -> None:
    errors = list(agentsuite_schemas.schema_errors({"allOf": [5] * 1000}))
    assert len(errors) == agentsuite_schemas.MAX_ERRORS + 1
    assert errors[-1].keyword == "limit"


def test_refusal_that_nothing_explains_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the engines disagree the schema is refused: fail closed (16)."""

    class Refusing:
        def is_valid(self, instance: Any) -> bool:
            return False

    monkeypatch.setattr(_meta, "_fast", lambda _uri: Refusing())
    [error] = agentsuite_schemas.schema_errors({})
    assert error.keyword == "engines"


def test_schema_too_deep_for_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_meta, "_fast", lambda _uri: None)
    schema: Any = {}
    for _ in range(900):
        schema = {"not": schema}
    [error] = agentsuite_schemas.schema_errors(schema)
    assert error.keyword == "depth"
