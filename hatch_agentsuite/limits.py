"""The bounds that untrusted input is held to, with the specification's values as defaults (section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

from hatch_agentsuite.jsondoc import JSONLimits


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
