"""Whatever the schemas describe is accepted by both engines, and read back from JSON it still is."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator
from referencing import Registry

from agentsuite_schemas import _engines, _store, validator
from tests.schemas.samples import SAMPLES
from tests.schemas.strategy import Generator


@cache
def _judge(uri: str) -> Any:
    registry = Registry[Any]().with_contents(_store.resources("packed").items())
    return Draft202012Validator({"$ref": uri}, registry=registry)


def _accepts(uri: str, value: Any) -> bool:
    return bool(_judge(uri).is_valid(value))


GENERATOR = Generator(_accepts)


@pytest.mark.parametrize("name", SAMPLES)
def test_generated_document_is_accepted(name: str) -> None:
    engines = [_engines.thorough(name, "packed"), _engines.fast(name, "packed")]

    @settings(max_examples=5, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(GENERATOR.document(name))
    def check(document: Any) -> None:
        assert json.loads(json.dumps(document)) == document
        assert all(engine.is_valid(document) for engine in engines if engine is not None)
        assert validator(name).is_valid(document)

    check()


def test_the_strategy_refuses_a_keyword_it_does_not_know() -> None:
    with pytest.raises(NotImplementedError, match="format"):
        GENERATOR._strategy({"type": "string", "format": "uri"}, _store.uri("agentsuite/agent"))
    with pytest.raises(NotImplementedError, match="contains"):
        GENERATOR._strategy({"allOf": [{"contains": {}}]}, _store.uri("agentsuite/agent"))
