"""Findings: stable categories (section 16), one printable line each, and a machine form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatch_agentsuite.findings import CATEGORIES, Finding, RefusedError, pointer, printable

FINDING = Finding("AS-GRAPH-001", "graph", "agents/a.json#/invokes/0", "no such agent", "add it")


def test_categories_are_those_of_section_16() -> None:
    assert set(CATEGORIES) >= {"oci", "json", "path", "digest", "graph", "platform", "tool-provider", "build"}
    assert len(set(CATEGORIES)) == len(CATEGORIES)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ((), ""),
        (("a",), "/a"),
        (("a", 0, "b"), "/a/0/b"),
        (("",), "/"),
        (("a/b",), "/a~1b"),
        (("m~n",), "/m~0n"),
        (("~1",), "/~01"),
    ],
)
def test_pointers_follow_rfc_6901(tokens: tuple[str | int, ...], expected: str) -> None:
    assert pointer(*tokens) == expected


@given(st.lists(st.text()))
def test_a_pointer_can_be_read_back(tokens: list[str]) -> None:
    parts = pointer(*tokens).split("/")[1:]
    assert [part.replace("~1", "/").replace("~0", "~") for part in parts] == tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text", "plain text"),
        ("caf\xe9 \U0001f600", "caf\xe9 \U0001f600"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\u202eevil", "\\u202eevil"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\u2028", "\\u2028"),
        ("\udcff", "\\udcff"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
    ],
)
def test_a_terminal_shows_names_and_does_not_obey_them(text: str, expected: str) -> None:
    assert printable(text) == expected


@given(st.text(st.characters()))
def test_printable_text_is_one_encodable_line_and_stays_itself(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    shown.encode()
    assert printable(shown) == shown


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (FINDING, "agents/a.json#/invokes/0: no such agent (add it) [AS-GRAPH-001]"),
        (Finding("R", "json", "", "wrong"), "wrong [R]"),
        (Finding("R", "json", "a.json#/b", "wrong", line=3, column=7), "a.json:3:7#/b: wrong [R]"),
        (Finding("R", "json", "a.json", "wrong", line=3), "a.json:3:1: wrong [R]"),
        (Finding("R", "path", "a\nb", "wrong\x1b"), "a\\nb: wrong\\x1b [R]"),
    ],
)
def test_a_finding_is_one_line(finding: Finding, expected: str) -> None:
    assert str(finding) == expected


def test_the_machine_form_leaves_absent_members_out() -> None:
    assert Finding("R", "json", "a.json", "wrong").to_json() == {
        "requirement": "R",
        "category": "json",
        "severity": "error",
        "location": "a.json",
        "message": "wrong",
    }
    full = Finding("R", "json", "a.json", "wrong", "mend", "warning", 1, 2).to_json()
    assert (full["hint"], full["severity"], full["line"], full["column"]) == ("mend", "warning", 1, 2)


def test_a_warning_does_not_refuse_and_says_the_same() -> None:
    warning = FINDING.as_warning()
    assert FINDING.is_error
    assert not warning.is_error
    assert (warning.message, warning.location, warning.hint) == (FINDING.message, FINDING.location, FINDING.hint)


def test_a_refusal_carries_its_findings_and_shows_each_on_a_line() -> None:
    error = RefusedError(FINDING, Finding("R", "json", "", "wrong\nagain"))
    assert error.findings[0] is FINDING
    assert str(error).splitlines() == [str(FINDING), "wrong\\nagain [R]"]
