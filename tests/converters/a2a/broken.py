"""Tables of broken cards: single changes of a valid card, and shapes that occur in the wild.

Sections are those of the A2A specification 1.0.
"""

from __future__ import annotations

import copy
from typing import Any

from tests.converters.a2a.cards import OLD_SCHEMES, SCHEMES, URL, card, minimal, old
from tests.converters.mutations import DROP

MAIN = "/supportedInterfaces/0"

SCHEMA = "A2A-SCHEMA-001"
CHANGE = "A2A-CHANGE-001"
VERSION = "A2A-VERSION-001"
URLS = "A2A-URL-001"
BINDING = "A2A-BINDING-001"
MODE = "A2A-MODE-001"
SECURITY = "A2A-SECURITY-001"
TEXT = "A2A-TEXT-001"
SIGN = "A2A-SIGN-001"


def fresh(value: Any) -> Any:
    return value if value is DROP else copy.deepcopy(value)


def without(document: Any, *names: str) -> Any:
    return {name: value for name, value in document.items() if name not in names}


# where, what is written there, the requirement, the place of the finding, and a word of the message or hint
BROKEN: list[tuple[str, Any, str, str, str]] = [
    # 4.4.1: what the proto calls REQUIRED is there and not empty (5.7)
    *((f"/{name}", DROP, SCHEMA, "", f"'{name}' is missing") for name in minimal()),
    *((f"/{name}", "", SCHEMA, f"/{name}", "not empty") for name in ("name", "description", "version")),
    *(
        (f"/{name}", [], SCHEMA, f"/{name}", "at least 1 item")
        for name in ("supportedInterfaces", "defaultInputModes", "defaultOutputModes", "skills")
    ),
    *((f"{MAIN}/{name}", DROP, SCHEMA, MAIN, name) for name in ("url", "protocolBinding", "protocolVersion")),
    *((f"/provider/{name}", DROP, SCHEMA, "/provider", name) for name in ("url", "organization")),
    *((f"/skills/0/{name}", DROP, SCHEMA, "/skills/0", name) for name in ("id", "name", "description", "tags")),
    ("/skills/1/tags", [], SCHEMA, "/skills/1/tags", "at least 1 item"),
    # 5.5: camelCase, and nothing that 1.0 does not know; null is no absence
    ("/default_input_modes", ["text/plain"], SCHEMA, "/default_input_modes", "defaultInputModes"),
    ("/skills/0/input_modes", [], SCHEMA, "/skills/0/input_modes", "inputModes"),
    ("/_note", "x", SCHEMA, "/_note", "unknown"),
    ("/capabilities/streeming", True, SCHEMA, "/capabilities/streeming", "streaming"),
    ("/iconUrl", None, SCHEMA, "/iconUrl", "null"),
    ("/provider", None, SCHEMA, "/provider", "null"),
    ("/provider", "Harbour Office", SCHEMA, "/provider", "object"),
    ("/skills/0", "tide", SCHEMA, "/skills/0", "object"),
    ("/skills", {"id": "tide"}, SCHEMA, "/skills", "a list"),
    ("/capabilities/streaming", "yes", SCHEMA, "/capabilities/streaming", "true or false"),
    ("/capabilities", ["streaming", "chat"], SCHEMA, "/capabilities", '{"streaming": true}'),
    # 4.5: exactly one scheme, exactly one flow, and scopes where a flow has them
    (
        "/securitySchemes/key/httpAuthSecurityScheme",
        {"scheme": "Bearer"},
        SCHEMA,
        "/securitySchemes/key",
        "exactly one",
    ),
    ("/securitySchemes/key", {}, SCHEMA, "/securitySchemes/key", "exactly one"),
    (
        "/securitySchemes/code/oauth2SecurityScheme/flows/password",
        {},
        SCHEMA,
        "/securitySchemes/code/oauth2SecurityScheme/flows",
        "exactly one",
    ),
    (
        "/securitySchemes/code/oauth2SecurityScheme/flows",
        {},
        SCHEMA,
        "/securitySchemes/code/oauth2SecurityScheme/flows",
        "exactly one",
    ),
    (
        "/securitySchemes/client/oauth2SecurityScheme/flows/clientCredentials/scopes",
        {},
        SCHEMA,
        "/securitySchemes/client/oauth2SecurityScheme/flows/clientCredentials/scopes",
        "one or more",
    ),
    (
        "/securitySchemes/key/apiKeySecurityScheme/location",
        "Header",
        SECURITY,
        "/securitySchemes/key/apiKeySecurityScheme/location",
        '"header"',
    ),
    (
        "/securitySchemes/key/apiKeySecurityScheme/location",
        "body",
        SECURITY,
        "/securitySchemes/key/apiKeySecurityScheme/location",
        "`cookie`, `header`, `query`",
    ),
    ("/securityRequirements/0", {}, SECURITY, "/securityRequirements/0", "anybody"),
    ("/securityRequirements/0", {"schemes": {}}, SECURITY, "/securityRequirements/0", "anybody"),
    ("/securityRequirements/1/schemes/magic", {}, SECURITY, "/securityRequirements/1", "`magic`"),
    (
        "/skills/0/securityRequirements/0/schemes/magic",
        {},
        SECURITY,
        "/skills/0/securityRequirements/0",
        "no security scheme `magic`",
    ),
    ("/securityRequirements", {"key": []}, SCHEMA, "/securityRequirements", "a list"),
    *(
        (f"/securitySchemes/{name}/{place}", url, URLS, f"/securitySchemes/{name}/{place}", word)
        for name, place, url, word in [
            ("openid", "openIdConnectSecurityScheme/openIdConnectUrl", "<ISSUER>/x", "template"),
            ("code", "oauth2SecurityScheme/flows/authorizationCode/tokenUrl", "http://a.example.org/t", "plain http"),
            ("code", "oauth2SecurityScheme/flows/authorizationCode/authorizationUrl", "/authorize", "absolute"),
            (
                "device",
                "oauth2SecurityScheme/flows/deviceCode/deviceAuthorizationUrl",
                "https://a:b@c.example/",
                "password",
            ),
            ("code", "oauth2SecurityScheme/oauth2MetadataUrl", "${ISSUER}/meta", "template"),
        ]
    ),
    # 4.4.6 and 5.8: where the agent is called
    *(
        (f"{MAIN}/url", url, URLS, f"{MAIN}/url", word)
        for url, word in [
            ("http://tides.example.org/a2a", "https"),
            ("tides.example.org/a2a", "absolute"),
            ("/a2a", "absolute"),
            ("localhost:8080", "absolute"),
            ("https://", "not a valid URL"),
            ("https://tides.example.org:0/", "not a valid URL"),
            ("https://tides.example.org/a b", "not a valid URL"),
            ("https://user:pass@tides.example.org/", "user name or password"),
            ("ftp://tides.example.org/", "absolute https URL"),
            ("${BASE_URL}/a2a", "template"),
            ("https://{{ host }}/a2a", "template"),
            ("https://<HOST>/a2a", "template"),
            ("https://YOUR_DOMAIN/a2a", "template"),
        ]
    ),
    *(
        ("/supportedInterfaces/1/url", url, URLS, "/supportedInterfaces/1/url", word)
        for url, word in [
            ("grpc.example.org", "host:port"),
            ("grpc.example.org:70000", "host:port"),
            ("http://grpc.example.org", "https"),
            ("grpc.example.org:443/a", "host:port"),
        ]
    ),
    ("/supportedInterfaces/3/url", "ws.example.org", URLS, "/supportedInterfaces/3/url", "absolute URI"),
    *(
        (f"{MAIN}/protocolBinding", binding, BINDING, f"{MAIN}/protocolBinding", word)
        for binding, word in [
            ("json-rpc", "`JSONRPC`"),
            ("jsonrpc", "`JSONRPC`"),
            ("JSON-RPC 2.0", "`JSONRPC`"),
            ("REST", "`HTTP+JSON`"),
            ("http+json", "`HTTP+JSON`"),
            ("https", "`HTTP+JSON`"),
            ("stdio", "or a URI"),
            ("urn:", "or a URI"),
        ]
    ),
    ("/supportedInterfaces/1/protocolBinding", "grpc", BINDING, "/supportedInterfaces/1/protocolBinding", "`GRPC`"),
    # 3.6: Major.Minor
    *(
        (f"{MAIN}/protocolVersion", version, VERSION, f"{MAIN}/protocolVersion", '"1.0"')
        for version in ("v1.0", "1", "latest", "0.2.5", "0.1", "1.0-rc", "1.0.0.0")
    ),
    # 4.4.1, 4.4.5: media types, ids
    ("/defaultInputModes/0", "text", MODE, "/defaultInputModes/0", "`text/plain`"),
    ("/defaultOutputModes/0", "json", MODE, "/defaultOutputModes/0", "`application/json`"),
    ("/skills/0/inputModes/1", "audio", MODE, "/skills/0/inputModes/1", "text/plain"),
    ("/skills/0/outputModes/0", "", MODE, "/skills/0/outputModes/0", "media type"),
    ("/skills/1/id", "tide", "A2A-SKILL-001", "/skills/1/id", "skills/0"),
    # 5.7: text that says nothing
    *((f"/{name}", " \t", TEXT, f"/{name}", "blank") for name in ("name", "description", "version")),
    ("/skills/0/description", "\u00a0", TEXT, "/skills/0/description", "blank"),
    ("/skills/0/tags/1", " ", TEXT, "/skills/0/tags/1", "blank"),
    ("/provider/organization", " ", TEXT, "/provider/organization", "blank"),
    (f"{MAIN}/url", " ", TEXT, f"{MAIN}/url", "blank"),
    # links for people
    ("/documentationUrl", "docs/index.html", URLS, "/documentationUrl", "absolute"),
    ("/iconUrl", "javascript:alert(1)", URLS, "/iconUrl", "absolute"),
    ("/provider/url", "harbour.example.org", URLS, "/provider/url", "absolute"),
    # 8.4.2: the form of signatures
    ("/signatures/0/protected", "***", SIGN, "/signatures/0/protected", "base64url"),
    ("/signatures/0/protected", "W10", SIGN, "/signatures/0/protected", "base64url"),
    ("/signatures/0/protected", "eyJhbGciOiJub25lIn0", SIGN, "/signatures/0/protected", "`none`"),
    ("/signatures/0/signature", "a+b=", SIGN, "/signatures/0/signature", "base64url"),
    ("/signatures/0/signature", DROP, SCHEMA, "/signatures/0", "signature"),
    # what older versions write
    ("/authentication", {"schemes": ["Bearer"]}, SECURITY, "/authentication", "open"),
    ("/capabilities/stateTransitionHistory", False, CHANGE, "/capabilities/stateTransitionHistory", "remove it"),
    (
        "/securityRequirements/0",
        {"key": []},
        CHANGE,
        "/securityRequirements/0",
        '{"schemes": {"key": {"list": [...]}}}',
    ),
    ("/skills/0/securityRequirements/0", {"key": []}, CHANGE, "/skills/0/securityRequirements/0", '{"schemes"'),
    ("/securitySchemes/key", OLD_SCHEMES["key"], CHANGE, "/securitySchemes/key", '"apiKeySecurityScheme"'),
    ("/securitySchemes/key", {"type": "magic"}, CHANGE, "/securitySchemes/key", "unknown"),
    ("/skills/0/security", [{"key": []}], CHANGE, "/skills/0/security", "`securityRequirements`"),
]

