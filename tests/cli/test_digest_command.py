"""`agentsuite digest`: exact bytes (specification 6.2), and JCS for manifests (6.1)."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.cli.commands import HOSTILE, STRICT_OUTPUT, agentsuite, is_harmless
from tests.cli.conftest import Command

MANIFEST = '{ "mediaType": "application/vnd.agentsuite.agent.v1+json",\n "b": 1, "a": "é" }\n'


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def jcs(text: str) -> str:
    """Return the JCS digest of a document of strings and integers: RFC 8785 is then sorted, compact JSON."""
    value = json.loads(text)
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())


@pytest.fixture
def manifest() -> str:
    from hatch_agentsuite.documents import SCHEMAS

    return MANIFEST.replace("application/vnd.agentsuite.agent.v1+json", min(SCHEMAS))


@pytest.mark.parametrize(
    ("file", "mode", "rule"),
    [
        ("manifest.json", [], "jcs"),
        ("manifest.json", ["--jcs"], "jcs"),
        ("manifest.json", ["--exact"], "exact"),
        ("plain.json", [], "exact"),
        ("plain.json", ["--jcs"], "jcs"),
        ("broken.json", [], "exact"),
        ("broken.json", ["--exact"], "exact"),
        ("text.md", [], "exact"),
        ("text.md", ["--exact"], "exact"),
        ("doc.yaml", [], "jcs"),
        ("doc.yml", [], "jcs"),
        ("doc.yaml", ["--exact"], "exact"),
    ],
)
def test_rule(cli: Command, manifest: str, file: str, mode: list[str], rule: str) -> None:
    texts = {
        "manifest.json": manifest,
        "plain.json": '{"b": 1, "a": 2}\n',
        "broken.json": "{",
        "text.md": "# Text\n",
        "doc.yaml": "b: 1\na: é\n",
        "doc.yml": "b: 1\na: é\n",
    }
    meaning = {**texts, "doc.yaml": '{"b": 1, "a": "é"}', "doc.yml": '{"b": 1, "a": "é"}'}
    Path(file).write_text(texts[file], encoding="utf-8")
    expected = jcs(meaning[file]) if rule == "jcs" else sha256(texts[file].encode())
    outcome = cli("digest", *mode, file)
    assert outcome.status == 0
    assert outcome.err == ""
    assert outcome.out == f"{expected}  {rule:5}  {file}\n"


def test_yaml_and_json_of_one_document_have_one_digest(cli: Command, manifest: str) -> None:
    Path("a.json").write_text(manifest)
    Path("a.yaml").write_text(manifest)
    first, second = cli("digest", "a.json", "a.yaml").out.splitlines()
    assert first.split()[0] == second.split()[0]


def test_what_a_suite_records_is_what_this_prints(cli: Command, layout: Path) -> None:
    assert cli("unpack", layout, "content").status == 0
    agent = json.loads(Path("content/agents/helper.json").read_text())
    suite = json.loads(Path("content/agentsuite.json").read_text())
    recorded = [suite["agents"][0]["digest"], agent["instructions"]["digest"]]
    lines = cli("digest", "content/agents/helper.json", "content/instructions/helper.md").out.splitlines()
    assert [line.split()[0] for line in lines] == recorded


def test_every_file_is_shown_though_one_has_no_digest(cli: Command) -> None:
    Path("bad.yaml").write_text("a: yes\n")
    Path("good.md").write_text("x")
    outcome = cli("digest", "bad.yaml", "good.md")
    assert outcome.status == 1
    assert outcome.out == f"{sha256(b'x')}  exact  good.md\n"
    assert outcome.err.startswith("error: bad.yaml: ")


def test_json_with_a_fault_has_no_jcs_digest(cli: Command) -> None:
    """6.1: a document with a duplicate member is not JSON of the profile."""
    Path("twice.json").write_text('{"a": 1, "a": 2}')
    outcome = cli("digest", "--jcs", "twice.json")
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith("error: twice.json: ")


@pytest.mark.parametrize("path", ["missing", "."])
def test_what_is_no_file_is_wrong_usage(cli: Command, path: str) -> None:
    outcome = cli("digest", path)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == f"error: {path}: there is no such file\n"


def test_hostile_names_are_escaped(cli: Command) -> None:
    Path(HOSTILE).write_text("")
    Path(HOSTILE + ".yaml").write_text("yes")
    for arguments in ([HOSTILE], [HOSTILE + ".yaml"], [HOSTILE + "missing"]):
        outcome = cli("digest", *arguments)
        assert "evil" in outcome.out + outcome.err
        assert is_harmless(outcome.out + outcome.err)


def test_name_that_cannot_be_encoded() -> None:
    name = os.fsdecode(b"bad-\xff")
    Path(name).write_text("")
    outcome = agentsuite("digest", name, **STRICT_OUTPUT)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == f"{sha256(b'')}  exact  bad-\\udcff\n"
