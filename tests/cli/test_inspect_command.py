"""`agentsuite inspect`: agents, tools, edges, platforms, sizes and digests, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.validation import validate
from tests.cli.commands import HOSTILE, STRICT_OUTPUT, agentsuite, is_harmless
from tests.cli.conftest import Command
from tests.hatch.projects import AGENT, write_suite, write_yaml


@pytest.fixture
def newsroom() -> Path:
    """Two agents, one of which may invoke the other, and a tool."""
    folder = write_suite(Path("suite"), with_tool=True)
    write_yaml(
        folder / "agents" / "boss.yaml",
        {**AGENT, "description": "Leads.", "invokes": [{"agent": "helper", "maxConcurrent": 2, "maxDepth": 3}]},
    )
    (folder / "instructions" / "boss.md").write_text("Lead.\n")
    return folder


@pytest.fixture
def made(cli: Command, newsroom: Path) -> Path:
    assert cli("pack", newsroom, "-o", "made").status == 0
    return Path("made")


def inspected(cli: Command, path: Path) -> Any:
    outcome = cli("inspect", path, "--format", "json")
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)


def test_json(cli: Command, made: Path) -> None:
    found = inspected(cli, made)
    report = validate(made)
    assert found["name"] == "work"
    assert (found["digest"], found["contentDigest"]) == (report.digest, report.content_digest)
    assert [agent["id"] for agent in found["agents"]] == ["boss", "helper"]
    boss, helper = found["agents"]
    assert boss["invokes"] == [{"agent": "helper", "maxConcurrent": 2, "maxDepth": 3}]
    assert boss["description"] == "Leads."
    assert helper["toolProviders"] == ["eyes@1.0.0"]
    assert helper["platforms"] == ["linux/amd64"]
    assert helper["model"]["model"] == "m"
    [tool] = found["tools"]
    assert (tool["name"], tool["effect"], tool["approval"]) == ("look", "read-only", "policy-controlled")
    [provider] = found["toolProviders"]
    assert provider["remote"] is False
    [variant] = provider["variants"]
    assert (variant["platform"], variant["files"], variant["bytes"]) == ("linux/amd64", 1, len("#!/bin/sh\n"))
    assert len(found["compositions"]) == 2
    assert found["findings"] == []


def test_sizes_are_those_of_the_layer(cli: Command, made: Path) -> None:
    found = inspected(cli, made)
    assert cli("unpack", made, "content").status == 0
    files = [path for path in Path("content").rglob("*") if path.is_file()]
    assert found["contentBytes"] == sum(path.stat().st_size for path in files)
    [size] = [
        layer["size"] for layer in json.loads((made / "blobs/sha256" / found["digest"][7:]).read_bytes())["layers"]
    ]
    assert found["layerBytes"] == size
    assert inspected(cli, Path("content"))["entries"] >= len(files)


def test_text_shows_all_that_matters(cli: Command, made: Path) -> None:
    outcome = cli("inspect", made)
    assert outcome.status == 0
    assert outcome.err == ""
    assert outcome.out.startswith("work\n  digest       sha256:")
    for text in ("boss", "openai-chat/m", "helper (x2, depth 3)", "eyes@1.0.0", "look", "read-only", "linux/amd64"):
        assert text in outcome.out
    assert "\x1b" not in outcome.out


def test_content_directory_has_no_manifest_digest(cli: Command, made: Path) -> None:
    cli("unpack", made, "content")
    found = inspected(cli, Path("content"))
    assert "digest" not in found
    assert found["contentDigest"] == validate(made).content_digest


def test_what_is_no_suite(cli: Command) -> None:
    outcome = cli("inspect", "missing")
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith("error: ")
    outcome = cli("inspect", "missing", "--format", "json")
    assert outcome.status == 1
    assert [finding["requirement"] for finding in json.loads(outcome.out)["findings"]] == ["AS-OCI-001"]


def test_broken_document_is_named_and_the_rest_shown(cli: Command, made: Path) -> None:
    cli("unpack", made, "content")
    Path("content/agents/boss.json").write_text("{")
    outcome = cli("inspect", "content")
    assert outcome.status == 1
    assert "helper" in outcome.out
    assert "error: agents/boss.json" in outcome.err
    assert cli("inspect", "content", "--format", "json").status == 1


@pytest.mark.parametrize("form", ["text", "json"])
def test_hostile_text_is_escaped(cli: Command, made: Path, form: str) -> None:
    """A suite from somewhere untrusted cannot steer the terminal of who looks at it."""
    cli("unpack", made, "content")
    file = Path("content/agents/helper.json")
    agent = json.loads(file.read_text())
    agent["model"]["model"] = HOSTILE + "[bold]"
    agent["description"] = HOSTILE
    file.write_text(json.dumps(agent))
    provider = Path("content/tool-providers/eyes/1.0.0/tool-provider.json")
    value = json.loads(provider.read_text())
    value["tools"][0]["name"] = HOSTILE
    value["tools"][0]["effects"] = [HOSTILE]
    provider.write_text(json.dumps(value))
    Path("content", HOSTILE).symlink_to("/etc/passwd")
    outcome = cli("inspect", "content", "--format", form)
    assert outcome.status == 1
    assert "evil" in outcome.out + outcome.err
    assert is_harmless(outcome.out)
    assert is_harmless(outcome.err)


def test_output_that_cannot_be_encoded(made: Path) -> None:
    outcome = agentsuite("inspect", made, "--format", "json", PYTHONIOENCODING="ascii:strict")
    assert (outcome.status, outcome.err) == (0, "")
    outcome = agentsuite("inspect", made, **STRICT_OUTPUT)
    assert (outcome.status, outcome.err) == (0, "")
