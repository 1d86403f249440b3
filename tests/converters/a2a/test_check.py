"""Rules of Agent Cards: single changes of a valid card, each with the requirement and the place that is to be told.

Sections are those of the A2A specification 1.0.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsuite_converters.a2a import check_card
from agentsuite_schemas import validator
from tests.converters.a2a.cards import ISSUER, OLD_SCHEMES, SCHEMES, URL, card, minimal, old
from tests.converters.mutations import DROP, changed
from tests.converters.random_json import ANYTHING, mutated

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


def told(found: list[Any], requirement: str, at: str, word: str) -> bool:
    """Whether a finding is there, and says in message or hint how to mend it."""
    return any(
        (item.requirement, item.location) == (requirement, f"#{at}") and word in f"{item.message} {item.hint}"
        for item in found
    )


@pytest.mark.parametrize(("where", "value", "requirement", "at", "word"), BROKEN)
def test_a_broken_card_is_refused_where_it_is_broken(
    where: str, value: Any, requirement: str, at: str, word: str
) -> None:
    errors = [item for item in check_card(changed(card(), where, fresh(value))) if item.is_error]
    assert told(errors, requirement, at, word), [str(item) for item in errors]
    assert {item.location for item in errors} == {f"#{at}"}, "one fault is told at one place"


@pytest.mark.parametrize(("where", "value", "requirement", "at", "word"), WARNED)
def test_a_doubtful_card_is_accepted_with_a_warning(
    where: str, value: Any, requirement: str, at: str, word: str
) -> None:
    found = check_card(changed(card(), where, fresh(value)))
    assert told(found, requirement, at, word), [str(item) for item in found]
    assert [item for item in found if item.is_error] == []
    assert len(found) == 1


@pytest.mark.parametrize(("where", "value", "requirement", "at", "word"), OLD_BROKEN)
def test_a_broken_card_of_0_3_is_refused(where: str, value: Any, requirement: str, at: str, word: str) -> None:
    document = changed(old(), where, fresh(value))
    errors = [item for item in check_card(document) if item.is_error]
    assert told(errors, requirement, at, word), [str(item) for item in errors]
    forced = [item for item in check_card(document, "0.3") if item.is_error]
    assert forced, "the version that is asked for changes nothing in this"


@pytest.mark.parametrize("build", [card, minimal])
def test_a_valid_card_has_no_finding(build: Any) -> None:
    document = build()
    assert check_card(document) == check_card(document, "1.0") == []
    assert document == build(), "judging changes nothing"


@pytest.mark.parametrize("name", SCHEMES)
def test_every_kind_of_scheme_is_accepted(name: str) -> None:
    """4.5.1: five kinds, and each flow of OAuth 2.0; maps that are not REQUIRED may be empty."""
    requirement: Any = {"schemes": {name: {"list": []}}}
    assert (
        check_card({**minimal(), "securitySchemes": {name: SCHEMES[name]}, "securityRequirements": [requirement]}) == []
    )


@pytest.mark.parametrize(
    ("binding", "url"),
    [
        ("JSONRPC", URL),
        ("HTTP+JSON", "https://[2001:db8::1]:8443/a2a?x=1"),
        ("GRPC", "grpc.example.org:443"),
        ("GRPC", "[2001:db8::1]:443"),
        ("GRPC", "https://grpc.example.org"),
        ("https://bindings.example.org/ws/v1", "wss://ws.example.org"),
        ("urn:example:mqtt", "mqtts://broker.example.org:8883/tides"),
    ],
)
def test_urls_of_bindings(binding: str, url: str) -> None:
    """5.8: a custom binding is a URI, and has URLs of its own kind."""
    interface: Any = {"url": url, "protocolBinding": binding, "protocolVersion": "1.0"}
    assert check_card({**minimal(), "supportedInterfaces": [interface]}) == []


def test_one_url_in_two_versions_or_for_two_tenants_is_no_duplicate() -> None:
    first = minimal()["supportedInterfaces"][0]
    more = [first, {**first, "protocolVersion": "0.3"}, {**first, "tenant": "a"}, {**first, "tenant": "b"}]
    assert check_card({**minimal(), "supportedInterfaces": more}) == []


def test_a_valid_card_of_0_3_has_warnings_for_every_change() -> None:
    """Appendix A: member by member what 1.0 writes instead."""
    found = check_card(old())
    assert all(item.severity == "warning" for item in found)
    assert {item.location for item in found if item.requirement == CHANGE} == {
        "#/url",
        "#/preferredTransport",
        "#/additionalInterfaces",
        "#/protocolVersion",
        "#/security",
        "#/supportsAuthenticatedExtendedCard",
        "#/capabilities/stateTransitionHistory",
        "#/skills/0/security",
        *(f"#/securitySchemes/{name}" for name in OLD_SCHEMES),
    }
    assert check_card(old(), "0.3") == []


def test_several_flows_of_one_scheme_are_told() -> None:
    scheme = {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": ISSUER, "scopes": {}}}}
    document = changed(old(), "/securitySchemes/code", scheme)
    assert not told(check_card(document), CHANGE, "/securitySchemes/code/flows", "one")
    scheme["flows"]["password"] = {"tokenUrl": ISSUER, "scopes": {}}  # type: ignore[index]
    assert told(check_card(document), CHANGE, "/securitySchemes/code/flows", "one scheme for each flow")


# --- shapes that occur in the wild ---------------------------------------------------------------------------------

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


@pytest.mark.parametrize(("document", "expected"), [pytest.param(*row[1:], id=row[0]) for row in WILD])
def test_what_occurs_in_the_wild_is_explained(document: Any, expected: list[tuple[str, str, str]]) -> None:
    errors = [item for item in check_card(document) if item.is_error]
    for requirement, at, word in expected:
        assert told(errors, requirement, at, word), [str(item) for item in errors]
    assert len(errors) == len(expected), [str(item) for item in errors]


def test_independent_faults_are_all_told() -> None:
    document = changed(changed(card(), "/skills/0/tags", []), f"{MAIN}/protocolBinding", "rest")
    document["skills"][0]["security"] = [{"key": []}]
    assert {item.location for item in check_card(document)} == {
        "#/skills/0/tags",
        "#/skills/0/security",
        f"#{MAIN}/protocolBinding",
    }


def test_a_finding_repeats_no_credential() -> None:
    document = changed(card(), f"{MAIN}/url", "https://agent:hunter2@tides.example.org/")
    assert "hunter2" not in "".join(map(str, check_card(document)))


# --- the SDK -------------------------------------------------------------------------------------------------------


def test_a_disagreement_with_the_sdk_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where our schema accepts and the SDK's required-field check does not, the card is refused."""
    pytest.importorskip("a2a", reason="a2a-sdk is not installed")
    import agentsuite_schemas

    class Accepts:
        def errors(self, _card: Any) -> list[Any]:
            return []

    monkeypatch.setattr(agentsuite_schemas, "validator", lambda _name: Accepts())
    [found] = check_card(changed(minimal(), "/skills/0/tags", []))
    assert found.requirement == "A2A-SDK-001"
    assert "skills[0].tags" in found.message
    [found] = check_card({**minimal(), "surprise": 1})
    assert found.requirement == "A2A-SDK-001"


