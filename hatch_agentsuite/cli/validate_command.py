"""``agentsuite validate``: judge suites from anywhere, offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hatch_agentsuite.cli.console import (
    FINDINGS,
    counted,
    format_option,
    reports_failures,
    show_by_requirement,
    show_json,
    verdict,
)
from hatch_agentsuite.findings import printable

if TYPE_CHECKING:
    from hatch_agentsuite.limits import Limits
    from hatch_agentsuite.validation import Report


def _known(_context: click.Context, _parameter: click.Parameter, chosen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the requirements that were asked for, or refuse those that no suite is judged by."""
    if not chosen:
        return chosen
    from hatch_agentsuite.validation.requirements import SUITE_REQUIREMENTS

    unknown = [name for name in chosen if name not in SUITE_REQUIREMENTS]
    if unknown:
        names = ", ".join(printable(name) for name in unknown)
        raise click.BadParameter(f"{names} is not known; the requirements are {', '.join(SUITE_REQUIREMENTS)}")
    return tuple(dict.fromkeys(chosen))


def _limits(_context: click.Context, _parameter: click.Parameter, path: Path | None) -> Limits:
    """Return the limits that a file changes; every mistake in it is one of usage."""
    from hatch_agentsuite.limits import DEFAULT_LIMITS, LimitsError, parse_limits

    if path is None:
        return DEFAULT_LIMITS
    from hatch_agentsuite import jsondoc, yamldoc

    is_yaml = path.suffix in {".yaml", ".yml"}
    try:
        data = path.read_bytes()
        return parse_limits(yamldoc.loads(data).value if is_yaml else jsondoc.loads(data))
    except OSError as error:
        raise click.BadParameter(f"{printable(str(path))}: {error.strerror or error}") from None
    except LimitsError as error:
        text = "".join(f"\n  {printable(fault)}" for fault in error.errors)
        raise click.BadParameter(f"{printable(str(path))}:{text}") from None
    except ValueError as error:
        raise click.BadParameter(f"{printable(str(path))}: {printable(str(error))}") from None


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@format_option("sarif")
@click.option(
    "--requirement",
    "requirements",
    multiple=True,
    metavar="ID",
    callback=_known,
    help="Judge by this requirement alone (AS-ID-001); repeat it for several.",
)
@click.option(
    "--limits",
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=_limits,
    help="Change limits by a JSON or YAML file, such as `entries: 1000`.",
)
@reports_failures
def command(paths: tuple[Path, ...], form: str, requirements: tuple[str, ...], limits: Limits) -> None:
    """Judge the suites at PATHS: content directories, OCI image layouts, or tar archives of layouts.

    Offline; nothing of a suite is executed. Exit status 1 if any of them is refused.
    """
    from hatch_agentsuite.validation import validate

    reports = [validate(path, limits) for path in paths]
    if requirements:
        reports = [report.narrowed(requirements) for report in reports]
    if form == "sarif":
        from hatch_agentsuite.validation.sarif import to_sarif

        show_json(to_sarif(reports))
    elif form == "json":
        show_json([report.to_json() for report in reports] if len(reports) > 1 else reports[0].to_json())
    else:
        for report in reports:
            _show(report)
    if not all(report.ok for report in reports):
        raise SystemExit(FINDINGS)


def _show(report: Report) -> None:
    """Print a verdict and the findings, grouped by requirement."""
    from hatch_agentsuite.validation.requirements import REQUIREMENTS

    narrowed = f" (judged by {', '.join(report.requirements)} alone)" if report.requirements else ""
    click.echo(f"{printable(report.path)}: {verdict(report.ok)}{narrowed}")
    if report.digest:
        click.echo(f"  digest   {report.digest}")
    if report.content_digest:
        click.echo(f"  content  {report.content_digest}")
    summary = report.summary
    if summary:
        click.echo(
            f"  {summary.name}: {counted(summary.agents, 'agent')}, {counted(summary.tool_providers, 'ToolProvider')}, "
            f"{counted(summary.compositions, 'composition')}, "
            f"{counted(summary.tool_provider_compositions, 'ToolProvider composition')}"
        )
    show_by_requirement(report.findings, {name: item.title for name, item in REQUIREMENTS.items()})
    if not report.ok:
        click.echo(f"  {_counted(report)}")


def _counted(report: Report) -> str:
    """Return how many findings there are of each severity: ``3 errors, 1 warning``."""
    errors = sum(finding.is_error for finding in report.findings)
    counts = {"error": errors, "warning": len(report.findings) - errors}
    return ", ".join(counted(count, word) for word, count in counts.items() if count)
