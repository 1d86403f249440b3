"""A round of marked secrets: whatever a document says privately, no card has it, and no refusal repeats it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsuite_converters.a2a.check import check_card
from agentsuite_converters.a2a.projection import CardOptions
from agentsuite_converters.a2a.publishing import agents_at, publish_card
from agentsuite_converters.converting import absorb, keep_rest, publish
from agentsuite_converters.members import items
from agentsuite_converters.places import leaves, put, value_at
from agentsuite_converters.profile import AgentProfile
from agentsuite_converters.suites import read_suite
from agentsuite_converters.supplies import supplies
from hatch_agentsuite.findings import RefusedError
from tests.a2a.cards import PROMPT, PUBLIC, URL, Json, agent, public_profile, write_tree
from tests.converters.agents import FORMATS, Agent, agents
from tests.converters.documents import aib, aidip, brick, write_files

MARK = "zq7{}7qz"
GIVEN = supplies(
    {
        "name": "Harbour Guide",
        "description": "Tells skippers about berths.",
        "card-version": "1.0.0",
        "provider": "Port Office",
        "provider-url": "https://port.example.com/",
        "tag": ["boats"],
        "input-mode": ["text/plain"],
        "output-mode": ["text/plain"],
    }
)
OPEN: Json = {"id": "open-berth", "description": "Finds a berth.", "visibility": "public", "tags": ["boats"]}

# Written down by hand, so that a slip in the allow-list is one that this module does not share.
_PUBLIC = {
    "name", "description", "version", "publisher", "tags", "categories", "languages", "endpoint", "interfaces",
    "authentication", "security", "features", "inputModes", "outputModes", "documentationUrl", "iconUrl",
}  # fmt: skip
_OF_A_SKILL = {"id", "name", "description", "tags", "inputModes", "outputModes"}


def is_private(value: Json, leaf: tuple[Any, ...]) -> bool:
    """Whether a leaf of a profile is nobody's business: goals, prompt, model, servers, private capabilities, ..."""
    if leaf[0] in {"id", "origin"} or leaf[0] in _PUBLIC:
        return False
    if leaf[0] != "capabilities" or len(leaf) < 3 or not isinstance(value["capabilities"][leaf[1]], dict):
        return True
    if value["capabilities"][leaf[1]].get("visibility") != "public":
        return bool(leaf[2] != "visibility")
    if leaf[2] == "examples":
        return len(leaf) > 4 and bool(leaf[4] == "output")
    return leaf[2] not in _OF_A_SKILL | {"visibility"}


def marked(made: AgentProfile) -> list[str]:
    """Replace every private text of an agent by a mark of its own; return the marks."""
    marks = []
    for number, leaf in enumerate(list(leaves(made.value))):
        if is_private(made.value, leaf) and isinstance(value_at(made.value, leaf), str):
            marks.append(MARK.format(number))
            assert put(made.value, leaf, marks[-1])
    return marks


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_random_documents_of_every_format(name: str) -> None:
    """For any valid document: a card, if there is one, is valid and has no mark; a refusal repeats none either."""
    published = []

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(agents(name), st.sampled_from(["1.0", "0.3"]), st.booleans())
    def check(given_: Agent, version: str, is_open: bool) -> None:
        absorbed = absorb(given_.form, given_.document, given_.files)
        keep_rest(given_.form, absorbed, given_.document)
        made = absorbed.agent
        publish(given_.form, made)
        if is_open:  # else nearly every random document has a reason to be refused
            made.value["authentication"] = {"type": "none"}
            for capability in items(made.value, "capabilities"):
                capability["visibility"] = "private"  # type: ignore[index,call-overload]
        made.value["capabilities"] = [*items(made.value, "capabilities"), dict(OPEN)]
        marks = marked(made)
        asked = CardOptions(urls=(URL,), protocol_version=version, api_key_header="X-Key")
        try:
            data = publish_card(made, asked, GIVEN).data.decode()
        except RefusedError as error:
            data = str(error)
        else:
            published.append(version)
            assert [found for found in check_card(json.loads(data)) if found.is_error] == []
            assert "open-berth" in data
        assert [mark for mark in marks if mark in data] == []

    check()
    assert set(published) == {"1.0", "0.3"}, "a test without a card of each version shows nothing"


