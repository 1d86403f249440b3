from __future__ import annotations

import contextlib
import json
import re
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hatch_agentsuite.findings import pointer
from hatch_agentsuite.yamldoc import YAMLDocument, YAMLDocumentError, loads

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_INTEGER = 2**53 - 1


def refusal(source: str | bytes, **limits: int) -> YAMLDocumentError:
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    with pytest.raises(YAMLDocumentError) as caught:
        loads(data, **limits)
    error = caught.value
    assert error.message
    assert (error.message + error.hint).isprintable()
    assert error.line >= 1
    assert error.column >= 1
    assert str(error).startswith(f"line {error.line}, column {error.column}: {error.message}")
    return error


def same(left: object, right: object) -> bool:
    """Equal, and of the same types: 1 is neither 1.0 nor true, and 0.0 is not -0.0."""
    return repr(left) == repr(right)


ACCEPTED: list[tuple[str, object]] = [
    # scalars
    ("true", True),
    ("false", False),
    ("null", None),
    ("0", 0),
    ("-0", 0),
    ("-0.0", -0.0),
    ("1.10", 1.1),
    ("1e3", 1000.0),
    ("1E+3", 1000.0),
    ("-2.5e-3", -0.0025),
    ("0e999", 0.0),
    (str(MAX_INTEGER), MAX_INTEGER),
    (str(-MAX_INTEGER), -MAX_INTEGER),
    ("1.7976931348623157e308", 1.7976931348623157e308),
    ("5e-324", 5e-324),
    # strings
    ("plain", "plain"),
    ("y", "y"),
    ("N", "N"),
    ("tRUE", "tRUE"),
    ("nan", "nan"),
    ("Infinity", "Infinity"),
    ("1.2.3", "1.2.3"),
    ("1.2.3-rc.1", "1.2.3-rc.1"),
    ("v1", "v1"),
    ("1 2", "1 2"),
    ("--", "--"),
    ("1:99", "1:99"),
    ("sha256:00", "sha256:00"),
    ("a#b", "a#b"),
    ("https://example.org/?a=b", "https://example.org/?a=b"),
    ("'yes'", "yes"),
    ('"017"', "017"),
    ("'it''s'", "it's"),
    ('""', ""),
    (r'"\u00e9\/\x41\0\U0001F600"', "é/A\0😀"),
    (r'"\uFEFF\u2028"', "\ufeff\u2028"),
    ("é 😀", "é 😀"),
    ("a\n  b\n\n  c", "a b\nc"),
    # block scalars
    ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
    ("a: |-\n  017\n", {"a": "017"}),
    ("a: |+\n  one\n\n", {"a": "one\n\n"}),
    ("a: >\n  one\n  two\n", {"a": "one two\n"}),
    ("a: |\n\nb: >-\n", {"a": "", "b": ""}),
    ("--- |\n  % no directive\n", "% no directive\n"),
    # collections
    ("[]", []),
    ("{}", {}),
    ("- a\n- - b\n  - c\n", ["a", ["b", "c"]]),
    ("a:\n- 1\n- 2\nb: x\n", {"a": [1, 2], "b": "x"}),
    ("a: {b: [1, {c: null}]}", {"a": {"b": [1, {"c": None}]}}),
    ("'1': a\n\"true\": b\n'': c\n", {"1": "a", "true": "b", "": "c"}),
    ("'<<': {a: 1}", {"<<": {"a": 1}}),
    ("a: why?\nb: c ? d", {"a": "why?", "b": "c ? d"}),
    ("a: 1\n# really?\nb: 2", {"a": 1, "b": 2}),
    ("{a: 1,}", {"a": 1}),
    # around the value
    ("# comment\na: 1 # another\n", {"a": 1}),
    ("---\na: 1\n...\n", {"a": 1}),
    ("--- a\n", "a"),
    ("a: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
    ("{\n  a: 1 }\n# end", {"a": 1}),
]


@pytest.mark.parametrize(("source", "value"), ACCEPTED)
def test_accepted(source: str, value: object) -> None:
    assert same(loads(source.encode()).value, value)


REFUSED: list[tuple[str | bytes, int, int, str]] = [
    # no document, or more than one
    ("", 1, 1, "empty"),
    ("# only a comment\n", 1, 1, "empty"),
    ("---\n", 2, 1, "missing"),
    ("a: 1\n---\nb: 2\n", 2, 1, "second document"),
    ("a: 1\n---\n", 2, 1, "second document"),
    ("a\n...\nb\n", 3, 1, "after the end"),
    # characters
    (b"a: \xff", 1, 4, "UTF-8"),
    (b"x\r\n\xc3\xa9\xed\xa0\x80", 2, 2, "UTF-8"),
    ("a: 1".encode("utf-16"), 1, 1, "UTF-8"),
    ("\ufeffa: 1", 1, 1, "byte order mark"),
    ("a: b\ufeff", 1, 5, "U+FEFF"),
    ("a: 1\nb: \0", 2, 4, "U+0000"),
    ("a\r\rb\x85", 3, 2, "U+0085"),
    ("'\u2028'", 1, 2, "U+2028"),
    ("# \u2029", 1, 3, "U+2029"),
    ("a: \x1b[31m", 1, 4, "U+001B"),
    ("\x7f", 1, 1, "U+007F"),
    ("\uffff", 1, 1, "U+FFFF"),
    (r'a: "\ud83d\ude00"', 1, 4, "surrogate"),
    (r'"\udc00": 1', 1, 1, "surrogate"),
    # what only YAML has
    ("%YAML 1.2\n---\na", 1, 1, "directive"),
    ("# c\n%FOO bar\n---\na", 2, 1, "directive"),
    ("%TAG ! x\n%TAG ! y\n---\na", 2, 1, "directive"),
    ("%YAML 1.1\n%YAML 1.1\n---\na", 2, 1, "directive"),
    ("%YAML 2.0\n---\na", 1, 1, "directive"),
    ("%YAML x\n---\na", 1, 1, "directive"),
    ("%YAML 1." + "9" * 5000, 1, 9, "directive"),
    ("a: !x b", 1, 4, "tag"),
    ("!!str a: b", 1, 1, "tag"),
    ("a: !e!x b", 1, 4, "tag"),
    ("a: !<x", 1, 4, "tag"),
    ("- ! a", 1, 3, "tag"),
    ("- !!seq []", 1, 3, "tag"),
    ("a: &x b", 1, 4, "anchor"),
    ("&x a: b", 1, 1, "anchor"),
    ("a: &x\n  b: 1", 1, 4, "anchor"),
    ("a: & b", 1, 4, "anchor"),
    ("a: *x", 1, 4, "alias"),
    ("*x : a", 1, 1, "alias"),
    ("* item", 1, 1, "alias"),
    ("a:\n  <<: b", 2, 3, "<<"),
    ("? a\n: b", 1, 3, "`?`"),
    ("a: 1\n? b # ?\n: c", 2, 3, "`?`"),
    ("{a: 1, ? b : 2}", 1, 10, "`?`"),
    ("a: ? b", 1, 4, "`?`"),
    ("[a: 1]", 1, 2, "braces"),
    ("[? a : 1]", 1, 2, "braces"),
    # keys
    ("1: a", 1, 1, "key must be a string"),
    ("a:\n  true: b", 2, 3, "key must be a string"),
    ("null: a", 1, 1, "key must be a string"),
    ("yes: a", 1, 1, "yes"),
    ("0x1: a", 1, 1, "notation"),
    ("2026-01-02: a", 1, 1, "date"),
    ("[a]: b", 1, 1, "key must be a string"),
    ("{{a: 1}: b}", 1, 2, "key must be a string"),
    (": a", 1, 1, "key is missing"),
    ("{: a}", 1, 2, "key is missing"),
    ("?\n: a", 1, 2, "`?`"),
    ("a: 1\nb: 2\na: 3", 3, 1, "duplicate key `a`, first on line 1"),
    ('{"a": 1, \'\\x61\': 2, "\\x61": 3}', 1, 21, "duplicate"),
    # values that are missing
    ("a:\nb: 1", 1, 3, "missing"),
    ("- a\n-\n", 2, 2, "missing"),
    ("{a, b: 1}", 1, 3, "missing"),
    ("{a:1}", 1, 5, "missing"),
    ("a: ]", 1, 4, "missing"),
    ("[a, , b]", 1, 5, "missing"),
    # syntax
    ("a:\n\tb: 1", 2, 1, "tab"),
    ("a: [1, 2", 1, 4, "never closed"),
    ("a: [\nb: {", 2, 1, "braces"),
    ("[{a: b", 1, 2, "never closed"),
    ("[", 1, 1, "never closed"),
    ("a: [1}", 1, 6, "`]`"),
    ("a: {b: 1]", 1, 9, "`}`"),
    ('a: "b\nc: d', 1, 4, "quote"),
    ("a: 'b\n---\n", 1, 4, "quote"),
    ("a: 1\nb\n", 2, 1, "colon"),
    ("a\nb: 1", 2, 2, "colon"),
    ("a: b: c", 1, 5, "colon"),
    ("a: 1\n b: 2", 2, 3, "colon"),
    ("a: - b", 1, 4, "list"),
    ("a: 'b'c", 1, 7, "after the end"),
    ("a: |\n  x\n y", 3, 2, "after the end"),
    ('"a" "b"', 1, 5, "after the end"),
    ("- - a\n - b", 2, 2, "fit"),
    ("a: @b", 1, 4, "begins with"),
    ("a: `b`", 1, 4, "begins with"),
    ("a: >=1.0", 1, 4, "begins with"),
    ("a: |0\n b", 1, 5, "indentation indicator"),
    (r'"\d"', 1, 3, "escape"),
    (r'"\x1"', 1, 4, "hexadecimal"),
    (r'"\U00110000"', 1, 4, "too large"),
    (r'"\UFFFFFFFF"', 1, 4, "too large"),
    # numbers
    (f"a: {MAX_INTEGER + 1}", 1, 4, "integer"),
    (str(-MAX_INTEGER - 1), 1, 1, "integer"),
    ("1e309", 1, 1, "too large"),
    ("-1e309", 1, 1, "too large"),
    ("1e-400", 1, 1, "zero"),
    ("9" * 100_000, 1, 1, "1,000 digits"),
]


@pytest.mark.parametrize(("source", "line", "column", "word"), REFUSED)
def test_refused(source: str | bytes, line: int, column: int, word: str) -> None:
    error = refusal(source)
    assert (error.line, error.column) == (line, column)
    assert word in error.message


_WITHOUT_SPACES = """
    ~ Null NULL True TRUE False FALSE yes Yes YES no No NO on On ON off Off OFF << =
    .inf .Inf .INF +.inf -.inf -.INF .nan .NaN .NAN
    017 00 0o17 0o_7 0x1f 0xFF -0x1 0b101 +1 -01 09 08.5 1. -1. .5 +.5 .5e1 .5e+1 1.e3 +1.5 1.5_0 1_000 1__ 1_000.5 01e3
    1:30 -1:30 1:30:59 190:20:30.15 20:30.15
    2026-01-02 2026-1-2 2026-01-02T03:04:05Z 2026-01-02t03:04:05.67+01:00
"""
AMBIGUOUS = [*_WITHOUT_SPACES.split(), "2026-01-02 03:04:05", "2026-01-02 03:04:05.6 -5"]


@pytest.mark.parametrize("text", AMBIGUOUS)
@pytest.mark.parametrize("shape", ["{}", "a: {}", "- {}", "{{a: {}}}", "[{}]", "{}: a"])
def test_ambiguous_scalars_must_be_quoted(text: str, shape: str) -> None:
    error = refusal(shape.format(text))
    assert (error.line, error.column) == (1, shape.replace("{{", "{").index("{}") + 1)
    assert "quotes" in error.hint


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_quoted_they_are_strings(text: str) -> None:
    assert loads(f"'{text}': \"{text}\"".encode()).value == {text: text}


def test_messages_do_not_repeat_values() -> None:
    for secret in ("0123456789", "1_234", "2026-01-02", "12345678901234567890", "&hunter2 x", "*hunter2", "!hunter2 x"):
        error = refusal(f"password: {secret}")
        assert secret.strip("&*! x") not in str(error)


def test_marks_and_literals() -> None:
    document = loads(
        b"# a comment\n"
        b"name: writer\n"
        b"version: 1.10\n"
        b"'a/b~c':\n"
        b"  - 1e3\n"
        b"  - {x: true, y: -0}\n"
        b"  -\n"
        b"    deep: |\n"
        b"      '1'\n"
        b"'': '2'\n"
    )
    assert document.marks == {
        "": (2, 1),
        "/name": (2, 1),
        "/version": (3, 1),
        "/a~1b~0c": (4, 1),
        "/a~1b~0c/0": (5, 5),
        "/a~1b~0c/1": (6, 5),
        "/a~1b~0c/1/x": (6, 6),
        "/a~1b~0c/1/y": (6, 15),
        "/a~1b~0c/2": (8, 5),
        "/a~1b~0c/2/deep": (8, 5),
        "/": (10, 1),
    }
    assert document.literals == {"/version": "1.10", "/a~1b~0c/0": "1e3", "/a~1b~0c/1/y": "-0"}


def test_the_root_has_a_mark_and_a_literal() -> None:
    assert loads(b"--- 1.0") == YAMLDocument(1.0, {"": (1, 5)}, {"": "1.0"})
    assert loads(b"\n 'x'") == YAMLDocument("x", {"": (2, 2)}, {})


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("a: [x, {b: yes}]", "/a/1/b"),
        ("a: {b/c: 1e999}", "/a/b~1c"),
        ("a:\n  b: 1\n  b: 2", "/a/b"),
        ("a:\n  1: b", "/a"),
        ("- [a, &x b]", "/0/1"),
        ("- [a, *x]", "/0/1"),
        ("yes", ""),
    ],
)
def test_refusals_have_a_pointer(source: str, path: str) -> None:
    assert refusal(source).pointer == path


