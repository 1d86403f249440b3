"""What a conversion may be told that a document does not say, by the options of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agentsuite_converters.places import Path
    from hatch_agentsuite.documents import JSONValue

MEMBERS: Final[Mapping[str, Path]] = {
    "identifier": ("identifier",),
    "name": ("name",),
    "description": ("description",),
    "agent-version": ("version",),
    "publisher": ("publisher", "name"),
    "endpoint": ("endpoint", "url"),
    "goal": ("goals",),
    "tag": ("tags",),
    "category": ("categories",),
    "language": ("languages",),
    "capability": ("capabilities",),
    "card-version": ("version",),
    "provider": ("publisher", "name"),
    "provider-url": ("publisher", "url"),
    "input-mode": ("inputModes",),
    "output-mode": ("outputModes",),
    "documentation-url": ("documentationUrl",),
    "icon-url": ("iconUrl",),
    "streaming": ("features", "streaming"),
    "push-notifications": ("features", "pushNotifications"),
}
"""The member of the profile that each option fills."""


class SupplyError(ValueError):
    """An option has a value that it cannot have."""


def supplies(values: Mapping[str, str | bool | Sequence[str] | None]) -> dict[Path, tuple[JSONValue, str]]:
    """Return the members that options fill, each with the option's name; raises :class:`SupplyError`."""
    found: dict[Path, tuple[JSONValue, str]] = {}
    for name, given in values.items():
        if given:
            found[MEMBERS[name]] = (_value(name, given), f"--{name}")
    return found


def _value(name: str, given: str | bool | Sequence[str]) -> JSONValue:
    if isinstance(given, (str, bool)):
        return given
    return [_capability(item) if name == "capability" else item for item in given]


def _capability(written: str) -> JSONValue:
    identifier, separator, description = written.partition("=")
    if not (separator and identifier.strip() and description.strip()):
        raise SupplyError(f"`{written}` is not ID=DESCRIPTION")
    return {"id": identifier, "description": description, "visibility": "public"}
