"""Every rule a schema carries: the samples obey it, and one change breaks it where it says."""

from __future__ import annotations

from typing import Any

import pytest

from agentsuite_schemas import names, validator
from tests.schemas.mutations import DROP, MUTATIONS, Mutation, changed, of_another_type
from tests.schemas.samples import SAMPLES, digest

AT = "@" + digest("a")

ACCEPTED: list[tuple[str, tuple[str | int, ...], Any]] = [
    ("agentsuite/suite", ("toolProviderCatalog", "id"), DROP),
    ("agentsuite/suite", ("toolProviderCompositions",), DROP),
    ("agentsuite/suite", ("capabilities",), []),
    ("agentsuite/suite", ("extensions",), DROP),
    ("agentsuite/suite", ("name",), "a" * 128),
    ("agentsuite/suite", ("name",), "0._-"),
    ("agentsuite/suite", ("agents", 0, "path"), "a/...b/.c/..d/é"),
    ("agentsuite/suite", ("agents", 0, "path"), "..."),
    ("agentsuite/suite", ("agents", 0, "path"), "a\n"),
    ("agentsuite/suite", ("agents", 0, "path"), "a" * 1024),
    ("agentsuite/agent", ("description",), "x" * 4096),
    ("agentsuite/agent", ("evals",), []),
    ("agentsuite/agent", ("toolProviders",), DROP),
    ("agentsuite/agent", ("model", "endpointEnv"), "_A1"),
    ("agentsuite/agent", ("model", "endpointEnv"), "LDAP"),
    ("agentsuite/agent", ("model", "endpointEnv"), "PYTHONHOME"),
    *(
        ("agentsuite/agent", ("toolProviders", 0, "version"), version)
        for version in ("0.0.0", "1.0.0-rc.1", "1.0.0-rc.1+build.007", "1.0.0+01", "1.0.0--", "1.0.0-0a", "10.20.30-0")
    ),
    ("agentsuite/eval-case", ("minPasses",), DROP),
    ("agentsuite/eval-case", ("input",), "\u200b"),
    ("agentsuite/eval-case", ("input",), " x" * 1_500_000),
    ("agentsuite/eval-case", ("assertions", 0, "value"), " two words "),
    ("agentsuite/eval-case", ("assertions", 5, "rubric"), "é" * 4096),
    ("agentsuite/eval-case", ("assertions", 5, "minScore"), 0),
    ("agentsuite/eval-case", ("assertions", 5, "minScore"), 100),
    ("agentsuite/tool-provider", ("remote",), DROP),
    ("agentsuite/tool-provider", ("variants",), DROP),
    ("agentsuite/tool-provider", ("retained",), DROP),
    ("agentsuite/tool-provider", ("tools", 1, "delegatedAuthorization"), DROP),
    ("agentsuite/tool-provider", ("variants", 0, "files", 0, "size"), DROP),
    ("agentsuite/tool-provider", ("variants", 0, "files", 2, "size"), 0),
    ("agentsuite/tool-provider", ("variants", 0, "installRoot"), "/"),
    ("agentsuite/tool-provider", ("variants", 0, "installRoot"), "/.a/..b/...\\"),
    ("agentsuite/tool-provider", ("variants", 0, "arguments", 0), "a $x $ {y} $$ \n"),
    ("agentsuite/tool-provider", ("remote", "headers", 0, "name"), "X-Accept!#$%&'*+-.^_`|~"),
    ("agentsuite/tool-provider", ("remote", "headers"), DROP),
    ("agentsuite/composition", ("toolProviders",), []),
    *(
        ("agentsuite/build-profile", ("harness", 0, "imageRef"), reference + AT)
        for reference in (
            "localhost/a", "localhost:5000/a", "host:5000/a", "host:65535/a", "[::1]/a", "[2001:db8::1]:5000/a/b",
            "Registry.Example/a", "docker.io/library/a", "r.example/a.b/c_d/e__f/g--h", "127.0.0.1:1/a",
        )
    ),
    ("oci/oci-layout", ("more",), {"any": 1.5}),
    ("oci/image-index", ("mediaType",), DROP),
    ("oci/image-index", ("manifests", 0, "artifactType"), DROP),
    ("oci/image-index", ("manifests", 0, "more"), [None]),
    ("oci/image-manifest", ("mediaType",), DROP),
    ("oci/image-manifest", ("config", "more"), 0.5),
]  # fmt: skip


def test_every_schema_has_a_sample() -> None:
    assert {name for name in names() if name.split("/")[0] in {"agentsuite", "oci"}} <= SAMPLES.keys()


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_is_accepted(engine: str, name: str) -> None:
    assert list(validator(name).errors(SAMPLES[name](), show_values=True)) == []
    assert validator(name).is_valid(SAMPLES[name]())


@pytest.mark.parametrize(
    ("name", "where", "value"), ACCEPTED, ids=[f"{n}#{'/'.join(map(str, w))}={v!a:.30}" for n, w, v in ACCEPTED]
)
def test_variation_is_accepted(engine: str, name: str, where: tuple[str | int, ...], value: Any) -> None:
    document = changed(SAMPLES[name](), where, value)
    assert list(validator(name).errors(document, show_values=True)) == []


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.label)
def test_change_is_refused(mutation: Mutation) -> None:
    errors = list(validator(mutation.schema).errors(mutation.document()))
    assert (mutation.at, mutation.keyword) in {(error.path, error.keyword) for error in errors}
    assert {error.path[: len(mutation.at)] for error in errors} == {mutation.at}, "an error where nothing was changed"
    assert all(error.message.isprintable() for error in errors)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_engine_refuses_each_change(engine: str, name: str) -> None:
    judge = validator(name)
    mutations = [mutation for mutation in MUTATIONS if mutation.schema == name]
    assert mutations
    assert [mutation.label for mutation in mutations if judge.is_valid(mutation.document())] == []


@pytest.mark.parametrize("name", SAMPLES)
def test_a_value_of_another_type_is_refused(engine: str, name: str) -> None:
    judge = validator(name)
    assert [where for where, document in of_another_type(SAMPLES[name]) if judge.is_valid(document)] == []


def test_a_provider_has_variants_or_remote(engine: str) -> None:
    document = SAMPLES["agentsuite/tool-provider"]()
    del document["variants"], document["remote"]
    (error,) = validator("agentsuite/tool-provider").errors(document)
    assert error.keyword == "anyOf"
    assert error.message == "must be a tool provider with variants, with remote, or with both"


@pytest.mark.parametrize(
    ("name", "where", "value", "definition"),
    [
        ("agentsuite/suite", ("compositions", 0, "platform", "os"), "windows", "platform"),
        ("agentsuite/suite", ("compositions", 0, "platform", "architecture"), "mips", "platform"),
        ("agentsuite/agent", ("toolProviders", 0, "executionMode"), "isolated", "executionMode"),
        ("agentsuite/tool-provider", ("protocol",), "cli", "protocol"),
        ("agentsuite/tool-provider", ("remote", "transport"), "sse", "transport"),
        ("agentsuite/agent", ("model", "endpointEnv"), "LD_PRELOAD", "environmentName"),
        ("agentsuite/tool-provider", ("variants", 0, "environment", 0, "name"), "BASH_ENV", "environmentName"),
        ("agentsuite/agent", ("id",), "Writer", "identifier"),
        ("agentsuite/agent", ("surprise",), 1, ""),
    ],
)
def test_an_error_names_the_definition(name: str, where: tuple[str | int, ...], value: Any, definition: str) -> None:
    (error,) = validator(name).errors(changed(SAMPLES[name](), where, value))
    assert (error.path, error.definition) == (where, definition)