def test_long_keys_are_cut_in_messages() -> None:
    error = refusal(f"{{{'k' * 900}: 1, {'k' * 900}: 2}}")
    assert len(error.message) < 120


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def members(count: int) -> bytes:
    return b"".join(b"k%d: 0\n" % number for number in range(count))


LIMITS: list[tuple[str, Callable[[int], bytes], int, str]] = [
    ("max_bytes", lambda size: b"x" * size, 50, "bytes"),
    ("max_depth", nested, 5, "deep"),
    ("max_depth", lambda depth: b"- " * depth + b"a", 5, "deep"),
    ("max_depth", lambda depth: b"{a: " * depth + b"1" + b"}" * depth, 5, "deep"),
    ("max_members", members, 5, "members"),
    ("max_total_members", members, 5, "members"),
    ("max_total_members", lambda count: b"- 0\n" * count, 5, "items"),
    ("max_total_members", lambda count: b"[{a: 0}" + b", 0" * (count - 2) + b"]", 5, "items"),
]


@pytest.mark.parametrize(("name", "make", "limit", "word"), LIMITS)
def test_limits(name: str, make: Callable[[int], bytes], limit: int, word: str) -> None:
    loads(make(limit), **{name: limit})
    assert word in refusal(make(limit + 1), **{name: limit}).message