WARNED: list[tuple[str, Any, str, str, str]] = [
    (f"{MAIN}/url", "http://localhost:9999/", URLS, f"{MAIN}/url", "nobody else"),
    (f"{MAIN}/url", "http://[::1]:9999/", URLS, f"{MAIN}/url", "nobody else"),
    (f"{MAIN}/protocolVersion", "1.0.0", VERSION, f"{MAIN}/protocolVersion", '"1.0"'),
    (f"{MAIN}/protocolVersion", "0.3.0", VERSION, f"{MAIN}/protocolVersion", '"0.3"'),
    (f"{MAIN}/protocolVersion", "1.1", VERSION, f"{MAIN}/protocolVersion", "not one that we know"),
    ("/supportedInterfaces/-", card()["supportedInterfaces"][0], URLS, "/supportedInterfaces/4/url", "before"),
    ("/version", "v7", "A2A-SEMVER-001", "/version", "1.2.0"),
    ("/version", "1.0", "A2A-SEMVER-001", "/version", "1.2.0"),
    ("/signatures", [], SIGN, "/signatures", "leave it out"),
]

OLD_BROKEN: list[tuple[str, Any, str, str, str]] = [
    *((f"/{name}", DROP, SCHEMA, "", f"'{name}' is missing") for name in old() if name in minimal() or name == "url"),
    ("/preferredTransport", "grpc", BINDING, "/preferredTransport", "`GRPC`"),
    ("/url", "http://tides.example.org", URLS, "/url", "https"),
    ("/additionalInterfaces/1/url", "grpc", URLS, "/additionalInterfaces/1/url", "host:port"),
    ("/additionalInterfaces/1/transport", "rest", BINDING, "/additionalInterfaces/1/transport", "`HTTP+JSON`"),
    ("/additionalInterfaces/1/transport", DROP, SCHEMA, "/additionalInterfaces/1", "transport"),
    ("/capabilities", ["streaming"], SCHEMA, "/capabilities", '{"streaming": true}'),
    ("/capabilities/extensions/0/uri", DROP, SCHEMA, "/capabilities/extensions/0", "uri"),
    ("/securitySchemes/bearer/type", "HTTP", SECURITY, "/securitySchemes/bearer/type", '"http"'),
    ("/securitySchemes/bearer/type", "bearer", SECURITY, "/securitySchemes/bearer/type", '"http"'),
    ("/securitySchemes/bearer/type", "magic", SECURITY, "/securitySchemes/bearer/type", "`openIdConnect`"),
    ("/securitySchemes/bearer/type", DROP, SCHEMA, "/securitySchemes/bearer", "type"),
    ("/securitySchemes/bearer", SCHEMES["bearer"], SCHEMA, "/securitySchemes/bearer", "type"),
    ("/securitySchemes/key/in", "Cookie", SECURITY, "/securitySchemes/key/in", '"cookie"'),
    ("/securitySchemes/openid/openIdConnectUrl", "/x", URLS, "/securitySchemes/openid/openIdConnectUrl", "https"),
    ("/security/0", {}, SECURITY, "/security/0", "anybody"),
    ("/security/0/magic", [], SECURITY, "/security/0", "`magic`"),
    ("/skills/0/security/0/magic", [], SECURITY, "/skills/0/security/0", "`magic`"),
    ("/skills/0/tags", [], SCHEMA, "/skills/0/tags", "at least 1 item"),
    ("/defaultInputModes/0", "text", MODE, "/defaultInputModes/0", "`text/plain`"),
    ("/protocolVersion", "1.0", VERSION, "/protocolVersion", "supportedInterfaces"),
    ("/protocolVersion", "0.2.5", VERSION, "/protocolVersion", '"0.3.0"'),
    ("/protocolVersion", DROP, VERSION, "", '"protocolVersion": "0.3.0"'),
    ("/authentication", {"schemes": ["Bearer"]}, SECURITY, "/authentication", "`security`"),
    ("/_note", "x", SCHEMA, "/_note", "unknown"),
]

