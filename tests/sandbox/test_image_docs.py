"""docs/sandbox-images.md names real checks, real tests, the options that there are and the requirements of 15.2."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import pytest

from hatch_agentsuite.cli.image_command import build
from hatch_agentsuite.sandbox import config, contract, inventory
from hatch_agentsuite.sandbox.requirements import IMAGE_REQUIREMENTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/sandbox-images.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d[\d.]*: .*) \| `(\S+)::(\w+)` \| `(\S+)::(\w+)` \|$", PAGE, re.MULTILINE)


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:50])
def test_a_rule_has_a_check_and_a_test(row: tuple[str, ...]) -> None:
    _, module, check, tests, test = row
    assert check in functions(ROOT / "hatch_agentsuite/sandbox" / module)
    assert test in functions(ROOT / "tests/sandbox" / tests)


def test_no_rule_was_lost() -> None:
    table = PAGE.split("## Rule by rule", 1)[1]
    assert len(ROWS) == table.count("\n| 1") == 20


def test_every_option_of_build_is_told() -> None:
    table = PAGE.split("| option of `image build` |", 1)[1].split("\n\n", 1)[0]
    names = {name for option in build.params if isinstance(option, click.Option) for name in option.opts}
    assert set(re.findall(r"`(--[a-z-]+)", table)) == {name for name in names if name.startswith("--")}


def test_every_requirement_and_label_is_told() -> None:
    assert set(re.findall(r"^\| `(ASI-\w+-001)`", PAGE, re.MULTILINE)) == set(IMAGE_REQUIREMENTS)
    for text in (config.BINDING_LABEL, config.PROVIDER_LABEL, config.INVENTORY_LABEL, contract.LABEL):
        assert f"`{text}`" in PAGE
    assert inventory.MEDIA_TYPE in PAGE
    assert config.DEFAULT_USER in PAGE
