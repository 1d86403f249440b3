"""An agent on a card (BRICK sections 8 and 9): what goes there, what is derived, what is asked for."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from agentsuite_converters.a2a import public
from agentsuite_converters.a2a.check import check_card
from agentsuite_converters.a2a.projection import CardOptions, project, serialize
from agentsuite_converters.a2a.publishing import as_protojson, publish_card
from agentsuite_converters.profile import AgentProfile
from agentsuite_converters.supplies import supplies
from tests.a2a.cards import CAPABILITIES, NOTHING, OLD, PRIVATE, PUBLIC, URL, Json, agent, bare, notes, options, refused

# --- the whole card ---


def test_card_of_10_is_the_profile_and_no_more() -> None:
    """Every member that has a place on the card is there, as the profile has it."""
    assert project(agent(), NOTHING).card == {
        "name": "Harbour Guide",
        "description": "Tells skippers about berths and tides.",
        "version": "2.1.0",
        "provider": {"organization": "Port Office", "url": "https://port.example.com/"},
        "documentationUrl": "https://port.example.com/docs",
        "iconUrl": "https://port.example.com/icon.png",
        "supportedInterfaces": [
            {"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": f"{URL}/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
        ],
        "capabilities": {"streaming": True, "pushNotifications": False},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [
            {"id": "berth", "name": "Berths", "description": "Finds a berth.", "tags": ["mooring"]},
            {
                "id": "tides",
                "name": "tides",
                "description": "Tells the tide.",
                "tags": ["travel", "boats", "language:nl"],
            },
        ],
    }


def test_card_of_03_is_another_document() -> None:
    """Versions are two documents, never a hybrid: each has its own members for interfaces and security."""
    security = {
        "schemes": {
            "key": {"apiKeySecurityScheme": {"location": "query", "name": "key"}},
            "client": {"mtlsSecurityScheme": {"description": "A certificate"}},
        },
        "requirements": [{"key": [], "client": []}],
    }
    new, old = project(agent(security=security), NOTHING).card, project(agent(security=security), OLD).card
    assert old["protocolVersion"] == "0.3.0"
    assert (old["url"], old["preferredTransport"]) == (URL, "JSONRPC")
    assert old["additionalInterfaces"] == [
        {"url": URL, "transport": "JSONRPC"},
        {"url": f"{URL}/rest", "transport": "HTTP+JSON"},
    ]
    assert old["securitySchemes"] == {
        "key": {"type": "apiKey", "in": "query", "name": "key"},
        "client": {"type": "mutualTLS", "description": "A certificate"},
    }
    assert old["security"] == [{"key": [], "client": []}]
    assert new["securityRequirements"] == [{"schemes": {"key": {"list": []}, "client": {"list": []}}}]
    own = {"supportedInterfaces", "securityRequirements"}
    assert new.keys() - old.keys() == own
    assert not {"url", "preferredTransport", "additionalInterfaces", "protocolVersion", "security"} & new.keys()
    for card, version in ((new, "1.0"), (old, "0.3")):
        assert [found for found in check_card(card) if found.is_error] == [], version


def test_one_interface_needs_no_further_ones_in_03() -> None:
    card = project(agent(), CardOptions(urls=(URL,), protocol_version="0.3")).card
    assert "additionalInterfaces" not in card
    assert card["url"] == URL


def test_absent_members_are_absent() -> None:
    """Nothing is invented: a bare agent with what a card requires has a card of exactly that."""
    made = bare(description="D", version="1.0.0", inputModes=["text/plain"], outputModes=["text/plain"])
    assert project(made, options()).card.keys() == {
        "name", "description", "version", "supportedInterfaces", "capabilities", "skills",
        "defaultInputModes", "defaultOutputModes",
    }  # fmt: skip


HOLLOW = bare(
    name="", description="D", version="1.0.0", inputModes=["a/b"], outputModes=["a/b"], tags=[], security={},
    publisher={}, features={}, interfaces=[], endpoint={}, authentication={}, categories=[],
)  # fmt: skip


@pytest.mark.parametrize("made", [agent(), HOLLOW])
@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_no_member_is_empty(made: AgentProfile, version: str) -> None:
    """What would be empty is left out, or derived."""
    card = project(made, CardOptions(urls=(URL,), protocol_version=version)).card
    assert [name for name, value in card.items() if value in ("", [], {})] == []


# --- what may be published ---


def test_private_members_are_out_of_reach() -> None:
    """BRICK section 9: the projection copies named public members; a private one changes nothing."""
    without = dict.fromkeys(PRIVATE)
    assert project(agent(), NOTHING) == project(agent(**without), NOTHING)
    more = {**PRIVATE, "secretOfTomorrow": "x", "x-notes": {"name": "n"}}
    assert project(agent(**more), NOTHING) == project(agent(), NOTHING)


def test_allow_list_has_no_private_member() -> None:
    assert set(public.MEMBERS) & PRIVATE.keys() == set()
    assert set(public.MEMBERS) >= PUBLIC.keys()
    assert not {"tools", "skills", "input", "output", "foreign", "visibility"} & set(public.CAPABILITY_MEMBERS)


@pytest.mark.parametrize("visibility", ["private", "Public", "", None, True, ["public"], 1])
def test_only_capabilities_marked_public_become_skills(visibility: Any) -> None:
    """BRICK section 8: nothing but the very word publishes a capability."""
    capabilities = [*CAPABILITIES, {"id": "x", "description": "X", "visibility": visibility}, {"id": "y"}]
    card: Json = project(agent(capabilities=capabilities), NOTHING).card
    assert [skill["id"] for skill in card["skills"]] == ["berth", "tides"]


def test_skill_has_all_public_members_of_a_capability() -> None:
    capability = {
        "id": "berth",
        "name": "Berths",
        "description": "Finds a berth.",
        "visibility": "public",
        "tags": ["mooring"],
        "examples": ["A berth for 9 m"],
        "inputModes": ["application/json"],
        "outputModes": ["text/html"],
    }
    private = {"tools": ["a:b"], "skills": ["s"], "input": {"names": ["x"]}, "output": {}, "foreign": {"brick": []}}
    card: Json = project(agent(capabilities=[{**capability, **private}]), NOTHING).card
    assert card["skills"] == [{name: value for name, value in capability.items() if name != "visibility"}]


# --- what is derived ---


@pytest.mark.parametrize(
    ("changes", "place", "value"),
    [
        ({"name": None}, "/name", "harbour"),
        ({"capabilities": CAPABILITIES[2:]}, "/skills/0/name", "tides"),
        ({"capabilities": CAPABILITIES[2:]}, "/skills/0/tags", ["travel", "boats", "language:nl"]),
        ({"features": None}, "/capabilities/streaming", False),
        ({"features": {"streaming": True}}, "/capabilities/pushNotifications", False),
        ({"interfaces": [{"url": URL}]}, "/supportedInterfaces", None),
    ],
)
def test_what_is_derived_is_listed(changes: Json, place: str, value: Any) -> None:
    projected = project(agent(**changes), NOTHING)
    assert place in notes(projected)
    if value is not None:
        holder: Any = projected.card
        for token in place.split("/")[1:]:
            holder = holder[int(token) if token.isdecimal() else token]
        assert holder == value


def test_nothing_is_listed_where_everything_is_said() -> None:
    assert project(agent(capabilities=CAPABILITIES[:1]), NOTHING).derived == ()


def test_examples_of_pairs_are_their_inputs() -> None:
    """The outputs stay private; what is no text is JSON, in one order whatever the document's was."""
    pairs: list[Any] = [
        "plain",
        {"input": "A berth", "output": "hidden"},
        {"input": {"b": 1, "a": "é"}, "output": {"hidden": 1}},
        {"input": {"a": "é", "b": 1}},
        {"output": "hidden"},
        7,
    ]
    projected = project(agent(capabilities=[{**CAPABILITIES[0], "examples": pairs}]), NOTHING)
    card: Json = projected.card
    assert card["skills"][0]["examples"] == ["plain", "A berth", '{"a": "é", "b": 1}', '{"a": "é", "b": 1}']
    assert "/skills/0/examples" in notes(projected)


