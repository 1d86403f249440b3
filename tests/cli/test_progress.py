"""Long work shows its progress on a terminal, and nothing of it goes anywhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.source import trees

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

COMMAND = [sys.executable, "-m", "hatch_agentsuite", "pack"]


def test_a_terminal_sees_the_steps(tmp_path: Path) -> None:
    root = trees.write_tree(tmp_path / "suite", trees.minimal())
    master, slave = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, str(root), "-o", str(tmp_path / "out")],
        stderr=slave,
        stdout=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 65_536):
            shown += piece
    except OSError:  # how Linux tells that the other end is closed
        pass
    output, _ = process.communicate(timeout=60)
    os.close(master)
    assert process.returncode == 0
    assert b"validating" in shown
    assert output.startswith(b"sha256:")
    assert b"\x1b" not in output


def test_a_pipe_sees_no_bar(tmp_path: Path) -> None:
    root = trees.write_tree(tmp_path / "suite", trees.minimal())
    done = subprocess.run([*COMMAND, str(root), "-o", str(tmp_path / "out")], capture_output=True, check=True)
    assert b"\x1b" not in done.stderr
    assert b"validating" not in done.stderr
