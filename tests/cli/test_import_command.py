"""`agentsuite import`: a tree that builds with no edit, what is missing asked for by name, all of it or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.commands import is_harmless
from tests.cli.conftest import Command
from tests.cli.foreign import BUILD, IDS, MODEL, SUPPLIES, everything, loaded, small_aib, written
from tests.converters.mutations import DROP, changed
from tests.hatch.projects import Outcome, snapshot

EVIL = "evil\x1b[31m\u202e"


def refused(outcome: Outcome, *texts: str) -> None:
    """The command has ended with findings, no usage error, and nothing on standard output."""
    assert outcome.status == 1
    assert outcome.out == ""
    assert [text for text in texts if text not in outcome.err] == []


# --- what comes out ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", BUILD)
def test_tree_packs_and_validates_without_an_edit(cli: Command, form: str) -> None:
    outcome = cli("import", form, written(form), "-o", "suite", *SUPPLIES[form])
    assert outcome.status == 0, outcome.err
    first, second, *_ = outcome.out.splitlines()
    assert first == f"agent.json -> {IDS[form]}"
    assert second == f"{len(snapshot(Path('suite')))} files written in suite"
    assert cli("pack", "suite", "-o", "made").status == 0
    assert cli("validate", "made").status == 0


@pytest.mark.parametrize("form", BUILD)
def test_placeholder_images_are_reported_and_refused_by_strict(cli: Command, form: str) -> None:
    outcome = cli("import", form, written(form), "-o", "suite", *SUPPLIES[form])
    assert "build-profiles/default.json: the images are placeholders" in outcome.err
    assert cli("pack", "suite", "-o", "made", "--strict").status == 1


def test_json_output(cli: Command) -> None:
    outcome = cli("import", "brick", written("brick"), "-o", "suite", *MODEL, "--format", "json")
    assert outcome.status == 0
    value = json.loads(outcome.out)
    [agent] = value["agents"]
    assert (agent["id"], agent["source"]) == ("harbour", "agent.json")
    assert agent["keptAsIs"] == ["/agent/owner", "/runtime", "/extensions"]
    assert {note["place"] for note in agent["notes"]} == {"/servers/0", "/servers/1"}
    assert sorted(value["written"]) == sorted(snapshot(Path("suite")))
    assert value["bindings"] == str(Path("suite.bindings.json").resolve())


def test_what_is_kept_as_it_is_is_named(cli: Command) -> None:
    outcome = cli("import", "aib", written("aib"), "-o", "suite")
    assert (
        "  kept as it is, in the profile: /agent_config/llm_config/seed, /agent_config/memory_config/kind"
        in outcome.err
    )


def test_several_documents_are_one_import(cli: Command) -> None:
    for name in ("one", "two"):
        written("aib", f"{name}.json", small_aib(name))
    outcome = cli("import", "aib", "one.json", "two.json", "-o", "suite")
    assert outcome.out.splitlines()[:2] == ["one.json -> one", "two.json -> two"]
    assert sorted(path.name for path in Path("suite/agents").iterdir()) == ["one.json", "two.json"]


def test_documents_of_different_formats_in_one_tree(cli: Command) -> None:
    for form in BUILD:
        assert cli("import", form, written(form, f"{form}.json"), "-o", "suite", *SUPPLIES[form]).status == 0
    assert sorted(path.stem for path in Path("suite/agents").iterdir()) == sorted(IDS.values())
    assert cli("pack", "suite", "-o", "made").status == 0


def test_yaml_and_comments_are_read(cli: Command) -> None:
    Path("one.yaml").write_text(yaml.safe_dump(small_aib("one")))
    Path("two.jsonc").write_text("// a comment\n" + json.dumps(small_aib("two")) + "/* and another */")
    assert cli("import", "aib", "one.yaml", "two.jsonc", "-o", "suite").status == 0


# --- what a document does not say --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("aidip", ["--model-protocol PROTOCOL", "--model MODEL", "--instructions FILE"]),
        ("brick", ["--model-protocol PROTOCOL", "--model MODEL"]),
    ],
)
def test_missing_members_are_asked_for_by_option(cli: Command, form: str, options: list[str]) -> None:
    document = written(form)
    before = everything()
    outcome = cli("import", form, document, "-o", "suite")
    refused(outcome, *(f"(give {option})" for option in options))
    assert len(outcome.lines) == len(options)
    assert everything() == before


def test_model_of_the_document_wins_and_protocol_of_the_option(cli: Command) -> None:
    """A protocol that is given wins over a provider's name, which stays in the profile."""
    assert cli("import", "aib", written("aib"), "-o", "suite", "--model", "other", "--model-protocol", "p").status == 0
    assert loaded("suite/agents/harbour_7.json")["model"] == {"protocol": "p", "model": "acme-large"}
    assert loaded("suite/metadata/profiles/harbour_7.json")["model"]["provider"] == "acme"


