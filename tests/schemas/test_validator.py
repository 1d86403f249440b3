"""What a validator promises: its verdict, its errors and their wording, its limits, and that it fetches nothing."""

from __future__ import annotations

import builtins
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from agentsuite_schemas import MAX_ERRORS, SchemaError, Validator, _engines, _store, authoring, validator
from tests.schemas.samples import SAMPLES, digest

AGENT = "agentsuite/agent"
IDENTIFIER = "an identifier: 1 to 128 of a-z, 0-9, '.', '_', '-', beginning with a letter or digit"


def errors(document: Any, name: str = AGENT, **options: bool) -> list[SchemaError]:
    return list(validator(name).errors(document, **options))


def only(document: Any, name: str = AGENT, **options: bool) -> SchemaError:
    (error,) = errors(document, name, **options)
    return error


def agent(**members: Any) -> dict[str, Any]:
    return {**SAMPLES[AGENT](), **members}


# --- wording -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"id": "Writer"}, f"must be {IDENTIFIER}"),
        ({"id": 7}, f"must be a string, not an integer ({IDENTIFIER})"),
        ({"id": True}, f"must be a string, not a boolean ({IDENTIFIER})"),
        ({"id": None}, f"must be a string, not null ({IDENTIFIER})"),
        ({"schemaVersion": "2"}, "must be exactly '1.0.0-draft' (the version of the AgentSuite format)"),
        ({"description": "x" * 4097}, "must hold at most 4096 characters (text of at most 4096 characters)"),
        ({"evals": {}}, "must be a list, not an object (a list of at most one reference to an evaluation index)"),
        (
            {"toolProvider": []},
            (
                "the member 'toolProvider' is unknown (did you mean 'toolProviders'? known members: description, "
                "evals, extensions, id, instructions, invokes, mediaType, model, schemaVersion, toolProviders)"
            ),
        ),
    ],
)
def test_a_message_says_what_is_wrong_and_what_would_be_right(members: dict[str, Any], message: str) -> None:
    assert only(agent(**members)).message == message


def test_messages_of_lists_numbers_and_conditions() -> None:
    provider = SAMPLES["agentsuite/tool-provider"]()
    provider["tools"][0]["effects"] = ["a", "b", "a"]
    provider["tools"][1].pop("approval")
    provider["variants"][0]["runtime"]["abi"] = "uclibc"
    provider["variants"][0]["files"][1].update(mode=512, linkTarget="x")
    provider["remote"]["network"] = []
    assert [error.message for error in errors(provider, "agentsuite/tool-provider")] == [
        "must hold at least 1 item (a list of one or more network destination references, each once)",
        "items 0 and 2 are equal (a list of effects, each once)",
        "the member 'delegatedAuthorization' needs 'approval'",
        "the member 'linkTarget' does not belong here (a file has a size and a digest, and no linkTarget)",
        "must be at most 511 (permission bits as a decimal integer from 0 to 511 (octal 777))",
        "must be one of 'static', 'gnu', 'musl' (the C library that the payload needs)",
    ]


def test_a_missing_member_is_described() -> None:
    document = agent()
    del document["id"]
    assert only(document) == SchemaError((), "required", f"the member 'id' is missing ({IDENTIFIER})", "")
    document = agent()
    del document["invokes"][0]["maxDepth"]
    expected = "the member 'maxDepth' is missing (an integer of 1 or more)"
    assert only(document) == SchemaError(("invokes", 0), "required", expected, "invocation")


def test_a_value_is_shown_only_when_asked_for() -> None:
    document = agent(id="Secret\n\x1b[31m\u202e" + "x" * 200)
    assert "Secret" not in only(document).message
    shown = only(document, show_values=True).message
    assert shown.startswith(f"must be {IDENTIFIER}; found 'Secret\\n\\x1b[31m\\u202exxx")
    assert shown.endswith("...")
    assert len(shown.partition("; found ")[2]) == 80
    assert shown.isprintable()


def test_the_name_of_an_unknown_member_is_shortened_and_printable() -> None:
    error = only(agent(**{"\x1b" * 5_000: 1}))
    assert error.path == ("\x1b" * 5_000,)
    assert error.message.isprintable()
    assert len(error.message) < 300


