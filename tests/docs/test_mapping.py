"""docs/mapping.md is what the converters' tables say, and no member that a format's schema names is missing from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentsuite_converters.formats import ForeignFormat
from docs import make_mapping

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "mapping.md").read_text(encoding="utf-8")

KEPT = {"brick": ["extensions", "runtime"], "aib": [], "aidip": []}
"""The members that a format's schema names and that no other format can take over."""

PRIVATE = (
    "capabilities/*/skills",
    "capabilities/*/tools",
    "goals",
    "instructions",
    "model",
    "prompt",
    "relationships",
    "servers",
    "skills",
)
"""Members of the profile that no public document shows."""


def section(form: ForeignFormat) -> str:
    title = make_mapping.TITLES[form.name]
    return TEXT.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def table_rows(text: str) -> list[list[str]]:
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:3] == "| `"]
    assert found
    return found


by_format = pytest.mark.parametrize("form", make_mapping.FORMATS, ids=lambda form: form.name)


def test_page_is_what_the_tables_say() -> None:
    assert make_mapping.page() == TEXT, "run `python docs/make_mapping.py`"


@by_format
def test_every_member_of_the_schema_moves_or_is_kept(form: ForeignFormat) -> None:
    """A member that the schema gains and the table does not is named here before a reader misses it."""
    assert sorted(make_mapping.kept(form)) == KEPT[form.name]
    named = [f"{name}/".replace("/0/", "/*/") for name in re.findall(r"`/([^`]+)`", section(form))]
    missing = [
        member
        for member in make_mapping.members(form.schema)
        if not any(name.startswith(f"{member}/") or f"{member}/".startswith(name) for name in named)
    ]
    assert missing == []


@by_format
def test_kept_members_say_what_happens_to_them(form: ForeignFormat) -> None:
    [line] = [line for line in section(form).splitlines() if line.startswith("* Kept as it is:")]
    assert [name for name in KEPT[form.name] if f"`/{name}`" not in line] == []
    assert f"`/foreign/{form.name}`" in line
    assert "dropped" in line


@by_format
def test_every_demand_and_view_of_a_format_is_named(form: ForeignFormat) -> None:
    text = section(form)
    for member, option in form.demands.items():
        assert f"`/{member}` (`{option}`)" in text
    for view in form.views:
        assert f"`export {form.name} --{view}`" in text


@by_format
def test_rows_are_whole_and_private_members_are_seen_by_nobody(form: ForeignFormat) -> None:
    rows = table_rows(section(form))
    assert len(rows) == len(make_mapping.rows(form.table))
    for member, place, home, direction, how, seen in rows:
        assert home
        assert how
        assert direction in {"both", "import", "export"}, member
        hub = place.strip("`/")
        is_private = any(f"{hub}/".startswith(f"{name}/") for name in PRIVATE)
        assert not is_private or seen == "none", member


def test_crossing_table_has_a_cell_for_every_format() -> None:
    crossing = TEXT.split("\n## From one format to another\n", 1)[1]
    rows = table_rows(crossing)
    assert {len(row) for row in rows} == {len(make_mapping.FORMATS) + 2}
    assert len({row[0] for row in rows}) == len(rows)
    assert ["`/goals`", "`/goals`", "-", "-", "none"] in rows


def test_a_member_without_a_place_is_found() -> None:
    """The check can fail: a table that has lost a row keeps the member that it was about."""
    from dataclasses import replace

    from agentsuite_converters import aidip

    table = aidip.FORMAT.table
    shorter = replace(table, rows=tuple(row for row in table.rows if row.foreign != "tags"))
    assert make_mapping.kept(replace(aidip.FORMAT, table=shorter)) == ["tags"]
