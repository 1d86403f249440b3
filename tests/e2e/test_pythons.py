"""Every Python at hand makes the same bytes (specification 4.2; Python's zlib is the one thing that could differ)."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

from hatch_agentsuite.archive.gzip import zlib_is_zlib_ng
from hatch_agentsuite.archive.layer import Member, write_layer
from hatch_agentsuite.content import Entry
from hatch_agentsuite.packing import pack
from hatch_agentsuite.source import Options
from tests.e2e.checkout import ROOT, copy_example
from tests.hatch.projects import run

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(zlib_is_zlib_ng(), reason="this Python's zlib is zlib-ng, and says so"),
]

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
PACKAGES = [str(ROOT), str(ROOT / "schemas"), str(ROOT / "converters")]
WORDS = [f"line {number} of a text that deflate can shorten\n" for number in range(60_000)]

WRITE_LAYER = """
import hashlib, io, sys
from hatch_agentsuite.archive.gzip import zlib_is_zlib_ng
from hatch_agentsuite.archive.layer import Member, write_layer
from hatch_agentsuite.content import Entry
if zlib_is_zlib_ng():
    sys.exit("zlib-ng")
data = sys.stdin.buffer.read()
entry = Entry("text", "file", 0o644, size=len(data), digest="sha256:" + hashlib.sha256(data).hexdigest())
members = [Member(Entry("folder", "directory", 0o755)), Member(entry, data)]
print(write_layer(io.BytesIO(), members, codec=sys.argv[1]).digest)
"""


def python(version: str) -> str:
    """Return the path of another Python that runs, or skip the test."""
    found = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    for command in (str(path) for path in found if path):
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        outcome = run(command, "-c", code, cwd=Path.cwd())
        if outcome.out.strip() == version:
            return command
    pytest.skip(f"Python {version} is not installed")


@pytest.mark.parametrize("codec", ["zlib", "store"])
@pytest.mark.parametrize("version", VERSIONS)
def test_layer_writer(version: str, codec: str) -> None:
    """It needs the standard library alone: `-S` hides everything else."""
    data = "".join(WORDS).encode()
    entry = Entry("text", "file", 0o644, size=len(data), digest=f"sha256:{hashlib.sha256(data).hexdigest()}")
    members = [Member(Entry("folder", "directory", 0o755)), Member(entry, data)]
    expected = write_layer(io.BytesIO(), members, codec=codec).digest  # type: ignore[arg-type]
    done = subprocess.run(
        [python(version), "-S", "-c", WRITE_LAYER, codec],
        input=data,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PACKAGES)},
        timeout=60,
        check=False,
    )
    if done.stderr == b"zlib-ng\n":
        pytest.skip(f"the zlib of Python {version} is zlib-ng")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().strip() == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_a_whole_suite(version: str, tmp_path: Path) -> None:
    """With this environment's packages, as far as the other Python can load them."""
    command = python(version)
    path = os.pathsep.join([*PACKAGES, *site.getsitepackages()])
    needed = "import click, jsonschema_rs, rfc8785, yaml"
    if run(command, "-c", needed, cwd=tmp_path, PYTHONPATH=path).status:
        pytest.skip(f"a compiled package of Python {sys.version_info[:2]} does not load in {version}")
    project = copy_example("clock", tmp_path)
    expected = pack(project / "suite", tmp_path / "expected", Options(name="clock")).digest
    code = "from hatch_agentsuite.cli import main; main()"
    arguments = ("pack", project / "suite", "--name", "clock", "-o", tmp_path / "made")
    outcome = run(command, "-c", code, *arguments, cwd=tmp_path, PYTHONPATH=path)
    assert outcome.status == 0, outcome.err
    assert outcome.out.split()[0] == expected
