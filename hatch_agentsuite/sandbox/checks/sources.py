"""ASI-SRC-001: suite, agent, composition and build inputs match the identities that they are bound by (15.2).

What an image carries is enough to judge it by itself; with the suite at hand, each document is looked up there too.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

from hatch_agentsuite.findings import Category, Finding, printable
from hatch_agentsuite.jsondoc import JSONDocumentError, digest, digest_bytes, loads, variant_digest
from hatch_agentsuite.sandbox import binding
from hatch_agentsuite.sandbox.checks.subject import Subject
from hatch_agentsuite.sandbox.composing import METADATA
from hatch_agentsuite.sandbox.config import timestamp
from hatch_agentsuite.sandbox.filesystem import PathError
from hatch_agentsuite.sandbox.sources import REQUIREMENT, Sources
from hatch_agentsuite.validation.suite import ProviderKey, Suite


def check(subject: Subject) -> Iterator[Finding]:
    """Yield where what the image carries does not match what binds it."""
    yield from subject.source_faults(REQUIREMENT)
    sources = subject.sources
    if sources is None:
        return
    yield from _bound(subject, sources)
    yield from _providers(sources)
    for path, expected in _references(sources):
        yield from _content(subject, path, expected)
    yield from _images(subject, sources)
    for key, variant in sources.bundles():
        yield from _payload(subject, key, variant)


def _bound(subject: Subject, sources: Sources) -> Iterator[Finding]:
    composition, profile = sources.composition, sources.profile
    if composition["buildProfile"] != profile["id"]:
        yield _finding(
            binding.PROFILE, f"the profile is `{profile['id']}`, not `{composition['buildProfile']}`", "graph"
        )
    created = timestamp(profile["sourceEpoch"])
    if subject.image.config.get("created") != created:
        said = printable(str(subject.image.config.get("created")))
        yield _finding("", f"the image says it was created at {said}, not at its source epoch, {created}", "build")
    record = subject.document(binding.BINDING, "agentsuite/sandbox-binding", REQUIREMENT).value
    if sources.agent is None or record is None:
        return
    expected = binding.composition_descriptor(composition)
    if record["composition"] != expected:
        yield _finding(binding.COMPOSITION, f"its descriptor is {expected}, the binding says {record['composition']}")
    agent = record["agent"]
    for name, said in ((binding.COMPOSITION, composition["agent"]), (binding.AGENT, sources.agent["id"])):
        if said != agent:
            yield _finding(name, f"the document is about the agent `{said}`, the binding about `{agent}`", "graph")
    if record["buildProfile"] != profile["id"]:
        message = f"the profile is `{profile['id']}`, the binding says `{record['buildProfile']}`"
        yield _finding(binding.PROFILE, message, "graph")


def _providers(sources: Sources) -> Iterator[Finding]:
    resolved = [sources.composition] if sources.agent is None else sources.composition["toolProviders"]
    wanted = [((item["id"], item["version"]), item["variantDigest"]) for item in resolved]
    for item in resolved:
        key = (item["id"], item["version"])
        manifest = sources.providers.get(key)
        if manifest is not None and digest(manifest) != item["manifestDigest"]:
            message = f"the manifest has the digest {digest(manifest)}, the composition says {item['manifestDigest']}"
            yield _finding(binding.provider_path(key), message)
    for _, variant in sources.bundles():
        wanted.extend(
            ((item["id"], item["version"]), item["variantDigest"]) for item in variant.get("dependencies", [])
        )
    for key, expected in wanted:
        found = sources.variant(key)
        manifest = sources.providers.get(key)
        if manifest is not None and (manifest["id"], manifest["version"]) != key:
            yield _finding(binding.provider_path(key), "the manifest is that of another ToolProvider", "graph")
        if manifest is not None and found is None:
            yield _finding(binding.provider_path(key), "it has no variant for the image's platform", "platform")
        if found is not None and not variant_digest(found) == found["variantDigest"] == expected:
            message = f"the variant has the digest {variant_digest(found)}; what selects it says {expected}"
            yield _finding(binding.provider_path(key), message)


def _references(sources: Sources) -> Iterator[tuple[str, str]]:
    items = [] if sources.agent is None else [sources.agent["instructions"]]
    for key, _ in sources.bundles():
        for tool in sources.providers[key]["tools"]:
            items.extend(tool[member] for member in ("inputSchema", "outputSchema") if member in tool)
    for item in items:
        yield item["path"], item["digest"]


def _content(subject: Subject, path: str, expected: str) -> Iterator[Finding]:
    name = f"{binding.CONTENT}/{path}"
    node = subject.filesystem.get(f"{METADATA}/{name}")
    if node is None or node.digest != expected:
        what = f"the file has the digest {node.digest}" if node else "the file is not in the image"
        yield _finding(name, f"{what}; the suite binds {expected}")


def _images(subject: Subject, sources: Sources) -> Iterator[Finding]:
    roles = [("runtimeBase", binding.RUNTIME_BASE)]
    if sources.agent is not None:
        roles.append(("harness", binding.HARNESS))
    layers: list[list[str]] = []
    for role, name in roles:
        pin, data = sources.pin(role), subject.data(name)
        if pin is None or data is None:
            missing = (
                "the build profile pins no such image for the platform" if pin is None else "it is not in the image"
            )
            yield _finding(name, missing, "build")
            return
        if digest_bytes(data) != pin["image"]["digest"] or len(data) != pin["image"]["size"]:
            message = f"the manifest has the digest {digest_bytes(data)}, the profile pins {pin['image']['digest']}"
            yield _finding(name, message)
        layers.append(_layer_digests(data))
    yield from _layers(subject, layers[0], layers[1] if len(layers) > 1 else [])


def _layer_digests(manifest: bytes) -> list[str]:
    try:
        value: Any = loads(manifest)
        return [item["digest"] for item in value["layers"]]
    except (JSONDocumentError, TypeError, KeyError):
        return []


def _layers(subject: Subject, base: list[str], harness: list[str]) -> Iterator[Finding]:
    """Judge that the image is the base's layers, then those of the harness that the base does not have, then ours."""
    actual = [layer.digest for layer in subject.layers]
    rest = actual[len(base) : -1]
    for number, expected in enumerate(base):
        if number >= len(actual) - 1 or actual[number] != expected:
            found = actual[number] if number < len(actual) else "none"
            yield _finding("", f"layer {number} is {found}; the runtime base has {expected} there", "build")
            return
    shared = len(harness) - len(rest)
    if shared < 0 or shared > len(base) or harness[shared:] != rest:
        message = "the layers above the runtime base are not those that the harness has beyond it"
        yield _finding("", message, "build")


