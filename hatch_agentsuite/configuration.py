"""The table of the build target read into options; every mistake in it is found at once.

Knows how Hatch words its errors, but not Hatch itself.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hatch_agentsuite.archive.gzip import CODECS, Codec
from hatch_agentsuite.source import Options

TARGET_TABLE = "tool.hatch.build.targets.agentsuite"

PLATFORMS = ("linux/amd64", "linux/arm64")

_HATCH_KEYS = frozenset(
    {"dependencies", "directory", "hooks", "require-runtime-dependencies", "require-runtime-features", "versions"}
)
_SELECTION_KEYS = frozenset(
    {
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
    }
)
OWN_KEYS = (
    "agent-cards",
    "annotations",
    "build-profile",
    "codec",
    "name",
    "platforms",
    "provider-images",
    "source",
    "strict",
)
_IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}")
IDENTIFIER_RULE = "1 to 128 of a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit"


class ConfigurationError(ValueError):
    """Everything that is wrong with a table, one text each."""

    def __init__(self, errors: list[str]) -> None:
        self.errors = errors
        super().__init__("\n".join(errors))


CARD_TEXTS = ("api-key-header", "binding", "protocol-version", "provider-url", "token-url")
CARD_LISTS = ("input-modes", "output-modes", "tags", "urls")


@dataclass(frozen=True)
class Configuration:
    """The target's options: where the authoring tree lies, how to compress, and what the build is told.

    ``cards`` are the options of ``agent-cards``, those that were given; None where no cards are wanted.
    """

    source: str
    codec: Codec
    options: Options
    cards: Mapping[str, str | tuple[str, ...]] | None = None


@dataclass
class _Table:
    """A table and the errors found in it."""

    values: Mapping[str, Any]
    name: str
    errors: list[str] = field(default_factory=list)

    def field_name(self, key: str) -> str:
        return f"Field `{self.name}.{key}`"

    def string(self, key: str, default: str | None = None) -> str | None:
        value = self.values.get(key, default)
        if value is None:
            return None
        if not isinstance(value, str):
            self.errors.append(f"{self.field_name(key)} must be a string")
            return default
        if not value:
            self.errors.append(f"{self.field_name(key)} cannot be an empty string")
            return default
        return value

    def boolean(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            self.errors.append(f"{self.field_name(key)} must be a boolean")
            return False
        return value

    def strings(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key, [])
        if not isinstance(value, list):
            self.errors.append(f"{self.field_name(key)} must be an array")
            return ()
        found = []
        for number, item in enumerate(value, 1):
            if not isinstance(item, str) or not item:
                what = "cannot be an empty string" if item == "" else "must be a string"
                self.errors.append(f"Item #{number} of {self.field_name(key).replace('F', 'f', 1)} {what}")
            else:
                found.append(item)
        return tuple(found)

    def string_map(self, key: str) -> dict[str, str]:
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.errors.append(f"{self.field_name(key)} must be a table")
            return {}
        for name, item in value.items():
            if not name:
                self.errors.append(f"A key of {self.field_name(key).replace('F', 'f', 1)} cannot be an empty string")
            if not isinstance(item, str):
                self.errors.append(f"Value of `{name}` in {self.field_name(key).replace('F', 'f', 1)} must be a string")
        return {name: item for name, item in value.items() if isinstance(item, str)}


def read_configuration(values: Mapping[str, Any], project_name: str, table: str = TARGET_TABLE) -> Configuration:
    """Return the configuration that a table of the build target holds.

    ``project_name`` gives the suite its name where nothing else does. Raises :class:`ConfigurationError` with every
    unknown key and every wrong value.
    """
    if not isinstance(values, Mapping):
        raise ConfigurationError([f"Field `{table}` must be a table"])
    reader = _Table(values, table)
    reader.errors.extend(_key_errors(values, table))
    source = reader.string("source", "suite") or "suite"
    if posixpath.isabs(source) or "\\" in source or ".." in source.split("/"):
        reader.errors.append(f"{reader.field_name('source')} must be a `/`-separated path inside the project")
    codec = reader.string("codec", "zlib")
    if codec not in CODECS:
        reader.errors.append(f"{reader.field_name('codec')} must be one of: {', '.join(CODECS)}")
    name = reader.string("name")
    if name is not None and not is_identifier(name):
        reader.errors.append(f"{reader.field_name('name')} must be an identifier ({IDENTIFIER_RULE})")
    platforms = reader.strings("platforms")
    for platform in platforms:
        if platform not in PLATFORMS:
            reader.errors.append(
                f"Unknown platform in {reader.field_name('platforms').replace('F', 'f', 1)}: {platform}. "
                f"Available: {', '.join(PLATFORMS)}"
            )
    options = Options(
        name=name,
        default_name=identifier_from(project_name),
        platforms=tuple(dict.fromkeys(platforms)),
        build_profile=_build_profile(reader),
        provider_images=tuple(dict.fromkeys(reader.strings("provider-images"))),
        strict=reader.boolean("strict"),
        annotations=reader.string_map("annotations"),
    )
    cards = _cards(reader)
    if reader.errors:
        raise ConfigurationError(reader.errors)
    return Configuration(posixpath.normpath(source), codec, options, cards)  # type: ignore[arg-type]


def is_identifier(text: str) -> bool:
    """Whether text is an identifier as the specification has it (section 1)."""
    return _IDENTIFIER.fullmatch(text) is not None


def identifier_from(text: str) -> str | None:
    """Return a project's name as an identifier: lower case, other characters as hyphens; None if nothing is left."""
    found = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("._-")[:128].rstrip("._-")
    return found or None


def _build_profile(reader: _Table) -> str | dict[str, str] | None:
    if isinstance(reader.values.get("build-profile"), dict):
        return reader.string_map("build-profile")
    if not isinstance(reader.values.get("build-profile", ""), str):
        reader.errors.append(f"{reader.field_name('build-profile')} must be a string or a table")
        return None
    return reader.string("build-profile")


def _cards(reader: _Table) -> dict[str, str | tuple[str, ...]] | None:
    """Return the options of ``agent-cards``, which is a boolean or a table; none of them for ``true``."""
    value = reader.values.get("agent-cards", False)
    if not isinstance(value, dict):
        return {} if reader.boolean("agent-cards") else None
    table = _Table(value, f"{reader.name}.agent-cards", reader.errors)
    unknown = sorted(set(value) - {*CARD_TEXTS, *CARD_LISTS})
    if unknown:
        known = ", ".join(sorted((*CARD_TEXTS, *CARD_LISTS)))
        table.errors.append(f"Unknown options in `{table.name}`: {', '.join(unknown)}. Available: {known}")
    if table.string("protocol-version", "1.0") not in {"1.0", "0.3"}:
        table.errors.append(f"{table.field_name('protocol-version')} must be one of: 1.0, 0.3")
    texts = {name: text for name in CARD_TEXTS if (text := table.string(name))}
    return {**texts, **{name: found for name in CARD_LISTS if (found := table.strings(name))}}


def _key_errors(values: Mapping[str, Any], table: str) -> list[str]:
    errors = []
    unknown = sorted(set(values) - _HATCH_KEYS - _SELECTION_KEYS - set(OWN_KEYS))
    if unknown:
        errors.append(f"Unknown options in `{table}`: {', '.join(unknown)}. Available: {', '.join(OWN_KEYS)}")
    useless = sorted(set(values) & _SELECTION_KEYS)
    if useless:
        errors.append(
            f"Options without effect in `{table}`: {', '.join(useless)}. What is packed follows from the documents of "
            "the suite, not from file patterns"
        )
    return errors
