"""Tables that say which member of a format is which member of the agent profile, read in both directions.

    Move("agent/name", "name")                                    the same value, both ways
    Move("advertise", "visibility", read=_visible, write=_said)   derived, both ways
    Each("mcpServers", "servers", (Move("id", "id"), ...))        the items of a list, by a table of their own

A place is member names joined by ``/``. Every step that is taken is written down, so that it can be told of each leaf
of a document where it went.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from agentsuite_converters.places import ABSENT, Absence, Path, at_path, put, same

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject, JSONValue

Codec = Callable[["JSONValue"], "JSONValue | Absence"]
"""Turns a value of one side into one of the other, or into :data:`ABSENT` where the other side cannot say it."""


def keep(value: JSONValue) -> JSONValue:
    """Return the value itself."""
    return value


@dataclass(frozen=True)
class Move:
    """One member of a format and its home in the profile.

    ``read`` turns the format's value into the profile's, ``write`` the other way; None means never. Where several moves
    could fill one place, the first one does. ``note`` says how a value is derived, or which values are meant.
    ``unless`` and ``given`` name members of the profile: this move is not written where the first one is there, or the
    second is not. ``partial`` says that a derived value holds only part of what it came from.
    """

    foreign: str
    hub: str
    read: Codec | None = keep
    write: Codec | None = keep
    note: str = ""
    unless: str = ""
    given: str = ""
    partial: bool = False


@dataclass(frozen=True)
class Each:
    """A list of objects and its home in the profile, item by item.

    ``where`` returns why an item of the profile is not written, ``""`` where it is. ``defaults`` are members that an
    item of the format must have and that the profile may not know; ``imposed`` members that the profile must have.
    """

    foreign: str
    hub: str
    moves: tuple[Move, ...]
    where: Callable[[JSONObject], str] | None = None
    defaults: Mapping[str, JSONValue] = field(default_factory=dict)
    imposed: Mapping[str, JSONValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """All members of a format, in the order in which they are written; ``constants`` are what every document says."""

    rows: tuple[Move | Each, ...]
    constants: Mapping[str, JSONValue] = field(default_factory=dict)
    defaults: Mapping[str, JSONValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """What stood at one place and everything below it went to another.

    ``note`` is None where it went as it was, leaf by leaf, else how it was derived; ``partial`` where some of it was.
    """

    source: Path
    target: Path
    note: str | None = None
    partial: bool = False


@dataclass
class Passage:
    """The outcome of a table: the other side's value, the steps taken, what was refused and what was supplied.

    ``refused`` has places of the source with the reason; ``supplied`` places of the outcome that no source filled;
    ``items`` pairs of an item here and the item that it became, ``taken`` the places of the source that a move took,
    ``implied`` those that say no more than what the outcome means without them.
    """

    value: JSONObject = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    refused: dict[Path, str] = field(default_factory=dict)
    supplied: dict[Path, str] = field(default_factory=dict)
    items: list[tuple[Path, Path]] = field(default_factory=list)
    taken: set[Path] = field(default_factory=set)
    implied: set[Path] = field(default_factory=set)


@cache
def place(text: str) -> Path:
    """Return the path that a table's place names; digits are a position in a list."""
    return tuple(int(part) if part.isdecimal() else part for part in text.split("/"))


def read(table: Table, document: JSONObject) -> Passage:
    """Return what the profile can say of a document."""
    passage = Passage()
    for row in table.rows:
        if isinstance(row, Each):
            _read_items(passage, row, document)
        elif row.read:
            _pass(passage, document, place(row.foreign), place(row.hub), row.read, row)
    for name, value in table.constants.items():
        if same(at_path(document, place(name)), value):
            passage.refused[place(name)] = "it names the format itself"
    return passage


