"""Which version of A2A a card is written for, and what 1.0 writes in the place of older members (A2A 1.0, A)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from agentsuite_converters.members import items, member, objects, text
from hatch_agentsuite.findings import Finding, pointer

if TYPE_CHECKING:
    from agentsuite_converters.places import Path
    from hatch_agentsuite.documents import JSONObject

Style = Literal["1.0", "0.3", "0.2", "mixed", "unknown"]

REQUIREMENT = "A2A-CHANGE-001"

_TOP = {
    "url": "`supportedInterfaces[0].url`",
    "preferredTransport": "`supportedInterfaces[0].protocolBinding`",
    "additionalInterfaces": "further items of `supportedInterfaces`",
    "protocolVersion": '`protocolVersion` of each item of `supportedInterfaces`, such as "1.0"',
    "security": '`securityRequirements`, as [{"schemes": {"<scheme>": {"list": [<scopes>]}}}]',
    "supportsAuthenticatedExtendedCard": "`capabilities.extendedAgentCard`",
}
_SCHEMES = {
    "apiKey": "apiKeySecurityScheme",
    "http": "httpAuthSecurityScheme",
    "oauth2": "oauth2SecurityScheme",
    "openIdConnect": "openIdConnectSecurityScheme",
    "mutualTLS": "mtlsSecurityScheme",
}
_KIND = {kind.lower(): written for kind, written in _SCHEMES.items()}
_SIGNS = ("name", "url", "skills", "capabilities", "defaultInputModes", "defaultOutputModes", "protocolVersion")
_SURE_SIGNS = ("skills", "defaultInputModes", "defaultOutputModes", "protocolVersion")


def style_of(card: JSONObject) -> Style:
    """Return how a card is written; ``mixed`` has members of 1.0 and of 0.3, ``unknown`` is something else."""
    is_old = not _TOP.keys().isdisjoint(card)
    if "supportedInterfaces" in card:
        return "mixed" if is_old else "1.0"
    if sum(name in card for name in _SIGNS) < 3 or not any(name in card for name in _SURE_SIGNS):
        return "unknown"
    if not is_old:
        return "1.0"
    return "0.2" if text(card, "protocolVersion").startswith("0.2") or "protocolVersion" not in card else "0.3"


def scheme_in_10(kind: str) -> str:
    """Return the member of a security scheme that stands for a ``type`` of 0.3, ``""`` for an unknown type."""
    return _KIND.get(kind.lower(), "")


def scheme_types() -> tuple[str, ...]:
    """Return the types of security schemes that 0.3 knows."""
    return tuple(_SCHEMES)


def changes(card: JSONObject) -> Iterator[Finding]:
    """Yield what of a card 1.0 writes in another way, each with what to write."""
    for name, instead in _TOP.items():
        if name in card:
            yield _change((name,), f"`{name}` is not of A2A 1.0", f"1.0 writes {instead}")
    if "stateTransitionHistory" in member(card, "capabilities"):
        message = "`stateTransitionHistory` is not of A2A 1.0"
        yield _change(("capabilities", "stateTransitionHistory"), message, "1.0 has nothing in its place: remove it")
    for number, interface in objects(card, "supportedInterfaces"):
        if "transport" in interface:
            place: Path = ("supportedInterfaces", number, "transport")
            yield _change(place, "`transport` is not of A2A 1.0", "1.0 writes `protocolBinding`")
    yield from _schemes(card)
    yield from _requirements(card, ())
    for number, skill in objects(card, "skills"):
        if "security" in skill:
            place = ("skills", number, "security")
            yield _change(place, "`security` is not of A2A 1.0", "1.0 writes `securityRequirements` of the skill")
        yield from _requirements(skill, ("skills", number))


def _schemes(card: JSONObject) -> Iterator[Finding]:
    for name, scheme in member(card, "securitySchemes").items():
        if not isinstance(scheme, dict) or not isinstance(scheme.get("type"), str):
            continue
        written = scheme_in_10(text(scheme, "type"))
        moved = ", with `in` as `location`" if "in" in scheme else ""
        hint = f'1.0 writes {{"{written}": {{...}}}} without `type`{moved}'
        if not written:
            hint = f"its type is unknown; 1.0 writes one of the members {', '.join(_SCHEMES.values())}"
        yield _change(("securitySchemes", name), "this is a security scheme of 0.3", hint)
        if len(member(scheme, "flows")) > 1:
            hint = "1.0 writes one scheme for each flow, and a requirement for each that a client may meet"
            yield _change(("securitySchemes", name, "flows"), "a scheme of 1.0 has one flow", hint)


def _requirements(holder: JSONObject, base: Path) -> Iterator[Finding]:
    for number, requirement in enumerate(items(holder, "securityRequirements")):
        if isinstance(requirement, dict) and requirement and "schemes" not in requirement:
            place: Path = (*base, "securityRequirements", number)
            name = next(iter(requirement))[:40]
            hint = f'1.0 writes {{"schemes": {{"{name}": {{"list": [...]}}}}}}; read as it is, it asks for nothing'
            yield _change(place, "this is a security requirement of 0.3", hint)


def _change(place: Path, message: str, hint: str) -> Finding:
    return Finding(REQUIREMENT, "json", f"#{pointer(*place)}", message, hint)
