"""The report of one validation; its machine form has the reference validator's member names and our findings."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from hatch_agentsuite.documents import platform_name
from hatch_agentsuite.findings import Finding
from hatch_agentsuite.validation.suite import Suite


@dataclass(frozen=True)
class Summary:
    """What a suite holds: counts of documents, and which composition serves which agent and platform (15.1)."""

    name: str
    agents: int
    tool_providers: int
    tool_provider_compositions: int
    compositions: int
    capabilities: tuple[str, ...]
    agent_platforms: dict[str, tuple[str, ...]]
    composition_selections: tuple[dict[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the summary with the reference validator's member names."""
        return {
            "name": self.name,
            "agents": self.agents,
            "toolProviders": self.tool_providers,
            "toolProviderCompositions": self.tool_provider_compositions,
            "compositions": self.compositions,
            "capabilities": list(self.capabilities),
            "agentPlatforms": {agent: list(platforms) for agent, platforms in self.agent_platforms.items()},
            "compositionSelections": [dict(selection) for selection in self.composition_selections],
        }


@dataclass(frozen=True)
class Report:
    """The verdict on one path.

    ``digest`` is the OCI manifest's digest (None for a directory of content), ``content_digest`` the JCS digest of
    ``agentsuite.json``. ``summary`` is there when that document could be read. ``requirements`` are those that the
    report was narrowed to, none where all were judged.
    """

    path: str
    findings: tuple[Finding, ...]
    summary: Summary | None = None
    digest: str | None = None
    content_digest: str | None = None
    requirements: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing refuses the suite; warnings do not count."""
        return not any(finding.is_error for finding in self.findings)

    def narrowed(self, requirements: Collection[str]) -> Report:
        """Return the report as if there were no other requirements than these.

        Where the suite could not be read at all none of them was judged, and every finding stays.
        """
        kept = tuple(item for item in self.findings if self.summary is None or item.requirement in requirements)
        return replace(self, findings=kept, requirements=tuple(requirements))

    def to_json(self) -> dict[str, Any]:
        """Return the machine form of the report."""
        members: dict[str, Any] = {"path": self.path, "valid": self.ok}
        if self.requirements:
            members["requirements"] = list(self.requirements)
        if self.digest:
            members["digest"] = self.digest
        if self.content_digest:
            members["contentDigest"] = self.content_digest
        if self.summary:
            members.update(self.summary.to_json())
        members["findings"] = [finding.to_json() for finding in self.findings]
        return members


def summarize(suite: Suite) -> Summary | None:
    """Return what a suite holds, or None when its manifest could not be read."""
    manifest = suite.manifest
    if manifest is None:
        return None
    platforms: dict[str, list[str]] = {}
    selections = []
    for reference, document in suite.compositions:
        if document.value is None:
            continue
        agent, platform = document.value["agent"], platform_name(document.value["platform"])
        platforms.setdefault(agent, []).append(platform)
        selections.append(
            {
                "agent": agent,
                "platform": platform,
                "buildProfile": document.value["buildProfile"],
                "digest": reference.digest,
            }
        )
    return Summary(
        name=manifest["name"],
        agents=len(manifest["agents"]),
        tool_providers=len(suite.providers),
        tool_provider_compositions=len(manifest.get("toolProviderCompositions", [])),
        compositions=len(manifest["compositions"]),
        capabilities=tuple(manifest.get("capabilities", [])),
        agent_platforms={agent: tuple(found) for agent, found in platforms.items()},
        composition_selections=tuple(selections),
    )
