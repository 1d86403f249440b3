"""The examples that migrate: every command of their READMEs runs in a copy, prints what it shows, and loses nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.inspection import inspect
from hatch_agentsuite.validation import validate
from tests.docs.test_commands import commands, environment, matches
from tests.e2e.checkout import MIGRATIONS, ROOT, copy_example
from tests.hatch.projects import Outcome, run, snapshot

pytestmark = pytest.mark.e2e

PAIRS = {
    "migrate-aib": [
        ("aib", "aib/dispatcher.jsonc", "exported/ferry_dispatcher/aib.json"),
        ("aib", "aib/tide-reader.json", "exported/tide_reader/aib.json"),
    ],
    "migrate-aidip": [("aidip", "aidip/route-planner.json", "exported/route-planner/aidip.json")],
    "migrate-brick": [("brick", "brick/seed-library.json", "exported/seed-library/brick.json")],
    "mixed-formats": [
        ("brick", "brick/reading-room.json", "exported/reading-room/brick.json"),
        ("aib", "aib/transcriber.json", "exported/transcriber/aib.json"),
        ("aidip", "aidip/map-index.yaml", "exported/map-index-3/aidip.yaml"),
    ],
}
"""Each document of an example, by format, and where its README exports it to."""

AGENTS = {
    "migrate-aib": {"ferry_dispatcher": ["tide_reader"], "tide_reader": []},
    "migrate-aidip": {"route-planner": []},
    "migrate-brick": {"seed-library": []},
    "mixed-formats": {"map-index-3": [], "reading-room": [], "transcriber": []},
}
"""The agents of each suite, and whom they may invoke."""


def shell(command: str, project: Path) -> Outcome:
    """Run a README's command; Hatch builds in this environment, without the network."""
    local = command.replace("hatch build", f"'{sys.executable}' -m hatchling build")
    changes = {name: environment(project)[name] for name in ("PATH", "NO_COLOR", "COLUMNS")}
    return run("/bin/sh", "-c", f"{{ {local}; }} 2>&1", cwd=project, **changes)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A copy of each example in which all commands of its README have run, and printed what it shows."""
    folder = tmp_path_factory.mktemp("migrations")
    found = {}
    for name in MIGRATIONS:
        project = found[name] = copy_example(name, folder)
        for command, expected in commands(project / "README.md"):
            outcome = shell(command, project)
            assert outcome.status == 0, f"$ {command}\n{outcome.out}"
            assert matches(expected, outcome.out), f"{name}: $ {command}\n{outcome.out}"
    return found


def document(form: str, path: Path) -> Any:
    """Read a document as its format is read: comments, YAML."""
    from agentsuite_converters.formats import ForeignFormat
    from hatch_agentsuite.formats import find

    found = find(form)
    assert isinstance(found, ForeignFormat)
    value, _, _ = found.load(path)
    return value


@pytest.mark.parametrize("name", MIGRATIONS)
def test_readme_imports_builds_validates_and_exports(name: str) -> None:
    """Before, command, after: the page has every step, and the tree is made by the command alone."""
    page = commands(ROOT / "examples" / name / "README.md")
    for step in ("agentsuite import", "hatch build -t agentsuite", "agentsuite validate", "agentsuite export"):
        assert [command for command, _ in page if command.startswith(step)], step
    assert f"/examples/{name}/suite*" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize(("name", "pair"), [(name, pair) for name, pairs in PAIRS.items() for pair in pairs])
def test_documents_come_back_equal(walked: dict[str, Path], name: str, pair: tuple[str, str, str]) -> None:
    """export(import(X)) is X, as JSON values, from what was built."""
    form, before, after = pair
    assert document(form, walked[name] / after) == document(form, walked[name] / before)


@pytest.mark.parametrize(("name", "pair"), [(name, pair) for name, pairs in PAIRS.items() for pair in pairs])
def test_files_come_back_byte_for_byte(walked: dict[str, Path], name: str, pair: tuple[str, str, str]) -> None:
    """What a document refers to is beside the exported one, and nothing else is."""
    _, before, after = pair
    given = snapshot((walked[name] / before).parent)
    own = {Path(path).name for form, path, _ in PAIRS[name] if path.startswith(before.partition("/")[0])}
    wanted = {path: data for path, data in given.items() if path not in own}
    exported = snapshot((walked[name] / after).parent)
    assert exported.pop(Path(after).name)
    assert exported == wanted


@pytest.mark.parametrize("name", MIGRATIONS)
def test_suite_is_valid_and_has_its_agents(walked: dict[str, Path], name: str) -> None:
    [artifact] = (walked[name] / "dist").iterdir()
    assert artifact.name == f"{name.replace('-', '_')}-0.1.0.agentsuite"
    report = validate(artifact)
    assert report.ok, report.findings
    members = inspect(artifact).members
    assert members
    edges = {agent["id"]: [edge["agent"] for edge in agent["invokes"]] for agent in members["agents"]}
    assert edges == AGENTS[name]


@pytest.mark.parametrize("name", MIGRATIONS)
def test_tree_and_artifact_export_the_same(walked: dict[str, Path], name: str) -> None:
    for form, _, after in PAIRS[name]:
        agent = Path(after).parent.name
        outcome = shell(f"agentsuite export {form} suite --agent {agent} -o from-tree", walked[name])
        assert outcome.status == 0, outcome.out
        exported = walked[name] / "from-tree" / agent / f"{form}.json"
        assert document(form, exported) == document(form, walked[name] / after)


def test_endpoints_of_tool_servers_are_in_no_public_document_and_no_provider(walked: dict[str, Path]) -> None:
    """migrate-brick: the URL is in the profile and in the bindings, the ToolProvider has an identifier instead."""
    project = walked["migrate-brick"]
    url = "https://catalogue.internal.example.net/mcp"
    assert json.loads((project / "suite.bindings.json").read_text()) == {"endpoints": {"seed-library.catalogue": url}}
    holders = [path for path, data in snapshot(project / "suite").items() if b"catalogue.internal" in data]
    assert holders == ["metadata/profiles/seed-library.json"]
    provider = project / "suite/tool-providers/seed-library.catalogue/1.0.0"
    for schema in (project / "schemas/catalogue").iterdir():
        assert (provider / "schemas" / schema.name).read_bytes() == schema.read_bytes()


def test_public_view_and_summary_show_no_more_than_they_say(walked: dict[str, Path]) -> None:
    """migrate-aib and migrate-aidip: neither prompt nor model, and of the methods `run` alone."""
    view = json.loads((walked["migrate-aib"] / "public/tide_reader/aib.json").read_text())
    assert sorted(view) == ["agent_id", "description", "interface", "name"]
    assert [method["name"] for method in view["interface"]["methods"]] == ["run"]
    summary = json.loads((walked["migrate-aidip"] / "summary/route-planner/aidip.json").read_text())
    assert sorted(summary) == ["capabilities", "description", "endpoint", "id", "name"]


def test_published_in_another_format_leaks_nothing(walked: dict[str, Path]) -> None:
    """mixed-formats: the AIDIP document of a BRICK agent has no tool, no server and no instruction."""
    text = (walked["mixed-formats"] / "published/reading-room/aidip.json").read_text()
    assert (
        document("aidip", walked["mixed-formats"] / "published/reading-room/aidip.json")["publisher"] == "Town Archive"
    )
    for secret in ("finding-aids", "search_boxes", "quietly", "example-model"):
        assert secret not in text
