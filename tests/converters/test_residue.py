"""What the profile has no member for is kept as the difference between two documents, and put back exactly."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsuite_converters.places import at_path, parse_pointer, same
from agentsuite_converters.residue import difference, restore
from tests.converters.agents import NAMES, VALUES

OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
RUN = settings(max_examples=150, deadline=None)


def restored(document: Any, records: Any) -> tuple[Any, list[bool]]:
    """Return a document with the records put back, and whether each value found its place."""
    changed = copy.deepcopy(document)
    return changed, [is_done for _, _, is_done in restore(changed, records)]


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two objects with much in common, as what the profile gives and what was imported have."""
    base = draw(OBJECTS)
    return tuple({**copy.deepcopy(base), **draw(OBJECTS)} for _ in range(2))  # type: ignore[return-value]


@RUN
@given(st.tuples(OBJECTS, OBJECTS) | neighbours())
def test_the_difference_turns_one_document_into_the_other(pair: Any) -> None:
    given_, wanted = pair
    before = copy.deepcopy(pair)
    outcome, done = restored(given_, list(difference(given_, wanted)))
    assert same(outcome, wanted)
    assert all(done)
    assert same(list(pair), list(before)), "a difference changes neither"


@RUN
@given(neighbours())
def test_no_record_can_be_spared(pair: Any) -> None:
    """Records are minimal: each says something that is not so without it, and no two speak of one place."""
    given_, wanted = pair
    records = list(difference(given_, wanted))
    for number, record in enumerate(records):
        outcome, _ = restored(given_, records[:number] + records[number + 1 :])
        assert not same(outcome, wanted), record
    places = [record["at"] for record in records]
    assert not any(one != other and str(other).startswith(f"{one}/") for one in places for other in places)


@RUN
@given(neighbours())
def test_records_are_json_that_survives_a_change_of_nothing(pair: Any) -> None:
    given_, wanted = pair
    for record in difference(given_, wanted):
        assert record.keys() in ({"at", "value"}, {"at", "absent"})
        found = at_path(wanted, parse_pointer(str(record["at"]), wanted))
        assert "absent" in record or same(found, record["value"])
    assert list(difference(wanted, wanted)) == []


DIFFERENCES: list[tuple[Any, Any, Any]] = [
    ({}, {}, []),
    ({"a": 1}, {"a": 1.0}, []),
    ({"a": 1}, {"a": True}, [{"at": "/a", "value": True}]),
    ({"a": False}, {"a": 0}, [{"at": "/a", "value": 0}]),
    ({"a": 1}, {}, [{"at": "/a", "absent": True}]),
    ({}, {"a": None}, [{"at": "/a", "value": None}]),
    ({"a": None}, {}, [{"at": "/a", "absent": True}]),
    ({}, {"~": 1, "/": 2, "~1": 3}, [{"at": "/~1", "value": 2}, {"at": "/~0", "value": 1}, {"at": "/~01", "value": 3}]),
    ({"0": {}}, {"0": {"0": 1}}, [{"at": "/0/0", "value": 1}]),
    ({}, {"": {"": []}}, [{"at": "/", "value": {"": []}}]),
    ({"a": [1, 2]}, {"a": [1, 3]}, [{"at": "/a/1", "value": 3}]),
    ({"a": [1, 2]}, {"a": [1]}, [{"at": "/a", "value": [1]}]),
    ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": {}}]}, [{"at": "/a/0/c", "value": {}}]),
    ({"a": {}}, {"a": []}, [{"at": "/a", "value": []}]),
    ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, [{"at": "/a/b", "absent": True}, {"at": "/a/c", "value": 3}]),
]


@pytest.mark.parametrize(("given_", "wanted", "records"), DIFFERENCES)
def test_records_name_the_largest_part_that_differs(given_: Any, wanted: Any, records: Any) -> None:
    assert list(difference(given_, wanted)) == records


LOST: list[tuple[Any, Any, Any, list[bool]]] = [
    ({"a": 1}, {"at": "/a/b", "value": 1}, {"a": 1}, [False]),
    ({"a": [1]}, {"at": "/a/2", "value": 3}, {"a": [1]}, [False]),
    ({"a": [1]}, {"at": "/a/x", "value": 3}, {"a": [1]}, [False]),
    ({"a": 1}, {"at": "/b", "absent": True}, {"a": 1}, []),
    ({"a": [1]}, {"at": "/a/0", "absent": True}, {"a": [1]}, []),
    ({"a": 1}, {"at": "", "value": 3}, {"a": 1}, []),
    ({"a": 1}, {"at": "/a"}, {"a": 1}, []),
    ({"a": 1}, "no record", {"a": 1}, []),
]


@pytest.mark.parametrize(("document", "record", "expected", "done"), LOST)
def test_a_record_that_lost_its_place_changes_nothing_and_says_so(
    document: Any, record: Any, expected: Any, done: list[bool]
) -> None:
    assert restored(document, [record]) == (expected, done)


@pytest.mark.parametrize("records", [None, {}, "text", 3])
def test_what_is_no_list_of_records_changes_nothing(records: Any) -> None:
    assert restored({"a": 1}, records) == ({"a": 1}, [])
