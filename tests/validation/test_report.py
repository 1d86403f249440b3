"""The report: counts, selections and findings of one validation (specification 15.1, 16)."""

from __future__ import annotations

from pathlib import Path

from hatch_agentsuite.findings import CATEGORIES
from hatch_agentsuite.jsondoc import digest
from hatch_agentsuite.validation import Report, validate
from tests.validation.carriers import blob_of
from tests.validation.contents import COORDINATOR, SEARCH, SMALL, WRITER, WRITER_AMD64
from tests.validation.suites import DROP, SuiteBuilder, plain
from tests.validation.tables import faults

ROOT = "agentsuite.json"


def test_what_a_valid_suite_holds(tmp_path: Path) -> None:
    """15.1: toolProviders and toolProviderCompositions count manifests, not tools."""
    suite = SuiteBuilder().seal()
    members = validate(suite.directory(tmp_path / "suite")).to_json()
    pairs = [("writer", "amd64"), ("writer", "arm64"), ("reviewer", "amd64"), ("coordinator", "amd64")]
    assert {name: members[name] for name in members if name not in {"path", "findings"}} == {
        "valid": True,
        "contentDigest": digest(plain(suite.documents[ROOT])),
        "name": "newsroom",
        "agents": 3,
        "toolProviders": 5,
        "toolProviderCompositions": 1,
        "compositions": 4,
        "capabilities": ["bundled-stdio-mcp"],
        "agentPlatforms": {
            "writer": ["linux/amd64", "linux/arm64"],
            "reviewer": ["linux/amd64"],
            "coordinator": ["linux/amd64"],
        },
        "compositionSelections": [
            {
                "agent": agent,
                "platform": f"linux/{arch}",
                "buildProfile": "small" if agent == "coordinator" else "default",
                "digest": digest(plain(suite.documents[f"compositions/{agent}-linux-{arch}.json"])),
            }
            for agent, arch in pairs
        ],
    }


def test_a_minimal_suite(tmp_path: Path) -> None:
    """7, 8: one agent without ToolProviders still has a composition; the catalog may be empty."""
    suite = SuiteBuilder()
    keep = {ROOT, COORDINATOR, SMALL, "tool-providers/catalog.json", "compositions/coordinator-linux-amd64.json"}
    suite.documents = {path: value for path, value in suite.documents.items() if path in keep}
    suite.files = {"instructions/writer.md": b"Write.\n"}
    suite.modes, suite.folders, suite.symlinks, suite.hardlinks, suite.blobs = {}, {}, {}, {}, []
    suite.edit(ROOT, "agents", suite.at(ROOT, "agents")[:1])
    suite.edit(ROOT, "compositions", suite.at(ROOT, "compositions")[3:])
    suite.edit(ROOT, "buildProfiles", suite.at(ROOT, "buildProfiles")[1:])
    for member in ("toolProviderCompositions", "capabilities", "extensions"):
        suite.edit(ROOT, member, DROP)
    suite.edit("tool-providers/catalog.json", "toolProviders", [])
    suite.edit(COORDINATOR, "invokes", DROP)
    for path in (suite.directory(tmp_path / "suite"), suite.layout(tmp_path / "layout")):
        report = validate(path)
        assert faults(report) == []
        assert report.summary is not None
        summary = report.summary
        assert (summary.agents, summary.tool_providers, summary.compositions) == (1, 0, 1)
        assert summary.capabilities == ()


def test_digests_of_a_layout(tmp_path: Path) -> None:
    """The OCI digest names the manifest, the content digest the suite: 4.3, 6.1."""
    root = SuiteBuilder().layout(tmp_path / "layout")
    report = validate(root)
    members = report.to_json()
    assert members["digest"] == f"sha256:{blob_of(root, 'manifest').name}"
    assert members["contentDigest"] == validate(SuiteBuilder().directory(tmp_path / "suite")).content_digest
    assert report.digest == members["digest"]


def test_a_refused_suite_is_summarised_all_the_same(tmp_path: Path) -> None:
    suite = SuiteBuilder()
    suite.edit(SEARCH, "retained", DROP)
    report = validate(suite.directory(tmp_path / "suite"))
    assert not report.ok
    assert report.summary is not None
    members = report.to_json()
    assert members["valid"] is False
    errors = [found for found in members["findings"] if found["severity"] == "error"]
    assert [found["requirement"] for found in errors] == ["AS-GRAPH-001"]
    assert set(errors[0]) >= {"requirement", "category", "severity", "location", "message", "hint"}


def test_no_summary_without_a_root(tmp_path: Path) -> None:
    suite = SuiteBuilder()
    suite.edit(ROOT, "name", "No Identifier")
    report = validate(suite.directory(tmp_path / "suite"))
    assert faults(report) == [("AS-JSON-001", "json", f"{ROOT}#/name")]
    assert report.summary is None
    assert "agents" not in report.to_json()


def test_a_broken_composition_is_counted_and_not_selected(tmp_path: Path) -> None:
    suite = SuiteBuilder()
    suite.edit(WRITER_AMD64, "surprise", 1)
    summary = validate(suite.directory(tmp_path / "suite")).summary
    assert summary is not None
    assert summary.compositions == 4
    assert summary.agent_platforms["writer"] == ("linux/arm64",)


def test_warnings_do_not_refuse() -> None:
    assert Report("x", ()).ok
    assert Report("x", ()).to_json() == {"path": "x", "valid": True, "findings": []}


def test_every_category_is_one_of_section_16(tmp_path: Path) -> None:
    """16: stable categories; control characters of untrusted names are escapes in the text."""
    suite = SuiteBuilder()
    suite.edit(WRITER, "instructions/path", "instructions/\x1b[31m\u202ered.md")
    report = validate(suite.directory(tmp_path / "suite"))
    assert {found.category for found in report.findings} <= set(CATEGORIES)
    text = "\n".join(str(found) for found in report.findings)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"\x1b" in text
