"""Reports as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hatch_agentsuite.findings import Finding, printable
from hatch_agentsuite.paths import path_fault
from hatch_agentsuite.validation.report import Report
from hatch_agentsuite.validation.requirements import REQUIREMENTS, Requirement

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_DIGEST = re.compile("[0-9a-f]{64}")


def to_sarif(reports: Sequence[Report]) -> dict[str, Any]:
    """Return one SARIF run with the findings of all reports, and the requirements that occur as its rules."""
    used = sorted({finding.requirement for report in reports for finding in report.findings})
    numbers = {requirement: number for number, requirement in enumerate(used)}
    results = [_result(report, finding, numbers) for report in reports for finding in report.findings]
    rules = [_rule(REQUIREMENTS[requirement]) for requirement in used]
    driver = {"name": "agentsuite", "version": version("hatch-agentsuite"), "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(requirement: Requirement) -> dict[str, Any]:
    place = f" (AgentSuite specification {requirement.section})" if requirement.section else ""
    return {
        "id": requirement.id,
        "name": "".join(word[0].upper() + word[1:] for word in re.findall("[A-Za-z]+", requirement.title)),
        "shortDescription": {"text": f"{requirement.title}."},
        "fullDescription": {"text": f"{requirement.checks}{place}"},
        "help": {"text": requirement.mend},
    }


def _result(report: Report, finding: Finding, numbers: dict[str, int]) -> dict[str, Any]:
    document, _, pointer = finding.location.partition("#")
    line, column = finding.line or 1, finding.column or 1
    region = {"startLine": line, "startColumn": column, "endLine": line, "endColumn": column + 1}
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(report.path, document)}, "region": region}
    }
    if document:
        location["logicalLocations"] = [{"fullyQualifiedName": printable(document + pointer)}]
    hint = f" ({finding.hint})" if finding.hint else ""
    return {
        "ruleId": finding.requirement,
        "ruleIndex": numbers[finding.requirement],
        "level": finding.severity,
        "message": {"text": printable(finding.message + hint)},
        "locations": [location],
        "partialFingerprints": {"agentsuite/v1": _fingerprint(report, finding)},
    }


def _uri(path: str, document: str) -> str:
    """Return where a document is, percent-encoded; a name that is not safe to join is left out."""
    place = Path(path, document) if document and not path_fault(document) else Path(path)
    return place.as_uri() if place.is_absolute() else quote(place.as_posix(), errors="surrogateescape")


def _fingerprint(report: Report, finding: Finding) -> str:
    """Return what tells a finding from others in every run: not where the suite lies, and no digest of the day."""
    suite = report.summary.name if report.summary else ""
    identity = f"{suite}\n{finding.requirement}\n{finding.location}\n{finding.message}"
    return hashlib.sha256(_DIGEST.sub("", identity).encode("utf-8", "surrogatepass")).hexdigest()
