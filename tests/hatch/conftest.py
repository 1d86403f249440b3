"""hatchling's command line, run in this process: quick, and an exception that reaches the user fails the test."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hatchling.cli import hatchling

from tests.hatch.projects import Outcome, write_project


@pytest.fixture(autouse=True)
def _nothing_steers_hatch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("HATCH") or name == "SOURCE_DATE_EPOCH":
            monkeypatch.delenv(name)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project")


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Return what runs `hatchling build ARGUMENTS` in a project."""

    def run(root: Path, *arguments: str) -> Outcome:
        capsys.readouterr()
        with monkeypatch.context() as patch:
            patch.chdir(root)
            patch.setattr(sys, "argv", ["hatchling", "build", *arguments])
            try:
                status = hatchling()
            except SystemExit as end:
                status = int(end.code or 0)
        said = capsys.readouterr()
        return Outcome(status, said.out, said.err)

    return run