@pytest.mark.parametrize(
    ("member", "tags"),
    [
        ({"tags": ["a", "b"]}, ["a", "b"]),
        ({"categories": ["c"], "tags": ["c", "d"]}, ["c", "d"]),
        ({"languages": ["en", "nl-BE"]}, ["language:en", "language:nl-BE"]),
    ],
)
def test_skills_without_tags_share_the_agents(member: Json, tags: list[str]) -> None:
    made = agent(**{"tags": None, "categories": None, "languages": None, **member})
    made.value["capabilities"] = [{**CAPABILITIES[0], "tags": []}]
    card: Json = project(made, NOTHING).card
    assert card["skills"][0]["tags"] == tags


def test_digest_of_the_suite_is_an_extension() -> None:
    """Where it is known, the card names the suite that it was made from; clients may ignore it."""
    card: Json = project(agent(), CardOptions(suite_digest="sha256:" + "0" * 64)).card
    [extension] = card["capabilities"]["extensions"]
    assert extension["params"] == {"agent": "harbour", "suiteDigest": "sha256:" + "0" * 64}
    assert extension["required"] is False
    assert check_card(card) == []


# --- what lacks ---

LACKS = [
    ({"description": None}, "#/description", "--description TEXT"),
    ({"description": " \n"}, "#/description", "--description TEXT"),
    ({"version": None}, "#/version", "--card-version VERSION"),
    ({"inputModes": None}, "#/defaultInputModes", "--input-mode MEDIA/TYPE"),
    ({"outputModes": []}, "#/defaultOutputModes", "--output-mode MEDIA/TYPE"),
    ({"publisher": {"name": "P"}}, "#/provider/url", "--provider-url URL, or --no-provider"),
    ({"publisher": {"url": "https://p.example.com"}}, "#/provider/organization", "--provider NAME"),
    ({"capabilities": CAPABILITIES[1:2]}, "#/skills", "visibility: public"),
    ({"capabilities": None}, "#/skills", "visibility: public"),
    ({"capabilities": [{"id": "a", "visibility": "public"}]}, "#/skills/0/description", "one in the profile"),
    ({"tags": None, "categories": None, "languages": None}, "#/skills/1/tags", "--tag TAG"),
    ({"interfaces": None}, "#/supportedInterfaces", "--url URL"),
    ({"interfaces": None, "endpoint": {"url": URL}}, "#/supportedInterfaces", "--binding if it does, or --url URL"),
    ({"endpoint": {"url": URL, "a2a": {"enabled": False}}}, "#/supportedInterfaces", "--url URL"),
    ({"endpoint": {"a2a": {"protocolVersion": "0.2.5"}}}, "#/protocolVersion", "--protocol-version 1.0 or 0.3"),
    ({"endpoint": {"a2a": {"protocolVersion": "2.0"}}}, "#/protocolVersion", "--protocol-version 1.0 or 0.3"),
    ({"endpoint": {"a2a": {"protocolVersion": "1.0\n"}}}, "#/protocolVersion", "--protocol-version 1.0 or 0.3"),
    ({"authentication": {"type": "api_key"}}, "#/securitySchemes", "--api-key-header NAME"),
    ({"authentication": {"type": "kerberos"}}, "#/securitySchemes", "`security`"),
    ({"authentication": {"instructions": "Ask us."}}, "#/securitySchemes", "`security`"),
]


