"""docs/conformance.md names real checks and real tests, and leaves out none of the rules it had.

15.1: every requirement of a suite validator is judged by something that the page names.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.validation.requirements import REQUIREMENTS, SUITE_REQUIREMENTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "conformance.md"
RULES = {
    "Section 4": 22,
    "Section 5": 23,
    "Section 6": 9,
    "Section 7": 5,
    "Section 8": 57,
    "Section 9": 36,
    "Section 10": 12,
    "Section 11": 10,
    "Rules that schemas cannot say": 49,
}
"""How many rules each table has at least."""

DUTIES = {"runtime", "consumer", "producer"}

_CODE = re.compile(r"`([^`]+)`")
_FUNCTION = re.compile(r"([\w/]+\.py)::([\w.]+)")
_SCHEMA = re.compile(r"([\w/-]+\.json)#(/.*)")
_TEST = re.compile(r"([\w/]*/test_\w+\.py)(?:::(\w+)|\[(.+)\])")
_TABLE_HEAD = ["rule", "requirement", "check", "test"]


@dataclass(frozen=True)
class Rule:
    """A row of a table."""

    section: str
    text: str
    requirement: str
    check: str
    test: str

    @property
    def checks(self) -> list[str]:
        return _CODE.findall(self.check)

    @property
    def tests(self) -> list[str]:
        return _CODE.findall(self.test)


def rules(text: str) -> Iterator[Rule]:
    """Yield the rows of a page's tables, with the heading above each."""
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("| "):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            assert len(cells) == len(_TABLE_HEAD), line
            if cells != _TABLE_HEAD:
                yield Rule(section, *cells)


FOUND = list(rules(PAGE.read_text(encoding="utf-8")))
CHECKS = sorted({name for rule in FOUND if rule.requirement not in DUTIES for name in rule.checks if "::" in name})
SCHEMAS = sorted({name for rule in FOUND if rule.requirement not in DUTIES for name in rule.checks if "#/" in name})
TESTS = sorted({name for rule in FOUND for name in rule.tests})


@cache
def definitions(path: Path) -> frozenset[str]:
    """Return the functions, classes and methods (``Class.method``) of a file."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found.update(f"{node.name}.{item.name}" for item in node.body if isinstance(item, ast.FunctionDef))
    return frozenset(found)


@cache
def row_labels(path: str) -> frozenset[str]:
    """Return the names that a test file gives to the rows of its tables."""
    module = importlib.import_module(f"tests.{path.removesuffix('.py').replace('/', '.')}")
    marks = [mark for item in vars(module).values() for mark in getattr(item, "pytestmark", [])]
    return frozenset(label for mark in marks if mark.name == "parametrize" for label in _labels(mark))


def _labels(mark: pytest.Mark) -> Iterable[str]:
    named: Any = mark.kwargs.get("ids")
    if named is None:
        return []
    return (str(named(value)) for value in mark.args[1]) if callable(named) else map(str, named)


def test_no_table_lost_a_rule() -> None:
    """Sections 4 to 11 and the rules that schemas cannot say: each table has what it had, each rule stands once."""
    counts = Counter(rule.section for rule in FOUND)
    assert counts.keys() == RULES.keys()
    assert {section: count for section, count in RULES.items() if counts[section] < count} == {}
    assert [rule for rule, count in Counter((rule.section, rule.text) for rule in FOUND).items() if count > 1] == []
    misplaced = [rule.text for rule in FOUND if (match := re.match(r"Section (\d+)", rule.section))
                 and not re.match(rf"{match[1]}[.:]", rule.text)]  # fmt: skip
    assert misplaced == []


@pytest.mark.parametrize("rule", FOUND, ids=lambda rule: f"{rule.section}-{rule.text}"[:60])
def test_a_rule_has_a_check_and_a_test_or_a_reason(rule: Rule) -> None:
    """Where no validator can check a rule, the table says whose duty it is and why."""
    if rule.requirement in DUTIES:
        assert len(rule.check) > 20
        return
    assert set(rule.requirement.split(", ")) <= REQUIREMENTS.keys()
    assert rule.checks
    assert rule.tests
    for name in rule.checks:
        assert "::" in name or "#/" in name or "/" not in name, f"{name} is neither a function nor a place in a schema"


@pytest.mark.parametrize("name", CHECKS)
def test_a_named_check_exists(name: str) -> None:
    match = _FUNCTION.fullmatch(name)
    assert match
    assert match[2] in definitions(ROOT / "hatch_agentsuite" / match[1])


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_named_place_in_a_schema_exists(name: str) -> None:
    match = _SCHEMA.fullmatch(name)
    assert match
    value = json.loads((ROOT / "schemas" / "agentsuite_schemas" / match[1]).read_bytes())
    for step in match[2].split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    assert value


@pytest.mark.parametrize("name", TESTS, ids=lambda name: name[:80])
def test_a_named_test_exists(name: str) -> None:
    """Functions by name, rows of tables by how their names begin."""
    match = _TEST.fullmatch(name)
    assert match
    path, function, rows = match.groups()
    if function:
        assert function.startswith("test_")
        assert function in definitions(ROOT / "tests" / path)
        return
    labels = row_labels(path)
    assert [row for row in rows.split("; ") if not any(label.startswith(row) for label in labels)] == []


def test_every_requirement_of_15_1_is_named() -> None:
    """15.1: each of them serves a rule of sections 4 to 11."""
    assert set(SUITE_REQUIREMENTS) <= {part for rule in FOUND for part in rule.requirement.split(", ")}


def test_the_reader_of_tables_can_refuse() -> None:
    """A row with a cell too few is an error, a name that is not there is not found."""
    with pytest.raises(AssertionError):
        list(rules("## Section 4\n| a | b | c |\n"))
    assert "nobody" not in definitions(ROOT / "hatch_agentsuite" / "content.py")
    assert not any(label.startswith("nobody") for label in row_labels("validation/test_graph.py"))
