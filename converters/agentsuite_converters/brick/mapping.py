"""Which member of a BRICK Core manifest is which member of the agent profile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentsuite_converters.mapping import Each, Move, Table
from agentsuite_converters.parameters import names_of_parameters, names_of_schema
from agentsuite_converters.places import ABSENT, Absence
from agentsuite_converters.urls import endpoint_fault

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONValue

INSTRUCTIONS_FILE = "instructions.md"
"""The file that holds the instructions of an agent that came from elsewhere, beside the manifest."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[!#$&-;=?-Z_a-z~\[\]]|%[0-9A-Fa-f]{2})+")
_SHA256 = re.compile(r"(?:sha256:)?[0-9A-Fa-f]{64}")


def _visibility(advertise: JSONValue) -> JSONValue:
    return "public" if advertise is True else "private"


def _advertise(visibility: JSONValue) -> JSONValue:
    return visibility == "public"


def _uri(identifier: JSONValue) -> JSONValue | Absence:
    return identifier if isinstance(identifier, str) and _URI.fullmatch(identifier) else ABSENT


def _absolute(url: JSONValue) -> JSONValue | Absence:
    fault = endpoint_fault(url) if isinstance(url, str) else None
    return ABSENT if not isinstance(url, str) or (fault and fault.is_error) else url


def _file(_prompt: JSONValue) -> JSONValue:
    return f"./{INSTRUCTIONS_FILE}"


def _file_id(_prompt: JSONValue) -> JSONValue:
    return "instructions"


_RESOURCE = (Move("id", "id"), Move("uri", "uri"), Move("sha256", "sha256"))

_NAMES = "the names of the parameters; their schemas have no place"

TABLE = Table(
    constants={"brickVersion": "0.5"},
    rows=(
        Move("agent/id", "identifier", write=_uri, note="a URI only"),
        Move("agent/name", "name"),
        Move("agent/name", "id", read=None, note="the agent's id in the suite, where it has no name"),
        Move("agent/description", "description"),
        Move("agent/version", "version"),
        Move("goals", "goals"),
        Each("instructions", "instructions", _RESOURCE),
        Move(
            "instructions/0/uri",
            "prompt",
            read=None,
            write=_file,
            unless="instructions",
            note=f"the text goes into the file {INSTRUCTIONS_FILE}",
        ),
        Move(
            "instructions/0/id", "prompt", read=None, write=_file_id, unless="instructions", note="the name of the file"
        ),
        Each("skills", "skills", _RESOURCE),
        Each(
            "mcpServers",
            "servers",
            (
                Move("id", "id"),
                Move("transport", "transport"),
                Move("endpoint", "endpoint"),
                Move("allowedTools", "tools"),
            ),
            imposed={"visibility": "private"},
        ),
        Each(
            "capabilities",
            "capabilities",
            (
                Move("id", "id"),
                Move("description", "description"),
                Move("inputs", "input/names"),
                Move("inputs", "input/parameters", read=None, write=names_of_parameters, note=_NAMES, partial=True),
                Move("inputs", "input/schema", read=None, write=names_of_schema, note=_NAMES, partial=True),
                Move("outputs", "output/names"),
                Move("outputs", "output/parameters", read=None, write=names_of_parameters, note=_NAMES, partial=True),
                Move("outputs", "output/schema", read=None, write=names_of_schema, note=_NAMES, partial=True),
                Move("skillRefs", "skills"),
                Move("toolRefs", "tools"),
                Move(
                    "advertise",
                    "visibility",
                    read=_visibility,
                    write=_advertise,
                    note="`true` is `public`, `false` is `private`",
                ),
            ),
            imposed={"visibility": "private"},
        ),
        Move("capabilities/0/id", "id", read=None, unless="capabilities", given="input", note="the agent itself"),
        Move(
            "capabilities/0/description",
            "description",
            read=None,
            unless="capabilities",
            given="input",
            note="the agent itself",
        ),
        Move(
            "capabilities/0/inputs",
            "input/schema",
            read=None,
            write=names_of_schema,
            unless="capabilities",
            note=_NAMES,
            partial=True,
        ),
        Move(
            "capabilities/0/outputs",
            "output/schema",
            read=None,
            write=names_of_schema,
            unless="capabilities",
            note=_NAMES,
            partial=True,
        ),
        Move("a2a/enabled", "endpoint/a2a/enabled"),
        Move("a2a/endpoint", "endpoint/url", write=_absolute, note="an absolute https URL only"),
        Move("a2a/protocolVersion", "endpoint/a2a/protocolVersion"),
    ),
)
"""Sections 4 to 8 of the draft; ``runtime`` and ``extensions`` have no home and are kept as they are."""
