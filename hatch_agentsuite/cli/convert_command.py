"""``agentsuite convert``: a document of one format as a document of another, without a suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hatch_agentsuite.cli.console import reports_failures, show_findings
from hatch_agentsuite.cli.conversion import (
    foreign_format,
    located,
    public_names,
    refuse_drops,
    report_options,
    serialize,
    show_report,
    supplied,
    supply_options,
    writes_report,
)
from hatch_agentsuite.findings import RefusedError, printable

_PUBLIC = "A method of an AIB blueprint that is public besides `run`.  Repeat for several."


@click.command("convert")
@click.argument("source_name", metavar="FROM")
@click.argument("target_name", metavar="TO")
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The document to write: JSON, or YAML by the suffix .yaml or .yml.",
)
@click.option("--public", multiple=True, metavar="NAME", help=_PUBLIC)
@supply_options
@report_options
@reports_failures
def command(
    source_name: str,
    target_name: str,
    source: Path,
    output: Path,
    public: tuple[str, ...],
    strict: bool,
    report_file: Path | None,
    force: bool,
    **options: Any,
) -> None:
    """Write SOURCE, a document of the format FROM, as a document of the format TO (aib, aidip, brick).

    No suite is needed. Each member is carried, derived or dropped; the last two are listed, and so is what was
    supplied. What TO demands and SOURCE lacks is asked for by the option that supplies it. Files that the new document
    refers to are written beside it.
    """
    from agentsuite_converters.exporting import convert_document
    from agentsuite_converters.writing import beside, write_files

    form, target = foreign_format(source_name), foreign_format(target_name)
    try:
        converted = convert_document(form, target, source, supplied(options), public_names(form, public))
    except RefusedError as error:
        raise RefusedError(*located(error.findings, output)) from None
    report = converted.expressed.report
    if strict:
        refuse_drops([report])
    document = serialize(converted.expressed.document, yaml=output.suffix.lower() in {".yaml", ".yml"})
    files = beside(output.name, document, converted.expressed.files, rename=False)
    with writes_report(report_file, {converted.agent: report}, force=force):
        write_files(output.parent, files, force=force)
    show_report(converted.agent, report)
    show_findings(located(converted.warnings, output))
    for path in files:
        click.echo(printable(str(output.parent / path)))
