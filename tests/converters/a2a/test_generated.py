"""What our schema of 1.0 accepts the SDK reads and writes back; what we call valid 0.3 becomes valid 1.0."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsuite_converters.a2a import check_card
from agentsuite_converters.a2a.projection import serialize
from agentsuite_converters.a2a.upgrade import upgrade_card
from agentsuite_converters.places import leaves
from agentsuite_schemas import load, validator
from hatch_agentsuite import jsondoc
from hatch_agentsuite.findings import RefusedError, pointer
from tests.converters.a2a.cards import card, minimal, old
from tests.converters.a2a.strategy import cards, old_cards
from tests.converters.random_json import mutated

slow = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@slow
@given(cards())
def test_the_sdk_reads_and_writes_what_we_call_valid(card: Any) -> None:
    """ADR-001: ProtoJSON, there and back, and nothing REQUIRED is missing to the SDK either."""
    pytest.importorskip("a2a", reason="a2a-sdk is not installed")
    from a2a.types import AgentCard
    from a2a.utils.proto_utils import validate_proto_required_fields
    from google.protobuf.json_format import MessageToDict, ParseDict

    assert validator("a2a/card-1.0").is_valid(card)
    assert [item for item in check_card(card) if item.is_error] == []
    message = ParseDict(card, AgentCard())
    validate_proto_required_fields(message)
    assert MessageToDict(message) == card


@slow
@given(cards())
def test_a_card_of_1_0_is_written_and_read_as_it_is(card: Any) -> None:
    data = serialize(card)
    assert jsondoc.loads(data) == card
    assert data == serialize(dict(reversed(card.items()))), "the order of members changes nothing"
    kept = {name: value for name, value in card.items() if name != "signatures"}
    unsigned = {name: value for name, value in upgrade_card(card).card.items() if name != "signatures"}
    assert unsigned == kept


@slow
@given(old_cards())
def test_a_valid_card_of_0_3_becomes_a_valid_one_of_1_0(card: Any) -> None:
    assert [item for item in check_card(card, "0.3") if item.is_error] == []
    before = json.dumps(card)
    upgraded = upgrade_card(card)
    assert json.dumps(card) == before
    assert [item for item in check_card(upgraded.card, "1.0") if item.is_error] == []
    report = upgraded.report
    named = [source for source, _ in report.carried]
    named += [item.source for item in report.derived] + [note.place for note in report.dropped]
    assert sorted(named) == sorted(pointer(*leaf) for leaf in leaves(card))
    assert upgrade_card(upgraded.card).card == upgraded.card, "an upgraded card is one of 1.0"


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_anything_is_upgraded_to_a_valid_card_or_refused(data: st.DataObject) -> None:
    build = data.draw(st.sampled_from([old, lambda: {**old(), **minimal()}, card]))
    document = mutated(build(), data)
    version = data.draw(st.sampled_from(["", "1.0", "0.3"]))
    with suppress(RefusedError):
        _is_upgraded(document, version)


def _is_upgraded(document: Any, version: str) -> None:
    upgraded = upgrade_card(document, version)
    assert [item for item in check_card(upgraded.card, "1.0") if item.is_error] == []
    report = upgraded.report
    named = [source for source, _ in report.carried]
    named += [item.source for item in report.derived] + [note.place for note in report.dropped]
    assert sorted(named) == sorted(pointer(*leaf) for leaf in leaves(document))
    if any(document.get(name) for name in ("security", "securityRequirements")):
        assert upgraded.card.get("securityRequirements"), "a card that asked for something still does"


@slow
@given(old_cards(), st.data())
def test_whoever_could_call_still_can(card: Any, data: st.DataObject) -> None:
    """A client meets one requirement, and every scheme of it; a scheme of several flows is met by any of them."""
    upgraded = upgrade_card(card).card
    flows = {
        name: sorted(scheme.get("flows", {"": {}})) if isinstance(scheme.get("flows"), dict) else [""]
        for name, scheme in card.get("securitySchemes", {}).items()
    }
    credentials = [(name, flow) for name, names in flows.items() for flow in names]
    held = {credential for credential in credentials if data.draw(st.booleans())}
    could = _may(card.get("security", []), held, lambda name: {(name, flow) for flow in flows[name]})
    schemes: Any = upgraded.get("securitySchemes", {})
    new = {name: _flows_of(scheme, name, flows) for name, scheme in schemes.items()}
    requirements: Any = upgraded.get("securityRequirements", [])
    assert _may([item["schemes"] for item in requirements], held, lambda name: new[name]) is could


def _may(requirements: Any, held: set[tuple[str, str]], meets: Any) -> bool:
    return not requirements or any(all(meets(name) & held for name in item) for item in requirements)


def _flows_of(scheme: Any, name: str, flows: Any) -> set[tuple[str, str]]:
    """Return the credentials that a scheme of the new card stands for."""
    oauth = scheme.get("oauth2SecurityScheme")
    if oauth is None:
        return {(name, "")}
    [flow] = oauth["flows"]
    if name in flows:
        return {(name, flow)}
    [old] = [old for old in flows if name.rstrip("_") == f"{old}{flow[:1].upper()}{flow[1:]}"]
    return {(old, flow)}


@pytest.mark.parametrize(("strategy", "name"), [(cards(), "a2a/card-1.0"), (old_cards(), "a2a/card-0.3")])
def test_the_strategy_says_everything(strategy: st.SearchStrategy[Any], name: str) -> None:
    """No member of either version is left out of what is generated."""
    seen: set[str] = set()

    @settings(max_examples=60, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def look(card: Any) -> None:
        seen.update(card)

    look()
    assert seen == load(name)["properties"].keys()
