"""Profiles that were edited after the import: what was kept stays with its item, and what lost its place is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentsuite_converters.exporting import Exported, export_agent
from agentsuite_converters.suites import read_suite
from hatch_agentsuite.findings import RefusedError
from tests.converters.agents import FORMATS, complete_agent
from tests.converters.conversions import edit, exported, imported, save
from tests.converters.documents import GUIDE

Json = dict[str, Any]
NAMES = {"brick": "harbour", "aib": "harbour_7", "aidip": "harbour-7"}
LISTS = {"brick": "capabilities", "aib": "interface", "aidip": "operations"}


def edited(name: str, folder: Path, change: Callable[[Json], Any], document: Json | None = None) -> Exported:
    """Import the complete document of a format, change the profile, and export it to the same format."""
    agent = complete_agent(name)
    agent.document = document or agent.document
    imported(agent.form, [agent.write(folder / "in")], folder / "suite")
    place = folder / "suite" / "metadata" / "profiles" / f"{NAMES[name]}.json"
    profile = edit(place)
    change(profile)
    save(place, profile)
    return exported(folder / "suite", agent.form)[NAMES[name]]


def several(name: str) -> Json:
    """Return a document with three items, each with something that nobody but the format knows."""
    document = complete_agent(name).document
    items = listed(name, document)
    items[:] = [{**items[0], "name": key, "id": key, "x": {"of": key}, "advertise": False} for key in ("a", "b", "c")]
    if name != "brick":
        for item in items:
            del item["advertise"]
    return document


def listed(name: str, document: Json) -> list[Json]:
    found: list[Json] = document["interface"]["methods"] if name == "aib" else document[LISTS[name]]
    return found


ORDERS = [["a", "b", "c"], ["c", "a", "b"], ["b", "c"], ["a", "c"], ["c"], ["b", "a"]]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", FORMATS)
def test_what_was_kept_goes_with_its_item(name: str, order: list[str], tmp_path: Path) -> None:
    """Removed or reordered: no item gets what belongs to another, and none loses its own."""

    def change(profile: Json) -> None:
        items = {item["id"]: item for item in profile["capabilities"]}
        profile["capabilities"] = [items[key] for key in order]

    outcome = edited(name, tmp_path, change, several(name)).expressed
    found = listed(name, outcome.document)
    assert [item["x"] for item in found] == [{"of": key} for key in order]
    assert [item["id" if name == "brick" else "name"] for item in found] == order
    assert outcome.report.dropped == ()


@pytest.mark.parametrize("name", FORMATS)
def test_a_renamed_item_keeps_what_it_had(name: str, tmp_path: Path) -> None:
    outcome = edited(name, tmp_path, lambda it: it["capabilities"][1].update(id="new"), several(name)).expressed
    found = listed(name, outcome.document)
    key = "id" if name == "brick" else "name"
    assert [(item[key], item["x"]["of"]) for item in found] == [("a", "a"), ("new", "b"), ("c", "c")]


@pytest.mark.parametrize("name", FORMATS)
def test_an_edited_member_comes_out_and_the_rest_stays(name: str, tmp_path: Path) -> None:
    before = complete_agent(name).document
    outcome = edited(name, tmp_path, lambda it: it.update(name="Pilot"))
    document = outcome.expressed.document
    if name == "brick":
        before["agent"]["name"] = "Pilot"
    else:
        before["name"] = "Pilot"
    if name == "aib":
        before["agent_config"]["agent_name"] = "Pilot"
    assert document == before


def test_visibility_is_what_the_profile_says(tmp_path: Path) -> None:
    outcome = edited("brick", tmp_path, lambda it: it["capabilities"][0].update(visibility="private"))
    assert [item["advertise"] for item in _objects(outcome, "capabilities")] == [False, False]


def test_a_private_capability_is_not_published(tmp_path: Path) -> None:
    edited("brick", tmp_path, lambda it: it["capabilities"][0].update(visibility="private"))
    (agent,) = read_suite(tmp_path / "suite").values()
    view = export_agent(FORMATS["aib"], agent, {}, "public").expressed.document
    assert view["interface"] == {"methods": []}


def test_a_removed_server_is_gone_and_references_to_it_are_refused(tmp_path: Path) -> None:
    def change(profile: Json) -> None:
        profile["servers"] = profile["servers"][:1]

    with pytest.raises(RefusedError) as error:
        edited("brick", tmp_path, change)
    assert [(it.requirement, it.location) for it in error.value.findings] == [
        ("BRICK-REF-001", "#/capabilities/0/toolRefs/1")
    ]


def test_a_removed_server_and_its_references_leave_a_valid_manifest(tmp_path: Path) -> None:
    def change(profile: Json) -> None:
        del profile["servers"][1]
        del profile["capabilities"][0]["tools"][1]

    outcome = edited("brick", tmp_path, change)
    assert [server["id"] for server in _objects(outcome, "mcpServers")] == ["berths"]
    assert _objects(outcome, "mcpServers")[0]["allowedTools"] == ["list_free", "reserve_berth"]


LOST: list[tuple[str, Callable[[Json], Any], str]] = [
    ("brick", lambda it: it.update(foreign={"brick": [{"at": "/goals/7", "value": "x"}]}), "/goals/7"),
    ("aib", lambda it: it["foreign"]["aib"].append({"at": "/name/deeper", "value": 1}), "/name/deeper"),
    ("aib", lambda it: it["foreign"]["aib"].append({"at": "/interface/methods/9/x", "value": 1}), "methods/9/x"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "place"), LOST)
def test_what_lost_its_place_is_told_as_dropped_and_never_misapplied(
    name: str, change: Callable[[Json], Any], place: str, tmp_path: Path
) -> None:
    outcome = edited(name, tmp_path, change).expressed
    (note,) = [note for note in outcome.report.dropped if note.place.startswith("/foreign/")]
    assert place in note.reason
    assert "no place any more" in note.reason
    assert "/value" in note.place


def _objects(outcome: Exported, name: str) -> list[Any]:
    found = outcome.expressed.document[name]
    assert isinstance(found, list)
    return found


# --- instructions ------------------------------------------------------------------------------------------------


def instructions(folder: Path, document: Json, files: dict[str, bytes], text: str) -> Exported:
    """Import a manifest, edit the agent's instructions in the suite, and export it."""
    agent = complete_agent("brick")
    agent.document, agent.files = document, {**agent.files, **files}
    imported(agent.form, [agent.write(folder / "in")], folder / "suite")
    (folder / "suite" / "instructions" / "harbour.md").write_text(text)
    return exported(folder / "suite", agent.form)["harbour"]


