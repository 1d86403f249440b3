"""Payload files hashed on all cores (section 6.2): the same whoever hashes them, and whatever becomes of a process."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from hatch_agentsuite.regular import CHUNK, hash_file
from hatch_agentsuite.source import hashing
from hatch_agentsuite.source.hashing import Hashing
from hatch_agentsuite.source.tree import SourceTree

if TYPE_CHECKING:
    from pathlib import Path

    from hatch_agentsuite.source.tree import SourceEntry

Groups = dict[str, list["SourceEntry"]]
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs scripts, FIFOs and modes")


@pytest.fixture
def groups(tmp_path: Path) -> Groups:
    """Three groups of files, small and large among each other, in batches of a few files."""
    root = tmp_path / "tree"
    for group, count in (("a", 40), ("b", 1), ("c", 25)):
        for number in range(count):
            path = root / group / f"{number:02d}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bytes(CHUNK + number) if number in {3, 7, 8} else b"%d" % number * number)
    tree = SourceTree(root)
    return {group: [entry for entry in tree.below(group) if entry.kind == "file"] for group in "abc"}


@pytest.fixture(params=["processes", "threads"])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(hashing, "_BATCH_FILES", 4)
    if request.param == "processes":
        monkeypatch.setattr(hashing, "_MANY", 1)
    return str(request.param)


def found(root: Path, groups: Groups, workers: int, seen: list[int] | None = None) -> dict[str, list[tuple[int, str]]]:
    with Hashing(str(root), groups, workers, seen.append if seen is not None else None) as running:
        return {group: list(running.results(group)) for group in groups}


def expected(root: Path, groups: Groups) -> dict[str, list[tuple[int, str]]]:
    return {group: [hash_file(root / entry.path) for entry in entries] for group, entries in groups.items()}


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.usefixtures("mode")
def test_the_digests_do_not_depend_on_the_workers(tmp_path: Path, groups: Groups, workers: int) -> None:
    seen: list[int] = []
    root = tmp_path / "tree"
    assert found(root, groups, workers, seen) == expected(root, groups)
    assert sum(seen) == sum(entry.size for entries in groups.values() for entry in entries)


def test_many_small_files_are_hashed_by_processes(
    tmp_path: Path, groups: Groups, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads would contend for the interpreter; a few files are not worth a process."""
    started: list[int] = []
    real = Hashing._start_process

    def start(self: Hashing[str], batches: list[hashing._Batch]) -> None:
        started.append(len(batches))
        real(self, batches)

    monkeypatch.setattr(Hashing, "_start_process", start)
    found(tmp_path / "tree", groups, 3)
    assert len(started) == (2 if mode == "processes" else 0)


@posix
@pytest.mark.parametrize(
    "script",
    ["exit 1", "cat > /dev/null", "exec head -c 60 /dev/zero", "exec cat /dev/null", "kill -9 $$", "exec sleep 600"],
)
def test_a_process_that_fails_costs_time_and_nothing_else(
    tmp_path: Path, groups: Groups, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends at once, reads all and says nothing, says half an answer, is killed, or never answers."""
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(hashing, "_MANY", 1)
    monkeypatch.setattr(sys, "executable", str(program))
    root = tmp_path / "tree"
    assert found(root, groups, 3) == expected(root, groups)


@pytest.mark.parametrize("executable", ["", None, "no/such/python"])
def test_no_process_is_no_hindrance(
    tmp_path: Path, groups: Groups, executable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An embedded Python has no name, and one in a frozen program another program's."""
    monkeypatch.setattr(hashing, "_MANY", 1)
    monkeypatch.setattr(sys, "executable", executable)
    root = tmp_path / "tree"
    assert found(root, groups, 2) == expected(root, groups)


def test_a_frozen_program_is_not_run_as_if_it_were_python(
    tmp_path: Path, groups: Groups, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hashing, "_MANY", 1)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(Hashing, "_start_process", lambda *_: pytest.fail("a process was started"))
    root = tmp_path / "tree"
    assert found(root, groups, 2) == expected(root, groups)


@posix
@pytest.mark.parametrize("kind", ["absent", "fifo", "link"])
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.usefixtures("mode")
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, groups: Groups, kind: str, workers: int) -> None:
    """The tree changed since it was found: nothing is followed, nothing waited for."""
    path = tmp_path / "tree" / "c" / "05"
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to("06")
    with Hashing(str(tmp_path / "tree"), groups, workers) as running:
        assert len(list(running.results("a"))) == 40
        with pytest.raises(OSError, match="c/05") as caught:
            list(running.results("c"))
    assert kind == "fifo" or caught.value.filename == str(path)


@posix
@pytest.mark.usefixtures("mode")
def test_leaving_early_leaves_no_process_and_no_thread(tmp_path: Path, groups: Groups) -> None:
    def leave(running: Hashing[str]) -> None:
        next(running.results("a"))
        raise KeyboardInterrupt

    running = Hashing(str(tmp_path / "tree"), groups, 3)
    with pytest.raises(KeyboardInterrupt), running:
        leave(running)
    assert all(process.returncode is not None for process in running._processes)
    assert not any(thread.is_alive() for thread in running._threads)
