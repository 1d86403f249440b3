"""The option `agent-cards`: cards beside the suite, made with it or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.configuration import TARGET_TABLE, ConfigurationError, read_configuration
from hatch_agentsuite.validation import validate
from tests.hatch.projects import Outcome, pyproject, target_table, write_yaml

Build = Callable[..., Outcome]
TABLE = f"{TARGET_TABLE}.agent-cards"
CARDS = "demo-0.1.0.agent-cards"
SETTINGS = (
    'agent-cards = {urls = ["https://agents.example.com/{agent}"], tags = ["help"], '
    'input-modes = ["text/plain"], output-modes = ["text/plain"]}'
)
PROFILE: dict[str, Any] = {
    "name": "Helper",
    "version": "1.0.0",
    "capabilities": [
        {"id": "answer", "description": "Answers questions.", "visibility": "public"},
        {"id": "ponder", "description": "Thinks in silence.", "visibility": "private"},
    ],
}


def configure(project: Path, options: str, **profile: Any) -> Path:
    (project / "pyproject.toml").write_text(pyproject(tables=target_table(options)), encoding="utf-8")
    write_yaml(project / "suite/metadata/profiles/helper.yaml", {**PROFILE, **profile})
    return project


def test_cards_are_written_beside_the_suite(project: Path, build: Build) -> None:
    """A card for each agent with a public capability, under its well-known path, naming the suite by its digest."""
    assert build(configure(project, SETTINGS), "-t", "agentsuite").status == 0
    card = json.loads((project / "dist" / CARDS / "helper/.well-known/agent-card.json").read_text())
    digest = validate(project / "dist/demo-0.1.0.agentsuite").digest
    assert [skill["id"] for skill in card["skills"]] == ["answer"]
    assert card["supportedInterfaces"][0]["url"] == "https://agents.example.com/helper"
    assert [item["params"] for item in card["capabilities"]["extensions"]] == [
        {"agent": "helper", "suiteDigest": digest}
    ]


def test_without_the_option_there_are_no_cards(project: Path, build: Build) -> None:
    assert build(configure(project, ""), "-t", "agentsuite").status == 0
    assert not (project / "dist" / CARDS).exists()


def test_true_takes_everything_from_the_profile(project: Path, build: Build) -> None:
    more = {"tags": ["t"], "inputModes": ["text/plain"], "outputModes": ["text/plain"]}
    interfaces = [{"url": "https://agents.example.com/h", "binding": "HTTP+JSON"}]
    configure(project, "agent-cards = true", interfaces=interfaces, **more)
    assert build(project, "-t", "agentsuite:archive").status == 0
    card = json.loads((project / "dist" / CARDS / "helper/.well-known/agent-card.json").read_text())
    assert card["supportedInterfaces"][0]["protocolBinding"] == "HTTP+JSON"


@pytest.mark.parametrize(
    ("options", "profile", "said"),
    [
        ("agent-cards = true", {}, "helper#/defaultInputModes"),
        (SETTINGS, {"description": "Reach it at http://10.0.0.7/ now."}, "A2A-PRIVACY-001"),
        (SETTINGS, {"capabilities": []}, "no agent has a public capability"),
    ],
)
def test_a_card_that_cannot_be_published_refuses_the_build(
    project: Path, build: Build, options: str, profile: dict[str, Any], said: str
) -> None:
    """Both or none: neither suite nor cards are left, and what an older build made stays."""
    assert build(configure(project, SETTINGS), "-t", "agentsuite").status == 0
    before = validate(project / "dist/demo-0.1.0.agentsuite").digest
    description = profile.pop("description", None)
    configure(project, options, **profile)
    if description:
        agent = project / "suite/agents/helper.yaml"
        agent.write_text(agent.read_text().replace("Answers.", f'"{description}"'))
    outcome = build(project, "-t", "agentsuite")
    assert outcome.status == 1
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert validate(project / "dist/demo-0.1.0.agentsuite").digest == before


def test_clean_removes_cards(project: Path, build: Build) -> None:
    assert build(configure(project, SETTINGS), "-t", "agentsuite").status == 0
    other = project / "dist/other-0.1.0.agent-cards"
    other.mkdir()
    assert build(configure(project, ""), "-c", "-t", "agentsuite").status == 0
    assert not (project / "dist" / CARDS).exists()
    assert other.is_dir()


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("yes", f"Field `{TARGET_TABLE}.agent-cards` must be a boolean"),
        ({"url": "x"}, f"Unknown options in `{TABLE}`: url. Available: api-key-header, binding, input-modes, "),
        ({"urls": "x"}, f"Field `{TABLE}.urls` must be an array"),
        ({"tags": [1]}, f"Item #1 of field `{TABLE}.tags` must be a string"),
        ({"binding": 1}, f"Field `{TABLE}.binding` must be a string"),
        ({"protocol-version": "2.0"}, f"Field `{TABLE}.protocol-version` must be one of: 1.0, 0.3"),
    ],
)
def test_mistakes_in_the_option(value: Any, error: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_configuration({"agent-cards": value}, "demo")
    assert caught.value.errors[0].startswith(error)