# --- which errors, how many, in which order ----------------------------------------------------------------------


def test_one_error_for_each_missing_and_each_unknown_member() -> None:
    document = {name: value for name, value in agent(x=1, y=2).items() if name not in {"id", "model"}}
    assert [(error.path, error.keyword) for error in errors(document)] == [
        ((), "required"),
        ((), "required"),
        (("x",), "additionalProperties"),
        (("y",), "additionalProperties"),
    ]


def test_errors_come_in_the_order_of_paths_positions_as_numbers() -> None:
    wrong = {"agent": "editor", "maxConcurrent": 0, "maxDepth": 1}
    found = errors(agent(invokes=[dict(wrong) for _ in range(11)], id="A"))
    assert [error.path for error in found] == [("id",), *(("invokes", n, "maxConcurrent") for n in range(11))]


def test_errors_are_bounded() -> None:
    found = errors(agent(toolProviders=[None] * 100_000))
    assert len(found) == MAX_ERRORS + 1
    assert found[-1] == SchemaError((), "limit", "there are more than 100 errors; the others are not shown")
    assert len(errors(agent(toolProviders=[None] * MAX_ERRORS))) == MAX_ERRORS
    assert len(errors(agent(**{f"x{number}": 1 for number in range(1000)}))) == MAX_ERRORS + 1


def test_long_lists_of_objects_are_compared_in_linear_time() -> None:
    provider = SAMPLES["agentsuite/tool-provider"]()
    provider["variants"][0]["network"] = [{"scheme": "a", "host": str(n), "port": 1} for n in range(5_000)]
    provider["id"] = "A"
    start = time.process_time()
    assert [error.path for error in errors(provider, "agentsuite/tool-provider")] == [("id",)]
    assert time.process_time() - start < 5, "pair by pair takes a minute"


# --- numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1.0, 1.5, -0.0, 1e300, float("nan"), float("inf")])
def test_a_float_is_refused_anywhere_in_an_agentsuite_document(engine: str, number: float) -> None:
    document = agent(description=number)
    document["invokes"][0]["maxDepth"] = number
    document["surprise"] = {"deep": [number]}
    assert not validator(AGENT).is_valid(document)
    found = {(error.path, error.keyword) for error in errors(document)}
    assert found == {
        (("description",), "type"),
        (("invokes", 0, "maxDepth"), "type"),
        (("surprise",), "additionalProperties"),
        (("surprise", "deep", 0), "type"),
    }


def test_a_float_in_an_oci_document_is_judged_alike_by_both_engines(engine: str) -> None:
    index = SAMPLES["oci/image-index"]()
    assert validator("oci/image-index").is_valid({**index, "more": 2.0})
    assert not validator("oci/image-index").is_valid({**index, "schemaVersion": 2.0})


@pytest.mark.parametrize("number", [2**53, 2**64, 10**400])
def test_a_huge_integer_is_an_integer(engine: str, number: int) -> None:
    document = agent()
    document["invokes"][0]["maxDepth"] = number
    assert errors(document) == []


# --- two engines -------------------------------------------------------------------------------------------------


class Refuses:
    def is_valid(self, _instance: Any) -> bool:
        return False


class Fails:
    def is_valid(self, _instance: Any) -> bool:
        raise ValueError("not JSON")


@pytest.mark.parametrize("fake", [Refuses(), Fails()])
def test_a_disagreement_is_no_pass(monkeypatch: pytest.MonkeyPatch, fake: Any) -> None:
    monkeypatch.setattr(_engines, "fast", lambda _name, _form: fake)
    assert not validator(AGENT).is_valid(agent())
    error = only(agent())
    assert (error.path, error.keyword) == ((), "engines")
    assert only(agent(id="A")).keyword == "pattern"


@pytest.mark.parametrize("form", ["packed", "authoring"])
def test_a_verdict_is_given_without_references(form: Any) -> None:
    """What a schema refers to stands in its place, and a property called `description` stays a property."""
    for name in _store.names():
        schema = _engines.verdict(name, form).schema  # type: ignore[attr-defined]
        assert "$ref" not in json.dumps(schema)
        properties = _store.resources(form)[_store.uri(name)].get("properties", {})
        assert schema.get("properties", {}).keys() == properties.keys()


