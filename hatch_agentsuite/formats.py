"""Formats in which agents are written elsewhere, found through the entry-point group ``agentsuite.converters``.

The core knows none of them: whoever installs a package with an entry point of that group adds one, under the entry
point's name.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hatch_agentsuite.findings import Finding

GROUP = "agentsuite.converters"


class Format(Protocol):
    """What an entry point leads to."""

    def check_file(self, path: Path) -> Sequence[Finding]:
        """Judge one document by the format's own rules; locations begin with the path."""


class UnknownFormatError(LookupError):
    """No installed package offers a format of that name, or the one that does cannot be loaded."""


def names() -> list[str]:
    """Return the names of the formats that are installed, sorted; none of them is imported."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def find(name: str) -> Format:
    """Return a format by name; raises :class:`UnknownFormatError`."""
    for entry in entry_points(group=GROUP, name=name):
        try:
            found: Format = entry.load()
        except (ImportError, AttributeError) as error:
            raise UnknownFormatError(f"the format `{name}` cannot be loaded: {error}") from error
        return found
    known = ", ".join(names()) or "none is installed"
    raise UnknownFormatError(f"no format is called `{name}`; known formats: {known}")
