"""The target's table: every option, every mistake in it at once, in Hatch's words and with the full TOML path."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatch_agentsuite.configuration import (
    TARGET_TABLE,
    ConfigurationError,
    identifier_from,
    is_identifier,
    read_configuration,
)

T = "tool.hatch.build.targets.agentsuite"
IDENTIFIER = "must be an identifier (1 to 128 of a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit)"
SOURCE = f"Field `{T}.source` must be a `/`-separated path inside the project"


def errors(table: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        read_configuration(table, "demo")
    assert str(caught.value) == "\n".join(caught.value.errors)
    return caught.value.errors


def test_defaults() -> None:
    found = read_configuration({}, "My.Cool_App")
    assert (found.source, found.codec) == ("suite", "zlib")
    options = found.options
    assert options.name is None
    assert options.default_name == "my.cool_app"
    assert options.platforms == ()
    assert options.build_profile is None
    assert options.provider_images == ()
    assert options.strict is False
    assert options.annotations == {}


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("name", "news-room_1.0", "news-room_1.0"),
        ("name", "a", "a"),
        ("name", "7-", "7-"),
        ("name", "a" * 128, "a" * 128),
        ("platforms", ["linux/arm64", "linux/amd64"], ("linux/arm64", "linux/amd64")),
        ("platforms", ["linux/amd64", "linux/amd64"], ("linux/amd64",)),
        ("platforms", [], ()),
        ("build-profile", "release", "release"),
        ("build-profile", {"writer": "gpu", "clock": "small"}, {"writer": "gpu", "clock": "small"}),
        ("provider-images", ["clock", "mail@1.0.0", "clock"], ("clock", "mail@1.0.0")),
        ("strict", True, True),
        ("strict", False, False),
        ("annotations", {"org.opencontainers.image.title": "Tïtle"}, {"org.opencontainers.image.title": "Tïtle"}),
    ],
)
def test_option_reaches_the_build(option: str, value: Any, expected: Any) -> None:
    options = read_configuration({option: value}, "demo").options
    assert getattr(options, option.replace("-", "_")) == expected


@pytest.mark.parametrize("codec", ["zlib", "store", "zlib-ng"])
def test_codec_is_chosen(codec: str) -> None:
    assert read_configuration({"codec": codec}, "demo").codec == codec


@pytest.mark.parametrize(
    ("written", "read"),
    [("agents", "agents"), ("./a/b", "a/b"), ("a/b/", "a/b"), ("a//b", "a/b"), (".", "."), ("..a/b..", "..a/b..")],
)
def test_source_is_a_path_inside_the_project(written: str, read: str) -> None:
    assert read_configuration({"source": written}, "demo").source == read


@pytest.mark.parametrize(
    "key",
    [
        "dependencies",
        "directory",
        "hooks",
        "require-runtime-dependencies",
        "require-runtime-features",
        "versions",
    ],
)
def test_hatchs_own_keys_are_hatchs_business(key: str) -> None:
    """They may stand in the table; whether their values are right is for Hatch to say."""
    assert read_configuration({key: object()}, "demo").source == "suite"


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("source", 5, f"Field `{T}.source` must be a string"),
        ("source", ["suite"], f"Field `{T}.source` must be a string"),
        ("source", "", f"Field `{T}.source` cannot be an empty string"),
        ("source", "/suite", SOURCE),
        ("source", "../suite", SOURCE),
        ("source", "a/../../b", SOURCE),
        ("source", "a\\b", SOURCE),
        ("codec", 6, f"Field `{T}.codec` must be a string"),
        ("codec", "", f"Field `{T}.codec` cannot be an empty string"),
        ("codec", "gzip", f"Field `{T}.codec` must be one of: zlib, store, zlib-ng"),
        ("codec", "ZLIB", f"Field `{T}.codec` must be one of: zlib, store, zlib-ng"),
        ("name", True, f"Field `{T}.name` must be a string"),
        ("name", "", f"Field `{T}.name` cannot be an empty string"),
        ("name", "News Room", f"Field `{T}.name` {IDENTIFIER}"),
        ("name", "-a", f"Field `{T}.name` {IDENTIFIER}"),
        ("name", "ä", f"Field `{T}.name` {IDENTIFIER}"),
        ("name", "a\n", f"Field `{T}.name` {IDENTIFIER}"),
        ("name", "a" * 129, f"Field `{T}.name` {IDENTIFIER}"),
        ("platforms", "linux/amd64", f"Field `{T}.platforms` must be an array"),
        ("platforms", {}, f"Field `{T}.platforms` must be an array"),
        ("platforms", ["linux/amd64", 1], f"Item #2 of field `{T}.platforms` must be a string"),
        ("platforms", [""], f"Item #1 of field `{T}.platforms` cannot be an empty string"),
        (
            "platforms",
            ["linux/amd64", "windows/amd64"],
            f"Unknown platform in field `{T}.platforms`: windows/amd64. Available: linux/amd64, linux/arm64",
        ),
        ("build-profile", 1, f"Field `{T}.build-profile` must be a string or a table"),
        ("build-profile", ["a"], f"Field `{T}.build-profile` must be a string or a table"),
        ("build-profile", "", f"Field `{T}.build-profile` cannot be an empty string"),
        ("build-profile", {"writer": 1}, f"Value of `writer` in field `{T}.build-profile` must be a string"),
        ("provider-images", "clock", f"Field `{T}.provider-images` must be an array"),
        ("provider-images", [["clock"]], f"Item #1 of field `{T}.provider-images` must be a string"),
        ("strict", "true", f"Field `{T}.strict` must be a boolean"),
        ("strict", 1, f"Field `{T}.strict` must be a boolean"),
        ("annotations", [], f"Field `{T}.annotations` must be a table"),
        ("annotations", {"": "x"}, f"A key of field `{T}.annotations` cannot be an empty string"),
        ("annotations", {"a": 1}, f"Value of `a` in field `{T}.annotations` must be a string"),
    ],
)
def test_wrong_value_is_named_with_its_full_path(option: str, value: Any, error: str) -> None:
    assert errors({option: value}) == [error]


def test_unknown_options_are_refused_with_those_there_are() -> None:
    """Hatch itself would ignore them in silence."""
    [error] = errors({"entrypoint": "x", "Name": "x"})
    assert error == (
        f"Unknown options in `{T}`: Name, entrypoint. Available: agent-cards, annotations, build-profile, codec, "
        "name, platforms, provider-images, source, strict"
    )


@pytest.mark.parametrize(
    "key",
    [
        "artifacts",
        "exclude",
        "force-include",
        "ignore-vcs",
        "include",
        "only-include",
        "only-packages",
        "packages",
        "reproducible",
        "skip-excluded-dirs",
        "sources",
    ],
)
def test_selection_keys_are_refused_because_they_would_do_nothing(key: str) -> None:
    [error] = errors({key: []})
    assert error.startswith(f"Options without effect in `{T}`: {key}. ")


def test_all_mistakes_are_reported_at_once() -> None:
    table = {"typo": 1, "include": [], "source": 5, "name": "Bad", "platforms": [1, "x/y"], "strict": "no"}
    found = errors(table)
    assert len(found) == 7
    assert [error for error in found if f"`{T}" not in error] == []


def test_the_table_given_is_the_table_named() -> None:
    with pytest.raises(ConfigurationError, match=r"^Field `other\.table\.strict` must be a boolean$"):
        read_configuration({"strict": 1}, "demo", "other.table")
    assert TARGET_TABLE == T


def test_the_table_is_left_as_it_was() -> None:
    table = {"platforms": ["linux/amd64"], "annotations": {"a": "b"}, "source": "./x"}
    read_configuration(table, "demo")
    assert table == {"platforms": ["linux/amd64"], "annotations": {"a": "b"}, "source": "./x"}


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("demo", "demo"),
        ("My.Cool_App", "my.cool_app"),
        ("My Cool  App!", "my-cool-app"),
        ("__init__", "init"),
        ("-.a.-", "a"),
        ("Café", "caf"),
        ("日本", None),
        ("", None),
        ("...", None),
        ("a\nb", "a-b"),
        ("x" * 200, "x" * 128),
        ("x" * 127 + "-y", "x" * 127),
    ],
)
def test_identifier_from_a_project_name(text: str, identifier: str | None) -> None:
    assert identifier_from(text) == identifier


@given(st.text(max_size=300))
def test_an_identifier_made_from_text_is_one_and_stays_itself(text: str) -> None:
    """Specification section 1: ^[a-z0-9][a-z0-9._-]{0,127}$."""
    found = identifier_from(text)
    if found is not None:
        assert is_identifier(found)
        assert identifier_from(found) == found
