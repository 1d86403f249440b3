"""What became of every leaf of a document: carried, derived or dropped; and what nobody wrote but the outcome says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentsuite_converters.places import leaves
from hatch_agentsuite.findings import pointer

if TYPE_CHECKING:
    from agentsuite_converters.mapping import Passage, Step
    from agentsuite_converters.places import Path
    from agentsuite_converters.profile import AgentProfile
    from hatch_agentsuite.documents import JSONObject


@dataclass(frozen=True)
class Derived:
    """A leaf whose value was turned into something else, at a place of the outcome."""

    source: str
    target: str
    reason: str


@dataclass(frozen=True)
class Note:
    """A place, as a JSON pointer, and what is to be said of it."""

    place: str
    reason: str


@dataclass(frozen=True)
class Report:
    """Each leaf of the source, empty containers included, in exactly one of the first three lists.

    ``carried`` are pairs of pointers; ``supplied`` the members of the outcome that the source did not say.
    """

    carried: tuple[tuple[str, str], ...] = ()
    derived: tuple[Derived, ...] = ()
    dropped: tuple[Note, ...] = ()
    supplied: tuple[Note, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the machine form."""
        return {
            "carried": [{"source": source, "target": target} for source, target in self.carried],
            "derived": [vars(item) for item in self.derived],
            "dropped": [vars(item) for item in self.dropped],
            "supplied": [vars(item) for item in self.supplied],
        }


@dataclass(frozen=True)
class _Arrival:
    place: Path
    note: str | None
    partial: bool


class Route:
    """The steps of a passage, looked up by where they begin."""

    def __init__(self, steps: Iterable[Step], refused: Mapping[Path, str]) -> None:
        self._steps: dict[Path, list[Step]] = {}
        for step in steps:
            self._steps.setdefault(step.source, []).append(step)
        self._refused = refused

    def follow(self, leaf: Path) -> list[_Arrival]:
        """Return where a leaf went."""
        found = []
        for length in range(len(leaf), -1, -1):
            for step in self._steps.get(leaf[:length], ()):
                place = step.target if step.note is not None else (*step.target, *leaf[length:])
                found.append(_Arrival(place, step.note, step.partial))
        return found

    def reason(self, leaf: Path) -> str:
        """Return why a leaf went nowhere, ``""`` where nothing is known."""
        return next((why for end in range(len(leaf), 0, -1) if (why := self._refused.get(leaf[:end]))), "")


def report(
    source: JSONObject, target: JSONObject, first: Passage | None, second: Passage, agent: AgentProfile, to: str
) -> Report:
    """Return the report of a conversion in two passages, from a format to the profile and on to the format ``to``.

    Without a first passage ``source`` is the profile itself, as it was before anything was supplied.
    """
    way = Route(second.steps, second.refused)
    entry = Route(first.steps, first.refused) if first else None
    carried, derived, dropped = [], [], []
    reached: set[Path] = set()
    for leaf in leaves(source):
        if first is None and is_kept(leaf) and leaf[-1] in {"at", "absent"}:
            continue  # where a record belongs, and nothing that anybody said
        arrivals, why = _arrivals(leaf, entry, way, agent)
        reached.update(arrival.place for arrival in arrivals)
        whole = [arrival for arrival in arrivals if not arrival.partial]
        exact = next((arrival for arrival in whole if arrival.note is None), None)
        place = pointer(*leaf)
        if exact:
            carried.append((place, pointer(*exact.place)))
        elif whole:
            derived.append(Derived(place, pointer(*whole[0].place), whole[0].note or ""))
        else:
            reason = next((arrival.note for arrival in arrivals if arrival.note), why)
            dropped.append(Note(place, reason or f"{to} has no member for it"))
    supplied = tuple(_supplied(target, reached, second, agent.supplied))
    return Report(tuple(carried), tuple(derived), tuple(dropped), supplied)


def is_kept(place: Path) -> bool:
    """Whether a place of a profile is in a record of what a format says, of the whole or of an item of a list."""
    return place[:1] == ("foreign",) or (len(place) > 2 and isinstance(place[1], int) and place[2] == "foreign")


def _arrivals(leaf: Path, entry: Route | None, way: Route, agent: AgentProfile) -> tuple[list[_Arrival], str]:
    found = []
    why = entry.reason(leaf) if entry else ""
    for middle in entry.follow(leaf) if entry else [_Arrival(leaf, None, False)]:
        replacement = next((agent.supplied[path] for path in agent.replaced if middle.place[: len(path)] == path), "")
        if replacement:
            why = f"replaced by {replacement}"
            continue
        why = why or way.reason(middle.place)
        found += [
            _Arrival(end.place, middle.note or end.note, middle.partial or end.partial)
            for end in way.follow(middle.place)
        ]
    return found, why


def _supplied(target: JSONObject, reached: set[Path], passage: Passage, given: Mapping[Path, str]) -> Iterable[Note]:
    """Yield every leaf of the outcome that no leaf of the source reached, with who said it instead."""
    ends = {step.target: step.source for step in passage.steps}
    for leaf in leaves(target):
        prefixes = [leaf[:length] for length in range(len(leaf), 0, -1)]
        if not reached.isdisjoint(prefixes):
            continue
        reason = next((passage.supplied[prefix] for prefix in prefixes if prefix in passage.supplied), "")
        if not reason:
            home = next((ends[prefix] for prefix in prefixes if prefix in ends), ())
            reason = next((given[home[:end]] for end in range(len(home), 0, -1) if home[:end] in given), "")
            reason = reason or f"from {pointer(*home)} of the agent's profile"
        yield Note(pointer(*leaf), reason)
