"""Shape of documents: what their JSON Schemas refuse, said as findings (specification 5.3).

Some members have a single legal value in this draft because the others are deferred (execution mode, protocol,
transport, platform): those are AS-DRAFT-001. The shape of evaluations belongs to AS-EVAL-001.
"""

from __future__ import annotations

from collections.abc import Iterator

import agentsuite_schemas
from hatch_agentsuite.documents import JSONValue
from hatch_agentsuite.findings import Category, Finding, pointer

_DRAFT_DEFINITIONS: dict[str, Category] = {
    "platform": "platform",
    "executionMode": "tool-provider",
    "protocol": "tool-provider",
    "transport": "tool-provider",
}
_EVALUATIONS = frozenset({"agentsuite/eval-index", "agentsuite/eval-case"})
_SECURITY_DEFINITIONS = frozenset({"environmentName"})


def shape_findings(kind: str, path: str, value: JSONValue) -> Iterator[Finding]:
    """Yield what is wrong with the shape of a document of one kind; evaluation operands are never shown."""
    evaluation = kind in _EVALUATIONS
    for error in agentsuite_schemas.validator(kind).errors(value, show_values=not evaluation):
        requirement, category = owner(kind, error.definition)
        yield Finding(requirement, category, f"{path}#{pointer(*error.path)}", error.message)


def owner(kind: str, definition: str) -> tuple[str, Category]:
    """Return the requirement and category of a fault in a document's shape, by the schema definition it offends."""
    if kind in _EVALUATIONS:
        return "AS-EVAL-001", "evaluation"
    if definition in _DRAFT_DEFINITIONS:
        return "AS-DRAFT-001", _DRAFT_DEFINITIONS[definition]
    if definition in _SECURITY_DEFINITIONS:
        return "AS-JSON-001", "security"
    return "AS-JSON-001", "json"
