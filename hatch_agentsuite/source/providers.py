"""ToolProviders: manifests, variants in dependency order, tool schemas, SBOM and provenance, the catalog (9, 6.3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hatch_agentsuite.archive.layer import Progress
from hatch_agentsuite.jsondoc import canonical, canonical_object, variant_digest
from hatch_agentsuite.source.draft import Draft, Path
from hatch_agentsuite.source.files import Files
from hatch_agentsuite.source.hashing import Hashing
from hatch_agentsuite.source.inventory import (
    check_inventory_size,
    inventory,
    packed_inventory,
    payload_entries,
    payload_members,
    settle_inventory,
)
from hatch_agentsuite.source.members import PayloadMembers
from hatch_agentsuite.source.tree import SourceEntry, SourceTree

ProviderKey = tuple[str, str]
VariantKey = tuple[ProviderKey, int]

_FOLDER = re.compile(r"(?P<os>linux)-(?P<architecture>amd64|arm64)")
_REFERENCE_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.-]+)?")
_EVIDENCE_TYPES = {
    ".spdx.json": "application/spdx+json",
    ".cdx.json": "application/vnd.cyclonedx+json",
    ".intoto.jsonl": "application/vnd.in-toto+json",
    ".intoto.json": "application/vnd.in-toto+json",
}


@dataclass
class Providers:
    """The ToolProviders of a source tree: drafts by id and version, finished once their ``digests`` are known.

    A finished draft has no inventories any more: they are in its packed bytes, and what they list is in ``members``,
    by payload folder.
    """

    tree: SourceTree
    files: Files
    workers: int | None = None
    progress: Progress | None = None
    drafts: dict[ProviderKey, Draft] = field(default_factory=dict)
    digests: dict[ProviderKey, str] = field(default_factory=dict)
    members: dict[str, PayloadMembers] = field(default_factory=dict)
    payloads: dict[VariantKey, list[SourceEntry]] = field(default_factory=dict)
    _packed: dict[VariantKey, dict[str, bytes]] = field(default_factory=dict)
    _hashing: Hashing[VariantKey] = field(init=False, repr=False)
    _finished: set[VariantKey] = field(default_factory=set)

    def add(self, key: ProviderKey, draft: Draft) -> None:
        """Take a ToolProvider in; fill in what needs no digest, and find its payload folders."""
        self.drafts[key] = draft
        draft.settle_constants()
        draft.settle(("id",), key[0], "the folder")
        draft.settle(("version",), key[1], "the folder")
        if not _REFERENCE_VERSION.fullmatch(key[1]):
            draft.report(
                "SOURCE-MATCH-001",
                "tool-provider",
                ("version",),
                f"`{key[1]}` is a semantic version, but the reference implementation takes only one `-` or `+` part",
                "use `-` or `+`, not both",
            )
        for index, variant in enumerate(draft.value.get("variants", [])):
            self._place(key, draft, ("variants", index), variant)
        payloads = [
            (variant["payloadRoot"], self.payloads[key, index])
            for index, variant in enumerate(draft.value.get("variants", []))
            if (key, index) in self.payloads
        ]
        if not check_inventory_size(draft, ("variants",), payloads):
            draft.problems.stop()

    def finish(self) -> None:
        """Hash payloads and schemas, and fill in variants in the order of their dependencies."""
        for draft in self.drafts.values():
            for index, tool in enumerate(draft.value.get("tools", [])):
                for member in ("inputSchema", "outputSchema"):
                    if member in tool:
                        self.files.settle_reference(draft, ("tools", index, member))
        files = {
            variant: [entry for entry in payload if entry.kind == "file"] for variant, payload in self.payloads.items()
        }
        with Hashing(str(self.tree.root), files, self.workers, self.progress) as self._hashing:
            for key, draft in self.drafts.items():
                for index in range(len(draft.value.get("variants", []))):
                    self._finish_variant((key, index), ())
                self._seal(key, draft)
                self.digests[key] = draft.digest()

    def variant(self, key: ProviderKey, platform: Any) -> dict[str, Any] | None:
        """Return the variant for a platform."""
        draft = self.drafts.get(key)
        for variant in draft.value.get("variants", []) if draft else []:
            if variant.get("platform") == platform:
                found: dict[str, Any] = variant
                return found
        return None

    def unsupported(self, keys: list[ProviderKey], platform: dict[str, str]) -> list[ProviderKey]:
        """Return which of some ToolProviders, and of all they depend on, have no variant for a platform."""
        missing: list[ProviderKey] = []
        pending, seen = list(keys), set()
        while pending:
            key = pending.pop(0)
            if key in seen or key not in self.drafts:
                continue
            seen.add(key)
            variant = self.variant(key, platform)
            if variant is None:
                missing.append(key)
            else:
                pending.extend(_dependencies(variant))
        return missing

    def _place(self, key: ProviderKey, draft: Draft, where: Path, variant: dict[str, Any]) -> None:
        """Find the payload folder of a variant, and fill in what follows from it."""
        base = posixpath.dirname(draft.path)
        root = variant.get("payloadRoot") or self._payload_root(draft, where, variant, base)
        if root is None:
            return
        match = _FOLDER.fullmatch(posixpath.basename(root))
        if match:
            draft.settle((*where, "platform"), match.groupdict(), f"the folder `{root}`")
        draft.settle((*where, "payloadRoot"), root, "the platform")
        draft.settle((*where, "installRoot"), variant.get("installRoot", _install_root(key)), "the id and version")
        if self.tree.kind(root) != "directory":
            what = "does not exist" if self.tree.kind(root) is None else "is no folder"
            draft.report(
                "AS-PROVIDER-001", "tool-provider", where, f"the payload folder `{root}` {what}", "put the files there"
            )
            return
        self.tree.reach_below(root)
        payload = payload_entries(self.tree, root)
        if not payload:
            draft.report("AS-PROVIDER-001", "tool-provider", where, f"the payload folder `{root}` is empty")
            return
        self.payloads[key, int(where[1])] = payload

    def _payload_root(self, draft: Draft, where: Path, variant: dict[str, Any], base: str) -> str | None:
        platform = variant.get("platform")
        if platform:
            return f"{base}/{platform.get('os', 'linux')}-{platform.get('architecture')}"
        folders = [
            path
            for path in self.tree.children(base)
            if self.tree.kind(path) == "directory" and _FOLDER.fullmatch(posixpath.basename(path))
        ]
        if len(folders) == 1 and len(draft.value["variants"]) == 1:
            return folders[0]
        listed = ", ".join(f"`{posixpath.basename(path)}`" for path in folders) or "none"
        draft.report(
            "SOURCE-GIVE-001",
            "platform",
            where,
            f"the platform of this variant does not follow from the payload folders (found: {listed})",
            "write `platform: {os: linux, architecture: amd64}`",
        )
        return None

    def _seal(self, key: ProviderKey, draft: Draft) -> None:
        """Let go of the inventories, which are packed: tens of thousands of entries need not be held twice."""
        variants = draft.value.get("variants", [])
        packed = [canonical_object(item, self._packed.pop((key, index), {})) for index, item in enumerate(variants)]
        draft.seal(canonical_object(draft.value, {"variants": b"[" + b",".join(packed) + b"]"} if packed else {}))
        if draft.problems.has_errors:
            return
        for variant in variants:
            self.members[variant["payloadRoot"]] = payload_members(self.tree, variant)
            del variant["files"]

    def _inventory(self, variant_key: VariantKey) -> None:
        draft = self.drafts[variant_key[0]]
        where: Path = ("variants", variant_key[1])
        try:
            found = self._hashing.results(variant_key)
            computed = inventory(draft.at(where)["payloadRoot"], self.payloads.pop(variant_key), found)
        except OSError as error:
            message = f"a payload file cannot be read: {error.filename}: {error.strerror or error}"
            draft.report("SOURCE-TREE-001", "path", where, message)
            return
        settle_inventory(self.tree, draft, where, computed)
        variant = draft.at(where)
        files = variant["files"]
        self._packed[variant_key] = {"files": packed_inventory(files) if files is computed else canonical(files)}
        for member in ("sbom", "provenance"):
            if member in variant:
                self._evidence(draft, (*where, member), variant)

    def _evidence(self, draft: Draft, where: Path, variant: dict[str, Any]) -> None:
        """Replace the name of a source file by its descriptor, and let the file's bytes join the layout."""
        member = str(where[-1])
        written = variant[member]
        if isinstance(written, dict) and "path" not in written:
            self.files.settle_blob(draft, where, written)
            return
        path = written if isinstance(written, str) else written["path"]
        media_type = None if isinstance(written, str) else written.get("mediaType")
        if media_type is None:
            media_type = next((kind for end, kind in _EVIDENCE_TYPES.items() if path.endswith(end)), None)
        if media_type is None:
            draft.report(
                "SOURCE-GIVE-001",
                "tool-provider",
                where,
                f"the media type of `{path}` does not follow from its name",
                f"known endings: {', '.join(_EVIDENCE_TYPES)}; or write `{{path: ..., mediaType: ...}}`",
            )
            return
        found = self.files.blob(draft, where, path)
        if found:
            variant[member] = {"mediaType": media_type, "digest": found[0], "size": found[1]}

    def _finish_variant(self, variant_key: VariantKey, way: tuple[ProviderKey, ...]) -> None:
        key, index = variant_key
        draft = self.drafts[key]
        where: Path = ("variants", index)
        variant = draft.at(where)
        platform = variant.get("platform")
        if not platform or variant_key in self._finished:
            return
        if key in way:
            circle = " -> ".join(f"{name} {version}" for name, version in (*way[way.index(key) :], key))
            draft.report("AS-GRAPH-001", "graph", (*where, "dependencies"), f"the dependencies form a cycle: {circle}")
            return
        self._inventory(variant_key)
        for number, target in enumerate(_dependencies(variant)):
            self._settle_dependency(draft, (*where, "dependencies", number), target, platform, (*way, key))
        self._finished.add(variant_key)
        digest = variant_digest(variant, self._packed.get(variant_key, {}))
        draft.settle((*where, "variantDigest"), digest, "section 6.3")

    def _settle_dependency(
        self, draft: Draft, where: Path, target: ProviderKey, platform: Any, way: tuple[ProviderKey, ...]
    ) -> None:
        provider = self.drafts.get(target)
        name = f"`{target[0]}` {target[1]}"
        if provider is None:
            draft.report("AS-GRAPH-001", "graph", where, f"{name} is no ToolProvider of this suite")
            return
        variants = provider.value.get("variants", [])
        index = next((i for i, item in enumerate(variants) if item.get("platform") == platform), None)
        if index is None:
            draft.report("AS-GRAPH-001", "graph", where, f"{name} has no variant for {_platform(platform)}")
            return
        self._finish_variant((target, index), way)
        if "variantDigest" in variants[index]:
            draft.settle((*where, "variantDigest"), variants[index]["variantDigest"], f"the variant of {name}")