@pytest.mark.parametrize(("changes", "place", "option"), LACKS)
def test_what_lacks_is_asked_for_by_name(changes: Json, place: str, option: str) -> None:
    """A member that a card requires is named, and so is the option that supplies it."""
    finding = refused(agent(**changes), NOTHING)[place]
    assert finding.requirement == "A2A-SUPPLY-001"
    assert option in finding.hint


def test_everything_that_lacks_is_told_at_once() -> None:
    assert refused(AgentProfile({"id": "x"}), NOTHING).keys() == {
        "#/description", "#/version", "#/defaultInputModes", "#/defaultOutputModes", "#/skills",
        "#/supportedInterfaces",
    }  # fmt: skip
    assert "#/url" in refused(AgentProfile({"id": "x"}), OLD)


@pytest.mark.parametrize(
    ("option", "value", "member", "place"),
    [
        ("name", "N", "name", "/name"),
        ("description", "D", "description", "/description"),
        ("card-version", "9.0.0", "version", "/version"),
        ("provider", "P", "publisher", "/provider/organization"),
        ("provider-url", "https://p.example.com/", "publisher", "/provider/url"),
        ("documentation-url", "https://d.example.com/", "documentationUrl", "/documentationUrl"),
        ("icon-url", "https://i.example.com/", "iconUrl", "/iconUrl"),
        ("input-mode", ["text/html"], "inputModes", "/defaultInputModes"),
        ("output-mode", ["text/html"], "outputModes", "/defaultOutputModes"),
        ("streaming", True, "features", "/capabilities/streaming"),
        ("push-notifications", True, "features", "/capabilities/pushNotifications"),
        ("tag", ["t"], "tags", "/skills/1/tags/1"),
    ],
)
@pytest.mark.parametrize("is_there", [False, True])
def test_options_supply_members(option: str, value: Any, member: str, place: str, is_there: bool) -> None:
    """An option fills a member that lacks, and replaces one that is there."""
    made = agent() if is_there else agent(**{member: None})
    given = supplies({option: value})
    if member == "publisher" and not is_there:
        both = {"provider": "P", "provider-url": "https://p.example.com/"}
        given = supplies(both)
        value = both[option]
    card: Any = json.loads(publish_card(made, NOTHING, given).data)
    for token in place.split("/")[1:]:
        card = card[int(token) if token.isdecimal() else token]
    assert card == (value[0] if option == "tag" else value)