def test_provider_is_the_protocol_where_none_is_given(cli: Command) -> None:
    assert cli("import", "aib", written("aib"), "-o", "suite").status == 0
    assert loaded("suite/agents/harbour_7.json")["model"] == {"protocol": "acme", "model": "acme-large"}


def test_instructions_are_taken_where_a_document_has_none(cli: Command) -> None:
    assert cli("import", "aidip", written("aidip"), "-o", "suite", *SUPPLIES["aidip"]).status == 0
    assert Path("suite/instructions/harbour-7.md").read_bytes() == Path("prompt.md").read_bytes()
    assert cli("import", "aib", written("aib"), "-o", "suite", "--instructions", "prompt.md").status == 0
    assert Path("suite/instructions/harbour_7.md").read_text() == "You know every berth."


def test_instructions_option_that_is_not_utf8(cli: Command) -> None:
    document = written("aidip")
    Path("prompt.md").write_bytes(b"caf\xe9")
    refused(
        cli("import", "aidip", document, "-o", "suite", *SUPPLIES["aidip"]), "prompt.md: the instructions are not UTF-8"
    )
    assert not Path("suite").exists()


def test_instruction_file_of_a_manifest_that_is_not_utf8(cli: Command) -> None:
    """A runtime reads instructions as text; the digest in the manifest is right here."""
    document = written("brick", document=changed(BUILD["brick"](), "/instructions/0/sha256", DROP))
    Path("GUIDE.md").write_bytes(b"caf\xe9")
    refused(cli("import", "brick", document, "-o", "suite", *MODEL), "agent.json#/instructions/0/uri", "BRICK-FILE-001")
    assert not Path("suite").exists()


@pytest.mark.parametrize("option", ["guide", "harbour_7=guide", "agent.json=guide"])
def test_id(cli: Command, option: str) -> None:
    """By nothing for the only document, by its own id, by its file's name; its own id is kept."""
    assert cli("import", "aib", written("aib"), "-o", "suite", "--id", option).status == 0
    assert Path("suite/agents/guide.json").exists()
    assert loaded("suite/metadata/profiles/guide.json")["identifier"] == "harbour_7"


@pytest.mark.parametrize(
    ("option", "status", "text"),
    [
        ("nobody=guide", 1, "no document has the id or the file name `nobody`"),
        ("harbour_7=Not An Id", 1, "`Not An Id` is no identifier of a suite"),
        ("harbour_7=", 1, "`` is no identifier of a suite"),
    ],
)
def test_id_that_cannot_be_given(cli: Command, option: str, status: int, text: str) -> None:
    outcome = cli("import", "aib", written("aib"), "-o", "suite", "--id", option)
    assert (outcome.status, outcome.out) == (status, "")
    assert text in outcome.err
    assert not Path("suite").exists()


def test_id_without_the_original_is_for_one_document(cli: Command) -> None:
    for name in ("one", "two"):
        written("aib", f"{name}.json", small_aib(name))
    assert cli("import", "aib", "one.json", "two.json", "-o", "suite", "--id", "guide").status == 2
    assert not Path("suite").exists()


def test_equal_slugs_are_an_error_that_asks_for_an_id(cli: Command) -> None:
    for name, identifier in (("one", "urn:a:same"), ("two", "urn:b:same")):
        written("aib", f"{name}.json", small_aib(identifier))
    refused(cli("import", "aib", "one.json", "two.json", "-o", "suite"), "--id two.json=ID")
    assert not Path("suite").exists()
    assert cli("import", "aib", "one.json", "two.json", "-o", "suite", "--id", "two.json=other").status == 0


# --- what is public, and who may invoke --------------------------------------------------------------------------


def test_public(cli: Command) -> None:
    outcome = cli("import", "aib", written("aib"), "-o", "suite", "--public", "reserve", "--public", "nothing")
    assert outcome.status == 0
    capabilities = loaded("suite/metadata/profiles/harbour_7.json")["capabilities"]
    assert {item["id"]: item["visibility"] for item in capabilities} == {"run": "public", "reserve": "public"}
    assert "`nothing` is none of its capabilities" in outcome.err


@pytest.mark.parametrize("form", ["aidip", "brick"])
def test_public_is_for_formats_that_do_not_say(cli: Command, form: str) -> None:
    outcome = cli("import", form, written(form), "-o", "suite", *SUPPLIES[form], "--public", "x")
    assert outcome.status == 2
    assert f"a document of {form} says itself what is public" in outcome.err
    assert not Path("suite").exists()


