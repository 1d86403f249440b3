"""An image as its judges see it: manifest, config, layers, file system, and the documents below ``/.agentsuite/``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import agentsuite_schemas
from hatch_agentsuite.findings import Finding, pointer
from hatch_agentsuite.jsondoc import JSONDocumentError, JSONLimits, loads
from hatch_agentsuite.sandbox import binding
from hatch_agentsuite.sandbox.composing import METADATA
from hatch_agentsuite.sandbox.config import BINDING_LABEL, PROVIDER_LABEL
from hatch_agentsuite.sandbox.filesystem import Filesystem
from hatch_agentsuite.sandbox.images import Image
from hatch_agentsuite.sandbox.layers import MAX_DOCUMENT
from hatch_agentsuite.sandbox.nodes import BASE, HARNESS, OURS, Layer
from hatch_agentsuite.sandbox.sources import Sources
from hatch_agentsuite.validation.suite import ProviderKey

INVENTORY_LIMITS = JSONLimits(document_bytes=MAX_DOCUMENT, document_members=10_000_000)


@dataclass(frozen=True)
class Read:
    """A document of the image; ``value`` is None where there is none that can be used, and ``finding`` says why."""

    value: dict[str, Any] | None = None
    finding: Finding | None = None


class Subject:
    """One image of one platform; ``platform`` is what its descriptor says, if it says anything.

    ``below`` are the layers but the last one, flattened, where somebody has done that.
    """

    def __init__(
        self,
        image: Image,
        layers: list[Layer],
        platform: dict[str, Any] | None,
        below: Filesystem | None = None,
    ) -> None:
        self._below = below
        self.image = image
        self.layers = layers
        self.platform = platform
        self._read: dict[tuple[str, str], Read] = {}

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the config."""
        found: dict[str, str] = self.image.settings.get("Labels") or {}
        return found

    @property
    def is_agent(self) -> bool:
        """Whether this is the image of an agent, and not that of a ToolProvider."""
        return PROVIDER_LABEL not in self.labels or BINDING_LABEL in self.labels

    @property
    def config_platform(self) -> dict[str, str]:
        """The platform that the config names."""
        return self.image.platform

    @cached_property
    def below(self) -> Filesystem:
        """The layers but ours, flattened; which of them are whose is told by the embedded manifests."""
        if self._below is not None:
            return self._below
        found = Filesystem()
        for number, layer in enumerate(self.layers[:-1]):
            found.apply(layer, BASE if number < self.base_layers else HARNESS)
        return found

    @cached_property
    def filesystem(self) -> Filesystem:
        """The layers, flattened."""
        found = self.below.copy()
        found.apply(self.layers[-1], OURS)
        return found

    @cached_property
    def base_layers(self) -> int:
        """How many layers the runtime base has; all but ours where it is not told."""
        manifest = self._manifest(binding.RUNTIME_BASE)
        most = len(self.layers) - 1
        return min(len(manifest["layers"]), most) if manifest else most

    def _manifest(self, name: str) -> dict[str, Any] | None:
        """Return an image manifest that our layer brings, whatever the layers below it hold."""
        path = f"{METADATA}/{name}"
        found = [change.node.text for change in self.layers[-1].changes if change.node and change.path == path]
        try:
            value = loads(found[-1] or b"") if found else None
        except JSONDocumentError:
            return None
        is_manifest = isinstance(value, dict) and isinstance(value.get("layers"), list)
        return value if is_manifest and isinstance(value, dict) else None

    def data(self, name: str) -> bytes | None:
        """Return the bytes of a regular file below ``/.agentsuite/``; none where it is absent or beyond the bounds."""
        node = self.filesystem.get(f"{METADATA}/{name}")
        return node.text if node is not None and node.kind == "file" else None

    def document(self, name: str, kind: str, requirement: str) -> Read:
        """Return a document of a schema (of none where ``kind`` is empty), with what is wrong with it."""
        key = (name, kind)
        if key not in self._read:
            self._read[key] = self._load(name, kind)
        read = self._read[key]
        return replace(read, finding=replace(read.finding, requirement=requirement)) if read.finding else read

    def _load(self, name: str, kind: str) -> Read:
        path, data = f"{METADATA}/{name}", self.data(name)
        if data is None:
            return Read(finding=Finding("", "build", path, "the file is not in the image"))
        try:
            value = loads(data, INVENTORY_LIMITS) if kind == "" else loads(data)
        except JSONDocumentError as error:
            return Read(finding=Finding("", "json", f"{path}#{error.pointer}", error.message, error.hint))
        if kind:
            for fault in agentsuite_schemas.validator(kind).errors(value):
                return Read(finding=Finding("", "json", f"{path}#{pointer(*fault.path)}", fault.message))
        if not isinstance(value, dict):
            return Read(finding=Finding("", "json", path, "the document is no object"))
        return Read(value)

    @cached_property
    def sources(self) -> Sources | None:
        """What the image says it was made from; None where its documents do not say it (:meth:`source_faults`)."""
        composition = self._value(*self.composition_at)
        profile = self._value(binding.PROFILE, "agentsuite/build-profile")
        agent = self._value(binding.AGENT, "agentsuite/agent") if self.is_agent else None
        if composition is None or profile is None or (self.is_agent and agent is None):
            return None
        found = Sources(composition["platform"], composition, profile, agent)
        providers: dict[ProviderKey, dict[str, Any]] = {}
        pending = list(found.roots)
        while pending:
            key = pending.pop()
            value = self._value(binding.provider_path(key), "agentsuite/tool-provider")
            if key in providers or value is None:
                continue
            providers[key] = value
            variant = Sources(found.platform, composition, profile, agent, providers).variant(key) or {}
            pending.extend((item["id"], item["version"]) for item in variant.get("dependencies", []))
        return Sources(found.platform, composition, profile, agent, providers)

    @property
    def composition_at(self) -> tuple[str, str]:
        """Where the composition lies, and its schema."""
        if self.is_agent:
            return binding.COMPOSITION, "agentsuite/composition"
        return binding.PROVIDER_COMPOSITION, "agentsuite/tool-provider-composition"

    def _value(self, name: str, kind: str) -> dict[str, Any] | None:
        return self.document(name, kind, "").value

    def source_faults(self, requirement: str) -> Iterator[Finding]:
        """Yield what keeps the documents of an image from being read."""
        wanted = [(binding.PROFILE, "agentsuite/build-profile"), self.composition_at]
        if self.is_agent:
            wanted.append((binding.AGENT, "agentsuite/agent"))
        if self.sources is not None:
            named = list(self.sources.roots)
            for _, variant in self.sources.bundles():
                named.extend((item["id"], item["version"]) for item in variant.get("dependencies", []))
            wanted.extend((binding.provider_path(key), "agentsuite/tool-provider") for key in dict.fromkeys(named))
        for name, kind in wanted:
            finding = self.document(name, kind, requirement).finding
            if finding:
                yield finding
