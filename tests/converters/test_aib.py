"""Agent blueprints (AIB): the blueprint's components, mirrors, methods and their schemas, the public view."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsuite_converters import embedded
from agentsuite_converters.aib import FORMAT
from tests.converters.documents import aib
from tests.converters.mutations import DROP, changed
from tests.converters.random_json import ANYTHING, mutated

SAMPLES = Path(__file__).parents[3] / "shared" / "specs" / "samples"

SCHEMA, MIRROR, METHOD, EMBEDDED = "AIB-SCHEMA-001", "AIB-MIRROR-001", "AIB-METHOD-001", "AIB-EMBEDDED-001"
REF, VIEW, RELATION = "AIB-REF-001", "AIB-VIEW-001", "AIB-RELATION-001"

LLM = "/agent_config/llm_config"
RUN, RESERVE = "/interface/methods/0", "/interface/methods/1"

BROKEN: list[tuple[str, Any, str, str | None]] = [
    ("/agent_id", DROP, SCHEMA, ""),
    ("/agent_id", 7, SCHEMA, None),
    ("/agent_id", "", SCHEMA, None),
    ("/name", DROP, SCHEMA, ""),
    ("/name", [], SCHEMA, None),
    ("/description", DROP, SCHEMA, ""),
    ("/description", " ", SCHEMA, None),
    ("/interface", DROP, SCHEMA, ""),
    ("/interface", [], SCHEMA, None),
    ("/interface/methods", DROP, SCHEMA, "/interface"),
    ("/interface/methods", {}, SCHEMA, None),
    ("/interface/methods/-", "run", SCHEMA, "/interface/methods/2"),
    (f"{RUN}/name", DROP, SCHEMA, RUN),
    (f"{RUN}/name", "a\nb", SCHEMA, None),
    (f"{RUN}/description", DROP, SCHEMA, RUN),
    (f"{RUN}/input", DROP, SCHEMA, RUN),
    (f"{RUN}/output", DROP, SCHEMA, RUN),
    (f"{RUN}/input", "string", SCHEMA, None),
    (f"{RUN}/output", None, SCHEMA, None),
    ("/agent_config", [], SCHEMA, None),
    ("/agent_config/agent_id", DROP, SCHEMA, "/agent_config"),
    ("/agent_config/agent_name", DROP, SCHEMA, "/agent_config"),
    ("/agent_config/system_prompt", ["You"], SCHEMA, None),
    ("/agent_config/relationships", ["pilot_2"], SCHEMA, None),
    ("/agent_config/relationships/pilot_2", {"kind": "x"}, SCHEMA, None),
    ("/agent_config/llm_config", "acme", SCHEMA, None),
    (f"{LLM}/model_provider", None, SCHEMA, None),
    (f"{LLM}/model_name", 4, SCHEMA, None),
    (f"{LLM}/temperature", "0.7", SCHEMA, None),
    (f"{LLM}/top_p", True, SCHEMA, None),
    (f"{LLM}/top_k", 4.5, SCHEMA, None),
    (f"{LLM}/max_tokens", "150", SCHEMA, None),
    (f"{LLM}/stop_words", "STOP", SCHEMA, None),
    (f"{LLM}/stop_words/0", 0, SCHEMA, None),
    (f"{LLM}/frequency_penalty", None, SCHEMA, None),
    (f"{LLM}/presence_penalty", [], SCHEMA, None),
    (f"{LLM}/n", 1.5, SCHEMA, None),
    (f"{LLM}/logprobs", 5, SCHEMA, None),
    (f"{LLM}/timeout", "20s", SCHEMA, None),
    (f"{LLM}/stream", "no", SCHEMA, None),
    # Blueprint Components: mirrors
    ("/agent_id", "harbour_8", MIRROR, "/agent_config/agent_id"),
    ("/agent_config/agent_id", "harbour_8", MIRROR, None),
    ("/agent_config/agent_name", "harbourguide", MIRROR, None),
    ("/name", "Harbour Guide", MIRROR, "/agent_config/agent_name"),
    # methods
    (f"{RESERVE}/name", "run", METHOD, None),
    # inputs and outputs are schemas, or maps of them
    (f"{RUN}/input/type", "strin", EMBEDDED, None),
    (f"{RUN}/input/type", [], EMBEDDED, None),
    (f"{RUN}/input/properties", [], EMBEDDED, None),
    (f"{RUN}/input/properties", {"a": 3}, EMBEDDED, f"{RUN}/input/properties/a"),
    (f"{RUN}/input/minLength", -1, EMBEDDED, None),
    (f"{RUN}/output/required", "a", EMBEDDED, None),
    (f"{RUN}/output/enum", "a", EMBEDDED, None),
    (f"{RESERVE}/input/boat", "string", EMBEDDED, None),
    (f"{RESERVE}/input/boat", {"type": "ship"}, EMBEDDED, f"{RESERVE}/input/boat/type"),
    (f"{RESERVE}/input/type", None, EMBEDDED, None),
    (f"{RESERVE}/input/anyOf", [{}], EMBEDDED, None),
    (f"{RESERVE}/output/when", True, EMBEDDED, None),
    (f"{RESERVE}/input/boat/$ref", "#/$defs/absent", REF, None),
    (f"{RESERVE}/input/boat/$ref", "https://example.net/boat.json", REF, None),
    (f"{RESERVE}/input/boat/$ref", "boat.json", REF, None),
    (f"{RESERVE}/input/boat/$ref", "file:///etc/passwd", REF, None),
    (f"{RESERVE}/input/boat/$ref", "#b", REF, None),
    (f"{RESERVE}/input/boat/$ref", "http://[", REF, None),
]

WARNED: list[tuple[str, Any, str, str | None]] = [
    ("/agent_config", DROP, VIEW, ""),
    (f"{RESERVE}/name", "rpc.reserve", METHOD, None),
    ("/agent_config/relationships/harbour_7", "parent", RELATION, None),
    (f"{RUN}/input/pattern", "[", EMBEDDED, None),
    (f"{RUN}/input/pattern", r"^(?=a)\p{L}+$", EMBEDDED, None),
    (f"{RUN}/input/$schema", "https://example.net/dialect", EMBEDDED, None),
]

ACCEPTED: list[tuple[str, Any]] = [
    ("/agent_config/llm_config", DROP),
    ("/agent_config/llm_config", {}),
    ("/agent_config/relationships", DROP),
    ("/agent_config/system_prompt", ""),
    ("/agent_config/knowledge_base_config", {"future": True}),
    (f"{LLM}/temperature", 1),
    ("/interface/methods", []),
    ("/interface/version", 1),
    (f"{RUN}/input", {}),
    (f"{RUN}/input", {"type": ["object", "null"], "properties": {"a": True}}),
    (f"{RESERVE}/input/$ref", {"type": "string"}),
    (f"{RESERVE}/input/boat/$schema", "http://json-schema.org/draft-07/schema#"),
    (f"{RESERVE}/input/boat", {"pattern": r"^(?=a)a+$"}),
    (f"{RESERVE}/input/boat", {"pattern": r"^\p{L}+$"}),
    (f"{RESERVE}/input/boat", {"const": {"$ref": "https://example.net/only-data"}}),
    (f"{RESERVE}/input/boat", {"$id": "https://example.net/a", "$ref": "b", "$defs": {"b": {"$id": "b"}}}),
    (f"{RUN}/visibility", "public"),
    ("/x", DROP),
]


def test_a_complete_blueprint_has_no_findings() -> None:
    assert list(FORMAT.check(aib())) == []


@pytest.mark.parametrize(("pointer", "value", "requirement", "place"), BROKEN)
def test_one_fault_gives_its_finding_and_no_other(
    pointer: str, value: Any, requirement: str, place: str | None
) -> None:
    (finding,) = FORMAT.check(changed(aib(), pointer, value))
    assert (finding.requirement, finding.location) == (requirement, f"#{pointer if place is None else place}")
    assert finding.is_error
    assert finding.message.isprintable()


@pytest.mark.parametrize(("pointer", "value", "requirement", "place"), WARNED)
def test_what_is_only_doubtful_is_a_warning(pointer: str, value: Any, requirement: str, place: str | None) -> None:
    (finding,) = FORMAT.check(changed(aib(), pointer, value))
    assert (finding.requirement, finding.location) == (requirement, f"#{pointer if place is None else place}")
    assert not finding.is_error


@pytest.mark.parametrize(("pointer", "value"), ACCEPTED)
def test_what_the_text_allows_has_no_findings(pointer: str, value: Any) -> None:
    assert list(FORMAT.check(changed(aib(), pointer, value))) == []


def test_independent_faults_are_all_found() -> None:
    document = aib()
    document["name"] = "Other"
    document["interface"]["methods"][1]["name"] = "run"
    document["interface"]["methods"][0]["input"] = {"type": "strin", "minimum": "a"}
    del document["agent_id"]
    found = [(it.requirement, it.location) for it in FORMAT.check(document)]
    assert found == [
        (SCHEMA, "#"),
        (MIRROR, "#/agent_config/agent_name"),
        (METHOD, "#/interface/methods/1/name"),
        (EMBEDDED, "#/interface/methods/0/input/minimum"),
        (EMBEDDED, "#/interface/methods/0/input/type"),
    ]


def test_a_public_view_is_accepted_with_a_warning() -> None:
    """Method examples, getBluePrint: what others see of an agent has no configuration."""
    document = {name: value for name, value in aib().items() if name != "agent_config"}
    assert [(it.requirement, it.severity) for it in FORMAT.check(document)] == [(VIEW, "warning")]


def test_the_schemas_of_one_blueprint_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile blueprint cannot make judging it long, and what is not judged is said."""
    monkeypatch.setattr(embedded, "MAX_VALUES", 2_000)
    document = aib()
    parameters = {f"p{number}": {"type": "string", "enum": ["a"] * 10} for number in range(100)}
    document["interface"]["methods"] = [
        {"name": f"m{number}", "description": "x", "input": parameters, "output": {}} for number in range(5)
    ]
    (finding,) = FORMAT.check(document)
    assert (finding.requirement, finding.severity) == (EMBEDDED, "warning")
    assert "none is judged" in finding.message


def test_comments_are_read(tmp_path: Path) -> None:
    """The text's own sample carries comments."""
    import json

    file = tmp_path / "agent.jsonc"
    file.write_text("// a blueprint\n" + json.dumps(aib(), indent=1).replace('"x":', '/* more\n */ "x":'))
    assert FORMAT.check_file(file) == []


@settings(max_examples=40, deadline=None)
@given(value=ANYTHING)
def test_any_json_is_judged(value: Any) -> None:
    assert all(finding.requirement.startswith("AIB-") for finding in FORMAT.check(value))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_change_of_a_blueprint_is_judged(data: st.DataObject) -> None:
    for finding in FORMAT.check(mutated(aib(), data)):
        assert finding.location.startswith("#")
        assert str(finding).isprintable()


def test_the_base_template_of_the_text_is_accepted() -> None:
    sample = SAMPLES / "aib-base-template.jsonc"
    if not sample.exists():
        pytest.skip("the samples printed in the specification texts are not beside this checkout")
    assert b"// Future extensions" in sample.read_bytes()
    assert FORMAT.check_file(sample) == []
