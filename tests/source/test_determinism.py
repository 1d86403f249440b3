"""Equal input gives equal bytes, whatever the machine (design, "Authoring" and "Identity and bytes")."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentsuite_schemas import _engines
from hatch_agentsuite.source import hashing
from tests.source import trees
from tests.source.trees import RICH, Suite, packed, write_tree

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
from pathlib import Path
from hatch_agentsuite.packing import pack
from hatch_agentsuite.source import Options
options = Options(default_name="demo", provider_images=("clock@2.0.0",))
print(pack(Path(sys.argv[1]), Path(sys.argv[2]), options).digest)
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    return packed(write_tree(tmp_path_factory.mktemp("rich") / "suite", trees.rich()), RICH)


@contextmanager
def umask(mask: int) -> Iterator[None]:
    old = os.umask(mask)
    try:
        yield
    finally:
        os.umask(old)


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_umask(tmp_path: Path, suite: Suite, mask: int) -> None:
    with umask(mask):
        root = write_tree(tmp_path / "suite", trees.rich())
        assert packed(root, RICH).digests == suite.digests


def test_times(tmp_path: Path, suite: Suite) -> None:
    root = write_tree(tmp_path / "suite", trees.rich())
    for number, path in enumerate(sorted(root.rglob("*"))):
        os.utime(path, (number, number), follow_symlinks=False)
    assert packed(root, RICH).digests == suite.digests


def test_order_of_creation(tmp_path: Path, suite: Suite) -> None:
    files = dict(reversed(trees.rich().items()))
    assert packed(write_tree(tmp_path / "suite", files), RICH).digests == suite.digests


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.parametrize("codec", ["zlib", "store"])
@pytest.mark.parametrize("many", [1, 4_000])
def test_workers(tmp_path: Path, workers: int, codec: str, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks of 1 MiB: the bytes depend neither on how many are compressed side by side nor on who hashes."""
    monkeypatch.setattr(hashing, "_MANY", many)
    files = trees.with_clock() | {f"{trees.CLOCK}/linux-amd64/data": bytes(range(256)) * (12 << 10)}
    root = write_tree(tmp_path / "suite", files)
    one = packed(root, workers=1, codec=codec, target=tmp_path / "one")
    assert packed(root, workers=workers, codec=codec, target=tmp_path / "many").digests == one.digests


def test_codecs_give_the_same_content(tmp_path: Path, suite: Suite) -> None:
    root = write_tree(tmp_path / "suite", trees.rich())
    stored = packed(root, RICH, codec="store")
    assert stored.layer != suite.layer
    assert stored.packed.report.content_digest == suite.packed.report.content_digest
    assert stored.tree.entries == suite.tree.entries


def test_without_the_extra_fast(tmp_path: Path, suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("isal", "zlib_ng", "jsonschema_rs"):
        monkeypatch.setitem(sys.modules, name, None)
    _engines.fast.cache_clear()
    try:
        assert _engines.fast("agentsuite/agent", "packed") is None
        assert packed(write_tree(tmp_path / "suite", trees.rich()), RICH).digests == suite.digests
    finally:
        _engines.fast.cache_clear()


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"PYTHONHASHSEED": "1", "TZ": "Asia/Kolkata", "LC_ALL": "C"}, "a"),
        ({"PYTHONHASHSEED": "2", "TZ": "UTC", "LC_ALL": "tr_TR.UTF-8", "SOURCE_DATE_EPOCH": "1"}, "deep/é b/suite"),
        ({"PYTHONHASHSEED": "3", "PYTHONUTF8": "0", "LC_ALL": "POSIX"}, "c/d"),
    ],
)
def test_process(tmp_path: Path, suite: Suite, environment: dict[str, str], place: str) -> None:
    """Hash seed, time zone, locale, working directory and path of the checkout."""
    root = write_tree(tmp_path / "elsewhere", trees.rich())
    target = tmp_path / place
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(root, target)
    paths = os.pathsep.join(str(ROOT / name) for name in (".", "converters", "schemas"))
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, target.name, "out"],
        cwd=target.parent,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == suite.packed.digest
