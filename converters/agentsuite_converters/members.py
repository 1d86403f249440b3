"""Looking into a document whose shape may be wrong: what is not as expected is passed over.

The schema reports the shape. Rules look at what is there, so that independent faults are found in one run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hatch_agentsuite.documents import JSONObject, JSONValue


def text(holder: JSONObject, name: str) -> str:
    """Return the text of a member, ``""`` where there is none."""
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def member(holder: JSONObject, name: str) -> JSONObject:
    """Return the object that a member is, an empty one where there is none."""
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def items(holder: JSONObject, name: str) -> list[JSONValue]:
    """Return the list that a member is, an empty one where there is none."""
    value = holder.get(name)
    return value if isinstance(value, list) else []


def objects(holder: JSONObject, name: str) -> Iterator[tuple[int, JSONObject]]:
    """Yield the objects of a list with their positions."""
    for position, item in enumerate(items(holder, name)):
        if isinstance(item, dict):
            yield position, item


def texts(holder: JSONObject, name: str) -> Iterator[tuple[int, str]]:
    """Yield the text of a list with its positions."""
    for position, item in enumerate(items(holder, name)):
        if isinstance(item, str):
            yield position, item


def repeated(values: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str, int]]:
    """Yield every value that stood before, with its position and the first one."""
    first: dict[str, int] = {}
    for position, value in values:
        if value and first.setdefault(value, position) != position:
            yield position, value, first[value]


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return the first of some names as a person reads them."""
    found = sorted(set(names))
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return (", ".join(f"`{name[:80]}`" for name in found[:most]) + more) or "none"
