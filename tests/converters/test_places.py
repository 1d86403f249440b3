"""Places in a JSON value: leaves, what stands at a path, equality as JSON has it, JSON pointers (RFC 6901)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsuite_converters.places import ABSENT, at_path, leaves, parse_pointer, put, remove, same, value_at
from hatch_agentsuite.findings import pointer
from tests.converters.agents import VALUES

RUN = settings(max_examples=80, deadline=None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, [()]),
        ({}, [()]),
        ([], [()]),
        ({"a": {}, "b": [], "c": 0}, [("a",), ("b",), ("c",)]),
        ([[], {"a": [1, None]}], [(0,), (1, "a", 0), (1, "a", 1)]),
        ({"": {"": False}}, [("", "")]),
    ],
)
def test_leaves_are_scalars_and_empty_containers(value: Any, expected: Any) -> None:
    assert list(leaves(value)) == expected


@RUN
@given(VALUES)
def test_a_value_is_its_leaves(value: Any) -> None:
    """Every leaf is found again by its path and by its pointer, and together they are the value."""
    rebuilt: dict[str, Any] = {}
    for leaf in leaves(value):
        assert at_path(value, leaf) is value_at(value, leaf)
        assert parse_pointer(pointer(*leaf), value) == leaf
        assert put(rebuilt, ("root", *leaf), value_at(value, leaf))
    assert same(rebuilt["root"], value)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("a", 0), 1),
        (("a", 1), ABSENT),
        (("a", "0"), ABSENT),
        (("o", "0"), "digit"),
        (("o", 0), ABSENT),
        (("n",), None),
        (("n", "x"), ABSENT),
        (("s", 0), ABSENT),
        (("z",), ABSENT),
    ],
)
def test_a_position_is_none_in_an_object_nor_a_name_in_a_list(path: Any, expected: Any) -> None:
    value: Any = {"a": [1], "o": {"0": "digit"}, "n": None, "s": "text"}
    assert at_path(value, path) == expected


@pytest.mark.parametrize(
    ("root", "path", "expected"),
    [
        ({}, ("a", "b"), {"a": {"b": 7}}),
        ({}, ("a", 0, "b"), {"a": [{"b": 7}]}),
        ({"a": [1]}, ("a", 1), {"a": [1, 7]}),
        ({"a": [1]}, ("a", 0), {"a": [7]}),
        ({"a": [1]}, ("a", 2), None),
        ({}, ("a", 1), None),
        ({"a": "text"}, ("a", "b"), None),
        ({"a": None}, ("a", "b"), None),
        ({"a": []}, ("a", "0"), None),
        ({"a": {}}, ("a", 0), None),
        ({"a": {"0": 1}}, ("a", "0"), {"a": {"0": 7}}),
    ],
)
def test_a_value_is_put_where_there_is_a_place_for_it(root: Any, path: Any, expected: Any) -> None:
    assert put(root, path, 7) is (expected is not None)
    assert expected is None or root == expected


@pytest.mark.parametrize(
    ("root", "path", "expected"),
    [
        ({"a": 1, "b": 2}, ("a",), {"b": 2}),
        ({"a": {"b": 1}}, ("a", "b"), {"a": {}}),
        ({"a": 1}, ("b",), {"a": 1}),
        ({"a": [1]}, ("a", 0), {"a": [1]}),
        ({"a": 1}, ("x", "y"), {"a": 1}),
    ],
)
def test_a_member_is_removed(root: Any, path: Any, expected: Any) -> None:
    remove(root, path)
    assert root == expected


EQUAL: list[tuple[Any, Any]] = [
    (1, 1.0), (0, -0.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}), ([], []), (None, None), (ABSENT, ABSENT)
]  # fmt: skip
UNEQUAL: list[tuple[Any, Any]] = [
    (1, True), (0, False), (0, None), ("", None), ([], {}), ([1], [True]), ({"a": 0}, {"a": False}), ({"a": 1}, {}),
    ([1, 2], [2, 1]), ([1], [1, 1]), ("1", 1), (None, ABSENT),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_as_json(one: Any, other: Any) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(("one", "other"), UNEQUAL)
def test_unequal_as_json(one: Any, other: Any) -> None:
    assert not same(one, other)
    assert not same(other, one)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("/", ("",)),
        ("/a~1b", ("a/b",)),
        ("/a~0b", ("a~b",)),
        ("/~01", ("~1",)),
        ("/list/0", ("list", 0)),
        ("/list/10", ("list", 10)),
        ("/object/0", ("object", "0")),
        ("/list/-", ("list", "-")),
        ("/list/٣", ("list", "٣")),
        ("/list/²", ("list", "²")),
        ("/absent/0", ("absent", "0")),
        ("/list/0/0", ("list", 0, "0")),
    ],
)
def test_a_pointer_is_read_by_the_value_that_it_points_into(text: str, expected: Any) -> None:
    assert parse_pointer(text, {"list": [1], "object": {"0": 1}}) == expected


@RUN
@given(st.lists(st.text(st.sampled_from("~/01a"), max_size=4), min_size=1, max_size=3))
def test_any_names_make_a_pointer_and_back(names: list[str]) -> None:
    root: dict[str, Any] = {}
    assert put(root, tuple(names), 1)
    assert parse_pointer(pointer(*names), root) == tuple(names)
