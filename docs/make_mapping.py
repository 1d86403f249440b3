"""Writes docs/mapping.md from the tables by which the converters work: `python docs/make_mapping.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import agentsuite_schemas
from agentsuite_converters import aib, aidip, brick
from agentsuite_converters.formats import ForeignFormat
from agentsuite_converters.mapping import Each, Move, Table, keep

PAGE = Path(__file__).with_name("mapping.md")
SCHEMAS = Path(agentsuite_schemas.__file__).parent
FORMATS = (brick.FORMAT, aib.FORMAT, aidip.FORMAT)
TITLES = {"brick": "BRICK 0.5", "aib": "AIB", "aidip": "AIDIP"}
OPEN = {
    "brick": "unknown members below the top (at the top they are refused)",
    "aib": "unknown members at any level: `knowledge_base_config` and whatever else the text announces",
    "aidip": "additional members at any level",
}
HOMES = {
    "id": "the name of the manifest's file",
    "description": "agent manifest `/description`; the profile where it has more than 4,096 characters",
    "prompt": "instructions file",
    "model/protocol": "agent manifest `/model/protocol`",
    "model/name": "agent manifest `/model/model`",
    "servers/*/tools": "ToolProvider `/tools/*/name`; the profile where there is none",
}
CONTAINERS = {"capabilities": 1, "instructions": 2, "skills": 3, "servers": 4, "model": 5}
"""Members of the profile whose many parts stand last in the table of crossings."""

INTRODUCTION = """\
# Members, one by one

This page is made from the tables that the converters read in both directions; `python docs/make_mapping.py` writes it
anew, and a test compares. [Converting](converting.md) tells how they are used.

Places are JSON pointers, `*` is every item of a list. *Profile* is the place in the agent's profile, through which all
conversions go; *home* is the document of the suite that holds it: the agent manifest `agents/<agent>.json`, the
instructions file `instructions/<agent>.md`, the ToolProvider of an MCP server, or the profile
`metadata/profiles/<agent>.json`. Where several rows have one place, the first that has a value fills it. *Seen by* says
who may see the value: *all* means that `export aib --public` or `export aidip` shows it, *none* that no public document
ever does.
"""


@dataclass(frozen=True)
class Row:
    """One move of a table, with full places: `/` between names, `*` for the items of a list."""

    foreign: str
    hub: str
    move: Move


def rows(table: Table) -> list[Row]:
    """Return the moves of a table in their order."""
    return [row for item in table.rows for row in _rows(item)]


def _rows(item: Move | Each) -> Iterator[Row]:
    if isinstance(item, Move):
        yield Row(item.foreign, item.hub, item)
        return
    for move in item.moves:
        yield Row(f"{item.foreign}/*/{move.foreign}", f"{item.hub}/*/{move.hub}", move)


def members(name: str) -> list[str]:
    """Return the places of all members that a JSON Schema names, containers before what they hold."""
    root = json.loads((SCHEMAS / f"{name}.json").read_bytes())
    return list(_members(root, root, ""))


def _members(schema: dict[str, Any], root: dict[str, Any], place: str) -> Iterator[str]:
    reference = schema.get("$ref", "")
    if reference.startswith("#/$defs/"):
        yield from _members(root["$defs"][reference.removeprefix("#/$defs/")], root, place)
    for name, member in schema.get("properties", {}).items():
        yield f"{place}{name}"
        yield from _members(member, root, f"{place}{name}/")
    if isinstance(schema.get("items"), dict):
        yield from _members(schema["items"], root, f"{place}*/")


def is_mapped(member: str, table: Table) -> bool:
    """Whether a member moves, holds what moves, or goes along with what holds it."""
    places = [row.foreign.replace("/0/", "/*/") for row in rows(table)]
    return any(f"{member}/".startswith(f"{place}/") or f"{place}/".startswith(f"{member}/") for place in places)


def kept(form: ForeignFormat) -> list[str]:
    """Return the members that the format's schema names and that have no place in the profile, outermost ones only."""
    found = [
        name for name in members(form.schema) if not is_mapped(name, form.table) and name not in form.table.constants
    ]
    return [name for name in found if not any(name.startswith(f"{other}/") for other in found)]


def public_places() -> dict[str, str]:
    """Return the places of the profile that a public document shows, with the condition."""
    found: dict[str, str] = {}
    for table in (aidip.mapping.TABLE, aib.mapping.PUBLIC):
        for item in table.rows:
            condition = "all, if the capability is public" if isinstance(item, Each) and item.where else "all"
            found |= {row.hub: condition for row in _rows(item) if row.move.write}
    return found


