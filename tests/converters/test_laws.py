"""The laws of conversion: what comes out is what went in, nothing is lost unsaid, nothing private is published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from agentsuite_converters.brick.files import gather
from agentsuite_converters.converting import express
from agentsuite_converters.document import dump
from agentsuite_converters.places import same
from hatch_agentsuite.packing import pack
from hatch_agentsuite.unpacking import unpack
from tests.converters.agents import FORMATS, Agent, agents, complete_agent, every_agent
from tests.converters.conversions import BUILD, content, imported, only, remembered

RUN = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def files_of(agent: Agent, folder: Path) -> dict[str, bytes]:
    """Return the files that a document refers to, and that have to come out with it."""
    return gather(agent.document, folder) if agent.form.name == "brick" else {}


@pytest.mark.parametrize("name", FORMATS)
def test_law_1_in_memory(name: str) -> None:
    """An agent that was stored and loaded is expressed as the document that it came from, as JSON values."""

    @settings(RUN, max_examples=120)
    @given(agents(name))
    def holds(agent: Agent) -> None:
        _, loaded = remembered(agent)
        document, _ = express(agent.form, loaded)
        assert same(document, agent.document)

    holds()


@pytest.mark.parametrize("name", FORMATS)
def test_law_1_through_files(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An imported tree resolves without an edit, and exports the document and every file that it refers to."""

    @settings(RUN, max_examples=25)
    @given(agents(name))
    def holds(agent: Agent) -> None:
        folder = tmp_path_factory.mktemp("law")
        imported(agent.form, [agent.write(folder / "in")], folder / "suite")
        outcome = only(folder / "suite", agent.form)
        assert same(outcome.expressed.document, agent.document)
        assert outcome.expressed.files == files_of(agent, folder / "in")

    holds()


def test_law_1_after_packing_and_unpacking(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The image layout, and what is unpacked from it, give the document and its files back."""

    @settings(RUN, max_examples=6)
    @given(every_agent())
    def holds(agent: Agent) -> None:
        folder = tmp_path_factory.mktemp("law")
        imported(agent.form, [agent.write(folder / "in")], folder / "suite")
        pack(folder / "suite", folder / "layout", BUILD)
        unpack(folder / "layout", folder / "content")
        for suite in (folder / "layout", folder / "content"):
            outcome = only(suite, agent.form)
            assert same(outcome.expressed.document, agent.document)
            assert outcome.expressed.files == files_of(agent, folder / "in")

    holds()


@pytest.mark.parametrize("name", FORMATS)
def test_law_1_of_files_on_disk(name: str, tmp_path: Path) -> None:
    """The sample of every format, with every member present, comes out as the same JSON and the same bytes."""
    agent = complete_agent(name)
    imported(agent.form, [agent.write(tmp_path / "in")], tmp_path / "suite")
    outcome = only(tmp_path / "suite", agent.form)
    assert json.loads(dump(outcome.expressed.document)) == agent.document
    assert outcome.expressed.files == files_of(agent, tmp_path / "in")


@pytest.mark.parametrize("name", FORMATS)
def test_law_2(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Importing what an unedited suite exports makes the same suite: every document and file of its content layer."""

    @settings(RUN, max_examples=12)
    @given(agents(name))
    def holds(agent: Agent) -> None:
        folder = tmp_path_factory.mktemp("law")
        imported(agent.form, [agent.write(folder / "in")], folder / "suite")
        outcome = only(folder / "suite", agent.form)
        again = Agent(agent.form, outcome.expressed.document, outcome.expressed.files)
        imported(agent.form, [again.write(folder / "out")], folder / "again")
        assert content(folder / "again") == content(folder / "suite")

    holds()


@pytest.mark.parametrize("name", FORMATS)
def test_law_2_digest_for_digest(name: str, tmp_path: Path) -> None:
    agent = complete_agent(name)
    imported(agent.form, [agent.write(tmp_path / "in")], tmp_path / "suite")
    outcome = only(tmp_path / "suite", agent.form)
    again = Agent(agent.form, outcome.expressed.document, outcome.expressed.files)
    imported(agent.form, [again.write(tmp_path / "out")], tmp_path / "again")
    first, second = (pack(tmp_path / tree, tmp_path / f"{tree}.layout", BUILD) for tree in ("suite", "again"))
    assert first.digest == second.digest
