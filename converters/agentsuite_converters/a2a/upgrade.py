"""Cards of A2A 0.2 and 0.3, and mixed ones, as cards of 1.0, with an account of every leaf.

    upgraded = upgrade_card(old)
    upgraded.card, upgraded.report.dropped

What the two versions mean alike is kept: of security requirements a client meets one, and of one requirement all
schemes. Nothing is invented: what 1.0 requires and the old card lacks is refused by name, and an interface keeps the
version of A2A that its server speaks.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import agentsuite_schemas
from agentsuite_converters.a2a.check import check_card
from agentsuite_converters.a2a.security_rules import UNREAD
from agentsuite_converters.a2a.upgrading import Upgrade
from agentsuite_converters.a2a.versions import style_of
from agentsuite_converters.places import remove
from hatch_agentsuite.findings import Finding, RefusedError, pointer

if TYPE_CHECKING:
    from agentsuite_converters.places import Path
    from agentsuite_converters.report import Report
    from hatch_agentsuite.documents import JSONObject, JSONValue

_FREE = frozenset({"header", "params"})


@dataclass(frozen=True)
class Upgraded:
    """A card of version 1.0, and what became of the old card's leaves."""

    card: JSONObject
    report: Report


def upgrade_card(old: JSONValue, protocol_version: str = "") -> Upgraded:
    """Return a card of 0.2, 0.3 or mixed style as one of 1.0; raises :class:`RefusedError` where that is not valid.

    ``protocol_version`` is that of A2A which the server speaks at URLs of which the card does not say so in the way of
    1.0; without it, what the card says is kept. A card of 1.0 comes back as it is. A location in the new card begins
    with ``1.0#``, one in the old card with ``#``.
    """
    if not isinstance(old, dict) or style_of(old) == "unknown":
        raise RefusedError(*check_card(old))
    card = copy.deepcopy(old)
    nulls = list(_nulls(card, ()))
    for place in nulls:
        remove(card, place)
    problems = list(_unreadable(card))
    if problems:
        raise RefusedError(*problems)
    upgrade = Upgrade(card, protocol_version)
    upgrade.dropped |= dict.fromkeys(nulls, "null says no more than its absence, and 1.0 allows none")
    made = upgrade.card()
    errors = [_in_new_card(finding) for finding in check_card(made, "1.0") if finding.is_error]
    if upgrade.problems or errors:
        raise RefusedError(*(upgrade.problems or errors))
    return Upgraded(made, upgrade.account(old))


def _nulls(value: JSONValue, at: Path) -> Iterator[Path]:
    """Yield the members that are null, but those of objects which may hold anything."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for token, member in members:
        if member is None and isinstance(token, str):
            yield (*at, token)
        elif token not in _FREE:
            yield from _nulls(member, (*at, token))


def _unreadable(card: JSONObject) -> Iterator[Finding]:
    """Yield what has the wrong type, so that nobody knows what it means, and authentication that nobody reads."""
    if "authentication" in card:
        hint = "write `securitySchemes` and `security` in its place, so that the card does not look open"
        yield Finding("A2A-SECURITY-001", "security", "#/authentication", UNREAD, hint)
    for error in agentsuite_schemas.validator("a2a/card-0.3").errors(card):
        if error.keyword == "type":
            yield Finding("A2A-SCHEMA-001", "json", f"#{pointer(*error.path)}", error.message)


def _in_new_card(finding: Finding) -> Finding:
    return replace(finding, location=f"1.0{finding.location}")
