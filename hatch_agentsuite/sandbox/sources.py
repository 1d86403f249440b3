"""What an image is made from: the documents of a suite that select it, and the bundles that they lead to.

The same value is taken from a suite, when an image is built, and from the image's own ``/.agentsuite/``, when it is
judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hatch_agentsuite.documents import platform_name
from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.paths import is_below
from hatch_agentsuite.validation.suite import Document, ProviderKey, Suite

if TYPE_CHECKING:
    from hatch_agentsuite.document_types import PlatformImage

REQUIREMENT = "ASI-SRC-001"


@dataclass(frozen=True)
class Sources:
    """The documents of one image, by role; ``agent`` is None for the image of a ToolProvider."""

    platform: dict[str, str]
    composition: dict[str, Any]
    profile: dict[str, Any]
    agent: dict[str, Any] | None = None
    providers: Mapping[ProviderKey, dict[str, Any]] = field(default_factory=dict)

    @property
    def roots(self) -> list[ProviderKey]:
        """The ToolProviders that the composition names."""
        if self.agent is None:
            return [(self.composition["id"], self.composition["version"])]
        return [(item["id"], item["version"]) for item in self.composition["toolProviders"]]

    def variant(self, key: ProviderKey) -> dict[str, Any] | None:
        """Return the bundle of a ToolProvider for the platform."""
        for variant in self.providers.get(key, {}).get("variants", []):
            if variant["platform"] == self.platform:
                found: dict[str, Any] = variant
                return found
        return None

    def bundles(self) -> list[tuple[ProviderKey, dict[str, Any]]]:
        """Return the composed bundles and all their dependencies, sorted, each once."""
        found: dict[ProviderKey, dict[str, Any]] = {}
        pending = list(self.roots)
        while pending:
            key = pending.pop()
            variant = self.variant(key)
            if key in found or variant is None:
                continue
            found[key] = variant
            pending.extend((item["id"], item["version"]) for item in variant.get("dependencies", []))
        return sorted(found.items())

    @property
    def entry(self) -> dict[str, Any] | None:
        """The bundle whose entrypoint is the image's process, in the image of a ToolProvider."""
        return None if self.agent is not None else self.variant(self.roots[0])

    @property
    def writable_paths(self) -> list[str]:
        """The paths that the runtime mounts, of all bundles together."""
        return sorted({path for _, variant in self.bundles() for path in variant.get("writablePaths", [])})

    @property
    def mount_points(self) -> list[str]:
        """The writable paths that the image needs a folder for; one below another is in that one's mount."""
        paths = self.writable_paths
        return [path for path in paths if not any(is_below(path, other) for other in paths)]

    def pin(self, role: str) -> PlatformImage | None:
        """Return the ``runtimeBase`` or ``harness`` image of the profile for the platform."""
        return next((item for item in self.profile[role] if item["platform"] == self.platform), None)


@dataclass(frozen=True)
class Selection:
    """One image to build: its sources, and the content paths of the documents among them."""

    name: str
    sources: Sources
    composition: Document
    profile: Document
    agent: Document | None
    providers: Mapping[ProviderKey, Document]

    @property
    def platform(self) -> str:
        """The platform in words."""
        return platform_name(self.sources.platform)

    def references(self) -> Iterator[str]:
        """Yield the content paths of the files that the documents refer to: instructions and tool schemas."""
        if self.sources.agent is not None:
            yield self.sources.agent["instructions"]["path"]
        for key, _ in self.sources.bundles():
            for tool in self.sources.providers[key]["tools"]:
                for member in ("inputSchema", "outputSchema"):
                    if member in tool:
                        yield tool[member]["path"]


def select(suite: Suite, agent: str | None, provider: str | None, platform: str | None) -> list[Selection]:
    """Return what to build of an agent, or of a ToolProvider (``id`` or ``id@version``), one for each platform.

    Raises :class:`RefusedError` where the suite has no such composition.
    """
    if agent is not None:
        documents = [item for _, item in suite.compositions if item.value and item.value["agent"] == agent]
        what, known = f"the agent `{agent}`", [f"`{name}`" for name in sorted(suite.agents)]
    else:
        name, _, version = (provider or "").partition("@")
        documents = [
            item
            for _, item in suite.provider_compositions
            if item.value and item.value["id"] == name and version in ("", item.value["version"])
        ]
        what = f"the ToolProvider `{provider}`"
        known = sorted({f"`{v['id']}@{v['version']}`" for _, item in suite.provider_compositions if (v := item.value)})
        if len({item.value["version"] for item in documents if item.value}) > 1:
            raise _refused(f"{what} has compositions of several versions; name one as ID@VERSION", "")
    if not documents:
        raise _refused(f"the suite has no composition for {what}", f"it has some for {', '.join(known) or 'none'}")
    found = [_selection(suite, document) for document in documents]
    found.sort(key=lambda item: item.platform)
    chosen = [item for item in found if platform in (None, item.platform)]
    if not chosen:
        raise _refused(f"{what} is not composed for {platform}", f"it is for {', '.join(i.platform for i in found)}")
    return chosen


def _selection(suite: Suite, composition: Document) -> Selection:
    value = composition.value or {}
    agent = suite.agents.get(value.get("agent", ""))
    profile = suite.profiles[value["buildProfile"]]
    everything = {key: document for key, document in suite.providers.items() if document.value is not None}
    values = {key: document.value or {} for key, document in everything.items()}
    whole = Sources(value["platform"], value, profile.value or {}, agent.value if agent else None, values)
    needed = {key for key, _ in whole.bundles()}
    sources = Sources(whole.platform, value, whole.profile, whole.agent, {key: values[key] for key in sorted(needed)})
    name = value["agent"] if agent else value["id"]
    return Selection(name, sources, composition, profile, agent, {key: everything[key] for key in sorted(needed)})


def _refused(message: str, hint: str) -> RefusedError:
    return RefusedError(Finding(REQUIREMENT, "graph", "agentsuite.json", message, hint))
