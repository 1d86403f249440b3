"""References that lead elsewhere are refused by check and by import alike (BRICK 4, 6), and nothing is left behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentsuite_converters import references
from agentsuite_converters.brick import FORMAT
from hatch_agentsuite.findings import RefusedError
from tests.converters.agents import Agent, complete_agent
from tests.converters.conversions import imported

PACKAGE = "skills/harbour-tides"


def refer(uri: str) -> Callable[[Agent, Path], None]:
    def arrange(agent: Agent, _folder: Path) -> None:
        agent.document["instructions"][0] = {"id": "guide", "uri": uri}

    return arrange


def at(path: str, make: Callable[[Path], Any]) -> Callable[[Agent, Path], None]:
    """Put something of another kind at the place of a file that the document refers to."""

    def arrange(agent: Agent, folder: Path) -> None:
        (folder / path).unlink(missing_ok=True)
        make(folder / path)
        refer(path)(agent, folder)

    return arrange


def in_package(make: Callable[[Path], Any]) -> Callable[[Agent, Path], None]:
    """Put something into the folder of a skill, which comes along whole."""
    return lambda _agent, folder: make(folder / PACKAGE / "more")


def sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(references.MAX_FILE_BYTES + 1)


def crowd(path: Path) -> None:
    path.mkdir()
    for number in range(references.MAX_FOLDER_ENTRIES + 1):
        (path / str(number)).touch()


HOSTILE: dict[str, tuple[Callable[[Agent, Path], None], bool]] = {
    # what is wrong, and whether the document itself says so (else only who gathers the folder of a skill sees it)
    "leads up": (refer("../../etc/passwd"), True),
    "leads up by escapes": (refer("%2e%2e/%2e%2e/etc/passwd"), True),
    "leads up and back": (refer("x/../GUIDE.md"), True),
    "absolute": (refer("/etc/passwd"), True),
    "file URL": (refer("file:///etc/passwd"), True),
    "plain http": (refer("http://policies.example.net/agents.md"), True),
    "credentials": (refer("https://me:word@policies.example.net/agents.md"), True),
    "absent": (refer("./absent.md"), True),
    "a folder": (refer("skills"), True),
    "beyond the limit": (at("GUIDE.md", sparse), True),
    "a FIFO": (at("GUIDE.md", os.mkfifo), True),
    "a symlink out": (at("GUIDE.md", lambda path: path.symlink_to("/etc/hostname")), True),
    "a symlink to a device": (at("GUIDE.md", lambda path: path.symlink_to("/dev/zero")), True),
    "no text": (at("GUIDE.md", lambda path: path.write_bytes(b"\xff")), True),
    "a symlink out in a skill": (in_package(lambda path: path.symlink_to("/etc/hostname")), False),
    "a FIFO in a skill": (in_package(os.mkfifo), False),
    "a huge file in a skill": (in_package(sparse), False),
    "a dangling symlink in a skill": (in_package(lambda path: path.symlink_to("/nowhere/at/all")), False),
    "too many files in a skill": (in_package(crowd), False),
}


def arranged(name: str, folder: Path) -> Path:
    agent = complete_agent("brick")
    agent.write(folder)
    HOSTILE[name][0](agent, folder)
    agent.files = {}
    return agent.write(folder)


@pytest.mark.parametrize("name", HOSTILE)
def test_an_import_refuses_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    document = arranged(name, tmp_path / "in")
    with pytest.raises(RefusedError) as error:
        imported(FORMAT, [document], tmp_path / "suite")
    assert {it.requirement for it in error.value.findings} == {"BRICK-FILE-001"}
    assert all("word" not in str(it).replace("password", "") for it in error.value.findings)
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize("name", [name for name, (_, is_said) in HOSTILE.items() if is_said])
def test_a_check_refuses_the_same(name: str, tmp_path: Path) -> None:
    document = arranged(name, tmp_path / "in")
    assert {it.requirement for it in FORMAT.check_file(document) if it.is_error} == {"BRICK-FILE-001"}


@pytest.mark.parametrize("name", [name for name, (_, is_said) in HOSTILE.items() if not is_said])
def test_a_check_judges_the_folder_of_a_skill_too(name: str, tmp_path: Path) -> None:
    """What cannot be imported is no valid document where its files are at hand."""
    document = arranged(name, tmp_path / "in")
    assert {it.requirement for it in FORMAT.check_file(document) if it.is_error} == {"BRICK-FILE-001"}


def test_files_of_one_document_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "MAX_TOTAL_BYTES", 25)
    agent = complete_agent("brick")
    with pytest.raises(RefusedError):
        imported(FORMAT, [agent.write(tmp_path / "in")], tmp_path / "suite")
    assert os.listdir(tmp_path) == ["in"]


def test_a_symlink_that_stays_below_the_folder_is_followed(tmp_path: Path) -> None:
    agent = complete_agent("brick")
    document = agent.write(tmp_path / "in")
    (tmp_path / "in" / PACKAGE / "guide.md").symlink_to("../../GUIDE.md")
    made = imported(FORMAT, [document], tmp_path / "suite")
    copied = f"metadata/profiles/harbour/files/{PACKAGE}/guide.md"
    assert made.files[copied] == agent.files["GUIDE.md"]
    assert not (tmp_path / "suite" / copied).is_symlink()
