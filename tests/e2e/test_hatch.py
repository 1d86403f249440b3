"""The real `hatch build`, in an isolated environment, in a copy of the checkout: it uses the copy's own plugin."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from hatch_agentsuite.validation import validate
from tests.e2e.checkout import copy_checkout
from tests.hatch.projects import Outcome, run, snapshot

pytestmark = pytest.mark.e2e

MARK = "made by the checkout's own plugin"
UNREACHABLE = re.compile(r"(?i)failed to fetch|error sending request|dns error|could not connect|connection refused")
INDEX_SETTINGS = ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_FIND_LINKS")


@dataclass(frozen=True)
class Session:
    """A copy of the checkout, and `hatch` with its data in a folder of its own."""

    checkout: Path
    hatch: Callable[..., Outcome]

    @property
    def hello(self) -> Path:
        return self.checkout / "examples" / "hello"


@pytest.fixture
def session(require_tool: Callable[[str], str], tmp_path: Path) -> Session:
    """Build examples/hello once, which makes the environment that all further builds use."""
    command = require_tool("hatch")
    checkout = copy_checkout(tmp_path / "check out")
    builder = checkout / "hatch_agentsuite" / "builder.py"
    builder.write_text(builder.read_text().replace('display_info(f"AgentSuite', f'display_info(f"{MARK}: AgentSuite'))
    changes = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "STATE")}
    changes |= {name: os.environ[name] for name in INDEX_SETTINGS if name in os.environ}
    changes |= {"HATCH_DATA_DIR": str(tmp_path / "hatch"), "NO_COLOR": "1", "HATCH_INTERACTIVE": "0", "COLUMNS": "300"}

    def hatch(*arguments: str) -> Outcome:
        return run(command, *arguments, cwd=checkout / "examples" / "hello", **changes)

    first = hatch("build", "-t", "agentsuite")
    if first.status and UNREACHABLE.search(first.out + first.err):
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("the package index cannot be reached")
    assert first.status == 0, first.out + first.err
    assert MARK in first.err, "the plugin came from elsewhere"
    return Session(checkout, hatch)


def build_makes_the_suite_with_the_checkouts_plugin(session: Session) -> None:
    """examples/uv.toml: an example names the published plugin, and gets the checkout around it."""
    outcome = session.hatch("build", "-t", "agentsuite")
    assert outcome.status == 0
    digest = validate(session.hello / "dist" / "hello-0.1.0.agentsuite").digest
    assert f"{MARK}: AgentSuite hello {digest}" in outcome.err
    assert "hatch-agentsuite" in (session.hello / "pyproject.toml").read_text()
    assert "file://" not in (session.hello / "pyproject.toml").read_text()


def archive_into_another_folder(session: Session) -> None:
    """Hatch hands the location down relative."""
    outcome = session.hatch("build", "-t", "agentsuite:archive", "out")
    assert outcome.status == 0
    assert [path.name for path in (session.hello / "out").iterdir()] == ["hello-0.1.0.agentsuite.tar"]
    assert validate(session.hello / "out" / "hello-0.1.0.agentsuite.tar").ok


def clean_and_build(session: Session) -> None:
    dist = session.hello / "dist"
    for name in ("hello-0.0.9.agentsuite", "other-0.1.0.agentsuite"):
        (dist / name).mkdir(parents=True, exist_ok=True)
    (dist / "hello-0.1.0.tar.gz").write_text("mine")
    outcome = session.hatch("build", "-c", "-t", "agentsuite")
    assert outcome.status == 0, outcome.err
    names = {path.name for path in dist.iterdir()}
    assert names == {"hello-0.1.0.agentsuite", "other-0.1.0.agentsuite", "hello-0.1.0.tar.gz"}
    assert (dist / "hello-0.1.0.tar.gz").read_text() == "mine"


def verbose_shows_origins(session: Session) -> None:
    outcome = session.hatch("-v", "build", "-t", "agentsuite")
    assert "agents/greeter.json <- suite/agents/greeter.yaml" in outcome.err


def mistake_is_one_message_without_traceback(session: Session) -> None:
    file = session.hello / "suite" / "instructions" / "greeter.md"
    text = file.read_text()
    file.unlink()
    try:
        before = snapshot(session.hello / "dist")
        outcome = session.hatch("build", "-t", "agentsuite")
    finally:
        file.write_text(text)
    assert outcome.status == 1
    assert "suite/agents/greeter.yaml" in outcome.err
    assert "Traceback" not in outcome.out + outcome.err
    assert snapshot(session.hello / "dist") == before


def test_hatch_build(session: Session) -> None:
    """One test, for the environment takes several seconds to make and every worker would make its own."""
    build_makes_the_suite_with_the_checkouts_plugin(session)
    archive_into_another_folder(session)
    clean_and_build(session)
    verbose_shows_origins(session)
    mistake_is_one_message_without_traceback(session)
