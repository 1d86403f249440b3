"""AS-COMPOSE-001: compositions exactly resolve their agents' ToolProviders (specification 8, 10).

No ambient, missing, duplicate, stale or differently versioned provider; sorted by id and then version; a build profile
that serves the platform; no two bundles at odds over one destination.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hatch_agentsuite.documents import platform_name
from hatch_agentsuite.findings import Category, Finding, pointer
from hatch_agentsuite.validation.bundles import closure, collisions, select_variant
from hatch_agentsuite.validation.suite import ROOT, Document, ProviderKey, Suite

REQUIREMENT = "AS-COMPOSE-001"


def check(suite: Suite) -> Iterator[Finding]:
    """Yield what keeps a composition from being the exact resolution of its agent for its platform."""
    for _, document in suite.compositions:
        if document.value is None:
            continue
        yield from profile_faults(suite, document, ("runtimeBase", "harness"), REQUIREMENT)
        yield from _providers(suite, document, document.value)
    if suite.manifest is None:
        return
    composed = {item["agent"] for item in suite.manifest["compositions"]}
    for index, item in enumerate(suite.manifest["agents"]):
        if item["id"] not in composed:
            location = f"{ROOT}#{pointer('agents', index)}"
            yield _finding(location, f"the agent `{item['id']}` has no composition", "every agent needs at least one")
    known = {item["id"] for item in suite.manifest["agents"]}
    for index, item in enumerate(suite.manifest["compositions"]):
        if item["agent"] not in known:
            location = f"{ROOT}#{pointer('compositions', index, 'agent')}"
            yield _finding(location, f"`{item['agent']}` is no agent of this suite")


def profile_faults(suite: Suite, document: Document, members: tuple[str, ...], requirement: str) -> Iterator[Finding]:
    """Yield what keeps the build profile that a composition names from serving its platform (10, 10.1, 11)."""
    value = document.value or {}
    location = f"{document.path}#/buildProfile"
    profile = suite.profiles.get(value["buildProfile"])
    if profile is None:
        known = ", ".join(f"`{name}`" for name in sorted(suite.profiles))
        message = f"there is no build profile `{value['buildProfile']}`"
        yield Finding(requirement, "build", location, message, f"known: {known}")
        return
    if profile.value is None:
        return
    for member in members:
        if not any(image["platform"] == value["platform"] for image in profile.value[member]):
            yield Finding(
                requirement,
                "build",
                location,
                f"`{profile.path}` has no `{member}` entry for {platform_name(value['platform'])}",
                "exactly one is needed",
            )


def _providers(suite: Suite, document: Document, value: dict[str, Any]) -> Iterator[Finding]:
    records = value["toolProviders"]
    keys: list[ProviderKey] = [(record["id"], record["version"]) for record in records]
    if keys != sorted(set(keys)):
        location = f"{document.path}#/toolProviders"
        yield _finding(location, "the records are not strictly sorted by id and then version")
    yield from _requirements(suite, document, keys)
    for index, record in enumerate(records):
        yield from _record(suite, value["platform"], f"{document.path}#{pointer('toolProviders', index)}", record)
    for destination, message in collisions(suite, closure(suite, keys, value["platform"]), value["platform"]):
        location = f"{document.path}#/toolProviders"
        yield _finding(location, f"bundles collide at {destination}: {message}", category="tool-provider")


def _requirements(suite: Suite, document: Document, keys: list[ProviderKey]) -> Iterator[Finding]:
    agent = suite.agents.get((document.value or {})["agent"])
    if agent is None or agent.value is None:
        return
    required = {(item["id"], item["version"]) for item in agent.value.get("toolProviders", [])}
    location = f"{document.path}#/toolProviders"
    for name, version in sorted(required - set(keys)):
        yield _finding(location, f"`{name}` {version}, which the agent requires, is missing")
    for name, version in sorted(set(keys) - required):
        yield _finding(location, f"`{name}` {version} is ambient: the agent does not require it")


def _record(suite: Suite, platform: dict[str, Any], location: str, record: dict[str, Any]) -> Iterator[Finding]:
    key = (record["id"], record["version"])
    provider = suite.providers.get(key)
    if provider is None:
        if suite.catalog and suite.catalog.value:
            yield _finding(location, f"`{key[0]}` {key[1]} is not in the catalog")
        return
    yield from variant_faults(suite, provider, platform, location, record, REQUIREMENT)


def variant_faults(
    suite: Suite,
    provider: Document,
    platform: dict[str, Any],
    location: str,
    record: dict[str, Any],
    requirement: str,
) -> Iterator[Finding]:
    """Yield where a resolved record differs from the exact manifest and variant it stands for (10, 10.1)."""
    if provider.digest and record["manifestDigest"] != provider.digest:
        message = f"the manifest {provider.path} has the digest {provider.digest}"
        yield Finding(requirement, "digest", f"{location}/manifestDigest", message)
    if provider.value is None:
        return
    variant = select_variant(suite, (record["id"], record["version"]), platform)
    if variant is None:
        if "variants" in provider.value:
            message = f"`{record['id']}` {record['version']} has no variant for {platform_name(platform)}"
            yield Finding(requirement, "platform", location, message)
        elif requirement != REQUIREMENT:
            message = f"`{record['id']}` {record['version']} is remote only; it has no variant to build from"
            yield Finding(requirement, "tool-provider", location, message)
    elif variant["variantDigest"] != record["variantDigest"]:
        message = f"the variant for {platform_name(platform)} has the digest {variant['variantDigest']}"
        yield Finding(requirement, "digest", f"{location}/variantDigest", message)


def _finding(location: str, message: str, hint: str = "", category: Category = "graph") -> Finding:
    return Finding(REQUIREMENT, category, location, message, hint)
