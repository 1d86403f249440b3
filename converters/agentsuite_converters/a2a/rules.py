"""The rules of Agent Cards that no schema says, for the two versions alike; those of security stand by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentsuite_converters.members import items, listed, member, objects, repeated, text, texts
from agentsuite_converters.urls import endpoint_fault, host, is_spelled, scheme
from hatch_agentsuite.findings import Finding, pointer

if TYPE_CHECKING:
    from agentsuite_converters.places import Path
    from hatch_agentsuite.documents import JSONObject
    from hatch_agentsuite.findings import Category

BINDINGS = ("JSONRPC", "GRPC", "HTTP+JSON")

_MEANT = {
    "jsonrpc": "JSONRPC",
    "jsonrpc20": "JSONRPC",
    "grpc": "GRPC",
    "httpjson": "HTTP+JSON",
    "rest": "HTTP+JSON",
    "http": "HTTP+JSON",
    "https": "HTTP+JSON",
}
_VERSION = re.compile(r"([0-9]+)\.([0-9]+)(\.[0-9]+)?")
_SPOKEN = {(1, 0), (0, 3)}
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9*][A-Za-z0-9!#$&^_.+*-]*(?:\s*;.*)?")
_MODES = {"text": "text/plain", "json": "application/json", "file": "application/octet-stream"}
_SEMVER = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
_TEMPLATE = re.compile(r"\$\{|\{\{|\{[^{}]*\}|<[^<>]+>|\bYOUR[_-]")
_HOST_PORT = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})")
_SWITCHES = {name.lower(): name for name in ("streaming", "pushNotifications", "extendedAgentCard")}


@dataclass(frozen=True)
class Interface:
    """Where an agent is called, as either version says it; places are those of its members."""

    url: str
    url_at: Path
    binding: str
    binding_at: Path
    version: str = ""
    version_at: Path = ()
    tenant: str = ""


def interfaces_of(card: JSONObject, version: str) -> list[Interface]:
    """Return the interfaces of a card in order; what is not as expected is passed over."""
    if version == "1.0":
        return [
            Interface(
                text(item, "url"),
                ("supportedInterfaces", number, "url"),
                text(item, "protocolBinding"),
                ("supportedInterfaces", number, "protocolBinding"),
                text(item, "protocolVersion"),
                ("supportedInterfaces", number, "protocolVersion"),
                text(item, "tenant"),
            )
            for number, item in objects(card, "supportedInterfaces")
        ]
    binding = text(card, "preferredTransport") if "preferredTransport" in card else BINDINGS[0]
    main = Interface(
        text(card, "url"),
        ("url",),
        binding,
        ("preferredTransport",),
        text(card, "protocolVersion"),
        ("protocolVersion",),
    )
    more = [
        Interface(
            text(item, "url"),
            ("additionalInterfaces", number, "url"),
            text(item, "transport"),
            ("additionalInterfaces", number, "transport"),
        )
        for number, item in objects(card, "additionalInterfaces")
    ]
    return [main, *more]


def interfaces(card: JSONObject, version: str) -> Iterator[Finding]:
    """URLs per binding, bindings and protocol versions as clients compare them (A2A 1.0 sections 3.6, 4.4.6, 5.8)."""
    seen: set[tuple[str, ...]] = set()
    for item in interfaces_of(card, version):
        if item.binding.strip():
            yield from _binding(item)
        if item.url.strip():
            yield from _url(item)
        if item.version.strip():
            yield from _protocol_version(item, version)
        key = (item.url, item.binding, item.version, item.tenant)
        # The main interface of 0.3 should be repeated among the additional ones.
        if key in seen and version == "1.0":
            message = "this interface is listed before"
            yield found_at("A2A-URL-001", "graph", item.url_at, message, "remove it").as_warning()
        seen.add(key)


def _binding(item: Interface) -> Iterator[Finding]:
    if item.binding in BINDINGS or _is_uri(item.binding):
        return
    meant = _MEANT.get(re.sub(r"[^a-z0-9]", "", item.binding.lower()), "")
    hint = f"write `{meant}`" if meant else f"one of {listed(BINDINGS)}, or a URI"
    message = "this is no protocol binding that clients know"
    yield found_at("A2A-BINDING-001", "platform", item.binding_at, message, hint)


def _url(item: Interface) -> Iterator[Finding]:
    if has_template(item.url):
        message = "the URL holds a template that was never filled in"
        yield found_at("A2A-URL-001", "security", item.url_at, message, "write the URL that clients call")
        return
    hint = "write an absolute URL such as https://agents.example.org/a2a"
    if item.binding.upper() == "GRPC":
        match = _HOST_PORT.fullmatch(item.url)
        if match and 0 < int(match[1]) < 65536:
            return
        hint = "write host:port, or an https URL"
    elif item.binding not in BINDINGS and _is_uri(item.binding):
        if not _is_uri(item.url):
            message = "the URL of a custom binding is an absolute URI"
            yield found_at("A2A-URL-001", "json", item.url_at, message)
        return
    fault = endpoint_fault(item.url)
    if fault:
        better = hint if "absolute" in fault.hint else fault.hint
        found = found_at("A2A-URL-001", "security", item.url_at, f"the URL {fault.message}", better)
        yield found if fault.is_error else found.as_warning()


def _protocol_version(item: Interface, version: str) -> Iterator[Finding]:
    match = _VERSION.fullmatch(item.version)
    spoken = (int(match[1]), int(match[2])) if match and len(item.version) < 20 else (0, 0)
    usual = "1.0" if version == "1.0" else "0.3.0"
    if match is None or spoken < (0, 3):
        message = "this is no version of A2A that clients speak"
        yield found_at("A2A-VERSION-001", "json", item.version_at, message, f'write "{usual}"')
    elif version == "0.3" and spoken >= (1, 0):
        message = "a card that says 1.0 lists its URLs in `supportedInterfaces`, and this one is written as in 0.3"
        hint = "`agentsuite card upgrade` writes a card of version 1.0"
        yield found_at("A2A-VERSION-001", "json", item.version_at, message, hint)
    elif spoken not in _SPOKEN:
        message = "this version of A2A is not one that we know (1.0 and 0.3)"
        yield found_at("A2A-VERSION-001", "json", item.version_at, message).as_warning()
    elif match[3] and version == "1.0":
        message = "a version is Major.Minor, without a patch number"
        hint = f'write "{item.version.removesuffix(match[3])}"'
        yield found_at("A2A-VERSION-001", "json", item.version_at, message, hint).as_warning()


def capabilities(card: JSONObject, version: str) -> Iterator[Finding]:
    """Capabilities are an object of switches, not a list of what the agent can do (A2A 1.0 section 4.4.3)."""
    written = card.get("capabilities")
    if not isinstance(written, list):
        return
    names = {_SWITCHES.get(name.replace("_", "").lower(), "") for _, name in texts(card, "capabilities")}
    on = ", ".join(
        f'"{name}": true' for name in sorted(names - {""}) if version == "1.0" or name != "extendedAgentCard"
    )
    hint = f"write {{{on}}}; what the agent can do is said by `skills`"
    message = "`capabilities` is an object of switches, and this is a list"
    yield found_at("A2A-SCHEMA-001", "json", ("capabilities",), message, hint)


def modes(card: JSONObject, _version: str) -> Iterator[Finding]:
    """Input and output modes are media types (A2A 1.0 section 4.4.1)."""
    places: list[tuple[JSONObject, Path, str]] = [
        (card, (), name) for name in ("defaultInputModes", "defaultOutputModes")
    ]
    for number, skill in objects(card, "skills"):
        places += [(skill, ("skills", number), name) for name in ("inputModes", "outputModes")]
    for holder, base, name in places:
        for position, mode in texts(holder, name):
            if not _MEDIA_TYPE.fullmatch(mode):
                known = _MODES.get(mode.strip().lower())
                hint = f"write `{known}`" if known else "such as text/plain"
                yield found_at("A2A-MODE-001", "json", (*base, name, position), "a mode is a media type", hint)


def skills(card: JSONObject, _version: str) -> Iterator[Finding]:
    """Skills have ids of their own (A2A 1.0 section 4.4.5)."""
    ids = ((number, text(skill, "id")) for number, skill in objects(card, "skills"))
    for number, identifier, first in repeated(ids):
        message = f"the id `{identifier[:80]}` is that of skills/{first} too"
        yield found_at("A2A-SKILL-001", "graph", ("skills", number, "id"), message, "give each its own id")


def semantic_version(card: JSONObject, _version: str) -> Iterator[Finding]:
    """Warn of a version of the agent that is not semantic; it is free text, but most readers expect that."""
    written = text(card, "version")
    if written.strip() and not _SEMVER.fullmatch(written):
        message = "the version is not a semantic version"
        yield found_at("A2A-SEMVER-001", "json", ("version",), message, "such as 1.2.0").as_warning()


def blanks(card: JSONObject, version: str) -> Iterator[Finding]:
    """Refuse blank text where text is required (A2A 1.0 section 5.7)."""
    places: list[tuple[JSONObject, Path, tuple[str, ...]]] = [(card, (), ("name", "description", "version"))]
    places += [(skill, ("skills", number), ("id", "name", "description")) for number, skill in objects(card, "skills")]
    places.append((member(card, "provider"), ("provider",), ("organization", "url")))
    for holder, base, names in places:
        for name in names:
            value = text(holder, name)
            if value and not value.strip():
                yield found_at("A2A-TEXT-001", "json", (*base, name), "the text is blank", "say something")
    for item in interfaces_of(card, version):
        for value, at in ((item.url, item.url_at), (item.binding, item.binding_at), (item.version, item.version_at)):
            if value and not value.strip():
                yield found_at("A2A-TEXT-001", "json", at, "the text is blank", "say something")
    for number, skill in objects(card, "skills"):
        for position, tag in enumerate(items(skill, "tags")):
            if isinstance(tag, str) and not tag.strip():
                yield found_at("A2A-TEXT-001", "json", ("skills", number, "tags", position), "the tag is blank")


def links(card: JSONObject, _version: str) -> Iterator[Finding]:
    """Links for people: absolute URLs; those of the provider, of documentation and of the icon."""
    places: list[tuple[JSONObject, Path]] = [
        (member(card, "provider"), ("provider", "url")),
        (card, ("documentationUrl",)),
        (card, ("iconUrl",)),
    ]
    for holder, place in places:
        url = text(holder, str(place[-1]))
        is_data = place == ("iconUrl",) and scheme(url) == "data"
        if url.strip() and not is_data and not is_web_url(url):
            yield found_at("A2A-URL-001", "json", place, "this is no absolute URL", "write an https URL")


def has_template(url: str) -> bool:
    """Whether a URL still holds what somebody was to fill in, such as ``${HOST}`` or ``<HOST>``."""
    return _TEMPLATE.search(url) is not None


def is_web_url(url: str) -> bool:
    """Whether a text is an absolute http or https URL that is filled in."""
    return is_spelled(url) and scheme(url) in {"https", "http"} and bool(host(url)) and not has_template(url)


def found_at(requirement: str, category: Category, place: Path, message: str, hint: str = "") -> Finding:
    """Return a finding at a place of the card."""
    return Finding(requirement, category, f"#{pointer(*place)}", message, hint)


def _is_uri(text: str) -> bool:
    return is_spelled(text) and bool(scheme(text)) and not text.endswith(":")


RULES = (interfaces, capabilities, modes, skills, semantic_version, blanks, links)
