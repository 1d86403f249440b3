"""AS-ID-001: every content-addressed identity matches its algorithm (specification 6, 7, 11)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.jsondoc import digest_bytes, variant_digest
from hatch_agentsuite.validation import validate
from tests.validation.contents import CATALOG, CLOCK, DEFAULT, EVALS, NOTES, REVIEWER, SEARCH, WRITER, ZERO
from tests.validation.suites import DROP, STALE, Kept, SuiteBuilder, plain
from tests.validation.tables import Row, act, check, edits, faults, row

REQUIREMENT = "AS-ID-001"
ROOT = "agentsuite.json"


def _variant(label: str, where: str, value: Any) -> Row:
    """Change a variant after its digest was taken; everything above it is computed again (6.3)."""

    def change(suite: SuiteBuilder) -> None:
        suite.seal()
        suite.edit(NOTES, "variants/0/variantDigest", Kept(suite.at(NOTES, "variants/0/variantDigest")))
        suite.edit(NOTES, f"variants/0/{where}", value)

    return act(label, change, "digest", f"{NOTES}#/variants/0/variantDigest")


def _change_instructions(suite: SuiteBuilder) -> None:
    reference = suite.seal().at(REVIEWER, "instructions")
    reference["digest"] = Kept(reference["digest"])
    suite.files["instructions/reviewer.md"] = b"Another.\n"


_OTHER_IMAGE = "registry.example/agentsuite/base@" + digest_bytes(b"another")

ROWS = [
    row(ROOT, "agents/2/digest", STALE, "digest"),
    row(ROOT, "toolProviderCatalog/digest", STALE, "digest"),
    row(ROOT, "compositions/0/digest", STALE, "digest"),
    row(ROOT, "toolProviderCompositions/0/digest", STALE, "digest"),
    row(ROOT, "buildProfiles/1/digest", STALE, "digest"),
    row(ROOT, "extensions/0/digest", STALE, "digest"),
    row(WRITER, "instructions/digest", STALE, "digest"),
    row(WRITER, "evals/0/digest", STALE, "digest"),
    row(WRITER, "extensions/0/digest", STALE, "digest"),
    row(EVALS, "cases/1/digest", STALE, "digest"),
    row(CATALOG, "toolProviders/0/digest", STALE, "digest"),
    row(CLOCK, "tools/0/inputSchema/digest", STALE, "digest"),
    row(CLOCK, "tools/0/outputSchema/digest", STALE, "digest"),
    row("metadata/files.json", "files/0/digest", STALE, "digest"),
    row(NOTES, "variants/1/variantDigest", STALE, "digest"),
    row(ROOT, "agents/2/digest", Kept(ZERO), "digest"),
    _variant("an explicit false that was absent counts", "relocatable", False),
    _variant("an empty list that was absent counts", "arguments", []),
    _variant("another CPU baseline counts", "runtime/cpuBaseline", "x86-64-v2"),
    _variant("a component that was absent counts", "files/0/component", "notes"),
    row(DEFAULT, "runtimeBase/0/imageRef", _OTHER_IMAGE, "build"),
    row(DEFAULT, "harness/1/imageRef", _OTHER_IMAGE, "build"),
    act("instructions changed", _change_instructions, "digest", f"{REVIEWER}#/instructions/digest"),
]


@pytest.mark.parametrize("found", ROWS, ids=str)
def test_one_stale_identity_is_one_finding(found: Row, engine: str, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path, engine)


def test_a_digest_follows_the_value_and_not_its_spelling(tmp_path: Path) -> None:
    """6.1: white space and member order do not change a document's identity."""
    suite = SuiteBuilder().seal()
    value = plain(suite.documents[WRITER])
    suite.raw[WRITER] = json.dumps(dict(reversed(value.items())), indent=3).encode() + b"\n"
    assert faults(validate(suite.directory(tmp_path / "suite"))) == []


def test_a_file_digest_follows_the_exact_bytes(tmp_path: Path) -> None:
    """6.2: for a tool's schema white space counts, JSON or not."""
    suite = SuiteBuilder().seal()
    suite.files["schemas/output.json"] = b'{"type":"object"}'
    report = validate(suite.directory(tmp_path / "suite", seal=False))
    assert faults(report) == [(REQUIREMENT, "digest", f"{CLOCK}#/tools/0/outputSchema/digest")]
    assert digest_bytes(b'{"type":"object"}') in report.findings[0].message


@pytest.mark.parametrize(
    ("member", "value"),
    [("relocatable", False), ("arguments", []), ("dependencies", []), ("sbom", DROP), ("searchPath", DROP)],
)
def test_the_presence_of_an_optional_member_is_part_of_a_variant(member: str, value: object) -> None:
    """6.3: the digest commits to the presence of optional members."""
    suite = SuiteBuilder()
    provider = NOTES if value is not DROP else CLOCK
    before = variant_digest(suite.at(provider, "variants/0"))
    edits((provider, f"variants/0/{member}", value))(suite)
    assert variant_digest(suite.at(provider, "variants/0")) != before


def test_every_member_is_part_of_a_manifests_identity() -> None:
    """9.5: a remote timeout contributes to the digest, and so does the digest of a tool's schema."""
    found = set()
    for where, value in (
        ("retained", True),
        ("remote/timeouts/requestMilliseconds", 1),
        ("tools/0/effect", "mutating"),
    ):
        suite = SuiteBuilder()
        suite.edit(SEARCH, where, value)
        found.add(suite.seal().at(CATALOG, "toolProviders/3/digest"))
    suite = SuiteBuilder()
    suite.files["schemas/input.json"] = b"{}"
    found.add(suite.seal().at(CATALOG, "toolProviders/3/digest"))
    assert len(found) == 4


def test_a_variant_digest_does_not_count_itself() -> None:
    """6.3: only the value of variantDigest is replaced."""
    variant = SuiteBuilder().at(NOTES, "variants/0")
    assert variant_digest({**variant, "variantDigest": "x"}) == variant_digest(variant)
