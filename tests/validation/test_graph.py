"""AS-GRAPH-001: all manifest and invocation references form a closed graph (specification 7, 8, 8.1, 9.1, 9.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.validation import validate
from tests.validation.contents import (
    AMD64,
    CATALOG,
    CLOCK,
    COORDINATOR,
    DEFAULT,
    EVALS,
    NOTES,
    OPA,
    OPA_AMD64,
    REVIEWER,
    SEARCH,
    WRITER,
    WRITER_AMD64,
    ZERO,
    ZONES,
    ref,
)
from tests.validation.suites import DROP, STALE, Kept, SuiteBuilder
from tests.validation.tables import Row, act, check, edits, faults, row

REQUIREMENT = "AS-GRAPH-001"
ROOT = "agentsuite.json"


def _lost(path: str) -> Any:
    def change(suite: SuiteBuilder) -> None:
        (suite.documents if path in suite.documents else suite.files).pop(path)

    return change


def _linked(path: str) -> Any:
    """Put a symlink to a copy where a document or file was."""

    def change(suite: SuiteBuilder) -> None:
        suite.seal()
        copy = f"metadata/{path.replace('/', '-')}"
        (suite.documents if path in suite.documents else suite.files).pop(path)
        suite.files[copy] = b"{}"
        suite.symlinks[path] = "../" * path.count("/") + copy

    return change


def _copied_composition(suite: SuiteBuilder) -> None:
    path = "compositions/other.json"
    suite.documents[path] = suite.documents[WRITER_AMD64]
    suite.at(ROOT, "compositions").append(ref(path, agent="writer", platform=dict(AMD64)))


def _twin(list_name: str, source: str, target: str, **identity: Any) -> Any:
    """Reference an equal document at another path under an identity that is there already."""

    def change(suite: SuiteBuilder) -> None:
        suite.documents[target] = suite.documents[source]
        holder = CATALOG if list_name == "toolProviders" else ROOT
        suite.at(holder, list_name).append(ref(target, **identity))

    return change


ROWS = [
    # references lead to a regular file of the content (7)
    row(WRITER, "instructions/path", "instructions/nobody.md", "graph"),
    row(CLOCK, "tools/0/outputSchema/path", "schemas/none.json", "graph"),
    act("instructions lost", _lost("instructions/reviewer.md"), "graph", f"{REVIEWER}#/instructions/path"),
    act("agent lost", _lost(REVIEWER), "graph", f"{ROOT}#/agents/1/path"),
    act("catalog lost", _lost(CATALOG), "graph", f"{ROOT}#/toolProviderCatalog/path"),
    act("ToolProvider lost", _lost(NOTES), "graph", f"{CATALOG}#/toolProviders/1/path"),
    act("composition lost", _lost(WRITER_AMD64), "graph", f"{ROOT}#/compositions/0/path"),
    act("ToolProvider composition lost", _lost(OPA_AMD64), "graph", f"{ROOT}#/toolProviderCompositions/0/path"),
    act("build profile lost", _lost(DEFAULT), "graph", f"{ROOT}#/buildProfiles/0/path"),
    act("eval index lost", _lost(EVALS), "graph", f"{WRITER}#/evals/0/path"),
    act("metadata file lost", _lost("metadata/NOTICE.txt"), "graph", "metadata/files.json#/files/0/path"),
    act("profile lost", _lost("metadata/profiles/writer.json"), "graph", f"{WRITER}#/extensions/0"),
    act("agent is a symlink", _linked(REVIEWER), "graph", f"{ROOT}#/agents/1/path"),
    act("eval index is a symlink", _linked(EVALS), "graph", f"{WRITER}#/evals/0/path"),
    act("root is a symlink", _linked(ROOT), "graph", ROOT),
    # a reference and its target say the same (7)
    row(DEFAULT, "id", "other", "graph", f"{ROOT}#/buildProfiles/0/id"),
    row(WRITER_AMD64, "agent", "reviewer", "graph", f"{ROOT}#/compositions/0/agent"),
    row(ROOT, "toolProviderCompositions/0/platform/architecture", "arm64", "graph",
        f"{ROOT}#/toolProviderCompositions/0/platform"),
    row(REVIEWER, "id", "critic", "graph", f"{ROOT}#/agents/1/id"),
    row(NOTES, "id", "noted", "graph", f"{CATALOG}#/toolProviders/1/id"),
    row(ROOT, "toolProviderCompositions/0/version", "1.0.1", "graph"),
    # an identity stands once (7, 9.1, 9.2)
    act("agent twice", _twin("agents", REVIEWER, "agents/copy.json", id="reviewer"), "graph", f"{ROOT}#/agents/3/id"),
    act("build profile twice", _twin("buildProfiles", DEFAULT, "build-profiles/copy.json", id="default"), "graph",
        f"{ROOT}#/buildProfiles/2/id"),
    act("two harness images for one platform", edits((DEFAULT, "harness/2", SuiteBuilder().at(DEFAULT, "harness/0"))),
        "graph", f"{DEFAULT}#/harness/2/platform"),
    act("ToolProvider twice", _twin("toolProviders", OPA, "tool-providers/copy.json", id="opa", version="1.0.0"),
        "graph", f"{CATALOG}#/toolProviders/5"),
    act("ToolProvider composition twice",
        _twin("toolProviderCompositions", OPA_AMD64, "tool-provider-compositions/copy.json", id="opa", version="1.0.0",
              platform=dict(AMD64)), "graph", f"{ROOT}#/toolProviderCompositions/1"),
    act("composition of one pair twice, equal bytes", _copied_composition, "graph", f"{ROOT}#/compositions/4"),
    row(ROOT, "extensions/2", {"name": "example.notes", "critical": False}, "graph", "extensions/2/name"),
    row(WRITER, "extensions/2", {"name": "example.agent", "critical": False}, "graph", "extensions/2/name"),
    row(CLOCK, "extensions/1", {"name": "example.provider", "critical": False}, "graph", "extensions/1/name"),
    row(CLOCK, "tools/1/name", "use_clock", "graph"),
    row(NOTES, "variants/2", SuiteBuilder().at(NOTES, "variants/0"), "graph", "variants/2/platform"),
    row(WRITER, "toolProviders/2", SuiteBuilder().at(WRITER, "toolProviders/0"), "graph"),
    row(COORDINATOR, "invokes/2", {"agent": "writer", "maxConcurrent": 1, "maxDepth": 9}, "graph", "invokes/2/agent"),
    # invocation edges (8.1)
    row(COORDINATOR, "invokes/0/agent", "coordinator", "graph"),
    row(COORDINATOR, "invokes/0/agent", "nobody", "graph"),
    # inward references (9.1)
    act("remote ToolProvider not retained", edits((SEARCH, "retained", DROP)), "graph", SEARCH),
    act("bundled ToolProvider without an inward reference", edits((ROOT, "toolProviderCompositions", DROP)), "graph",
        OPA),
    # bundle dependencies (9.4)
    row(CLOCK, "variants/0/dependencies/0/variantDigest", STALE, "graph"),
    row(CLOCK, "variants/0/dependencies/1", {"id": "nothing", "version": "1.0.0", "variantDigest": ZERO}, "graph"),
    row(CLOCK, "variants/1/dependencies/1", {"id": "opa", "version": "1.0.0", "variantDigest": ZERO}, "graph"),
]  # fmt: skip


@pytest.mark.parametrize("found", ROWS, ids=str)
def test_one_open_end_is_one_finding(found: Row, engine: str, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path, engine)


ACCEPTED = [
    act("retained although something needs it", edits((NOTES, "retained", True))),
    act("needed by a dependency alone", edits((CLOCK, "revision", "1"))),
    act("a ToolProvider composition alone is an inward reference", edits((OPA, "revision", "1"))),
    act("two ToolProviders with one tool name", edits((NOTES, "tools/0/name", "use_clock"))),
    act("agents share instructions", edits((REVIEWER, "instructions/path", "instructions/writer.md"))),
    act("no invokes", edits((COORDINATOR, "invokes", DROP))),
    act("empty invokes", edits((COORDINATOR, "invokes", []))),
    act("a catalog without id", edits((ROOT, "toolProviderCatalog/id", DROP))),
    act("edges in both directions", edits((WRITER, "invokes", [{"agent": "coordinator", "maxConcurrent": 1,
                                                                 "maxDepth": 1}]))),
]  # fmt: skip


@pytest.mark.parametrize("found", ACCEPTED, ids=str)
def test_a_closed_graph_is_accepted(found: Row, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path)


def test_a_cycle_of_dependencies_is_named(tmp_path: Path) -> None:
    """9.4: cycles are rejected. A hash cycle cannot exist, so one digest on it is stale as well."""
    suite = SuiteBuilder()
    suite.at(ZONES, "variants/0")["dependencies"] = [{"id": "clock", "version": "1.0.0", "variantDigest": STALE}]
    report = validate(suite.directory(tmp_path / "suite"))
    assert {requirement for requirement, _, _ in faults(report)} == {REQUIREMENT}
    cycles = [found for found in report.findings if "cycle" in found.message]
    assert [found.location for found in cycles] == [f"{CLOCK}#/variants/0/dependencies"]
    assert "clock 1.0.0 -> zones 2026.1.0 -> clock 1.0.0" in cycles[0].message


def test_one_path_as_two_kinds_of_document(tmp_path: Path) -> None:
    suite = SuiteBuilder()
    suite.edit(ROOT, "buildProfiles/1/path", WRITER)
    report = validate(suite.directory(tmp_path / "suite"))
    assert (REQUIREMENT, "graph", f"{ROOT}#/buildProfiles/1/path") in faults(report)


def test_an_agent_that_stands_where_an_eval_case_should(tmp_path: Path) -> None:
    """A path that two references read as different documents is a finding and never an exception."""
    suite = SuiteBuilder()
    suite.move(REVIEWER, "evals/writer/cases/reviewer.json")
    suite.edit(ROOT, "agents/1/path", "evals/writer/cases/reviewer.json")
    suite.edit(EVALS, "cases/1/path", "evals/writer/cases/reviewer.json")
    suite.documents.pop("evals/writer/cases/tail.json")
    assert faults(validate(suite.directory(tmp_path / "suite"))) == [
        (REQUIREMENT, "graph", f"{EVALS}#/cases/1/path"),
    ]


def test_an_agent_path_twice_is_a_duplicate_and_a_disagreement(tmp_path: Path) -> None:
    """7: a second identity at one path cannot agree with the document there."""
    suite = SuiteBuilder()
    suite.at(ROOT, "agents").append(ref(WRITER, id="ghost"))
    report = validate(suite.directory(tmp_path / "suite"))
    found = {location for requirement, _, location in faults(report) if requirement == REQUIREMENT}
    assert {f"{ROOT}#/agents/3/path", f"{ROOT}#/agents/3/id"} <= found


def test_a_requirement_of_another_version_names_those_there_are(tmp_path: Path) -> None:
    """8: exact versions; the composition's record is then ambient as well, which AS-COMPOSE-001 says."""
    suite = SuiteBuilder()
    suite.edit(REVIEWER, "toolProviders/1/version", "1.9.0")
    report = validate(suite.directory(tmp_path / "suite"))
    first = report.findings[0]
    assert (first.requirement, first.location) == (REQUIREMENT, f"{REVIEWER}#/toolProviders/1")
    assert first.hint == "cataloged versions: 1.10.0"
    assert {requirement for requirement, _, _ in faults(report)} == {REQUIREMENT, "AS-COMPOSE-001"}


def test_kept_digests_stay() -> None:
    suite = SuiteBuilder()
    suite.edit(ROOT, "agents/0/digest", Kept(ZERO))
    assert suite.seal().at(ROOT, "agents/0/digest") == ZERO
