"""`agentsuite unpack`: content out of a layout or archive, into a new directory or not at all (specification 5.2)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.commands import STRICT_OUTPUT, agentsuite
from tests.cli.conftest import Command
from tests.hatch.projects import snapshot


@pytest.mark.parametrize("form", ["layout", "archive"])
def test_content_is_extracted(cli: Command, suite: Path, form: str) -> None:
    cli("pack", suite, "-o", "made", *(["--archive"] if form == "archive" else []))
    outcome = cli("unpack", "made", "new/content")
    assert outcome.status == 0
    assert outcome.err == ""
    assert outcome.out.endswith(" entries  new/content\n")
    assert (Path("new/content/instructions/helper.md")).read_text() == "Help.\n"
    assert os.access("new/content/tool-providers/eyes/1.0.0/linux-amd64/run", os.X_OK)
    assert cli("validate", "new/content").status == 0
    assert sorted(path.name for path in Path("new").iterdir()) == ["content"]


def test_packing_what_was_unpacked_gives_the_same_bytes(cli: Command, layout: Path) -> None:
    """pack(unpack(S)) is S."""
    assert cli("unpack", layout, "content").status == 0
    assert cli("pack", "content", "-o", "again").status == 0
    assert snapshot(Path("again")) == snapshot(layout)


@pytest.mark.parametrize("kind", ["empty folder", "folder", "file", "link", "dangling link"])
def test_target_must_be_new(cli: Command, layout: Path, kind: str) -> None:
    target = Path("target")
    if "folder" in kind:
        target.mkdir()
    elif kind == "file":
        target.write_text("mine")
    else:
        target.symlink_to("nowhere" if kind == "dangling link" else layout)
    if kind == "folder":
        (target / "file").write_text("mine")
    before = snapshot(Path())
    outcome = cli("unpack", layout, target)
    assert outcome.status == 1
    assert outcome.err == "error: target: already exists; content is extracted into a new directory\n"
    assert snapshot(Path()) == before


def test_content_directory_is_extracted_already(cli: Command, layout: Path) -> None:
    cli("unpack", layout, "content")
    outcome = cli("unpack", "content", "again")
    assert outcome.status == 1
    assert "extracted already" in outcome.err
    assert not Path("again").exists()


def test_damaged_layout_leaves_nothing(cli: Command, layout: Path) -> None:
    """The blob is verified before a byte of it is interpreted."""
    [blob] = [path for path in (layout / "blobs/sha256").iterdir() if path.read_bytes()[:2] == b"\x1f\x8b"]
    data = bytearray(blob.read_bytes())
    data[-1] ^= 1
    blob.write_bytes(data)
    outcome = cli("unpack", layout, "content")
    assert outcome.status == 1
    assert outcome.err.startswith("error: ")
    assert sorted(path.name for path in Path().iterdir()) == ["made.agentsuite", "suite"]


def test_missing_layout(cli: Command) -> None:
    outcome = cli("unpack", "missing", "content")
    assert outcome.status == 1
    assert "there is no such file or directory" in outcome.err
    assert list(Path().iterdir()) == []


def test_name_that_cannot_be_encoded(layout: Path) -> None:
    outcome = agentsuite("unpack", layout, os.fsdecode(b"new-\xff"), **STRICT_OUTPUT)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.endswith("  new-\\udcff\n")
