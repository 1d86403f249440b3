"""Identifiers of a suite made from identifiers of other formats."""

from __future__ import annotations

import hashlib
import re

from hatch_agentsuite.configuration import is_identifier

_MOST = 64
_BAD = re.compile(r"[^a-z0-9._-]+")


def agent_slug(identifier: str) -> str:
    """Return the agent id for an identifier of another format; it depends on that identifier alone.

    Of a URI the last part counts: ``https://agents.example.org/customer-support`` gives ``customer-support``. Letters
    become lower case, runs of other characters ``-``. What leaves nothing, or too much, gives ``agent-<hash>``.
    """
    last = identifier
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", identifier):
        last = re.split(r"[/:]", re.split(r"[?#]", identifier, maxsplit=1)[0].rstrip("/:"))[-1]
    slug = _BAD.sub("-", last.lower()).strip("-._")
    return slug if slug and len(slug) <= _MOST else f"agent-{_hash(identifier)}"


def server_slug(identifier: str) -> str:
    """Return the part of a ToolProvider's id that stands for a server: its own id, or a slug with a hash."""
    if is_identifier(identifier) and len(identifier) <= _MOST:
        return identifier
    slug = _BAD.sub("-", identifier.lower()).strip("-._")[: _MOST - 9]
    return f"{slug}-{_hash(identifier)}" if slug else f"server-{_hash(identifier)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
