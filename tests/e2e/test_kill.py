"""A build that is killed leaves the previous output intact, and the next build leaves no litter."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hatch_agentsuite.packing import Form, pack
from hatch_agentsuite.source import Options
from hatch_agentsuite.validation import validate
from tests.hatch.projects import clean_environment, write_suite

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")]

SECONDS = 3.0
MOMENTS = 8


def start(source: Path, target: Path, form: Form) -> subprocess.Popen[bytes]:
    code = "from hatch_agentsuite.cli import main; main()"
    command = [sys.executable, "-c", code, "pack", str(source), "-o", str(target), "--name", "demo", "--workers", "1"]
    return subprocess.Popen(
        [*command, *(["--archive"] if form == "archive" else [])],
        env=clean_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for_work(build: subprocess.Popen[bytes], target: Path) -> None:
    """Wait until the build has begun to write, or is over."""
    while build.poll() is None and not any(target.parent.glob(f".{target.name}.*.tmp/*")):
        time.sleep(0.001)


@pytest.mark.parametrize("form", ["layout", "archive"])
def test_killed_build_leaves_the_older_output(tmp_path: Path, form: Form) -> None:
    """At random moments between the first byte that a build writes and its end, for about three seconds."""
    source = write_suite(tmp_path / "suite", with_tool=True)
    payload = source / "tool-providers" / "eyes" / "1.0.0" / "linux-amd64"
    (payload / "big").write_bytes(random.Random(7).randbytes(4 << 20))
    target = tmp_path / "dist" / "made"
    build = start(source, target, form)
    wait_for_work(build, target)
    begun = time.monotonic()
    assert build.wait(60) == 0
    duration = time.monotonic() - begun
    old = validate(target).digest
    (source / "instructions" / "helper.md").write_text("Help otherwise.\n")
    new = pack(source, tmp_path / "expected", Options(name="demo"), form=form).digest
    assert old != new

    killed = 0
    deadline = time.monotonic() + SECONDS
    for moment in [0.0, *(random.random() for _ in range(MOMENTS))]:
        build = start(source, target, form)
        wait_for_work(build, target)
        time.sleep(duration * moment)
        build.kill()
        killed += build.wait(60) != 0
        report = validate(target)
        assert report.ok, (moment, report.findings)
        assert report.digest in {old, new}, moment
        if time.monotonic() > deadline:
            break
    assert killed, "no build was killed before it ended"

    assert start(source, target, form).wait(60) == 0
    assert validate(target).digest == new
    assert [path.name for path in (tmp_path / "dist").iterdir()] == ["made"], "a killed build's work folder is left"
