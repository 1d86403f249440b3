"""``agentsuite card``: A2A Agent Cards projected, judged, upgraded, signed and verified."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hatch_agentsuite.cli.card_build import build, site
from hatch_agentsuite.cli.card_key import signer
from hatch_agentsuite.cli.check_command import conclude
from hatch_agentsuite.cli.console import counted, output_format, reports_failures, show_findings
from hatch_agentsuite.cli.conversion import refuse_drops, report_options, show_report, writes_report
from hatch_agentsuite.findings import Finding, RefusedError, printable

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject, JSONValue

_MOST = 100


class _Cards(click.Group):
    """Takes what names no command for a suite to build a card of: ``agentsuite card SUITE --agent ID -o FILE``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["build", *args]
        return super().parse_args(ctx, args)


@click.group("card", cls=_Cards)
def command() -> None:
    """Project agents onto A2A Agent Cards, and judge, upgrade, sign and verify cards.

    `agentsuite card SUITE --agent ID -o FILE` is short for `agentsuite card build SUITE --agent ID -o FILE`.
    """


command.add_command(build)
command.add_command(site)


@command.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@output_format
@reports_failures
def check(files: tuple[Path, ...], form: str) -> None:
    """Judge Agent Cards of any origin: by the schema of their version, A2A's rules, and for what no card should say.

    A card of version 0.3 is told what to change for 1.0. Exit status 1 if any card is refused; warnings refuse nothing.
    """
    conclude("a2a", [(file, _judged(file)) for file in files], form)


@command.command("upgrade")
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The card to write.")
@click.option(
    "--protocol-version", type=click.Choice(["1.0", "0.3"]), help="What the server speaks.  [default: what FILE says]"
)
@report_options
@reports_failures
def upgrade(
    file: Path, output: Path, protocol_version: str | None, strict: bool, report_file: Path | None, force: bool
) -> None:
    """Write FILE, a card of A2A 0.2 or 0.3, as a card of version 1.0, and say what became of every member.

    An interface keeps the version of A2A that the card says it speaks. What 1.0 requires and FILE lacks is refused by
    name.
    """
    from agentsuite_converters.a2a.upgrade import upgrade_card

    with _locates(file, output):
        upgraded = upgrade_card(_read(file), protocol_version or "")
    if strict:
        refuse_drops([upgraded.report])
    with writes_report(report_file, {file.name: upgraded.report}, force=force):
        _write(output, upgraded.card, force=force)
    show_report(printable(str(file)), upgraded.report)


@command.command("sign")
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.option("--key", required=True, type=click.Path(path_type=Path, exists=True), help="A private key in PEM.")
@click.option("--kid", default="", help="The name of the key.")
@click.option("--jku", default="", metavar="URL", help="Where verifiers find the key set.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The card to write; may be FILE.")
@click.option("--force", is_flag=True, help="Overwrite the file.")
@reports_failures
def sign(file: Path, key: Path, kid: str, jku: str, output: Path, force: bool) -> None:
    """Sign FILE, a card of version 1.0, with an ES256, EdDSA or RS256 key, as the A2A SDK does."""
    from agentsuite_converters.a2a.signing import uncovered

    signed = signer(key, kid, jku)
    card = _read(file)
    with _locates(file, output):
        made = signed(card)
        _write(output, made, force=force or (output.exists() and output.samefile(file)))
        show_findings(replace(finding, location=f"{output}{finding.location}") for finding in uncovered(made))


@command.command("verify")
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.option("--key", required=True, type=click.Path(path_type=Path, exists=True), help="A public key in PEM.")
@reports_failures
def verify(file: Path, key: Path) -> None:
    """Verify that a signature of the card FILE was made by the key."""
    from agentsuite_converters.a2a.signing import public_key, uncovered
    from agentsuite_converters.a2a.signing import verify as verified

    card = _read(file)
    known = public_key(key.read_bytes())
    with _locates(file, file):
        fault = verified(card, known)
        if fault:
            raise RefusedError(fault)
    click.echo(f"{printable(str(file))}: signed by this key")
    if isinstance(card, dict):
        show_findings(replace(finding, location=f"{file}{finding.location}") for finding in uncovered(card))


def _read(file: Path) -> JSONValue:
    from agentsuite_converters.document import read

    return read(file, "A2A-JSON-001").value


def _write(output: Path, card: JSONObject, *, force: bool) -> None:
    from agentsuite_converters.a2a.projection import serialize
    from agentsuite_converters.writing import write_files

    write_files(output.absolute().parent, {output.name: serialize(card)}, force=force)
    click.echo(output)


@contextmanager
def _locates(file: Path, output: Path) -> Iterator[None]:
    """Name the file in findings about a part of the card, the new one in those about a part of the upgraded card."""
    try:
        yield
    except RefusedError as error:
        raise RefusedError(*(_located(finding, file, output) for finding in error.findings)) from None


def _located(finding: Finding, file: Path, output: Path) -> Finding:
    begin, mark, pointer = finding.location.partition("#")
    document = {"": file, "1.0": output}.get(begin)
    return replace(finding, location=f"{document}#{pointer}") if mark and document else finding


def _judged(file: Path) -> list[Finding]:
    from agentsuite_converters.a2a.check import check_card
    from agentsuite_converters.a2a.disclosure import disclosed
    from agentsuite_converters.document import read

    try:
        document = read(file, "A2A-JSON-001")
    except RefusedError as error:
        return list(error.findings)
    card = document.value
    found = check_card(card)
    if isinstance(card, dict):
        said = {finding.location for finding in found if finding.requirement == "A2A-URL-001"}
        found += [leak for leak in disclosed(card, None, allow_local=True) if leak.location not in said]
    found = _first(found)
    marks = (document.marks.get(finding.location[1:], (None, None)) for finding in found)
    return [
        replace(finding, location=f"{file}{finding.location}", line=line, column=column)
        for finding, (line, column) in zip(found, marks, strict=True)
    ]


def _first(found: list[Finding]) -> list[Finding]:
    """Return the first findings of each severity, and how many more there are: a card may have any number."""
    shown = []
    for severity in ("error", "warning"):
        alike = [finding for finding in found if finding.severity == severity]
        shown += alike[:_MOST]
        for more in alike[_MOST : _MOST + 1]:
            what = counted(len(alike) - _MOST, f"more {severity}")
            shown.append(replace(more, location="#", message=f"{what}, not shown", hint=""))
    return shown
