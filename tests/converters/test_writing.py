"""Files are put in place all or none, and nothing that exists is overwritten unless that is asked for."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from agentsuite_converters.writing import beside, write_files
from hatch_agentsuite.findings import RefusedError
from tests.converters.conversions import files_below

NEW = {"a.json": b"new", "deep/er/b.json": b"new", "c.json": b"new"}


def tree(root: Path) -> dict[str, Any]:
    """Return everything below a folder: files by content, links by target, folders."""
    return {
        str(path.relative_to(root)): path.readlink() if path.is_symlink() else path.is_dir() or path.read_bytes()
        for path in sorted(root.rglob("*"))
    }


def test_files_and_folders_are_made(tmp_path: Path) -> None:
    root = tmp_path / "x" / "tree"
    assert write_files(root, NEW) == list(NEW)
    assert files_below(root) == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["x"], "no work folder is left"


def test_what_is_the_same_is_not_changed(tmp_path: Path) -> None:
    write_files(tmp_path, NEW)
    before = (tmp_path / "a.json").stat()
    assert write_files(tmp_path, NEW) == []
    assert write_files(tmp_path, {**NEW, "d.json": b""}) == ["d.json"]
    assert (tmp_path / "a.json").stat().st_ino == before.st_ino


def test_all_that_would_be_overwritten_is_named_at_once(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.json": b"old", "c.json": b"old"})
    before = tree(tmp_path)
    with pytest.raises(RefusedError) as error:
        write_files(tmp_path, NEW)
    assert [(it.location, it.hint) for it in error.value.findings] == [
        (str(tmp_path / name), "give --force") for name in ("a.json", "c.json")
    ]
    assert tree(tmp_path) == before


def test_force_overwrites_and_own_files_need_none(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.json": b"old", "c.json": b"old"})
    with pytest.raises(RefusedError):
        write_files(tmp_path, NEW, own=["a.json"])
    assert write_files(tmp_path, {"a.json": b"mine"}, own=["a.json"]) == ["a.json"]
    assert set(write_files(tmp_path, NEW, force=True)) == set(NEW)
    assert files_below(tmp_path) == NEW


def test_a_symlink_to_a_file_is_replaced_and_what_it_names_stays(tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"old")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.json").symlink_to(tmp_path / "outside")
    with pytest.raises(RefusedError):
        write_files(tmp_path / "tree", {"a.json": b"old"})
    write_files(tmp_path / "tree", {"a.json": b"new"}, force=True)
    assert (tmp_path / "outside").read_bytes() == b"old"
    assert not (tmp_path / "tree" / "a.json").is_symlink()


@pytest.mark.parametrize("force", [False, True])
def test_a_symlinked_folder_is_refused(tmp_path: Path, force: bool) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "deep").symlink_to(tmp_path / "outside", target_is_directory=True)
    with pytest.raises(RefusedError):
        write_files(tmp_path / "tree", NEW, force=force)
    assert files_below(tmp_path) == {}


@pytest.mark.parametrize("force", [False, True])
def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path, force: bool) -> None:
    (tmp_path / "deep").write_bytes(b"a file")
    before = tree(tmp_path)
    with pytest.raises(RefusedError):
        write_files(tmp_path, NEW, force=force)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_in_place_of_a_file_is_refused_with_all_that_is_in_it(tmp_path: Path, force: bool) -> None:
    (tmp_path / "a.json").mkdir()
    (tmp_path / "a.json" / "precious").write_bytes(b"kept")
    before = tree(tmp_path)
    with pytest.raises(RefusedError):
        write_files(tmp_path, NEW, force=force)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("nth", range(6))
def test_whatever_fails_everything_is_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int) -> None:
    """The disk is full, or a file is in use, at the n-th file that is moved: old and new ones alike."""
    root = tmp_path / "tree"
    write_files(root, {"a.json": b"old", "c.json": b"old", "kept": b""})
    before = tree(tmp_path)
    real, calls = Path.rename, iter(range(100))

    def rename(self: Path, target: Path) -> Path:
        if next(calls) == nth:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    if nth == 5:  # three new files, two of which were there
        write_files(root, NEW, force=True)
        assert files_below(root) == {**NEW, "kept": b""}
        return
    with pytest.raises(OSError, match="No space"):
        write_files(root, NEW, force=True)
    assert tree(tmp_path) == before


def test_a_failure_before_anything_is_moved_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "mkdir", _full)
    with pytest.raises(OSError, match="No space"):
        write_files(tmp_path / "new" / "tree", NEW)
    assert tree(tmp_path) == {}


def _full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({}, "brick.json"),
        ({"BRICK.json": b""}, "_brick.json"),
        ({"brick.json/a": b"", "_brick.json": b""}, "__brick.json"),
        ({"docs/brick.json": b""}, "brick.json"),
    ],
)
def test_a_document_takes_another_name_than_its_files(files: dict[str, bytes], name: str) -> None:
    assert beside("brick.json", b"{}", files) == {name: b"{}", **files}
    if name != "brick.json":
        with pytest.raises(RefusedError):
            beside("brick.json", b"{}", files, rename=False)
