"""The command line in this process: an exception that would reach a user as a traceback fails the test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from hatch_agentsuite.cli import main
from tests.hatch.projects import Outcome, write_suite

Command = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test in an empty folder named `work`."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def cli() -> Command:
    """Return what runs `agentsuite ARGUMENTS`."""

    def run(*arguments: str | Path) -> Outcome:
        result = CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def suite() -> Path:
    """An authoring tree at `suite`, with one agent that has one tool."""
    return write_suite(Path("suite"), with_tool=True)


@pytest.fixture
def layout(cli: Command, suite: Path) -> Path:
    """A packed suite, as a layout."""
    assert cli("pack", suite, "-o", "made.agentsuite").status == 0
    return Path("made.agentsuite")
