"""AS-PROVIDER-COMPOSE-001: a ToolProvider composition resolves one exact variant and its closure (10.1)."""

from __future__ import annotations

from collections.abc import Iterator

from hatch_agentsuite.findings import Finding
from hatch_agentsuite.validation.bundles import closure, collisions
from hatch_agentsuite.validation.compositions import profile_faults, variant_faults
from hatch_agentsuite.validation.suite import Suite

REQUIREMENT = "AS-PROVIDER-COMPOSE-001"


def check(suite: Suite) -> Iterator[Finding]:
    """Yield what keeps a ToolProvider composition from being exact and buildable."""
    for _, document in suite.provider_compositions:
        value = document.value
        if value is None:
            continue
        yield from profile_faults(suite, document, ("runtimeBase",), REQUIREMENT)
        key = (value["id"], value["version"])
        provider = suite.providers.get(key)
        if provider is None:
            if suite.catalog and suite.catalog.value:
                message = f"`{key[0]}` {key[1]} is not in the catalog"
                yield Finding(REQUIREMENT, "graph", f"{document.path}#/id", message)
            continue
        yield from variant_faults(suite, provider, value["platform"], f"{document.path}#", value, REQUIREMENT)
        for destination, message in collisions(suite, closure(suite, [key], value["platform"]), value["platform"]):
            text = f"bundles collide at {destination}: {message}"
            yield Finding(REQUIREMENT, "tool-provider", document.path, text)
