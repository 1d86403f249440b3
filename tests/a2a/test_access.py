"""Where an agent is called and how a client authenticates, on a card (A2A 1.0 sections 4.4.6, 4.5; BRICK section 8)."""

from __future__ import annotations

import pytest

from agentsuite_converters.a2a.check import check_card
from agentsuite_converters.a2a.projection import CardOptions, project
from agentsuite_converters.a2a.publishing import publish_card
from hatch_agentsuite.findings import RefusedError
from tests.a2a.cards import NOTHING, OLD, URL, Json, agent, notes, options, refused

# --- interfaces and versions ---


@pytest.mark.parametrize(
    ("urls", "binding", "expected"),
    [
        ([URL], "", [("JSONRPC", URL)]),
        ([URL], "HTTP+JSON", [("HTTP+JSON", URL)]),
        (["GRPC=agents.example.com:443", URL], "", [("GRPC", "agents.example.com:443"), ("JSONRPC", URL)]),
        ([f"HTTP+JSON={URL}", URL], "GRPC", [("HTTP+JSON", URL), ("GRPC", URL)]),
        ([f"{URL}?a=b"], "", [("JSONRPC", f"{URL}?a=b")]),
        ([f"{URL}?next=https://x.example.com/"], "", [("JSONRPC", f"{URL}?next=https://x.example.com/")]),
        (["https://agents.example.com/{agent}/a2a"], "", [("JSONRPC", "https://agents.example.com/harbour/a2a")]),
        (["wss://a.example.com/"], "urn:example:ws", [("urn:example:ws", "wss://a.example.com/")]),
    ],
)
def test_urls_are_interfaces_in_their_order(urls: list[str], binding: str, expected: list[tuple[str, str]]) -> None:
    """`--url [BINDING=]URL` wins over the profile; the first one is preferred (A2A 1.0 section 4.4.1)."""
    card: Json = project(agent(), CardOptions(urls=tuple(urls), binding=binding)).card
    assert [(item["protocolBinding"], item["url"]) for item in card["supportedInterfaces"]] == expected
    assert {item["protocolVersion"] for item in card["supportedInterfaces"]} == {"1.0"}


ENDPOINTS = [
    ({"url": URL, "a2a": {"enabled": True, "protocolVersion": "1.0"}}, NOTHING),
    ({"url": URL, "a2a": {"protocolVersion": "1.0"}}, NOTHING),
    ({"url": URL}, CardOptions(binding="JSONRPC")),
    ({"url": "https://elsewhere.example.com/", "a2a": {"enabled": False}}, options()),
]


@pytest.mark.parametrize(("endpoint", "given"), ENDPOINTS)
def test_endpoint_is_an_interface_where_it_offers_a2a(endpoint: Json, given: CardOptions) -> None:
    """BRICK section 8: the endpoint is public where A2A is enabled; `enabled: false` needs `--url`."""
    card: Json = project(agent(interfaces=None, endpoint=endpoint), given).card
    assert [item["url"] for item in card["supportedInterfaces"]] == [URL]


def test_tenant_is_kept_in_10_and_refused_in_03() -> None:
    """0.3 has no place for it: a client would reach somebody else."""
    made = agent(interfaces=[{"url": URL, "binding": "JSONRPC", "tenant": "north"}])
    card: Json = project(made, NOTHING).card
    assert card["supportedInterfaces"][0]["tenant"] == "north"
    [finding] = refused(made, OLD).values()
    assert "tenant" in finding.message


@pytest.mark.parametrize(
    ("said", "asked", "version"),
    [
        ("", "", "1.0"),
        ("1.0", "", "1.0"),
        ("1.0.0", "", "1.0"),
        ("0.3", "", "0.3"),
        ("0.3.0", "", "0.3"),
        ("0.3.0", "1.0", "1.0"),
        ("9.9", "0.3", "0.3"),
    ],
)
def test_version_is_the_option_or_what_the_agent_says(said: str, asked: str, version: str) -> None:
    """BRICK section 8: `a2a.protocolVersion` decides, unless the option does; 1.0 where nobody says anything."""
    made = agent(endpoint={"a2a": {"protocolVersion": said}} if said else {})
    assert project(made, CardOptions(protocol_version=asked)).version == version


# --- security ---

NO_DEVICE = {"flows": {"deviceCode": {"deviceAuthorizationUrl": "https://l.example.com/d"}}}
PKCE = {"flows": {"authorizationCode": {"pkceRequired": True}}}


