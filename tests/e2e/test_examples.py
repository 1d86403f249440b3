"""The examples build from copies, validate, and are what their READMEs say."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.inspection import inspect
from hatch_agentsuite.unpacking import unpack
from hatch_agentsuite.validation import validate
from tests.e2e.checkout import EXAMPLES, MIGRATIONS, ROOT, copy_example
from tests.hatch.projects import Outcome, run, run_hatchling, snapshot

pytestmark = pytest.mark.e2e

PLACEHOLDERS = "of the images are placeholders; no sandbox image can be built from them"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Outcome]]:
    """Every example, built as suite in its copy."""
    folder = tmp_path_factory.mktemp("examples")
    found = {}
    for name in EXAMPLES:
        project = copy_example(name, folder)
        outcome = run_hatchling(project, "-t", "agentsuite")
        [artifact] = (project / "dist").iterdir() if outcome.status == 0 else [project]
        found[name] = (artifact, outcome)
    return found


def test_every_example_is_listed_and_tested() -> None:
    folders = sorted(path.parent.name for path in (ROOT / "examples").glob("*/pyproject.toml"))
    assert folders == sorted(EXAMPLES + MIGRATIONS)
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [name for name in folders if f"[{name}]({name}/)" not in page] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_builds_with_no_warning_but_that_of_its_placeholders(built: dict[str, tuple[Path, Outcome]], name: str) -> None:
    artifact, outcome = built[name]
    assert outcome.status == 0, outcome.err
    warning, digest, path = outcome.lines
    assert PLACEHOLDERS in warning
    assert digest.startswith("AgentSuite ")
    assert path == str(artifact)


@pytest.mark.parametrize("name", EXAMPLES)
def test_validates(built: dict[str, tuple[Path, Outcome]], name: str) -> None:
    report = validate(built[name][0])
    assert report.ok, report.findings
    assert report.summary
    assert report.summary.name == name.replace("wheel-with-suite", "weather-agents")


@pytest.mark.parametrize("name", EXAMPLES)
def test_builds_the_same_from_another_place(built: dict[str, tuple[Path, Outcome]], name: str, tmp_path: Path) -> None:
    """hello's README: the same bytes on every machine."""
    project = copy_example(name, tmp_path / "elsewhere")
    assert run_hatchling(project, "-t", "agentsuite").status == 0
    assert snapshot(project / "dist") == {
        f"{built[name][0].name}/{path}": data for path, data in snapshot(built[name][0]).items()
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_readme_names_its_files_and_its_result(built: dict[str, tuple[Path, Outcome]], name: str) -> None:
    page = (ROOT / "examples" / name / "README.md").read_text(encoding="utf-8")
    if name != "wheel-with-suite":
        assert f"dist/{built[name][0].name}/" in page
    for agent in (ROOT / "examples" / name / "suite" / "agents").iterdir():
        assert agent.name in page


def members(built: dict[str, tuple[Path, Outcome]], name: str) -> dict[str, Any]:
    found = inspect(built[name][0]).members
    assert found
    return found


def test_hello_is_one_agent_without_tools_and_two_cases(built: dict[str, tuple[Path, Outcome]]) -> None:
    found = members(built, "hello")
    [agent] = found["agents"]
    assert (agent["id"], agent["evalCases"], agent["toolProviders"]) == ("greeter", 2, [])
    assert found["toolProviders"] == []
    files = snapshot(built["hello"][0])
    assert [name for name in files if not name.startswith("blobs/sha256/")] == ["index.json", "oci-layout"]


def test_newsroom_is_three_agents_on_two_platforms(built: dict[str, tuple[Path, Outcome]]) -> None:
    """Six compositions; the coordinator may invoke the two others, who may invoke nobody."""
    found = members(built, "newsroom")
    invokes = {agent["id"]: sorted(edge["agent"] for edge in agent["invokes"]) for agent in found["agents"]}
    assert invokes == {"coordinator": ["reviewer", "writer"], "reviewer": [], "writer": []}
    pairs = sorted((item["agent"], item["platform"]) for item in found["compositions"])
    assert pairs == sorted((agent, f"linux/{arch}") for agent in invokes for arch in ("amd64", "arm64"))


def test_newsroom_for_one_platform(tmp_path: Path) -> None:
    """As its README says: `platforms` in the target's table."""
    project = copy_example("newsroom", tmp_path)
    with (project / "pyproject.toml").open("a") as file:
        file.write('platforms = ["linux/amd64"]\n')
    assert run_hatchling(project, "-t", "agentsuite").status == 0
    summary = validate(project / "dist" / "newsroom-0.1.0.agentsuite").summary
    assert summary
    assert summary.compositions == 3


def test_newsroom_has_an_unknown_assertion_that_is_kept(built: dict[str, tuple[Path, Outcome]], tmp_path: Path) -> None:
    unpack(built["newsroom"][0], tmp_path / "content")
    case = json.loads((tmp_path / "content/evals/coordinator/cases/bridge-opening.json").read_text())
    assert (case["runs"], case["minPasses"]) == (3, 2)
    [unknown] = [item for item in case["assertions"] if item["type"] == "reading-grade"]
    assert unknown["critical"] is False


def test_clock_bundles_one_tool_and_names_a_remote_one(built: dict[str, tuple[Path, Outcome]], tmp_path: Path) -> None:
    """Both platforms; the clock's own compositions, too; schemas byte for byte; no address of the calendar."""
    found = members(built, "clock")
    assert {item["id"]: item["remote"] for item in found["toolProviders"]} == {"calendar": True, "clock": False}
    report = validate(built["clock"][0])
    assert report.summary
    assert (report.summary.compositions, report.summary.tool_provider_compositions) == (2, 2)
    unpack(built["clock"][0], tmp_path / "content")
    source = ROOT / "examples" / "clock" / "suite"
    for path in [*source.glob("schemas/*/*.json"), *source.glob("tool-providers/clock/*/*/bin/clock")]:
        packed = tmp_path / "content" / path.relative_to(source)
        assert packed.read_bytes() == path.read_bytes()
        assert os.access(packed, os.X_OK) == (path.suffix != ".json")
    assert "://" not in (tmp_path / "content/tool-providers/calendar/1.0.0/tool-provider.json").read_text()


def test_clock_still_runs_after_packing(built: dict[str, tuple[Path, Outcome]], tmp_path: Path) -> None:
    unpack(built["clock"][0], tmp_path / "content")
    server = tmp_path / "content/tool-providers/clock/1.0.0/linux-amd64/bin/clock"
    request = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "current_time"}}'
    outcome = run("sh", "-c", f"echo '{request}' | {server}", cwd=tmp_path)
    assert "result" in json.loads(outcome.out)


