"""What this package registers with Hatch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hatchling.plugin import hookimpl

if TYPE_CHECKING:
    from hatch_agentsuite.build_hook import AgentSuiteBuildHook
    from hatch_agentsuite.builder import AgentSuiteBuilder


@hookimpl
def hatch_register_builder() -> type[AgentSuiteBuilder]:
    """Register the build target ``agentsuite``."""
    from hatch_agentsuite.builder import AgentSuiteBuilder

    return AgentSuiteBuilder


@hookimpl
def hatch_register_build_hook() -> type[AgentSuiteBuildHook]:
    """Register the build hook ``agentsuite``."""
    from hatch_agentsuite.build_hook import AgentSuiteBuildHook

    return AgentSuiteBuildHook
