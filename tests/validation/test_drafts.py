"""AS-DRAFT-001: deferred and reserved features are rejected (specification 7, 8, 9, Appendix A)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.validation.contents import CATALOG, CLOCK, OPA, SEARCH, SMALL, WRITER, WRITER_AMD64
from tests.validation.suites import DROP, SuiteBuilder
from tests.validation.tables import Row, act, check, row

REQUIREMENT = "AS-DRAFT-001"
ROOT = "agentsuite.json"


def _remote_requirement(agent: str) -> Any:
    """Let an agent and its compositions ask for the remote ToolProvider."""

    def change(suite: SuiteBuilder) -> None:
        item = {"id": "search", "version": "1.0.0", "executionMode": "shared-sandbox"}
        suite.documents[agent].setdefault("toolProviders", []).append(item)
        digest = "sha256:" + "1" * 64
        for path, value in suite.documents.items():
            if path.startswith("compositions/") and value["agent"] == suite.documents[agent]["id"]:
                value["toolProviders"].append({**item, "manifestDigest": digest, "variantDigest": digest})

    return change


ROWS = [
    row(ROOT, "extensions/1/critical", True, "graph"),
    row(WRITER, "extensions/1/critical", True, "graph"),
    row(CLOCK, "extensions/0/critical", True, "graph"),
    row(ROOT, "extensions/0/critical", True, "graph"),
    row(WRITER, "toolProviders/0/executionMode", "isolated-sandbox", "tool-provider"),
    row(WRITER_AMD64, "toolProviders/1/executionMode", "remote", "tool-provider"),
    row(OPA, "protocol", "openapi", "tool-provider"),
    row(SEARCH, "remote/transport", "sse", "tool-provider"),
    row(SEARCH, "remote/transport", "stdio", "tool-provider"),
    row(OPA, "variants/0/platform/os", "windows", "platform"),
    row(OPA, "variants/0/platform/architecture", "riscv64", "platform"),
    row(OPA, "variants/0/platform/variant", "v8", "platform"),
    row(OPA, "variants/0/platform/variant", "", "platform"),
    row(ROOT, "compositions/0/platform/os", "darwin", "platform"),
    row(WRITER_AMD64, "platform/architecture", "s390x", "platform"),
    row(SMALL, "harness/0/platform/os", "macos", "platform"),
    act("an agent rests on a remote ToolProvider", _remote_requirement("agents/coordinator.json"), "tool-provider",
        "agents/coordinator.json#/toolProviders/0"),
    act("another one does", _remote_requirement(WRITER), "tool-provider", f"{WRITER}#/toolProviders/2"),
]  # fmt: skip


@pytest.mark.parametrize("found", ROWS, ids=str)
def test_one_deferred_feature_is_one_finding(found: Row, engine: str, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path, engine)


def _both(suite: SuiteBuilder) -> None:
    suite.edit(OPA, "remote", suite.at(SEARCH, "remote"))


def _remote_alone(suite: SuiteBuilder) -> None:
    suite.edit(CATALOG, "toolProviders/3/id", "finder")
    suite.edit(SEARCH, "id", "finder")


ACCEPTED = [
    act("a ToolProvider with variants and remote", _both),
    act("a remote ToolProvider that is only cataloged", _remote_alone),
    row(ROOT, "extensions/1/name", "anything.at-all.v9"),
    row(ROOT, "extensions", DROP),
    row(CLOCK, "extensions", []),
]


@pytest.mark.parametrize("found", ACCEPTED, ids=str)
def test_what_this_draft_has_is_accepted(found: Row, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path)