def test_default_limits() -> None:
    loads(nested(100))
    loads(members(1024))
    loads(b"x" * (1 << 20))
    assert (refusal(nested(101)).line, refusal(nested(101)).column) == (1, 101)
    assert refusal(members(1025)).line == 1025
    refusal(b"x" * ((1 << 20) + 1))


def test_number_length() -> None:
    assert loads(b"1." + b"0" * 999).value == 1.0
    assert "digits" in refusal(b"1." + b"0" * 1000).message
    assert "integer" in refusal(b"9" * 1000).message


HOSTILE = {
    "flow lists": b"[" * 100_000,
    "flow mappings": b"{" * 100_000,
    "flow members": b"{a: " * 25_000,
    "lists over lines": b"[\n" * 50_000,
    "block lists": b"- " * 50_000,
    "explicit keys": b"? " * 50_000,
    "closing brackets": b"]" * 100_000,
    "tags": b"!" * 100_000,
    "escaped tag": b"!" + b"%41" * 30_000,
    "anchors": b"&a " * 30_000,
    "bangs and lists": b"!a [" * 25_000,
    "sexagesimal": b"1:" * 50_000,
    "underscores": b"1" + b"_" * 100_000 + b"x",
    "question marks": b"? #?\n" * 20_000,
    "key of questions": b"a: 1\n" + b"#?\n" * 30_000 + b"b: 2",
    "backslashes": b'"' + b"\\" * 100_000 + b'"',
    "exponent": b"1e" + b"9" * 900,
    "long key": b"k" * 100_000 + b": 1",
    "adjacent mappings": b'{"a":1}:' * 12_000,
    # an alias bomb without the bomb: every list below would name the one above nine times
    "aliases": b"a: &a [x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n",
    # few bytes, gigabytes of pointers
    "pointers": b"".join(b'{"%s":' % (b"k" * 400) for _ in range(90)) + b"[" + b"1," * 5_000 + b"]" + b"}" * 90,
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile(data: bytes) -> None:
    start = time.perf_counter()
    with contextlib.suppress(YAMLDocumentError):
        loads(data)
    assert time.perf_counter() - start < 5


def test_pointers_are_bounded() -> None:
    assert "long keys" in refusal(HOSTILE["pointers"]).message


@pytest.mark.parametrize("start", [*range(0, 0x3000, 0x400), 0xD400, 0xD800, 0xDC00, 0xE000, 0xFC00, 0x1F400, 0x10FC00])
def test_every_character_is_read_or_refused(start: int) -> None:
    for character in map(chr, range(start, start + 0x400)):
        data = f'# \n"{character}"'.encode("utf-8", "surrogatepass")
        try:
            value = loads(data).value
        except YAMLDocumentError:
            continue
        assert value == (" " if character in "\r\n" else character)


# Characters that JSON may hold raw, and we want to be written as an escape.
_RAW = st.characters(codec="utf-8", exclude_characters="\x7f\u2028\u2029\ufeff\ufffe\uffff", exclude_categories=["Cc"])
_TEXT = st.text(_RAW | st.sampled_from("\n\t\x00\x1b\"\\'"), max_size=30)
# Canonical JSON writes a whole number below 1e21 as an integer, and integers are safe ones.
_FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not MAX_INTEGER < abs(number) < 1e21)
_NUMBERS = st.integers(-MAX_INTEGER, MAX_INTEGER) | _FLOATS
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_TEXT, inner, max_size=5),
    max_leaves=12,
)


