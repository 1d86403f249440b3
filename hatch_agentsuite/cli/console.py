"""What commands share: findings as text, failures without a traceback, a progress bar on a terminal."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from hatch_agentsuite.findings import Finding, RefusedError, printable

if TYPE_CHECKING:
    from hatch_agentsuite.packing import Step

_Command = TypeVar("_Command", bound=Callable[..., Any])

FINDINGS = 1
USAGE = 2


def format_option(*more: str) -> Callable[[_Command], _Command]:
    """Return the option ``--format``, with further forms where a command has them."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json", *more]),
        default="text",
        show_default=True,
        help="Text for people, or JSON on standard output.",
    )


output_format = format_option()


def reports_failures(command: _Command) -> _Command:
    """Let a command end in findings or an operating-system error with one message, never with a traceback."""

    @functools.wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except RefusedError as error:
            show_findings(error.findings)
            raise SystemExit(FINDINGS) from None
        except BrokenPipeError:
            raise  # click ends the command in silence
        except OSError as error:
            where = f"{printable(str(error.filename))}: " if error.filename else ""
            fail(f"{where}{error.strerror or error}")

    return wrapped  # type: ignore[return-value]


def fail(message: str, status: int = FINDINGS) -> NoReturn:
    """Say what is wrong on standard error and end the command."""
    click.echo(f"{click.style('error', fg='red', bold=True)}: {message}", err=True)
    raise SystemExit(status)


def check_tag(tag: str | None) -> None:
    """End the command where ``--tag`` is no tag."""
    from hatch_agentsuite.layout import is_tag

    if tag is not None and not is_tag(tag):
        raise click.BadParameter("must be 1 to 128 of A-Z, a-z, 0-9, `.`, `_` and `-`", param_hint="--tag")


def verdict(ok: bool) -> str:
    """Return the word that ends a judgement."""
    return click.style("valid", fg="green", bold=True) if ok else click.style("refused", fg="red", bold=True)


def show_by_requirement(findings: Iterable[Finding], titles: Mapping[str, str]) -> None:
    """Print findings on standard output, each requirement with its title above them."""
    requirement = ""
    for finding in sorted(findings, key=lambda item: (item.requirement, item.location)):
        if finding.requirement != requirement:
            requirement = finding.requirement
            click.echo(f"  {click.style(requirement, bold=True)} {titles.get(requirement, '')}".rstrip())
        colour = "red" if finding.is_error else "yellow"
        place = f"{printable(finding.place)}: " if finding.location else ""
        click.echo(f"    {click.style(finding.severity, fg=colour)}: {place}{printable(finding.message)}")
        if finding.hint:
            click.echo(f"      {printable(finding.hint)}")


def show_findings(findings: Iterable[Finding]) -> None:
    """Print findings on standard error, errors last so that they are seen."""
    for finding in sorted(findings, key=lambda item: item.is_error):
        colour = "red" if finding.is_error else "yellow"
        click.echo(f"{click.style(finding.severity, fg=colour, bold=True)}: {finding}", err=True)


def show_json(value: Any) -> None:
    """Print a value as JSON on standard output, in ASCII: no hostile name can garble a terminal or fail to encode."""
    click.echo(json.dumps(value, indent=2))


def counted(count: int, what: str) -> str:
    """Return a number of things, the word for them in the plural unless there is one: ``1 agent``, ``0 agents``."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def human_size(size: int) -> str:
    """Return a number of bytes as people read it."""
    amount = float(size)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


@contextmanager
def progress_steps() -> Iterator[Step | None]:
    """Give a progress bar for long work when standard error is a terminal, and None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:

        def step(name: str, size: int) -> Callable[[int], None]:
            for task in bars.task_ids:
                bars.update(task, visible=False)
            task = bars.add_task(name, total=size or None)
            return lambda done: bars.advance(task, done)

        yield step
