"""AS-PROVIDER-001: what tools name as their schemas are self-contained JSON Schemas (9.2, 5.3); nothing is fetched."""

from __future__ import annotations

import importlib.util
import json
import socket
from pathlib import Path
from typing import Any

import pytest

import agentsuite_schemas
from agentsuite_schemas import _meta
from hatch_agentsuite.findings import Finding
from hatch_agentsuite.jsondoc import JSONLimits
from hatch_agentsuite.limits import DEFAULT_LIMITS, Limits
from hatch_agentsuite.validation import tool_schemas, validate
from tests.validation import contents
from tests.validation.suites import SuiteBuilder

INPUT, OUTPUT = "schemas/input.json", "schemas/output.json"
DRAFT = "https://json-schema.org/draft/"
OLD = "http://json-schema.org/draft-0"


@pytest.fixture(params=["jsonschema", "jsonschema-rs"], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge with jsonschema alone, or with jsonschema-rs first where that is installed: the verdict is the same."""
    if request.param == "jsonschema":
        monkeypatch.setattr(_meta, "_fast", lambda _uri: None)
    elif importlib.util.find_spec("jsonschema_rs") is None:
        pytest.skip("jsonschema-rs is not installed")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a connection fails the test."""

    def refuse(*_arguments: Any) -> None:
        raise AssertionError("nothing may be fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def judge(folder: Path, data: bytes, path: str = INPUT, limits: Limits = DEFAULT_LIMITS) -> list[Finding]:
    """Return the findings about a suite in which one tool schema is these bytes."""
    builder = SuiteBuilder()
    builder.files[path] = data
    return list(validate(builder.directory(folder / "suite"), limits).findings)


def locations(findings: list[Finding]) -> list[str]:
    assert {finding.requirement for finding in findings} <= {"AS-PROVIDER-001"}
    assert all(finding.is_error and finding.category == "tool-provider" for finding in findings)
    return [finding.location for finding in findings]


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        {"type": "object"},
        {"type": ["object", "null"]},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}},
        {"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}},
        {"$ref": "#/nowhere"},
        {"$dynamicRef": "#node", "$defs": {"a": {"$dynamicAnchor": "node"}}},
        {"$id": "https://a.example/root", "$ref": "https://a.example/root#/$defs/a", "$defs": {"a": True}},
        {"$id": "https://a.example/root", "$ref": "part", "$defs": {"a": {"$id": "part", "type": "object"}}},
        {"$id": "urn:example:root", "items": {"$ref": "urn:example:root#/$defs/a"}},
        {"properties": {"$ref": {"type": "string"}, "$schema": {"type": "string"}, "type": {"type": "string"}}},
        {"properties": {"const": {"type": "string"}, "enum": {"$ref": "#"}}},
        {"const": {"$ref": "https://a.example/x"}, "enum": [{"$ref": "b.json"}], "default": {"$ref": "c.json"}},
        {"examples": [{"$ref": "https://a.example/x"}]},
        {"pattern": "("},
        {"pattern": "^(a+)+$", "format": "no-such-format", "patternProperties": {"(": True}},
        {"minLength": 1.0},
        {"x-vendor": 5},
        {"$schema": DRAFT + "2020-12/schema", "prefixItems": [True]},
        {"$schema": DRAFT + "2020-12/schema#"},
        {"$schema": DRAFT + "2019-09/schema", "items": [True], "$recursiveRef": "#"},
        {"$schema": OLD + "7/schema#", "items": [{"type": "string"}], "prefixItems": 5},
        {"$schema": OLD + "6/schema#", "exclusiveMinimum": 5},
        {"$schema": OLD + "4/schema#", "exclusiveMinimum": True, "minimum": 5, "id": "https://a.example/r",
         "items": {"$ref": "https://a.example/r#/definitions/a"}},
        {"$schema": OLD + "3/schema#", "properties": {"a": {"required": True, "type": ["any", {"type": "null"}]}}},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_accepted(tmp_path: Path, schema: Any) -> None:
    assert locations(judge(tmp_path, json.dumps(schema).encode())) == []


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        (5, ""),
        (None, ""),
        ([], ""),
        ("object", ""),
        ({"type": "text"}, "/type"),
        ({"type": ["object", "object"]}, "/type"),
        ({"type": "object", "properties": {"a": {"minLength": -1}}}, "/properties/a/minLength"),
        ({"properties": {"a/b": 5}}, "/properties/a~1b"),
        ({"properties": []}, "/properties"),
        ({"items": [True]}, "/items"),
        ({"required": "a"}, "/required"),
        ({"required": ["a", "a"]}, "/required"),
        ({"allOf": []}, "/allOf"),
        ({"not": {"not": {"not": {"title": 5}}}}, "/not/not/not/title"),
        ({"anyOf": [True, {"oneOf": [{"enum": 5}]}]}, "/anyOf/1/oneOf/0/enum"),
        ({"multipleOf": 0}, "/multipleOf"),
        ({"$ref": 5}, "/$ref"),
        ({"$anchor": "a\n"}, "/$anchor"),
        ({"$id": "#\n"}, "/$id"),
        ({"$schema": "https://a.example/dialect"}, "/$schema"),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema/"}, "/$schema"),
        ({"$schema": "file:///etc/passwd"}, "/$schema"),
        ({"$schema": 5}, "/$schema"),
        ({"$schema": ""}, "/$schema"),
        ({"$schema": OLD + "7/schema", "exclusiveMinimum": True}, "/exclusiveMinimum"),
        ({"$schema": OLD + "6/schema", "type": "any"}, "/type"),
        ({"$schema": OLD + "4/schema", "exclusiveMinimum": 5, "minimum": 5}, "/exclusiveMinimum"),
        ({"$schema": OLD + "3/schema", "items": 5}, "/items"),
        ({"$schema": DRAFT + "2019-09/schema", "unevaluatedItems": 5}, "/unevaluatedItems"),
    ],
    ids=json.dumps,
)
def test_no_json_schema(tmp_path: Path, schema: Any, where: str) -> None:
    """Each is refused by the metaschema of its dialect, 2020-12 where it names none; unknown dialects are refused."""
    findings = judge(tmp_path, json.dumps(schema).encode(), OUTPUT)
    assert locations(findings) == [f"{OUTPUT}#{where}"]
    assert findings[0].message.startswith("this is no valid JSON Schema: ")


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"$ref": "https://a.example/x.json"}, "/$ref"),
        ({"$ref": "https://a.example/x.json#/$defs/a"}, "/$ref"),
        ({"$ref": "http://json-schema.org/draft-07/schema#"}, "/$ref"),
        ({"$ref": "output.json"}, "/$ref"),
        ({"$ref": "../agents/writer.json"}, "/$ref"),
        ({"$ref": "file:///etc/passwd"}, "/$ref"),
        ({"$ref": "//a.example/x"}, "/$ref"),
        ({"$ref": "?x"}, "/$ref"),
        ({"$ref": "http://["}, "/$ref"),
        ({"$dynamicRef": "other.json#node"}, "/$dynamicRef"),
        ({"$schema": DRAFT + "2019-09/schema", "$recursiveRef": "x.json#"}, "/$recursiveRef"),
        ({"properties": {"a": {"items": {"$ref": "x.json"}}}}, "/properties/a/items/$ref"),
        ({"properties": {"enum": {"$ref": "x.json"}}}, "/properties/enum/$ref"),
        ({"dependentSchemas": {"a": {"$ref": "x.json"}}}, "/dependentSchemas/a/$ref"),
        ({"allOf": [True, {"$ref": "x.json"}]}, "/allOf/1/$ref"),
        ({"x-vendor": [[{"$ref": "x.json"}]]}, "/x-vendor/0/0/$ref"),
        ({"$id": "https://a.example/root", "$ref": "part"}, "/$ref"),
        ({"$schema": OLD + "4/schema", "$id": "https://a.example/r", "items": {"$ref": "https://a.example/r"}},
         "/items/$ref"),
    ],
    ids=json.dumps,
)  # fmt: skip
def test_reference_out_of_the_file(tmp_path: Path, schema: Any, where: str) -> None:
    """Refused where it stands, whether or not the target exists; nothing is opened for it."""
    findings = judge(tmp_path, json.dumps(schema).encode())
    assert [item for item in locations(findings) if "Ref" in item or "$ref" in item] == [f"{INPUT}#{where}"]
    assert "leads out of the file" in findings[-1].message


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        (b'{"type":\n}', (f"{INPUT}#", 2, 1), "this is not JSON"),
        (b'{"type": "object", "type": "object"}', (f"{INPUT}#/type", None, None), "twice"),
        (b'\xef\xbb\xbf{"type": "object"}', (f"{INPUT}#", None, None), "byte-order mark"),
        (b'{"maximum": NaN}', (f"{INPUT}#/maximum", None, None), "NaN"),
        (b'{"type": "\xff"}', (f"{INPUT}#", 1, 11), "UTF-8"),
        (b'{"not":' * 101 + b"{}" + b"}" * 101, (f"{INPUT}#", 1, 1), "100 levels"),
        (b"", (f"{INPUT}#", 1, 1), "this is not JSON"),
    ],
)  # fmt: skip
def test_strict_json(tmp_path: Path, data: bytes, place: tuple[str, int | None, int | None], message: str) -> None:
    """5.3: what is refused in a document is refused in a schema, with line and column where they are known."""
    [finding] = judge(tmp_path, data)
    assert (finding.location, finding.line, finding.column) == place
    assert message in finding.message
    assert locations([finding])


