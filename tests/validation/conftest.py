"""The two JSON Schema engines, one at a time."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from agentsuite_schemas import _engines

_thorough = _engines.thorough


class Remembering:
    """The jsonschema engine; most documents of most suites are equal, and each is judged once."""

    def __init__(self, name: str, form: Any) -> None:
        self._engine = _thorough(name, form)
        self._known: dict[str, bool] = {}

    def is_valid(self, instance: Any) -> bool:
        key = json.dumps(instance, sort_keys=True)
        if key not in self._known:
            self._known[key] = self._engine.is_valid(instance)
        return self._known[key]

    def iter_errors(self, instance: Any) -> Iterator[_engines.Refusal]:
        return self._engine.iter_errors(instance)


@cache
def remembering(name: str, form: Any) -> Remembering:
    return Remembering(name, form)


@pytest.fixture(params=["jsonschema", "jsonschema-rs"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Judge documents with jsonschema alone, or with jsonschema-rs first where that is installed."""
    name: str = request.param
    if name == "jsonschema":
        monkeypatch.setattr(_engines, "fast", lambda _name, _form: None)
        monkeypatch.setattr(_engines, "thorough", remembering)
    elif importlib.util.find_spec("jsonschema_rs") is None:
        pytest.skip("jsonschema-rs is not installed")
    return name
