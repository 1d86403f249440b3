"""`agentsuite validate`: `--format sarif`, `--requirement`, `--limits`, and what the text report says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.limits import NAMES
from hatch_agentsuite.validation.requirements import REQUIREMENTS, SUITE_REQUIREMENTS
from tests.cli.commands import is_harmless
from tests.cli.conftest import Command


@pytest.fixture
def content(cli: Command, layout: Path) -> Path:
    """An extracted suite with a stale digest, a left-over file and a number of agents that is not declared."""
    assert cli("unpack", layout, "content").status == 0
    content = Path("content")
    (content / "instructions" / "helper.md").write_text("Other words.\n")
    (content / "left.txt").write_text("x")
    return content


def requirements(text: str) -> list[str]:
    return [finding["requirement"] for finding in json.loads(text)["findings"]]


def test_text_names_requirements_and_counts(cli: Command, content: Path) -> None:
    lines = cli("validate", content).out.splitlines()
    assert lines[0] == "content: refused"
    assert f"  AS-GRAPH-001 {REQUIREMENTS['AS-GRAPH-001'].title}" in lines
    assert f"  AS-ID-001 {REQUIREMENTS['AS-ID-001'].title}" in lines
    assert "    warning: left.txt: nothing refers to it" in lines
    assert lines[-1] == "  1 error, 1 warning"


@pytest.mark.parametrize(("strays", "last"), [(0, "  2 errors"), (1, "  2 errors, 1 warning")])
def test_counts(cli: Command, content: Path, strays: int, last: str) -> None:
    (content / "left.txt").unlink()
    for number in range(strays):
        (content / f"left-{number}.txt").write_text("x")
    schema = next((content / "tool-providers").rglob("tool-provider.json"))
    path = content / json.loads(schema.read_bytes())["tools"][0]["inputSchema"]["path"]
    path.write_bytes(path.read_bytes() + b"\n")
    assert cli("validate", content).out.splitlines()[-1] == last


def test_accepted_suite_has_no_count(cli: Command, layout: Path) -> None:
    cli("unpack", layout, "content")
    Path("content/left.txt").write_text("x")
    outcome = cli("validate", "content")
    assert outcome.status == 0
    assert outcome.out.splitlines()[-2:] == [
        "    warning: left.txt: nothing refers to it",
        "      refer to it, or leave it out",
    ]


def test_line_and_column_are_shown(cli: Command, content: Path) -> None:
    (content / "agents" / "helper.json").write_text('{\n "id": }')
    assert "    error: agents/helper.json:2:8: this is not JSON" in cli("validate", content).out


def test_sarif(cli: Command, content: Path, layout: Path) -> None:
    outcome = cli("validate", "--format", "sarif", content, layout, "missing")
    assert outcome.status == 1
    assert outcome.err == ""
    assert outcome.out.isascii()
    [run] = json.loads(outcome.out)["runs"]
    found = [(item["ruleId"], item["level"]) for item in run["results"]]
    assert sorted(found) == [("AS-GRAPH-001", "warning"), ("AS-ID-001", "error"), ("AS-OCI-001", "error")]
    assert cli("validate", "--format", "sarif", layout).status == 0


@pytest.mark.parametrize(
    ("chosen", "status", "left"),
    [
        (["AS-ID-001"], 1, ["AS-ID-001"]),
        (["AS-GRAPH-001"], 0, ["AS-GRAPH-001"]),
        (["AS-CAP-001"], 0, []),
        (["AS-CAP-001", "AS-ID-001"], 1, ["AS-ID-001"]),
        (["AS-ID-001", "AS-GRAPH-001", "AS-ID-001"], 1, ["AS-GRAPH-001", "AS-ID-001"]),
        ([], 1, ["AS-GRAPH-001", "AS-ID-001"]),
    ],
)
def test_requirement_narrows(cli: Command, content: Path, chosen: list[str], status: int, left: list[str]) -> None:
    """What is shown and what is judged; the report says that it was narrowed."""
    options = [option for name in chosen for option in ("--requirement", name)]
    outcome = cli("validate", content, "--format", "json", *options)
    assert outcome.status == status
    assert sorted(requirements(outcome.out)) == left
    report = json.loads(outcome.out)
    assert report["valid"] is (status == 0)
    assert report.get("requirements", []) == list(dict.fromkeys(chosen))
    text = cli("validate", content, *options)
    assert text.status == status
    first = text.out.splitlines()[0]
    assert first.endswith(f" (judged by {', '.join(dict.fromkeys(chosen))} alone)") is bool(chosen)
    sarif = json.loads(cli("validate", content, "--format", "sarif", *options).out)["runs"][0]
    assert sorted(item["ruleId"] for item in sarif["results"]) == left


@pytest.mark.parametrize("kind", ["missing", "empty", "no manifest", "broken manifest", "cut layer"])
def test_requirement_never_accepts_what_could_not_be_read(cli: Command, content: Path, layout: Path, kind: str) -> None:
    """16, fail closed: where nothing was judged, no requirement is met."""
    path = Path("unreadable")
    if kind == "empty":
        path.mkdir()
    elif kind in {"no manifest", "broken manifest"}:
        content.rename(path)
        (path / "agentsuite.json").write_text("{")
        if kind == "no manifest":
            (path / "agentsuite.json").unlink()
            (path / "agentsuite.json").mkdir()
    elif kind == "cut layer":
        path = layout
        blob = max((layout / "blobs" / "sha256").iterdir(), key=lambda item: item.stat().st_size)
        blob.write_bytes(blob.read_bytes()[:-20])
    outcome = cli("validate", path, "--requirement", "AS-CAP-001", "--format", "json")
    assert outcome.status == 1
    assert requirements(outcome.out)


@pytest.mark.parametrize("name", ["AS-ID-002", "as-id-001", "", "SOURCE-REACH-001", "x\x1b[31m"])
def test_unknown_requirement(cli: Command, layout: Path, name: str) -> None:
    outcome = cli("validate", layout, "--requirement", "AS-ID-001", "--requirement", name)
    assert outcome.status == 2
    assert outcome.out == ""
    assert is_harmless(outcome.err)
    assert all(known in outcome.err for known in SUITE_REQUIREMENTS)


def write(name: str, value: Any) -> Path:
    path = Path(name)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("limits.json", '{"document-bytes": 100}'),
        ("limits.yaml", "document-bytes: 100\n"),
        ("limits.yml", '{"document-bytes": 100}'),
        ("limits", '{"document-bytes": 100}'),
    ],
)
def test_limits_file(cli: Command, layout: Path, name: str, text: str) -> None:
    """5.2: a limit is lowered for every path of the call; JSON by default, YAML by the file's name."""
    outcome = cli("validate", layout, layout, "--limits", write(name, text))
    assert outcome.status == 1
    assert outcome.out.count("AS-JSON-001") + outcome.out.count("AS-OCI-001") >= 2
    assert cli("validate", layout, "--limits", write(name, text.replace("100", "100000"))).status == 0


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("a.json", {"entries": 0, "nope": 5, "index-bytes": "5"}, ["`entries`", "`nope`", "`index-bytes`", *NAMES]),
        ("a.json", {"document-depth": 251}, ["at most 250"]),
        ("a.json", {"expanded_bytes": 5}, ["`expanded_bytes` is no limit"]),
        ("a.json", [], ["an object of names and numbers"]),
        ("a.json", "{", ["this is not JSON"]),
        ("a.json", '{"entries": 5, "entries": 6}', ["twice"]),
        ("a.yaml", "entries: 0x10\n", ["a.yaml"]),
        ("a.yaml", "entries: [", ["a.yaml"]),
        ("a.json", {"x\x1b[31m": 5}, ["is no limit"]),
    ],
)
def test_wrong_limits_are_wrong_usage(cli: Command, layout: Path, name: str, value: Any, expected: list[str]) -> None:
    """Every mistake at once; nothing is judged."""
    outcome = cli("validate", layout, "--limits", write(name, value))
    assert outcome.status == 2
    assert outcome.out == ""
    assert is_harmless(outcome.err)
    assert [text for text in expected if text not in outcome.err] == []


@pytest.mark.parametrize("path", ["missing.json", "."])
def test_limits_file_that_cannot_be_read(cli: Command, layout: Path, path: str) -> None:
    outcome = cli("validate", layout, "--limits", path)
    assert outcome.status == 2
    assert "Traceback" not in outcome.err
