"""Upgrades of old cards: what is carried, changed, dropped, and what is refused rather than invented."""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import pytest

from agentsuite_converters.a2a import check_card
from agentsuite_converters.a2a.upgrade import Upgraded, upgrade_card
from agentsuite_converters.places import ABSENT, at_path, leaves, parse_pointer
from hatch_agentsuite.findings import RefusedError, pointer
from tests.converters.a2a.cards import ISSUER, OLD_FLOWS, OLD_URL, SCHEMES, URL, card, minimal, old
from tests.converters.mutations import DROP, changed

SPLIT = {"type": "oauth2", "description": "Login", "flows": OLD_FLOWS}


def refusals(document: Any, version: str = "") -> list[tuple[str, str]]:
    with pytest.raises(RefusedError) as refused:
        upgrade_card(document, version)
    assert all(finding.is_error for finding in refused.value.findings)
    return [(finding.requirement, finding.location) for finding in refused.value.findings]


def dropped(upgraded: Upgraded) -> dict[str, str]:
    return {note.place: note.reason for note in upgraded.report.dropped}


def derived(upgraded: Upgraded) -> dict[str, str]:
    return {item.source: item.target for item in upgraded.report.derived}


def supplied(upgraded: Upgraded) -> dict[str, str]:
    return {note.place: note.reason for note in upgraded.report.supplied}


def test_everything_that_0_3_can_say() -> None:
    """Appendix A of A2A 1.0, member by member."""
    document = old()
    upgraded = upgrade_card(document)
    assert document == old(), "the old card is left alone"
    assert check_card(upgraded.card, "1.0") == []
    same = ("name", "description", "version", "provider", "documentationUrl", "iconUrl")
    modes = ("defaultInputModes", "defaultOutputModes")
    assert upgraded.card == {
        **{name: document[name] for name in (*same, *modes)},
        "supportedInterfaces": [
            {"url": OLD_URL, "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"},
            {"url": "grpc.tides.example.org:443", "protocolBinding": "GRPC", "protocolVersion": "0.3"},
        ],
        "capabilities": {
            "streaming": True,
            "pushNotifications": False,
            "extendedAgentCard": True,
            "extensions": [{"uri": "urn:example:units", "params": {"unit": "m", "none": None}}],
        },
        "securitySchemes": {
            "key": {
                "apiKeySecurityScheme": {"location": "cookie", "name": "key", "description": "Ask the harbour office"}
            },
            "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
            "code": {"oauth2SecurityScheme": {"flows": {"authorizationCode": OLD_FLOWS["authorizationCode"]}}},
            "openid": SCHEMES["openid"],
            "mtls": {"mtlsSecurityScheme": {"description": "A certificate of the harbour"}},
        },
        "securityRequirements": [
            {"schemes": {"key": {"list": []}, "mtls": {"list": []}}},
            {"schemes": {"code": {"list": ["tides:read"]}}},
        ],
        "skills": [
            {
                **{name: value for name, value in document["skills"][0].items() if name != "security"},
                "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
            }
        ],
    }


def test_the_account_names_every_leaf_once() -> None:
    for document in (old(), card(), {**old(), **minimal()}):
        upgraded = upgrade_card(document)
        report = upgraded.report
        named = [source for source, _ in report.carried]
        named += [item.source for item in report.derived] + [note.place for note in report.dropped]
        assert sorted(named) == sorted(pointer(*leaf) for leaf in leaves(document))
        places = [target for _, target in report.carried]
        places += [item.target for item in report.derived] + [note.place for note in report.supplied]
        for place in places:
            assert at_path(upgraded.card, parse_pointer(place, upgraded.card)) is not ABSENT, place


def test_what_is_lost_is_said() -> None:
    upgraded = upgrade_card({**old(), "_note": {"a": 1}})
    assert dropped(upgraded) == {
        "/capabilities/stateTransitionHistory": "1.0 has no such capability",
        "/signatures/0/protected": "a signature of the old card says nothing of the new one: sign it again",
        "/signatures/0/signature": "a signature of the old card says nothing of the new one: sign it again",
        "/_note/a": "1.0 has no member for it",
    }
    assert derived(upgraded)["/protocolVersion"] == "/supportedInterfaces/0/protocolVersion"
    assert derived(upgraded)["/additionalInterfaces/0/url"] == "/supportedInterfaces/0/url", "listed once"
    assert supplied(upgraded) == {}


