"""The rules of Agent Cards about who may call: schemes, requirements, their URLs, and the structure of signatures."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentsuite_converters.a2a.rules import found_at, has_template
from agentsuite_converters.a2a.versions import scheme_types
from agentsuite_converters.members import items, listed, member, objects, text
from agentsuite_converters.places import leaves, value_at
from agentsuite_converters.urls import endpoint_fault

if TYPE_CHECKING:
    from agentsuite_converters.places import Path
    from hatch_agentsuite.documents import JSONObject, JSONValue
    from hatch_agentsuite.findings import Finding

LOCATIONS = ("cookie", "header", "query")
UNREAD = "`authentication` is of A2A 0.1, and no client reads it any more: to them the card is open"

_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")
_OTHER_TYPES = {"bearer": "http", "basic": "http", "jwt": "http", "oidc": "openIdConnect", "mtls": "mutualTLS"}


def authentication(card: JSONObject, version: str) -> Iterator[Finding]:
    """Refuse what A2A 0.1 said of authentication, which makes a card look open (A2A 1.0 section 4.5)."""
    if "authentication" in card:
        name = "securityRequirements" if version == "1.0" else "security"
        hint = f"write `securitySchemes` and `{name}` in its place"
        yield found_at("A2A-SECURITY-001", "security", ("authentication",), UNREAD, hint)


def requirements(card: JSONObject, version: str) -> Iterator[Finding]:
    """Hold requirements against the schemes that exist; an empty one lets anybody call (A2A 1.0 section 4.5)."""
    schemes = member(card, "securitySchemes")
    name = "securityRequirements" if version == "1.0" else "security"
    holders: list[tuple[JSONObject, Path]] = [(card, ())]
    holders += [(skill, ("skills", number)) for number, skill in objects(card, "skills")]
    for holder, base in holders:
        for number, requirement in objects(holder, name):
            place: Path = (*base, name, number)
            named: JSONValue = requirement
            if version == "1.0" and requirement:
                if "schemes" not in requirement:
                    continue  # it is of 0.3, and said to be
                named = requirement["schemes"]
            yield from _requirement(place, named, schemes)


def _requirement(place: Path, named: JSONValue, schemes: JSONObject) -> Iterator[Finding]:
    if not isinstance(named, dict):
        return
    if not named:
        message = "an empty requirement lets anybody call the agent"
        yield found_at("A2A-SECURITY-001", "security", place, message, "name a scheme, or remove it")
    for name in named:
        if name not in schemes:
            message = f"there is no security scheme `{name[:80]}`"
            yield found_at("A2A-SECURITY-001", "graph", place, message, f"schemes: {listed(schemes)}")


def locations(card: JSONObject, version: str) -> Iterator[Finding]:
    """Only a query, a header or a cookie holds an API key (A2A 1.0 section 4.5.2)."""
    for name, scheme in member(card, "securitySchemes").items():
        if not isinstance(scheme, dict):
            continue
        place: Path = ("securitySchemes", name, "in")
        location = text(scheme, "in")
        if version == "1.0":
            place = ("securitySchemes", name, "apiKeySecurityScheme", "location")
            location = text(member(scheme, "apiKeySecurityScheme"), "location")
        if location and location not in LOCATIONS:
            meant = location.strip().lower()
            hint = f'write "{meant}"' if meant in LOCATIONS else ""
            message = f"an API key goes into one of {listed(LOCATIONS)}"
            yield found_at("A2A-SECURITY-001", "security", place, message, hint)


def types(card: JSONObject, version: str) -> Iterator[Finding]:
    """Name the type of a scheme of 0.3 exactly: a reader takes any other for mutual TLS, or for no scheme at all."""
    for name, scheme in member(card, "securitySchemes").items() if version == "0.3" else ():
        kind = text(scheme, "type") if isinstance(scheme, dict) else ""
        if kind and kind not in scheme_types():
            meant = {known.lower(): known for known in scheme_types()} | _OTHER_TYPES
            known = meant.get(re.sub(r"[^a-z0-9]", "", kind.lower()))
            hint = f'write "{known}"' if known else ""
            message = f"the type of a security scheme is one of {listed(scheme_types())}"
            yield found_at("A2A-SECURITY-001", "security", ("securitySchemes", name, "type"), message, hint)


def urls(card: JSONObject, _version: str) -> Iterator[Finding]:
    """Credentials and tokens travel over https alone (A2A 1.0 section 7.1): the URLs of OAuth 2.0 and OpenID."""
    schemes: JSONObject = {"securitySchemes": member(card, "securitySchemes")}
    for leaf in leaves(schemes):
        value = value_at(schemes, leaf)
        if not isinstance(value, str) or not value or not str(leaf[-1]).endswith("Url") or "scopes" in leaf:
            continue
        fault = endpoint_fault(value)
        if has_template(value):
            message = "the URL holds a template that was never filled in"
            yield found_at("A2A-URL-001", "security", leaf, message, "write the URL that clients call")
        elif fault:
            hint = "write an absolute https URL" if fault.is_error else fault.hint
            found = found_at("A2A-URL-001", "security", leaf, f"the URL {fault.message}", hint)
            yield found if fault.is_error else found.as_warning()


def signatures(card: JSONObject, _version: str) -> Iterator[Finding]:
    """Look at the form of signatures (A2A 1.0 section 8.4.2, RFC 7515); whether they hold is verified with the key."""
    for number, signature in objects(card, "signatures"):
        place: Path = ("signatures", number)
        protected, value = text(signature, "protected"), text(signature, "signature")
        if protected and not text(_header(protected), "alg"):
            message = "this is no base64url of a JSON object that names an algorithm"
            yield found_at("A2A-SIGN-001", "security", (*place, "protected"), message, "sign the card again")
        elif text(_header(protected), "alg").lower() == "none":
            message = "the algorithm `none` signs nothing"
            yield found_at("A2A-SIGN-001", "security", (*place, "protected"), message, "remove the signature")
        if value and not _BASE64URL.fullmatch(value):
            message = "a signature is base64url without padding"
            yield found_at("A2A-SIGN-001", "security", (*place, "signature"), message, "sign the card again")
    if "signatures" in card and not items(card, "signatures") and isinstance(card["signatures"], list):
        message = "there is no signature in this list"
        yield found_at("A2A-SIGN-001", "security", ("signatures",), message, "leave it out").as_warning()


def _header(protected: str) -> JSONObject:
    if not _BASE64URL.fullmatch(protected):
        return {}
    try:
        header = json.loads(base64.urlsafe_b64decode(protected + "=" * (-len(protected) % 4)))
    except (ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


RULES = (authentication, requirements, locations, types, urls, signatures)
