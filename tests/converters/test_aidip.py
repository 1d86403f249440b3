"""Agent metadata (AIDIP): core fields, operations, embedded schemas and examples, endpoint, authentication, status."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsuite_converters import embedded
from agentsuite_converters.aidip import FORMAT
from tests.converters.documents import aidip
from tests.converters.mutations import DROP, changed
from tests.converters.random_json import ANYTHING, mutated

SAMPLES = Path(__file__).parents[3] / "shared" / "specs" / "samples"

SCHEMA, OPERATION, EMBEDDED = "AIDIP-SCHEMA-001", "AIDIP-OPERATION-001", "AIDIP-EMBEDDED-001"
REF, EXAMPLE, ENDPOINT = "AIDIP-REF-001", "AIDIP-EXAMPLE-001", "AIDIP-ENDPOINT-001"
AUTH, STATUS = "AIDIP-AUTH-001", "AIDIP-STATUS-001"

FIND = "/operations/0"
IN, OUT = f"{FIND}/inputs", f"{FIND}/outputs"
SHOWN = f"{FIND}/examples/0"

BROKEN: list[tuple[str, Any, str, str | None]] = [
    ("/id", 12345, SCHEMA, None),
    ("/id", "", SCHEMA, None),
    ("/name", DROP, SCHEMA, ""),
    ("/name", "", SCHEMA, None),
    ("/description", DROP, SCHEMA, ""),
    ("/version", DROP, SCHEMA, ""),
    ("/version", 1.0, SCHEMA, None),
    ("/publisher", DROP, SCHEMA, ""),
    ("/publisher", {"name": "x"}, SCHEMA, None),
    ("/capabilities", DROP, SCHEMA, ""),
    ("/capabilities", "berths", SCHEMA, None),
    ("/capabilities/0", 3, SCHEMA, None),
    ("/tags", DROP, SCHEMA, ""),
    ("/tags/-", None, SCHEMA, "/tags/0"),
    ("/endpoint", DROP, SCHEMA, ""),
    ("/endpoint", "", SCHEMA, None),
    ("/endpoint", "https://agents.example.net/a b", SCHEMA, None),
    ("/endpoint", ["https://agents.example.net"], SCHEMA, None),
    ("/supported_languages", "en", SCHEMA, None),
    ("/supported_languages/0", 1, SCHEMA, None),
    ("/authentication", "none", SCHEMA, None),
    ("/authentication/type", ["none"], SCHEMA, None),
    ("/authentication/instructions", {}, SCHEMA, None),
    ("/authentication/scopes", "berths.read", SCHEMA, None),
    ("/status", True, SCHEMA, None),
    # operations
    ("/operations", {}, SCHEMA, None),
    ("/operations", [], SCHEMA, None),
    ("/operations/-", "findBerth", SCHEMA, "/operations/1"),
    (f"{FIND}/name", DROP, SCHEMA, FIND),
    (f"{FIND}/description", DROP, SCHEMA, FIND),
    (IN, DROP, SCHEMA, FIND),
    (OUT, DROP, SCHEMA, FIND),
    (IN, [], SCHEMA, None),
    (f"{FIND}/examples", {}, SCHEMA, None),
    (f"{SHOWN}/input", DROP, SCHEMA, SHOWN),
    (f"{SHOWN}/output", DROP, SCHEMA, SHOWN),
    ("/operations/-", {"name": "findBerth", "description": "x", "inputs": {}, "outputs": {}}, OPERATION,
     "/operations/1/name"),
    ("/operations", DROP, OPERATION, ""),
    # embedded schemas
    (f"{IN}/type", "objekt", EMBEDDED, None),
    (f"{IN}/required", "length", EMBEDDED, None),
    (f"{IN}/properties/length", "number", EMBEDDED, None),
    (f"{IN}/properties/name/minLength", "2", EMBEDDED, None),
    (f"{OUT}/properties", [], EMBEDDED, None),
    (f"{OUT}/additionalProperties", "no", EMBEDDED, None),
    (f"{OUT}/allOf", [], EMBEDDED, None),
    (f"{OUT}/$schema", 7, EMBEDDED, None),
    (f"{IN}/properties/length/$ref", "#/$defs/feet", REF, None),
    (f"{IN}/properties/length/$ref", "http://127.0.0.1:9/metres", REF, None),
    (f"{IN}/properties/length/$ref", "https://json-schema.org/draft/2020-12/schema", REF, None),
    # endpoint: TLS
    ("/endpoint", "http://agents.example.net/harbour", ENDPOINT, None),
    ("/endpoint", "ftp://agents.example.net/harbour", ENDPOINT, None),
    ("/endpoint", "https://", ENDPOINT, None),
    ("/endpoint", "https:harbour", ENDPOINT, None),
    ("/endpoint", "https://me:word@agents.example.net/", ENDPOINT, None),
    ("/endpoint", "//me@agents.example.net/", ENDPOINT, None),
    ("/endpoint", "https://agents.example.net:0/", ENDPOINT, None),
]  # fmt: skip

WARNED: list[tuple[str, Any, str, str | None]] = [
    ("/authentication/type", "basic", AUTH, None),
    ("/authentication/type", "API_KEY", AUTH, None),
    ("/authentication/type", "mtls", AUTH, "/authentication/scopes"),
    ("/status", "beta", STATUS, None),
    ("/endpoint", "http://localhost:8000/harbour", ENDPOINT, None),
    ("/inputs", {"type": "object"}, OPERATION, None),
    (f"{IN}/properties/name/pattern", "(", EMBEDDED, None),
    (f"{SHOWN}/input/length", "long", EXAMPLE, None),
    (f"{SHOWN}/input/length", 0, EXAMPLE, None),
    (f"{SHOWN}/input/length", DROP, EXAMPLE, f"{SHOWN}/input"),
    (f"{SHOWN}/input/name", "ida", EXAMPLE, None),
    (f"{SHOWN}/input", "9.5", EXAMPLE, None),
    (f"{SHOWN}/output/berths", ["A1", "A1"], EXAMPLE, None),
    (f"{FIND}/examples/-", {"input": {}, "output": {}}, EXAMPLE, f"{FIND}/examples/1/input"),
]

ACCEPTED: list[tuple[str, Any]] = [
    ("/id", DROP),
    ("/supported_languages", DROP),
    ("/authentication", DROP),
    ("/authentication", {}),
    ("/status", DROP),
    ("/status", "deprecated"),
    ("/capabilities", []),
    ("/endpoint", "/agents/{id}/invoke"),
    ("/endpoint", "agents/harbour?operation=find"),
    ("/endpoint", "https://agents.example.net/agents/{id}/invoke"),
    ("/endpoint", "//agents.example.net/harbour"),
    ("/endpoint", "https://[2001:db8::1]:8443/x"),
    (f"{FIND}/examples", DROP),
    (f"{FIND}/examples", []),
    (IN, {}),
    (f"{IN}/$schema", "https://json-schema.org/draft/2020-12/schema"),
    (f"{SHOWN}/input/more", [1]),
    ("/rate_limit", {"per_minute": 60}),
    (f"{IN}/x-unit", "metres"),
]


def simple() -> dict[str, Any]:
    """Metadata in the other style: one implied operation, described at the top."""
    document = aidip()
    (operation,) = document.pop("operations")
    return {**document, "inputs": operation["inputs"], "outputs": operation["outputs"]}


@pytest.mark.parametrize("build", [aidip, simple])
def test_complete_metadata_has_no_findings(build: Any) -> None:
    assert list(FORMAT.check(build())) == []


@pytest.mark.parametrize(("pointer", "value", "requirement", "place"), BROKEN)
def test_one_fault_gives_its_finding_and_no_other(
    pointer: str, value: Any, requirement: str, place: str | None
) -> None:
    (finding,) = FORMAT.check(changed(aidip(), pointer, value))
    assert (finding.requirement, finding.location) == (requirement, f"#{pointer if place is None else place}")
    assert finding.is_error
    assert finding.message.isprintable()
    assert "word" not in str(finding).replace("password", "")


@pytest.mark.parametrize(("pointer", "value", "requirement", "place"), WARNED)
def test_what_is_only_doubtful_is_a_warning(pointer: str, value: Any, requirement: str, place: str | None) -> None:
    (finding,) = FORMAT.check(changed(aidip(), pointer, value))
    assert (finding.requirement, finding.location) == (requirement, f"#{pointer if place is None else place}")
    assert not finding.is_error


@pytest.mark.parametrize(("pointer", "value"), ACCEPTED)
def test_what_the_text_allows_has_no_findings(pointer: str, value: Any) -> None:
    assert list(FORMAT.check(changed(aidip(), pointer, value))) == []


@pytest.mark.parametrize("missing", ["inputs", "outputs"])
def test_the_simple_style_needs_both_sides(missing: str) -> None:
    (finding,) = FORMAT.check(changed(simple(), f"/{missing}", DROP))
    assert (finding.requirement, finding.location) == (OPERATION, "#")
    assert f"'{missing}'" in finding.message


def test_a_schema_at_the_top_is_judged_too() -> None:
    (finding,) = FORMAT.check(changed(simple(), "/outputs/type", "objekt"))
    assert (finding.requirement, finding.location) == (EMBEDDED, "#/outputs/type")


# --- hostile schemas ---------------------------------------------------------------------------------------------

CHAIN = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(50)}


@pytest.mark.parametrize(
    ("schema", "example", "reason"),
    [
        ({"$defs": {**CHAIN, "a50": {}}, "$ref": "#/$defs/a0"}, 1, "takes too long"),
        ({"items": {"enum": list(range(2_000))}}, list(range(2_000)) * 2, "takes too long"),
        ({"$ref": "#"}, 1, "without an end"),
        ({"pattern": "(a+)+$(?=x)"}, "a" * 64 + "!", "RE2 cannot read"),
        ({"patternProperties": {"(a+)+$": {}}}, {"a" * 64 + "!": 1}, "patternProperties"),
        ({"$defs": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}, 1, "inner $schema"),
        ({"multipleOf": 1e-300}, 1e300, "does not agree"),
    ],
)
def test_an_example_is_judged_quickly_or_not_at_all(schema: Any, example: Any, reason: str) -> None:
    document = changed(aidip(), IN, schema)
    changed(document, f"{SHOWN}/input", example)
    start = time.process_time()
    findings = list(FORMAT.check(document))
    assert time.process_time() - start < 20
    assert all(it.requirement == EXAMPLE and not it.is_error for it in findings)
    assert reason in findings[0].message if findings else reason == "does not agree"


def test_a_pattern_is_matched_in_linear_time() -> None:
    document = changed(aidip(), f"{IN}/properties/name/pattern", "^(A+)+$")
    changed(document, f"{SHOWN}/input/name", "A" * 5_000 + "!")
    start = time.process_time()
    assert [it.location for it in FORMAT.check(document)] == [f"#{SHOWN}/input/name"]
    assert time.process_time() - start < 5


def test_many_examples_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "MAX_STEPS", 5_000)
    document = aidip()
    row = {"length": 1, "more": list(range(500))}
    document["operations"][0]["inputs"]["properties"]["more"] = {"items": {"type": "integer"}}
    document["operations"][0]["examples"] = [{"input": row, "output": {}}] * 40
    findings = list(FORMAT.check(document))
    assert {(it.requirement, it.severity) for it in findings} == {(EXAMPLE, "warning")}
    assert all("takes too long" in it.message for it in findings)


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setattr(socket, "socket", None)
    document = changed(aidip(), f"{IN}/$schema", "https://example.net/dialect")
    changed(document, f"{IN}/properties/length", {"$dynamicRef": "https://example.net/x#y"})
    assert [(it.requirement, it.is_error) for it in FORMAT.check(document)] == [(EMBEDDED, False), (REF, True)]


# --- nothing raises ----------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(value=ANYTHING)
def test_any_json_is_judged(value: Any) -> None:
    assert all(finding.requirement.startswith("AIDIP-") for finding in FORMAT.check(value))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_change_of_metadata_is_judged(data: st.DataObject) -> None:
    for finding in FORMAT.check(mutated(aidip(), data)):
        assert finding.location.startswith("#")
        assert str(finding).isprintable()


@settings(max_examples=40, deadline=None)
@given(schema=st.dictionaries(st.text(max_size=3), ANYTHING, max_size=2), input_=ANYTHING)
def test_any_schema_and_any_example_are_judged(schema: Any, input_: Any) -> None:
    document = changed(aidip(), IN, schema)
    changed(document, f"{SHOWN}/input", input_)
    assert all(it.requirement in {SCHEMA, EMBEDDED, REF, EXAMPLE} for it in FORMAT.check(document))


def test_the_translation_agent_of_the_text_is_accepted() -> None:
    sample = SAMPLES / "aidip-translation-agent.json"
    if not sample.exists():
        pytest.skip("the samples printed in the specification texts are not beside this checkout")
    assert FORMAT.check_file(sample) == []