def _payload(subject: Subject, key: ProviderKey, variant: dict[str, Any]) -> Iterator[Finding]:
    place = binding.provider_path(key)
    for item in variant["files"]:
        path = posixpath.join(variant["installRoot"], item["path"])
        try:
            node = subject.filesystem.get(subject.filesystem.place(path))
        except PathError:
            node = None
        kind = "file" if item["type"] == "hardlink" else item["type"]
        if node is None:
            yield _finding(place, f"`{path}` is not in the image")
            continue
        facts: list[tuple[str, object, object]] = [
            ("type", kind, node.kind),
            ("uid", item["uid"], node.uid),
            ("gid", item["gid"], node.gid),
        ]
        if item["type"] == "file":
            facts += [("size", item["size"], node.size), ("digest", item["digest"], node.digest)]
        if kind == "symlink":
            facts.append(("linkTarget", item["linkTarget"], node.target))
        else:
            facts.append(("mode", item["mode"], node.mode))
        for name, expected, found in facts:
            if expected != found:
                yield _finding(place, f"`{path}`: {name} is `{found}`, the variant says `{expected}`")


def check_suite(subject: Subject, suite: Suite, suite_digest: str) -> Iterator[Finding]:
    """Yield where an image is not one of this suite."""
    record = subject.document(binding.BINDING, "agentsuite/sandbox-binding", REQUIREMENT).value
    if subject.is_agent and record is not None and record["suiteDigest"] != suite_digest:
        message = f"the binding is to the suite {record['suiteDigest']}, this one is {suite_digest}"
        yield _finding(binding.BINDING, message)
    sources = subject.sources
    if sources is None:
        return
    pairs = suite.compositions if sources.agent is not None else suite.provider_compositions
    known = {reference.digest for reference, document in pairs if document.value}
    name = binding.composition_path(sources)
    if digest(sources.composition) not in known:
        yield _finding(name, "the suite has no such composition", "graph")
    profile = suite.profiles.get(sources.profile["id"])
    if profile is None or profile.digest != digest(sources.profile):
        yield _finding(binding.PROFILE, "the suite has no such build profile", "graph")
    if sources.agent is not None:
        agent = suite.agents.get(sources.agent["id"])
        if agent is None or agent.digest != digest(sources.agent):
            yield _finding(binding.AGENT, "the suite has no such agent manifest", "graph")
    for key, manifest in sources.providers.items():
        provider = suite.providers.get(key)
        if provider is None or provider.digest != digest(manifest):
            yield _finding(binding.provider_path(key), "the suite has no such ToolProvider manifest", "graph")


def _finding(name: str, message: str, category: Category = "digest") -> Finding:
    return Finding(REQUIREMENT, category, f"{METADATA}/{name}" if name else "", printable(message))
