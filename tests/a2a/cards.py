"""Cards and agents, built anew at each call: the least of each version, everything at once, and what is private."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from agentsuite_converters.a2a.check import check_card
from agentsuite_converters.a2a.projection import CardOptions, Projected, project
from agentsuite_converters.places import parse_pointer, put
from agentsuite_converters.profile import AgentProfile
from hatch_agentsuite.findings import Finding, RefusedError
from tests.hatch.projects import AGENT, build_profile, write_yaml

Json = dict[str, Any]

URL = "https://agents.example.com/harbour"
NOTHING = CardOptions()
OLD = CardOptions(protocol_version="0.3")
"""Options that ask for no more than a version."""
GONE: Any = object()
"""In :func:`changed`, a member that is taken away."""

_SKILL: Json = {"id": "berth", "name": "Berths", "description": "Finds a berth.", "tags": ["boats"]}
_COMMON: Json = {
    "name": "Harbour Guide",
    "description": "Tells skippers about berths and tides.",
    "version": "2.1.0",
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [_SKILL],
    "capabilities": {"streaming": False},
}


def card_10() -> Json:
    """Return the least that a card of 1.0 says."""
    interface = {"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return copy.deepcopy({**_COMMON, "supportedInterfaces": [interface]})


def card_03() -> Json:
    """Return the least that a card of 0.3 says."""
    return copy.deepcopy({**_COMMON, "protocolVersion": "0.3.0", "url": URL})


def full_10() -> Json:
    """Return a card of 1.0 with every member, and every kind of scheme and flow."""
    more = {
        "provider": {"organization": "Port Office", "url": "https://port.example.com/"},
        "documentationUrl": "https://port.example.com/docs",
        "iconUrl": "https://port.example.com/icon.png",
        "supportedInterfaces": [
            {"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "north"},
            {"url": "agents.example.com:443", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
            {"url": f"{URL}/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"},
            {"url": "wss://agents.example.com/", "protocolBinding": "https://port.example.com/ws/1", **_VERSION},
        ],
        "capabilities": {
            "streaming": True,
            "pushNotifications": False,
            "extendedAgentCard": True,
            "extensions": [{"uri": "urn:example:x", "description": "X", "required": False, "params": {"n": 1.5}}],
        },
        "securitySchemes": {
            "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key", "description": "A key."}},
            "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
            "code": {"oauth2SecurityScheme": {"flows": {"authorizationCode": {**_BOTH, "pkceRequired": True}}}},
            "client": {"oauth2SecurityScheme": {"flows": {"clientCredentials": _TOKEN}}},
            "device": {"oauth2SecurityScheme": {"flows": {"deviceCode": {**_TOKEN, "deviceAuthorizationUrl": _LOGIN}}}},
            "openid": {"openIdConnectSecurityScheme": {"openIdConnectUrl": f"{_LOGIN}/openid"}},
            "mtls": {"mtlsSecurityScheme": {"description": "A certificate of the port."}},
        },
        "securityRequirements": [
            {"schemes": {"key": {"list": []}, "client": {"list": ["berths.read"]}}},
            {"schemes": {"openid": {"list": []}}},
        ],
        "skills": [
            {
                **_SKILL,
                "examples": ["A berth for 9 m"],
                "inputModes": ["application/json"],
                "outputModes": ["text/*"],
                "securityRequirements": [{"schemes": {"mtls": {"list": []}}}],
            },
            {**_SKILL, "id": "tides"},
        ],
    }
    return copy.deepcopy({**_COMMON, **more})


def full_03() -> Json:
    """Return a card of 0.3 with every member, and every kind of scheme."""
    more = {
        "protocolVersion": "0.3.0",
        "url": URL,
        "preferredTransport": "JSONRPC",
        "additionalInterfaces": [
            {"url": URL, "transport": "JSONRPC"},
            {"url": f"{URL}/rest", "transport": "HTTP+JSON"},
        ],
        "provider": {"organization": "Port Office", "url": "https://port.example.com/"},
        "documentationUrl": "https://port.example.com/docs",
        "iconUrl": "https://port.example.com/icon.png",
        "supportsAuthenticatedExtendedCard": True,
        "capabilities": {
            "streaming": True,
            "pushNotifications": False,
            "stateTransitionHistory": False,
            "extensions": [{"uri": "urn:example:x", "description": "X", "required": False, "params": {"n": 1.5}}],
        },
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "A key."},
            "bearer": {"type": "http", "scheme": "Bearer", "bearerFormat": "JWT"},
            "oauth": {"type": "oauth2", "flows": {"clientCredentials": _TOKEN, "authorizationCode": _BOTH}},
            "openid": {"type": "openIdConnect", "openIdConnectUrl": f"{_LOGIN}/openid"},
            "mtls": {"type": "mutualTLS", "description": "A certificate of the port."},
        },
        "security": [{"key": [], "oauth": ["berths.read"]}, {"openid": []}],
        "skills": [{**_SKILL, "examples": ["A berth for 9 m"], "security": [{"mtls": []}]}, {**_SKILL, "id": "tides"}],
    }
    return copy.deepcopy({**_COMMON, **more})


_VERSION = {"protocolVersion": "1.0"}
_LOGIN = "https://login.example.com"
_TOKEN = {"tokenUrl": f"{_LOGIN}/token", "scopes": {"berths.read": "Read berths"}}
_BOTH = {**_TOKEN, "authorizationUrl": f"{_LOGIN}/authorize"}


def changed(card: Json, changes: Json) -> Json:
    """Return a card in which members have other values, by JSON pointer; :data:`GONE` takes one away."""
    made = copy.deepcopy(card)
    for place, value in changes.items():
        path = parse_pointer(place, made)
        if value is GONE:
            holder: Any = made
            for token in path[:-1]:
                holder = holder[token]
            del holder[path[-1]]
        else:
            assert put(made, path, copy.deepcopy(value)), place
    return made


def told(findings: list[Finding]) -> list[tuple[str, str]]:
    """Return requirement and location of every error, in order."""
    return sorted((finding.requirement, finding.location) for finding in findings if finding.is_error)


def errors(card: Any) -> list[tuple[str, str]]:
    """Return requirement and location of every error that a card has."""
    return told(check_card(card))


PROMPT = (
    "You are the guide of the northern harbour and speak for nobody else. Never tell anybody that the eastern pier "
    "is closed in winter, not even when a skipper asks for it twice."
)
PRIVATE: Json = {
    "identifier": "urn:example:harbour-7",
    "goals": ["Moor every boat before dark"],
    "status": "active",
    "prompt": PROMPT,
    "model": {
        "protocol": "openai-chat",
        "name": "gpt-harbour-9",
        "provider": "acme-models",
        "parameters": {"top_k": 3},
    },
    "servers": [
        {
            "id": "berth-register",
            "transport": "streamable-http",
            "endpoint": "https://register.berths.example.net/mcp",
            "visibility": "private",
            "tools": ["list_free", "search"],
        }
    ],
    "instructions": [{"id": "guide", "uri": "./GUIDE.md"}],
    "skills": [{"id": "mooring", "uri": "skills/mooring/SKILL.md"}],
    "relationships": {"pilot": "collaborator"},
    "input": {"names": ["boat"]},
    "output": {"schema": {"type": "object"}},
    "foreign": {"brick": [{"at": "/runtime", "value": {"region": "vault-7"}}]},
    "suite": {"toolProviders": [{"id": "sextant", "version": "1.0.0"}]},
}
SECRETS = {"HARBOUR_API_KEY": "the name of a secret", "BERTH_ENDPOINT": "the name of an environment variable"}
PUBLIC: Json = {
    "name": "Harbour Guide",
    "description": "Tells skippers about berths and tides.",
    "version": "2.1.0",
    "publisher": {"name": "Port Office", "url": "https://port.example.com/"},
    "tags": ["boats"],
    "categories": ["travel"],
    "languages": ["nl"],
    "interfaces": [{"url": URL, "binding": "JSONRPC"}, {"url": f"{URL}/rest", "binding": "HTTP+JSON"}],
    "features": {"streaming": True, "pushNotifications": False},
    "inputModes": ["text/plain"],
    "outputModes": ["text/plain", "application/json"],
    "documentationUrl": "https://port.example.com/docs",
    "iconUrl": "https://port.example.com/icon.png",
}
CAPABILITIES: list[Json] = [
    {"id": "berth", "name": "Berths", "description": "Finds a berth.", "visibility": "public", "tags": ["mooring"]},
    {"id": "lights", "description": "Keeps the lights burning.", "visibility": "private", "tools": ["search"]},
    {"id": "tides", "description": "Tells the tide.", "visibility": "public", "tools": ["berth-register:list_free"]},
]


def agent(**changes: Any) -> AgentProfile:
    """Return an agent that has everything public, and much that is private; None takes a member away."""
    value = {"id": "harbour", **PUBLIC, **PRIVATE, "capabilities": CAPABILITIES, **changes}
    kept = {name: member for name, member in value.items() if member is not None}
    return AgentProfile(copy.deepcopy(kept), secrets=dict(SECRETS))


def bare(**changes: Any) -> AgentProfile:
    """Return an agent that says no more than a suite must, with one public capability."""
    return AgentProfile({"id": "harbour", "capabilities": [copy.deepcopy(CAPABILITIES[0])], **copy.deepcopy(changes)})


def options(*urls: str, **more: Any) -> CardOptions:
    """Return options for a card, with a URL."""
    return CardOptions(urls=urls or (URL,), **more)


def write_tree(folder: Path, **profiles: Json) -> Path:
    """Write an authoring tree with an agent for each profile; ``prompt`` is the text of its instructions."""
    for name, profile in profiles.items():
        prompt = profile.pop("prompt", "Help.\n")
        described = {"description": profile.pop("description", "Helps skippers.")}
        write_yaml(folder / "agents" / f"{name}.yaml", {**AGENT, **described})
        write_yaml(folder / "metadata" / "profiles" / f"{name}.yaml", profile)
        (folder / "instructions").mkdir(exist_ok=True)
        (folder / "instructions" / f"{name}.md").write_text(prompt, encoding="utf-8")
    write_yaml(folder / "build-profiles" / "default.yaml", build_profile("amd64"))
    return folder


def public_profile(**changes: Any) -> Json:
    """Return a profile for :func:`write_tree` of which a card follows without options."""
    return copy.deepcopy({**PUBLIC, "capabilities": CAPABILITIES[:2], **changes})


def refused(made: AgentProfile, given: CardOptions) -> dict[str, Finding]:
    """Return the findings of a refusal to project an agent, by their places."""
    try:
        project(made, given)
    except RefusedError as error:
        return {finding.location: finding for finding in error.findings}
    raise AssertionError("the agent was projected")


def notes(projected: Projected) -> dict[str, str]:
    """Return what was derived, by place."""
    return {note.place: note.reason for note in projected.derived}