def test_a_card_of_1_0_comes_back_as_it_is() -> None:
    """Only its signatures are of the card as it was written, and so still hold if nothing else changed."""
    upgraded = upgrade_card(minimal())
    assert upgraded.card == minimal()
    assert (upgraded.report.dropped, upgraded.report.derived, upgraded.report.supplied) == ((), (), ())


# --- the version that the server speaks ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "asked", "version", "reason"),
    [
        ("0.3.0", "", "0.3", None),
        ("0.3", "", "0.3", None),
        ("1.0", "", "1.0", None),
        ("1.0.0", "", "1.0", None),
        (DROP, "", "0.3", "readers take a card without `protocolVersion` for 0.3"),
        ("0.3.0", "1.0", "1.0", "--protocol-version"),
        ("0.2.5", "0.3", "0.3", "--protocol-version"),
        (DROP, "1.0", "1.0", "--protocol-version"),
    ],
)
def test_an_interface_keeps_the_version_that_its_server_speaks(
    written: Any, asked: str, version: str, reason: str | None
) -> None:
    """3.6: clients choose by the version of the interface; a server does not change because its card does."""
    upgraded = upgrade_card(changed(old(), "/protocolVersion", written), asked)
    assert {item["protocolVersion"] for item in upgraded.card["supportedInterfaces"]} == {version}  # type: ignore[index,call-overload,union-attr]
    assert supplied(upgraded).get("/supportedInterfaces/1/protocolVersion") == reason
    if asked and written is not DROP:
        assert dropped(upgraded)["/protocolVersion"] == "replaced by --protocol-version"


@pytest.mark.parametrize("written", ["0.2.5", "0.1", "", "latest", "v0.3"])
def test_a_version_that_nobody_speaks_is_asked_for(written: str) -> None:
    document = changed(old(), "/protocolVersion", written)
    if written:
        assert refusals(document) == [("A2A-CHANGE-001", "#/protocolVersion")]
    upgrade_card(document, "0.3")


