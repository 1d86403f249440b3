"""`agentsuite export`: what was imported comes out equal, what is missing is asked for, what is private stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentsuite_converters.document import loads as load_document
from tests.cli.commands import is_harmless
from tests.cli.conftest import Command
from tests.cli.foreign import BUILD, IDS, MODEL, SUPPLIES, everything, loaded, small_aib, written
from tests.converters.documents import FILES
from tests.converters.mutations import changed
from tests.hatch.projects import Outcome, snapshot

PUBLISHED = ("--agent-version", "1", "--publisher", "P", "--endpoint", "https://a.example.net/x")
"""What an AIB blueprint does not say and AIDIP demands."""


def imported(cli: Command, form: str) -> Path:
    """Import a format's sample into the tree `suite`."""
    outcome = cli("import", form, written(form), "-o", "suite", *SUPPLIES[form])
    assert outcome.status == 0, outcome.err
    return Path("suite")


def refused(outcome: Outcome, *texts: str) -> None:
    assert outcome.status == 1
    assert outcome.out == ""
    assert [text for text in texts if text not in outcome.err] == []


# --- what comes out ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tree", "layout", "archive", "content"])
@pytest.mark.parametrize("form", BUILD)
def test_document_comes_out_as_it_went_in(cli: Command, form: str, kind: str) -> None:
    """export(import(X)) is X, the files byte for byte, from everything that a suite can be."""
    suite = imported(cli, form)
    if kind != "tree":
        assert cli("pack", suite, "-o", "made", *(["--archive"] if kind == "archive" else [])).status == 0
        suite = Path("made")
    if kind == "content":
        assert cli("unpack", "made", "content").status == 0
        suite = Path("content")
    outcome = cli("export", form, suite, "-o", "out")
    assert outcome.status == 0, outcome.err
    exported = snapshot(Path("out") / IDS[form])
    assert outcome.out.splitlines() == [f"out/{IDS[form]}/{name}" for name in sorted(exported)]
    assert json.loads(exported.pop(f"{form}.json")) == BUILD[form]()
    assert exported == (FILES if form == "brick" else {})


@pytest.mark.parametrize("form", BUILD)
def test_yaml(cli: Command, form: str) -> None:
    assert cli("export", form, imported(cli, form), "-o", "out", "--yaml").status == 0
    exported = Path("out") / IDS[form] / f"{form}.yaml"
    assert load_document(exported.read_bytes(), yaml=True).value == BUILD[form]()
    assert cli("check", form, exported).status == 0


def test_agents_that_are_named(cli: Command) -> None:
    for name in ("one", "two", "three"):
        cli("import", "aib", written("aib", f"{name}.json", small_aib(name)), "-o", "suite")
    outcome = cli("export", "aib", "suite", "-o", "out", "--agent", "three", "--agent", "one")
    assert outcome.status == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["one", "three"]
    assert cli("export", "aib", "suite", "-o", "all").status == 0
    assert sorted(path.name for path in Path("all").iterdir()) == ["one", "three", "two"]


def test_suite_that_was_never_imported(cli: Command, suite: Path) -> None:
    """An agent that was written as a suite has a name by its id; tools are its own affair."""
    outcome = cli("export", "aib", suite, "-o", "out")
    assert outcome.status == 0, outcome.err
    assert loaded("out/helper/aib.json")["name"] == "helper"
    assert loaded("out/helper/aib.json")["agent_config"]["system_prompt"] == "Help.\n"
    assert "dropped: /suite/toolProviders" in outcome.err


# --- views -------------------------------------------------------------------------------------------------------


def test_public_view(cli: Command) -> None:
    outcome = cli("export", "aib", imported(cli, "aib"), "-o", "out", "--public")
    assert (outcome.status, outcome.err) == (0, "")
    view = loaded("out/harbour_7/aib.json")
    assert sorted(view) == ["agent_id", "description", "interface", "name"]
    assert [method["name"] for method in view["interface"]["methods"]] == ["run"]