def seen_by(place: str, public: dict[str, str]) -> str:
    """Return who may see a place; whether a capability is public is seen by its being there."""
    return public.get(place, "none")


def direction(move: Move) -> str:
    """Return in which direction a move is made."""
    return "both" if move.read and move.write else "import" if move.read else "export"


def how(move: Move) -> str:
    """Return how the value of one side becomes that of the other, and under which conditions."""
    texts = {
        side: "the same" if codec is keep else move.note or "the same"
        for side, codec in (("import", move.read), ("export", move.write))
        if codec
    }
    different = len(set(texts.values())) > 1
    told = "; ".join(f"{side}: {text}" for side, text in texts.items()) if different else next(iter(texts.values()))
    if keep in (move.read, move.write) and not different and move.note:
        told = move.note
    conditions = [f"if there is `/{move.given}`"] if move.given else []
    conditions += [f"if there is no `/{move.unless}`"] if move.unless else []
    return f"{told} ({', '.join(conditions)})" if conditions else told


def format_section(form: ForeignFormat) -> str:
    """Return the table of a format and what holds besides."""
    public = public_places()
    lines = [
        f"## {TITLES[form.name]}",
        "",
        "| member | profile | home | direction | how | seen by |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `/{row.foreign}` | `/{row.hub}` | {HOMES.get(row.hub, 'profile')} | {direction(row.move)} "
        f"| {how(row.move)} | {seen_by(row.hub, public)} |"
        for row in rows(form.table)
    ]
    return "\n".join([*lines, "", *_besides(form)])


def _besides(form: ForeignFormat) -> Iterator[str]:
    yield from (f"* `/{name}` is always `{json.dumps(value)}`." for name, value in form.table.constants.items())
    holders = [("", form.table.defaults)]
    holders += [(f"{row.foreign}/*/", row.defaults) for row in form.table.rows if isinstance(row, Each)]
    for place, defaults in holders:
        for name, value in defaults.items():
            yield f"* `/{place}{name}` is `{json.dumps(value)}` on export where the agent says nothing."
    for row in form.table.rows:
        for name, value in row.imposed.items() if isinstance(row, Each) else ():
            yield f"* `/{row.hub}/*/{name}` of the profile is `{json.dumps(value)}` where the document does not say it."
    if form.published is not None:
        yield f"* Public after import: {_listed(form.published)}, and what `--public` names."
    yield f"* Asked for on export where the agent does not say it: {_demands(form)}."
    for view, table in form.views.items():
        places = _listed(f"/{name}" for name in {row.foreign for row in rows(table)})
        yield f"* `export {form.name} --{view}` writes {places}, and nothing else."
    named = _listed(f"/{name}" for name in kept(form))
    yield (
        f"* Kept as it is: {f'{named}; ' if named else ''}{OPEN[form.name]}. It goes to `/foreign/{form.name}` of the "
        f"profile and comes back on export to {form.name}; on the way to any other format it is dropped, and listed."
    )


def _demands(form: ForeignFormat) -> str:
    wanted = [(f"`/{name}`", option) for name, option in form.demands.items()]
    wanted += [(" or ".join(f"`/{name}`" for name in names), option) for names, option in form.one_of.items()]
    return ", ".join(f"{places} (`{option}`)" for places, option in wanted)


def _listed(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def crossing_section() -> str:
    """Return where each member of the profile that one of the formats has goes in every format."""
    tables = {form.name: [row for row in rows(form.table) if row.move.write] for form in FORMATS}
    used = list(dict.fromkeys(row.hub for found in tables.values() for row in found))
    public = public_places()
    heads = [TITLES[form.name] for form in FORMATS]
    lines = [
        "## From one format to another",
        "",
        "What one format says goes where the other has a place for it. A dash is a drop, which is listed.",
        "",
        f"| profile | {' | '.join(heads)} | seen by |",
        "|---|" + "---|" * (len(heads) + 1),
    ]
    for name in sorted(used, key=lambda place: CONTAINERS.get(place.split("/")[0], 0)):
        cells = [
            ", ".join(dict.fromkeys(f"`/{row.foreign}`" for row in found if row.hub == name)) or "-"
            for found in tables.values()
        ]
        lines.append(f"| `/{name}` | {' | '.join(cells)} | {seen_by(name, public)} |")
    return "\n".join(lines)


def page() -> str:
    """Return the page."""
    return "\n\n".join([INTRODUCTION.rstrip(), *map(format_section, FORMATS), crossing_section()]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
