"""Which member of agent metadata is which member of the agent profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentsuite_converters.mapping import Each, Move, Table
from agentsuite_converters.parameters import schema_of_names, schema_of_parameters

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject


def _is_private(capability: JSONObject) -> str:
    return "" if capability.get("visibility") == "public" else "it is private, and metadata is published"


def _described(foreign: str, hub: str) -> tuple[Move, ...]:
    return (
        Move(foreign, f"{hub}/schema"),
        Move(foreign, f"{hub}/parameters", read=None, write=schema_of_parameters, note="an object of the parameters"),
        Move(foreign, f"{hub}/names", read=None, write=schema_of_names, note="an object of properties of any kind"),
    )


TABLE = Table(
    rows=(
        Move("id", "identifier"),
        Move("id", "id", read=None, note="the agent's id in the suite, where it has no other"),
        Move("name", "name"),
        Move("name", "id", read=None, note="the agent's id in the suite, where it has no name"),
        Move("description", "description"),
        Move("version", "version"),
        Move("publisher", "publisher/name"),
        Move("capabilities", "categories"),
        Move("tags", "tags"),
        Move("endpoint", "endpoint/url"),
        Move("supported_languages", "languages"),
        Move("authentication/type", "authentication/type"),
        Move("authentication/instructions", "authentication/instructions"),
        Move("authentication/scopes", "authentication/scopes"),
        Move("status", "status"),
        Each(
            "operations",
            "capabilities",
            (
                Move("name", "id"),
                Move("description", "description"),
                *_described("inputs", "input"),
                *_described("outputs", "output"),
                Move("examples", "examples"),
            ),
            where=_is_private,
            defaults={"inputs": {}, "outputs": {}},
            imposed={"visibility": "public"},
        ),
        Move("inputs", "input/schema"),
        Move("outputs", "output/schema"),
    ),
    defaults={"capabilities": [], "tags": []},
)
"""Core fields and operations; additional fields have no home and are kept as they are."""

SUMMARY = Table(
    rows=tuple(
        row
        for row in TABLE.rows
        if isinstance(row, Move) and row.foreign in {"id", "name", "description", "endpoint", "capabilities"}
    ),
    defaults={"capabilities": []},
)
"""Discovery: the summary object of a search result."""
