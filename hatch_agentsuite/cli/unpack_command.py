"""``agentsuite unpack``: extract the content of a layout or archive."""

from __future__ import annotations

from pathlib import Path

import click

from hatch_agentsuite.cli.console import reports_failures
from hatch_agentsuite.findings import printable


@click.command("unpack")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("directory", type=click.Path(path_type=Path))
@reports_failures
def command(path: Path, directory: Path) -> None:
    """Extract the content of the layout or archive at PATH into the new DIRECTORY.

    The blob is verified first, and nothing appears at DIRECTORY unless all of it is safe.
    """
    from hatch_agentsuite.unpacking import unpack

    count = unpack(path, directory)
    click.echo(f"{count} entries  {printable(str(directory))}")
