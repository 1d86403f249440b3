"""Rows of mutation tables: one change of a valid suite, and the one finding that it must give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatch_agentsuite.validation import Report, validate
from tests.validation.suites import SuiteBuilder

Change = Callable[[SuiteBuilder], object]
Fault = tuple[str, str, str]


@dataclass(frozen=True)
class Row:
    """One change; ``category`` and ``location`` are those of the finding, or empty where the suite stays valid."""

    label: str
    change: Change
    category: str = ""
    location: str = ""

    def __str__(self) -> str:
        return self.label

    def build(self) -> SuiteBuilder:
        suite = SuiteBuilder()
        self.change(suite)
        return suite


def row(document: str, where: str, value: Any, category: str = "", at: str | None = None) -> Row:
    """Return a row that sets or drops one value; ``at`` is the finding's place where it is another one."""

    def change(suite: SuiteBuilder) -> None:
        suite.edit(document, where, value)

    place = where if at is None else at
    location = place if "#" in place or not category else f"{document}#{'/' if place else ''}{place}"
    name = document.rpartition("/")[2] if document.count("/") < 2 else document.split("/")[1]
    return Row(f"{name}:{where}={ascii(value)[:40]}", change, category, location)


def act(label: str, change: Change, category: str = "", location: str = "") -> Row:
    """Return a row whose change is a function."""
    return Row(label, change, category, location)


def edits(*changes: tuple[str, str, Any]) -> Change:
    """Return a change of several places that belong together."""

    def change(suite: SuiteBuilder) -> None:
        for document, where, value in changes:
            suite.edit(document, where, value)

    return change


def faults(report: Report) -> list[Fault]:
    """Return requirement, category and location of every error."""
    return [(found.requirement, found.category, found.location) for found in report.findings if found.is_error]


def expected(found: Row, requirement: str) -> list[Fault]:
    """Return the errors that a row asks for."""
    return [(requirement, found.category, found.location)] if found.category else []


def check(found: Row, requirement: str, folder: Path, engine: str = "") -> Report:
    """Judge a row: as an extracted directory, and with the engine jsonschema as an image layout."""
    suite = found.build()
    report = validate((suite.layout if engine == "jsonschema" else suite.directory)(folder / "suite"))
    assert faults(report) == expected(found, requirement), [str(finding) for finding in report.findings]
    assert report.ok is not bool(found.category)
    return report
