"""Regular files (section 6.2): opened as such, read in bounded pieces, hashed here or by a process of their own."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatch_agentsuite import regular
from hatch_agentsuite.regular import ANSWER, answer, hash_file, open_regular, read_answer, read_regular, request, serve

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs, modes and links")


def written(root: Path, name: str, data: bytes = b"x") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@posix
@pytest.mark.parametrize("kind", ["symlink", "directory", "fifo", "absent"])
def test_only_a_regular_file_is_opened(kind: str, tmp_path: Path) -> None:
    """Never through a link, and never waiting for a writer."""
    path = tmp_path / "x"
    if kind == "symlink":
        path.symlink_to(written(tmp_path, "target"))
    elif kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    with pytest.raises(OSError, match="x"), open_regular(path):
        pass
    with pytest.raises(OSError, match="x"):
        next(read_regular(path))


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, regular.CHUNK - 1, regular.CHUNK, regular.CHUNK + 1])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_no_more_is_read_than_asked_for(size: int, more: int, tmp_path: Path) -> None:
    """5.2: bounded pieces; a file that grows while it is read cannot keep a reader busy."""
    data = b"0123456789abcdef" * (size // 16 + 1)
    path = written(tmp_path, "f", data[:size])
    pieces = list(read_regular(path, max(size + more, 0)))
    assert b"".join(pieces) == data[: min(size, max(size + more, 0))]
    assert all(len(piece) <= regular.CHUNK for piece in pieces)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files by /proc")  # noqa: PTH112 -- at import
@pytest.mark.parametrize("pieces", [0, 1, 2])
def test_a_file_is_closed_however_much_of_it_was_read(pieces: int, tmp_path: Path) -> None:
    path = written(tmp_path, "f", bytes(2 * regular.CHUNK))
    before = len(os.listdir("/proc/self/fd"))
    reader = read_regular(path)
    for _ in range(pieces):
        next(reader)
    del reader
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("size", [0, 1, regular.CHUNK - 1, regular.CHUNK, regular.CHUNK + 1])
def test_a_file_is_hashed_over_its_exact_bytes(size: int, tmp_path: Path) -> None:
    """6.2."""
    data = b"\r\n\0z" * (size // 4 + 1)
    path = written(tmp_path, "f", data[:size])
    assert hash_file(path) == (size, f"sha256:{hashlib.sha256(data[:size]).hexdigest()}")


@posix
def test_a_file_that_is_shorter_than_it_was_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short read is the last one only where it ends at the size the file had when it was opened."""
    path = written(tmp_path, "f", b"0123456789")
    real = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, size: real(descriptor, min(size, 3)))
    assert b"".join(read_regular(path)) == b"0123456789"
    assert hash_file(path)[0] == 10


# -- hashed for another process


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_answers_say_what_hash_file_says(contents: list[bytes]) -> None:
    """6.2, whoever asks."""
    answers = [len(data).to_bytes(8, "little") + hashlib.sha256(data).digest() for data in contents]
    found = [read_answer(data) for data in answers]
    assert found == [(len(data), f"sha256:{hashlib.sha256(data).hexdigest()}") for data in contents]


@posix
def test_a_program_answers_in_the_order_of_the_request(tmp_path: Path) -> None:
    names = ["b", "a/c", "none", "a", "link", "\u00e9 \n", "b"]
    for name in ("b", "a/c", "\u00e9 \n"):
        written(tmp_path, name, name.encode() * 9)
    written(tmp_path, "empty", b"")
    (tmp_path / "link").symlink_to("b")
    command = [sys.executable, "-I", "-S", regular.__file__]
    run = subprocess.run(command, cwd=tmp_path, input=request([*names, "empty"]), capture_output=True, check=True)
    assert run.stderr == b""
    found = [read_answer(run.stdout[start : start + ANSWER]) for start in range(0, len(run.stdout), ANSWER)]
    readable = {"b", "a/c", "\u00e9 \n", "empty"}
    assert found == [hash_file(tmp_path / name) if name in readable else None for name in [*names, "empty"]]


def test_nothing_is_asked_and_nothing_answered() -> None:
    answers = io.BytesIO()
    serve(io.BytesIO(request([])), answers)
    assert answers.getvalue() == b""


def test_what_cannot_be_read_has_an_answer_too(tmp_path: Path) -> None:
    assert len(answer(str(tmp_path / "none"))) == ANSWER
    assert read_answer(answer(str(tmp_path / "none"))) is None