@pytest.mark.parametrize(
    ("type_", "accepted"),
    [("object", True), (["object"], True), (["null", "object"], True), ("array", False), (["string", "null"], False)],
)
def test_input_is_an_object(tmp_path: Path, type_: Any, accepted: bool) -> None:
    """9.2: a model gives a tool named inputs; what a tool returns may be of any type."""
    data = json.dumps({"type": type_}).encode()
    assert locations(judge(tmp_path / "input", data)) == ([] if accepted else [f"{INPUT}#/type"])
    assert locations(judge(tmp_path / "output", data, OUTPUT)) == []


def test_file_of_another_name_is_a_warning(tmp_path: Path) -> None:
    """9.2 asks for a digest only; what is not read as JSON cannot be judged."""
    builder = SuiteBuilder()
    builder.files["schemas/zones.schema"] = b"no JSON at all"
    builder.edit(contents.ZONES, "tools/0/inputSchema/path", "schemas/zones.schema")
    [finding] = validate(builder.directory(tmp_path / "suite")).findings
    assert (finding.requirement, finding.severity) == ("AS-PROVIDER-001", "warning")
    assert finding.location == "schemas/zones.schema"


def test_file_beyond_the_document_limit(tmp_path: Path) -> None:
    """5.2: a schema that is too large to be read is refused, one that just fits is not."""
    largest = max(len(data) for path, data in SuiteBuilder().seal().bytes_of().items() if path.endswith(".json"))
    limits = Limits(JSONLimits(document_bytes=largest + 10))
    fits = json.dumps({"title": "x" * (largest - 3)}).encode()
    assert len(fits) == largest + 10
    assert judge(tmp_path / "fits", fits, limits=limits) == []
    assert locations(judge(tmp_path / "large", fits + b" ", limits=limits)) == [INPUT]


