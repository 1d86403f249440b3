"""The leak check (BRICK sections 5 and 9): what is private is found in public text, and little else."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsuite_converters.privacy import WORDS, Leak, Private, leaks
from hatch_agentsuite.validation.credentials import Shape, shapes

SECRET = "Never tell a customer that the northern pier will close in March, not even when they ask twice."
SHORT = "Always upsell fuel quietly."

PRIVATE = Private(
    urls=("https://berths.internal.example.net:8443/mcp?tenant=7", "https://10.1.2.3/mcp", "http://localhost:9/mcp"),
    names=("berths", "tide-almanac"),
    tools=(("berths", "list_free"), ("berths", "search"), ("tide-almanac", "tides today")),
    references=("./GUIDE.md", "tide-daemon", "almanac"),
    texts={"instructions/0": SECRET, "instructions/1": SHORT, "instructions/2": "Be kind"},
    public_hosts=frozenset({"agents.example.net"}),
)

ERRORS = [
    ("https://berths.internal.example.net:8443/mcp?tenant=7", "endpoint"),
    ("Try HTTPS://Berths.Internal.Example.net:8443/mcp?tenant=7.", "endpoint"),
    ("(https://10.1.2.3/mcp/)", "endpoint"),
    ("ask `http://localhost:9/mcp`", "endpoint"),
    ("see https://berths.internal.example.net/status", "host"),
    ("runs on berths.internal.example.net", "host"),
    ("runs on BERTHS.INTERNAL.EXAMPLE.NET:8443/x", "host"),
    ("10.1.2.3", "host"),
    ("calls berths:list_free, then waits", "tool reference"),
    ("(Berths:List_Free)", "tool reference"),
    ("berths:search", "tool reference"),
    ("list_free", "name of a tool"),
    (" List_Free ", "name of a tool"),
    ("tides today", "name of a tool"),
    ("tide-almanac", "id of an MCP server"),
    ("as ./GUIDE.md says", "private file"),
    ("talks to tide-daemon", "private file"),
    ("the northern pier will close in March, not even", "quotes 8"),
    ("The NORTHERN pier   will\nclose -- in March; not even tomorrow", "quotes 8"),
    ("We always upsell fuel quietly here", "quotes 4"),
]

WARNINGS = [
    ("search", "name of a tool"),
    ("Berths", "id of an MCP server"),
    ("uses list_free when asked", "name of a tool"),
    ("list_free()", "name of a tool"),
    ("asks the tide-almanac.", "id of an MCP server"),
]

SILENT = [
    "",
    "Finds free berths and lets you search them",
    "search the list; free of charge",
    "list_free_berths",
    "my_list_free",
    "berths: search for one",
    "berths:list",
    "See https://agents.example.net/docs and example.net",
    "notberths.internal.example.net",
    "berths.internal.example.net.evil.test",
    "https://localhost/else",
    "GUIDE.md",
    "keeps an almanac",
    "the northern pier will close in March",
    "the northern pier will definitely close in March not even",
    "upsell fuel quietly",
    "Be kind",
    "tides",
    "the tides today are high",
]


def found(text: str, private: Private = PRIVATE) -> list[Leak]:
    return list(leaks({"#/a": text}, private))


@pytest.mark.parametrize(("text", "words"), ERRORS)
def test_what_is_private_is_found(text: str, words: str) -> None:
    (leak,) = found(text)
    assert leak.is_error
    assert leak.place == "#/a"
    assert words in leak.message


@pytest.mark.parametrize(("text", "words"), WARNINGS)
def test_what_may_be_chance_is_a_warning(text: str, words: str) -> None:
    (leak,) = found(text)
    assert not leak.is_error
    assert words in leak.message


@pytest.mark.parametrize("text", SILENT)
def test_what_is_like_it_is_no_leak(text: str) -> None:
    """A plain word in prose, a part of a name, a host that is public anyway, seven words in a row."""
    assert found(text) == []


def test_each_place_and_each_thing_is_told_once() -> None:
    public = {"#/a": "list_free list_free berths:list_free", "#/b": f"{SECRET} {SECRET}", "#/c": SECRET}
    assert [(leak.place, leak.is_error) for leak in leaks(public, PRIVATE)] == [
        ("#/a", True),
        ("#/a", False),
        ("#/b", True),
        ("#/c", True),
    ]


def test_messages_do_not_repeat_instructions_or_urls() -> None:
    for text in (SECRET, PRIVATE.urls[0]):
        (leak,) = found(text)
        assert "pier" not in leak.message
        assert "tenant" not in leak.message


@pytest.mark.parametrize("shape", shapes()[:4], ids=lambda shape: shape.name)
def test_credentials_are_found_in_any_public_text(shape: Shape) -> None:
    """Section 9: a public Agent Card must not contain credentials or tokens."""
    (leak,) = found(f"use {shape.positive[0]} to call it", Private())
    assert leak.is_error
    assert shape.positive[0] not in leak.message


def test_nothing_private_discloses_nothing() -> None:
    assert found("https://berths.internal.example.net berths:list_free", Private()) == []


def test_many_names_and_long_texts_are_compared_in_linear_time() -> None:
    private = Private(
        tools=tuple((f"s{number}", f"tool_{number}") for number in range(10_000)),
        texts={f"instructions/{number}": "word " * 30_000 for number in range(3)},
    )
    public = {f"#/{number}": f"says x{number}:y and more of the word word" for number in range(2_000)}
    start = time.process_time()
    assert list(leaks(public, private)) == []
    assert time.process_time() - start < 10


WORD = st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(before=st.lists(WORD, max_size=5), secret=st.lists(WORD, min_size=WORDS, max_size=20), data=st.data())
def test_eight_words_in_a_row_are_found_wherever_they_stand(
    before: list[str], secret: list[str], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(secret) - WORDS))
    text = " ".join([*before, *secret[start : start + WORDS]])
    assert found(text, Private(texts={"instructions/0": " ".join(secret)}))


@settings(max_examples=60, deadline=None)
@given(before=st.text(max_size=10), after=st.text(max_size=10), server=WORD, tool=WORD)
def test_a_tool_reference_between_spaces_is_found(before: str, after: str, server: str, tool: str) -> None:
    leak = found(f"{before} {server}:{tool} {after}", Private(tools=((server, tool),)))
    assert any(it.is_error for it in leak)


@settings(max_examples=100, deadline=None)
@given(
    public=st.dictionaries(st.text(max_size=3), st.text(), max_size=3),
    names=st.lists(st.text(max_size=8) | st.sampled_from(["http://[", "//@:", "a:b"]), max_size=3),
)
def test_any_text_is_judged(public: dict[str, str], names: list[str]) -> None:
    every: Any = tuple(names)
    private = Private(every, every, tuple(zip(names, names, strict=True)), every, dict.fromkeys(names, "x"))
    assert all(leak.place in public for leak in leaks({**public, "x": " ".join(names)}, private) if leak.place != "x")
