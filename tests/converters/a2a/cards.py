"""A valid card of each version, built anew at each call, with every optional member present."""

from __future__ import annotations

import copy
from typing import Any

Json = dict[str, Any]

URL = "https://tides.example.org/a2a"
OLD_URL = "https://tides.example.org/v03"
ISSUER = "https://login.example.org"

SCHEMES: dict[str, Json] = {
    "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key", "description": "Ask the harbour office"}},
    "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
    "code": {
        "oauth2SecurityScheme": {
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": f"{ISSUER}/authorize",
                    "tokenUrl": f"{ISSUER}/token",
                    "refreshUrl": f"{ISSUER}/refresh",
                    "scopes": {"tides:read": "Read tides"},
                    "pkceRequired": True,
                }
            },
            "oauth2MetadataUrl": f"{ISSUER}/.well-known/oauth-authorization-server",
        }
    },
    "client": {
        "oauth2SecurityScheme": {
            "flows": {"clientCredentials": {"tokenUrl": f"{ISSUER}/token", "scopes": {"tides:read": ""}}}
        }
    },
    "device": {
        "oauth2SecurityScheme": {
            "flows": {
                "deviceCode": {
                    "deviceAuthorizationUrl": f"{ISSUER}/device",
                    "tokenUrl": f"{ISSUER}/token",
                    "scopes": {"tides:read": "Read tides"},
                }
            }
        }
    },
    "implicit": {"oauth2SecurityScheme": {"flows": {"implicit": {"authorizationUrl": f"{ISSUER}/authorize"}}}},
    "password": {"oauth2SecurityScheme": {"flows": {"password": {}}}},
    "openid": {"openIdConnectSecurityScheme": {"openIdConnectUrl": f"{ISSUER}/.well-known/openid-configuration"}},
    "mtls": {"mtlsSecurityScheme": {}},
}
"""One scheme of each kind, and one for each flow."""

OLD_FLOWS: Json = {
    "authorizationCode": {
        "authorizationUrl": f"{ISSUER}/authorize",
        "tokenUrl": f"{ISSUER}/token",
        "scopes": {"tides:read": "Read tides"},
    },
    "clientCredentials": {"tokenUrl": f"{ISSUER}/token", "scopes": {"tides:read": "Read tides"}},
}

OLD_SCHEMES: dict[str, Json] = {
    "key": {"type": "apiKey", "in": "cookie", "name": "key", "description": "Ask the harbour office"},
    "bearer": {"type": "http", "scheme": "Bearer", "bearerFormat": "JWT"},
    "code": {"type": "oauth2", "flows": {"authorizationCode": OLD_FLOWS["authorizationCode"]}},
    "openid": {"type": "openIdConnect", "openIdConnectUrl": f"{ISSUER}/.well-known/openid-configuration"},
    "mtls": {"type": "mutualTLS", "description": "A certificate of the harbour"},
}


def minimal() -> Json:
    """The least that a card of 1.0 says."""
    return {
        "name": "Tides",
        "description": "Tells the tide of a harbour",
        "version": "1.0.0",
        "supportedInterfaces": [{"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["application/json"],
        "skills": [{"id": "tide", "name": "Tide", "description": "The next tide", "tags": ["sea"]}],
    }


def card() -> Json:
    """A card of 1.0 with everything that one can have."""
    return {
        **minimal(),
        "supportedInterfaces": [
            {"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "harbour"},
            {"url": "grpc.tides.example.org:443", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
            {"url": OLD_URL, "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"},
            {
                "url": "wss://ws.example.org/x",
                "protocolBinding": "https://b.example.org/ws/v1",
                "protocolVersion": "1.0",
            },
        ],
        "provider": {"organization": "Harbour Office", "url": "https://harbour.example.org"},
        "documentationUrl": "https://tides.example.org/docs",
        "iconUrl": "https://tides.example.org/icon.svg",
        "capabilities": {
            "streaming": False,
            "pushNotifications": True,
            "extendedAgentCard": True,
            "extensions": [
                {
                    "uri": "urn:example:units",
                    "description": "Units",
                    "required": True,
                    "params": {"unit": "m", "n": 0.5},
                }
            ],
        },
        "securitySchemes": copy.deepcopy(SCHEMES),
        "securityRequirements": [
            {"schemes": {"key": {"list": []}, "mtls": {}}},
            {"schemes": {"code": {"list": ["tides:read"]}}},
        ],
        "skills": [
            {
                "id": "tide",
                "name": "Tide",
                "description": "The next tide at a harbour: Höhe und Zeit",
                "tags": ["sea", "潮"],
                "examples": ["When is high water in Husum?"],
                "inputModes": ["text/plain", "application/vnd.harbour+json; version=1"],
                "outputModes": ["image/*"],
                "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
            },
            {"id": "wind", "name": "Wind", "description": "The wind", "tags": ["air"]},
        ],
        "signatures": [{"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "c2lnbmF0dXJl", "header": {"x": 1.5}}],
    }


def old() -> Json:
    """A card of 0.3 with everything that one can have."""
    return {
        "name": "Tides",
        "description": "Tells the tide of a harbour",
        "version": "1.0.0",
        "protocolVersion": "0.3.0",
        "url": OLD_URL,
        "preferredTransport": "HTTP+JSON",
        "additionalInterfaces": [
            {"url": OLD_URL, "transport": "HTTP+JSON"},
            {"url": "grpc.tides.example.org:443", "transport": "GRPC"},
        ],
        "provider": {"organization": "Harbour Office", "url": "https://harbour.example.org"},
        "documentationUrl": "https://tides.example.org/docs",
        "iconUrl": "https://tides.example.org/icon.svg",
        "capabilities": {
            "streaming": True,
            "pushNotifications": False,
            "stateTransitionHistory": True,
            "extensions": [{"uri": "urn:example:units", "params": {"unit": "m", "none": None}}],
        },
        "securitySchemes": copy.deepcopy(OLD_SCHEMES),
        "security": [{"key": [], "mtls": []}, {"code": ["tides:read"]}],
        "supportsAuthenticatedExtendedCard": True,
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["application/json"],
        "skills": [
            {
                "id": "tide",
                "name": "Tide",
                "description": "The next tide",
                "tags": ["sea"],
                "examples": ["When?"],
                "inputModes": ["text/plain"],
                "outputModes": ["text/plain"],
                "security": [{"bearer": []}],
            }
        ],
        "signatures": [{"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "c2lnbmF0dXJl"}],
    }