WILD: list[tuple[str, Any, list[tuple[str, str, str]]]] = [
    (
        "no modes",
        without(minimal(), "defaultInputModes", "defaultOutputModes"),
        [(SCHEMA, "", "defaultInputModes"), (SCHEMA, "", "defaultOutputModes")],
    ),
    (
        "members of 0.3 beside supportedInterfaces",
        {**minimal(), "url": URL, "preferredTransport": "JSONRPC", "protocolVersion": "0.3.0"},
        [(VERSION, "", "two documents"), (CHANGE, "/url", "url"), (CHANGE, "/preferredTransport", "protocolBinding"),
         (CHANGE, "/protocolVersion", "each item")],
    ),
    (
        "a left-over url",
        {**minimal(), "url": URL},
        [(VERSION, "", "beside"), (CHANGE, "/url", "`supportedInterfaces[0].url`")],
    ),
    (
        "security under its old name",
        {**minimal(), "securitySchemes": {"key": SCHEMES["key"]}, "security": [{"key": []}]},
        [(VERSION, "", "beside"), (CHANGE, "/security", "`securityRequirements`")],
    ),
    (
        "an interface with transport",
        {**minimal(), "supportedInterfaces": [{"url": URL, "transport": "JSONRPC"}]},
        [(CHANGE, "/supportedInterfaces/0/transport", "`protocolBinding`"), (SCHEMA, MAIN, "protocolBinding"),
         (SCHEMA, MAIN, "protocolVersion")],
    ),
    (
        "0.2 with abilities as a list",
        {"name": "a", "description": "b", "version": "1.0.0", "url": URL, "capabilities": ["search"],
         "defaultInputModes": ["text"], "defaultOutputModes": ["text"],
         "skills": [{"id": "s", "name": "S", "description": "d"}]},
        [(VERSION, "", "0.2"), (SCHEMA, "/capabilities", "`skills`"), (SCHEMA, "/skills/0", "tags"),
         (MODE, "/defaultInputModes/0", "text/plain"), (MODE, "/defaultOutputModes/0", "text/plain")],
    ),
    (
        "0.1 authentication",
        {**without(old(), "security", "securitySchemes"), "skills": minimal()["skills"], "authentication": {}},
        [(SECURITY, "/authentication", "open")],
    ),
    (
        "one missing tag of three skills",
        {**minimal(), "skills": [
            {"id": name, "name": name, "description": name, **tags}
            for name, tags in [("a", {"tags": ["t"]}), ("b", {}), ("c", {"tags": ["t"]})]
        ]},
        [(SCHEMA, "/skills/1", "'tags' is missing")],
    ),
    ("an own format", {"id": "x", "name": "x", "url": URL, "capabilities": ["a"]}, [(VERSION, "", "no Agent Card")]),
    ("the empty object", {}, [(VERSION, "", "no Agent Card")]),
    ("a list", [], [(SCHEMA, "", "object")]),
    ("null", None, [(SCHEMA, "", "object")]),
]  # fmt: skip
