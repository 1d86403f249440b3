"""`agentsuite` in this process, in an empty folder: an exception that would be a traceback fails the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hatch_agentsuite.cli import main
from tests.a2a.cards import card_10
from tests.a2a.keys import PASSPHRASE, known, secret
from tests.hatch.projects import Outcome

Command = Callable[..., Outcome]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return what runs `agentsuite ARGUMENTS` in a folder named `work`; ``stdin`` is what is typed."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def run(*arguments: str | Path, stdin: str | None = None) -> Outcome:
        words = [str(argument) for argument in arguments]
        result = CliRunner().invoke(main, words, input=stdin, catch_exceptions=False)
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


def written(name: str, value: Any) -> Path:
    Path(name).write_text(json.dumps(value), encoding="utf-8")
    return Path(name)


def read(name: str | Path) -> Any:
    return json.loads(Path(name).read_text(encoding="utf-8"))


@pytest.fixture
def keys(cli: Command) -> None:
    """Keys and a card in the working folder."""
    Path("key.pem").write_bytes(secret("ES256"))
    Path("locked.pem").write_bytes(secret("ES256", PASSPHRASE))
    Path("public.pem").write_bytes(known("ES256"))
    Path("other.pem").write_bytes(known("EdDSA"))
    written("card.json", card_10())
