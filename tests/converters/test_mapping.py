"""Tables of moves, read in both directions, with an account of every step: a table of this test's own."""

from __future__ import annotations

from typing import Any

import pytest

from agentsuite_converters.mapping import Each, Move, Passage, Step, Table, place, read, write
from agentsuite_converters.places import ABSENT


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) and value.isalpha() else ABSENT


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) and value.isalpha() else ABSENT


def _initial(value: Any) -> Any:
    return value[:1]


def _hidden(item: Any) -> str:
    return "it is hidden" if item.get("hidden") else ""


TABLE = Table(
    constants={"format": "t", "deep/version": 1},
    rows=(
        Move("title", "name"),
        Move("mirror/title", "name"),
        Move("shout", "whisper", read=_lower, write=_upper, note="letters only"),
        Move("initial", "word", read=None, write=_initial, note="the first letter", partial=True),
        Move("first", "one"),
        Move("second", "one", read=None, write=None),
        Move("fallback", "spare", read=None, unless="one", note="where there is no first"),
        Move("bonus", "extra", given="one"),
        Each(
            "parts",
            "items",
            (Move("key", "id"), Move("loud", "quiet", read=_lower, write=_upper, note="letters only")),
            where=_hidden,
            defaults={"kind": "plain"},
            imposed={"owner": "nobody"},
        ),
    ),
    defaults={"list": []},
)


def steps(passage: Passage) -> set[tuple[Any, ...]]:
    return {(step.source, step.target, step.note, step.partial) for step in passage.steps}


CONSTANT = {"format": "t", "deep": {"version": 1}}

READ: list[tuple[Any, Any]] = [
    ({}, {}),
    ({"title": "a"}, {"name": "a"}),
    ({"mirror": {"title": "a"}}, {"name": "a"}),
    ({"title": "a", "mirror": {"title": "b"}}, {"name": "a"}),
    ({"shout": "ABC"}, {"whisper": "abc"}),
    ({"shout": "A1"}, {}),
    ({"initial": "a", "fallback": 1, "second": 2}, {}),
    ({"first": None}, {"one": None}),
    ({"parts": []}, {"items": []}),
    ({"parts": {}}, {}),
    ({"parts": [{"key": 1}, {"key": 2}]}, {"items": [{"id": 1, "owner": "nobody"}, {"id": 2, "owner": "nobody"}]}),
    ({"parts": [{}]}, {"items": [{"owner": "nobody"}]}),
    ({"unknown": {"a": 1}}, {}),
]


@pytest.mark.parametrize(("document", "hub"), READ)
def test_what_the_profile_says_of_a_document(document: Any, hub: Any) -> None:
    assert read(TABLE, document).value == hub


WRITE: list[tuple[Any, Any]] = [
    ({}, {}),
    ({"name": "a"}, {"title": "a", "mirror": {"title": "a"}}),
    ({"whisper": "abc"}, {"shout": "ABC"}),
    ({"whisper": "a1"}, {}),
    ({"word": "xyz"}, {"initial": "x"}),
    ({"one": 1}, {"first": 1}),
    ({"spare": 1}, {"fallback": 1}),
    ({"spare": 1, "one": None}, {"first": None}),
    ({"extra": 1}, {}),
    ({"extra": 1, "one": 2}, {"first": 2, "bonus": 1}),
    ({"items": []}, {"parts": []}),
    ({"items": [{"id": 1}]}, {"parts": [{"key": 1, "kind": "plain"}]}),
    ({"items": [{"id": 1, "hidden": True}, {"id": 2}]}, {"parts": [{"key": 2, "kind": "plain"}]}),
    ({"items": [{"id": 1, "hidden": True}]}, {}),
]


@pytest.mark.parametrize(("hub", "document"), WRITE)
def test_what_the_format_says_of_a_profile(hub: Any, document: Any) -> None:
    assert write(TABLE, hub).value == {**CONSTANT, "list": [], **document}


def test_steps_are_carried_derived_or_partial() -> None:
    passage = write(TABLE, {"name": "a", "whisper": "b", "word": "xyz", "items": [{"id": 1, "quiet": "q"}]})
    assert steps(passage) == {
        (("name",), ("title",), None, False),
        (("name",), ("mirror", "title"), None, False),
        (("whisper",), ("shout",), "letters only", False),
        (("word",), ("initial",), "the first letter", True),
        (("items", 0, "id"), ("parts", 0, "key"), None, False),
        (("items", 0, "quiet"), ("parts", 0, "loud"), "letters only", False),
    }
    assert passage.items == [(("items", 0), ("parts", 0))]


def test_a_part_that_is_the_whole_is_carried() -> None:
    """A partial move that happens to lose nothing is none."""
    assert steps(write(TABLE, {"word": "x"})) == {(("word",), ("initial",), None, False)}


def test_an_empty_list_is_a_leaf_and_goes_over() -> None:
    assert Step(("parts",), ("items",)) in read(TABLE, {"parts": []}).steps
    assert Step(("items",), ("parts",)) in write(TABLE, {"items": []}).steps


def test_the_first_move_wins_and_an_equal_one_arrives_too() -> None:
    """A mirror that says the same is carried; one that says something else is left to the residue."""
    equal = read(TABLE, {"title": "a", "mirror": {"title": "a"}})
    other = read(TABLE, {"title": "a", "mirror": {"title": "b"}})
    assert steps(equal) - steps(other) == {(("mirror", "title"), ("name",), None, False)}


def test_what_a_codec_refuses_has_its_reason() -> None:
    assert read(TABLE, {"shout": "A1"}).refused == {("shout",): "letters only"}
    assert write(TABLE, {"items": [{"hidden": 1}]}).refused == {("items", 0): "it is hidden"}


def test_what_nobody_said_is_supplied() -> None:
    constants: dict[Any, str] = {("format",): "what every document of the format says"}
    constants[("deep", "version")] = constants[("format",)]
    assert write(TABLE, {}).supplied == {**constants, ("list",): "the default"}
    assert write(TABLE, {"items": [{"id": 1}]}).supplied[("parts", 0, "kind")] == "the default"
    assert read(TABLE, {"parts": [{}]}).supplied == {("items", 0, "owner"): "the default"}


def test_a_constant_names_the_format_and_is_not_of_the_profile() -> None:
    assert read(TABLE, {"format": "t"}).refused == {("format",): "it names the format itself"}
    assert read(TABLE, {"format": "other"}).refused == {}


def test_neither_side_shares_a_value_with_the_other() -> None:
    document: Any = {"first": {"a": [1]}, "parts": [{"key": [2]}]}
    hub: Any = read(TABLE, document).value
    hub["one"]["a"].append(3)
    hub["items"][0]["id"].append(4)
    assert document == {"first": {"a": [1]}, "parts": [{"key": [2]}]}


@pytest.mark.parametrize(("text", "path"), [("a", ("a",)), ("a/0/b", ("a", 0, "b")), ("a/b", ("a", "b"))])
def test_places_of_tables(text: str, path: Any) -> None:
    assert place(text) == path
