"""Places in a JSON value: leaves, what stands at a path, and equality as JSON has it."""

from __future__ import annotations

import itertools
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hatch_agentsuite.documents import JSONValue

Path = tuple["str | int", ...]


class Absence(Enum):
    """The type of :data:`ABSENT`."""

    ABSENT = "absent"


ABSENT: Final = Absence.ABSENT
"""What stands where nothing stands; JSON's ``null`` is a value."""


def leaves(value: JSONValue, at: Path = ()) -> Iterator[Path]:
    """Yield the paths of all leaves in order: scalars, and containers that are empty."""
    members = _members(value)
    if not members:
        yield at
    for token, member in members:
        yield from leaves(member, (*at, token))


def at_path(value: JSONValue, path: Path) -> JSONValue | Absence:
    """Return what stands at a path, :data:`ABSENT` where nothing does."""
    for token in path:
        inside = _inside(value, token)
        if inside is ABSENT:
            return ABSENT
        value = inside
    return value


def put(root: JSONValue, path: Path, value: JSONValue) -> bool:
    """Put a value at a path, making the objects and lists on the way; return whether there was a place for it.

    A list grows by one item at its end, never by more, and no value on the way is replaced.
    """
    holder = root
    for token, following in itertools.pairwise(path):
        inside = _inside(holder, token)
        if inside is ABSENT:
            fresh: JSONValue = [] if isinstance(following, int) else {}
            if not _set(holder, token, fresh):
                return False
            inside = fresh
        holder = inside
    return _set(holder, path[-1], value)


def remove(root: JSONValue, path: Path) -> None:
    """Remove the member of an object that a path names, if it is there."""
    holder = at_path(root, path[:-1])
    if isinstance(holder, dict):
        holder.pop(str(path[-1]), None)


def same(one: JSONValue | Absence, other: JSONValue | Absence) -> bool:
    """Whether two values are equal as JSON: ``1`` is ``1.0``, and neither is ``true``."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(*pair) for pair in zip(one, other, strict=True))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def parse_pointer(text: str, root: JSONValue) -> Path:
    """Return the path that a JSON pointer (RFC 6901) names in a value; digits are a position only in a list."""
    path: list[str | int] = []
    holder: JSONValue | Absence = root
    for raw in text.split("/")[1:]:
        name = raw.replace("~1", "/").replace("~0", "~")
        token: str | int = int(name) if isinstance(holder, list) and name.isascii() and name.isdecimal() else name
        holder = ABSENT if holder is ABSENT else at_path(holder, (token,))
        path.append(token)
    return tuple(path)


def _inside(value: JSONValue, token: str | int) -> JSONValue | Absence:
    if isinstance(value, dict):
        return value.get(token, ABSENT) if isinstance(token, str) else ABSENT
    if isinstance(value, list) and isinstance(token, int) and token < len(value):
        return value[token]
    return ABSENT


def _set(holder: JSONValue, token: str | int, value: JSONValue) -> bool:
    if isinstance(holder, dict) and isinstance(token, str):
        holder[token] = value
        return True
    if isinstance(holder, list) and isinstance(token, int) and token <= len(holder):
        holder[token : token + 1] = [value]
        return True
    return False


def _members(value: JSONValue) -> list[tuple[str | int, JSONValue]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def value_at(root: JSONValue, leaf: Path) -> JSONValue:
    """Return the value of a leaf that :func:`leaves` gave."""
    for token in leaf:
        root = root[token]  # type: ignore[index]
    return root
