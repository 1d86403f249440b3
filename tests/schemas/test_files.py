"""The schema files themselves: valid, closed, explained, portable between engines, and without an untested rule."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agentsuite_schemas import _store, load, names
from tests.schemas.mutations import DROP, MUTATIONS, changed, of_another_type
from tests.schemas.samples import SAMPLES

FILES = (*SAMPLES, "agentsuite/common", "oci/common")
RULES = {
    "additionalProperties", "anyOf", "const", "dependentRequired", "enum", "if", "items", "maxItems", "maxLength",
    "maximum", "minItems", "minLength", "minimum", "not", "pattern", "properties", "propertyNames", "required", "type",
    "uniqueItems",
}  # fmt: skip
STRUCTURE = {"$schema", "$id", "$defs", "$ref", "title", "description", "allOf", "then", "else"}


def subschemas(schema: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Yield every schema within a schema, with its place."""
    if not isinstance(schema, dict):
        return
    yield at, schema
    for keyword in ("properties", "$defs"):
        for name, part in schema.get(keyword, {}).items():
            yield from subschemas(part, (*at, keyword, name))
    for keyword in ("allOf", "anyOf", "oneOf"):
        for position, part in enumerate(schema.get(keyword, [])):
            yield from subschemas(part, (*at, keyword, position))
    for keyword in ("items", "additionalProperties", "propertyNames", "not", "if", "then", "else"):
        yield from subschemas(schema.get(keyword), (*at, keyword))


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_a_valid_schema_under_its_own_name(name: str) -> None:
    schema = load(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"https://hatch-agentsuite.dev/schemas/{name}.json"
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", FILES)
def test_no_keyword_is_unknown(name: str) -> None:
    assert {keyword for _, part in subschemas(load(name)) for keyword in part} <= RULES | STRUCTURE


@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith("oci/")])
def test_every_object_is_closed(name: str) -> None:
    objects = [(at, part) for at, part in subschemas(load(name)) if part.get("type") == "object"]
    assert objects or name == "agentsuite/common"
    for at, part in objects:
        assert part["additionalProperties"] is False, at
        assert part["properties"], at


@pytest.mark.parametrize("name", FILES)
def test_patterns_mean_the_same_in_both_engines(name: str) -> None:
    for at, part in subschemas(load(name)):
        pattern = part.get("pattern", "")
        whole = pattern.startswith("^") and pattern.endswith("$(?!\\n)")
        pattern = pattern.removesuffix("$(?!\\n)")
        classes = re.sub(r"\\u[0-9a-f]{4}|\\[.$\\+]|\[[^]]*]", "", pattern)
        assert not re.search(r"[\^$]", classes.removeprefix("^") if whole else classes), (
            f"{at}: anchored at one end only, or by a bare `$`"
        )
        assert not re.search(r"\\[A-Zac-tv-z]", pattern), f"{at}: a class such as \\d or \\s"
        assert pattern.isascii()
        re.compile(pattern)


@pytest.mark.parametrize("name", FILES)
def test_every_rule_is_explained(name: str) -> None:
    silent = {"required", "properties", "propertyNames", "items", "additionalProperties", "if"}
    for at, part in subschemas(load(name)):
        inside_condition = {"if", "not", "anyOf"} & {step for step in at if isinstance(step, str)}
        if RULES & part.keys() - silent and not inside_condition:
            assert part.get("description"), at


@pytest.mark.parametrize("name", FILES)
def test_every_reference_leads_somewhere(name: str) -> None:
    for _, part in subschemas(load(name)):
        if "$ref" in part:
            assert set(part) == {"$ref"}, "a rule beside a reference"
            document, _, definition = part["$ref"].partition("#/$defs/")
            here = name.split("/", maxsplit=1)[0]
            target = {"": name, "common.json": f"{here}/common", "../agentsuite/common.json": "agentsuite/common"}
            assert definition in load(target[document])["$defs"]


@pytest.mark.parametrize("folder", ["agentsuite", "oci", "hatch"])
def test_every_definition_is_used(folder: str) -> None:
    schemas = {name: load(name) for name in (*names(), "agentsuite/common", "oci/common")}
    uses = {part["$ref"].rpartition("/")[2] for schema in schemas.values() for _, part in subschemas(schema)
            if "$ref" in part}  # fmt: skip
    for name, schema in schemas.items():
        if name.startswith(f"{folder}/"):
            assert schema.get("$defs", {}).keys() <= uses


def test_names_are_sorted_documents_and_load_gives_a_copy() -> None:
    assert list(names()) == sorted(names())
    assert {"agentsuite/agent", "oci/oci-layout", "hatch/metadata-files"} <= set(names())
    assert "agentsuite/common" not in names()
    load("agentsuite/agent").clear()
    assert load("agentsuite/agent")["title"]
    with pytest.raises(LookupError, match="no schema is named 'agentsuite/agnet'"):
        load("agentsuite/agnet")


# --- no rule is there for show -----------------------------------------------------------------------------------


def weakened(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the schema without one of its rules, for every rule; what an `if` or a `not` holds is no rule."""
    for at, part in subschemas(schema):
        if {"if", "not"} & set(at):
            continue
        for keyword in sorted(RULES & part.keys() - {"properties", "items", "if"}):
            yield f"{at} {keyword}", changed(copy.deepcopy(schema), (*at, keyword), DROP)
        for member in part.get("required", []):
            others = [other for other in part["required"] if other != member]
            yield f"{at} required {member}", changed(copy.deepcopy(schema), (*at, "required"), others)


@pytest.fixture(scope="module")
def refused_documents() -> dict[str, list[Any]]:
    found = {name: [document for _, document in of_another_type(build, (7, "x"))] for name, build in SAMPLES.items()}
    for mutation in MUTATIONS:
        found[mutation.schema].append(mutation.document())
    neither = SAMPLES["agentsuite/tool-provider"]()
    del neither["variants"], neither["remote"]
    found["agentsuite/tool-provider"].append(neither)
    return found


@pytest.mark.parametrize("name", FILES)
def test_without_any_one_rule_something_wrong_passes(name: str, refused_documents: dict[str, list[Any]]) -> None:
    rust = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")
    users = [user for user in SAMPLES if user == name or name.endswith("/common")]
    unnoticed = []
    for rule, schema in weakened(load(name)):
        schemas = {**_store.resources("packed"), schema["$id"]: schema}
        registry = rust.Registry(list(schemas.items()))
        judges = ((rust.Draft202012Validator({"$ref": _store.uri(user)}, registry=registry), user) for user in users)
        if not any(judge.is_valid(document) for judge, user in judges for document in refused_documents[user]):
            unnoticed.append(rule)
    assert unnoticed == []