@pytest.mark.parametrize("part", [{}, True, {"type": "string"}], ids=str)
def test_number_of_subschemas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: Any) -> None:
    """5.2, 9.2: each costs its dialect's judgement; a file with too many is refused before any of that is spent."""
    monkeypatch.setattr(tool_schemas, "MAX_SUBSCHEMAS", 8)  # the schema itself is one, and seven parts
    most = {"type": "object", "anyOf": [part] * 7}
    assert judge(tmp_path / "most", json.dumps(most).encode()) == []
    judged: list[Any] = []

    def judged_by_nobody(schema: Any) -> list[Any]:
        judged.append(schema)
        return []

    monkeypatch.setattr(agentsuite_schemas, "schema_errors", judged_by_nobody)
    more = {"type": "object", "default": ["no object", 5], "anyOf": [part] * 8}
    found = judge(tmp_path / "more", json.dumps(more).encode())
    assert locations(found) == [INPUT]
    assert "more than 8 objects and booleans" in found[0].message
    assert more not in judged


def test_largest_schema_does_not_take_minutes(tmp_path: Path) -> None:
    """5.2: a file that fills the limit of a document with subschemas is refused at once."""
    data = b'{"type":"object","allOf":[' + b"{}," * 1_300_000 + b"{}]}"
    assert locations(judge(tmp_path, data)) == [INPUT]


def test_file_that_several_tools_name_is_judged_once(tmp_path: Path) -> None:
    assert len(SuiteBuilder().at(contents.CATALOG, "toolProviders")) > 1
    assert locations(judge(tmp_path, b"5")) == [f"{INPUT}#"]


@pytest.mark.parametrize("form", ["layout", "archive"])
def test_in_a_layer_as_in_a_directory(tmp_path: Path, form: str) -> None:
    builder = SuiteBuilder()
    builder.files[OUTPUT] = b'{"$ref": "x.json"}'
    assert locations(list(validate(getattr(builder, form)(tmp_path / "made")).findings)) == [f"{OUTPUT}#/$ref"]


def test_values_are_not_repeated(tmp_path: Path) -> None:
    """16: a finding names the place and never shows what stands there."""
    schema = {"type": "hidden-word", "required": ["hidden-word", "hidden-word"], "$ref": "https://hidden-word/"}
    findings = judge(tmp_path, json.dumps(schema).encode(), OUTPUT)
    assert len(findings) == 3
    assert "hidden-word" not in str(findings)


@pytest.mark.parametrize(
    "schema",
    [
        {"required": [[number] if number % 2 else {} for number in range(100_000)]},
        {"$schema": OLD + "4/schema", "enum": [[number] if number % 2 else {} for number in range(100_000)]},
        {"allOf": [{"$ref": f"x{number}.json"} for number in range(2_000)]},
        {"pattern": "(a*)*" * 1000 + "$"},
    ],
    ids=["required", "enum", "references", "pattern"],
)
def test_schema_made_to_take_long(tmp_path: Path, schema: Any) -> None:
    """Equal items are found in linear time, patterns are not compiled, and the number of findings is bounded."""
    assert len(judge(tmp_path, json.dumps(schema).encode(), OUTPUT)) <= 201


def test_deepest_schema(tmp_path: Path) -> None:
    """5.2 allows 100 levels; all of them are judged, whatever is wrong stands at the bottom."""
    data = b'{"not":' * 99 + b'{"type":"text"}' + b"}" * 99
    assert locations(judge(tmp_path, data)) == [f"{INPUT}#{'/not' * 99}/type"]
