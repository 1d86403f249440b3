"""docs/agent-cards.md says everything that the commands take and the projection reads, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from agentsuite_converters.a2a import public
from hatch_agentsuite.cli.card_build import build, site

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "agent-cards.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_every_option_is_in_the_table_and_no_other() -> None:
    table = re.findall(r"^\| ((?:`-[^|]*`(?:, )?)+) \|", section("Options"), re.MULTILINE)
    listed = {word for row in table for word in re.findall(r"--[a-z-]+", row)}
    taken = {name for command in (build, site) for option in command.params for name in option.opts if name[:2] == "--"}
    assert listed == taken


def test_every_public_member_is_in_the_mapping() -> None:
    """The promise of the page is the allow-list of the code."""
    rows = [line.split("|")[1] for line in section("Where a card comes from").splitlines() if line.startswith("| `")]
    named = set(re.findall(r"`([A-Za-z]+)", " ".join(rows)))
    assert set(public.MEMBERS) <= named
    assert set(public.CAPABILITY_MEMBERS) <= named


def test_no_private_member_is_in_the_mapping() -> None:
    rows = [line.split("|")[1] for line in section("Where a card comes from").splitlines() if line.startswith("| `")]
    words = set(re.findall(r"[A-Za-z]+", " ".join(rows)))
    assert words & {"goals", "prompt", "model", "servers", "relationships", "foreign", "tools", "instructions"} == set()


def test_every_command_is_shown() -> None:
    from hatch_agentsuite.cli.card_command import command

    assert [name for name in command.commands if f"card {name}" not in PAGE] == []