def edges(agent: str) -> dict[str, Any]:
    return {edge["agent"]: edge for edge in loaded(f"suite/agents/{agent}.json").get("invokes", [])}


def test_invoke_relation(cli: Command) -> None:
    """An edge is a permission: for kinds that are named alone, never to itself, also to an agent that comes later."""
    written("aib", "one.json", small_aib("one", two="dependency", three="colleague", one="dependency"))
    for name in ("two", "three"):
        written("aib", f"{name}.json", small_aib(name))
    assert cli("import", "aib", "one.json", "three.json", "-o", "suite", "--invoke-relation", "dependency").status == 0
    assert edges("one") == {}
    assert cli("import", "aib", "two.json", "-o", "suite", "--invoke-relation", "dependency").status == 0
    assert edges("one") == {"two": {"agent": "two", "maxConcurrent": 1, "maxDepth": 1}}


def test_no_relation_is_a_permission_by_itself(cli: Command) -> None:
    written("aib", "one.json", small_aib("one", two="dependency"))
    written("aib", "two.json", small_aib("two"))
    assert cli("import", "aib", "one.json", "two.json", "-o", "suite").status == 0
    assert edges("one") == {}


# --- tool servers ------------------------------------------------------------------------------------------------


def test_tool_schemas(cli: Command) -> None:
    """Byte for byte where there is one, anything where there is none, which is said."""
    document = written("brick")
    Path("schemas/berths").mkdir(parents=True)
    Path("schemas/berths/list_free.json").write_text('{ "type":"object" , "maxProperties": 2}')
    outcome = cli("import", "brick", document, "-o", "suite", *MODEL, "--tool-schemas", "schemas")
    assert outcome.status == 0
    folder = Path("suite/tool-providers/harbour.berths/1.0.0/schemas")
    assert (folder / "list_free.json").read_bytes() == Path("schemas/berths/list_free.json").read_bytes()
    assert loaded(folder / "reserve_berth.json") == {"type": "object"}
    assert "`reserve_berth` allows any object: give --tool-schemas" in outcome.err
    assert "`list_free` allows any object" not in outcome.err


def test_tool_schema_that_is_no_json(cli: Command) -> None:
    document = written("brick")
    Path("schemas/berths").mkdir(parents=True)
    Path("schemas/berths/list_free.json").write_text("{")
    refused(cli("import", "brick", document, "-o", "suite", *MODEL, "--tool-schemas", "schemas"), "list_free.json")
    assert not Path("suite").exists()


URL = "https://berths.internal.example.net/mcp"


def test_endpoints_are_written_beside_the_tree_and_merged(cli: Command) -> None:
    Path("suite.bindings.json").write_text('{"endpoints": {"other.server": "https://other.example.net/"}}')
    outcome = cli("import", "brick", written("brick"), "-o", "suite", *MODEL)
    assert outcome.out.splitlines()[-1] == "URLs of tool servers: suite.bindings.json, to be kept out of the suite"
    assert loaded("suite.bindings.json") == {
        "endpoints": {"harbour.berths": URL, "other.server": "https://other.example.net/"}
    }
    holders = [path for path, data in snapshot(Path("suite")).items() if b"berths.internal" in data]
    assert holders == ["metadata/profiles/harbour.json"]


def test_bindings_elsewhere(cli: Command) -> None:
    assert cli("import", "brick", written("brick"), "-o", "suite", *MODEL, "--bindings", "new/place.json").status == 0
    assert loaded("new/place.json") == {"endpoints": {"harbour.berths": URL}}
    assert not Path("suite.bindings.json").exists()


def test_no_endpoint_no_bindings(cli: Command) -> None:
    assert cli("import", "aib", written("aib"), "-o", "suite", "--bindings", "b.json").status == 0
    assert not Path("b.json").exists()


@pytest.mark.parametrize(
    ("place", "content", "status"),
    [
        ("suite/bindings.json", None, 2),
        (".", None, 2),
        ("given.json", "{}", 1),
        ("given.json", "[]", 1),
        ("given.json", "{", 1),
        ("prompt.md/b.json", None, 1),
    ],
)
def test_bindings_that_cannot_be_written(cli: Command, place: str, content: str | None, status: int) -> None:
    """In the tree, a folder, another file, below a file; the tree is not written either."""
    document = written("brick")
    if content is not None:
        Path(place).write_text(content)
    before = everything()
    outcome = cli("import", "brick", document, "-o", "suite", *MODEL, "--bindings", place)
    assert (outcome.status, outcome.out) == (status, "")
    assert everything() == before
    assert not Path("suite").exists()