def places(value: object, path: str = "") -> set[str]:
    """The pointers of a value and of everything in it."""
    found = {path}
    if isinstance(value, dict):
        return found.union(*(places(item, path + pointer(key)) for key, item in value.items()))
    if isinstance(value, list):
        return found.union(*(places(item, path + pointer(index)) for index, item in enumerate(value)))
    return found


@settings(max_examples=80, deadline=None)
@given(_JSON, st.sampled_from([None, 2]))
def test_json_is_read_to_the_same_value(value: Any, indent: int | None) -> None:
    document = loads(json.dumps(value, ensure_ascii=False, indent=indent).encode())
    assert same(document.value, json.loads(json.dumps(value)))
    assert set(document.marks) == places(value)
    assert set(document.literals) <= set(document.marks)


# Short, on one line, and no number of YAML 1.2: safe_dump would write `? key`, or leave `1e3` without quotes.
_LINE = st.text(_RAW, max_size=8).filter(lambda text: text[:1] not in set("+-.0123456789") or not text)
_LINES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _LINE,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_LINE.filter(bool), inner, max_size=5),
    max_leaves=10,
)


@settings(max_examples=80, deadline=None)
@given(_LINES, st.booleans(), st.sampled_from([None, True, False]))
def test_dumped_yaml_is_read_to_the_same_value(value: Any, unicode: bool, flow: bool | None) -> None:
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=unicode, default_flow_style=flow)
    assert same(loads(text.encode()).value, value)


