"""The command line ``agentsuite``: thin shells, each in a module that is imported when its command is used."""

from __future__ import annotations

import importlib

import click

_COMMANDS = (
    "init",
    "pack",
    "validate",
    "inspect",
    "unpack",
    "digest",
    "check",
    "import",
    "export",
    "convert",
    "card",
    "image",
)


class _Commands(click.Group):
    """Imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"hatch_agentsuite.cli.{cmd_name}_command").command
        return command


def _show_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"agentsuite {version('hatch-agentsuite')}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def main() -> None:
    """Pack, judge and take apart AgentSuites: content-addressed definitions of AI agents, carried as OCI artifacts.

    \b
    Exit status: 0 fine, 1 findings, 2 wrong usage.
    """  # noqa: D301 -- click wants the character itself
