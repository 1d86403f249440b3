"""Which member of an agent blueprint is which member of the agent profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentsuite_converters.mapping import Each, Move, Table
from agentsuite_converters.parameters import only_parameters, only_schema, parameters_of_names, schema_with_type

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject, JSONValue

_SAMPLING = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "stop_words",
    "frequency_penalty",
    "presence_penalty",
    "n",
    "logprobs",
    "timeout",
    "stream",
)
_ANY = "parameters that may be anything"
_TYPED = "with a `type`, all types where it has none"


def is_private(capability: JSONObject) -> str:
    """Return why a capability is not public, ``""`` where it is."""
    return "" if capability.get("visibility") == "public" else "it is private"


def _described(foreign: str, hub: str) -> tuple[Move, ...]:
    return (
        Move(foreign, f"{hub}/schema", read=only_schema, write=schema_with_type, note=_TYPED),
        Move(foreign, f"{hub}/parameters", read=only_parameters, note="an object without a `type` of its own"),
        Move(foreign, f"{hub}/names", read=None, write=parameters_of_names, note=_ANY),
    )


_METHOD = (
    Move("name", "id"),
    Move("description", "description"),
    *_described("input", "input"),
    *_described("output", "output"),
)
_LACKING: dict[str, JSONValue] = {"input": {}, "output": {}}

_IDENTITY = (
    Move("agent_id", "identifier"),
    Move("agent_id", "id", read=None, note="the agent's id in the suite, where it has no other"),
    Move("name", "name"),
    Move("name", "id", read=None, note="the agent's id in the suite, where it has no name"),
    Move("description", "description"),
)

TABLE = Table(
    rows=(
        *_IDENTITY,
        Move("agent_config/agent_id", "identifier"),
        Move("agent_config/agent_id", "id", read=None, note="the agent's id in the suite, where it has no other"),
        Move("agent_config/agent_name", "name"),
        Move("agent_config/agent_name", "id", read=None, note="the agent's id in the suite, where it has no name"),
        Move("agent_config/system_prompt", "prompt"),
        Move("agent_config/relationships", "relationships"),
        Move("agent_config/llm_config/model_provider", "model/provider"),
        Move("agent_config/llm_config/model_provider", "model/protocol", read=None, note="where nothing else is known"),
        Move("agent_config/llm_config/model_name", "model/name"),
        *(Move(f"agent_config/llm_config/{name}", f"model/parameters/{name}") for name in _SAMPLING),
        Each("interface/methods", "capabilities", _METHOD, defaults=_LACKING, imposed={"visibility": "private"}),
        Move(
            "interface/methods/0/name",
            "input/schema",
            read=None,
            write=lambda _: "run",
            unless="capabilities",
            note="the agent itself, by AIB's name for what it is there for",
            partial=True,
        ),
        Move("interface/methods/0/description", "description", read=None, unless="capabilities", given="input"),
        Move(
            "interface/methods/0/input",
            "input/schema",
            read=None,
            write=schema_with_type,
            unless="capabilities",
            note=_TYPED,
        ),
        Move(
            "interface/methods/0/output",
            "output/schema",
            read=None,
            write=schema_with_type,
            unless="capabilities",
            note=_TYPED,
        ),
    ),
    defaults={"interface/methods": []},
)
"""Agent Blueprint and Blueprint Components; ``agent_config`` is written whole."""

PUBLIC = Table(
    rows=(*_IDENTITY, Each("interface/methods", "capabilities", _METHOD, where=is_private, defaults=_LACKING)),
    defaults={"interface/methods": []},
)
"""Extensibility and Exposure: what ``getBluePrint`` answers to others, and not a member more."""
