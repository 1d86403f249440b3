"""The rules of import: what is asked for, ids, ToolProviders, and a tree that builds without an edit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentsuite_converters.importing import ImportOptions, import_documents
from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.packing import pack
from tests.converters.agents import FORMATS, Agent, complete_agent
from tests.converters.conversions import BUILD, SUPPLIED, content, edit, exported, files_below, imported, resolved

Json = dict[str, Any]


def aib(identifier: str, **more: Any) -> Json:
    return {
        "agent_id": identifier,
        "name": "Pilot",
        "description": "Pilots",
        "agent_config": {"agent_id": identifier, "agent_name": "Pilot", "system_prompt": "Pilot.", **more},
        "interface": {"methods": []},
    }


def brick(*servers: Json, **agent: Any) -> Json:
    return {
        "brickVersion": "0.5",
        "agent": {"id": "urn:x:pilot", "name": "Pilot", "description": "Pilots", "version": "1", **agent},
        "goals": ["Pilot"],
        "mcpServers": list(servers),
        "capabilities": [{"id": "pilot", "description": "Pilot a ship"}],
    }


def server(identifier: str, *tools: str, **more: Any) -> Json:
    return {
        "id": identifier,
        "transport": "streamable-http",
        "endpoint": "https://x.example.net/mcp",
        "allowedTools": list(tools),
        **more,
    }


def written(folder: Path, document: Json, name: str = "a.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(document))
    return folder / name


def refused(name: str, paths: list[Path], tree: Path, options: ImportOptions = SUPPLIED) -> tuple[Finding, ...]:
    with pytest.raises(RefusedError) as error:
        imported(FORMATS[name], paths, tree, options)
    assert not tree.exists(), "a failing import leaves nothing"
    return error.value.findings


@pytest.mark.parametrize("name", FORMATS)
def test_an_import_builds_with_no_edit(name: str, tmp_path: Path) -> None:
    agent = complete_agent(name)
    imported(agent.form, [agent.write(tmp_path / "in")], tmp_path / "suite")
    packed = pack(tmp_path / "suite", tmp_path / "layout", BUILD)
    assert packed.report.ok


def test_agents_of_several_formats_share_a_suite(tmp_path: Path) -> None:
    for name in FORMATS:
        agent = complete_agent(name)
        imported(agent.form, [agent.write(tmp_path / name)], tmp_path / "suite")
    agents = content(tmp_path / "suite")
    assert {path for path in agents if path.startswith("agents/")} == {
        "agents/harbour.json", "agents/harbour-7.json", "agents/harbour_7.json"
    }  # fmt: skip
    for name in FORMATS:
        document = complete_agent(name).document
        supplied = exported(tmp_path / "suite", FORMATS["aib"])
        assert len(supplied) == 3
        assert name != "aib" or supplied["harbour_7"].expressed.document == document


# --- what is asked for -------------------------------------------------------------------------------------------

OPTIONS = [
    ("a model protocol", "give --model-protocol PROTOCOL"),
    ("a model", "give --model MODEL"),
    ("instructions", "give --instructions FILE"),
]


def test_what_is_missing_is_asked_for_by_name_all_at_once(tmp_path: Path) -> None:
    paths = [written(tmp_path, complete_agent("aidip").document, f"{number}.json") for number in range(2)]
    findings = refused("aidip", paths, tmp_path / "suite", ImportOptions())
    assert [(it.location, it.message, it.hint) for it in findings] == [
        (str(path), f"a suite needs {what}", hint) for path in paths for what, hint in OPTIONS
    ]


MISSING: list[tuple[Json, ImportOptions, list[str]]] = [
    ({}, ImportOptions("p", "m"), []),
    ({"llm_config": {"model_provider": "acme"}}, ImportOptions("", "m"), []),
    ({"llm_config": {"model_provider": "acme"}}, ImportOptions(), ["a model"]),
    ({"llm_config": {"model_name": "m"}}, ImportOptions(), ["a model protocol"]),
    ({"llm_config": {"model_name": "m", "model_provider": "acme"}}, ImportOptions(), []),
    ({}, ImportOptions("p"), ["a model"]),
]


@pytest.mark.parametrize(("config", "options", "missing"), MISSING)
def test_only_what_is_missing_is_asked_for(
    config: Json, options: ImportOptions, missing: list[str], tmp_path: Path
) -> None:
    path = written(tmp_path / "in", aib("pilot", **config))
    if missing:
        found = refused("aib", [path], tmp_path / "suite", options)
        assert [it.message for it in found] == [f"a suite needs {what}" for what in missing]
    else:
        imported(FORMATS["aib"], [path], tmp_path / "suite", options)


def test_a_protocol_that_is_given_wins_and_the_provider_stays(tmp_path: Path) -> None:
    config = {"model_provider": "acme", "model_name": "own"}
    path = written(tmp_path / "in", aib("pilot", llm_config=config))
    imported(FORMATS["aib"], [path], tmp_path / "suite")
    assert edit(tmp_path / "suite/agents/pilot.json")["model"] == {"protocol": "openai-chat", "model": "own"}
    assert edit(tmp_path / "suite/metadata/profiles/pilot.json")["model"] == {"provider": "acme"}


def test_a_placeholder_is_marked_reported_and_refused_by_strict(tmp_path: Path) -> None:
    made = imported(FORMATS["aib"], [written(tmp_path / "in", aib("pilot"))], tmp_path / "suite")
    assert [it.requirement for it in made.warnings] == ["SOURCE-PLACEHOLDER-001"]
    assert "placeholder.invalid" in made.files["build-profiles/default.json"].decode()
    with pytest.raises(RefusedError):
        pack(tmp_path / "suite", tmp_path / "layout", type(BUILD)(default_name="demo", strict=True))


# --- ids ---------------------------------------------------------------------------------------------------------


def test_twin_slugs_ask_for_an_id(tmp_path: Path) -> None:
    paths = [written(tmp_path, aib(name), f"{number}.json") for number, name in enumerate(("a b", "a/b"))]
    (finding,) = refused("aib", paths, tmp_path / "suite")
    assert "would both be `a-b`" in finding.message
    assert "--id 1.json=ID" in finding.hint


@pytest.mark.parametrize("key", ["a/b", "1.json"])
def test_an_id_is_given_by_the_original_or_by_the_file(key: str, tmp_path: Path) -> None:
    paths = [written(tmp_path, aib(name), f"{number}.json") for number, name in enumerate(("a b", "a/b"))]
    options = ImportOptions("p", "m", "i", {key: "other"})
    made = imported(FORMATS["aib"], paths, tmp_path / "suite", options)
    assert [agent.id for agent in made.agents] == ["a-b", "other"]
    assert exported(tmp_path / "suite", FORMATS["aib"])["other"].expressed.document["agent_id"] == "a/b"


@pytest.mark.parametrize("identifier", ["", "A", "a/b", "é", "-a", "a" * 129])
def test_an_id_that_is_none_is_refused(identifier: str, tmp_path: Path) -> None:
    options = ImportOptions("p", "m", "i", {"pilot": identifier})
    (finding,) = refused("aib", [written(tmp_path / "in", aib("pilot"))], tmp_path / "suite", options)
    assert finding.requirement == "AIB-SUPPLY-001"


def test_an_id_for_nobody_is_refused(tmp_path: Path) -> None:
    options = ImportOptions("p", "m", "i", {"captain": "x"})
    (finding,) = refused("aib", [written(tmp_path / "in", aib("pilot"))], tmp_path / "suite", options)
    assert "`captain`" in finding.message


def test_everything_that_is_wrong_with_any_document_is_told(tmp_path: Path) -> None:
    paths = [written(tmp_path, aib("pilot"), "a.json"), written(tmp_path, {}, "b.json"), tmp_path / "absent.json"]
    places = {finding.location.partition("#")[0] for finding in refused("aib", paths, tmp_path / "suite")}
    assert places == {str(path) for path in paths[1:]}


# --- tools -------------------------------------------------------------------------------------------------------

PROVIDERS: list[tuple[Json, list[str], bool, Callable[[str], bool]]] = [
    # a server, the tools of its ToolProvider, whether the profile keeps the tools, and its name behind the agent's
    (server("kb", "search", "read"), ["read", "search"], False, lambda name: name == "kb"),
    (server("kb", "search", "Bad Name"), ["search"], True, lambda name: name == "kb"),
    (server("kb", "search", "search"), ["search"], True, lambda name: name == "kb"),
    (server("My KB", "search"), ["search"], False, lambda name: name.startswith("my-kb-")),
    (server("kb", "Bad Name"), [], True, bool),
    (server("kb"), [], True, bool),
    (server("kb", "search", transport="stdio", endpoint="kb"), [], True, bool),
]


@pytest.mark.parametrize(("declared", "tools", "keeps", "is_name"), PROVIDERS)
def test_a_server_becomes_a_tool_provider_or_stays(
    declared: Json, tools: list[str], keeps: bool, is_name: Callable[[str], bool], tmp_path: Path
) -> None:
    document = brick(declared)
    made = imported(FORMATS["brick"], [written(tmp_path / "in", document)], tmp_path / "suite")
    (kept,) = edit(tmp_path / "suite/metadata/profiles/pilot.json")["servers"]
    manifests = [json.loads(data) for path, data in made.files.items() if path.endswith("tool-provider.json")]
    assert [sorted(tool["name"] for tool in manifest["tools"]) for manifest in manifests] == ([tools] if tools else [])
    assert ("tools" in kept) is keeps
    assert kept["endpoint"] == declared["endpoint"]
    assert kept["visibility"] == "private"
    for manifest in manifests:
        reference = manifest["remote"]["endpointRef"]
        assert is_name(reference.removeprefix("pilot."))
        assert made.endpoints == {reference: declared["endpoint"]}
        assert manifest["retained"] is True
        assert "://" not in json.dumps(manifest)
    assert bool(made.endpoints) is bool(tools)
    for tool in set(declared["allowedTools"]) - set(tools) if tools else ():
        assert any(f"`{tool}`" in note.reason for note in made.agents[0].notes)
    assert exported(tmp_path / "suite", FORMATS["brick"])["pilot"].expressed.document == document


def test_servers_whose_names_are_alike_stay_apart(tmp_path: Path) -> None:
    document = brick(server("KB", "a"), server("kb", "b"), server("Kb", "c"), server("k b", "d"))
    made = imported(FORMATS["brick"], [written(tmp_path / "in", document)], tmp_path / "suite")
    assert len(made.endpoints) == 4
    resolved(tmp_path / "suite")
    assert exported(tmp_path / "suite", FORMATS["brick"])["pilot"].expressed.document == document


def test_tool_schemas_are_taken_from_a_folder_or_allow_anything(tmp_path: Path) -> None:
    schema = b'{"type": "object", "properties": {"q": {"type": "string"}}}\n'
    (tmp_path / "schemas/kb").mkdir(parents=True)
    (tmp_path / "schemas/kb/search.json").write_bytes(schema)
    options = ImportOptions("p", "m", "i", tool_schemas=tmp_path / "schemas")
    path = written(tmp_path / "in", brick(server("kb", "search", "read")))
    made = imported(FORMATS["brick"], [path], tmp_path / "suite", options)
    folder = "tool-providers/pilot.kb/1.0.0/schemas"
    assert made.files[f"{folder}/search.json"] == schema
    assert json.loads(made.files[f"{folder}/read.json"]) == {"type": "object"}
    reasons = [note.reason for note in made.agents[0].notes]
    assert [reason for reason in reasons if "--tool-schemas" in reason] == [
        "the input schema of `read` allows any object: give --tool-schemas"
    ]
    resolved(tmp_path / "suite")


@pytest.mark.parametrize("data", [b"", b"{", b'{"a": 1, "a": 2}', b"\xff", b"{}, {}"])
def test_a_tool_schema_that_is_no_json_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "schemas/kb").mkdir(parents=True)
    (tmp_path / "schemas/kb/search.json").write_bytes(data)
    options = ImportOptions("p", "m", "i", tool_schemas=tmp_path / "schemas")
    path = written(tmp_path / "in", brick(server("kb", "search")))
    (finding,) = refused("brick", [path], tmp_path / "suite", options)
    assert finding.location.startswith(str(tmp_path / "schemas/kb/search.json"))


# --- limits ------------------------------------------------------------------------------------------------------


def nested(depth: int, value: Any = 0) -> Any:
    for _ in range(depth):
        value = [value]
    return value


EXTREMES: dict[str, Callable[[], Agent]] = {
    "a long description": lambda: _aib(description="x" * 5_000),
    "a description of 4096 characters": lambda: _aib(description="é" * 4_096),
    "no prompt in it": lambda: Agent(FORMATS["aib"], aib("pilot", system_prompt="")),
    "one that nests deeply": lambda: _aib(x=nested(90)),
    "one that is too large when it is indented": lambda: _aib(x=nested(80, [nested(6)] * 2_500)),
    "names with ~ and /": lambda: _aib(**{"~": {"/": {"~1": 0, "0": [{"-": None}]}}}),
    "numbers of all kinds": lambda: _aib(x=[1, 1.5, 1e21, -0.5, 2**53 - 1, True, False, None]),
    "a method called type": lambda: _aib(
        interface={"methods": [{"name": "type", "description": "d", "input": {"type": {}}, "output": {"type": []}}]}
    ),
    "one that looks like a profile": lambda: _aib(foreign={"aib": [{"at": "/name", "value": "X"}]}, origin="brick"),
}


def _aib(**members: Any) -> Agent:
    document = {**aib("pilot"), **members}
    document["interface"] = members.get("interface", {"methods": []})
    if document["interface"]["methods"]:
        document["interface"]["methods"][0]["output"] = {}
    return Agent(FORMATS["aib"], document)


@pytest.mark.parametrize("name", EXTREMES)
def test_unusual_documents_come_out_as_they_went_in(name: str, tmp_path: Path) -> None:
    agent = EXTREMES[name]()
    imported(agent.form, [agent.write(tmp_path / "in")], tmp_path / "suite")
    assert exported(tmp_path / "suite", agent.form)["pilot"].expressed.document == agent.document


def test_a_profile_that_would_nest_too_deep_is_refused_at_once(tmp_path: Path) -> None:
    agent = _aib(x=nested(98))
    assert not [it for it in agent.form.check(agent.document) if it.is_error]
    (finding,) = refused("aib", [agent.write(tmp_path / "in")], tmp_path / "suite")
    assert "too large for the profile" in finding.message


UNHELD = [("A.md", "a.md"), ("d/x.md", "D/y.md"), ("/".join("x" * 200 for _ in range(5)), "a.md")]


@pytest.mark.parametrize("paths", UNHELD)
def test_files_that_a_suite_cannot_hold_are_refused_at_once(paths: tuple[str, str], tmp_path: Path) -> None:
    """Names that differ in letter case only, and paths that are too long below the agent's own folder (5.2)."""
    document = {**brick(), "instructions": [{"id": path, "uri": path} for path in paths]}
    agent = Agent(FORMATS["brick"], document, dict.fromkeys(paths, b"x"))
    (finding,) = refused("brick", [agent.write(tmp_path / "in")], tmp_path / "suite")
    assert (finding.requirement, finding.hint) == ("BRICK-FILE-001", "rename the file")


