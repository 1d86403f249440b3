"""``agentsuite card SUITE`` and ``agentsuite card site SUITE``: agents projected onto public Agent Cards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hatch_agentsuite.cli.card_key import signer
from hatch_agentsuite.cli.console import reports_failures, show_findings
from hatch_agentsuite.cli.conversion import foreign_format, supplied
from hatch_agentsuite.findings import printable

if TYPE_CHECKING:
    from agentsuite_converters.a2a.projection import CardOptions
    from agentsuite_converters.a2a.publishing import Published
    from agentsuite_converters.profile import AgentProfile

_Command = TypeVar("_Command", bound=Callable[..., Any])

_SUPPLIED: dict[str, tuple[str, str]] = {
    "name": ("text", "The agent's name."),
    "description": ("text", "What the agent is for."),
    "card-version": ("text", "The agent's version."),
    "provider": ("text", "Who provides the agent."),
    "provider-url": ("text", "The provider's URL."),
    "documentation-url": ("text", "Where the agent is documented."),
    "icon-url": ("text", "The agent's icon."),
    "tag": ("list", "A tag of every skill that has none of its own.  Repeat for several."),
    "input-mode": ("list", "A media type that the agent takes, such as text/plain.  Repeat for several."),
    "output-mode": ("list", "A media type that the agent gives, such as text/plain.  Repeat for several."),
    "streaming": ("flag", "The server streams."),
    "push-notifications": ("flag", "The server sends push notifications."),
}


def _supply(name: str, kind: str, text: str) -> Callable[[_Command], _Command]:
    """Return an option that fills a member of the profile (see :func:`supplied`)."""
    member = f"supply_{name.replace('-', '_')}"
    return click.option(f"--{name}", member, multiple=kind == "list", is_flag=kind == "flag", help=text)


_URL_HELP = "Where the agent is called, the preferred one first; {agent} stands for its id."
_BINDING_HELP = "The binding of URLs without one: JSONRPC, GRPC, HTTP+JSON or a URI.  [default: JSONRPC]"
_VERSION_HELP = "The version of A2A.  [default: what the agent says, else 1.0]"
_SIGN_HELP = "Sign with a private key in PEM (ES256, EdDSA or RS256); cards of 1.0 only."
_LOCAL_HELP = "Only warn of hosts of this machine or network, to try a card out."

_OPTIONS = (
    click.option("--url", "urls", multiple=True, metavar="[BINDING=]URL", help=_URL_HELP),
    click.option("--binding", default="", help=_BINDING_HELP),
    click.option("--protocol-version", type=click.Choice(["1.0", "0.3"]), help=_VERSION_HELP),
    *(_supply(name, kind, text) for name, (kind, text) in _SUPPLIED.items()),
    click.option("--no-provider", is_flag=True, help="Leave the provider out."),
    click.option("--api-key-header", default="", metavar="NAME", help="The header that an API key goes into."),
    click.option("--token-url", default="", metavar="URL", help="Where OAuth 2.0 tokens come from."),
    click.option("--allow-local", is_flag=True, help=_LOCAL_HELP),
    click.option("--from", "form", metavar="FORMAT", help="SUITE is a document of this format (aib, aidip, brick)."),
    click.option("--with-digest", is_flag=True, help="Name the suite that the card was made from, by its digest."),
    click.option("--sign", metavar="KEY", type=click.Path(path_type=Path, exists=True), help=_SIGN_HELP),
    click.option("--kid", default="", help="The name of the key."),
    click.option("--jku", default="", metavar="URL", help="Where verifiers find the key set."),
    click.option("--force", is_flag=True, help="Overwrite files whose content changes."),
)


def _card_options(command: _Command) -> _Command:
    """Give a command the options that complete a card."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("build")
