"""A built image runs: base, harness and `examples/clock`, unpacked by umoci, in a chroot, as the declared user.

The base is made of the machine's own busybox and the libraries that it needs; the harness is a shell script that speaks
MCP to the tool on standard input and output (specification 12, 12.1, 15.3).
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.findings import RefusedError
from hatch_agentsuite.packing import pack
from hatch_agentsuite.sandbox.building import build_image
from hatch_agentsuite.sandbox.validation import validate_image
from hatch_agentsuite.source import Options
from tests.sandbox.kit import Layout

pytestmark = pytest.mark.e2e

EXAMPLE = Path(__file__).parents[2] / "examples/clock"

ENTER = """
import ctypes, json, os, sys
root, settings = sys.argv[1], json.loads(sys.argv[2])
uid, gid = map(int, settings["User"].split(":"))
libc = ctypes.CDLL(None, use_errno=True)
if os.geteuid() != 0:  # a user namespace, in which this user is the image's
    maps = {"setgroups": "deny", "uid_map": f"{uid} {os.geteuid()} 1", "gid_map": f"{gid} {os.getegid()} 1"}
    if libc.unshare(0x10000000) != 0:
        sys.exit(77)
    for name, text in maps.items():
        with open(f"/proc/self/{name}", "w") as stream:
            stream.write(text)
    os.chroot(root)
else:
    os.chroot(root)
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
os.chdir(settings["WorkingDir"])
assert libc.prctl(38, 1, 0, 0, 0) == 0, "no_new_privs"
words = [*settings.get("Entrypoint", []), *settings.get("Cmd", [])]
os.execve(words[0], words, dict(item.split("=", 1) for item in settings["Env"]))
"""
FORBIDDEN = 77


@pytest.fixture
def project(tmp_path: Path, require_tool: Callable[[str], str]) -> Path:
    """The example with images that it has made of this machine's busybox, packed by the commands of its README."""
    if platform.machine() != "x86_64" or not sys.platform.startswith("linux"):
        pytest.skip("the base is made of this machine's own programs, for linux/amd64")
    require_tool("busybox")
    copy = Path(shutil.copytree(EXAMPLE, tmp_path / "clock", ignore=shutil.ignore_patterns("dist", "images")))
    subprocess.run([sys.executable, copy / "sandbox/make_images.py"], check=True)
    return packed(copy)


def packed(project: Path) -> Path:
    options = Options(name="clock", platforms=("linux/amd64",), provider_images=("clock",))
    pack(project / "suite", project / "dist/clock.agentsuite", options)
    return project


def run(image: Path, name: str, umoci: str, stdin: str = "") -> list[Any]:
    """Unpack an image and run its process; return the lines that it writes, JSON where they are."""
    bundle = image.with_suffix(".bundle")
    rootless = [] if os.geteuid() == 0 else ["--rootless"]
    subprocess.run([umoci, "unpack", *rootless, "--image", f"{image}:{name}", bundle], check=True, capture_output=True)
    settings = json.dumps(Layout(image).settings)
    done = subprocess.run(
        [sys.executable, "-c", ENTER, bundle / "rootfs", settings],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == FORBIDDEN:
        pytest.skip("a chroot needs root or a user namespace, and this machine allows neither")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) if line.startswith("{") else line for line in done.stdout.splitlines()]


def test_agent_image_runs(project: Path, require_tool: Callable[[str], str]) -> None:
    """The harness calls the tool and gets the time, as a user that is not root."""
    suite, image = project / "dist/clock.agentsuite", project / "timekeeper.image"
    build_image(suite, image, agent="timekeeper", platform="linux/amd64", images=[project / "images"])
    assert validate_image(image, suite=suite).ok
    initialized, called, who = run(image, "timekeeper", require_tool("umoci"))
    assert initialized["result"]["protocolVersion"] == "2025-11-25"
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", called["result"]["structuredContent"]["time"])
    assert who == "uid 65532"


def test_tool_provider_image_runs(project: Path, require_tool: Callable[[str], str]) -> None:
    """12.1: the variant's entrypoint is the image's process, and speaks MCP on standard input and output."""
    suite, image = project / "dist/clock.agentsuite", project / "clock.image"
    build_image(suite, image, tool_provider="clock", platform="linux/amd64", images=[project / "images"])
    call = '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "current_time"}}\n'
    [answer] = run(image, "clock", require_tool("umoci"), call)
    assert (answer["id"], answer["result"]["structuredContent"]["format"]) == (7, "rfc3339")


def test_image_without_what_the_tool_needs_is_not_built(project: Path) -> None:
    """15.2, ASI-ABI-001: what would not run is refused before anybody runs it."""
    script = project / "sandbox/make_images.py"
    script.write_text(script.read_text().replace('    yield "usr/bin/awk", "/bin/busybox"\n', ""))
    subprocess.run([sys.executable, script], check=True)
    suite = packed(project) / "dist/clock.agentsuite"
    with pytest.raises(RefusedError) as caught:
        build_image(suite, project / "x", tool_provider="clock", images=[project / "images"])
    assert {finding.requirement for finding in caught.value.findings} == {"ASI-ABI-001"}
    assert "/usr/bin/awk" in str(caught.value)
