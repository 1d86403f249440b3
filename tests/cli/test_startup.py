"""The command line as a whole: help, version, exit status 2 for wrong usage, and what a start loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import agentsuite
from tests.cli.conftest import Command
from tests.hatch.projects import run

COMMANDS = ("init", "pack", "validate", "inspect", "unpack", "digest", "check", "import", "export", "convert")
HEAVY = {
    "a2a",
    "agentsuite_converters",
    "hatchling",
    "isal",
    "jsonschema",
    "jsonschema_rs",
    "re2",
    "rfc8785",
    "rich",
    "yaml",
    "zlib_ng",
}


def loaded_by(*arguments: str) -> set[str]:
    """Return the top-level modules that a run of the command line has loaded."""
    import sys

    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('LOADED', *sys.modules, file=sys.stderr))\n"
        "from hatch_agentsuite.cli import main\nmain(prog_name='agentsuite')"
    )
    outcome = run(sys.executable, "-c", code, *arguments, cwd=Path.cwd())
    [line] = [line for line in outcome.lines if line.startswith("LOADED")]
    return {name.partition(".")[0] for name in line.split()}


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("nope",), *((command, "--help") for command in COMMANDS)],
    ids=" ".join,
)
def test_start_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert loaded_by(*arguments) & HEAVY == set()


def test_help_of_one_command_does_not_load_the_others() -> None:
    assert "hatchling" not in loaded_by("pack", "--help")


def test_packing_needs_neither_hatch_nor_rich(suite: Path) -> None:
    """Standard error is no terminal here, so there is no bar to draw."""
    assert loaded_by("pack") & {"hatchling", "hatch", "rich", "a2a"} == set()


def test_help_lists_every_command(cli: Command) -> None:
    outcome = cli("--help")
    assert outcome.status == 0
    assert outcome.err == ""
    assert [name for name in COMMANDS if f"\n  {name} " not in outcome.out] == []
    assert "\n  Exit status: 0 fine, 1 findings, 2 wrong usage.\n" in outcome.out
    assert "\\b" not in outcome.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command(cli: Command, command: str) -> None:
    outcome = cli(command, "--help")
    assert outcome.status == 0
    assert outcome.out.startswith(f"Usage: main {command} ")
    assert cli(command, "-h") == outcome


def test_version(cli: Command) -> None:
    from importlib.metadata import version

    assert cli("--version").out == f"agentsuite {version('hatch-agentsuite')}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("nope",),
        ("--nope",),
        ("validate",),
        ("digest",),
        ("inspect",),
        ("inspect", "a", "b"),
        ("unpack", "a"),
        ("pack", "a", "b"),
        ("pack", "--codec", "gzip"),
        ("pack", "--platform", "windows/amd64"),
        ("pack", "--workers", "0"),
        ("pack", "--annotation", "novalue"),
        ("pack", "--annotation", "=value"),
        ("pack", "--tag", "no tag"),
        ("pack", "--tag", ""),
        ("pack", "--tag", "a\n"),
        ("pack", "--name", "No"),
        ("validate", "x", "--format", "yaml"),
        ("digest", "missing"),
    ],
    ids=repr,
)
def test_wrong_usage_is_status_2(cli: Command, arguments: tuple[str, ...]) -> None:
    outcome = cli(*arguments)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err
    assert list(Path().iterdir()) == []


def test_exit_status_of_the_real_command(layout: Path) -> None:
    for arguments, status in (
        (("validate", layout), 0),
        (("validate", "missing"), 1),
        (("validate",), 2),
        (("--help",), 0),
    ):
        outcome = agentsuite(*arguments)
        assert outcome.status == status
        assert "Traceback" not in outcome.err


def test_reader_that_stops_reading(layout: Path) -> None:
    """`agentsuite inspect ... | head -1` ends in silence."""
    command = f"{{ {_command()} inspect {layout}; }} | true; exit ${{PIPESTATUS[0]}}"
    outcome = run("bash", "-c", command, cwd=Path.cwd())
    assert outcome.err == ""


def _command() -> str:
    import shlex
    import sys

    code = "import time; time.sleep(0.3); from hatch_agentsuite.cli import main; main()"
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"