@click.argument("suite", type=click.Path(path_type=Path))
@click.option("--agent", metavar="ID", help="The agent; needed where the suite has several.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The card to write.")
@_card_options
@reports_failures
def build(suite: Path, agent: str | None, output: Path, force: bool, **options: Any) -> None:
    """Write the Agent Card of an agent of SUITE: an authoring tree, a content directory, a layout or an archive.

    A card is made from public members alone, judged by the schema of A2A, and refused where it would disclose what is
    private. What a card requires and the agent does not say is asked for by the option that supplies it.
    """
    from agentsuite_converters.a2a.publishing import publish_card
    from agentsuite_converters.writing import write_files

    agents = _agents(suite, (agent,) if agent else (), options)
    if agent and agents[0].id != agent:
        raise click.UsageError(f"the document describes the agent `{agents[0].id}`")
    if len(agents) > 1:
        names = ", ".join(f"`{item.id}`" for item in agents)
        raise click.UsageError(f"the suite has several agents: choose one by --agent ({names})")
    supplies = supplied(options)
    card = publish_card(agents[0], _options(options, suite), supplies, allow_local=options["allow_local"])
    [card] = _signed([card], options)
    write_files(output.absolute().parent, {output.name: card.data}, force=force)
    _show(card)
    click.echo(output)


@click.command("site")
@click.argument("suite", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The folder to write into.")
@_card_options
@reports_failures
def site(suite: Path, output: Path, force: bool, **options: Any) -> None:
    """Write the cards of all agents of SUITE that have a public capability, to be served as static files.

    The card of an agent is AGENT/.well-known/agent-card.json below OUTPUT.
    """
    from agentsuite_converters.a2a.publishing import WELL_KNOWN, publish_all
    from agentsuite_converters.writing import write_files

    agents = _agents(suite, (), options)
    cards = publish_all(agents, _options(options, suite), supplied(options), allow_local=options["allow_local"])
    cards = _signed(cards, options)
    files = {f"{card.agent}/{WELL_KNOWN}": card.data for card in cards}
    write_files(output, files, force=force)
    for card in cards:
        _show(card)
    for path in files:
        click.echo(output / path)


def _agents(suite: Path, wanted: tuple[str, ...], options: dict[str, Any]) -> list[AgentProfile]:
    from agentsuite_converters.a2a.publishing import agents_at

    return agents_at(suite, wanted, foreign_format(options["form"]) if options["form"] else None)


def _options(options: dict[str, Any], suite: Path) -> CardOptions:
    from agentsuite_converters.a2a.projection import CardOptions

    return CardOptions(
        urls=options["urls"],
        binding=options["binding"],
        protocol_version=options["protocol_version"] or "",
        api_key_header=options["api_key_header"],
        token_url=options["token_url"],
        has_provider=not options["no_provider"],
        suite_digest=_digest(suite) if options["with_digest"] else "",
    )


def _signed(cards: list[Published], options: dict[str, Any]) -> list[Published]:
    """Sign cards where a key is given, and warn of what a signature does not cover."""
    if options["sign"] is None:
        if options["kid"] or options["jku"]:
            raise click.UsageError("--kid and --jku say something of a signature: give --sign KEY")
        return cards
    from agentsuite_converters.a2a.signing import uncovered

    sign = signer(options["sign"], options["kid"], options["jku"])
    made = [replace(card, card=sign(card.card)) for card in cards]
    return [replace(card, warnings=(*card.warnings, *uncovered(card.card))) for card in made]


def _digest(suite: Path) -> str:
    """Return the manifest digest of a packed suite, which was verified when its agents were read."""
    from agentsuite_converters.suites import manifest_digest

    found = manifest_digest(suite)
    if not found:
        raise click.UsageError("--with-digest needs a packed suite: a layout or an archive")
    return found


def _show(card: Published) -> None:
    click.echo(f"{card.agent}: an Agent Card of version {card.version}", err=True)
    for note in card.derived:
        click.echo(
            f"  {click.style('derived', fg='cyan')}: {printable(note.place)}: {printable(note.reason)}", err=True
        )
    show_findings(card.warnings)
