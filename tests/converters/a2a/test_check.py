"""Rules of Agent Cards: single changes of a valid card, each with the requirement and the place that is to be told.

Sections are those of the A2A specification 1.0.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsuite_converters.a2a import check_card
from agentsuite_schemas import validator
from tests.converters.a2a.broken import BROKEN, CHANGE, MAIN, OLD_BROKEN, WARNED, WILD, fresh
from tests.converters.a2a.cards import ISSUER, OLD_SCHEMES, SCHEMES, URL, card, minimal, old
from tests.converters.mutations import changed
from tests.converters.random_json import ANYTHING, mutated


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
