"""A builder for the tests of staging, in a process of its own when it is to be killed.

    python staging_builder.py TARGET WAY GENERATION COUNT STEP

builds the generations GENERATION-0, GENERATION-1, ... of TARGET, COUNT of them, and is killed at STEP (0: at none).
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatch_agentsuite import staging

if TYPE_CHECKING:
    from collections.abc import Callable

    Patch = Callable[[object, str, Any], None]

FILES = ("index.json", "oci-layout", "blobs/sha256/one", "blobs/sha256/two")
WAYS = ("exchange", "two steps", "in place")
STEPS = (
    (Path, "mkdir"),
    (Path, "rename"),
    (Path, "replace"),
    (Path, "touch"),
    (staging, "_exchange"),
    (os, "unlink"),
    (os, "rmdir"),
)


def write(path: Path, generation: str) -> None:
    """Make a directory of which every file names its generation, or such a file if path ends in .tar."""
    if path.suffix == ".tar":
        path.write_text(generation * 1000)
        return
    path.mkdir()
    for name in FILES:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(generation)


def build(target: Path, generation: str) -> None:
    with staging.staged(target) as new:
        write(new, generation)


def take_way(way: str, target: Path, patch: Patch) -> None:
    """Let only this way of replacing a directory work."""
    if way == "exchange":
        return
    patch(staging, "_exchange", lambda new, old: False)
    if way == "in place":
        rename = Path.rename

        def refuse_target(path: Path, to: Path) -> Path:
            if path == target and path.is_dir():
                raise OSError(errno.EXDEV, "Invalid cross-device link", str(path))
            return rename(path, to)

        patch(Path, "rename", refuse_target)


def strike(step: int, blow: Callable[[], None], patch: Patch) -> None:
    """Deal the blow at a step: after one of the calls that change the file system, counted from 1."""
    count = 0

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            result = function(*arguments, **options)
            count += 1
            if count == step:
                blow()
            return result

        return wrapped

    for owner, name in STEPS:
        patch(owner, name, wrap(getattr(owner, name)))


def _main(target: Path, way: str, generation: str, count: int, step: int) -> None:
    take_way(way, target, setattr)
    strike(step, lambda: os.kill(os.getpid(), signal.SIGKILL), setattr)
    print("ready", flush=True)
    for number in range(count):
        build(target, f"{generation}-{number}")


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
