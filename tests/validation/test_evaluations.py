"""AS-EVAL-001: optional evaluations conform to section 8.2, and no message repeats an operand."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.validation import validate
from hatch_agentsuite.validation.evaluations import pattern_fault
from tests.validation.contents import EVALS, LEAD, REVIEWER, TAIL, WRITER, ref
from tests.validation.suites import DROP, Kept, SuiteBuilder
from tests.validation.tables import Change, Row, act, check, faults, row

REQUIREMENT = "AS-EVAL-001"
A, B, REGEX, CALLED, NOT_CALLED, JUDGE, OTHER = (f"assertions/{number}" for number in range(7))
SECRET = "zz-operand-zz"


def _moved(source: str, target: str, holder: str, where: str) -> Change:
    def change(suite: SuiteBuilder) -> None:
        suite.move(source, target)
        suite.edit(holder, where, target)

    return change


def _file(path: str) -> Change:
    return lambda suite: suite.files.update({path: b"x"})


def _borrowed_case(suite: SuiteBuilder) -> None:
    """Let the reviewer's index reference a case of the writer's."""
    index = {**suite.documents[EVALS], "agent": "reviewer", "cases": [ref(TAIL)]}
    suite.documents["evals/reviewer/index.json"] = index
    suite.edit(REVIEWER, "evals", [ref("evals/reviewer/index.json")])


def _long_case(suite: SuiteBuilder) -> None:
    suite.edit(LEAD, "input", "\u00e9" * 8192)


ROWS = [
    # ownership, paths, bounds (8.2, 8.2.1)
    row(EVALS, "agent", "reviewer", "evaluation"),
    act("a case under another name", _moved(TAIL, "evals/writer/cases/end.json", EVALS, "cases/1/path"), "evaluation",
        f"{EVALS}#/cases/1/path"),
    row(TAIL, "id", "Tail", "evaluation", f"{EVALS}#/cases/1/path"),
    act("a case of another agent", _borrowed_case, "evaluation", "evals/reviewer/index.json#/cases/0/path"),
    row(EVALS, "limits/maxCases", 1, "evaluation"),
    row(EVALS, "limits/maxCases", 129, "evaluation"),
    row(EVALS, "limits/maxCases", 0, "evaluation"),
    row(EVALS, "limits/maxCaseBytes", 4_194_305, "evaluation"),
    row(EVALS, "limits/maxCaseBytes", DROP, "evaluation", "limits"),
    act("a case of more UTF-8 bytes than allowed", _long_case, "evaluation", f"{EVALS}#/cases/0/path"),
    row(EVALS, "cases/0/digest", Kept("latest"), "evaluation"),
    row(EVALS, "surprise", 1, "evaluation"),
    # the subtree (8.2)
    act("a stray file in a subtree", _file("evals/writer/notes.txt"), "evaluation", "evals/writer/notes.txt"),
    act("an unreferenced case", _file("evals/writer/cases/more.json"), "evaluation", "evals/writer/cases/more.json"),
    act("an unreferenced subtree", _file("evals/reviewer/index.json"), "evaluation", "evals/reviewer"),
    act("a stray link in a subtree", lambda suite: suite.symlinks.update({"evals/writer/cases/a.json": "tail.json"}),
        "evaluation", "evals/writer/cases/a.json"),
    act("a stray folder in a subtree", lambda suite: suite.folders.update({"evals/writer/more": 0o755}), "evaluation",
        "evals/writer/more"),
    act("a file beside the subtrees", _file("evals/README.md"), "evaluation", "evals/README.md"),
    # cases (8.2.2)
    row(LEAD, "input", " \n", "evaluation"),
    row(LEAD, "assertions", [], "evaluation"),
    row(LEAD, "minPasses", 4, "evaluation"),
    row(LEAD, "runs", None, "evaluation"),
    row(LEAD, "minPasses", None, "evaluation"),
    row(LEAD, f"{B}/id", "a", "evaluation"),
    row(LEAD, "surprise", 1, "evaluation"),
    # assertions and their operands (8.2.2)
    row(LEAD, f"{A}/value", "two\nlines", "evaluation"),
    row(LEAD, f"{A}/tool", "x", "evaluation"),
    row(LEAD, f"{REGEX}/pattern", "", "evaluation"),
    row(LEAD, f"{REGEX}/pattern", "(", "evaluation"),
    row(LEAD, f"{REGEX}/pattern", "(?=x)", "evaluation"),
    row(LEAD, f"{REGEX}/pattern", r"(a)\1", "evaluation"),
    row(LEAD, f"{REGEX}/pattern", "\u00e9" * 513, "evaluation"),
    row(LEAD, f"{CALLED}/tool", "\x07", "evaluation"),
    row(LEAD, f"{NOT_CALLED}/value", "x", "evaluation"),
    row(LEAD, f"{JUDGE}/minScore", 101, "evaluation"),
    row(LEAD, f"{JUDGE}/rubric", "\u00e9" * 2049, "evaluation"),
    row(LEAD, f"{JUDGE}/judgeModel", "mod\u00e8le", "evaluation"),
    row(LEAD, f"{JUDGE}/judgeVersion", DROP, "evaluation", JUDGE),
    row(LEAD, f"{OTHER}/critical", True, "evaluation"),
    row(LEAD, f"{OTHER}/critical", DROP, "evaluation", OTHER),
    row(LEAD, f"{OTHER}/type", "Tone", "evaluation"),
    row(LEAD, f"{OTHER}/value", "", "evaluation"),
]  # fmt: skip


@pytest.mark.parametrize("found", ROWS, ids=str)
def test_one_fault_is_one_finding(found: Row, engine: str, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path, engine)


def _no_evals(suite: SuiteBuilder) -> None:
    for path in (EVALS, LEAD, TAIL):
        del suite.documents[path]
    suite.folders = {path: mode for path, mode in suite.folders.items() if not path.startswith("evals/")}


def _without_evals(value: Any) -> Change:
    def change(suite: SuiteBuilder) -> None:
        _no_evals(suite)
        suite.edit(WRITER, "evals", value)

    return change


ACCEPTED = [
    act("evals left out, an empty folder stays", _without_evals(DROP)),
    act("evals empty", _without_evals([])),
    act("cases in another order", lambda suite: suite.at(EVALS, "cases").reverse()),
    row(LEAD, f"{REGEX}/pattern", r"(?i)\bcolou?r\b|\p{Greek}|(?P<name>x)"),
    row(LEAD, f"{REGEX}/pattern", "\u00e9" * 512),
    row(LEAD, f"{JUDGE}/rubric", "\u00e9" * 2048),
    row(LEAD, f"{JUDGE}/minScore", 0),
    row(LEAD, "minPasses", 3),
    row(LEAD, "minPasses", DROP),
    row(LEAD, f"{CALLED}/critical", DROP),
]


@pytest.mark.parametrize("found", ACCEPTED, ids=str)
def test_what_8_2_allows_is_accepted(found: Row, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path)


def test_an_index_at_another_path_is_refused_and_its_place_is_nobodys(tmp_path: Path) -> None:
    """8.2: exactly evals/<agent>/index.json; the subtree it stands in is then referenced by no agent of that name."""
    suite = SuiteBuilder()
    _no_evals(suite)
    other = SuiteBuilder().documents
    suite.documents["evals/other/index.json"] = {**other[EVALS], "cases": [ref("evals/writer/cases/tail.json")]}
    suite.documents[TAIL] = other[TAIL]
    suite.edit(WRITER, "evals/0/path", "evals/other/index.json")
    assert faults(validate(suite.directory(tmp_path / "suite"))) == [
        (REQUIREMENT, "evaluation", f"{WRITER}#/evals/0/path"),
        (REQUIREMENT, "evaluation", "evals/other"),
    ]


def test_minPasses_needs_runs(tmp_path: Path) -> None:  # noqa: N802 -- the member's name
    suite = SuiteBuilder()
    suite.edit(LEAD, "runs", DROP)
    found = [fault for fault in faults(validate(suite.directory(tmp_path / "suite"))) if fault[0] == REQUIREMENT]
    assert found == [(REQUIREMENT, "evaluation", f"{LEAD}#")]


def test_a_case_twice(tmp_path: Path) -> None:
    """8.2.1: each case id and path is unique."""
    suite = SuiteBuilder()
    suite.edit(EVALS, "limits/maxCases", 3)
    suite.at(EVALS, "cases").append(ref(TAIL))
    assert faults(validate(suite.directory(tmp_path / "suite"))) == [
        (REQUIREMENT, "evaluation", f"{EVALS}#/cases/2/path")
    ]


def test_the_bound_of_bytes_is_that_of_the_file(tmp_path: Path) -> None:
    """8.2.1: serialized UTF-8 byte length, white space included; equal is fine."""
    suite = SuiteBuilder().seal()
    suite.raw[LEAD] = json.dumps(suite.documents[LEAD], indent=2).encode().ljust(16_384)
    assert faults(validate(suite.directory(tmp_path / "fits"))) == []
    suite.raw[LEAD] += b" "
    assert faults(validate(suite.directory(tmp_path / "more"))) == [
        (REQUIREMENT, "evaluation", f"{EVALS}#/cases/0/path")
    ]


@pytest.mark.parametrize("document", [EVALS, WRITER])
def test_an_unusable_index_or_agent_makes_no_orphans(document: str, tmp_path: Path) -> None:
    """A fault that makes later checks meaningless ends its own branch only."""
    suite = SuiteBuilder()
    suite.edit(document, "schemaVersion", "2")
    report = validate(suite.directory(tmp_path / "suite"))
    assert [location for _, _, location in faults(report)] == [f"{document}#/schemaVersion"]


# --- operands are never repeated (17) ---

OPERANDS: list[tuple[str, Any]] = [
    (f"{A}/value", f"{SECRET}\nx"),
    (f"{REGEX}/pattern", f"({SECRET}"),
    (f"{REGEX}/pattern", f"{SECRET}(?<!x)"),
    (f"{REGEX}/pattern", f"(?P<{SECRET}>x)"),
    (f"{REGEX}/pattern", f"[[:{SECRET}:]]"),
    (f"{REGEX}/pattern", f"\\p{{{SECRET}}}"),
    (f"{REGEX}/pattern", f"x{{1001}}{SECRET}"),
    (f"{REGEX}/pattern", f"{SECRET}\\"),
    (f"{REGEX}/pattern", SECRET * 100),
    (f"{REGEX}/pattern", f"{SECRET}\\C"),
    (f"{CALLED}/tool", f"{SECRET}\x00"),
    (f"{JUDGE}/rubric", f"{SECRET}\x01"),
    (f"{JUDGE}/rubric", SECRET * 400),
    (f"{JUDGE}/judgeModel", f"{SECRET}\u00e9"),
    (f"{JUDGE}/minScore", SECRET),
    (f"{OTHER}/value", [SECRET]),
    (f"{OTHER}/tool", SECRET),
    (f"{A}/pattern", SECRET),
    ("input", [SECRET]),
    ("minPasses", SECRET),
]


@pytest.mark.parametrize(("where", "value"), OPERANDS)
def test_no_message_repeats_an_operand(where: str, value: Any, engine: str, tmp_path: Path) -> None:
    """17: consumers avoid echoing authored operands in diagnostics."""
    report = check(row(LEAD, where, value, "evaluation"), REQUIREMENT, tmp_path, engine)
    assert SECRET not in json.dumps(report.to_json())
    assert SECRET not in "".join(str(found) for found in report.findings)


@pytest.mark.parametrize("data", [b'{"input": "zz-operand-zz" x', b'{"input": "zz-operand-zz", "input": 1}', b'"zz-op'])
def test_no_message_repeats_an_operand_of_broken_json(data: bytes, tmp_path: Path) -> None:
    """5.3: broken JSON of a case is AS-JSON-001's."""
    suite = SuiteBuilder()
    suite.raw[LEAD] = data
    report = validate(suite.directory(tmp_path / "suite"))
    assert {requirement for requirement, _, _ in faults(report)} == {"AS-JSON-001"}
    assert "operand" not in "".join(str(found) for found in report.findings)


# --- RE2 (8.2.2) ---


@pytest.mark.parametrize("pattern", ["a", "^$", "a{1000}", r"\d+(?:x|y)", r"\Qa.b\E", "(?s).", r"\\C", "[[:alpha:]]"])
def test_valid_re2(pattern: str) -> None:
    assert pattern_fault(pattern) is None


@pytest.mark.parametrize(
    "pattern", ["a{1001}", "(?=a)", "(?!a)", "(?<=a)", r"\1", "*", "a**", "[b-a]", "(", r"\C", "\\"]
)
def test_no_valid_re2(pattern: str) -> None:
    assert pattern_fault(pattern) is not None


def test_without_re2_a_pattern_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where google-re2 has no build, a regex assertion is refused with the reason, never waved through."""
    original = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name == "re2":
            raise ImportError(name)
        return original(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "google-re2" in str(pattern_fault("a"))