def test_a_whole_agent_in_a_suite(tmp_path: Path) -> None:
    """Names of secrets, variables and models, prompt, servers and private capabilities of an authoring tree."""
    profile = public_profile(
        goals=[MARK.format(1)],
        identifier=MARK.format(2),
        servers=[{"id": MARK.format(3), "endpoint": f"https://{MARK.format(4)}.example.net/", "visibility": "private"}],
        model={"provider": MARK.format(5), "parameters": {"stop": MARK.format(6)}},
        foreign={"brick": [{"at": "/runtime", "value": MARK.format(7)}]},
        relationships={"other": MARK.format(8)},
        prompt=f"Say nothing of {MARK.format(9)}.",
    )
    profile["capabilities"][1] |= {"name": MARK.format(10), "tools": [MARK.format(11)], "tags": [MARK.format(12)]}
    profile["capabilities"][0] |= {"tools": [MARK.format(13)], "input": {"names": [MARK.format(14)]}}
    [made] = read_suite(write_tree(tmp_path, harbour=profile)).values()
    data = publish_card(made, CardOptions(), {}).data.decode()
    for number in range(1, 15):
        assert MARK.format(number) not in data
    for name in ("MODEL_ENDPOINT", "openai-chat"):
        assert name not in data


WORDS = PROMPT.split()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, len(WORDS) - 8),
    st.integers(8, 14),
    st.sampled_from(["description", "name", "documentationUrl", "tags", "capabilities", "publisher", "languages"]),
    st.sampled_from([" ", "\n", " - ", ", "]),
    st.booleans(),
)
def test_eight_words_of_the_instructions_are_never_published(
    start: int, length: int, member: str, between: str, is_loud: bool
) -> None:
    """Wherever they stand, in any case and with any punctuation between them."""
    quote = between.join(WORDS[start : start + length])
    quote = quote.upper() if is_loud else quote
    value: Any = f"So: {quote}!"
    if member in {"tags", "languages"}:
        value = [value]
    elif member == "capabilities":
        value = [{**OPEN, "examples": ["x", value], "tags": ["t"]}]
    elif member == "publisher":
        value = {"name": value, "url": "https://port.example.com/"}
    made = agent(**{"tags": None, "categories": None, **({"languages": None} if member != "languages" else {})})
    made.value.update({**({"tags": ["t"]} if member != "tags" else {}), member: value})
    if member == "languages":
        made.value["tags"], made.value["capabilities"] = [], [{**OPEN, "tags": []}]
    with pytest.raises(RefusedError) as caught:
        publish_card(made, CardOptions(), {})
    assert "A2A-PRIVACY-001" in {finding.requirement for finding in caught.value.findings}
    assert quote not in str(caught.value)


# --- one sample of each format, by the options that its text lacks ---

MODES = {"input-mode": ["text/plain"], "output-mode": ["text/plain"]}
SAMPLES: dict[str, tuple[Json, CardOptions, Json]] = {
    "brick": (brick(), CardOptions(), {"tag": ["boats"], **MODES}),
    "aib": (aib(), CardOptions(urls=(URL,)), {"card-version": "1.0.0", "tag": ["boats"], **MODES}),
    "aidip": (aidip(), CardOptions(binding="JSONRPC"), {"provider-url": "https://port.example.com/", **MODES}),
}
PRIVATE_OF = {
    "brick": ["berths.internal", "list_free", "Get every boat", "competitors", "GUIDE", "Keep the tide", "almanac"],
    "aib": ["know every berth", "acme", "pilot_2", "0.25", "END", "Reserve a berth", "memory"],
    "aidip": ["pricing", "0.01", "A1", "per_call", "cost"],
}


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_document_of_each_format_is_published(tmp_path: Path, name: str, version: str) -> None:
    """BRICK Appendix A, the AIB template and the AIDIP translator, as documents of our own, give valid cards."""
    document, asked, given_ = SAMPLES[name]
    (write_files(tmp_path) / "agent.json").write_text(json.dumps(document))
    [made] = agents_at(tmp_path / "agent.json", (), FORMATS[name])
    given_options = CardOptions(urls=asked.urls, binding=asked.binding, protocol_version=version)
    card = publish_card(made, given_options, supplies(given_))
    assert [found for found in check_card(json.loads(card.data)) if found.is_error] == []
    assert [word for word in PRIVATE_OF[name] if word in card.data.decode()] == []
    skills = [skill["id"] for skill in json.loads(card.data)["skills"]]
    assert skills == {"brick": ["find-berth"], "aib": ["run"], "aidip": ["findBerth"]}[name]


@pytest.mark.parametrize("name", SAMPLES)
def test_without_the_options_each_is_refused_by_name(tmp_path: Path, name: str) -> None:
    """The texts know no media types: nothing is invented, and the refusal says which option to give."""
    document, _, _ = SAMPLES[name]
    (write_files(tmp_path) / "agent.json").write_text(json.dumps(document))
    [made] = agents_at(tmp_path / "agent.json", (), FORMATS[name])
    with pytest.raises(RefusedError) as caught:
        publish_card(made, CardOptions(), {})
    hints = " ".join(finding.hint for finding in caught.value.findings)
    for option in ("--input-mode", "--output-mode"):
        assert option in hints
    assert all(finding.hint for finding in caught.value.findings)


def test_the_allow_list_is_the_one_written_here() -> None:
    assert set(PUBLIC) <= _PUBLIC