def settle_catalog(catalog: Draft, providers: Providers) -> None:
    """Fill the catalog in: one entry for each ToolProvider, in their order where nobody wrote a list."""
    drafts = providers.drafts
    catalog.settle_constants()
    if "toolProviders" not in catalog.value:
        catalog.value["toolProviders"] = [{"id": name, "version": version} for name, version in drafts]
    for index, item in enumerate(catalog.value["toolProviders"]):
        key = (item.get("id", ""), item.get("version", ""))
        draft = drafts.get(key)
        if draft:
            catalog.settle(("toolProviders", index, "path"), draft.path, "the folder")
            catalog.settle(("toolProviders", index, "digest"), providers.digests[key], f"`{draft.name}`")


def provider_folders(tree: SourceTree) -> Iterator[tuple[ProviderKey, str]]:
    """Yield id, version and folder of every ``tool-providers/<id>/<version>/``, sorted."""
    for outer in tree.children("tool-providers"):
        for inner in tree.children(outer):
            if tree.kind(inner) == "directory":
                yield (posixpath.basename(outer), posixpath.basename(inner)), inner


def _dependencies(variant: dict[str, Any]) -> list[ProviderKey]:
    return [(item.get("id", ""), item.get("version", "")) for item in variant.get("dependencies", [])]


def _install_root(key: ProviderKey) -> str:
    return f"/opt/agentsuite/tool-providers/{key[0]}/{key[1]}"


def _platform(platform: Any) -> str:
    return f"{platform.get('os')}/{platform.get('architecture')}"
