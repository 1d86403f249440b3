"""Every command in the README and in docs/ is executed, in order, and prints what the page says it prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.checkout import EXAMPLES, MIGRATIONS, copy_example

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[tuple[str, list[str]]]:
    """Return the commands of a page, each with the lines it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def matches(expected: list[str], output: str) -> bool:
    """Whether output is as a page shows it; ``...`` stands for anything, alone on a line for any lines."""
    pattern = "".join(
        "(?:.*\n)*?" if line == "..." else ".*?".join(map(re.escape, line.split("..."))) + r"\n" for line in expected
    )
    return re.fullmatch(pattern, output) is not None


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the published package is made from."""
    copy = tmp_path_factory.mktemp("clone") / "checkout"
    ignored = shutil.ignore_patterns("dist", "__pycache__", ".*cache")
    for name in ("hatch_agentsuite", "converters", "schemas"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    return copy


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HATCH_", "COV_"))}
    return {
        **kept,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "NO_COLOR": "1",
        "COLUMNS": "200",
    }


def run(command: str, folder: Path, checkout: Path) -> str:
    """Run one command; the published package is the checkout, installed into a folder of its own."""
    if command.startswith("pip install "):
        extra = "[fast]" if "[fast]" in command else ""
        installed = f"{checkout}{extra}"
        command = (
            f"{sys.executable} -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation "
            f'--root-user-action ignore --target "{folder / "installed"}" "{installed}"'
        )
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=environment(checkout.parent),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


@pytest.mark.e2e
@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.stem)
def test_commands_of_a_page(page: Path, checkout: Path, require_tool: Callable[[str], str]) -> None:
    require_tool("hatch")
    if any(command.startswith("openssl ") for command, _ in commands(page)):
        require_tool("openssl")
    folder = checkout.parent / page.stem
    folder.mkdir()
    for name in (*EXAMPLES, *MIGRATIONS):
        copy_example(name, folder / "examples")
    (folder / "uv.toml").write_text(f'override-dependencies = ["hatch-agentsuite @ {checkout.as_uri()}"]\n')
    for command, expected in commands(page):
        if command.startswith("cd "):
            folder = folder / command.removeprefix("cd ")
            continue
        output = run(command, folder, checkout)
        if expected:
            assert matches(expected, output), f"$ {command}\n{output}"


def test_matcher_can_refuse() -> None:
    """The comparison that the pages are held to sees a difference."""
    assert matches(["a...c", "...", "end"], "abc\nx\ny\nend\n")
    assert not matches(["a...c", "end"], "abc\nx\nend\n")
    assert not matches(["valid"], "invalid\n")


def test_readme_has_commands() -> None:
    """The pages that teach by commands are not skipped by a change of their form."""
    assert len(commands(ROOT / "README.md")) >= 8
    assert len(commands(ROOT / "docs" / "cli.md")) >= 10


def test_option_table_is_complete() -> None:
    """The README's table lists exactly the options that the target accepts."""
    from hatch_agentsuite import configuration

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("## Options of the build target", 1)[1]
    listed = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
    assert sorted(listed) == sorted(configuration.OWN_KEYS)