def test_installed_wheel_carries_its_suite(built: dict[str, tuple[Path, Outcome]], tmp_path: Path) -> None:
    """Built, installed by pip, found by importlib.resources, valid, and the suite that the target makes."""
    project = copy_example("wheel-with-suite", tmp_path)
    outcome = run_hatchling(project, "-t", "wheel")
    assert outcome.status == 0, outcome.err
    [wheel] = (project / "dist").iterdir()
    assert wheel.name == "weather_agents-0.1.0-py3-none-any.whl"
    installed = tmp_path / "installed"
    flags = ("--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check", "--root-user-action", "ignore")
    outcome = run(sys.executable, "-m", "pip", "install", *flags, "--target", installed, wheel, cwd=tmp_path)
    assert outcome.status == 0, outcome.err
    code = "import weather_agents; print(weather_agents.suite_path())"
    outcome = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(installed))
    assert outcome.status == 0, outcome.err
    layout = Path(outcome.out.strip())
    assert layout == installed / "weather_agents" / "_agentsuite"
    assert validate(layout).ok
    assert snapshot(layout) == snapshot(built["wheel-with-suite"][0])


def test_editable_install_says_that_it_carries_no_suite(tmp_path: Path) -> None:
    project = copy_example("wheel-with-suite", tmp_path)
    code = "import weather_agents; weather_agents.suite_path()"
    outcome = run(sys.executable, "-c", code, cwd=project)
    assert outcome.status == 1
    assert "FileNotFoundError: no AgentSuite in weather_agents: install its wheel" in outcome.err
