"""``agentsuite inspect``: what a suite holds, without unpacking it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from hatch_agentsuite.cli.console import FINDINGS, human_size, output_format, reports_failures, show_findings, show_json
from hatch_agentsuite.findings import printable

_PIPE_WIDTH = 240


@click.command("inspect")
@click.argument("path", type=click.Path(path_type=Path))
@output_format
@reports_failures
def command(path: Path, form: str) -> None:
    """Show the agents, tools, invocation edges, platforms, sizes and digests of the suite at PATH.

    The documents are checked as far as they are shown; `agentsuite validate` judges the whole.
    """
    from hatch_agentsuite.inspection import inspect

    inspection = inspect(path)
    errors = [finding for finding in inspection.findings if finding.is_error]
    if form == "json":
        show_json(inspection.to_json())
    elif inspection.summary is not None:
        _show(inspection.to_json())
    show_findings(errors)
    if errors:
        raise SystemExit(FINDINGS)


def _show(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    click.secho(found["name"], bold=True)
    for label, member in (("digest", "digest"), ("content", "contentDigest")):
        if member in found:
            click.echo(f"  {label:12} {found[member]}")
    click.echo(f"  {'entries':12} {found['entries']:,}, {human_size(found['contentBytes'])}")
    if "layerBytes" in found:
        click.echo(f"  {'layer':12} {human_size(found['layerBytes'])}")
    if found["capabilities"]:
        click.echo(f"  {'capabilities':12} {', '.join(found['capabilities'])}")
    agents = Table(
        "agent", "model", "platforms", "may invoke", "ToolProviders", "evals", box=None, title_justify="left"
    )
    for agent in found["agents"]:
        edges = [f"{edge['agent']} (x{edge['maxConcurrent']}, depth {edge['maxDepth']})" for edge in agent["invokes"]]
        row = (
            agent["id"],
            f"{agent['model']['protocol']}/{agent['model']['model']}",
            ", ".join(agent["platforms"]),
            ", ".join(edges),
            ", ".join(agent["toolProviders"]),
            str(agent["evalCases"]),
        )
        agents.add_row(*(escape(printable(cell)) for cell in row))
    console.print(agents)
    if found["tools"]:
        tools = Table("ToolProvider", "tool", "effect", "approval", "effects", "variants", box=None)
        for tool in found["tools"]:
            row = (
                tool["toolProvider"],
                tool["name"],
                tool["effect"] or "",
                tool["approval"] or "",
                ", ".join(tool["effects"]),
                ", ".join(tool["platforms"]) or "remote",
            )
            tools.add_row(*(escape(printable(cell)) for cell in row))
        console.print(tools)
