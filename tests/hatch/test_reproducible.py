"""Equal sources give equal bytes, whatever the machine (specification 4.2: no time, no host), and nothing is asked."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.hatch.projects import Outcome, pyproject, run, run_hatchling, snapshot, write_suite

LAYOUT = "demo-0.1.0.agentsuite"

GUARDED = """
import runpy, sys
def refuse(event, arguments):
    if event.startswith(("socket.", "subprocess.", "os.exec", "os.system", "os.posix_spawn", "os.fork")):
        sys.stderr.write(f"REFUSED {event}\\n")
        raise RuntimeError(event)
sys.addaudithook(refuse)
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def write(root: Path) -> Path:
    write_suite(root / "suite", with_tool=True)
    payload = root / "suite" / "tool-providers" / "eyes" / "1.0.0" / "linux-amd64"
    (payload / "empty").mkdir()
    for name in ("z", "Y", "ä", "a-b", "a"):  # order by bytes is nobody's locale
        (payload / f"{name}.d").mkdir()
        (payload / f"{name}.d" / "data").write_bytes(name.encode() * 1000)
    (payload / "link").symlink_to("a.d/data")
    (root / "pyproject.toml").write_text(pyproject())
    return root


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    project = write(tmp_path_factory.mktemp("first"))
    outcome = run_hatchling(project, "-t", "agentsuite:layout,archive")
    assert outcome.status == 0, outcome.err
    return snapshot(project / "dist")


def test_places_are_not_in_the_bytes(expected: dict[str, bytes], tmp_path: Path) -> None:
    for data in expected.values():
        assert os.fsencode(tmp_path.parent.parent) not in data


@pytest.mark.parametrize(
    "changes",
    [
        {"TZ": "Pacific/Kiritimati", "SOURCE_DATE_EPOCH": "1"},
        {"LC_ALL": "C"},
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "2", "PYTHONOPTIMIZE": "2"},
        {"SOURCE_DATE_EPOCH": "yesterday"},
    ],
    ids=",".join,
)
def test_environment_does_not_matter(expected: dict[str, bytes], tmp_path: Path, changes: dict[str, str]) -> None:
    """A SOURCE_DATE_EPOCH that is no number is nobody's traceback, for no time is written."""
    project = write(tmp_path)
    outcome = run_hatchling(project, "-t", "agentsuite:layout,archive", **changes)
    assert outcome.status == 0, outcome.err
    assert snapshot(project / "dist") == expected


@pytest.mark.skipif(sys.platform == "win32", reason="umask and modes are POSIX")
def test_umask_does_not_matter_nor_stays_in_the_output(expected: dict[str, bytes], tmp_path: Path) -> None:
    """Of the source's modes only the owner's execute bit counts."""
    code = f"import os, runpy, sys; os.umask(0o077); sys.argv = {['hatchling', 'build', '-t', 'agentsuite']!r}\n"
    code += "runpy.run_module('hatchling', run_name='__main__', alter_sys=True)"
    project = write(tmp_path / "a" / "deeper" / "place")
    for path in project.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o700 if path.stat().st_mode & 0o100 else 0o600)
            os.utime(path, (1, 1))
    outcome = run(sys.executable, "-c", code, cwd=project)
    assert outcome.status == 0, outcome.err
    made = snapshot(project / "dist")
    assert made == {name: data for name, data in expected.items() if name.startswith(f"{LAYOUT}/")}
    modes = {path.stat().st_mode & 0o777 for path in (project / "dist" / LAYOUT).rglob("*") if path.is_file()}
    assert modes == {0o644}
    folders = [project / "dist" / LAYOUT, *(path for path in (project / "dist" / LAYOUT).rglob("*") if path.is_dir())]
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o755}


def guarded(project: Path, *command: str) -> Outcome:
    return run(sys.executable, "-c", GUARDED, *command, cwd=project)


def test_the_guard_works(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text("import socket\nsocket.create_connection(('127.0.0.1', 9))\n")
    outcome = guarded(tmp_path, "caller")
    assert outcome.status != 0
    assert "REFUSED socket." in outcome.err


def test_build_opens_no_socket_and_starts_no_process(expected: dict[str, bytes], tmp_path: Path) -> None:
    project = write(tmp_path)
    outcome = guarded(project, "hatchling", "build", "-t", "agentsuite:layout,archive")
    assert outcome.status == 0, outcome.err
    assert "REFUSED" not in outcome.err
    assert snapshot(project / "dist") == expected


def test_validation_opens_no_socket_and_starts_no_process(expected: dict[str, bytes], tmp_path: Path) -> None:
    """15.1: validation is offline; the validator executes nothing."""
    for name, data in expected.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "command.py").write_text("from hatch_agentsuite.cli import main\nmain()\n")
    outcome = guarded(tmp_path, "command", "validate", LAYOUT, f"{LAYOUT}.tar")
    assert outcome.status == 0, outcome.err
    assert "REFUSED" not in outcome.err
    assert outcome.out.count(": valid") == 2
