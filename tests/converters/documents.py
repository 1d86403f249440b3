"""A valid document of each format, built anew at each call, with every optional member present, and its files."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

Json = dict[str, Any]

GUIDE = b"Answer in the language of the question. Refuse to discuss prices of competitors under any circumstances.\n"
SKILL = b"---\nname: harbour-tides\n---\nLook the tide up before you answer.\n"
FILES = {"GUIDE.md": GUIDE, "skills/harbour-tides/SKILL.md": SKILL}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write_files(folder: Path) -> Path:
    """Write the files that the BRICK manifest refers to, and return the folder."""
    for path, data in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def brick() -> Json:
    return {
        "brickVersion": "0.5",
        "agent": {
            "id": "https://agents.example.net/harbour",
            "name": "Harbour Guide",
            "description": "Tells skippers about berths and tides",
            "version": "2.1.0",
            "owner": "kept",
        },
        "goals": ["Get every boat moored before dark"],
        "instructions": [
            {"id": "guide", "uri": "./GUIDE.md", "sha256": sha256(GUIDE)},
            {"id": "policy", "uri": "https://policies.example.net/agents.md"},
        ],
        "skills": [{"id": "tides", "uri": "skills/harbour%2Dtides/SKILL.md", "sha256": "sha256:" + sha256(SKILL)}],
        "mcpServers": [
            {
                "id": "berths",
                "transport": "streamable-http",
                "endpoint": "https://berths.internal.example.net/mcp",
                "allowedTools": ["list_free", "reserve_berth"],
            },
            {"id": "almanac", "transport": "stdio", "endpoint": "tide-almanac", "allowedTools": ["tides:today"]},
        ],
        "capabilities": [
            {
                "id": "find-berth",
                "description": "Find and reserve a place for a boat",
                "inputs": ["boat length"],
                "outputs": ["berth number"],
                "skillRefs": ["tides"],
                "toolRefs": ["berths:list_free", "almanac:tides:today"],
                "advertise": True,
            },
            {"id": "tides", "description": "Keep the tide table warm", "toolRefs": [], "advertise": False},
        ],
        "a2a": {"enabled": True, "endpoint": "https://agents.example.net/a2a/harbour", "protocolVersion": "1.0"},
        "runtime": {},
        "extensions": {},
    }


def aib() -> Json:
    return {
        "agent_id": "harbour_7",
        "name": "HarbourGuide",
        "description": "Tells skippers about berths and tides",
        "agent_config": {
            "agent_id": "harbour_7",
            "agent_name": "HarbourGuide",
            "system_prompt": "You know every berth.",
            "relationships": {"pilot_2": "collaborator"},
            "llm_config": {
                "model_provider": "acme",
                "model_name": "acme-large",
                "temperature": 0.25,
                "top_p": 1,
                "top_k": 5,
                "max_tokens": 900,
                "stop_words": ["", "END"],
                "frequency_penalty": -0.5,
                "presence_penalty": 0,
                "n": 2,
                "logprobs": True,
                "timeout": 2.5,
                "stream": False,
                "seed": 7,
            },
            "memory_config": {"kind": "none"},
        },
        "interface": {
            "methods": [
                {
                    "name": "run",
                    "description": "Answer one question",
                    "input": {"type": "string"},
                    "output": {"type": ["string", "null"]},
                },
                {
                    "name": "reserve",
                    "description": "Reserve a berth",
                    "input": {"type": {"type": "string"}, "boat": {"$ref": "#/$defs/b", "$defs": {"b": {}}}},
                    "output": {},
                },
            ]
        },
        "x": [1.5],
    }


def aidip() -> Json:
    return {
        "id": "harbour-7",
        "name": "Harbour Guide",
        "description": "Tells skippers about berths and tides",
        "version": "2.1.0",
        "publisher": "Port Office",
        "capabilities": ["berths"],
        "tags": [],
        "endpoint": "https://agents.example.net/harbour",
        "supported_languages": ["en", "nl"],
        "authentication": {"type": "oauth2_bearer", "instructions": "", "scopes": ["berths.read"], "realm": "port"},
        "status": "active",
        "operations": [
            {
                "name": "findBerth",
                "description": "Find a berth",
                "inputs": {
                    "type": "object",
                    "properties": {
                        "length": {"$ref": "#/$defs/metres"},
                        "name": {"type": "string", "pattern": "^[A-Z]"},
                    },
                    "required": ["length"],
                    "$defs": {"metres": {"type": "number", "exclusiveMinimum": 0}},
                },
                "outputs": {"type": "object", "properties": {"berths": {"type": "array", "uniqueItems": True}}},
                "examples": [{"input": {"length": 9.5, "name": "Ida"}, "output": {"berths": ["A1"]}, "note": "x"}],
                "cost": 0.5,
            }
        ],
        "pricing": {"per_call": 0.01},
    }
