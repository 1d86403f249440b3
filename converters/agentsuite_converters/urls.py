"""What a URL may be that an agent is called at, or calls."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_URL = re.compile(r"[!#$&-;=?-Z_a-z~\[\]%]+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


@dataclass(frozen=True)
class URLFault:
    """What is wrong with a URL, in words that follow "the endpoint"; a message never repeats credentials."""

    message: str
    hint: str = ""
    is_error: bool = True


def is_spelled(url: str) -> bool:
    """Whether a text holds only what a URL may, in ASCII."""
    return _URL.fullmatch(url) is not None


def scheme(reference: str) -> str:
    """Return the scheme of a URI reference in lower case, ``""`` for a relative one."""
    match = _SCHEME.match(reference)
    return match[1].lower() if match else ""


def host(url: str) -> str:
    """Return the host that an absolute URL names, in lower case, ``""`` where it names none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def has_credentials(url: str) -> bool:
    """Whether the authority of a URL holds a user name or password."""
    authority = re.match(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//([^/?#]*)", url)
    return authority is not None and "@" in authority[1]


def endpoint_fault(url: str) -> URLFault | None:
    """Return what is wrong with an absolute URL over which others are called, or None.

    It is ``https``; plain ``http`` is a warning where it does not leave the machine.
    """
    if has_credentials(url):
        return URLFault("holds a user name or password", "credentials are given by the runtime, never in a document")
    hint = "write an absolute URL such as https://agents.example.org/mcp"
    kind = scheme(url)
    if kind not in {"https", "http"}:
        return URLFault("is not an absolute https URL", hint)
    name = host(url)
    try:
        port = urlsplit(url).port
    except ValueError:
        port = -1
    if not is_spelled(url) or not url[len(kind) :].startswith("://") or not name or port in {-1, 0}:
        return URLFault("is not a valid URL", hint)
    if kind == "https":
        return None
    if is_loopback(name):
        return URLFault("is plain http on this machine, which nobody else can reach", "publish an https URL", False)
    return URLFault("is plain http, which anybody on the way can read and change", "use https")


def is_loopback(name: str) -> bool:
    """Whether a host is this machine by its very name or number."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
