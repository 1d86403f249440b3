"""AS-GRAPH-001: all manifest and invocation references form a closed graph (specification 7, 8, 8.1, 9.1, 9.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from hatch_agentsuite.findings import Finding, pointer
from hatch_agentsuite.validation.bundles import dependency_cycle, select_variant
from hatch_agentsuite.validation.suite import ROOT, ProviderKey, Suite

REQUIREMENT = "AS-GRAPH-001"


def check(suite: Suite) -> Iterator[Finding]:
    """Yield references that lead nowhere, identities that stand twice or disagree, and entries nothing needs."""
    root = suite.entry(ROOT)
    if root is None:
        yield _finding(ROOT, "the file is absent; it is the root of the content graph", "is this a content directory?")
    elif root.type != "file":
        yield _finding(ROOT, f"this is a {root.type}; the root of the content graph is a regular file")
    yield from _targets(suite)
    yield from _identities(suite)
    yield from _duplicates(suite)
    yield from _agents(suite)
    yield from _tools(suite)
    yield from _inward_references(suite)
    yield from _dependencies(suite)


def _targets(suite: Suite) -> Iterator[Finding]:
    for reference in suite.references:
        entry = suite.entry(reference.path)
        # The path of an extension's document follows from the extension's name.
        location = reference.location if reference.pointer.startswith("/extensions/") else f"{reference.location}/path"
        if entry is None:
            yield _finding(location, f"`{reference.path}` is not in the content")
        elif entry.type != "file":
            yield _finding(location, f"`{reference.path}` is a {entry.type}; a regular file is needed")
        elif reference.kind:
            document = suite.documents.get(reference.path)
            if document and document.kind != reference.kind:
                yield _finding(location, f"`{reference.path}` is referenced as two kinds of document")


def _identities(suite: Suite) -> Iterator[Finding]:
    """Compare what references say of their targets with what the targets say of themselves (7)."""
    if suite.manifest is None:
        return
    members: dict[str, tuple[str, ...]] = {
        "agents": ("id",),
        "buildProfiles": ("id",),
        "compositions": ("agent", "platform"),
        "toolProviderCompositions": ("id", "version", "platform"),
    }
    for name, keys in members.items():
        for index, item in enumerate(suite.manifest.get(name, [])):
            yield from _agreement(suite, f"{ROOT}#{pointer(name, index)}", item, keys)
    catalog = suite.catalog
    for index, item in enumerate((catalog.value or {}).get("toolProviders", []) if catalog else []):
        yield from _agreement(suite, f"{catalog.path}#{pointer('toolProviders', index)}", item, ("id", "version"))  # type: ignore[union-attr]


def _agreement(suite: Suite, location: str, item: dict[str, Any], keys: tuple[str, ...]) -> Iterator[Finding]:
    document = suite.documents.get(item["path"])
    if document is None or document.value is None:
        return
    for key in keys:
        if document.value.get(key) != item[key]:
            yield _finding(
                f"{location}/{key}",
                f"the reference says {_show(item[key])}, `{item['path']}` says {_show(document.value.get(key))}",
            )


def _show(value: object) -> str:
    if isinstance(value, dict):
        return f"{value.get('os')}/{value.get('architecture')}"
    return f"`{value}`"


def _duplicates(suite: Suite) -> Iterator[Finding]:
    manifest = suite.manifest or {}
    yield from _twice(ROOT, manifest, "agents", lambda item: item["id"], "id")
    yield from _twice(ROOT, manifest, "agents", lambda item: item["path"], "path")
    yield from _twice(ROOT, manifest, "buildProfiles", lambda item: item["id"], "id")
    yield from _twice(ROOT, manifest, "compositions", lambda item: (item["agent"], _show(item["platform"])))
    yield from _twice(
        ROOT,
        manifest,
        "toolProviderCompositions",
        lambda item: (item["id"], item["version"], _show(item["platform"])),
    )
    yield from _twice(ROOT, manifest, "extensions", lambda item: item["name"], "name")
    for profile in suite.profiles.values():
        for member in ("runtimeBase", "harness"):
            yield from _twice(
                profile.path, profile.value or {}, member, lambda item: _show(item["platform"]), "platform"
            )
    if suite.catalog and suite.catalog.value:
        yield from _twice(
            suite.catalog.path, suite.catalog.value, "toolProviders", lambda item: (item["id"], item["version"])
        )
    for document in (*suite.agents.values(), *suite.providers.values()):
        yield from _twice(document.path, document.value or {}, "extensions", lambda item: item["name"], "name")


def _twice(
    path: str, value: dict[str, Any], member: str, key: Callable[[Any], Hashable], leaf: str = ""
) -> Iterator[Finding]:
    """Yield a finding for every list item whose key an earlier item has."""
    counts: Counter[Hashable] = Counter()
    for index, item in enumerate(value.get(member, [])):
        identity = key(item)
        counts[identity] += 1
        if counts[identity] == 2:
            words = " ".join(identity) if isinstance(identity, tuple) else str(identity)
            where = pointer(member, index, leaf) if leaf else pointer(member, index)
            yield _finding(f"{path}#{where}", f"`{words}` stands twice in `{member}`")


def _agents(suite: Suite) -> Iterator[Finding]:
    known = {item["id"] for item in (suite.manifest or {}).get("agents", [])}
    for name, document in suite.agents.items():
        value = document.value or {}
        yield from _twice(document.path, value, "toolProviders", lambda item: (item["id"], item["version"]))
        yield from _twice(document.path, value, "invokes", lambda item: item["agent"], "agent")
        for index, edge in enumerate(value.get("invokes", [])):
            location = f"{document.path}#{pointer('invokes', index, 'agent')}"
            if edge["agent"] == name:
                yield _finding(location, "an agent cannot invoke itself", "an edge names another agent (section 8.1)")
            elif edge["agent"] not in known:
                yield _finding(location, f"`{edge['agent']}` is no agent of this suite", f"known: {_listed(known)}")
        for index, item in enumerate(value.get("toolProviders", [])):
            if suite.catalog and suite.catalog.value and (item["id"], item["version"]) not in suite.providers:
                location = f"{document.path}#{pointer('toolProviders', index)}"
                versions = sorted(version for id_, version in suite.providers if id_ == item["id"])
                hint = f"cataloged versions: {', '.join(versions)}" if versions else ""
                yield _finding(location, f"`{item['id']}` {item['version']} is not in the catalog", hint)


def _tools(suite: Suite) -> Iterator[Finding]:
    for document in suite.providers.values():
        value = document.value or {}
        yield from _twice(document.path, value, "tools", lambda item: item["name"], "name")
        yield from _twice(document.path, value, "variants", lambda item: _show(item["platform"]), "platform")


def _inward_references(suite: Suite) -> Iterator[Finding]:
    """Yield cataloged ToolProviders that nothing needs and that do not say they are retained (9.1)."""
    compositions = (document for _, document in suite.provider_compositions)
    if any(holder.value is None for holder in (*suite.agents.values(), *suite.providers.values(), *compositions)):
        return
    needed: set[ProviderKey] = set()
    for agent in suite.agents.values():
        needed.update((item["id"], item["version"]) for item in (agent.value or {}).get("toolProviders", []))
    for _, composition in suite.provider_compositions:
        if composition.value:
            needed.add((composition.value["id"], composition.value["version"]))
    for _, _, variant in suite.variants():
        needed.update((item["id"], item["version"]) for item in variant.get("dependencies", []))
    for (name, version), document in suite.providers.items():
        if (name, version) not in needed and not (document.value or {}).get("retained"):
            yield _finding(
                document.path,
                f"nothing refers to `{name}` {version}",
                "let an agent require it, list it under `provider-images`, or write `retained: true`",
            )


def _dependencies(suite: Suite) -> Iterator[Finding]:
    reported: set[frozenset[ProviderKey]] = set()
    for document, index, variant in suite.variants():
        key = (document.value or {})["id"], (document.value or {})["version"]
        for number, item in enumerate(variant.get("dependencies", [])):
            location = f"{document.path}#{pointer('variants', index, 'dependencies', number)}"
            target = (item["id"], item["version"])
            name = f"`{target[0]}` {target[1]}"
            if target not in suite.providers:
                yield _finding(location, f"{name} is not in the catalog")
            elif suite.providers[target].value is not None:
                selected = select_variant(suite, target, variant["platform"])
                if selected is None:
                    yield _finding(location, f"{name} has no variant for {_show(variant['platform'])}")
                elif selected["variantDigest"] != item["variantDigest"]:
                    yield _finding(
                        f"{location}/variantDigest",
                        f"the variant of {name} has the digest {selected['variantDigest']}",
                    )
        cycle = dependency_cycle(suite, key, variant["platform"])
        if cycle and frozenset(cycle) not in reported:
            reported.add(frozenset(cycle))
            way = " -> ".join(f"{name} {version}" for name, version in cycle)
            yield _finding(f"{document.path}#{pointer('variants', index, 'dependencies')}", f"a cycle: {way}")


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)[:20])


def _finding(location: str, message: str, hint: str = "") -> Finding:
    return Finding(REQUIREMENT, "graph", location, message, hint)
