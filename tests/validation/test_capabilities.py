"""AS-CAP-001: declared capabilities equal the derived ones (specification 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.validation.contents import CATALOG, REVIEWER, WRITER
from tests.validation.suites import DROP, SuiteBuilder
from tests.validation.tables import Change, Row, act, check, row

REQUIREMENT = "AS-CAP-001"
ROOT = "agentsuite.json"
CAPABILITY = "bundled-stdio-mcp"


def _without_bundles(*, remote: bool, capabilities: Any) -> Change:
    """Leave remote ToolProviders alone, or none at all."""

    def change(suite: SuiteBuilder) -> None:
        suite.edit(CATALOG, "toolProviders", suite.at(CATALOG, "toolProviders")[3:4] if remote else [])
        for agent in (WRITER, REVIEWER):
            suite.edit(agent, "toolProviders", [])
        suite.edit(ROOT, "toolProviderCompositions", DROP)
        suite.edit(ROOT, "capabilities", capabilities)
        for path in [path for path in suite.documents if path.startswith("compositions/")]:
            suite.edit(path, "toolProviders", [])

    return change


def _only_retained(suite: SuiteBuilder) -> None:
    """Bundled variants count wherever they are cataloged, also where nothing needs them."""
    _without_bundles(remote=True, capabilities=DROP)(suite)
    opa = SuiteBuilder().at(CATALOG, "toolProviders/2")
    suite.at(CATALOG, "toolProviders").insert(0, opa)
    suite.edit("tool-providers/opa/1.0.0/tool-provider.json", "retained", True)


PLACE = f"{ROOT}#/capabilities"
ROWS = [
    row(ROOT, "capabilities", DROP, "graph"),
    row(ROOT, "capabilities", [], "graph"),
    row(ROOT, "capabilities", ["remote-http-mcp"], "graph"),
    row(ROOT, "capabilities", [CAPABILITY, "remote-http-mcp"], "graph"),
    row(ROOT, "capabilities", ["a", CAPABILITY], "graph"),
    row(ROOT, "capabilities", ["bundled-stdio"], "graph"),
    act("remote ToolProviders imply none", _without_bundles(remote=True, capabilities=[CAPABILITY]), "graph", PLACE),
    act("no ToolProvider implies none", _without_bundles(remote=False, capabilities=[CAPABILITY]), "graph", PLACE),
    act("no capability of another name", _without_bundles(remote=False, capabilities=["any"]), "graph", PLACE),
    act("a retained bundle counts", _only_retained, "graph", PLACE),
]


@pytest.mark.parametrize("found", ROWS, ids=str)
def test_another_list_than_the_derived_one(found: Row, engine: str, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path, engine)


@pytest.mark.parametrize("capabilities", [DROP, []])
@pytest.mark.parametrize("remote", [True, False])
def test_absent_and_empty_are_equal(remote: bool, capabilities: Any, tmp_path: Path) -> None:
    """7, with no bundled variant in the catalog."""
    found = act("", _without_bundles(remote=remote, capabilities=capabilities))
    report = check(found, REQUIREMENT, tmp_path)
    assert report.summary is not None
    assert report.summary.capabilities == ()
    assert report.summary.tool_providers == int(remote)


def test_a_value_that_stands_twice_is_the_schemas_business(tmp_path: Path) -> None:
    """Duplicates and null break the shape of the list: AS-JSON-001 owns them."""
    for number, value in enumerate(([CAPABILITY, CAPABILITY], None)):
        check(row(ROOT, "capabilities", value, "json"), "AS-JSON-001", tmp_path / str(number))
