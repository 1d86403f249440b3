"""The two engines, one at a time."""

from __future__ import annotations

import importlib.util

import pytest

from agentsuite_schemas import _engines

RUST = "jsonschema-rs"


@pytest.fixture(params=["jsonschema", RUST])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let one engine answer first: jsonschema-rs where it is installed, or none but jsonschema."""
    name: str = request.param
    if name == RUST and importlib.util.find_spec("jsonschema_rs") is None:
        pytest.skip("jsonschema-rs is not installed")
    if name != RUST:
        monkeypatch.setattr(_engines, "fast", lambda _name, _form: None)
    return name