def test_provider_can_be_left_out() -> None:
    made = agent(publisher={"name": "P"})
    assert "provider" not in project(made, CardOptions(has_provider=False)).card


# --- bytes ---


def test_serialized_cards_are_sorted_utf8_json() -> None:
    assert serialize({"b": 1, "a": {"d": "é", "c": []}}) == (
        b'{\n  "a": {\n    "c": [],\n    "d": "\xc3\xa9"\n  },\n  "b": 1\n}\n'
    )


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_order_of_members_makes_no_difference(version: str) -> None:
    def backwards(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: backwards(value[name]) for name in reversed(value)}
        return [backwards(item) for item in value] if isinstance(value, list) else value

    security = {
        "schemes": {"b": {"mtlsSecurityScheme": {"description": "B"}}, "a": {"mtlsSecurityScheme": {}}},
        "requirements": [{"b": [], "a": []}],
    }
    one = agent(security=security)
    other = AgentProfile(backwards(one.value), secrets=one.secrets)
    given = CardOptions(protocol_version=version, suite_digest="sha256:0")
    assert publish_card(one, given, {}).data == publish_card(other, given, {}).data


def test_card_is_what_the_message_says() -> None:
    """The published bytes of 1.0 are the SDK's own ProtoJSON of the message that it parses from them."""
    card = json.loads(publish_card(agent(), NOTHING, {}).data)
    assert as_protojson(card) == card


def test_options_are_all_of_the_card_and_none_of_the_agent() -> None:
    """An option of the projection that nobody documents does not exist."""
    assert {field.name for field in fields(CardOptions)} == {
        "urls", "binding", "protocol_version", "api_key_header", "token_url", "has_provider", "suite_digest",
    }  # fmt: skip
