"""Vectors that the public reference implementation recorded: identities (section 6) and verdicts (section 15.1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hatch_agentsuite.jsondoc import digest, loads
from hatch_agentsuite.packing import pack
from hatch_agentsuite.source import Options
from hatch_agentsuite.unpacking import unpack
from hatch_agentsuite.validation import validate

VECTORS = Path(__file__).parents[3] / "shared" / "vectors"
ACCEPTED = ("minimal", "coordinator-workers", "remote-mcp-cataloged")
ROOT = "agentsuite.json"

pytestmark = pytest.mark.skipif(not VECTORS.is_dir(), reason=f"the reference vectors are not at {VECTORS}")


def recorded() -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((VECTORS / "jcs-digests.json").read_text("utf-8"))["vectors"]
    return found


def digests(folder: Path) -> dict[str, str]:
    """The JCS digest of every document, by path."""
    documents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.json")}
    return {name: digest(loads(data)) for name, data in documents.items()}


def others(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_documents_have_the_recorded_jcs_digests() -> None:
    """6.1: two implementations give one identity."""
    vectors = recorded()
    assert vectors
    wrong = [vector["document"] for vector in vectors if digest(loads(vector["text"].encode())) != vector["digest"]]
    assert wrong == []


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_the_reference_accepts_is_valid(name: str) -> None:
    report = validate(VECTORS / name)
    assert [str(finding) for finding in report.findings if finding.is_error] == []
    assert report.ok
    assert report.content_digest == digest(loads((VECTORS / name / ROOT).read_bytes()))


def test_an_unreferenced_provider_that_is_not_retained_is_refused_for_that_alone() -> None:
    """9.1: a ToolProvider with no inward reference is invalid unless it is retained."""
    report = validate(VECTORS / "remote-mcp-unretained")
    assert not report.ok
    assert [finding.requirement for finding in report.findings if finding.is_error] == ["AS-GRAPH-001"]


@pytest.mark.parametrize("form", ["layout", "archive"])
@pytest.mark.parametrize("name", ACCEPTED)
def test_packing_and_unpacking_keeps_every_identity(name: str, form: str, tmp_path: Path) -> None:
    source, target, out = VECTORS / name, tmp_path / "packed", tmp_path / "out"
    packed = pack(source, target, Options(), form="archive" if form == "archive" else "layout")
    assert packed.report.ok
    assert packed.report.content_digest == digest(loads((source / ROOT).read_bytes()))
    unpack(target, out)
    assert digests(out) == digests(source)
    assert others(out) == others(source)


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_unpacked_suite_packs_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    first = pack(VECTORS / name, tmp_path / "first", Options())
    unpack(tmp_path / "first", tmp_path / "out")
    assert pack(tmp_path / "out", tmp_path / "second", Options()).digest == first.digest
