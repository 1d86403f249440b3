"""``agentsuite image build`` and ``agentsuite image validate``: options, exit status, output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from hatch_agentsuite.cli import main
from tests.cli.test_startup import HEAVY, loaded_by
from tests.hatch.projects import Outcome
from tests.sandbox.kit import File, World, blob_path
from tests.sandbox.tampering import Tampered

Command = Callable[..., Outcome]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return World(tmp_path, "amd64", "arm64").write()


@pytest.fixture
def image() -> Command:
    def run(*arguments: str | Path) -> Outcome:
        words = ["image", *map(str, arguments)]
        result = CliRunner().invoke(main, words, catch_exceptions=False)
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


BUILD = ("build", "demo.agentsuite", "--images", "images", "-o", "out")


def test_build_prints_the_digest_and_validate_agrees(world: World, image: Command) -> None:
    built = image(*BUILD, "--agent", "writer", "--platform", "linux/amd64")
    assert (built.status, built.err) == (0, "")
    digest, where = built.out.split()
    assert where == "out"
    judged = image("validate", "out", "--suite", "demo.agentsuite")
    assert judged.status == 0
    assert judged.out.splitlines() == ["out: valid", f"  digest   {digest}", f"  linux/amd64  agent writer  {digest}"]


def test_build_of_all_platforms_prints_each(world: World, image: Command) -> None:
    built = image(*BUILD, "--tool-provider", "clock@1.0.0")
    assert [line.split()[1] for line in built.out.splitlines()] == ["out", "linux/amd64", "linux/arm64"]
    report = json.loads(image("validate", "out", "--format", "json").out)
    assert [item["kind"] for item in report["images"]] == ["toolProvider"] * 2
    assert report["digest"] == built.out.split()[0]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--agent", "writer", "--tool-provider", "clock"),
        ("--agent", "writer", "--platform", "linux/riscv64"),
        ("--agent", "writer", "--tag", "no spaces"),
        ("--agent", "writer", "--workers", "0"),
        ("--agent", "writer", "--codec", "lzma"),
    ],
)
def test_wrong_usage(world: World, image: Command, arguments: tuple[str, ...]) -> None:
    outcome = image(*BUILD, *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert not Path("out").exists()


@pytest.mark.parametrize("missing", ["--images", "-o"])
def test_required_options(world: World, image: Command, missing: str) -> None:
    words = list(BUILD)
    del words[words.index(missing) : words.index(missing) + 2]
    assert image(*words, "--agent", "writer").status == 2


def test_build_that_is_refused(world: World, image: Command) -> None:
    """Exit status 1, every finding, nothing written, an older output as it was."""
    assert image(*BUILD, "--agent", "writer").status == 0
    before = Path("out/index.json").read_bytes()
    for found in world.bases.values():
        blob_path(world.images, found.pin("")["image"]["digest"]).unlink()
    outcome = image(*BUILD, "--agent", "writer")
    assert (outcome.status, outcome.out) == (1, "")
    assert len(outcome.err.splitlines()) == 2
    assert "[ASI-SRC-001]" in outcome.err
    assert Path("out/index.json").read_bytes() == before


def test_output_that_is_somebody_elses(world: World, image: Command) -> None:
    Path("out").mkdir()
    Path("out/notes").write_text("kept")
    outcome = image(*BUILD, "--agent", "writer")
    assert (outcome.status, "is not replaced" in outcome.err) == (1, True)


def test_validate_of_a_refused_image(world: World, image: Command) -> None:
    image(*BUILD, "--agent", "writer", "--platform", "linux/amd64")
    copy = Tampered(Path("out"))
    copy.settings["User"] = "0"
    copy.write()
    outcome = image("validate", "out")
    assert outcome.status == 1
    assert "ASI-RUN-001 Running" in outcome.out
    assert outcome.out.splitlines()[-1] == "  1 error"
    report = json.loads(image("validate", "out", "--format", "json").out)
    assert [item["requirement"] for item in report["findings"]] == ["ASI-RUN-001"]


def test_validate_with_a_suite_that_is_none(world: World, image: Command) -> None:
    image(*BUILD, "--agent", "writer", "--platform", "linux/amd64")
    outcome = image("validate", "out", "--suite", "images")
    assert (outcome.status, "[AS-OCI-001]" in outcome.err) == (1, True)


def test_names_of_an_image_garble_no_terminal(world: World, image: Command) -> None:
    image(*BUILD, "--agent", "writer", "--platform", "linux/amd64")
    copy = Tampered(Path("out"))
    copy.put("/opt/evil\x1b]0;owned\x07\u202e", b"")
    copy.settings["User"] = "\x1b[31m"
    copy.write()
    outcome = image("validate", "out")
    assert all(character.isprintable() or character == "\n" for character in outcome.out)
    assert "evil\\x1b" in outcome.out


def test_warnings_are_said_and_do_not_refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, image: Command) -> None:
    monkeypatch.chdir(tmp_path)
    world = World(tmp_path)
    world.base.layers[0].append(File("usr/bin/su", b"", 0o4755))
    world.write()
    outcome = image(*BUILD, "--agent", "writer")
    assert (outcome.status, outcome.err.startswith("warning: /usr/bin/su")) == (0, True)


@pytest.mark.parametrize("command", ["build", "validate"])
def test_start_loads_nothing_heavy(command: str) -> None:
    assert loaded_by("image", command, "--help") & HEAVY == set()