# --- nothing ends in an exception ----------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_anything_is_judged(data: st.DataObject) -> None:
    build = data.draw(st.sampled_from([card, old, lambda: {**old(), **minimal()}]))
    document = data.draw(ANYTHING) if data.draw(st.integers(0, 9)) == 0 else mutated(build(), data)
    for version in (None, "1.0", "0.3"):
        found = check_card(document, version)
        if version and not validator(f"a2a/card-{version}").is_valid(document):
            assert any(item.is_error for item in found), "what a rule explains better is refused all the same"
        for item in found:
            assert re.fullmatch(r"A2A-[A-Z]+-\d{3}", item.requirement)
            assert item.location.startswith("#")


def test_the_page_lists_every_requirement_and_no_other() -> None:
    """docs/agent-cards.md says what is judged."""
    rows = [*BROKEN, *WARNED, *OLD_BROKEN]
    judged = {row[2] for row in rows} | {"A2A-JSON-001", "A2A-SDK-001", "A2A-PRIVACY-001"}
    page = (Path(__file__).parents[3] / "docs" / "agent-cards.md").read_text(encoding="utf-8")
    section = page.split("\n## Checking a card\n", 1)[1].split("\n## ", 1)[0]
    assert set(re.findall(r"^\| `(A2A-[A-Z]+-\d{3})`", section, re.MULTILINE)) == judged