# --- all or nothing ----------------------------------------------------------------------------------------------


def test_importing_again_changes_nothing(cli: Command) -> None:
    document = written("brick")
    cli("import", "brick", document, "-o", "suite", *MODEL)
    before = everything()
    outcome = cli("import", "brick", document, "-o", "suite", *MODEL)
    assert (outcome.status, outcome.out.splitlines()[1]) == (0, "0 files written in suite")
    assert everything() == before


def test_files_are_overwritten_by_force_alone(cli: Command) -> None:
    """Everything that would change is named; with --force only that is written."""
    document = written("brick")
    cli("import", "brick", document, "-o", "suite", *MODEL)
    original = everything()
    for name in ("agents/harbour.json", "instructions/harbour.md"):
        (Path("suite") / name).write_text("mine")
    before = everything()
    outcome = cli("import", "brick", document, "-o", "suite", *MODEL)
    refused(outcome, "suite/agents/harbour.json: the file exists", "suite/instructions/harbour.md: the file exists")
    assert everything() == before
    outcome = cli("import", "brick", document, "-o", "suite", *MODEL, "--force")
    assert (outcome.status, outcome.out.splitlines()[1]) == (0, "2 files written in suite")
    assert everything() == original


@pytest.mark.parametrize("name", ["agents/harbour_7", "metadata/profiles/harbour_7"])
@pytest.mark.parametrize("suffix", ["yaml", "yml"])
def test_document_that_the_tree_has_as_yaml(cli: Command, name: str, suffix: str) -> None:
    """Two files of one document would not build, so not even --force writes the second."""
    document = written("aib")
    cli("import", "aib", document, "-o", "suite")
    (Path("suite") / f"{name}.json").rename(Path("suite") / f"{name}.{suffix}")
    assert cli("pack", "suite", "-o", "made").status == 0
    before = everything()
    refused(cli("import", "aib", document, "-o", "suite", "--force"), f"{name}.{suffix}: the tree has this document")
    assert everything() == before


def test_one_bad_document_keeps_all_out_and_all_faults_are_told(cli: Command) -> None:
    written("aib", "good.json", small_aib("good"))
    written("aib", "bad.json", {"agent_id": "x"})
    Path("worse.json").write_text("{")
    refused(
        cli("import", "aib", "good.json", "bad.json", "worse.json", "-o", "suite"), "bad.json: ", "worse.json:1:2: "
    )
    assert not Path("suite").exists()


@pytest.mark.parametrize("kind", ["file", "file below"])
def test_output_that_is_no_folder(cli: Command, kind: str) -> None:
    document = written("aib")
    Path("suite").write_text("mine")
    outcome = cli("import", "aib", document, "-o", "suite" if kind == "file" else "suite/tree")
    assert (outcome.status, outcome.out) == (1, "")
    assert Path("suite").read_text() == "mine"


# --- usage and hostile names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("import", "nope", "agent.json", "-o", "suite"), 2),
        (("import", "aib", "-o", "suite"), 2),
        (("import", "aib", "agent.json"), 2),
        (("import", "aib", "agent.json", "-o", "suite", "--format", "xml"), 2),
        (("import", "aib", "agent.json", "-o", "suite", "--instructions", "missing"), 2),
        (("import", "aib", "agent.json", "-o", "suite", "--tool-schemas", "missing"), 2),
        (("import", "aib", "missing.json", "-o", "suite"), 1),
        (("import", "aib", ".", "-o", "suite"), 1),
        (("import", "brick", "agent.json", "-o", "suite"), 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_wrong_usage(cli: Command, arguments: tuple[str, ...], status: int) -> None:
    written("aib")
    before = everything()
    outcome = cli(*arguments)
    assert (outcome.status, outcome.out) == (status, "")
    assert outcome.err
    assert everything() == before


def test_unknown_format_lists_the_known_ones(cli: Command) -> None:
    assert "known formats: aib, aidip, brick" in cli("import", EVIL, written("aib"), "-o", "suite").err


@pytest.mark.parametrize("form", ["text", "json"])
def test_hostile_names_do_not_reach_the_terminal(cli: Command, form: str) -> None:
    """File names, ids, unknown members and the folder that is written are text of somebody else."""
    document = small_aib("one")
    document[EVIL] = 1
    document["agent_id"] = document["agent_config"]["agent_id"] = EVIL.replace("\x1b", "")
    written("aib", f"{EVIL}.json", document)
    outcome = cli("import", "aib", f"{EVIL}.json", "-o", f"suite{EVIL}", "--format", form, "--public", EVIL)
    assert outcome.status == 0, outcome.err
    assert is_harmless(outcome.out)
    assert is_harmless(outcome.err)
