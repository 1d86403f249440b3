"""AS-DRAFT-001: deferred and reserved features are rejected (specification 7, 8, 9.3, Appendix A).

Execution modes, protocols, transports and platforms other than this draft's are found by the documents' schemas, and
reported under this requirement too. Here: critical extensions, and requirements that rest on a remote declaration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hatch_agentsuite.findings import Finding, pointer
from hatch_agentsuite.validation.suite import ROOT, Suite

REQUIREMENT = "AS-DRAFT-001"


def check(suite: Suite) -> Iterator[Finding]:
    """Yield critical extensions and agent requirements that only a remote ToolProvider could meet."""
    if suite.manifest:
        yield from _extensions(ROOT, suite.manifest)
    for document in (*suite.agents.values(), *suite.providers.values()):
        if document.value:
            yield from _extensions(document.path, document.value)
    for agent in suite.agents.values():
        for index, requirement in enumerate((agent.value or {}).get("toolProviders", [])):
            provider = suite.providers.get((requirement["id"], requirement["version"]))
            if provider and provider.value and "variants" not in provider.value:
                yield Finding(
                    REQUIREMENT,
                    "tool-provider",
                    f"{agent.path}#{pointer('toolProviders', index)}",
                    f"`{requirement['id']}` {requirement['version']} is remote only; agents cannot use a remote "
                    "ToolProvider in this draft",
                    "add bundled variants to it, or remove the requirement",
                )


def _extensions(path: str, value: dict[str, Any]) -> Iterator[Finding]:
    for index, extension in enumerate(value.get("extensions", [])):
        if extension["critical"]:
            yield Finding(
                REQUIREMENT,
                "graph",
                f"{path}#{pointer('extensions', index, 'critical')}",
                f"the extension `{extension['name']}` is critical; this draft defines none",
                "unknown critical extensions are always refused",
            )
