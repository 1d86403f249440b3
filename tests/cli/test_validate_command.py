"""`agentsuite validate`: verdicts as text and JSON, several paths, exit status 0 or 1 (specification 15.1, 16)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.findings import CATEGORIES
from tests.cli.commands import ESCAPED, HOSTILE, STRICT_OUTPUT, agentsuite, is_harmless
from tests.cli.conftest import Command


@pytest.fixture
def content(cli: Command, layout: Path) -> Path:
    assert cli("unpack", layout, "content").status == 0
    return Path("content")


def loads(text: str) -> Any:
    return json.loads(text)


def test_valid_layout_as_text(cli: Command, layout: Path) -> None:
    outcome = cli("validate", layout)
    assert outcome.status == 0
    assert outcome.err == ""
    verdict, digest, content, summary = outcome.out.splitlines()
    assert verdict == "made.agentsuite: valid"
    assert digest.startswith("  digest   sha256:")
    assert content.startswith("  content  sha256:")
    assert summary.startswith("  work: 1 agent, 1 ToolProvider, 1 composition, 0 ToolProvider compositions")


def test_every_carrier(cli: Command, suite: Path, layout: Path, content: Path) -> None:
    """15.1: an extracted directory, an image layout, a tar of a layout; a content directory has no manifest digest."""
    assert cli("pack", suite, "--archive", "-o", "made.tar").status == 0
    outcome = cli("validate", layout, content, "made.tar", "--format", "json")
    assert outcome.status == 0
    reports = loads(outcome.out)
    assert [report["path"] for report in reports] == ["made.agentsuite", "content", "made.tar"]
    assert [report["valid"] for report in reports] == [True] * 3
    assert len({report["contentDigest"] for report in reports}) == 1
    assert reports[0]["digest"] == reports[2]["digest"]
    assert "digest" not in reports[1]


def test_json_of_one_path_is_an_object_with_the_reports_members(cli: Command, layout: Path) -> None:
    report = loads(cli("validate", layout, "--format", "json").out)
    digest = report.pop("digest"), report.pop("contentDigest")
    assert all(text.startswith("sha256:") for text in digest)
    assert report.pop("compositionSelections")[0]["agent"] == "helper"
    assert report == {
        "path": "made.agentsuite",
        "valid": True,
        "name": "work",
        "agents": 1,
        "toolProviders": 1,
        "toolProviderCompositions": 0,
        "compositions": 1,
        "capabilities": report["capabilities"],
        "agentPlatforms": {"helper": ["linux/amd64"]},
        "findings": [],
    }


def test_refused_content(cli: Command, content: Path) -> None:
    (content / "instructions" / "helper.md").write_text("Other words.\n")
    outcome = cli("validate", content)
    assert outcome.status == 1
    assert outcome.out.startswith("content: refused\n")
    assert "error: agents/helper.json#/instructions" in outcome.out
    report = loads(cli("validate", content, "--format", "json").out)
    assert report["valid"] is False
    [finding] = report["findings"]
    assert finding["location"].startswith("agents/helper.json#/instructions")
    assert finding["severity"] == "error"
    assert finding["category"] in CATEGORIES
    assert finding["requirement"].startswith("AS-")


def test_one_refused_path_of_several_decides(cli: Command, layout: Path) -> None:
    outcome = cli("validate", layout, "missing", layout)
    assert outcome.status == 1
    assert outcome.out.count(": valid\n") == 2
    assert outcome.out.count(": refused\n") == 1


@pytest.mark.parametrize("kind", ["missing", "empty folder", "empty file", "text", "gzip", "dangling link"])
def test_what_is_no_suite(cli: Command, kind: str) -> None:
    path = Path("x")
    if kind == "empty folder":
        path.mkdir()
    elif kind == "dangling link":
        path.symlink_to("nowhere")
    elif kind != "missing":
        path.write_bytes({"empty file": b"", "text": b"hello\n" * 200, "gzip": b"\x1f\x8b" + bytes(600)}[kind])
    outcome = cli("validate", path)
    assert outcome.status == 1
    assert outcome.out.startswith("x: refused\n  AS-OCI-001 OCI envelope\n    error: the path cannot be used: ")
    assert outcome.err == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize("command", ["validate", "inspect", "digest", "unpack"])
def test_fifo_does_not_block(command: str) -> None:
    """Opening a FIFO waits for its writer, for ever."""
    os.mkfifo("fifo")
    outcome = agentsuite(command, "fifo", *(["new"] if command == "unpack" else []))
    assert outcome.status in {1, 2}
    assert "Traceback" not in outcome.err
    assert not Path("new").exists()


def test_link_to_a_layout_and_to_an_archive(cli: Command, suite: Path, layout: Path) -> None:
    """The path that a user names may be a link; only inside a layout are links refused."""
    cli("pack", suite, "--archive", "-o", "made.tar")
    Path("one").symlink_to(layout)
    Path("two").symlink_to("made.tar")
    assert cli("validate", "one", "two").status == 0


@pytest.mark.parametrize("form", ["text", "json"])
def test_hostile_names_are_escaped(cli: Command, content: Path, form: str) -> None:
    (content / HOSTILE).write_text("")
    (content / HOSTILE).chmod(0o666)  # a finding that names it
    (content / (HOSTILE + ".fifo")).symlink_to("/etc/passwd")
    outcome = cli("validate", content, "--format", form)
    assert outcome.status == 1
    assert is_harmless(outcome.out)
    if form == "text":
        assert ESCAPED in outcome.out
    else:
        assert any("evil" in finding["location"] for finding in loads(outcome.out)["findings"])


@pytest.mark.parametrize("form", ["text", "json"])
def test_names_that_are_not_utf8(content: Path, form: str) -> None:
    """In a locale that encodes strictly, nothing but the verdict."""
    Path(os.fsdecode(b"content/bad-\xff")).write_text("")
    outcome = agentsuite("validate", content, os.fsdecode(b"missing-\xff"), "--format", form, **STRICT_OUTPUT)
    assert outcome.status == 1
    assert outcome.err == ""
    assert "bad-\\" in outcome.out
    assert "missing-\\" in outcome.out
