"""Export: agents of a suite as documents of another format, each in a folder of its own with the files it refers to."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from agentsuite_converters.converting import Expressed, absorb, convert, demand, express, publish, referenced
from agentsuite_converters.mapping import place
from agentsuite_converters.members import listed, member, objects, text, texts
from agentsuite_converters.places import leaves, remove, value_at
from agentsuite_converters.privacy import Private, leaks
from agentsuite_converters.report import report
from agentsuite_converters.urls import host
from hatch_agentsuite.findings import Finding, RefusedError, pointer, printable

if TYPE_CHECKING:
    from agentsuite_converters.formats import ForeignFormat
    from agentsuite_converters.places import Path
    from agentsuite_converters.profile import AgentProfile
    from hatch_agentsuite.documents import JSONObject, JSONValue

Supplies = Mapping["Path", "tuple[JSONValue, str]"]


@dataclass(frozen=True)
class Exported:
    """An agent as a document of a format, the files beside it, the account, and warnings."""

    agent: str
    expressed: Expressed
    warnings: tuple[Finding, ...]


def export_agent(form: ForeignFormat, agent: AgentProfile, supplies: Supplies, view: str = "") -> Exported:
    """Return an agent of a suite as a document of a format, or as one of the format's views.

    ``supplies`` are members of the profile that are given, and win over what it says. Raises :class:`RefusedError`
    where the format demands what nobody says, where the outcome is not valid by the format's own rules, or where a
    public document would disclose what is private.
    """
    source = copy.deepcopy(agent.value)
    agent.supply(supplies)
    document, passage = express(form, agent, view)
    if not view:
        demand(form, document)
    assumed = form.assumed if agent.origin == form.name else ()
    _without(source, ("id", "origin", *assumed))
    for implied in passage.implied:
        remove(source, implied)
    told = report(source, document, None, passage, agent, form.name)
    findings = list(judge(form, agent, document, view))
    errors = [finding for finding in findings if finding.is_error]
    if errors:
        raise RefusedError(*errors)
    return Exported(agent.id, Expressed(document, referenced(form, agent, document), told), tuple(findings))


def convert_document(
    source: ForeignFormat, target: ForeignFormat, path: FilePath, supplies: Supplies, public: frozenset[str]
) -> Exported:
    """Return the document at ``path`` as one of another format; raises :class:`RefusedError` as :func:`export_agent`.

    ``public`` are further capabilities to publish, where the source's format does not say which are.
    """
    document, files, warnings = source.load(path)
    absorbed = absorb(source, document, files)
    agent = absorbed.agent
    unknown = publish(source, agent, public)
    if unknown:
        message = f"it has no capability {listed(unknown)}"
        raise RefusedError(Finding(f"{source.prefix}-SUPPLY-001", "graph", printable(str(path)), message))
    agent.supply(supplies)
    expressed = convert(source, target, absorbed, document)
    findings = judge(target, agent, expressed.document)
    errors = [finding for finding in findings if finding.is_error]
    if errors:
        raise RefusedError(*errors)
    return Exported(agent.id, expressed, (*warnings, *findings))


def judge(form: ForeignFormat, agent: AgentProfile, document: JSONObject, view: str = "") -> list[Finding]:
    """Return what is wrong with a document by its format's rules, and what it discloses if it is for the public."""
    found = [] if view else _checked(form, document, referenced(form, agent, document))
    if (form.is_public or view) and agent.origin != form.name:
        found += _disclosed(form, agent, document)
    return found


def _checked(form: ForeignFormat, document: JSONObject, files: Mapping[str, bytes]) -> list[Finding]:
    """Judge a document with the files beside it that it will have; digests may be those of other files by now."""
    if form.gather is None:
        return list(form.check(document))
    with tempfile.TemporaryDirectory(prefix="agentsuite-") as name:
        folder = FilePath(name)
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        return list(form.check(document, folder))


def _without(value: JSONObject, names: Sequence[str]) -> None:
    """Remove members of a profile, of which ``*`` in a name are those of every item of a list."""
    for name in names:
        holder, _, inside = name.partition("/*/")
        if inside:
            for _, item in objects(value, holder):
                remove(item, (inside,))
        else:
            remove(value, place(name))


def _disclosed(form: ForeignFormat, agent: AgentProfile, document: JSONObject) -> list[Finding]:
    public = {
        f"#{pointer(*leaf)}": value for leaf in leaves(document) if isinstance(value := value_at(document, leaf), str)
    }
    return [
        Finding(f"{form.prefix}-PRIVACY-001", "security", leak.place, leak.message, "mend the public text")
        if leak.is_error
        else Finding(f"{form.prefix}-PRIVACY-001", "security", leak.place, leak.message, severity="warning")
        for leak in leaks(public, private_of(agent))
    ]


def private_of(agent: AgentProfile) -> Private:
    """Return what must not be published of an agent."""
    value = agent.value
    servers = [server for _, server in objects(value, "servers")]
    names = tuple(text(server, "id") for server in servers)
    model = member(value, "model")
    return Private(
        urls=tuple(url for server in servers if (url := text(server, "endpoint"))),
        names=names,
        tools=tuple((text(server, "id"), tool) for server in servers for _, tool in texts(server, "tools")),
        references=tuple(
            text(resource, "uri") for kind in ("instructions", "skills") for _, resource in objects(value, kind)
        ),
        texts={"the instructions": text(value, "prompt")},
        words={
            **agent.secrets,
            **{said: f"the model's {name}" for name in ("name", "provider") if (said := text(model, name))},
        },
        public_hosts=frozenset({host(text(member(value, "endpoint"), "url")), host(text(value, "identifier"))}),
    )
