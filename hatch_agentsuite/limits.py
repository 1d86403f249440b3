"""The bounds that untrusted input is held to, with the specification's values as defaults (section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hatch_agentsuite.jsondoc import MAX_DEPTH, JSONLimits

_TREE_NAMES = {
    "entries": "entries",
    "expanded-bytes": "expanded_bytes",
    "metadata-bytes": "metadata_bytes",
    "index-descriptors": "index_descriptors",
    "index-bytes": "index_bytes",
}
_JSON_NAMES = {
    "document-bytes": "document_bytes",
    "document-depth": "depth",
    "object-members": "object_members",
    "document-members": "document_members",
}
NAMES = (*_TREE_NAMES, *_JSON_NAMES)
"""What people call the limits."""


@dataclass(frozen=True)
class Limits:
    """Counts and sizes in bytes; whatever exceeds one is refused before memory or disk is spent on it."""

    json: JSONLimits = field(default_factory=JSONLimits)
    entries: int = 100_000
    expanded_bytes: int = 4 * 1024**3
    metadata_bytes: int = 256 * 1024**2
    index_descriptors: int = 1_000
    index_bytes: int = 1024**3


DEFAULT_LIMITS = Limits()


class LimitsError(ValueError):
    """Everything that is wrong with limits that somebody wrote, one text each."""

    def __init__(self, errors: list[str]) -> None:
        self.errors = errors
        super().__init__("; ".join(errors))


def parse_limits(values: Any) -> Limits:
    """Return the defaults, changed by an object that names limits (``{"document-depth": 50}``).

    Raises :class:`LimitsError` with every mistake at once.
    """
    if not isinstance(values, Mapping):
        raise LimitsError(["limits are an object of names and numbers"])
    errors = [fault for name, value in values.items() if (fault := _fault(name, value))]
    if errors:
        raise LimitsError(errors)
    tree = {_TREE_NAMES[name]: value for name, value in values.items() if name in _TREE_NAMES}
    json = {_JSON_NAMES[name]: value for name, value in values.items() if name in _JSON_NAMES}
    return Limits(JSONLimits(**json), **tree)


def _fault(name: str, value: object) -> str | None:
    if name not in NAMES:
        return f"`{name}` is no limit; the limits are {', '.join(NAMES)}"
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        return f"`{name}` must be a positive integer"
    if name == "document-depth" and value > MAX_DEPTH:
        return f"`{name}` can be at most {MAX_DEPTH}"
    return None
