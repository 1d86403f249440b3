"""AS-COMPOSE-001: compositions exactly resolve their agents' ToolProviders (specification 8, 9.4, 10, 11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.content import read_directory
from hatch_agentsuite.jsondoc import digest_bytes
from hatch_agentsuite.validation import validate
from hatch_agentsuite.validation.bundles import closure
from hatch_agentsuite.validation.suite import load_suite
from tests.validation.contents import (
    AMD64,
    CATALOG,
    CLOCK,
    NOTES,
    OPA_AMD64,
    REVIEWER,
    SMALL,
    WRITER,
    WRITER_AMD64,
    ZONES,
    ref,
)
from tests.validation.suites import DROP, STALE, Kept, SuiteBuilder
from tests.validation.tables import Change, Row, act, check, edits, faults, row

REQUIREMENT = "AS-COMPOSE-001"
ROOT = "agentsuite.json"
COORDINATOR_AMD64 = "compositions/coordinator-linux-amd64.json"
PROVIDERS = f"{WRITER_AMD64}#/toolProviders"
_FIRST, _SECOND = SuiteBuilder().at(WRITER_AMD64, "toolProviders")


def _only_writer(suite: SuiteBuilder) -> None:
    """Let the writer's amd64 composition be the only one that has ToolProviders, so that one change is seen once."""
    suite.edit(REVIEWER, "toolProviders", DROP)
    suite.edit("compositions/reviewer-linux-amd64.json", "toolProviders", [])
    suite.edit(ROOT, "compositions/1", DROP)
    suite.documents.pop("compositions/writer-linux-arm64.json")


def overlay(provider: str, item: dict[str, Any], data: bytes | None = None) -> Change:
    """Install an entry of another bundle's root: ``item`` joins the amd64 inventory and content of a ToolProvider."""

    def change(suite: SuiteBuilder) -> None:
        variant = suite.at(provider, "variants/0")
        variant["installRoot"], old = "/opt/agentsuite/clock", variant["installRoot"]
        variant["entrypoint"] = variant["entrypoint"].replace(old, "/opt/agentsuite/clock")
        path = f"{variant['payloadRoot']}/{item['path']}"
        if data is not None:
            suite.files[path], suite.modes[path] = data, item["mode"]
            item.update(size=len(data), digest=digest_bytes(data))
        elif item["type"] == "directory":
            suite.folders[path] = item["mode"]
        else:
            suite.symlinks[path] = item["linkTarget"]
        variant["files"].append(item)

    return change


def entry(path: str, kind: str, mode: int, **more: Any) -> dict[str, Any]:
    return {"path": path, "type": kind, "mode": mode, "uid": 0, "gid": 0, **more}


def _with_lib(suite: SuiteBuilder) -> None:
    """Give the clock a listed folder of its own."""
    suite.folders["tool-providers/clock/1.0.0/linux-amd64/lib"] = 0o755
    suite.at(CLOCK, "variants/0/files").append(entry("lib", "directory", 0o755))


def both(*changes: Change) -> Change:
    def change(suite: SuiteBuilder) -> None:
        for part in changes:
            part(suite)

    return change


def _colliding(provider: str, item: dict[str, Any], data: bytes | None = None) -> Change:
    return both(_only_writer, _with_lib, overlay(provider, item, data))


def _other_variant(suite: SuiteBuilder) -> None:
    """Let a record hold the digest of the arm64 variant in a composition for amd64."""
    digest = Kept(suite.seal().at(NOTES, "variants/1/variantDigest"))
    suite.edit(WRITER_AMD64, "toolProviders/1/variantDigest", digest)


_NO_BASE = edits(
    (SMALL, "runtimeBase/0/platform/architecture", "arm64"),
    (OPA_AMD64, "buildProfile", "default"),
)
_COORDINATOR_PROFILE = f"{COORDINATOR_AMD64}#/buildProfile"

ROWS = [
    # a build profile that serves the platform (10, 11)
    row(WRITER_AMD64, "buildProfile", "large", "build"),
    act("no runtime base for the platform", _NO_BASE, "build", _COORDINATOR_PROFILE),
    row(SMALL, "harness/0/platform/architecture", "arm64", "build", _COORDINATOR_PROFILE),
    # exactly the agent's requirements (10)
    row(WRITER_AMD64, "toolProviders/1", DROP, "graph", PROVIDERS),
    row(COORDINATOR_AMD64, "toolProviders", [dict(_FIRST)], "graph"),
    row(WRITER_AMD64, "toolProviders", [dict(_SECOND), dict(_FIRST)], "graph"),
    row(WRITER_AMD64, "toolProviders", [dict(_FIRST), dict(_FIRST), dict(_SECOND)], "graph"),
    row(WRITER_AMD64, "toolProviders/0/manifestDigest", STALE, "digest"),
    row(WRITER_AMD64, "toolProviders/0/variantDigest", STALE, "digest"),
    act("the other platform's variant", _other_variant, "digest", f"{PROVIDERS}/1/variantDigest"),
    act("no variant for the platform", both(_only_writer, edits((NOTES, "variants/0", DROP))), "platform",
        f"{PROVIDERS}/1"),
    # at least one composition of every agent (8)
    act("agent without composition", edits((ROOT, "compositions/3", DROP)), "graph", f"{ROOT}#/agents/0"),
    # bundles at odds over a destination (9.4)
    act("another file at one destination", _colliding(NOTES, entry("share/zone.txt", "file", 0o644), b"other\n"),
        "tool-provider", PROVIDERS),
    act("equal bytes with another mode", _colliding(NOTES, entry("share/zone.txt", "file", 0o755), b"UTC\n"),
        "tool-provider", PROVIDERS),
    act("a symlink at a file", _colliding(NOTES, entry("share/zone.txt", "symlink", 0o777, linkTarget="notes")),
        "tool-provider", PROVIDERS),
    act("another link target", _colliding(NOTES, entry("bin/now", "symlink", 0o777, linkTarget="notes")),
        "tool-provider", PROVIDERS),
    act("a directory with another mode", _colliding(NOTES, entry("share", "directory", 0o700)), "tool-provider",
        PROVIDERS),
    act("a file at a listed directory", _colliding(NOTES, entry("lib", "file", 0o644), b"x"), "tool-provider",
        PROVIDERS),
    act("a file below another bundle's file",
        _colliding(NOTES, entry("share/zone.txt/more", "file", 0o644), b"x"), "tool-provider", PROVIDERS),
    act("a dependency's file at one destination",
        _colliding(ZONES, entry("share/zone.txt", "file", 0o644), b"other\n"), "tool-provider", PROVIDERS),
]  # fmt: skip


