"""`agentsuite convert`: between every two formats, valid by the target's rules or refused by name; all or nothing."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest
import yaml

from agentsuite_converters.document import loads as load_document
from tests.cli.commands import is_harmless
from tests.cli.conftest import Command
from tests.cli.foreign import BUILD, everything, loaded, small_aib, written
from tests.converters.documents import FILES
from tests.converters.mutations import DROP, changed
from tests.hatch.projects import Outcome, snapshot

AIDIP = ("--agent-version", "1", "--publisher", "P", "--endpoint", "https://a.example.net/x")
BRICK = ("--identifier", "urn:x:y", "--agent-version", "1", "--goal", "Moor")
NEEDED = {
    ("aib", "aidip"): AIDIP,
    ("aib", "brick"): BRICK,
    ("aidip", "aib"): (),
    ("aidip", "brick"): ("--identifier", "urn:x:y", "--goal", "Moor"),
    ("brick", "aib"): (),
    ("brick", "aidip"): ("--publisher", "P"),
}
"""For every two formats, the options without which the conversion is refused."""

PAIRS = list(permutations(BUILD, 2))


def refused(outcome: Outcome, *texts: str) -> None:
    assert outcome.status == 1
    assert outcome.out == ""
    assert [text for text in texts if text not in outcome.err] == []


@pytest.mark.parametrize("pair", PAIRS, ids=" to ".join)
def test_outcome_is_valid_by_the_targets_rules(cli: Command, pair: tuple[str, str]) -> None:
    source, target = pair
    outcome = cli("convert", source, target, written(source), "-o", "new/out.json", *NEEDED[pair])
    assert outcome.status == 0, outcome.err
    assert outcome.out.splitlines()[0] == "new/out.json"
    assert cli("check", target, "new/out.json").status == 0


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if NEEDED[pair]], ids=" to ".join)
def test_every_missing_member_is_named_with_its_option(cli: Command, pair: tuple[str, str]) -> None:
    source, target = pair
    document = written(source)
    before = everything()
    outcome = cli("convert", source, target, document, "-o", "new/out.json")
    refused(outcome, *(f"(give {option} " for option in NEEDED[pair][::2]))
    assert all(line.startswith("error: new/out.json#/") for line in outcome.lines)
    assert everything() == before
    assert not Path("new").exists()


@pytest.mark.parametrize("form", BUILD)
def test_to_the_same_format_nothing_changes(cli: Command, form: str) -> None:
    outcome = cli("convert", form, form, written(form), "-o", "new/out.json", "--strict")
    assert outcome.status == 0, outcome.err
    exported = snapshot(Path("new"))
    assert json.loads(exported.pop("out.json")) == BUILD[form]()
    assert exported == (FILES if form == "brick" else {})


@pytest.mark.parametrize("suffix", ["yaml", "yml", "YAML"])
def test_yaml_in_and_out(cli: Command, suffix: str) -> None:
    Path("agent.yaml").write_text(yaml.safe_dump(BUILD["aidip"]()))
    assert cli("convert", "aidip", "aidip", "agent.yaml", "-o", f"out.{suffix}").status == 0
    assert load_document(Path(f"out.{suffix}").read_bytes(), yaml=True).value == BUILD["aidip"]()


def test_prompt_becomes_a_file_and_back(cli: Command) -> None:
    outcome = cli("convert", "aib", "brick", written("aib"), "-o", "new/out.json", *BRICK)
    assert outcome.out.splitlines() == ["new/out.json", "new/instructions.md"]
    assert Path("new/instructions.md").read_text() == "You know every berth."
    assert cli("convert", "brick", "aib", "new/out.json", "-o", "back.json").status == 0
    assert loaded("back.json")["agent_config"]["system_prompt"] == "You know every berth."


def test_document_that_has_the_name_of_a_file_beside_it(cli: Command) -> None:
    document = written("aib")
    refused(cli("convert", "aib", "brick", document, "-o", "new/Instructions.md", *BRICK), "Instructions.md")
    assert not Path("new").exists()


@pytest.mark.parametrize("option", ["--public", "no option"])
def test_public(cli: Command, option: str) -> None:
    """AIB does not say what is public: `run` is, and what is named."""
    options = ("--public", "reserve") if option == "--public" else ()
    document = changed(BUILD["aib"](), "/interface/methods/1/input", {"boat": {"type": "string"}})
    assert (
        cli("convert", "aib", "aidip", written("aib", document=document), "-o", "out.json", *AIDIP, *options).status
        == 0
    )
    names = [operation["name"] for operation in loaded("out.json")["operations"]]
    assert names == ["run", *(["reserve"] if options else [])]


def test_public_of_what_there_is_not(cli: Command) -> None:
    document = written("aib")
    refused(cli("convert", "aib", "aidip", document, "-o", "out.json", *AIDIP, "--public", "nothing"), "`nothing`")
    assert cli("convert", "brick", "aib", written("brick"), "-o", "out.json", "--public", "x").status == 2
    assert not Path("out.json").exists()


def test_published_text_that_quotes_what_is_private(cli: Command) -> None:
    """Nothing private is published, also where its author wrote it into a public text."""
    document = small_aib("one")
    secret = "Say the harbour master's private number to nobody but the pilots"
    document["agent_config"]["system_prompt"] = f"{secret}."
    document["description"] = f"Knows this: {secret}"
    refused(
        cli("convert", "aib", "aidip", written("aib", document=document), "-o", "out.json", *AIDIP), "AIDIP-PRIVACY-001"
    )
    assert not Path("out.json").exists()


def test_account(cli: Command) -> None:
    outcome = cli("convert", "brick", "aidip", written("brick"), "-o", "out.json", "--publisher", "P")
    assert outcome.lines[0].endswith(" members carried")
    assert "  dropped: /goals/0: aidip has no member for it" in outcome.lines
    assert (
        "  derived: /capabilities/0/inputs/0 -> /operations/0/inputs: an object of properties of any kind"
        in outcome.lines
    )
    assert "  supplied: /publisher: --publisher" in outcome.lines


def test_report(cli: Command) -> None:
    options = ("-o", "out.json", "--publisher", "P", "--report", "report.json")
    assert cli("convert", "brick", "aidip", written("brick"), *options).status == 0
    report = loaded("report.json")["harbour"]
    told = [item["source"] for item in report["carried"] + report["derived"]]
    told += [item["place"] for item in report["dropped"]]
    assert len(told) == len(set(told))
    assert {"/agent/name", "/capabilities/0/inputs/0", "/goals/0", "/runtime"} <= set(told)


def test_strict_refuses_drops_and_writes_nothing(cli: Command) -> None:
    document = written("brick")
    before = everything()
    options = ("-o", "out.json", "--publisher", "P", "--strict", "--report", "report.json")
    refused(cli("convert", "brick", "aidip", document, *options), "dropped: /goals/0", "nothing was written")
    assert everything() == before


def test_files_are_overwritten_by_force_alone(cli: Command) -> None:
    document = written("aidip")
    Path("out.json").write_text("mine")
    refused(
        cli("convert", "aidip", "aib", document, "-o", "out.json", "--report", "r.json"), "out.json: the file exists"
    )
    assert Path("out.json").read_text() == "mine"
    assert not Path("r.json").exists()
    assert cli("convert", "aidip", "aib", document, "-o", "out.json", "--force").status == 0
    assert loaded("out.json")["name"] == "Harbour Guide"


def test_source_is_not_overwritten_by_itself(cli: Command) -> None:
    document = written("aidip")
    refused(cli("convert", "aidip", "aib", document, "-o", document), "the file exists")
    assert loaded(document) == BUILD["aidip"]()


def test_instruction_file_that_is_not_utf8(cli: Command) -> None:
    document = written("brick", document=changed(BUILD["brick"](), "/instructions/0/sha256", DROP))
    Path("GUIDE.md").write_bytes(b"caf\xe9")
    refused(cli("convert", "brick", "aib", document, "-o", "out.json"), "BRICK-FILE-001")
    assert not Path("out.json").exists()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("convert", "nope", "aib", "agent.json", "-o", "out.json"), 2),
        (("convert", "aib", "nope", "agent.json", "-o", "out.json"), 2),
        (("convert", "aib", "aidip", "agent.json"), 2),
        (("convert", "aib", "aidip", "-o", "out.json"), 2),
        (("convert", "aib", "aidip", "agent.json", "agent.json", "-o", "out.json"), 2),
        (("convert", "aib", "aidip", "agent.json", "-o", "out.json", "--capability", "x"), 2),
        (("convert", "aib", "aidip", "missing.json", "-o", "out.json"), 1),
        (("convert", "aib", "aidip", ".", "-o", "out.json"), 1),
        (("convert", "brick", "aidip", "agent.json", "-o", "out.json"), 1),
        (("convert", "aib", "aib", "agent.json", "-o", "."), 1),
    ],
)
def test_wrong_usage(cli: Command, arguments: tuple[str, ...], status: int) -> None:
    written("aib")
    before = everything()
    outcome = cli(*arguments)
    assert (outcome.status, outcome.out) == (status, "")
    assert outcome.err
    assert everything() == before


def test_hostile_names_do_not_reach_the_terminal(cli: Command) -> None:
    evil = "evil\x1b[31m\u202e"
    document = written("aib", f"{evil}.json", {**small_aib("one"), evil: {evil: 1}})
    for options in ((), AIDIP):
        outcome = cli("convert", "aib", "aidip", document, "-o", f"out{evil}.json", *options)
        assert outcome.status == (0 if options else 1)
        assert is_harmless(outcome.out)
        assert is_harmless(outcome.err)
