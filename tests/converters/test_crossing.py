"""Law 3: between every two formats a document becomes a valid one, or is refused with what would help.

Each leaf of the source is carried, derived or dropped, and each leaf of the target is reached or supplied.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from agentsuite_converters.exporting import Exported, convert_document, export_agent
from agentsuite_converters.formats import ForeignFormat
from agentsuite_converters.places import at_path, leaves, parse_pointer, same
from agentsuite_converters.suites import read_suite
from agentsuite_converters.supplies import supplies
from hatch_agentsuite.findings import Finding, RefusedError, pointer
from tests.converters.agents import FORMATS, Agent, agents, complete_agent
from tests.converters.conversions import imported

PAIRS = list(product(FORMATS, FORMATS))
SAID_BY_THE_WAY = ("/instructions/0/id", "/interface/methods/0/name")
"""Names of what is derived: of the file with the prompt, of the method that the agent is."""
VALUES: dict[str, str | list[str]] = {
    "identifier": "urn:example:supplied",
    "name": "Supplied",
    "description": "Supplied by an option",
    "agent-version": "0.0.1",
    "publisher": "Supplied",
    "endpoint": "https://supplied.example.net/",
    "goal": ["Be supplied"],
    "capability": ["supplied=Is supplied"],
}


def options_of(findings: tuple[Finding, ...]) -> dict[Any, Any]:
    """Return what the options that a refusal names would supply; fails where one names none."""
    names = [re.match(r"give --([a-z-]+) ", finding.hint) for finding in findings]
    assert all(names), findings
    return supplies({name[1]: VALUES[name[1]] for name in names if name})


def accounted(source: Any, exported: Exported) -> None:
    """Fail unless the report accounts for every leaf of both documents, each once, and tells the truth."""
    target, told = exported.expressed.document, exported.expressed.report
    fates = [place for place, _ in told.carried]
    fates += [derived.source for derived in told.derived] + [note.place for note in told.dropped]
    assert sorted(fates) == sorted(pointer(*leaf) for leaf in leaves(source))
    for home, place in told.carried:
        moved = at_path(source, parse_pointer(home, source)), at_path(target, parse_pointer(place, target))
        assert same(*moved), (home, place)
    assert all(item.reason for item in told.derived)
    assert all(note.reason for note in (*told.dropped, *told.supplied))
    ends = [place for _, place in told.carried] + [derived.target for derived in told.derived]
    supplied = {note.place for note in told.supplied}
    everything = {pointer(*leaf) for leaf in leaves(target)}
    reached = {leaf for leaf in everything if any(leaf == end or leaf.startswith(f"{end}/") for end in ends)}
    assert reached.isdisjoint(supplied)
    assert supplied <= everything
    known = [at_path(target, parse_pointer(place, target)) for place in reached]
    in_part = any("the names of the parameters" in note.reason for note in told.dropped)
    for place in everything - reached - supplied:
        value = at_path(target, parse_pointer(place, target))
        repeated = any(same(value, other) for other in known)  # as `agent_config` of AIB repeats the id and the name
        assert repeated or (in_part and "puts" in place) or place in SAID_BY_THE_WAY, place


def converted(agent: Agent, target: ForeignFormat, document: Path) -> Exported | None:
    """Convert with what has to be supplied; None where the document would disclose what is private."""
    outcome = attempt(agent, target, document, {})
    if isinstance(outcome, tuple):
        outcome = attempt(agent, target, document, options_of(outcome))
    assert not isinstance(outcome, tuple), outcome
    return outcome


def attempt(
    agent: Agent, target: ForeignFormat, document: Path, given: dict[Any, Any]
) -> Exported | tuple[Finding, ...] | None:
    """Convert with every method public; return what is asked for where that is refused."""
    methods = agent.document.get("interface", {}).get("methods", []) if agent.form.published else []
    public = frozenset(method["name"] for method in methods)
    try:
        return convert_document(agent.form, target, document, given, public)
    except RefusedError as error:
        is_private = all("PRIVACY" in finding.requirement for finding in error.findings)
        return None if is_private else error.findings


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_leaf_is_accounted_for(source: str, target: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    @settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(agents(source))
    def holds(agent: Agent) -> None:
        document = agent.write(tmp_path_factory.mktemp("law"))
        outcome = converted(agent, FORMATS[target], document)
        if outcome is not None:
            accounted(agent.document, outcome)
            assert not [it for it in FORMATS[target].check(outcome.expressed.document) if it.is_error]

    holds()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_complete_document_crosses(source: str, target: str, tmp_path: Path) -> None:
    agent = complete_agent(source)
    outcome = converted(agent, FORMATS[target], agent.write(tmp_path))
    assert outcome is not None
    accounted(agent.document, outcome)
    if source == target:
        assert same(outcome.expressed.document, agent.document)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_export_accounts_for_the_profile(source: str, target: str, tmp_path: Path) -> None:
    """The report of an export is about the agent's profile, without what the import had to add."""
    agent = complete_agent(source)
    imported(agent.form, [agent.write(tmp_path / "in")], tmp_path / "suite")
    (profile,) = read_suite(tmp_path / "suite").values()
    try:
        outcome = export_agent(FORMATS[target], profile, {})
    except RefusedError as error:
        (profile,) = read_suite(tmp_path / "suite").values()
        outcome = export_agent(FORMATS[target], profile, options_of(error.findings))
    told = outcome.expressed.report
    fates = [place for place, _ in told.carried]
    fates += [derived.source for derived in told.derived] + [note.place for note in told.dropped]
    assert len(fates) == len(set(fates))
    if source == target:
        assert told.dropped == ()


@pytest.mark.parametrize("name", ["boat", "a/b", "~", "%41 ü"])
def test_references_of_a_parameter_lead_to_its_own_definitions(name: str, tmp_path: Path) -> None:
    """AIB has a schema for each parameter, AIDIP one for all: `#` is another place there."""
    agent = complete_agent("aib")
    parameter = {"$ref": "#/$defs/b", "$defs": {"b": {"type": "string"}}, "const": {"$ref": "#/only/data"}}
    agent.document["interface"]["methods"][1]["input"] = {name: parameter}
    outcome = converted(agent, FORMATS["aidip"], agent.write(tmp_path))
    assert outcome is not None
    inputs: Any = at_path(outcome.expressed.document, ("operations", 1, "inputs"))
    moved = inputs["properties"][name]
    assert moved["const"] == parameter["const"]
    assert moved["$ref"].startswith("#/properties/")
    assert moved["$ref"].endswith("/$defs/b")
    accounted(agent.document, outcome)


def test_metadata_without_a_public_capability_asks_for_one(tmp_path: Path) -> None:
    agent = complete_agent("brick")
    for capability in agent.document["capabilities"]:
        capability["advertise"] = False
    with pytest.raises(RefusedError) as error:
        convert_document(agent.form, FORMATS["aidip"], agent.write(tmp_path), {}, frozenset())
    assert [(it.location, it.hint) for it in error.value.findings] == [
        ("#/publisher", "give --publisher TEXT"),
        ("#/operations", "give --capability ID=DESCRIPTION"),
    ]