_CHARACTERS = "a:-\n\t\r []{},?'\"\\|>!*&%#~@=1é😀\x00\x85\ufeff"
_WORDS = r"a: |- |  |? |\u12|\U0011|&a |*a|!!str |!<|%YAML 1.1|%TAG ! !|---|...|<<: |017|1e9|>2-|true|null"
_FRAGMENTS = st.sampled_from([*_CHARACTERS, *re.split("[|]", _WORDS)])


@settings(max_examples=600, deadline=None)
@given(st.lists(_FRAGMENTS, max_size=25).map("".join) | st.text(max_size=60))
def test_text_is_read_or_refused_and_agrees_with_pyyaml(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    try:
        document = loads(data)
    except YAMLDocumentError:
        return
    assert json.loads(json.dumps(document.value)) == document.value
    assert set(document.marks) == places(document.value)
    assert without_exponents(yaml.safe_load(text)) == without_exponents(document.value)


def without_exponents(value: object) -> object:
    """Forget numbers such as 1e9: YAML 1.1 reads them as strings unless they have a point and a sign."""
    if isinstance(value, dict):
        return {key: without_exponents(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_exponents(item) for item in value]
    if isinstance(value, float) or (isinstance(value, str) and "e" in value and value[0] in "-0123456789"):
        return "a number"
    return value


@settings(max_examples=600, deadline=None)
@given(st.text("+-.:_0123456789eExobTZaAfFinINyYsStTruUlLN~=< ", min_size=1, max_size=12))
def test_a_plain_string_is_a_string_to_pyyaml(text: str) -> None:
    try:
        value = loads(text.encode()).value
    except YAMLDocumentError:
        return
    if isinstance(value, str):
        assert type(yaml.safe_load(text)) is str


def test_the_table_of_ambiguous_scalars_covers_pyyaml() -> None:
    """Every type that PyYAML guesses from a plain scalar is in the table, besides JSON's own."""
    resolver = yaml.SafeLoader("")
    try:
        tags = {resolver.resolve(yaml.ScalarNode, text, (True, False)) for text in AMBIGUOUS}  # type: ignore[no-untyped-call]
        known = {tag for rules in yaml.SafeLoader.yaml_implicit_resolvers.values() for tag, _ in rules}
    finally:
        resolver.dispose()
    assert known - tags == {"tag:yaml.org,2002:yaml"}  # `!`, `&` and `*`, which are never plain scalars
