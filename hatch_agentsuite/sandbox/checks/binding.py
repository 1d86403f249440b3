"""ASI-BIND-001: an agent image's label, embedded binding, digest and platform agree (specification 13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hatch_agentsuite.findings import Category, Finding, printable
from hatch_agentsuite.jsondoc import digest
from hatch_agentsuite.sandbox import binding
from hatch_agentsuite.sandbox.checks.subject import Subject
from hatch_agentsuite.sandbox.composing import METADATA
from hatch_agentsuite.sandbox.config import BINDING_LABEL, PROVIDER_LABEL

REQUIREMENT = "ASI-BIND-001"


def check(subject: Subject) -> Iterator[Finding]:
    """Yield what is wrong with the binding of an agent's image."""
    if not subject.is_agent:
        return
    label = subject.labels.get(BINDING_LABEL)
    if label is None:
        hint = f"a ToolProvider's image has the label `{PROVIDER_LABEL}` instead"
        yield _finding("", f"the image config has no label `{BINDING_LABEL}`", hint)
    if PROVIDER_LABEL in subject.labels:
        yield _finding("", f"the labels say that this is an agent's image and, by `{PROVIDER_LABEL}`, a ToolProvider's")
    read = subject.document(binding.BINDING, "agentsuite/sandbox-binding", REQUIREMENT)
    if read.finding:
        yield read.finding
    if read.value is None:
        return
    place = f"{METADATA}/{binding.BINDING}"
    actual = digest(read.value)
    if label is not None and label != actual:
        yield _finding(place, f"the binding has the digest {actual}, the label says {printable(str(label))}")
    yield from platform(subject, read.value["platform"], f"{place}#/platform", REQUIREMENT)


def platform(subject: Subject, said: dict[str, str], place: str, requirement: str) -> Iterator[Finding]:
    """Yield where a document, the config and the descriptor of an image name different platforms."""
    config = subject.config_platform
    if said != config:
        message = f"the document is for {_name(said)}, the image config for {_name(config)}"
        yield Finding(requirement, "platform", place, message)
    selected = {name: (subject.platform or config).get(name) for name in ("os", "architecture")}
    if selected != config:
        message = f"the index selects the image for {_name(selected)}, its config is for {_name(config)}"
        yield Finding(requirement, "platform", place.partition("#")[0], message)


def _name(value: Mapping[str, object]) -> str:
    return printable(f"{value['os']}/{value['architecture']}")


def _finding(place: str, message: str, hint: str = "", category: Category = "digest") -> Finding:
    return Finding(REQUIREMENT, category, place, message, hint)