def test_summary(cli: Command) -> None:
    assert cli("export", "aidip", imported(cli, "aidip"), "-o", "out", "--summary").status == 0
    assert sorted(loaded("out/harbour-7/aidip.json")) == ["capabilities", "description", "endpoint", "id", "name"]


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("brick", ["--public"]),
        ("brick", ["--summary"]),
        ("aib", ["--summary"]),
        ("aidip", ["--public"]),
        ("aib", ["--public", "--strict"]),
    ],
)
def test_view_that_there_is_not(cli: Command, form: str, options: list[str]) -> None:
    suite = imported(cli, form)
    outcome = cli("export", form, suite, "-o", "out", *options)
    assert (outcome.status, outcome.out) == (2, "")
    assert not Path("out").exists()


# --- what an agent does not say ----------------------------------------------------------------------------------


def test_missing_members_are_asked_for_by_option_for_every_agent(cli: Command) -> None:
    for name in ("one", "two"):
        cli("import", "aib", written("aib", f"{name}.json", small_aib(name)), "-o", "suite")
    outcome = cli("export", "aidip", "suite", "-o", "out")
    refused(outcome, *(f"out/{name}/aidip.json#/publisher: " for name in ("one", "two")))
    refused(outcome, "--agent-version VERSION", "--publisher TEXT", "--endpoint URL")
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("form", "options", "member", "value"),
    [
        ("aidip", ["--identifier", "x"], "id", "x"),
        ("aidip", ["--name", "x"], "name", "x"),
        ("aidip", ["--description", "x"], "description", "x"),
        ("aidip", ["--agent-version", "2"], "version", "2"),
        ("aidip", ["--publisher", "x"], "publisher", "x"),
        ("aidip", ["--endpoint", "https://b.example.net/"], "endpoint", "https://b.example.net/"),
        ("aidip", ["--tag", "x", "--tag", "y"], "tags", ["x", "y"]),
        ("aidip", ["--category", "x", "--category", "y"], "capabilities", ["x", "y"]),
        ("aidip", ["--language", "en", "--language", "nl"], "supported_languages", ["en", "nl"]),
        (
            "aidip",
            ["--capability", "do=Do = it"],
            "operations",
            [{"name": "do", "description": "Do = it", "inputs": {}, "outputs": {}}],
        ),
        ("brick", ["--goal", "x", "--goal", "y"], "goals", ["x", "y"]),
        (
            "brick",
            ["--capability", "do=Do it"],
            "capabilities",
            [{"id": "do", "description": "Do it", "advertise": True}],
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_supplied_members(cli: Command, form: str, options: list[str], member: str, value: object) -> None:
    """Each option fills its member, in place of what the agent has; the account says which one did."""
    suite = imported(cli, "aib")
    others = [*PUBLISHED, "--identifier", "urn:x:y", "--goal", "g"]
    given = [part for pair in zip(others[::2], others[1::2], strict=True) if pair[0] != options[0] for part in pair]
    outcome = cli("export", form, suite, "-o", "out", *given, *options)
    assert outcome.status == 0, outcome.err
    assert loaded(f"out/harbour_7/{form}.json")[member] == value
    assert f"supplied: /{member}" in outcome.err
    assert options[0] in outcome.err


@pytest.mark.parametrize("value", ["do", "do=", "=Do it", " = "])
def test_capability_is_id_and_description(cli: Command, value: str) -> None:
    suite = imported(cli, "aib")
    outcome = cli("export", "aidip", suite, "-o", "out", *PUBLISHED, "--capability", value)
    assert outcome.status == 2
    assert "is not ID=DESCRIPTION" in outcome.err
    assert not Path("out").exists()


def test_value_that_the_format_refuses(cli: Command) -> None:
    """What is supplied is judged by the format's rules like everything else."""
    suite = imported(cli, "aib")
    options = [*PUBLISHED[:-1], "http://a.example.net/"]
    refused(
        cli("export", "aidip", suite, "-o", "out", *options), "out/harbour_7/aidip.json#/endpoint", "AIDIP-ENDPOINT-001"
    )
    assert not Path("out").exists()


# --- the account -------------------------------------------------------------------------------------------------


def test_account_is_told_on_standard_error(cli: Command) -> None:
    outcome = cli("export", "aidip", imported(cli, "aib"), "-o", "out", *PUBLISHED)
    assert "harbour_7: " in outcome.lines[0]
    assert "  dropped: /capabilities/0/visibility: aidip has no member for it" in outcome.lines
    assert "  supplied: /publisher: --publisher" in outcome.lines


def test_report_has_all_of_it(cli: Command) -> None:
    assert (
        cli("export", "aidip", imported(cli, "aib"), "-o", "out", *PUBLISHED, "--report", "r/report.json").status == 0
    )
    report = loaded("r/report.json")["harbour_7"]
    assert sorted(report) == ["carried", "derived", "dropped", "supplied"]
    assert {"source": "/description", "target": "/description"} in report["carried"]
    assert {"place": "/publisher", "reason": "--publisher"} in report["supplied"]
    assert {item["place"] for item in report["dropped"]} >= {"/prompt", "/model/name", "/relationships/pilot_2"}


def test_long_account_is_cut_off_and_says_so(cli: Command) -> None:
    outcome = cli("export", "aidip", imported(cli, "aib"), "-o", "out", *PUBLISHED, "--report", "report.json")
    dropped = len(loaded("report.json")["harbour_7"]["dropped"])
    assert dropped > 20
    assert sum(line.startswith("  dropped: ") for line in outcome.lines) == 20
    assert f"  and {dropped - 20} more dropped; --report FILE has all of them" in outcome.lines


def test_report_is_not_overwritten_unless_forced(cli: Command) -> None:
    suite = imported(cli, "aib")
    Path("report.json").write_text("mine")
    refused(cli("export", "aib", suite, "-o", "out", "--report", "report.json"), "report.json: the file exists")
    assert Path("report.json").read_text() == "mine"
    assert not Path("out").exists()
    assert cli("export", "aib", suite, "-o", "out", "--report", "report.json", "--force").status == 0
    before = everything()
    assert cli("export", "aib", suite, "-o", "out", "--report", "report.json").status == 0
    assert everything() == before


@pytest.mark.parametrize(("place", "status"), [("suite", 2), ("prompt.md/report.json", 1)])
def test_report_that_cannot_be_written_keeps_documents_out(cli: Command, place: str, status: int) -> None:
    suite = imported(cli, "aib")
    before = everything()
    assert cli("export", "aib", suite, "-o", "out", "--report", place).status == status
    assert everything() == before
    assert not Path("out").exists()


def test_documents_that_cannot_be_written_keep_the_report_out(cli: Command) -> None:
    suite = imported(cli, "aib")
    Path("out").write_text("mine")
    assert cli("export", "aib", suite, "-o", "out", "--report", "new/report.json").status == 1
    assert not Path("new").exists()


def test_strict_refuses_drops_and_writes_nothing(cli: Command) -> None:
    suite = imported(cli, "aib")
    before = everything()
    outcome = cli("export", "aidip", suite, "-o", "out", *PUBLISHED, "--strict", "--report", "report.json")
    refused(outcome, "dropped: /model/name", "members would be dropped, and --strict allows none; nothing was written")
    assert everything() == before


@pytest.mark.parametrize("form", BUILD)
def test_strict_allows_what_came_from_the_format(cli: Command, form: str) -> None:
    assert cli("export", form, imported(cli, form), "-o", "out", "--strict").status == 0


def test_strict_allows_a_manifest_that_does_not_say_what_is_advertised(cli: Command) -> None:
    """What an import fills in by itself is no loss."""
    document = BUILD["brick"]()
    del document["capabilities"][1]["advertise"]
    cli("import", "brick", written("brick", document=document), "-o", "suite", *MODEL)
    assert cli("export", "brick", "suite", "-o", "out", "--strict").status == 0
    assert loaded("out/harbour/brick.json") == document


# --- a suite that was edited -------------------------------------------------------------------------------------


def test_visibility_that_was_edited_is_exported(cli: Command) -> None:
    document = BUILD["brick"]()
    del document["capabilities"][1]["advertise"]
    cli("import", "brick", written("brick", document=document), "-o", "suite", *MODEL)
    profile = changed(loaded("suite/metadata/profiles/harbour.json"), "/capabilities/1/visibility", "public")
    Path("suite/metadata/profiles/harbour.json").write_text(json.dumps(profile))
    assert cli("export", "brick", "suite", "-o", "out").status == 0
    assert loaded("out/harbour/brick.json")["capabilities"][1]["advertise"] is True


def test_prompt_that_was_edited_is_exported(cli: Command) -> None:
    (imported(cli, "aib") / "instructions/harbour_7.md").write_text("Other words.")
    assert cli("export", "aib", "suite", "-o", "out").status == 0
    assert loaded("out/harbour_7/aib.json")["agent_config"]["system_prompt"] == "Other words."


def test_instructions_whose_digest_was_given(cli: Command) -> None:
    """The document would be refused by the format's own rules, so it is not written."""
    suite = imported(cli, "brick")
    (suite / "instructions/harbour.md").write_text("Other words.")
    refused(
        cli("export", "brick", suite, "-o", "out"), "out/harbour/brick.json#/instructions/0/sha256", "BRICK-FILE-001"
    )
    assert not Path("out").exists()


def test_instructions_of_a_suite_that_are_not_utf8(cli: Command) -> None:
    suite = imported(cli, "aib")
    (suite / "instructions/harbour_7.md").write_bytes(b"caf\xe9")
    refused(cli("export", "aib", suite, "-o", "out"), "instructions/harbour_7.md")
    assert not Path("out").exists()


# --- all or nothing, usage, hostile names ------------------------------------------------------------------------


def test_files_are_overwritten_by_force_alone(cli: Command) -> None:
    suite = imported(cli, "brick")
    cli("export", "brick", suite, "-o", "out")
    original = everything()
    assert cli("export", "brick", suite, "-o", "out").status == 0
    Path("out/harbour/GUIDE.md").write_text("mine")
    before = everything()
    refused(cli("export", "brick", suite, "-o", "out"), "out/harbour/GUIDE.md: the file exists")
    assert everything() == before
    assert cli("export", "brick", suite, "-o", "out", "--force").status == 0
    assert everything() == original


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("export", "nope", "suite", "-o", "out"), 2, "known formats: aib, aidip, brick"),
        (("export", "aib", "suite"), 2, "--output"),
        (("export", "aib", "-o", "out"), 2, "SUITE"),
        (("export", "aib", "suite", "-o", "out", "--agent", "nobody"), 1, "agents: `helper`"),
        (("export", "aib", "missing", "-o", "out"), 1, "there is no such file or folder"),
        (("export", "aib", ".", "-o", "out"), 1, "error: "),
        (("export", "aib", "text", "-o", "out"), 1, "error: "),
    ],
)
def test_wrong_usage(cli: Command, suite: Path, arguments: tuple[str, ...], status: int, text: str) -> None:
    Path("text").write_text("no suite")
    before = everything()
    outcome = cli(*arguments)
    assert (outcome.status, outcome.out) == (status, "")
    assert text in outcome.err
    assert everything() == before


def test_hostile_names_do_not_reach_the_terminal(cli: Command) -> None:
    """Unknown members are places in the account, and the folder is somebody's choice."""
    evil = "evil\x1b[31m\u202e"
    cli("import", "aib", written("aib", document={**small_aib("one"), evil: {evil: 1}}), "-o", "suite")
    outcome = cli("export", "aidip", "suite", "-o", f"out{evil}", *PUBLISHED, "--report", f"{evil}.json")
    assert outcome.status == 0, outcome.err
    assert "evil\\x1b[31m\\u202e" in outcome.err
    assert is_harmless(outcome.out)
    assert is_harmless(outcome.err)
    refusal = cli("export", "aib", "suite", "-o", "out", "--agent", evil)
    assert refusal.status == 1
    assert is_harmless(refusal.err)
