"""`agentsuite pack`: the build target without Hatch."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.validation import validate
from tests.cli.commands import STRICT_OUTPUT, agentsuite, is_harmless
from tests.cli.conftest import Command
from tests.hatch.projects import build_profile, run_hatchling, snapshot, write_suite, write_yaml


def name_of(path: str | Path) -> str:
    report = validate(path)
    assert report.ok, report.findings
    assert report.summary
    return report.summary.name


def manifest_of(layout: str | Path) -> Any:
    [selected] = json.loads((Path(layout) / "index.json").read_bytes())["manifests"]
    return json.loads((Path(layout) / "blobs/sha256" / selected["digest"][7:]).read_bytes())


def test_defaults(cli: Command, suite: Path) -> None:
    """The folder `suite` here, named after the project that holds it."""
    outcome = cli("pack")
    target = Path("dist/work.agentsuite")
    assert outcome.status == 0
    assert outcome.err == ""
    assert outcome.out == f"{validate(target).digest}  {target}\n"
    assert name_of(target) == "work"


@pytest.mark.parametrize(
    ("arguments", "target", "name"),
    [
        (["--archive"], "dist/work.agentsuite.tar", "work"),
        (["--name", "other"], "dist/other.agentsuite", "other"),
        (["--name", "other-"], "dist/other-.agentsuite", "other-"),
        (["-o", "a/b/c"], "a/b/c", "work"),
        (["--output", "x.tar", "--archive"], "x.tar", "work"),
        (["copy"], "dist/copy.agentsuite", "copy"),
        (["copy/"], "dist/copy.agentsuite", "copy"),
        (["../work/copy"], "dist/copy.agentsuite", "copy"),
    ],
)
def test_target_and_name(cli: Command, suite: Path, arguments: list[str], target: str, name: str) -> None:
    shutil.copytree(suite, "copy")
    outcome = cli("pack", *arguments)
    assert outcome.status == 0, outcome.err
    assert outcome.out.endswith(f"  {target}\n")
    assert name_of(target) == name


def test_the_same_bytes_as_hatch(cli: Command, suite: Path) -> None:
    """One suite, two shells."""
    Path("pyproject.toml").write_text('[project]\nname = "work"\nversion = "1.0"\n')
    assert cli("pack").status == 0
    assert run_hatchling(Path.cwd(), "-t", "agentsuite").status == 0
    assert snapshot(Path("dist/work.agentsuite")) == snapshot(Path("dist/work-1.0.agentsuite"))


def test_platforms(cli: Command) -> None:
    write_suite(Path("suite"), architectures=("amd64", "arm64"))
    for arguments, expected in (
        ((), ["linux/amd64", "linux/arm64"]),
        (("--platform", "linux/arm64"), ["linux/arm64"]),
        (("--platform", "linux/arm64", "--platform", "linux/amd64"), ["linux/amd64", "linux/arm64"]),
    ):
        assert cli("pack", "-o", "out", *arguments).status == 0
        summary = validate("out").summary
        assert summary
        assert summary.agent_platforms == {"helper": tuple(expected)}


def test_build_profile(cli: Command, suite: Path) -> None:
    write_yaml(suite / "build-profiles" / "release.yaml", build_profile("amd64"))
    outcome = cli("pack", "-o", "out")
    assert outcome.status == 1
    assert "there are 2 build profiles" in outcome.err
    assert cli("pack", "-o", "out", "--build-profile", "release").status == 0
    summary = validate("out").summary
    assert summary
    assert [selection["buildProfile"] for selection in summary.composition_selections] == ["release"]


@pytest.mark.parametrize("wanted", ["eyes", "eyes@1.0.0"])
def test_provider_images(cli: Command, suite: Path, wanted: str) -> None:
    assert cli("pack", "-o", "out", "--provider-image", wanted).status == 0
    summary = validate("out").summary
    assert summary
    assert summary.tool_provider_compositions == 1


@pytest.mark.parametrize("wanted", ["ears", "eyes@2.0.0", "eyes@", "@1.0.0", "a@b@c"])
def test_unknown_provider_image(cli: Command, suite: Path, wanted: str) -> None:
    outcome = cli("pack", "-o", "out", "--provider-image", wanted)
    assert outcome.status == 1
    assert f"`{wanted}`" in outcome.err
    assert not Path("out").exists()


def test_annotations_enter_the_manifest(cli: Command, suite: Path) -> None:
    assert cli("pack", "-o", "out", "--annotation", "a.b=c=d", "--annotation", "empty=").status == 0
    assert manifest_of("out")["annotations"] == {"a.b": "c=d", "empty": ""}


def test_tag_enters_the_index_alone(cli: Command, suite: Path) -> None:
    """A tag does not change what the digest names."""
    assert cli("pack", "-o", "one").status == 0
    assert cli("pack", "-o", "two", "--tag", "v1.0_x").status == 0
    first, second = snapshot(Path("one")), snapshot(Path("two"))
    assert {name for name in first if first[name] != second.get(name)} == {"index.json"}
    [selected] = json.loads(second["index.json"])["manifests"]
    assert selected["annotations"] == {"org.opencontainers.image.ref.name": "v1.0_x"}


def test_codecs_hold_one_content(cli: Command, suite: Path) -> None:
    found = set()
    for codec in ("zlib", "store"):
        assert cli("pack", "-o", codec, "--codec", codec).status == 0
        found.add(validate(codec).content_digest)
    assert len(found) == 1
    assert snapshot(Path("zlib")) != snapshot(Path("store"))


@pytest.mark.parametrize("workers", [1, 2, 64])
def test_workers_do_not_change_the_bytes(cli: Command, suite: Path, workers: int) -> None:
    (suite / "tool-providers/eyes/1.0.0/linux-amd64/big").write_bytes(os.urandom(1 << 20) * 3)
    assert cli("pack", "-o", "one").status == 0
    assert cli("pack", "-o", "two", "--workers", str(workers)).status == 0
    assert snapshot(Path("one")) == snapshot(Path("two"))


def test_strict_turns_unreached_files_into_errors(cli: Command, suite: Path) -> None:
    (suite / "stray.txt").write_text("x")
    outcome = cli("pack", "-o", "out")
    assert outcome.status == 0
    assert outcome.err.startswith("warning: stray.txt: nothing refers to it, so it is not packed")
    outcome = cli("pack", "-o", "strict", "--strict")
    assert outcome.status == 1
    assert outcome.err.startswith("error: stray.txt: ")
    assert not Path("strict").exists()


def test_verbose_names_the_origin_of_every_path(cli: Command, suite: Path) -> None:
    (suite / "tool-providers/eyes/1.0.0/linux-amd64/evil\x1b[31m").write_text("")
    outcome = cli("pack", "-o", "out", "-v")
    assert outcome.status == 0
    assert "agents/helper.json <- suite/agents/helper.yaml" in outcome.lines
    assert "agentsuite.json <- computed" in outcome.lines
    assert is_harmless(outcome.err)


# --- what is refused


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "the source folder `nowhere` does not exist"),
        (["file"], "the source folder `file` is not a directory"),
        (["empty"], "the suite has no build profile"),
        (["suite", "--build-profile", "ghost"], "there is no build profile `ghost`"),
        (["suite", "--platform", "linux/arm64"], "linux/arm64"),
        (["suite", "-o", "file/below"], "file"),
        (["suite", "-o", "/proc/none/x"], "/proc/none"),
    ],
)
def test_failure_is_status_1_with_a_message(cli: Command, suite: Path, arguments: list[str], said: str) -> None:
    Path("file").write_text("x")
    Path("empty").mkdir()
    outcome = cli("pack", *arguments)
    assert outcome.status == 1
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert said in outcome.err
    assert sorted(path.name for path in Path().iterdir()) == ["empty", "file", "suite"]


@pytest.mark.parametrize("output", ["suite", ".", "../work", "mine", "mine/..", "link"])
@pytest.mark.parametrize("archive", [False, True])
def test_a_folder_of_the_users_is_never_replaced(cli: Command, suite: Path, output: str, archive: bool) -> None:
    """`-o dist` or `-o suite` is a slip, not a wish to lose the folder."""
    Path("mine").mkdir()
    Path("mine/work.txt").write_text("x")
    Path("link").symlink_to("mine")
    before = snapshot(Path())
    outcome = cli("pack", "suite", "-o", output, *(["--archive"] if archive else []))
    assert outcome.status == 1
    assert outcome.err.startswith("error: ")
    assert snapshot(Path()) == before
    assert Path("link").is_symlink()


def test_an_older_output_and_an_empty_folder_are_replaced(cli: Command, suite: Path) -> None:
    Path("out").mkdir()
    assert cli("pack", "-o", "out").status == 0
    first = snapshot(Path("out"))
    (suite / "instructions" / "helper.md").write_text("Help otherwise.\n")
    assert cli("pack", "-o", "out").status == 0
    assert snapshot(Path("out")) != first
    assert validate("out").ok


def test_failure_leaves_the_older_output(cli: Command, layout: Path, suite: Path) -> None:
    before = snapshot(layout)
    (suite / "instructions" / "helper.md").unlink()
    assert cli("pack", "-o", layout).status == 1
    assert snapshot(layout) == before


def test_names_that_cannot_be_encoded(suite: Path) -> None:
    """No traceback, whatever the names: a terminal gets escapes."""
    output = os.fsdecode(b"out-\xff")
    outcome = agentsuite("pack", "-o", output, **STRICT_OUTPUT)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.endswith("  out-\\udcff\n")
    Path(os.fsdecode(b"suite/x-\xff")).write_text("")
    outcome = agentsuite("pack", "-v", **STRICT_OUTPUT)
    assert outcome.status == 1
    assert outcome.err.startswith("error: x-\\udcff: the path is not valid UTF-8")
    assert "Traceback" not in outcome.err


def test_progress_on_a_terminal_only(suite: Path) -> None:
    """A bar on a terminal, and it stays out of standard output."""
    pty = pytest.importorskip("pty")
    import subprocess
    import sys

    (suite / "tool-providers/eyes/1.0.0/linux-amd64/big").write_bytes(bytes(1 << 22))
    controller, terminal = pty.openpty()
    code = "from hatch_agentsuite.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "pack", "-o", "out"],
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        timeout=60,
        check=True,
    )
    os.close(terminal)
    drawn = b""
    while True:
        try:
            piece = os.read(controller, 1 << 16)
        except OSError:  # how Linux ends a terminal
            break
        if not piece:
            break
        drawn += piece
    os.close(controller)
    assert b"packing" in drawn
    assert b"Traceback" not in drawn
    assert done.stdout.decode() == f"{validate('out').digest}  out\n"
