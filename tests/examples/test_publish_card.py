"""The example that publishes a card: its README's commands run, print what it shows, and say nothing private."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsuite_converters.a2a.check import check_card
from tests.docs.test_commands import commands, matches
from tests.e2e.checkout import ROOT, copy_example
from tests.examples.test_migrations import shell

pytestmark = pytest.mark.e2e

NAME = "publish-card"
PRIVATE = (
    "leftover", "stale", "yesterday", "flour", "price list", "example-model", "openai-chat", "MODEL_ENDPOINT",
    "model-api-key", "pushed today",
)  # fmt: skip


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory, require_tool: Any) -> Path:
    """A copy of the example in which all commands of its README have run, and printed what it shows."""
    require_tool("openssl")
    project = copy_example(NAME, tmp_path_factory.mktemp("publish"))
    for command, expected in commands(project / "README.md"):
        outcome = shell(command, project)
        assert outcome.status == 0, f"$ {command}\n{outcome.out}"
        assert matches(expected, outcome.out), f"$ {command}\n{outcome.out}"
    return project


def cards(project: Path) -> dict[str, Any]:
    names = ["card.json", "card-0.3.json", "signed.json", "site/bread-advisor/.well-known/agent-card.json"]
    return {name: json.loads((project / name).read_text(encoding="utf-8")) for name in names}


def test_readme_has_every_step() -> None:
    page = [command for command, _ in commands(ROOT / "examples" / NAME / "README.md")]
    for step in ("card suite", "card check", "card site", "card sign", "card verify"):
        assert [command for command in page if command.startswith(f"agentsuite {step}")], step


def test_cards_are_valid_and_hold_nothing_private(walked: Path) -> None:
    for name, card in cards(walked).items():
        assert [finding for finding in check_card(card) if finding.is_error] == [], name
        assert [skill["id"] for skill in card["skills"]] == ["recommend-bread", "oven-times"]
        assert [word for word in PRIVATE if word in json.dumps(card)] == [], name
    assert sorted((walked / "site").iterdir()) == [walked / "site" / "bread-advisor"]


def test_the_profile_holds_what_the_card_must_not_say() -> None:
    """The test above can fail: the words stand in the suite."""
    suite = ROOT / "examples" / NAME / "suite"
    text = "".join(path.read_text(encoding="utf-8") for path in suite.rglob("*") if path.is_file())
    assert [word for word in PRIVATE if word not in text] == []


def test_a_refused_card_is_not_written(walked: Path) -> None:
    assert not (walked / "leak.json").exists()


def test_signature_is_all_that_was_added(walked: Path) -> None:
    made = cards(walked)
    assert {name: value for name, value in made["signed.json"].items() if name != "signatures"} == made["card.json"]
    assert made["site/bread-advisor/.well-known/agent-card.json"] == made["card.json"]
