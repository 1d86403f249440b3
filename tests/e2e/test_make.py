"""The Makefile: its help, what its targets would do, and an environment that is made again when it must be."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.checkout import ROOT
from tests.hatch.projects import Outcome, run

pytestmark = pytest.mark.e2e

Make = Callable[..., Outcome]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place with the Makefile and what it looks at, and no environment yet."""
    for name in ("Makefile", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


@pytest.fixture
def make(require_tool: Callable[[str], str], folder: Path) -> Make:
    command = require_tool("make")

    def call(*arguments: str) -> Outcome:
        return run(command, *arguments, cwd=folder, MAKEFLAGS="", MAKELEVEL="0")

    return call


def pretend_environment(folder: Path, made_for: Path, python: str = "#!/bin/sh\nexit 0\n") -> Path:
    """Write an environment as `make setup` would have left it, newer than what it is made from."""
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").write_text(python)
    (folder / ".venv" / "bin" / "python").chmod(0o755)
    stamp = folder / ".venv" / ".made-for"
    stamp.write_text(f"{made_for}\n")
    return stamp


def test_help_lists_every_target(make: Make) -> None:
    """It is what plain `make` says, too."""
    outcome = make("help")
    assert outcome.status == 0
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert [line.split()[0] for line in outcome.out.splitlines()] == targets
    assert {"setup", "demo", "test", "lint", "format", "clean"} <= set(targets)
    assert make() == outcome


@pytest.mark.parametrize(
    ("target", "commands"),
    [
        ("demo", ["python -m hatchling build -t agentsuite", "agentsuite inspect", "agentsuite validate"]),
        ("test", ["python -m pytest -n"]),
        ("lint", ["ruff check .", "ruff format --check .", "mypy"]),
    ],
)
def test_targets_make_the_environment_and_use_it(make: Make, target: str, commands: list[str]) -> None:
    outcome = make("-n", target)
    assert outcome.status == 0, outcome.err
    text = outcome.out
    for part in ["-m venv --clear .venv", *commands]:
        assert part in text
        text = text[text.index(part) :]


def test_environment_made_for_this_place_is_kept(make: Make, folder: Path) -> None:
    stamp = pretend_environment(folder, folder)
    assert make("check-stamp").status == 0
    assert stamp.exists()
    outcome = make("-n", "setup")
    assert "venv --clear" not in outcome.out


@pytest.mark.parametrize("why", ["moved", "lost its interpreter"])
def test_environment_that_cannot_work_is_made_again(make: Make, folder: Path, why: str) -> None:
    """A checkout that was moved has scripts that point to where it was."""
    stamp = pretend_environment(folder, folder / "before" if why == "moved" else folder)
    if why != "moved":
        (folder / ".venv" / "bin" / "python").unlink()
    assert make("check-stamp").status == 0
    assert not stamp.exists()
    assert "venv --clear" in make("-n", "setup").out


def test_old_python_is_named_before_anything_is_made(make: Make, folder: Path) -> None:
    python = folder / "old-python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    outcome = make("setup", f"PYTHON={python}")
    assert outcome.status != 0
    assert "Python 3.10 or later is needed; set PYTHON=..." in outcome.err
    assert not (folder / ".venv").exists()


def test_clean_removes_what_was_built_and_nothing_else(make: Make, folder: Path) -> None:
    for name in ("dist/x", "examples/hello/dist/x", ".venv/x", "examples/hello/suite/x", "mine/x"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    assert make("clean").status == 0
    left = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert left == ["Makefile", "examples/hello/suite/x", "mine/x", "pyproject.toml"]
