"""Whether a card discloses what is private: material of the agent itself, and shapes that no public text should have.

A finding names the member and what is wrong with it, and never repeats the text. Hosts that nobody outside can reach,
credentials, templates that were never filled in and paths of somebody's disk are errors; e-mail addresses a warning.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from agentsuite_converters.a2a.public import public_names, public_part
from agentsuite_converters.exporting import private_of
from agentsuite_converters.places import leaves, value_at
from agentsuite_converters.privacy import Private, leaks
from agentsuite_converters.urls import has_credentials, host
from hatch_agentsuite.findings import Finding, pointer
from hatch_agentsuite.validation.credentials import redact

if TYPE_CHECKING:
    from agentsuite_converters.places import Path
    from agentsuite_converters.profile import AgentProfile
    from hatch_agentsuite.documents import JSONObject

REQUIREMENT = "A2A-PRIVACY-001"

_URL = re.compile(
    r"\b(?:https?|wss?|grpcs?)://[^\s\"'`<>()\[\],;|]*(?:\[[0-9A-Fa-f:.]*\][^\s\"'`<>(),;|]*)?", re.IGNORECASE
)
_OPAQUE = re.compile(r"(?:data:[\w.+/-]*[,;]|urn:[\w-]+:|mailto:)", re.IGNORECASE)
# All of these look at a text in time that grows with its length alone: none starts where another try went by.
_ADDRESS = re.compile(r"(?<![\w.])((?:[0-9]{1,3}\.){3}[0-9]{1,3})(:[0-9]{1,5})?(?!\w|\.\w)")
_TEMPLATE = re.compile(r"\$\{[^{}]*\}|\{\{[^{}]*\}\}|<[A-Z][A-Z0-9_-]*>|\bYOUR[_-][A-Z0-9_-]+", re.ASCII)
_HOLE = re.compile(r"\{[^{}]*\}")
_FILE = re.compile(
    r"(?<![\w:/.~-])(?:/(?:home|Users|root|etc|var|opt|srv|tmp|usr|mnt|data)/[\w.-]|~/[\w.-]|[A-Za-z]:\\\w|file:/)"
)
_MAIL = re.compile(r"[\w.+-]{1,64}@([\w-]+(?:\.[\w-]+)+)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SECRET_KEY = re.compile(
    r"(?:^|[_.-])(?:token|secret|password|passwd|pwd|sig|signature|credential|auth|apikey|key)$", re.IGNORECASE
)
_INTERNAL = (
    ".local",
    ".localhost",
    ".localdomain",
    ".internal",
    ".intranet",
    ".corp",
    ".lan",
    ".home",
    ".private",
    ".svc",
    ".cluster.local",
)
# What prose calls a host: by a suffix that nothing else has, or by one of all suffixes and a port.
_HOST = re.compile(
    r"(?<![\w@./-])(?:[a-z0-9-]+\.)*"
    r"(?:[a-z0-9-]+\.(?:localdomain|internal|intranet|corp|lan|svc|cluster\.local)(?![\w-]|\.\w)"
    r"|(?:localhost|[a-z0-9-]+\.(?:local|localhost|home|private)):[0-9]{1,5}\b)",
    re.IGNORECASE | re.ASCII,
)
_UNREACHABLE = "this names a host that only its own machine or network can reach"
_PRIVATE_ADDRESS = "this holds an address of a private network"
_EXAMPLES = re.compile(r"(?:^|\.)(?:example(?:\.(?:com|net|org))?|invalid|test)$")


def disclosed(card: JSONObject, agent: AgentProfile | None, *, allow_local: bool = False) -> Iterator[Finding]:
    """Yield what a card discloses; without an agent only shapes are looked at.

    ``allow_local`` makes hosts of this machine or network a warning, for a card that is tried out.
    """
    strings = [(leaf, value) for leaf in leaves(card) if isinstance(value := value_at(card, leaf), str)]
    strings += [(leaf[:-1], str(leaf[-1])) for leaf in _named(card)]
    private = _private(agent) if agent else Private()
    for leak in leaks({str(number): text for number, (_, text) in enumerate(strings)}, private):
        hint = "say it in other words, or leave it out"
        found = Finding(REQUIREMENT, "security", _place(strings[int(leak.place)][0]), _unnamed(leak.message), hint)
        yield found if leak.is_error else found.as_warning()
    for leaf, text in strings:
        for message, is_error in dict(sorted(_shapes(leaf, text), key=lambda shape: shape[1])).items():
            is_local = allow_local and message in {_UNREACHABLE, _PRIVATE_ADDRESS}
            found = Finding(REQUIREMENT, "security", _place(leaf), message)
            yield found if is_error and not is_local else found.as_warning()


def _shapes(leaf: Path, text: str) -> Iterator[tuple[str, bool]]:
    """Yield what a text should not hold, and whether it surely should not."""
    is_url = _is_url_member(leaf)
    urls = [text] if is_url else _URL.findall(text)
    for url in urls:
        yield from ((message, True) for message in _url_faults(url))
    prose = "" if is_url else _URL.sub(" ", text)
    if _TEMPLATE.search(text) or (is_url and _HOLE.search(text)):
        yield "this holds a template that was never filled in", True
    if _FILE.search(text if is_url and text.lower().startswith("file:") else prose):
        yield "this holds a path of somebody's disk", True
    if _HOST.search(prose):
        yield _UNREACHABLE, True
    for match in _ADDRESS.finditer(prose):
        if _is_private(match[1]):
            yield _PRIVATE_ADDRESS, match[2] is not None  # without a port it may be a version
    if any(not _EXAMPLES.search(domain.lower()) for domain in _MAIL.findall(prose)):
        yield "this holds an e-mail address", False


def _url_faults(url: str) -> Iterator[str]:
    if _OPAQUE.match(url):
        return
    if has_credentials(url if "://" in url else f"//{url}"):
        yield "this URL holds a user name or password"
    name = host(url if "://" in url else f"//{url}")
    if name and not _HOLE.search(name) and _is_unreachable(name):
        yield _UNREACHABLE
    try:
        query = parse_qsl(urlsplit(url).query, keep_blank_values=False)
    except ValueError:
        return
    if any(_SECRET_KEY.search(_CAMEL.sub("_", key)) for key, _ in query):
        yield "this URL has a query that looks like a credential"


def _is_unreachable(name: str) -> bool:
    """Whether a host is of one machine or network by its name or number; ``127.1`` is a number that clients take."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        last = name.rpartition(".")[2]
        return last == name or name.endswith(_INTERNAL) or last.isdecimal()
    return _is_private(name)


