"""The form that people write: what can be computed may be left out, what is written has to be right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentsuite_schemas import authoring, load
from tests.schemas.mutations import DROP, MUTATIONS, Path, changed, places
from tests.schemas.samples import SAMPLES, digest

PROVIDER = "agentsuite/tool-provider"
CONDITIONAL = ("assertions", "files", "environment", "delegatedAuthorization")
NEEDED: dict[str, set[Path]] = {
    "agentsuite/eval-case": {("runs",)},
    PROVIDER: {("tools", 1, "effect"), ("tools", 1, "approval")},
}
AUTHORED = [name for name in SAMPLES if name.startswith("agentsuite/")]
STILL_REFUSED = [
    mutation
    for mutation in MUTATIONS
    if mutation.keyword != "required" and mutation.where[-1:] != ("sbom",) and mutation.schema in AUTHORED
]


@pytest.mark.parametrize("name", AUTHORED)
def test_a_complete_document_is_accepted(engine: str, name: str) -> None:
    assert list(authoring(name).errors(SAMPLES[name]())) == []


def _without_one_member(name: str) -> Iterator[tuple[Path, Any]]:
    for where, _ in places(SAMPLES[name]()):
        if where and isinstance(where[-1], str) and not set(CONDITIONAL) & set(where):
            yield where, changed(SAMPLES[name](), where, DROP)


@pytest.mark.parametrize("name", AUTHORED)
def test_any_member_may_be_left_out(engine: str, name: str) -> None:
    found = {where: list(authoring(name).errors(document)) for where, document in _without_one_member(name)}
    needed = {where for where, errors in found.items() if errors}
    assert needed == NEEDED.get(name, set())


def test_what_a_condition_asks_for_stays() -> None:
    case = {"assertions": [{"id": "a", "type": "contains"}], "minPasses": 1}
    assert {(error.path, error.keyword) for error in authoring("agentsuite/eval-case").errors(case)} == {
        ((), "dependentRequired"),
        (("assertions", 0), "required"),
    }
    assert [error.keyword for error in authoring(PROVIDER).errors({"tools": [{"name": "a"}]})] == ["anyOf"]


@pytest.mark.parametrize("name", AUTHORED)
def test_what_is_written_has_to_be_right(engine: str, name: str) -> None:
    judge = authoring(name)
    mutations = [mutation for mutation in STILL_REFUSED if mutation.schema == name]
    assert mutations
    assert [mutation.label for mutation in mutations if judge.is_valid(mutation.document())] == []


@pytest.mark.parametrize("member", ["sbom", "provenance"])
@pytest.mark.parametrize(
    "value",
    [
        "evidence/clock.spdx.json",
        {"path": "evidence/clock.spdx.json"},
        {"path": "evidence/clock.spdx.json", "mediaType": "application/spdx+json"},
        {"mediaType": "application/spdx+json", "digest": digest("a"), "size": 1},
        {"mediaType": "application/spdx+json"},
    ],
)
def test_evidence_may_name_a_file(engine: str, member: str, value: Any) -> None:
    assert list(authoring(PROVIDER).errors({"variants": [{member: value}]})) == []


@pytest.mark.parametrize(
    ("value", "at", "keyword"),
    [
        ("/etc/passwd", (), "pattern"),
        ("", (), "pattern"),
        (None, (), "type"),
        (["a"], (), "type"),
        ({"path": "../a"}, ("path",), "pattern"),
        ({"path": "a", "mediaType": ""}, ("mediaType",), "minLength"),
        ({"path": "a", "digest": digest("a")}, ("digest",), "propertyNames"),
        ({"file": "a"}, ("file",), "additionalProperties"),
    ],
)
def test_evidence_is_closed_too(engine: str, value: Any, at: tuple[str, ...], keyword: str) -> None:
    (error,) = authoring(PROVIDER).errors({"variants": [{"sbom": value}]})
    assert (error.path, error.keyword) == (("variants", 0, "sbom", *at), keyword)


def test_the_packed_schema_is_left_alone() -> None:
    authoring(PROVIDER).is_valid({})
    assert "sbom" in load(PROVIDER)["$defs"]["variant"]["properties"]
    assert "evidence" not in load(PROVIDER)["$defs"]
    assert load(PROVIDER)["required"]