@pytest.mark.parametrize(
    ("authentication", "given", "schemes", "requirements"),
    [
        (None, {}, None, None),
        ({"type": "none"}, {}, None, None),
        ({"type": "none", "instructions": "Just call."}, {}, None, None),
        (
            {"type": "api_key", "instructions": "Include 'X-API-Key' header with your API key."},
            {},
            {
                "apiKey": {
                    "apiKeySecurityScheme": {
                        "location": "header",
                        "name": "X-API-Key",
                        "description": "Include 'X-API-Key' header with your API key.",
                    }
                }
            },
            [{"schemes": {"apiKey": {"list": []}}}],
        ),
        (
            {"type": "api_key"},
            {"api_key_header": "Ocp-Key"},
            {"apiKey": {"apiKeySecurityScheme": {"location": "header", "name": "Ocp-Key"}}},
            [{"schemes": {"apiKey": {"list": []}}}],
        ),
        (
            {"type": "oauth2_bearer", "scopes": ["berths.read", "tides"]},
            {},
            {"oauth2": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
            [{"schemes": {"oauth2": {"list": ["berths.read", "tides"]}}}],
        ),
        (
            {"type": "oauth2_bearer", "scopes": ["tides"], "instructions": "Ask."},
            {"token_url": "https://login.example.com/token"},
            {
                "oauth2": {
                    "oauth2SecurityScheme": {
                        "description": "Ask.",
                        "flows": {
                            "clientCredentials": {
                                "tokenUrl": "https://login.example.com/token",
                                "scopes": {"tides": "tides"},
                            }
                        },
                    }
                }
            },
            [{"schemes": {"oauth2": {"list": ["tides"]}}}],
        ),
        (
            {"type": "mtls", "instructions": ""},
            {},
            {"mtls": {"mtlsSecurityScheme": {"description": "Mutual TLS"}}},
            [{"schemes": {"mtls": {"list": []}}}],
        ),
    ],
)
def test_authentication_becomes_schemes_and_requirements(
    authentication: Json | None, given: Json, schemes: Json | None, requirements: list[Json] | None
) -> None:
    """AIDIP's `authentication`: `api_key`, `oauth2_bearer` with scopes, `mtls`, `none`."""
    card: Json = project(agent(authentication=authentication), CardOptions(**given)).card
    assert card.get("securitySchemes") == schemes
    assert card.get("securityRequirements") == requirements
    assert check_card(card) == []
    old = project(agent(authentication=authentication), CardOptions(**given, protocol_version="0.3")).card
    assert [finding for finding in check_card(old) if finding.is_error] == []


def test_a_flow_needs_scopes() -> None:
    made = agent(authentication={"type": "oauth2_bearer"})
    [finding] = refused(made, CardOptions(token_url="https://login.example.com/token")).values()
    assert "leave --token-url out" in finding.hint


@pytest.mark.parametrize(
    ("instructions", "header"),
    [
        ("Include 'X-API-Key' header with your API key.", "X-API-Key"),
        ("Send the key in the `Ocp-Apim-Subscription-Key` header.", "Ocp-Apim-Subscription-Key"),
        ("Set the HTTP header X-Harbour-Key to your key", "X-Harbour-Key"),
        ("Pass your key in the x-api-key HTTP header.", "x-api-key"),
        ("header: api-key", "api-key"),
        ('A header called "Authorization" holds it', "Authorization"),
        ("the header named Api-Token. The Api-Token header is needed.", "Api-Token"),
        ("Our well-known header is needed", ""),
        ("a custom-made header X-Key", "X-Key"),
        ("Either the X-A-Key header or the X-B-Key header", ""),
        ("Ask us for a key", ""),
        ("The header is documented elsewhere", ""),
        ("", ""),
        ("X-" * 50_000 + "!", ""),
        ("-key " * 50_000 + "header " * 50_000, ""),
    ],
)
def test_header_is_read_only_where_it_is_stated(instructions: str, header: str) -> None:
    """One header that is written as headers are; prose with a hyphen is none, and of several nobody chooses."""
    made = agent(authentication={"type": "api_key", "instructions": instructions})
    if not header:
        assert "--api-key-header NAME" in refused(made, NOTHING)["#/securitySchemes"].hint
        return
    projected = project(made, NOTHING)
    card: Json = projected.card
    assert card["securitySchemes"]["apiKey"]["apiKeySecurityScheme"]["name"] == header
    assert "/securitySchemes/apiKey" in notes(projected)


def test_security_of_the_profile_wins_over_authentication() -> None:
    security = {"schemes": {"m": {"mtlsSecurityScheme": {"description": "M"}}}, "requirements": [{"m": []}]}
    card = project(agent(security=security, authentication={"type": "api_key"}), NOTHING).card
    assert card["securitySchemes"] == security["schemes"]


SECURITY_FAULTS = [
    ({"requirements": [{"key": []}]}, "A2A-SECURITY-001", "#/securityRequirements/0"),
    ({"schemes": {"m": {"mtlsSecurityScheme": {}}}, "requirements": [{}]}, "A2A-SECURITY-001", None),
    ({"schemes": {"m": {}}}, "A2A-SCHEMA-001", "#/securitySchemes/m"),
    ({"schemes": {"m": {"mtlsSecurityScheme": {}, "x": {}}}}, "A2A-SCHEMA-001", None),
    ({"schemes": {"m": {"mtlsSecurityScheme": "x"}}}, "A2A-SCHEMA-001", None),
    ({"schemes": {"m": {"apiKeySecurityScheme": {"name": "k"}}}}, "A2A-SCHEMA-001", None),
    ({"schemes": {"m": {"type": "mutualTLS"}}}, "A2A-CHANGE-001", None),
]


@pytest.mark.parametrize(("security", "requirement", "place"), SECURITY_FAULTS)
@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_wrong_security_never_makes_an_open_card(
    security: Json, requirement: str, place: str | None, version: str
) -> None:
    """What the profile says of security is on the card, or the card is refused; in both versions, without a crash."""
    with pytest.raises(RefusedError) as caught:
        publish_card(agent(security=security), CardOptions(protocol_version=version), {})
    if version == "1.0":
        assert requirement in {finding.requirement for finding in caught.value.findings}
        assert place is None or place in {finding.location for finding in caught.value.findings}


@pytest.mark.parametrize("scheme", [NO_DEVICE, PKCE])
def test_03_refuses_what_it_cannot_say(scheme: Json) -> None:
    security = {"schemes": {"o": {"oauth2SecurityScheme": scheme}}, "requirements": [{"o": []}]}
    assert "publish 1.0" in refused(agent(security=security), OLD)["#/securitySchemes/o"].hint
