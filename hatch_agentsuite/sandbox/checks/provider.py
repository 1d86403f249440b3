"""ASI-PROVIDER-001: a ToolProvider image's label, embedded composition, digest and platform agree (12.1)."""

from __future__ import annotations

from collections.abc import Iterator

from hatch_agentsuite.findings import Finding, printable
from hatch_agentsuite.jsondoc import digest
from hatch_agentsuite.sandbox import binding
from hatch_agentsuite.sandbox.checks.binding import platform
from hatch_agentsuite.sandbox.checks.subject import Subject
from hatch_agentsuite.sandbox.composing import METADATA
from hatch_agentsuite.sandbox.config import PROVIDER_LABEL

REQUIREMENT = "ASI-PROVIDER-001"


def check(subject: Subject) -> Iterator[Finding]:
    """Yield what is wrong with the composition of a ToolProvider's image."""
    if subject.is_agent:
        return
    kind = "agentsuite/tool-provider-composition"
    read = subject.document(binding.PROVIDER_COMPOSITION, kind, REQUIREMENT)
    if read.finding:
        yield read.finding
    if read.value is None:
        return
    place = f"{METADATA}/{binding.PROVIDER_COMPOSITION}"
    label, actual = subject.labels[PROVIDER_LABEL], digest(read.value)
    if label != actual:
        message = f"the composition has the digest {actual}, the label says {printable(str(label))}"
        yield Finding(REQUIREMENT, "digest", place, message)
    yield from platform(subject, read.value["platform"], f"{place}#/platform", REQUIREMENT)
