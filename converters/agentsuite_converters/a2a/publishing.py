"""Agent Cards ready to be published: projected, written as ProtoJSON, judged by A2A's rules, and searched for leaks.

A card that is refused is not returned, in whole or in part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentsuite_converters.a2a.check import check_card
from agentsuite_converters.a2a.disclosure import disclosed
from agentsuite_converters.a2a.extra import EXTRA, protocol_buffers
from agentsuite_converters.a2a.projection import CardOptions, Version, project, serialize
from agentsuite_converters.a2a.rules import interfaces_of
from agentsuite_converters.converting import absorb, publish
from agentsuite_converters.members import objects
from agentsuite_converters.suites import read_suite, select
from hatch_agentsuite.findings import Finding, RefusedError, pointer

if TYPE_CHECKING:
    from agentsuite_converters.exporting import Supplies
    from agentsuite_converters.formats import ForeignFormat
    from agentsuite_converters.profile import AgentProfile
    from agentsuite_converters.report import Note
    from hatch_agentsuite.documents import JSONObject

WELL_KNOWN = ".well-known/agent-card.json"
"""Where a client looks for the card of an agent, below the agent's own URL (A2A 1.0 section 8.2)."""


@dataclass(frozen=True)
class Published:
    """The card of an agent: its value and version, what was derived, and warnings."""

    agent: str
    card: JSONObject
    version: Version
    derived: tuple[Note, ...]
    warnings: tuple[Finding, ...]

    @property
    def data(self) -> bytes:
        """Return the bytes that are published."""
        return serialize(self.card)


def publish_card(
    agent: AgentProfile, options: CardOptions, supplies: Supplies, *, allow_local: bool = False
) -> Published:
    """Return the card of an agent; raises :class:`RefusedError` for what lacks, is not valid, or discloses.

    ``supplies`` are members of the profile that are given besides.
    """
    agent.supply(supplies)
    projected = project(agent, options)
    card = projected.card
    findings = [*check_card(card, projected.version), *disclosed(card, agent, allow_local=allow_local)]
    _refuse(findings)
    written = as_protojson(card) if projected.version == "1.0" else card
    return Published(agent.id, written, projected.version, projected.derived, tuple(findings))


def publish_all(
    agents: Iterable[AgentProfile], options: CardOptions, supplies: Supplies, *, allow_local: bool = False
) -> list[Published]:
    """Return the cards of those agents that have a public capability; all that is wrong is raised at once.

    Locations begin with the agent's id. Raises :class:`RefusedError` also where no agent has any.
    """
    found: list[Published] = []
    problems: list[Finding] = []
    taken: dict[tuple[str, str], str] = {}
    for agent in agents:
        if not any(item.get("visibility") == "public" for _, item in objects(agent.value, "capabilities")):
            continue
        try:
            card = publish_card(agent, options, supplies, allow_local=allow_local)
        except RefusedError as error:
            if error.findings[0].requirement == EXTRA:
                raise
            problems += [_of_agent(agent.id, finding) for finding in error.findings]
            continue
        warnings = [_of_agent(agent.id, finding) for finding in (*card.warnings, *_shared(card, taken))]
        found.append(replace(card, warnings=tuple(warnings)))
    _refuse(problems)
    if not found:
        message = "no agent has a public capability, so there is no card to publish"
        hint = "set `visibility: public` on a capability in metadata/profiles/<agent>"
        raise RefusedError(Finding("A2A-SUPPLY-001", "graph", "", message, hint))
    return found


def _shared(card: Published, taken: dict[tuple[str, str], str]) -> Iterator[Finding]:
    """Yield a warning for each interface at which an agent before is called, too: no client can tell the two apart."""
    for item in interfaces_of(card.card, card.version):
        other = taken.setdefault((item.url, item.tenant), card.agent)
        if other != card.agent:
            message = f"the agent `{other}` is called at this URL, too"
            hint = "in --url, {agent} stands for the agent's id"
            yield Finding("A2A-URL-001", "graph", f"#{pointer(*item.url_at)}", message, hint).as_warning()


def agents_at(path: Path, wanted: tuple[str, ...], form: ForeignFormat | None) -> list[AgentProfile]:
    """Return agents of a suite, or the agent that a document of another format describes."""
    if form is None:
        return select(read_suite(path), wanted)
    document, files, _ = form.load(path)
    agent = absorb(form, document, files).agent
    publish(form, agent)
    return [agent]


def as_protojson(card: JSONObject) -> JSONObject:
    """Return a card of version 1.0 as the SDK's message has it (ADR-001: ProtoJSON); raises :class:`RefusedError`."""
    sdk = protocol_buffers()
    try:
        return sdk.to_json(sdk.parse(card))
    except sdk.parse_error as error:
        raise RefusedError(Finding("A2A-SCHEMA-001", "json", "#", f"this is no Agent Card: {error}")) from None


def _refuse(findings: list[Finding]) -> None:
    errors = [finding for finding in findings if finding.is_error]
    if errors:
        raise RefusedError(*errors)


def _of_agent(name: str, finding: Finding) -> Finding:
    return replace(finding, location=f"{name}{finding.location}")