def test_a_circle_of_references_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node", "description": "the next one"}}}
    schema = {"$id": "https://x.invalid/list.json", "$ref": "#/$defs/node", "$defs": {"node": node}}
    monkeypatch.setattr(_engines, "resources", lambda _form: {"https://x.invalid/list.json": schema})
    monkeypatch.setattr(_engines, "uri", lambda _name: "https://x.invalid/list.json")
    monkeypatch.setattr(_engines, "_registry", _engines._registry.__wrapped__)
    verdict = _engines.verdict.__wrapped__("list", "packed")
    assert verdict.is_valid({"next": {"next": {"next": {}}}})
    assert not verdict.is_valid({"next": {"next": {"next": 5}}})


def test_without_the_fast_engine_jsonschema_judges_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "jsonschema_rs":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    assert _engines.fast.__wrapped__(AGENT, "packed") is None
    monkeypatch.setattr(_engines, "fast", _engines.fast.__wrapped__)
    assert validator(AGENT).is_valid(agent())
    assert only(agent(id="A")).keyword == "pattern"


def test_a_fast_engine_without_a_registry_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    rust = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    monkeypatch.delattr(rust, "Registry")
    assert _engines.fast.__wrapped__(AGENT, "packed") is None


def test_engines_are_imported_when_something_is_judged() -> None:
    code = (
        "import sys, agentsuite_schemas as s; v = s.validator('agentsuite/agent'); s.names(); s.load('oci/common')\n"
        "assert not {'jsonschema', 'jsonschema_rs', 'referencing'} & sys.modules.keys(), 'too early'\n"
        "assert not v.is_valid({}) and {'jsonschema', 'jsonschema_rs'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- nothing is fetched ------------------------------------------------------------------------------------------


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    tried: list[str] = []

    def refuse(*arguments: Any, **_options: Any) -> NoReturn:
        tried.append(repr(arguments))
        raise AssertionError("an engine tried to fetch something")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    yield tried
    assert tried == []


@pytest.mark.parametrize("place", ["http://127.0.0.1:9/schema.json", "https://example.org/schema.json", "file"])
def test_a_foreign_reference_is_not_resolved(
    monkeypatch: pytest.MonkeyPatch, offline: list[str], tmp_path: Any, place: str
) -> None:
    if place == "file":
        target = tmp_path / "schema.json"
        target.write_text('{"type": "object"}')
        place = target.as_uri()
    foreign = {**_store.resources("packed"), _store.uri(AGENT): {"$id": _store.uri(AGENT), "$ref": place}}
    monkeypatch.setattr(_engines, "resources", lambda _form: foreign)
    with pytest.raises(Exception, match=r"nothing is ever fetched|Unresolvable"):
        _engines.thorough.__wrapped__(AGENT, "packed").is_valid({})
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    with pytest.raises(Exception, match=r"nothing is ever fetched|Unresolvable|not present"):
        _engines.fast.__wrapped__(AGENT, "packed")


def test_a_reference_inside_a_document_is_only_text(engine: str, offline: list[str]) -> None:
    found = errors(agent(**{"$ref": "http://127.0.0.1:9/x", "$schema": "http://127.0.0.1:9/y"}))
    assert [error.path for error in found] == [("$ref",), ("$schema",)]


# --- the objects themselves --------------------------------------------------------------------------------------


def test_validators_are_cached_values() -> None:
    assert validator(AGENT) is validator(AGENT)
    assert validator(AGENT) == Validator(AGENT)
    assert authoring(AGENT) != validator(AGENT)
    with pytest.raises(LookupError, match="no schema is named"):
        validator("agentsuite/nothing")
    with pytest.raises(LookupError, match="no schema is named"):
        authoring("agentsuite/nothing")


@pytest.mark.parametrize("value", [None, [], "text", 7, True, 0.5, {}, {"id": {"id": {}}}, {"": digest("a")}])
def test_any_json_is_judged(engine: str, value: Any) -> None:
    for name in SAMPLES:
        assert not validator(name).is_valid(value)
        assert errors(value, name)
