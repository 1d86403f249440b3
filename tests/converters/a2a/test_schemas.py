"""The two schemas of Agent Cards: that of 1.0 is what the SDK's descriptor says, and no rule is there for show."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agentsuite_schemas import _engines, _store, load, names, validator
from tests.converters.a2a.broken import BROKEN, OLD_BROKEN, SCHEMA, fresh
from tests.converters.a2a.cards import ISSUER, card, old
from tests.converters.mutations import DROP, changed
from tests.schemas.mutations import of_another_type
from tests.schemas.test_files import subschemas

FLOW = {"authorizationUrl": ISSUER, "tokenUrl": ISSUER, "refreshUrl": ISSUER, "scopes": {"a": "b"}}


def flow(*names: str) -> Any:
    return copy.deepcopy({name: FLOW.get(name, ISSUER) for name in names})


def whole_old() -> Any:
    """A card of 0.3 with every member of every scheme."""
    document = old()
    document["signatures"][0]["header"] = {}
    document["skills"][0]["security"] = [{"bearer": ["tides:read"]}]
    document["capabilities"]["extensions"][0] |= {"description": "Units", "required": False}
    for scheme in document["securitySchemes"].values():
        scheme["description"] = "Login"
    document["securitySchemes"]["code"] |= {
        "oauth2MetadataUrl": ISSUER,
        "flows": {
            "authorizationCode": flow("authorizationUrl", "tokenUrl", "refreshUrl", "scopes"),
            "clientCredentials": flow("tokenUrl", "refreshUrl", "scopes"),
            "implicit": flow("authorizationUrl", "refreshUrl", "scopes"),
            "password": flow("tokenUrl", "refreshUrl", "scopes"),
        },
    }
    return document


def whole() -> Any:
    """A card of 1.0 with every member of every scheme."""
    document = card()
    flows = {
        "client": flow("tokenUrl", "refreshUrl", "scopes"),
        "device": flow("deviceAuthorizationUrl", "tokenUrl", "refreshUrl", "scopes"),
        "implicit": flow("authorizationUrl", "refreshUrl", "scopes"),
        "password": flow("tokenUrl", "refreshUrl", "scopes"),
    }
    for name, described in flows.items():
        [kind] = document["securitySchemes"][name]["oauth2SecurityScheme"]["flows"]
        document["securitySchemes"][name]["oauth2SecurityScheme"]["flows"] = {kind: described}
    for scheme in document["securitySchemes"].values():
        [kind] = scheme
        scheme[kind]["description"] = "Login"
    return document


BUILD: dict[str, Callable[[], Any]] = {"a2a/card-0.3": whole_old, "a2a/card-1.0": whole}
by_name = pytest.mark.parametrize("name", BUILD)


def everything_but_one(build: Callable[[], Any]) -> Iterator[Any]:
    """Yield the document without any one member, and with one unknown member in any object."""
    for at in _objects(build(), ""):
        holder = json.loads(json.dumps(build()))
        yield changed(holder, f"{at}/surprise", 1)
        for name in _member(build(), at):
            yield changed(build(), f"{at}/{name.replace('~', '~0').replace('/', '~1')}", DROP)


def _objects(value: Any, at: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield at
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for token, member in members:
        yield from _objects(member, f"{at}/{token}")


def _member(value: Any, at: str) -> Any:
    for token in at.split("/")[1:]:
        value = value[int(token) if isinstance(value, list) else token]
    return value


def candidates(name: str) -> list[Any]:
    """Documents of which many are wrong."""
    build = BUILD[name]
    table = BROKEN if name == "a2a/card-1.0" else OLD_BROKEN
    found = [changed(build(), where, fresh(value)) for where, value, *_ in table]
    found += [changed(build(), at, type(_member(build(), at))()) for at in _places(build(), "")]
    found += [document for _, document in of_another_type(build)]
    return [*found, *everything_but_one(build)]


def _places(value: Any, at: str) -> Iterator[str]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for token, member in members:
        yield f"{at}/{token}"
        yield from _places(member, f"{at}/{token}")


def test_the_schema_of_1_0_is_what_the_descriptor_says() -> None:
    """The proto is normative (ADR-001); `python schemas/generate_a2a.py` writes the schema anew."""
    pytest.importorskip("a2a", reason="a2a-sdk is not installed")
    import importlib.util
    from pathlib import Path

    script = Path(__file__).parents[3] / "schemas" / "generate_a2a.py"
    spec = importlib.util.spec_from_file_location("generate_a2a", script)
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert json.dumps(generate.schema(), indent=2) + "\n" == generate.TARGET.read_text(encoding="utf-8")


@by_name
def test_a_schema_is_a_valid_schema_under_its_own_name(name: str) -> None:
    assert name in names()
    schema = load(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"https://hatch-agentsuite.dev/schemas/{name}.json"
    Draft202012Validator.check_schema(schema)
    uses = {part["$ref"].rpartition("/")[2] for _, part in subschemas(schema) if "$ref" in part}
    assert schema["$defs"].keys() == uses


@by_name
def test_every_object_is_closed_but_those_that_hold_anything(name: str) -> None:
    """Struct members (`params`, `header`) are open, maps have values of one kind, all other objects are closed."""
    opened = {
        at[-1]
        for at, part in subschemas(load(name))
        if part.get("type") == "object" and not {"additionalProperties", "allOf"} & part.keys()
    }
    assert opened == {"params", "header"}


@by_name
def test_every_rule_is_explained(name: str) -> None:
    for at, part in subschemas(load(name)):
        if {"type", "enum", "minItems", "minLength", "minProperties", "oneOf"} & part.keys() and "if" not in at:
            assert part.get("description") or "oneOf" in at, at


@by_name
def test_both_engines_say_the_same(name: str) -> None:
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    fast, thorough = _engines.fast(name, "packed"), _engines.thorough(name, "packed")
    assert fast is not None
    documents = [BUILD[name](), *candidates(name)]
    assert {fast.is_valid(document) for document in documents} == {True, False}
    for document in documents:
        assert fast.is_valid(document) == thorough.is_valid(document)


RULES = ("additionalProperties", "enum", "minItems", "minLength", "minProperties", "oneOf", "type")


def weakened(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield the schema without one of its rules, for every rule and every required member."""
    for at, part in subschemas(schema):
        if "if" in at or ("oneOf" in at and at[-1] != "oneOf"):
            continue
        for keyword in RULES:
            if keyword in part and not (keyword == "type" and "oneOf" in part):  # which explains what `oneOf` refuses
                yield f"{at} {keyword}", _without(schema, at, keyword)
        for member in part.get("required", []):
            rest = [other for other in part["required"] if other != member]
            yield f"{at} required {member}", _without(schema, at, "required", rest)


def _without(schema: Any, at: tuple[Any, ...], keyword: str, rest: Any = None) -> Any:
    copied = json.loads(json.dumps(schema))
    part = copied
    for step in at:
        part = part[step]
    del part[keyword]
    if rest is not None:
        part[keyword] = rest
    return copied


@by_name
def test_without_any_one_rule_something_wrong_passes(name: str) -> None:
    rust = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    wrong = [document for document in candidates(name) if not validator(name).is_valid(document)]
    unnoticed = []
    for rule, schema in weakened(load(name)):
        registry = rust.Registry(list({**_store.resources("packed"), schema["$id"]: schema}.items()))
        judge = rust.Draft202012Validator({"$ref": _store.uri(name)}, registry=registry)
        if not any(judge.is_valid(document) for document in wrong):
            unnoticed.append(rule)
    assert unnoticed == []


def test_rules_that_the_published_schema_of_a2a_lacks() -> None:
    """Section 5.7 and `field_behavior`: `{}` is no card, nor is one with empty lists, two schemes or snake_case."""
    refused = [row for row in BROKEN if row[2] == SCHEMA]
    assert len(refused) > 30
    assert not validator("a2a/card-1.0").is_valid({})
