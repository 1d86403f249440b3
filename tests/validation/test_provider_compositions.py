"""AS-PROVIDER-COMPOSE-001: a ToolProvider composition resolves one exact variant and its closure (10.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatch_agentsuite.jsondoc import digest_bytes
from hatch_agentsuite.validation import validate
from tests.validation.contents import AMD64, NOTES, OPA, OPA_AMD64, SEARCH, SMALL, ZERO, header, ref
from tests.validation.suites import DROP, STALE, SuiteBuilder
from tests.validation.tables import Row, act, check, edits, faults, row

REQUIREMENT = "AS-PROVIDER-COMPOSE-001"
ROOT = "agentsuite.json"


def _depends_on_notes(suite: SuiteBuilder, installed: str, data: bytes, mode: int = 0o644) -> None:
    """Let opa depend on notes, both with one root, and notes install a file there."""
    suite.at(OPA, "variants/0")["dependencies"] = [{"id": "notes", "version": "1.10.0", "variantDigest": ZERO}]
    variant = suite.at(OPA, "variants/0")
    variant["installRoot"] = "/opt/agentsuite/notes"
    variant["entrypoint"] = "/opt/agentsuite/notes/bin/opa"
    notes = suite.at(NOTES, "variants/0")
    suite.files[f"{notes['payloadRoot']}/{installed}"] = data
    item = {"path": installed, "type": "file", "mode": mode, "uid": 0, "gid": 0}
    suite.modes[f"{notes['payloadRoot']}/{installed}"] = mode
    notes["files"].append({**item, "size": len(data), "digest": digest_bytes(data)})


def _opa_bytes(suite: SuiteBuilder) -> bytes:
    return suite.files["tool-providers/opa/1.0.0/linux-amd64/bin/opa"]


def _unknown_provider(suite: SuiteBuilder) -> None:
    suite.edit(OPA, "retained", True)
    suite.edit(OPA_AMD64, "id", "opal")
    suite.edit(ROOT, "toolProviderCompositions/0/id", "opal")


def _other_platform(suite: SuiteBuilder) -> None:
    suite.edit(OPA_AMD64, "buildProfile", "default")
    suite.edit(OPA_AMD64, "platform/architecture", "arm64")
    suite.edit(ROOT, "toolProviderCompositions/0/platform/architecture", "arm64")


def _remote_only(suite: SuiteBuilder) -> None:
    suite.documents["tool-provider-compositions/search.json"] = {
        **suite.documents[OPA_AMD64],
        "id": "search",
    }
    item = ref("tool-provider-compositions/search.json", id="search", version="1.0.0", platform=dict(AMD64))
    suite.at(ROOT, "toolProviderCompositions").append(item)


def _base_gone(suite: SuiteBuilder) -> None:
    """Keep the small profile's harness but give it a runtime base for the other platform alone."""
    suite.edit(SMALL, "runtimeBase/0/platform/architecture", "arm64")
    suite.edit("compositions/coordinator-linux-amd64.json", "buildProfile", "default")


ROWS = [
    row(OPA_AMD64, "manifestDigest", STALE, "digest"),
    row(OPA_AMD64, "variantDigest", STALE, "digest"),
    row(OPA_AMD64, "buildProfile", "large", "build"),
    act("no runtime base for the platform", _base_gone, "build", f"{OPA_AMD64}#/buildProfile"),
    act("not in the catalog", _unknown_provider, "graph", f"{OPA_AMD64}#/id"),
    act("no variant for the platform", _other_platform, "platform", f"{OPA_AMD64}#"),
    act("remote only", _remote_only, "tool-provider", "tool-provider-compositions/search.json#"),
    act("another file in a dependency", lambda suite: _depends_on_notes(suite, "bin/opa", b"other\n", 0o755),
        "tool-provider", OPA_AMD64),
    act("another mode in a dependency", lambda suite: _depends_on_notes(suite, "bin/opa", _opa_bytes(suite)),
        "tool-provider", OPA_AMD64),
]  # fmt: skip


@pytest.mark.parametrize("found", ROWS, ids=str)
def test_one_inexact_composition_is_one_finding(found: Row, engine: str, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path, engine)


ACCEPTED = [
    act("no harness for the platform is needed", edits((SMALL, "harness/0/platform/architecture", "arm64"),
        ("compositions/coordinator-linux-amd64.json", "buildProfile", "default"))),
    act("an equal file in a dependency", lambda suite: _depends_on_notes(suite, "bin/opa", _opa_bytes(suite), 0o755)),
    act("remote and variants, a variant selected", lambda suite: suite.edit(OPA, "remote", suite.at(SEARCH, "remote"))),
    act("no ToolProvider composition at all", edits((ROOT, "toolProviderCompositions", []), (OPA, "retained", True))),
    act("the list left out", edits((ROOT, "toolProviderCompositions", DROP), (OPA, "retained", True))),
]  # fmt: skip


@pytest.mark.parametrize("found", ACCEPTED, ids=str)
def test_an_exact_composition_is_accepted(found: Row, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path)


def test_an_unusable_catalog_says_nothing_of_compositions(tmp_path: Path) -> None:
    """A fault that makes later checks meaningless ends its own branch only."""
    suite = SuiteBuilder()
    suite.documents["tool-providers/catalog.json"] = header("tool.provider.catalog")
    report = validate(suite.directory(tmp_path / "suite"))
    assert faults(report) == [("AS-JSON-001", "json", "tool-providers/catalog.json#")]
