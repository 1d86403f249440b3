"""``agentsuite check``: judge documents of other formats by their own rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from hatch_agentsuite.cli.console import FINDINGS, USAGE, fail, output_format, reports_failures, show_json, verdict
from hatch_agentsuite.findings import Finding, printable


@click.command("check")
@click.argument("name", metavar="FORMAT")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_format
@reports_failures
def command(name: str, files: tuple[Path, ...], form: str) -> None:
    """Judge FILES, documents of another FORMAT (aib, aidip, brick), by that format's own rules.

    JSON, or YAML by the suffix .yaml or .yml. Offline: files that a document refers to are read only below its folder.
    Exit status 1 if any document is refused; warnings refuse nothing.
    """
    from hatch_agentsuite.formats import UnknownFormatError, find

    try:
        judge = find(name)
    except UnknownFormatError as error:
        fail(printable(str(error)), USAGE)
    for file in files:
        if not file.exists():
            fail(f"{printable(str(file))}: there is no such file", USAGE)
    reports = [(file, judge.check_file(file)) for file in files]
    conclude(name, reports, form)


def conclude(name: str, reports: Sequence[tuple[Path, Sequence[Finding]]], form: str) -> None:
    """Show what was found in documents of a format, and end with exit status 1 if any of them is refused."""
    if form == "json":
        members = [_report(name, file, findings) for file, findings in reports]
        show_json(members if len(members) > 1 else members[0])
    else:
        for file, findings in reports:
            _show(file, findings)
    if not all(_is_valid(findings) for _, findings in reports):
        raise SystemExit(FINDINGS)


def _is_valid(findings: Sequence[Finding]) -> bool:
    """Whether no finding refuses the document."""
    return not any(finding.is_error for finding in findings)


def _report(name: str, file: Path, findings: Sequence[Finding]) -> dict[str, object]:
    """Return the machine form of what was found in one document."""
    return {
        "path": str(file),
        "format": name,
        "valid": _is_valid(findings),
        "findings": [finding.to_json() for finding in findings],
    }


def _show(file: Path, findings: Sequence[Finding]) -> None:
    """Print the verdict on one document, and what was found in it."""
    click.echo(f"{printable(str(file))}: {verdict(_is_valid(findings))}")
    for finding in findings:
        colour = "red" if finding.is_error else "yellow"
        click.echo(f"  {click.style(finding.severity, fg=colour)}: {finding}")