def test_the_default_transport_of_0_3_is_supplied() -> None:
    document = changed(changed(old(), "/preferredTransport", DROP), "/additionalInterfaces", DROP)
    upgraded = upgrade_card(document)
    assert upgraded.card["supportedInterfaces"] == [
        {"url": OLD_URL, "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}
    ]
    assert supplied(upgraded) == {"/supportedInterfaces/0/protocolBinding": "the default of 0.3"}


# --- several flows -------------------------------------------------------------------------------------------------


def meets(requirements: Any, held: set[str]) -> bool:
    """Whether a client that holds tokens of some schemes may call: it meets one requirement, and all schemes of it."""
    return any(item["schemes"].keys() <= held for item in requirements)


def test_several_flows_become_several_schemes_with_the_same_meaning() -> None:
    document = changed(old(), "/securitySchemes/code", copy.deepcopy(SPLIT))
    document["security"] = [{"code": ["tides:read"], "key": []}, {"mtls": []}]
    document["skills"][0]["security"] = [{"code": []}]
    upgraded = upgrade_card(document)
    schemes: Any = upgraded.card["securitySchemes"]
    assert "code" not in schemes
    for name, flow in (("codeAuthorizationCode", "authorizationCode"), ("codeClientCredentials", "clientCredentials")):
        assert schemes[name] == {"oauth2SecurityScheme": {"description": "Login", "flows": {flow: OLD_FLOWS[flow]}}}
    assert upgraded.card["securityRequirements"] == [
        {"schemes": {"codeAuthorizationCode": {"list": ["tides:read"]}, "key": {"list": []}}},
        {"schemes": {"codeClientCredentials": {"list": ["tides:read"]}, "key": {"list": []}}},
        {"schemes": {"mtls": {"list": []}}},
    ]
    assert upgraded.card["skills"][0]["securityRequirements"] == [  # type: ignore[index,call-overload]
        {"schemes": {"codeAuthorizationCode": {"list": []}}},
        {"schemes": {"codeClientCredentials": {"list": []}}},
    ]
    # Whoever could call still can, and nobody else: a token of either flow was one of the scheme `code`.
    names = ["codeAuthorizationCode", "codeClientCredentials", "key", "mtls"]
    for held in product([False, True], repeat=len(names)):
        tokens = {name for name, is_held in zip(names, held, strict=True) if is_held}
        before = {"code" if name.startswith("code") else name for name in tokens}
        could = any(item.keys() <= before for item in document["security"])
        assert meets(upgraded.card["securityRequirements"], tokens) is could
    assert check_card(upgraded.card) == []


def test_a_name_that_is_taken_is_not_taken_twice() -> None:
    document = changed(old(), "/securitySchemes/code", copy.deepcopy(SPLIT))
    document["securitySchemes"]["codeAuthorizationCode"] = {"type": "http", "scheme": "Basic"}
    schemes: Any = upgrade_card(document).card["securitySchemes"]
    assert "httpAuthSecurityScheme" in schemes["codeAuthorizationCode"]
    assert "oauth2SecurityScheme" in schemes["codeAuthorizationCode_"]


def test_too_many_choices_are_refused() -> None:
    """A requirement of n schemes of two flows becomes 2^n."""
    document = old()
    names = [f"s{number}" for number in range(20)]
    document["securitySchemes"] |= {name: copy.deepcopy(SPLIT) for name in names}
    document["security"] = [{name: [] for name in names}]
    assert refusals(document) == [("A2A-CHANGE-001", "#/security/0")]


# --- mixed cards ---------------------------------------------------------------------------------------------------


def mixed(**more: Any) -> Any:
    return {**minimal(), "securitySchemes": {"key": SCHEMES["key"], "mtls": SCHEMES["mtls"]}, **more}


KEY_10: Any = [{"schemes": {"key": {"list": []}}}]


@pytest.mark.parametrize(
    ("more", "interfaces", "requirements"),
    [
        ({"url": URL, "protocolVersion": "0.3.0"}, minimal()["supportedInterfaces"], None),
        ({"preferredTransport": "GRPC"}, minimal()["supportedInterfaces"], None),
        (
            {"url": OLD_URL, "protocolVersion": "0.3.0", "preferredTransport": "HTTP+JSON"},
            [
                *minimal()["supportedInterfaces"],
                {"url": OLD_URL, "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"},
            ],
            None,
        ),
        (
            {"additionalInterfaces": [{"url": "grpc.example.org:443", "transport": "GRPC"}]},
            [
                *minimal()["supportedInterfaces"],
                {"url": "grpc.example.org:443", "protocolBinding": "GRPC", "protocolVersion": "0.3"},
            ],
            None,
        ),
        ({"security": [{"key": []}]}, minimal()["supportedInterfaces"], KEY_10),
        ({"securityRequirements": [{"key": []}]}, minimal()["supportedInterfaces"], KEY_10),
        ({"securityRequirements": KEY_10, "security": [{"key": []}]}, minimal()["supportedInterfaces"], KEY_10),
        (
            {"supportedInterfaces": [{"url": URL, "transport": "JSONRPC", "protocolVersion": "1.0"}] * 2},
            minimal()["supportedInterfaces"],
            None,
        ),
    ],
)
def test_mixed_cards(more: Any, interfaces: Any, requirements: Any) -> None:
    upgraded = upgrade_card(mixed(**more))
    assert upgraded.card["supportedInterfaces"] == interfaces
    assert upgraded.card.get("securityRequirements") == requirements


def test_requirements_that_contradict_each_other_are_refused() -> None:
    """Of two answers to who may call, the looser one would be a guess."""
    both: Any = [{"schemes": {"key": {"list": []}, "mtls": {"list": []}}}]
    assert refusals(mixed(securityRequirements=both, security=[{"key": []}])) == [("A2A-CHANGE-001", "#/security")]
    upgrade_card(mixed(securityRequirements=both, security=[{"mtls": [], "key": []}]))


def test_capabilities_that_contradict_each_other_are_refused() -> None:
    document = mixed(supportsAuthenticatedExtendedCard=True, capabilities={"extendedAgentCard": False})
    assert refusals(document) == [("A2A-CHANGE-001", "#/supportsAuthenticatedExtendedCard")]


def test_an_interface_without_a_version_is_refused() -> None:
    document = mixed(url=URL, supportedInterfaces=[{"url": URL, "protocolBinding": "JSONRPC"}])
    assert ("A2A-SCHEMA-001", "1.0#/supportedInterfaces/0") in refusals(document)
    upgraded = upgrade_card(document, "1.0")
    assert upgraded.card["supportedInterfaces"] == minimal()["supportedInterfaces"]
    assert supplied(upgraded) == {"/supportedInterfaces/0/protocolVersion": "--protocol-version"}


# --- refused, never invented ---------------------------------------------------------------------------------------

EMPTY_SCOPES = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": f"{ISSUER}/token", "scopes": {}}}}


@pytest.mark.parametrize(
    ("where", "value", "requirement", "at"),
    [
        *((f"/{name}", DROP, "A2A-SCHEMA-001", "1.0#") for name in ("name", "description", "version", "skills")),
        *((f"/default{name}Modes", DROP, "A2A-SCHEMA-001", "1.0#") for name in ("Input", "Output")),
        ("/url", DROP, "A2A-SCHEMA-001", "1.0#/supportedInterfaces/0"),
        ("/skills/0/tags", DROP, "A2A-SCHEMA-001", "1.0#/skills/0"),
        ("/skills/0/tags", [], "A2A-SCHEMA-001", "1.0#/skills/0/tags"),
        ("/provider/url", DROP, "A2A-SCHEMA-001", "1.0#/provider"),
        ("/additionalInterfaces/1/transport", DROP, "A2A-SCHEMA-001", "1.0#/supportedInterfaces/1"),
        ("/defaultInputModes/0", "text", "A2A-MODE-001", "1.0#/defaultInputModes/0"),
        ("/preferredTransport", "REST", "A2A-BINDING-001", "1.0#/supportedInterfaces/0/protocolBinding"),
        ("/authentication", {"schemes": ["Bearer"]}, "A2A-SECURITY-001", "#/authentication"),
        ("/security", ["key"], "A2A-SCHEMA-001", "#/security/0"),
        ("/security/0", {"key": "read"}, "A2A-SCHEMA-001", "#/security/0/key"),
        ("/security/0", {}, "A2A-SECURITY-001", "1.0#/securityRequirements/0"),
        ("/security/0/magic", [], "A2A-SECURITY-001", "1.0#/securityRequirements/0"),
        ("/securityRequirements", ["key"], "A2A-CHANGE-001", "#/security"),
        ("/securitySchemes/key/type", "magic", "A2A-CHANGE-001", "1.0#/securitySchemes/key"),
        ("/securitySchemes/key/in", "Header", "A2A-SECURITY-001",
         "1.0#/securitySchemes/key/apiKeySecurityScheme/location"),
        ("/securitySchemes/code", EMPTY_SCOPES, "A2A-SCHEMA-001",
         "1.0#/securitySchemes/code/oauth2SecurityScheme/flows/clientCredentials/scopes"),
        ("/securitySchemes/code/flows", {}, "A2A-SCHEMA-001", "1.0#/securitySchemes/code/oauth2SecurityScheme/flows"),
        ("/capabilities", ["streaming"], "A2A-SCHEMA-001", "#/capabilities"),
        ("/skills", "all", "A2A-SCHEMA-001", "#/skills"),
    ],
)  # fmt: skip
def test_what_1_0_requires_is_refused_by_name(where: str, value: Any, requirement: str, at: str) -> None:
    found = refusals(changed(old(), where, value if value is DROP else copy.deepcopy(value)))
    assert (requirement, at) in found


def test_capabilities_are_not_invented() -> None:
    document = changed(changed(old(), "/capabilities", DROP), "/supportsAuthenticatedExtendedCard", DROP)
    assert refusals(document) == [("A2A-SCHEMA-001", "1.0#")]


@pytest.mark.parametrize("document", [None, [], {}, {"name": "x", "endpoint": "y"}, "card"])
def test_what_is_no_card_is_refused(document: Any) -> None:
    [(requirement, _)] = refusals(document)
    assert requirement in {"A2A-SCHEMA-001", "A2A-VERSION-001"}


def test_nulls_are_dropped_where_they_say_nothing() -> None:
    """Pydantic's `model_dump` writes them; `params` may hold them."""
    document = changed(changed(old(), "/iconUrl", None), "/skills/0/examples", None)
    upgraded = upgrade_card(document)
    assert {"/iconUrl", "/skills/0/examples"} <= dropped(upgraded).keys()
    assert "iconUrl" not in upgraded.card