def _is_private(address: str) -> bool:
    try:
        return not ipaddress.ip_address(address).is_global
    except ValueError:
        return False


def _is_url_member(leaf: Path) -> bool:
    """Whether a member of a card holds a URL by its name; extensions have URIs, which are names."""
    return isinstance(leaf[-1], str) and leaf[-1].lower().endswith("url")


def _named(card: JSONObject) -> list[Path]:
    """Return the places of names that somebody chose: of security schemes and of scopes."""
    found: list[Path] = []
    for leaf in leaves(card):
        if leaf[:1] == ("securitySchemes",) and len(leaf) > 1:
            found.append(leaf[:2])
            if "scopes" in leaf[:-1]:
                found.append(leaf[: leaf.index("scopes") + 2])
    return list(dict.fromkeys(found))


def _place(leaf: Path) -> str:
    """Return the pointer to a member, without what in its names is credential-shaped."""
    return redact(f"#{pointer(*leaf)}")


def _unnamed(message: str) -> str:
    """Return a message about a leak without the name that leaked."""
    return message.partition(" (`")[0]


def _private(agent: AgentProfile) -> Private:
    private = private_of(agent)
    names = public_names(public_part(agent.value))
    hosts = frozenset(host(name) for name in names) | private.public_hosts
    return dataclasses.replace(private, public_names=names, public_hosts=hosts)
