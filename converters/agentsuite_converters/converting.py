"""A document becomes a profile, a profile becomes a document, each with an account of every leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentsuite_converters import mapping
from agentsuite_converters.identifiers import agent_slug
from agentsuite_converters.mapping import Passage, Step
from agentsuite_converters.places import ABSENT, at_path, parse_pointer, put
from agentsuite_converters.profile import AgentProfile
from agentsuite_converters.report import Report, report
from agentsuite_converters.residue import difference, restore
from agentsuite_converters.storage import instruction_files, joined
from hatch_agentsuite.findings import Finding, RefusedError, pointer, printable

if TYPE_CHECKING:
    from agentsuite_converters.formats import ForeignFormat
    from agentsuite_converters.places import Path
    from hatch_agentsuite.documents import JSONObject, JSONValue


@dataclass(frozen=True)
class Absorbed:
    """An agent read from a document: the profile, and the passage from the document to it."""

    agent: AgentProfile
    passage: Passage


@dataclass(frozen=True)
class Expressed:
    """A document written from a profile, the files that it refers to, and the account of what became of the profile."""

    document: JSONObject
    files: dict[str, bytes]
    report: Report


def absorb(form: ForeignFormat, document: JSONObject, files: dict[str, bytes], identifier: str = "") -> Absorbed:
    """Return the agent that a valid document describes; what no member says is not in it yet (see :func:`keep_rest`).

    ``identifier`` is the agent's id in the suite, a slug of the document's own id where it is not given.
    """
    passage = mapping.read(form.table, document)
    value = passage.value
    original = value.get("identifier", value.get("name", ""))
    head: JSONObject = {"id": identifier or agent_slug(str(original)), "origin": form.name}
    passage.value = {**head, **value}
    agent = AgentProfile(passage.value, files)
    parts = instruction_files(document)
    if parts and all(path in files for path in parts):
        agent.value["prompt"] = joined([_text(form, path, files[path]) for path in parts])
        agent.supplied[("prompt",)] = "the instruction files"
    return Absorbed(agent, passage)


def publish(form: ForeignFormat, agent: AgentProfile, more: frozenset[str] = frozenset()) -> set[str]:
    """Mark capabilities as public that the format cannot mark, and return the names in ``more`` that are none."""
    if form.published is None:
        return set(more)
    wanted = set(form.published | more)
    found = set()
    capabilities = agent.value.get("capabilities")
    for capability in capabilities if isinstance(capabilities, list) else []:
        if isinstance(capability, dict) and capability.get("id") in wanted:
            capability["visibility"] = "public"
            found.add(str(capability["id"]))
    return set(more) - found


def keep_rest(form: ForeignFormat, absorbed: Absorbed, document: JSONObject) -> None:
    """Keep what the profile alone would not give back, under ``foreign`` of the item it belongs to, or of the whole."""
    value, passage = absorbed.agent.value, absorbed.passage
    given = mapping.write(form.table, value)
    for home, place in given.items:
        item, original = at_path(given.value, place), at_path(document, place)
        lengths = [at_path(root, place[:-1]) for root in (given.value, document)]
        if not isinstance(item, dict) or not isinstance(original, dict) or not _as_long(*lengths):
            continue
        _keep(passage, value, (*home, "foreign"), form.name, list(difference(item, original)), place, original)
        put(given.value, place, original)
    _keep(passage, value, ("foreign",), form.name, list(difference(given.value, document)), (), document)


def express(form: ForeignFormat, agent: AgentProfile, view: str = "") -> tuple[JSONObject, Passage]:
    """Return the document that a format writes of an agent, or a view of it, and the passage to it."""
    table = form.views[view] if view else form.table
    passage = mapping.write(table, agent.value)
    if not view:
        imposed = mapping.imposed(table, agent.value)
        edited = {step.target for step in passage.steps if imposed.get(step.source) is False}
        for home, place in passage.items:
            item = at_path(passage.value, place)
            if isinstance(item, dict):
                _restore(passage, agent.value, (*home, "foreign", form.name), item, place, edited)
        _restore(passage, agent.value, ("foreign", form.name), passage.value, (), edited)
        _forget_absent(passage, imposed)
    return passage.value, passage


def convert(source: ForeignFormat, target: ForeignFormat, absorbed: Absorbed, document: JSONObject) -> Expressed:
    """Return a document of another format; raises :class:`RefusedError` where it lacks what it must have."""
    if source is target:
        keep_rest(source, absorbed, document)
    written, passage = express(target, absorbed.agent)
    if source is target:
        _carry_constants(source, absorbed.passage, passage)
    demand(target, written)
    told = report(document, written, absorbed.passage, passage, absorbed.agent, target.name)
    return Expressed(written, referenced(target, absorbed.agent, written), told)


def _carry_constants(form: ForeignFormat, first: Passage, second: Passage) -> None:
    """Note that what names the format itself stays; it is lost only on the way to another one."""
    for name in form.table.constants:
        path = mapping.place(name)
        first.refused.pop(path, None)
        for passage in (first, second):
            passage.steps.append(Step(path, path))


def demand(form: ForeignFormat, document: JSONObject) -> None:
    """Refuse a document that lacks members which only whoever converts can supply, all at once."""
    missing = []
    for names, option in [*(((name,), option) for name, option in form.demands.items()), *form.one_of.items()]:
        if all(at_path(document, mapping.place(name)) in (ABSENT, []) for name in names):
            said = " or ".join(f"`{name}`" for name in names)
            message = f"{form.name} requires {said}, and the agent does not say it"
            missing.append(Finding(f"{form.prefix}-SUPPLY-001", "graph", f"#/{names[0]}", message, f"give {option}"))
    if missing:
        raise RefusedError(*missing)


def referenced(form: ForeignFormat, agent: AgentProfile, document: JSONObject) -> dict[str, bytes]:
    """Return the files to be written beside a document: all of an agent's own, or its instructions alone.

    Where the format's documents refer to no files, a member that looks like a reference is none.
    """
    if form.gather is None:
        return {}
    paths = instruction_files(document)
    if agent.files:
        return dict(agent.files) if paths or "skills" in document else {}
    return {path: str(agent.value.get("prompt", "")).encode() for path in paths[:1]}


def _text(form: ForeignFormat, path: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeError:
        message = "the file is an instruction, and no UTF-8 text"
        raise RefusedError(Finding(f"{form.prefix}-FILE-001", "json", printable(path), message)) from None


def _keep(
    passage: Passage,
    value: JSONObject,
    home: Path,
    name: str,
    records: list[JSONObject],
    base: Path,
    original: JSONValue,
) -> None:
    if not records:
        return
    kept: list[JSONValue] = list(records)
    put(value, home, {name: kept})
    for number, record in enumerate(records):
        if "value" in record:
            place = (*base, *parse_pointer(str(record["at"]), original))
            passage.steps.append(Step(place, (*home, name, number, "value")))


def _restore(
    passage: Passage, hub: JSONObject, home: Path, document: JSONObject, base: Path, edited: set[Path]
) -> None:
    """Put back what was kept; a member that has been given another value than the imposed one is not taken away."""
    found = at_path(hub, home)
    records = [
        None if isinstance(record, dict) and "absent" in record and _place(record, document, base) in edited else record
        for record in (found if isinstance(found, list) else [])
    ]
    for number, place, is_done in restore(document, records):
        if is_done:
            passage.steps.append(Step((*home, number, "value"), (*base, *place)))
        else:
            reason = f"{pointer(*base, *place)} is no place any more, since the profile was edited"
            passage.refused[(*home, number)] = reason


def _place(record: JSONObject, document: JSONObject, base: Path) -> Path:
    return (*base, *parse_pointer(str(record.get("at", "")), document))


def _forget_absent(passage: Passage, imposed: dict[Path, bool]) -> None:
    """Take back steps to places that the imported document did not have."""
    steps, passage.steps = passage.steps, []
    for step in steps:
        if at_path(passage.value, step.target) is not ABSENT:
            passage.steps.append(step)
        elif imposed.get(step.source):
            passage.implied.add(step.source)
        else:
            passage.refused.setdefault(step.source, "the imported document did not say it")


def _as_long(one: object, other: object) -> bool:
    return isinstance(one, list) and isinstance(other, list) and len(one) == len(other)
