"""A suite as a reader wants to see it: agents, tools, edges, platforms, sizes and digests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatch_agentsuite.documents import platform_name
from hatch_agentsuite.findings import Finding
from hatch_agentsuite.limits import DEFAULT_LIMITS, Limits
from hatch_agentsuite.validation.report import Summary, summarize
from hatch_agentsuite.validation.suite import ROOT, Suite, load_suite
from hatch_agentsuite.validation.validator import Opened, told


@dataclass(frozen=True)
class Inspection:
    """What was found at a path; ``summary`` is None when there was no readable suite."""

    findings: tuple[Finding, ...]
    summary: Summary | None = None
    members: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the machine form."""
        return {**(self.members or {}), "findings": [finding.to_json() for finding in self.findings]}


def inspect(path: Path, limits: Limits = DEFAULT_LIMITS) -> Inspection:
    """Return what the suite at ``path`` holds; a document that cannot be used is a finding and left out."""
    opened = Opened(path, limits)
    if opened.tree is None:
        return Inspection(told(opened.findings))
    suite = load_suite(opened.tree)
    findings = [*opened.findings, *opened.tree.findings]
    for document in suite.documents.values():
        findings.extend(document.findings)
    summary = summarize(suite)
    if summary is None:
        if suite.entry(ROOT) is None:
            findings.append(Finding("AS-GRAPH-001", "graph", ROOT, "the file is absent"))
        return Inspection(told(findings))
    members: dict[str, Any] = {"name": summary.name}
    if opened.digest:
        members["digest"] = opened.digest
    if opened.layer_size is not None:
        members["layerBytes"] = opened.layer_size
    members |= {
        "contentDigest": suite.documents[ROOT].digest,
        "entries": len(suite.tree.entries),
        "contentBytes": sum(entry.size for entry in suite.tree.entries.values()),
        "capabilities": list(summary.capabilities),
        "agents": [_agent(suite, summary, name) for name in suite.agents],
        "tools": _tools(suite),
        "toolProviders": _providers(suite),
        "compositions": [dict(selection) for selection in summary.composition_selections],
    }
    return Inspection(told(findings), summary, members)


def _agent(suite: Suite, summary: Summary, name: str) -> dict[str, Any]:
    document = suite.agents[name]
    value = document.value or {}
    index = suite.eval_indexes.get(name)
    return {
        "id": name,
        "description": value.get("description", ""),
        "digest": document.digest,
        "model": value.get("model", {"protocol": "?", "model": "?"}),
        "platforms": list(summary.agent_platforms.get(name, ())),
        "invokes": value.get("invokes", []),
        "toolProviders": [f"{item['id']}@{item['version']}" for item in value.get("toolProviders", [])],
        "evalCases": len((index.value or {}).get("cases", [])) if index else 0,
    }


def _tools(suite: Suite) -> list[dict[str, Any]]:
    return [
        {
            "toolProvider": f"{name}@{version}",
            "name": tool["name"],
            "description": tool.get("description", ""),
            "effect": tool.get("effect"),
            "approval": tool.get("approval"),
            "effects": tool.get("effects", []),
            "delegatedAuthorization": tool.get("delegatedAuthorization"),
            "platforms": _platforms(document.value or {}),
        }
        for (name, version), document in suite.providers.items()
        for tool in (document.value or {}).get("tools", [])
    ]


def _providers(suite: Suite) -> list[dict[str, Any]]:
    return [
        {
            "id": name,
            "version": version,
            "digest": document.digest,
            "remote": "remote" in (document.value or {}),
            "variants": [
                {
                    "platform": platform_name(variant["platform"]),
                    "digest": variant["variantDigest"],
                    "files": len(variant["files"]),
                    "bytes": sum(item.get("size", 0) for item in variant["files"]),
                }
                for variant in (document.value or {}).get("variants", [])
            ],
        }
        for (name, version), document in suite.providers.items()
    ]


def _platforms(provider: dict[str, Any]) -> list[str]:
    return [platform_name(variant["platform"]) for variant in provider.get("variants", [])]
