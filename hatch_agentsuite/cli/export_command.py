"""``agentsuite export``: agents of a suite as documents of another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hatch_agentsuite.cli.console import reports_failures, show_findings
from hatch_agentsuite.cli.conversion import (
    foreign_format,
    located,
    refuse_drops,
    report_options,
    serialize,
    show_report,
    supplied,
    supply_options,
    writes_report,
)
from hatch_agentsuite.findings import RefusedError, printable


@click.command("export")
@click.argument("name", metavar="FORMAT")
@click.argument("suite", type=click.Path(path_type=Path))
@click.option("--agent", "agents", multiple=True, metavar="ID", help="An agent; all by default.  Repeat for several.")
@click.option(
    "-o", "--output", required=True, metavar="FOLDER", type=click.Path(path_type=Path), help="The folder to write into."
)
@click.option("--public", "view", flag_value="public", help="Only what others may see of an agent (aib).")
@click.option("--summary", "view", flag_value="summary", help="Only the summary of a registry's answers (aidip).")
@supply_options
@click.option("--yaml", is_flag=True, help="Write YAML instead of JSON.")
@report_options
@reports_failures
def command(
    name: str,
    suite: Path,
    agents: tuple[str, ...],
    output: Path,
    view: str | None,
    strict: bool,
    yaml: bool,
    report_file: Path | None,
    force: bool,
    **options: Any,
) -> None:
    """Write the agents of SUITE as documents of another FORMAT (aib, aidip, brick): FOLDER/<agent>/<FORMAT>.json.

    SUITE is an authoring tree, a content directory, an image layout or an archive. What was imported from FORMAT comes
    out as it went in, with the files that it refers to beside it. What the format cannot say is listed as dropped; what
    it demands and an agent lacks is asked for by the option that supplies it.
    """
    from agentsuite_converters.exporting import export_agent
    from agentsuite_converters.suites import read_suite, select
    from agentsuite_converters.writing import beside, write_files

    form = foreign_format(name)
    if view and view not in form.views:
        raise click.UsageError(f"the format `{name}` has no view `--{view}`")
    if view and strict:
        raise click.UsageError(f"--{view} leaves out on purpose, so --strict would always refuse it")
    supplies = supplied(options)
    document = f"{name}{'.yaml' if yaml else '.json'}"
    exported, problems = [], []
    for agent in select(read_suite(suite), agents):
        place = output / agent.id / document
        try:
            exported.append(export_agent(form, agent, supplies, view or ""))
        except RefusedError as error:
            problems += located(error.findings, place)
    if problems:
        raise RefusedError(*problems)
    reports = {item.agent: item.expressed.report for item in exported}
    if strict:
        refuse_drops(reports.values())
    files: dict[str, bytes] = {}
    for item in exported:
        parts = beside(document, serialize(item.expressed.document, yaml=yaml), {} if view else item.expressed.files)
        files |= {f"{item.agent}/{path}": data for path, data in parts.items()}
    with writes_report(report_file, reports, force=force):
        write_files(output, files, force=force)
    for item in exported:
        if not view:
            show_report(item.agent, item.expressed.report)
        show_findings(located(item.warnings, output / item.agent / document))
    for path in sorted(files):
        click.echo(printable(str(output / path)))
