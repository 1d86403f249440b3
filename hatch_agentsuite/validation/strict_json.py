"""AS-JSON-001: normative JSON is strict, duplicate-free, closed and schema-valid (specification 5.3).

Documents were read strictly and held against their schemas when the graph was followed; what that found is reported
here, once for each document.
"""

from __future__ import annotations

from collections.abc import Iterator

from hatch_agentsuite.findings import Finding
from hatch_agentsuite.validation.suite import Suite

REQUIREMENT = "AS-JSON-001"


def check(suite: Suite) -> Iterator[Finding]:
    """Yield the faults of every document that a reference reaches."""
    for document in suite.documents.values():
        yield from document.findings