def write(table: Table, hub: JSONObject) -> Passage:
    """Return what a format can say of a profile."""
    passage = Passage()
    for name, value in table.constants.items():
        put(passage.value, place(name), copy.deepcopy(value))
        passage.supplied[place(name)] = "what every document of the format says"
    for row in table.rows:
        if isinstance(row, Each):
            _write_items(passage, row, hub)
        elif row.write and _is_due(row, hub):
            _pass(passage, hub, place(row.hub), place(row.foreign), row.write, row)
    for name, value in table.defaults.items():
        _default(passage, place(name), value)
    return passage


def imposed(table: Table, hub: JSONObject) -> dict[Path, bool]:
    """Return the places of all members that reading imposes on items, and whether they have the imposed value."""
    found = {}
    for row in table.rows:
        for name, value in row.imposed.items() if isinstance(row, Each) else ():
            for number in range(_length(hub, place(row.hub))):
                path = (*place(row.hub), number, *place(name))
                found[path] = same(at_path(hub, path), value)
    return found


def _is_due(move: Move, hub: JSONObject) -> bool:
    if move.unless and at_path(hub, place(move.unless)) is not ABSENT:
        return False
    return not move.given or at_path(hub, place(move.given)) is not ABSENT


def _read_items(passage: Passage, row: Each, document: JSONObject) -> None:
    for source, _ in _listed(passage, document, place(row.foreign), place(row.hub)):
        target = (*place(row.hub), _length(passage.value, place(row.hub)))
        put(passage.value, target, {})
        passage.items.append((source, target))
        for move in row.moves:
            if move.read:
                home, there = (*source, *place(move.foreign)), (*target, *place(move.hub))
                _pass(passage, document, home, there, move.read, move)
        for name, value in row.imposed.items():
            _default(passage, (*target, *place(name)), value)


def _write_items(passage: Passage, row: Each, hub: JSONObject) -> None:
    for source, item in _listed(passage, hub, place(row.hub), place(row.foreign)):
        reason = row.where(item) if row.where else ""
        if reason:
            passage.refused[source] = reason
            continue
        target = (*place(row.foreign), _length(passage.value, place(row.foreign)))
        put(passage.value, target, {})
        passage.items.append((source, target))
        for move in row.moves:
            if move.write:
                home, there = (*source, *place(move.hub)), (*target, *place(move.foreign))
                _pass(passage, hub, home, there, move.write, move)
        for name, value in row.defaults.items():
            _default(passage, (*target, *place(name)), value)


def _listed(passage: Passage, root: JSONObject, source: Path, target: Path) -> Iterator[tuple[Path, JSONObject]]:
    """Yield the objects of a list; an empty list goes over as it is."""
    found = at_path(root, source)
    if found == [] and put(passage.value, target, []):
        passage.steps.append(Step(source, target))
    for position, item in enumerate(found if isinstance(found, list) else []):
        if isinstance(item, dict):
            yield (*source, position), item


def _pass(passage: Passage, root: JSONObject, source: Path, target: Path, codec: Codec, move: Move) -> None:
    value = at_path(root, source)
    if value is ABSENT:
        return
    turned = codec(value)
    if turned is ABSENT:
        if source not in passage.taken:
            passage.refused.setdefault(source, move.note)
        return
    there = at_path(passage.value, target)
    if there is not ABSENT and not same(there, turned):
        return
    if there is ABSENT and not put(passage.value, target, copy.deepcopy(turned)):
        return
    passage.taken.add(source)
    passage.refused.pop(source, None)
    unchanged = same(value, turned)
    passage.steps.append(Step(source, target, None if unchanged else move.note, move.partial and not unchanged))


def _default(passage: Passage, target: Path, value: JSONValue) -> None:
    if at_path(passage.value, target) is ABSENT and put(passage.value, target, copy.deepcopy(value)):
        passage.supplied[target] = "the default"


def _length(root: JSONObject, path: Path) -> int:
    found = at_path(root, path)
    return len(found) if isinstance(found, list) else 0