@pytest.mark.parametrize("found", ROWS, ids=str)
def test_one_inexact_composition_is_one_finding(found: Row, engine: str, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path, engine)


ACCEPTED = [
    act("equal file at one destination", _colliding(NOTES, entry("share/zone.txt", "file", 0o644), b"UTC\n")),
    act("equal link at one destination", _colliding(NOTES, entry("bin/now", "symlink", 0o777, linkTarget="clock"))),
    act("equal directory at one destination", _colliding(NOTES, entry("share", "directory", 0o755))),
    act("a file below another bundle's directory", _colliding(NOTES, entry("share/more", "file", 0o644), b"x")),
    act("the same file in a dependency", _colliding(ZONES, entry("share/zone.txt", "file", 0o644), b"UTC\n")),
    act("an empty composition", _only_writer),
    act("two platforms, two profiles", edits((WRITER_AMD64, "buildProfile", "small"))),
]


@pytest.mark.parametrize("found", ACCEPTED, ids=str)
def test_an_exact_composition_is_accepted(found: Row, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path)


def test_versions_are_sorted_as_text(tmp_path: Path) -> None:
    """10: lexicographic by id, then version: 1.10.0 comes before 1.9.0, and the other order is refused."""
    suite = SuiteBuilder()
    _only_writer(suite)
    suite.edit(CATALOG, "toolProviders/0/version", "1.9.0")
    suite.edit(CLOCK, "version", "1.9.0")
    path = "tool-providers/clock/1.10.0.json"
    suite.documents[path] = {**SuiteBuilder().documents[CLOCK], "version": "1.10.0"}
    suite.at(CATALOG, "toolProviders").append(ref(path, id="clock", version="1.10.0"))
    requirement = {"id": "clock", "executionMode": "shared-sandbox"}
    suite.edit(WRITER, "toolProviders/0", {**requirement, "version": "1.9.0"})
    suite.at(WRITER, "toolProviders").append({**requirement, "version": "1.10.0"})
    records = [{**_FIRST, "version": "1.10.0"}, {**_FIRST, "version": "1.9.0"}, dict(_SECOND)]
    suite.edit(WRITER_AMD64, "toolProviders", records)
    assert faults(validate(suite.directory(tmp_path / "sorted"))) == []
    suite.edit(WRITER_AMD64, "toolProviders", [records[1], records[0], records[2]])
    assert faults(validate(suite.directory(tmp_path / "unsorted"))) == [(REQUIREMENT, "graph", PROVIDERS)]


def test_a_composition_of_an_agent_that_is_not_there(tmp_path: Path) -> None:
    """10: reference and document agree, but nobody is called that."""
    suite = SuiteBuilder()
    suite.edit(ROOT, "compositions/3/agent", "ghost")
    suite.edit(COORDINATOR_AMD64, "agent", "ghost")
    assert faults(validate(suite.directory(tmp_path / "suite"))) == [
        (REQUIREMENT, "graph", f"{ROOT}#/agents/0"),
        (REQUIREMENT, "graph", f"{ROOT}#/compositions/3/agent"),
    ]


def test_a_differently_versioned_provider_is_missing_and_ambient(tmp_path: Path) -> None:
    """10: no differently versioned ToolProvider; the message names both."""
    suite = SuiteBuilder()
    suite.edit(WRITER_AMD64, "toolProviders/1/version", "1.9.0")
    report = validate(suite.directory(tmp_path / "suite"))
    assert faults(report) == [
        (REQUIREMENT, "graph", PROVIDERS),
        (REQUIREMENT, "graph", PROVIDERS),
        (REQUIREMENT, "graph", f"{PROVIDERS}/1"),
    ]


def test_a_collision_names_both_bundles_and_the_destination(tmp_path: Path) -> None:
    change = _colliding(NOTES, entry("share/zone.txt", "file", 0o644), b"other\n")
    report = check(act("collision", change, "tool-provider", PROVIDERS), REQUIREMENT, tmp_path)
    for part in ("/opt/agentsuite/clock/share/zone.txt", "`clock` 1.0.0", "`notes` 1.10.0"):
        assert part in report.findings[0].message


def test_dependencies_are_followed_depth_first(tmp_path: Path) -> None:
    """9.4: dependencies are traversed recursively, each once, in the order in which they are written."""
    suite = SuiteBuilder()
    suite.at(ZONES, "variants/0")["dependencies"] = [{"id": "opa", "version": "1.0.0", "variantDigest": STALE}]
    loaded = load_suite(read_directory(suite.directory(tmp_path / "suite")))
    roots = [("clock", "1.0.0"), ("notes", "1.10.0")]
    assert [name for name, _ in closure(loaded, roots, AMD64)] == ["clock", "zones", "opa", "notes"]
