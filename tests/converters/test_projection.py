"""Law 4: nothing of a private member is in what is published: marks in every private member, none in the output."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsuite_converters.document import dump
from agentsuite_converters.exporting import Exported, convert_document, export_agent
from agentsuite_converters.importing import ImportOptions
from agentsuite_converters.suites import read_suite
from agentsuite_converters.supplies import supplies
from tests.converters.agents import FORMATS, Agent
from tests.converters.conversions import imported

Json = dict[str, Any]
MARK = "secretmark"
SUPPLIES = supplies(
    {"publisher": "Port Office", "endpoint": "https://public.example.net/", "agent-version": "1", "capability": ["a=b"]}
)
COUNTS = st.integers(0, 3)


class Marks:
    """Marks, each another, for every kind of member."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def __call__(self) -> str:
        return f"{MARK}{next(self._numbers)}"

    def more(self, holder: Json) -> Json:
        """Add members that nobody knows."""
        return {**holder, self(): self(), "owner": {self(): [self()]}, "foreign": {"aidip": [{"at": self()}]}}


@st.composite
def marked_brick(draw: st.DrawFn) -> Agent:
    mark = Marks()
    servers = [
        {"id": mark(), "transport": kind, "endpoint": url.format(mark()), "allowedTools": [mark(), mark()]}
        for kind, url in draw(st.lists(st.sampled_from([("stdio", "{}"), ("streamable-http", "https://{}.example/m")])))
    ]
    tools = [f"{server['id']}:{server['allowedTools'][0]}" for server in servers]
    skills = [{"id": mark(), "uri": f"https://{mark()}.example/{mark()}"} for _ in range(draw(COUNTS))]
    names = [skill["id"] for skill in skills]
    files = {f"{mark()}.md": f"{mark()} says {mark()}\n".encode() for _ in range(draw(COUNTS))}
    hidden = [
        {"id": mark(), "description": mark(), "inputs": [mark()], "outputs": [mark()], "advertise": False}
        for _ in range(draw(COUNTS))
    ]
    shown = {"id": "shown", "description": "Shown", "inputs": ["x"], "skillRefs": names, "toolRefs": tools}
    document = {
        "brickVersion": "0.5",
        "agent": mark.more({"id": "urn:example:x", "name": "Shown", "description": "Shown", "version": "1"}),
        "goals": [mark()],
        "instructions": [mark.more({"id": mark(), "uri": path}) for path in files],
        "skills": [mark.more(skill) for skill in skills],
        "mcpServers": [mark.more(server) for server in servers],
        "capabilities": [*map(mark.more, hidden), mark.more({**shown, "advertise": draw(st.booleans())})],
        "a2a": mark.more({"enabled": False, "endpoint": "https://shown.example.net/", "protocolVersion": mark()}),
        "runtime": mark.more({}),
        "extensions": mark.more({}),
    }
    return Agent(FORMATS["brick"], document, files)


@st.composite
def marked_aib(draw: st.DrawFn) -> Agent:
    mark = Marks()
    hidden = [
        mark.more({"name": mark(), "description": mark(), "input": {"type": "string", "title": mark()}, "output": {}})
        for _ in range(draw(COUNTS))
    ]
    run = {"name": "run", "description": "Shown", "input": {"question": {"type": "string"}}, "output": {}}
    llm = {"model_provider": mark(), "model_name": mark(), "stop_words": [mark()], "temperature": 0.25}
    config = {
        "agent_id": "shown_1",
        "agent_name": "Shown",
        "system_prompt": f"{mark()} {mark()}",
        "relationships": {mark(): mark() for _ in range(draw(COUNTS))},
        "llm_config": mark.more(llm),
    }
    document = {
        "agent_id": "shown_1",
        "name": "Shown",
        "description": "Shown",
        "agent_config": mark.more(config),
        "interface": mark.more({"methods": [*hidden, *([mark.more(run)] if draw(st.booleans()) else [])]}),
    }
    return Agent(FORMATS["aib"], mark.more(document))


MARKED: dict[str, Callable[[], st.SearchStrategy[Any]]] = {"brick": marked_brick, "aib": marked_aib}


def marks_in(outcome: Exported) -> list[str]:
    """Return what is written that holds a mark: the document, and names and content of the files beside it."""
    written = {"document": dump(outcome.expressed.document), **outcome.expressed.files}
    return [name for name, data in written.items() if MARK in name or MARK.encode() in data.lower()]


def published(agent: Agent, folder: Path) -> Iterator[tuple[str, Exported]]:
    """Yield everything that is public of an agent, by what it is."""
    options = ImportOptions(f"{MARK}-protocol", f"{MARK}-model", f"{MARK} instructions\n")
    document = agent.write(folder / "in")
    imported(agent.form, [document], folder / "suite", options)
    for name, view in (("aib", "public"), ("aidip", "summary"), ("aidip", "")):
        (profile,) = read_suite(folder / "suite").values()
        yield f"export {name} {view}", export_agent(FORMATS[name], profile, lacking(profile.value), view)
    given_ = {path: value for path, value in lacking({}).items() if path != ("capabilities",)}
    if public_ones(agent):
        yield "convert", convert_document(agent.form, FORMATS["aidip"], document, given_, frozenset())


def lacking(value: Json) -> dict[Any, Any]:
    """Return what AIDIP demands; a capability only where none is public."""
    is_shown = any(item.get("visibility") == "public" for item in value.get("capabilities", []))
    return {path: given_ for path, given_ in SUPPLIES.items() if not (is_shown and path == ("capabilities",))}


def public_ones(agent: Agent) -> bool:
    methods = agent.document.get("interface", {}).get("methods", [])
    found = agent.document.get("capabilities", methods)
    return any(item.get("advertise") or item.get("name") == "run" for item in found)


@pytest.mark.parametrize("name", MARKED)
def test_no_private_member_is_published(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    @settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(MARKED[name]())
    def holds(agent: Agent) -> None:
        for what, outcome in published(agent, tmp_path_factory.mktemp("law")):
            assert marks_in(outcome) == [], what
            assert "Shown" in str(outcome.expressed.document)

    holds()


@pytest.mark.parametrize("name", MARKED)
def test_the_marks_are_there_to_be_found(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The whole document holds them, so the search above could find one."""

    @settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(MARKED[name]())
    def holds(agent: Agent) -> None:
        folder = tmp_path_factory.mktemp("law")
        imported(agent.form, [agent.write(folder / "in")], folder / "suite", ImportOptions("p", "m", "i\n"))
        (profile,) = read_suite(folder / "suite").values()
        assert "document" in marks_in(export_agent(agent.form, profile, {}))

    holds()


def test_what_looks_like_a_reference_in_metadata_is_none(tmp_path: Path) -> None:
    """AIDIP has no instructions: a member of that name, which anybody may add, brings no prompt along."""
    document = {
        "name": "Shown", "description": "Shown", "version": "1", "publisher": "x", "capabilities": [], "tags": [],
        "endpoint": "/x", "inputs": {}, "outputs": {}, "instructions": [{"id": "a", "uri": "./AGENTS.md"}],
        "skills": [],
    }  # fmt: skip
    agent = Agent(FORMATS["aidip"], document)
    imported(agent.form, [agent.write(tmp_path / "in")], tmp_path / "suite", ImportOptions("p", "m", f"{MARK}\n"))
    (profile,) = read_suite(tmp_path / "suite").values()
    outcome = export_agent(agent.form, profile, {})
    assert outcome.expressed.document == document
    assert outcome.expressed.files == {}
