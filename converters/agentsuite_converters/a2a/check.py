"""Agent Cards judged: by the schema of their version, by rules of our own, and by the SDK's check where it is there.

    findings = check_card(json.loads(text))

The schema of 1.0 is derived from the normative proto. A card of another version is told member by member what 1.0
writes instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import agentsuite_schemas
from agentsuite_converters.a2a import rules, security_rules
from agentsuite_converters.a2a.extra import required_faults
from agentsuite_converters.a2a.versions import changes, style_of
from hatch_agentsuite.findings import Finding, pointer

if TYPE_CHECKING:
    from agentsuite_converters.a2a.projection import Version
    from agentsuite_converters.a2a.versions import Style
    from hatch_agentsuite.documents import JSONObject, JSONValue

UPGRADE = "`agentsuite card upgrade` writes a card of version 1.0"

_RULES = (*rules.RULES, *security_rules.RULES)
_NO_CARD = "this is no Agent Card: it has neither the interfaces and skills of 1.0 nor the URL and skills of 0.3"
_HINTS = {
    "capabilities": 'write "capabilities": {} if there are none',
    "defaultInputModes": 'such as ["text/plain"]',
    "defaultOutputModes": 'such as ["text/plain"]',
    "organization": "name the provider, or leave `provider` out",
    "protocolBinding": "JSONRPC, GRPC, HTTP+JSON, or a URI",
    "protocolVersion": 'the version that is spoken at the URL: "1.0", or "0.3.0" in a card of 0.3',
    "scopes": "name the scopes; a flow that has none cannot be written",
    "skills": "name at least one thing that the agent can do",
    "supportedInterfaces": '[{"url": "https://...", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]',
    "tags": "at least one",
    "version": "the agent's own version, such as 1.0.0",
}


def check_card(card: JSONValue, version: Version | None = None) -> list[Finding]:
    """Return what is wrong with a card; locations are JSON pointers behind ``#``.

    Without ``version`` a card is judged by the one that it is written for. Findings are ``A2A-*``; a valid card of 0.3
    has only warnings, which say what to change for 1.0.
    """
    if not isinstance(card, dict):
        return [Finding("A2A-SCHEMA-001", "json", "#", "an Agent Card is a JSON object")]
    style = style_of(card)
    if version is None and style == "unknown":
        return [Finding("A2A-VERSION-001", "json", "#", _NO_CARD)]
    found = list(_version_findings(style, card)) if version is None else []
    judged: Version = version or ("0.3" if style in {"0.3", "0.2"} else "1.0")
    explained = [finding for rule in _RULES for finding in rule(card, judged)]
    if version != "0.3":
        explained += (change if judged == "1.0" else change.as_warning() for change in changes(card))
    places = [finding.location for finding in explained if finding.is_error]
    if style == "0.2" and version is None:
        places.append("#/protocolVersion")  # said above
    found += [*_shape(card, judged, places), *explained]
    if judged == "1.0" and not any(finding.is_error for finding in found):
        found += required_faults(card)
    return found


def _version_findings(style: Style, card: JSONObject) -> Iterator[Finding]:
    if style == "0.2" and "protocolVersion" not in card:
        message = "this card has no `protocolVersion`: it is of A2A 0.2, and readers take it for 0.3"
        hint = f'write "protocolVersion": "0.3.0"; {UPGRADE}'
        yield Finding("A2A-VERSION-001", "json", "#", message, hint)
    elif style == "0.3":
        yield Finding("A2A-VERSION-001", "json", "#", "this card is written as in A2A 0.3", UPGRADE).as_warning()
    elif style == "mixed":
        message = "this card has members of 0.3 beside `supportedInterfaces`: publish two documents, one a version"
        yield Finding("A2A-VERSION-001", "json", "#", message, UPGRADE)


def _shape(card: JSONObject, version: Version, explained: list[str]) -> Iterator[Finding]:
    """Yield what the schema refuses, but what is explained already at that place or around it."""
    for error in agentsuite_schemas.validator(f"a2a/card-{version}").errors(card):
        is_missing = error.keyword == "required"
        member = error.message.split("'")[1] if is_missing else str(error.path[-1]) if error.path else ""
        location = f"#{pointer(*error.path, *([member] if is_missing else []))}"
        if not any(location == place or location.startswith(f"{place}/") for place in explained):
            hint = _HINTS.get(member, "") if error.keyword in {"required", "minItems", "minProperties"} else ""
            yield Finding("A2A-SCHEMA-001", "json", f"#{pointer(*error.path)}", error.message, hint)
