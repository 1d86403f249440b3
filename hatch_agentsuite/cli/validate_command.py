"""``agentsuite validate``: judge suites from anywhere, offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hatch_agentsuite.cli.console import FINDINGS, output_format, reports_failures, show_json
from hatch_agentsuite.findings import printable

if TYPE_CHECKING:
    from hatch_agentsuite.validation import Report


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_format
@reports_failures
def command(paths: tuple[Path, ...], form: str) -> None:
    """Judge the suites at PATHS: content directories, OCI image layouts, or tar archives of layouts.

    Offline; nothing of a suite is executed. Exit status 1 if any of them is refused.
    """
    from hatch_agentsuite.validation import validate

    reports = [validate(path) for path in paths]
    if form == "json":
        show_json([report.to_json() for report in reports] if len(reports) > 1 else reports[0].to_json())
    else:
        for report in reports:
            _show(report)
    if not all(report.ok for report in reports):
        raise SystemExit(FINDINGS)


def _show(report: Report) -> None:
    """Print a verdict and the findings, grouped by requirement."""
    verdict = click.style("valid", fg="green", bold=True) if report.ok else click.style("refused", fg="red", bold=True)
    click.echo(f"{printable(report.path)}: {verdict}")
    if report.digest:
        click.echo(f"  digest   {report.digest}")
    if report.content_digest:
        click.echo(f"  content  {report.content_digest}")
    summary = report.summary
    if summary:
        click.echo(
            f"  {summary.name}: {summary.agents} agents, {summary.tool_providers} ToolProviders, "
            f"{summary.compositions} compositions, {summary.tool_provider_compositions} ToolProvider compositions"
        )
    requirement = ""
    for finding in sorted(report.findings, key=lambda item: (item.requirement, item.location)):
        if finding.requirement != requirement:
            requirement = finding.requirement
            click.echo(f"  {click.style(requirement, bold=True)}")
        colour = "red" if finding.is_error else "yellow"
        place = f"{printable(finding.location)}: " if finding.location else ""
        click.echo(f"    {click.style(finding.severity, fg=colour)}: {place}{printable(finding.message)}")
        if finding.hint:
            click.echo(f"      {printable(finding.hint)}")
