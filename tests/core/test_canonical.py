"""Canonical bytes and identities: RFC 8785 and section 6."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from hatch_agentsuite import yamldoc
from hatch_agentsuite.jsondoc import (
    MAX_SAFE_INTEGER,
    JSONDocumentError,
    canonical,
    canonical_object,
    digest,
    digest_bytes,
    is_digest,
    loads,
    variant_digest,
)

EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
EMPTY_OBJECT = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

TEXT = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    ["\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff", "\0", "\x7f", "\u2028", "a", "A", ""]
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda number: not MAX_SAFE_INTEGER < abs(number) < 1e21
)
SCALARS = st.none() | st.booleans() | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER) | TEXT
EXACT = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=12)
VALUES = st.recursive(SCALARS | FLOATS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{ "b" : 1 , "a" : [ true , null ] }', '{"a":[true,null],"b":1}'),
        ("333333333.33333329", "333333333.3333333"),
        ("[4.50, 2e-3, 1E30, 1e-27, 1e21, 1.0, 100e0]", "[4.5,0.002,1e+30,1e-27,1e+21,1,100]"),
        ("[0.000001, 0.0000001, -0, -0.0, 5e-324]", "[0.000001,1e-7,0,0,5e-324]"),
        (r'"\u20ac\u000f\u000aA\u0042\"\\\/\u007f"', '"\u20ac\\u000f\\nAB\\"\\\\/\x7f"'),
        ('"\\b\\f\\n\\r\\t\\u0000\\u001f"', '"\\b\\f\\n\\r\\t\\u0000\\u001f"'),
        ('{"a":0,"A":0,"aa":0,"":0,"1":0,"10":0,"2":0}', '{"":0,"1":0,"10":0,"2":0,"A":0,"a":0,"aa":0}'),
        # names are sorted by UTF-16 units: a surrogate pair comes before U+E000 and above
        ('{"\ufb33":1,"\U0001f600":2,"\u20ac":3}', '{"\u20ac":3,"\U0001f600":2,"\ufb33":1}'),
        ('{"x\ufb33":1.5,"x\U0001f600":2}', '{"x\U0001f600":2,"x\ufb33":1.5}'),
    ],
)
def test_canonical_bytes_are_those_of_rfc_8785(text: str, expected: str) -> None:
    assert canonical(loads(text.encode())) == expected.encode()


@given(VALUES)
@settings(deadline=None)
def test_canonical_bytes_equal_those_of_another_implementation(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(VALUES)
@settings(deadline=None)
def test_canonical_bytes_are_strict_json_of_the_same_value(value: Any) -> None:
    """loads(canonical(v)) == v, so what is packed can be read, and is a fixed point."""
    data = canonical(value)
    assert loads(data) == value
    assert canonical(loads(data)) == data


@pytest.mark.parametrize("number", ["9007199254740992.0", "1e20", "-999999999999999900000.0"])
def test_yaml_refuses_what_would_not_be_strict_json_when_packed(number: str) -> None:
    """Canonical JSON writes a whole number below 1e21 as an integer, here one that no reader may change."""
    assert canonical(float(number)).lstrip(b"-").isdigit()
    with pytest.raises(yamldoc.YAMLDocumentError, match="beyond 2\\^53"):
        yamldoc.loads(number.encode())


def spell(value: Any, chance: random.Random) -> str:
    """Write a value with its members in any order, any white space and any escapes."""
    space = chance.choice(["", " ", "\n\t"])
    if isinstance(value, dict):
        items = [f"{space}{spell(name, chance)}{space}:{spell(member, chance)}" for name, member in value.items()]
        chance.shuffle(items)
        return "{" + ",".join(items) + space + "}"
    if isinstance(value, list):
        return "[" + ",".join(space + spell(item, chance) + space for item in value) + "]"
    return json.dumps(value, ensure_ascii=chance.random() < 0.5)


@given(EXACT, st.integers())
@settings(deadline=None)
def test_identity_does_not_depend_on_spelling(value: Any, seed: int) -> None:
    """6.1: white space and member order do not change a document's identity."""
    assert digest(loads(spell(value, random.Random(seed)).encode())) == digest(value)


@given(EXACT, EXACT)
@settings(deadline=None)
def test_identity_tells_values_apart(left: Any, right: Any) -> None:
    same = json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    assert (digest(left) == digest(right)) == same


@pytest.mark.parametrize("value", [2**53, -(2**53), float("nan"), float("inf"), "\ud800", {"\udc00": 1}, ["\ud800"]])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(JSONDocumentError, match="no canonical form"):
        canonical(value)


def test_known_digests() -> None:
    """6.1, 6.2, 4.3."""
    assert digest_bytes(b"") == EMPTY
    assert digest({}) == digest_bytes(b"{}") == EMPTY_OBJECT


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (EMPTY, True),
        ("", False),
        (EMPTY.removeprefix("sha256:"), False),
        (EMPTY.upper(), False),
        (EMPTY[:-1], False),
        (EMPTY + "0", False),
        (EMPTY + "\n", False),
        (EMPTY.replace("e3", "E3"), False),
        (EMPTY.replace("sha256", "sha512"), False),
        ("sha256:" + "\u0661" * 64, False),
        (None, False),
        (5, False),
    ],
)
def test_a_digest_is_sha256_and_64_lowercase_digits(value: object, expected: bool) -> None:
    """Section 1."""
    assert is_digest(value) is expected


VARIANT: dict[str, Any] = {
    "variantDigest": EMPTY,
    "platform": {"os": "linux", "architecture": "amd64"},
    "files": [{"path": "bin/x", "size": 1, "component": "x"}],
}


def test_a_variant_is_hashed_with_its_digest_emptied() -> None:
    """6.3: only the value of variantDigest is replaced; the input stays as it is."""
    before = json.dumps(VARIANT)
    expected = digest({**VARIANT, "variantDigest": ""})
    assert variant_digest(VARIANT) == expected
    assert variant_digest({**VARIANT, "variantDigest": "anything"}) == expected
    assert variant_digest({name: VARIANT[name] for name in VARIANT if name != "variantDigest"}) == expected
    assert json.dumps(VARIANT) == before


@given(st.dictionaries(TEXT, VALUES, max_size=6), st.data())
@settings(deadline=None)
def test_an_object_can_be_put_together_from_members_that_are_canonical_already(
    value: dict[str, Any], data: st.DataObject
) -> None:
    """RFC 8785, section 3.2.3: members in the order of their names' UTF-16 units, whoever encoded them."""
    chosen = data.draw(st.sets(st.sampled_from(sorted(value)))) if value else set()
    known = {name: canonical(value[name]) for name in chosen}
    rest = {name: member for name, member in value.items() if name not in chosen or data.draw(st.booleans())}
    assert canonical_object(rest, known) == canonical(value)
    assert variant_digest(rest, known) == variant_digest(value) or "variantDigest" in known


@pytest.mark.parametrize(
    "members",
    [
        {"relocatable": False},
        {"arguments": []},
        {"network": []},
        {"sbom": None},
        {"files": [{"path": "bin/x", "size": 1, "component": ""}]},
        {"files": [{"path": "bin/x", "component": "x"}]},
        {"platform": {"os": "linux", "architecture": "arm64"}},
        {"installRoot": "/opt/x"},
    ],
)
def test_every_other_member_of_a_variant_counts(members: dict[str, Any]) -> None:
    """6.3: also the presence of an optional member that says no more than its absence."""
    assert variant_digest({**VARIANT, **members}) != variant_digest(VARIANT)
