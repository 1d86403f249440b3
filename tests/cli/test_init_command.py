"""`agentsuite init`: a project that builds at once, and nothing overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from hatchling.metadata.core import load_toml

from hatch_agentsuite.validation import validate
from tests.cli.conftest import Command
from tests.hatch.projects import run_hatchling, snapshot

FILES = [
    "pyproject.toml",
    "suite/agents/assistant.yaml",
    "suite/build-profiles/default.yaml",
    "suite/evals/assistant/cases/capital.yaml",
    "suite/instructions/assistant.md",
]


def test_writes_a_project_and_says_what_is_next(cli: Command) -> None:
    outcome = cli("init", "my-agents")
    assert outcome.status == 0
    assert sorted(outcome.out.split()) == [f"my-agents/{name}" for name in FILES]
    assert outcome.err == "\nNext: cd my-agents && hatch build -t agentsuite\n"
    assert sorted(snapshot(Path("my-agents"))) == FILES


def test_result_packs_and_validates(cli: Command) -> None:
    assert cli("init", "my-agents").status == 0
    outcome = cli("pack", "my-agents/suite", "-o", "out.agentsuite")
    assert outcome.status == 0
    assert [line.partition(" ")[0] for line in outcome.lines] == ["warning:"], (
        "of its placeholders, and of nothing else"
    )
    assert "placeholders" in outcome.err
    report = validate("out.agentsuite")
    assert report.ok
    assert report.summary
    assert report.summary.name == "my-agents"


def test_result_is_a_hatch_project(cli: Command) -> None:
    assert cli("init", "--name", "My Agents!").status == 0
    outcome = run_hatchling(Path.cwd(), "-t", "agentsuite")
    assert outcome.status == 0, outcome.err
    assert validate("dist/my_agents-0.1.0.agentsuite").ok


def test_strict_packing_refuses_the_placeholders(cli: Command) -> None:
    """As its own comment says."""
    cli("init", "p")
    outcome = cli("pack", "p/suite", "-o", "out", "--strict")
    assert outcome.status == 1
    assert "placeholders" in outcome.err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("name", "project"),
    [
        ("Weather", "weather"),
        ("My Agents", "my-agents"),
        ('x"]\n[evil]\na = "', "x-evil-a"),
        ("日本", "agents"),
        ("a" * 127 + "-b", "a" * 127),
    ],
)
def test_name(cli: Command, name: str, project: str) -> None:
    assert cli("init", "p", "--name", name).status == 0
    assert load_toml("p/pyproject.toml")["project"]["name"] == project


def test_name_is_the_folders(cli: Command) -> None:
    assert cli("init").status == 0
    assert load_toml("pyproject.toml")["project"]["name"] == "work"


@pytest.mark.parametrize("present", FILES)
def test_overwrites_nothing_and_then_writes_nothing(cli: Command, present: str) -> None:
    file = Path("p") / present
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    outcome = cli("init", "p")
    assert outcome.status == 1
    assert outcome.err == f"error: already there, and not overwritten: {file}\n"
    assert snapshot(Path("p")) == {present: b"mine"}


def test_does_not_write_through_a_dangling_link(cli: Command, tmp_path: Path) -> None:
    Path("pyproject.toml").symlink_to(tmp_path / "elsewhere")
    assert cli("init").status == 1
    assert not (tmp_path / "elsewhere").exists()


def test_folder_that_is_a_file(cli: Command) -> None:
    Path("p").write_text("")
    outcome = cli("init", "p")
    assert outcome.status == 1
    assert outcome.lines[-1] == "error: p: File exists"