def test_large_instructions_are_no_part_of_the_profile(tmp_path: Path) -> None:
    """A file of up to 16 MiB is allowed, and a document of 4 MiB; the text goes into a file of its own."""
    document = {**brick(), "instructions": [{"id": "a", "uri": "A.md"}]}
    agent = Agent(FORMATS["brick"], document, {"A.md": b"Answer.\n" * 2**19 + b"Twice.\n" * 2**18})
    imported(agent.form, [agent.write(tmp_path / "in")], tmp_path / "suite")
    outcome = exported(tmp_path / "suite", agent.form)["pilot"].expressed
    assert (outcome.document, outcome.files) == (document, agent.files)


def test_existing_files_stay_without_force(tmp_path: Path) -> None:
    path = written(tmp_path / "in", aib("pilot"))
    imported(FORMATS["aib"], [path], tmp_path / "suite")
    before = files_below(tmp_path / "suite")
    imported(FORMATS["aib"], [path], tmp_path / "suite")
    assert files_below(tmp_path / "suite") == before
    written(tmp_path / "in", aib("pilot", x=1))
    with pytest.raises(RefusedError):
        imported(FORMATS["aib"], [path], tmp_path / "suite")
    assert files_below(tmp_path / "suite") == before
    imported(FORMATS["aib"], [path], tmp_path / "suite", force=True)
    assert files_below(tmp_path / "suite") != before


def test_computing_an_import_writes_nothing(tmp_path: Path) -> None:
    import_documents(FORMATS["aib"], [written(tmp_path / "in", aib("pilot"))], tmp_path / "suite", SUPPLIED)
    assert not (tmp_path / "suite").exists()
