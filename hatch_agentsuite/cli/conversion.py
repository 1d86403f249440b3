"""What the commands that convert share: formats by name, options that supply members, and reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hatch_agentsuite.cli.console import FINDINGS, USAGE, fail
from hatch_agentsuite.findings import Finding, printable

if TYPE_CHECKING:
    from agentsuite_converters.formats import ForeignFormat
    from agentsuite_converters.report import Report
    from hatch_agentsuite.documents import JSONValue

_Command = TypeVar("_Command", bound=Callable[..., Any])

_MOST_LINES = 20

_OPTIONS = {
    "identifier": ("TEXT", "The agent's id in the other format; a URI for BRICK."),
    "name": ("TEXT", "The agent's name."),
    "description": ("TEXT", "What the agent is for."),
    "agent-version": ("VERSION", "The agent's version."),
    "publisher": ("TEXT", "Who publishes the agent."),
    "endpoint": ("URL", "Where the agent is called."),
}
_LISTS = {
    "goal": ("TEXT", "A goal of the agent."),
    "tag": ("TEXT", "A tag."),
    "category": ("TEXT", "A high-level capability, by which registries filter (AIDIP's `capabilities`)."),
    "language": ("TEXT", "A language that the agent supports."),
    "capability": ("ID=DESCRIPTION", "A public capability, in place of those that the agent has."),
}


def supply_options(command: _Command) -> _Command:
    """Give a command the options that supply what a format demands and an agent does not say."""
    for name, (metavar, text) in reversed({**_OPTIONS, **_LISTS}.items()):
        is_list = name in _LISTS
        command = click.option(
            f"--{name}",
            f"supply_{name.replace('-', '_')}",
            metavar=metavar,
            multiple=is_list,
            help=f"{text}  Repeat for several." if is_list else text,
        )(command)
    return command


def report_options(command: _Command) -> _Command:
    """Give a command the options that say what becomes of losses and of files that exist."""
    options = (
        click.option("--strict", is_flag=True, help="Refuse to drop anything that cannot be said."),
        click.option(
            "--report",
            "report_file",
            metavar="FILE",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write what became of every member, as JSON.",
        ),
        click.option("--force", is_flag=True, help="Overwrite files whose content changes."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def supplied(options: Mapping[str, Any]) -> dict[tuple[str | int, ...], tuple[JSONValue, str]]:
    """Return the members of a profile that the options of :func:`supply_options` fill."""
    from agentsuite_converters.supplies import SupplyError, supplies

    values: dict[str, str | bool | Sequence[str] | None] = {
        name.removeprefix("supply_").replace("_", "-"): value
        for name, value in options.items()
        if name.startswith("supply_")
    }
    try:
        return supplies(values)
    except SupplyError as error:
        raise click.UsageError(printable(str(error))) from None


def foreign_format(name: str) -> ForeignFormat:
    """Return a format that can be converted, or end the command."""
    from agentsuite_converters.formats import ForeignFormat
    from hatch_agentsuite.formats import UnknownFormatError, find

    try:
        form = find(name)
    except UnknownFormatError as error:
        fail(printable(str(error)), USAGE)
    if not isinstance(form, ForeignFormat):
        fail(f"the format `{name}` can only be checked", USAGE)
    return form


def public_names(form: ForeignFormat, names: tuple[str, ...]) -> frozenset[str]:
    """Return what ``--public`` names, for a format whose documents do not say what is public."""
    if names and form.published is None:
        raise click.UsageError(f"--public is for aib: a document of {form.name} says itself what is public")
    return frozenset(names)


def located(findings: Iterable[Finding], document: Path) -> list[Finding]:
    """Return findings in which a mere JSON pointer is one into a document that was to be written."""
    return [
        replace(found, location=f"{document}{found.location}") if found.location.startswith("#") else found
        for found in findings
    ]


def show_report(title: str, report: Report) -> None:
    """Say on standard error what a conversion derived, dropped and supplied."""
    many = len(report.carried) != 1
    click.echo(f"{printable(title)}: {len(report.carried)} {'members' if many else 'member'} carried", err=True)
    for derived in report.derived:
        _line("derived", f"{derived.source} -> {derived.target}", derived.reason)
    for note in report.dropped[:_MOST_LINES]:
        _line("dropped", note.place, note.reason)
    if len(report.dropped) > _MOST_LINES:
        click.echo(f"  and {len(report.dropped) - _MOST_LINES} more dropped; --report FILE has all of them", err=True)
    for note in report.supplied:
        _line("supplied", note.place, note.reason)


@contextmanager
def writes_report(path: Path | None, reports: Mapping[str, Report], *, force: bool) -> Iterator[None]:
    """Write the machine form of reports by name, if what is done meanwhile goes well."""
    if path is None:
        yield
        return
    value = {name: report.to_json() for name, report in reports.items()}
    data = (json.dumps(value, indent=2) + "\n").encode()
    if path.is_file() and not (force or path.is_symlink() or path.read_bytes() == data):
        fail(f"{printable(str(path))}: the file exists, and its content would change (give --force)", FINDINGS)
    with writes_too(path, data):
        yield


@contextmanager
def writes_too(path: Path, data: bytes) -> Iterator[None]:
    """Write a file if what is done meanwhile goes well, and else leave nothing; links and devices are written to."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        yield
        path.write_bytes(data)
        return
    if path.is_file() and path.read_bytes() == data:
        yield
        return
    from hatch_agentsuite.staging import staged

    with staged(path) as new:
        new.write_bytes(data)
        yield


def refuse_drops(reports: Iterable[Report]) -> None:
    """End the command where something was dropped; for ``--strict``."""
    dropped = [note for report in reports for note in report.dropped]
    for note in dropped:
        _line("dropped", note.place, note.reason)
    if dropped:
        many = "1 member" if len(dropped) == 1 else f"{len(dropped)} members"
        fail(f"{many} would be dropped, and --strict allows none; nothing was written")


def serialize(document: Mapping[str, Any], *, yaml: bool) -> bytes:
    """Return a document as JSON or YAML text."""
    from agentsuite_converters.document import dump, dump_yaml

    return dump_yaml(document) if yaml else dump(document)


def _line(what: str, place: str, reason: str) -> None:
    colour = {"dropped": "yellow", "derived": "cyan"}.get(what, "blue")
    click.echo(f"  {click.style(what, fg=colour)}: {printable(place) or '/'}: {printable(reason)}", err=True)