def one_file(digest: bool) -> Json:
    document = complete_agent("brick").document
    document["instructions"] = [{"id": "guide", "uri": "./GUIDE.md"}]
    if digest:
        document["instructions"][0]["sha256"] = complete_agent("brick").document["instructions"][0]["sha256"]
    return document


def test_edited_instructions_of_one_file_are_exported(tmp_path: Path) -> None:
    outcome = instructions(tmp_path, one_file(digest=False), {}, "Say less.\n")
    assert outcome.expressed.files["GUIDE.md"] == b"Say less.\n"


def test_edited_instructions_with_a_digest_are_refused_or_get_another(tmp_path: Path) -> None:
    """A digest of the old text beside the new one would be no valid manifest."""
    with pytest.raises(RefusedError) as error:
        instructions(tmp_path, one_file(digest=True), {}, "Say less.\n")
    assert [(it.requirement, it.location) for it in error.value.findings] == [
        ("BRICK-FILE-001", "#/instructions/0/sha256")
    ]


def test_edited_instructions_of_several_files_are_refused_with_what_to_do(tmp_path: Path) -> None:
    document = one_file(digest=False)
    document["instructions"].append({"id": "more", "uri": "MORE.md"})
    with pytest.raises(RefusedError) as error:
        instructions(tmp_path, document, {"MORE.md": b"More.\n"}, "Say less.\n")
    (finding,) = error.value.findings
    assert (finding.requirement, finding.location) == ("PROFILE-FILE-001", "instructions/harbour.md")
    assert "metadata/profiles/harbour/files" in finding.hint


def test_parts_edited_together_with_the_whole_are_exported(tmp_path: Path) -> None:
    document = one_file(digest=False)
    document["instructions"].append({"id": "more", "uri": "MORE.md"})
    agent = complete_agent("brick")
    agent.document, agent.files = document, {**agent.files, "MORE.md": b"More.\n"}
    imported(agent.form, [agent.write(tmp_path / "in")], tmp_path / "suite")
    (tmp_path / "suite" / "metadata/profiles/harbour/files/MORE.md").write_text("Less.\n")
    (tmp_path / "suite" / "instructions" / "harbour.md").write_text(f"{GUIDE.decode()}\nLess.\n")
    outcome = exported(tmp_path / "suite", agent.form)["harbour"]
    assert outcome.expressed.files["MORE.md"] == b"Less.\n"
