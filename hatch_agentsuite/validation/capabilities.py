"""AS-CAP-001: declared capabilities equal the derived ones (specification 7)."""

from __future__ import annotations

from collections.abc import Iterator

from hatch_agentsuite.findings import Finding
from hatch_agentsuite.validation.suite import ROOT, Suite

REQUIREMENT = "AS-CAP-001"
BUNDLED = "bundled-stdio-mcp"


def derived_capabilities(has_bundled_variants: bool) -> list[str]:
    """Return the capabilities that follow from the cataloged ToolProviders, sorted."""
    return [BUNDLED] if has_bundled_variants else []


def check(suite: Suite) -> Iterator[Finding]:
    """Yield a finding when the list is not exactly the derived one; absent and empty are equal."""
    if suite.manifest is None or suite.catalog is None or suite.catalog.value is None:
        return
    if any(document.value is None for document in suite.providers.values()):
        return
    written = suite.manifest.get("capabilities", [])
    derived = derived_capabilities(any(True for _ in suite.variants()))
    if written != derived:
        yield Finding(
            REQUIREMENT,
            "graph",
            f"{ROOT}#/capabilities",
            f"the list is {written}; the ToolProviders imply {derived}",
            "write the latter, or leave the member out of an authoring tree" if derived else "leave the member out",
        )
