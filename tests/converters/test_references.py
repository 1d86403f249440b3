"""Files that a document refers to (BRICK sections 4 and 6): read below its own folder only, bounded, never blocking."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from agentsuite_converters import references
from agentsuite_converters.brick import FORMAT
from tests.converters.documents import brick, write_files
from tests.converters.mutations import changed

FILE = "BRICK-FILE-001"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path)


def found(document: Any, folder: Path | None) -> list[tuple[str, str, str, str]]:
    return [(it.requirement, it.location, it.category, it.severity) for it in FORMAT.check(document, folder)]


def test_without_a_folder_files_are_not_judged() -> None:
    """References are still judged by their text."""
    assert found(brick(), None) == []
    document = changed(brick(), "/instructions/0/uri", "../GUIDE.md")
    assert found(document, None) == [(FILE, "#/instructions/0/uri", "security", "error")]


def refused(folder: Path, reference: str) -> list[tuple[str, str, str]]:
    document = changed(brick(), "/instructions/0", {"id": "guide", "uri": reference})
    return [(it.location, it.category, it.message) for it in FORMAT.check(document, folder)]


def test_a_symlink_that_leaves_the_folder_is_refused(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a.md").write_text("private")
    (folder / "file.md").symlink_to(outside / "a.md")
    (folder / "sub").symlink_to(outside, target_is_directory=True)
    (folder / "dangling.md").symlink_to(outside / "absent.md")
    message = "the file is a symlink out of the document's folder"
    for reference in ("file.md", "sub/a.md", "dangling.md"):
        assert refused(folder, reference) == [("#/instructions/0/uri", "security", message)]


def test_a_symlink_that_stays_is_followed(folder: Path) -> None:
    (folder / "link.md").symlink_to("skills/harbour-tides/SKILL.md")
    assert refused(folder, "link.md") == []


def test_a_folder_reached_through_a_symlink_is_the_documents_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(folder, target_is_directory=True)
    assert list(FORMAT.check(brick(), tmp_path / "alias")) == []


def test_a_symlink_loop_is_refused(folder: Path) -> None:
    (folder / "a.md").symlink_to("b.md")
    (folder / "b.md").symlink_to("a.md")
    assert [place for place, _, _ in refused(folder, "a.md")] == ["#/instructions/0/uri"]


def test_a_fifo_does_not_block(folder: Path) -> None:
    os.mkfifo(folder / "fifo.md")
    message = "the file cannot be read: it is no regular file"
    assert refused(folder, "fifo.md") == [("#/instructions/0/uri", "path", message)]


def test_a_huge_file_is_refused_before_it_is_read(folder: Path) -> None:
    """5 GiB that take no disk: reading them would take seconds and memory."""
    with open(folder / "huge.md", "wb") as stream:
        stream.truncate(5 * 1024**3)
    ((place, category, message),) = refused(folder, "huge.md")
    assert (place, category) == ("#/instructions/0/uri", "path")
    assert "more than 16,777,216 bytes" in message


def test_the_files_of_one_document_are_bounded_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "MAX_TOTAL_BYTES", 25)
    for name in "abc":
        (folder / f"{name}.md").write_bytes(b"0123456789")
    document = changed(brick(), "/instructions", [{"id": name, "uri": f"{name}.md"} for name in "abc"])
    document["skills"] = [{"id": "tides", "uri": "a.md"}]  # a file counts once
    assert found(document, folder) == [(FILE, "#/instructions/2/uri", "path", "error")]


def test_a_file_that_grows_while_it_is_read_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "MAX_FILE_BYTES", 8)
    monkeypatch.setattr(os, "fstat", lambda _: os.stat_result([0o100644] + [0] * 9))
    assert "more than 8 bytes" in refused(folder, "GUIDE.md")[0][2]


def test_remote_references_are_kept_and_never_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)
    document = changed(brick(), "/instructions/1/sha256", "0" * 64)
    assert found(document, folder) == []
