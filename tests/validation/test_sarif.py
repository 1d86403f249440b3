"""SARIF 2.1.0: one run, rules from the registry, places that a code-scanning service can use."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from hatch_agentsuite.findings import Finding
from hatch_agentsuite.validation import Report, Summary, validate
from hatch_agentsuite.validation.requirements import REQUIREMENTS
from hatch_agentsuite.validation.sarif import to_sarif
from tests.validation.contents import WRITER
from tests.validation.suites import STALE, SuiteBuilder

FAULT = Finding("AS-ID-001", "digest", "agents/writer.json#/instructions/digest", "it is stale", "write another")
SUMMARY = Summary("newsroom", 0, 0, 0, 0, (), {}, ())


def results(*findings: Finding, path: str = "suite") -> list[Any]:
    return list(to_sarif([Report(path, findings)])["runs"][0]["results"])


def result(finding: Finding, path: str = "suite") -> Any:
    [found] = results(finding, path=path)
    return found


def at(location: str, **more: Any) -> Finding:
    return Finding("AS-JSON-001", "json", location, "it is wrong", **more)


def uri(found: Any) -> str:
    return str(found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def test_envelope() -> None:
    """3.13, 3.14 of SARIF: version 2.1.0, one run, a driver with name and version, results even when there are none."""
    log = to_sarif([Report("suite", ())])
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    [run] = log["runs"]
    assert run["results"] == []
    driver = run["tool"]["driver"]
    assert driver["name"] == "agentsuite"
    assert re.fullmatch(r"[0-9]+(\.[0-9a-z]+)+.*", driver["version"])
    assert driver["rules"] == []


def test_rules_are_the_requirements_that_occur() -> None:
    """Each once, sorted, with all that a service shows; `ruleIndex` leads to it."""
    names = ["AS-PATH-001", "AS-ID-001", "AS-PATH-001", "SOURCE-REACH-001"]
    reports = [Report("a", tuple(Finding(name, "path", "", f"{i}") for i, name in enumerate(names))), Report("b", ())]
    [run] = to_sarif(reports)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["AS-ID-001", "AS-PATH-001", "SOURCE-REACH-001"]
    for rule in rules:
        requirement = REQUIREMENTS[rule["id"]]
        assert re.fullmatch("[A-Z][A-Za-z]+", rule["name"])
        assert rule["shortDescription"]["text"] == f"{requirement.title}."
        assert rule["fullDescription"]["text"].startswith(requirement.checks)
        assert rule["help"]["text"] == requirement.mend
    assert [rules[item["ruleIndex"]]["id"] for item in run["results"]] == names
    assert [item["ruleId"] for item in run["results"]] == names


def test_rule_names_differ() -> None:
    findings = tuple(Finding(name, "json", "", "x") for name in REQUIREMENTS)
    rules = to_sarif([Report("a", findings)])["runs"][0]["tool"]["driver"]["rules"]
    assert len({rule["name"] for rule in rules}) == len(rules) == len(REQUIREMENTS)


def test_message_and_level() -> None:
    assert result(FAULT)["message"] == {"text": "it is stale (write another)"}
    assert result(at("a.json"))["message"] == {"text": "it is wrong"}
    assert result(FAULT)["level"] == "error"
    assert result(FAULT.as_warning())["level"] == "warning"


@pytest.mark.parametrize(
    ("line", "column", "region"),
    [(None, None, (1, 1, 1, 2)), (7, None, (7, 1, 7, 2)), (7, 3, (7, 3, 7, 4))],
)
def test_region_is_complete(line: int | None, column: int | None, region: tuple[int, ...]) -> None:
    found = result(at("a.json", line=line, column=column))["locations"][0]["physicalLocation"]["region"]
    assert tuple(found[name] for name in ("startLine", "startColumn", "endLine", "endColumn")) == region


@pytest.mark.parametrize(
    ("path", "location", "expected"),
    [
        ("suite", "agents/writer.json#/id", "suite/agents/writer.json"),
        ("dist/a.tar", "agents/writer.json", "dist/a.tar/agents/writer.json"),
        (".", "agents/writer.json#", "agents/writer.json"),
        ("suite", "", "suite"),
        ("suite/", "a.json", "suite/a.json"),
        ("my suite", "caf\u00e9 1%.json", "my%20suite/caf%C3%A9%201%25.json"),
        ("c:x", "a?b.json", "c%3Ax/a%3Fb.json"),
        ("/a b", "x.json", "file:///a%20b/x.json"),
        ("/a b", "", "file:///a%20b"),
        ("a\udcff", "x.json", "a%FF/x.json"),
        ("suite", "/etc/passwd", "suite"),
        ("suite", "../../x", "suite"),
        ("suite", "a\\x1b", "suite"),
        ("suite", "logs/", "suite"),
    ],
)
def test_uri(path: str, location: str, expected: str) -> None:
    """Percent-encoded, relative where the path was; a name that is not clean never leads out of what was judged."""
    found = uri(result(at(location), path))
    assert found == expected
    assert re.fullmatch(r"[A-Za-z0-9._~/:%-]+", found)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("agents/writer.json#/invokes/0/agent", "agents/writer.json/invokes/0/agent"),
        ("agents/writer.json#", "agents/writer.json"),
        ("README.md", "README.md"),
        ("a\x1b[31m.json", "a\\x1b[31m.json"),
        ("", None),
    ],
)
def test_logical_location(location: str, expected: str | None) -> None:
    """Inside a layer there is no file to open: the document and the pointer are said as well."""
    found = result(at(location))["locations"][0].get("logicalLocations")
    assert found == (None if expected is None else [{"fullyQualifiedName": expected}])


def fingerprint(report: Report) -> str:
    [found] = to_sarif([report])["runs"][0]["results"]
    return str(found["partialFingerprints"]["agentsuite/v1"])


def test_fingerprint_is_stable() -> None:
    """It outlives another checkout, another line, another severity, another digest and other findings."""
    mine = fingerprint(Report("a", (FAULT,), SUMMARY))
    assert re.fullmatch("[0-9a-f]{64}", mine)
    assert mine == fingerprint(Report("/b/c", (FAULT,), SUMMARY))
    assert mine == fingerprint(Report("a", (FAULT.as_warning(),), SUMMARY))
    both = to_sarif([Report("a", (at("x.json"), FAULT), SUMMARY)])["runs"][0]["results"]
    assert both[1]["partialFingerprints"]["agentsuite/v1"] == mine
    first, second = (at("x.json", line=line) for line in (1, 2))
    assert fingerprint(Report("a", (first,))) == fingerprint(Report("a", (second,)))
    old, new = (Finding("AS-ID-001", "digest", "a.json#/d", f"it is sha256:{digit * 64}") for digit in "ab")
    assert fingerprint(Report("a", (old,))) == fingerprint(Report("a", (new,)))


def test_fingerprint_tells_findings_apart() -> None:
    others = [
        at("agents/writer.json#/instructions/digest"),
        Finding("AS-ID-001", "digest", "agents/writer.json#/id", "it is stale"),
        Finding("AS-ID-001", "digest", FAULT.location, "something else"),
        Finding("AS-GRAPH-001", "digest", FAULT.location, FAULT.message),
    ]
    found = {fingerprint(Report("a", (finding,), SUMMARY)) for finding in (FAULT, *others)}
    assert len(found) == 5
    assert fingerprint(Report("a", (FAULT,))) not in found


def test_controls_are_escaped() -> None:
    found = result(Finding("AS-PATH-001", "path", "a\u202e", "b\x07", "c\x1b"))
    assert found["message"]["text"] == "b\\x07 (c\\x1b)"
    assert "\\u202e" in found["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]


@pytest.mark.parametrize("form", ["directory", "layout", "archive"])
def test_real_report(tmp_path: Path, form: str) -> None:
    """Everything that a run says is there, and nothing in it is no JSON."""
    builder = SuiteBuilder()
    builder.edit(WRITER, "instructions/digest", STALE)
    builder.files["caf\u00e9.txt"] = b"x"
    report = validate(getattr(builder, form)(tmp_path / "made"))
    log = json.loads(json.dumps(to_sarif([report, report]), allow_nan=False))
    found = log["runs"][0]["results"]
    assert len(found) == 2 * len(report.findings) > 0
    base = (tmp_path / "made").as_uri()
    for item, finding in zip(found, report.findings, strict=False):
        assert item["ruleId"] == finding.requirement
        assert unquote(uri(item)) == unquote(f"{base}/{finding.location.partition('#')[0]}")
