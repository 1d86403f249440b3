"""Agent and ToolProvider compositions: written ones are held to, missing ones are derived (specification 10, 10.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from hatch_agentsuite.documents import platform_name
from hatch_agentsuite.source.draft import Draft, Path, Problems
from hatch_agentsuite.source.options import Options
from hatch_agentsuite.source.providers import ProviderKey, Providers

Platform = dict[str, str]

_STEM = re.compile(r".*/(?P<name>.+)-(?P<os>linux)-(?P<architecture>amd64|arm64)")
_AGENT_KIND = "agentsuite/composition"
_PROVIDER_KIND = "agentsuite/tool-provider-composition"


@dataclass
class Compositions:
    """Everything that composing needs, and the compositions found or derived."""

    problems: Problems
    options: Options
    agents: dict[str, Draft]
    providers: Providers
    profiles: dict[str, Draft]
    drafts: list[Draft] = field(default_factory=list)
    provider_drafts: list[Draft] = field(default_factory=list)

    def add_written(self, draft: Draft) -> None:
        """Take a written agent composition in."""
        match = _STEM.fullmatch(draft.path.removesuffix(".json"))
        if match:
            draft.value.setdefault("agent", match["name"])
            draft.value.setdefault("platform", {"os": match["os"], "architecture": match["architecture"]})
        if _is_complete(draft, ("agent", "platform"), "agent"):
            self.drafts.append(draft)
            self._settle(draft)

    def derive(self) -> None:
        """Add a composition for every agent and platform that has none."""
        present = {(draft.value["agent"], platform_name(draft.value["platform"])) for draft in self.drafts}
        for name, agent in self.agents.items():
            written = {platform for owner, platform in present if owner == name}
            for platform in self._platforms(name, agent, has_written=bool(written)):
                if platform_name(platform) in written:
                    continue
                path = f"compositions/{name}-{platform['os']}-{platform['architecture']}.json"
                draft = Draft(path, _AGENT_KIND, self.problems)
                draft.value = {"agent": name, "platform": platform}
                self.drafts.append(draft)
                self._settle(draft)
        self.drafts.sort(key=lambda draft: (draft.value["agent"], platform_name(draft.value["platform"])))

    def add_written_provider(self, draft: Draft) -> None:
        """Take a written ToolProvider composition in."""
        self._name_provider(draft)
        if _is_complete(draft, ("id", "version", "platform"), "ToolProvider"):
            self.provider_drafts.append(draft)
            self._settle_provider(draft)

    def derive_providers(self) -> None:
        """Add the ToolProvider compositions that the configuration lists and nobody wrote."""
        present = {_provider_key(draft) for draft in self.provider_drafts}
        for wanted in self.options.provider_images:
            for key in self._wanted(wanted):
                for platform in self._provider_platforms(key):
                    if (*key, platform_name(platform)) in present:
                        continue
                    draft = Draft(self._provider_path(key, platform), _PROVIDER_KIND, self.problems)
                    draft.value = {"id": key[0], "version": key[1], "platform": platform}
                    present.add((*key, platform_name(platform)))
                    self.provider_drafts.append(draft)
                    self._settle_provider(draft)
        self.provider_drafts.sort(key=_provider_key)

    # --- agents ---

    def _settle(self, draft: Draft) -> None:
        draft.settle_constants()
        value = draft.value
        agent = self.agents.get(value["agent"])
        if "buildProfile" not in value:
            chosen = self._profile_for(value["agent"], draft)
            if chosen is None:
                return
            value["buildProfile"] = chosen
        if "toolProviders" not in value:
            requirements = sorted(_requirements(agent)) if agent else []
            value["toolProviders"] = [{"id": name, "version": version} for name, version in requirements]
        for index, record in enumerate(value["toolProviders"]):
            self._settle_record(draft, ("toolProviders", index), (record.get("id"), record.get("version")))

    def _settle_record(self, draft: Draft, where: Path, key: tuple[Any, Any]) -> None:
        provider = self.providers.drafts.get(key)
        if provider is None:
            return
        draft.settle((*where, "manifestDigest"), self.providers.digests[key], f"`{provider.name}`")
        variant = self.providers.variant(key, draft.value["platform"])
        if variant and "variantDigest" in variant:
            draft.settle((*where, "variantDigest"), variant["variantDigest"], "the variant for the platform")
        if where:
            draft.settle((*where, "executionMode"), "shared-sandbox", "this version of the format")

    def _profile_for(self, agent: str, draft: Draft) -> str | None:
        """Return the build profile of an agent: the configured one, or the only one."""
        chosen = self.options.profile_for(agent)
        if chosen is not None:
            if chosen in self.profiles:
                return chosen
            known = ", ".join(f"`{name}`" for name in self.profiles) or "none"
            message = f"there is no build profile `{chosen}`, which the configuration names"
            draft.report("AS-GRAPH-001", "build", (), message, f"known: {known}")
            return None
        if len(self.profiles) == 1:
            return next(iter(self.profiles))
        if self.profiles:
            draft.report(
                "SOURCE-GIVE-001",
                "build",
                (),
                f"there are {len(self.profiles)} build profiles, and nothing says which one `{agent}` takes",
                "set the option `build-profile`, or write the composition",
            )
        return None

    def _platforms(self, name: str, agent: Draft, *, has_written: bool) -> list[Platform]:
        """Return the platforms that an agent can be composed for, and name those it cannot."""
        profile_name = self._profile_for(name, agent)
        if profile_name is None:
            return []
        keys = sorted(_requirements(agent))
        if not self._cataloged(agent, keys):
            return []
        offered = _profile_platforms(self.profiles[profile_name], ("runtimeBase", "harness"))
        wanted = [_platform(text) for text in self.options.platforms] if self.options.platforms else offered
        found = []
        for platform in wanted:
            if platform not in offered:
                message = f"the build profile `{profile_name}` has no images for {platform_name(platform)}"
                agent.report("AS-COMPOSE-001", "platform", (), message, "add them, or drop the platform")
                continue
            missing = self.providers.unsupported(keys, platform)
            if not missing:
                found.append(platform)
                continue
            names = ", ".join(f"`{provider}` {version}" for provider, version in missing)
            text = platform_name(platform)
            explicit = bool(self.options.platforms)
            message = f"no composition for {text}: {names} has no variant for it"
            hint = "add a payload for it, or drop the platform" if explicit else "add a payload for it"
            agent.report("AS-COMPOSE-001", "platform", (), message, hint, warning=not explicit)
        if not found and not has_written:
            message = f"no platform is left that all ToolProviders of `{name}` support"
            agent.report("AS-COMPOSE-001", "platform", (), message, "every agent needs at least one composition")
        return found

    def _cataloged(self, agent: Draft, keys: list[ProviderKey]) -> bool:
        """Report requirements that no ToolProvider of the suite, or only a remote one, could meet."""
        good = True
        for index, item in enumerate(agent.value.get("toolProviders", [])):
            key = (item.get("id", ""), item.get("version", ""))
            if key not in keys:
                good = False
                continue
            provider = self.providers.drafts.get(key)
            where: Path = ("toolProviders", index)
            if provider is None:
                known = ", ".join(f"`{name}` {version}" for name, version in self.providers.drafts) or "none"
                message = f"`{key[0]}` {key[1]} is no ToolProvider of this suite"
                agent.report("AS-GRAPH-001", "graph", where, message, f"known: {known}")
                good = False
            elif "variants" not in provider.value:
                message = f"`{key[0]}` {key[1]} is remote only; agents cannot use a remote ToolProvider in this draft"
                agent.report("AS-DRAFT-001", "tool-provider", where, message, "add bundled variants to it")
                good = False
        return good

    # --- ToolProviders ---

    def _name_provider(self, draft: Draft) -> None:
        match = _STEM.fullmatch(draft.path.removesuffix(".json"))
        if not match:
            return
        draft.value.setdefault("platform", {"os": match["os"], "architecture": match["architecture"]})
        name = match["name"]
        for key in self.providers.drafts:
            if name == f"{key[0]}-{key[1]}" or (name == key[0] and len(self._versions(name)) == 1):
                draft.value.setdefault("id", key[0])
                draft.value.setdefault("version", key[1])

    def _settle_provider(self, draft: Draft) -> None:
        draft.settle_constants()
        key = (draft.value["id"], draft.value["version"])
        if key not in self.providers.drafts:
            message = f"`{key[0]}` {key[1]} is no ToolProvider of this suite"
            draft.report("AS-PROVIDER-COMPOSE-001", "graph", (), message)
            return
        self._settle_record(draft, (), key)
        if "buildProfile" not in draft.value:
            chosen = self._profile_for(key[0], draft)
            if chosen is not None:
                draft.value["buildProfile"] = chosen

    def _wanted(self, text: str) -> list[ProviderKey]:
        """Return the ToolProviders that an item of ``provider-images`` names: ``<id>`` or ``<id>@<version>``."""
        name, mark, version = text.partition("@")
        keys = [(name, version)] if mark else [(name, known) for known in self._versions(name)]
        if keys and all(key in self.providers.drafts for key in keys):
            return keys
        known = ", ".join(f"`{id_}@{version}`" for id_, version in self.providers.drafts) or "none"
        message = f"`provider-images` names `{text}`, which is no ToolProvider of this suite"
        self.problems.add("SOURCE-CONFIG-001", "graph", "", message, f"known: {known}")
        return []

    def _versions(self, name: str) -> list[str]:
        return [version for id_, version in self.providers.drafts if id_ == name]

    def _provider_platforms(self, key: ProviderKey) -> list[Platform]:
        draft = self.providers.drafts[key]
        profile_name = self._profile_for(key[0], draft)
        if profile_name is None:
            return []
        offered = _profile_platforms(self.profiles[profile_name], ("runtimeBase",))
        wanted = [_platform(text) for text in self.options.platforms] if self.options.platforms else offered
        found = [item for item in wanted if item in offered and not self.providers.unsupported([key], item)]
        if not found:
            message = f"`{key[0]}` {key[1]} has no variant for a platform of the build profile `{profile_name}`"
            draft.report("AS-PROVIDER-COMPOSE-001", "platform", (), message, "`provider-images` asks for its image")
        return found

    def _provider_path(self, key: ProviderKey, platform: Platform) -> str:
        name = key[0] if len(self._versions(key[0])) == 1 else f"{key[0]}-{key[1]}"
        return f"tool-provider-compositions/{name}-{platform['os']}-{platform['architecture']}.json"


def _is_complete(draft: Draft, members: tuple[str, ...], what: str) -> bool:
    """Report what neither a composition nor its file's name says."""
    missing = [member for member in members if member not in draft.value]
    if missing:
        listed = ", ".join(f"`{member}`" for member in missing)
        hint = f"write it, or name the file <{what}>-linux-<architecture>"
        draft.report("SOURCE-GIVE-001", "graph", (), f"{listed} does not follow from the file's name", hint)
    return not missing


def _requirements(agent: Draft) -> list[ProviderKey]:
    found = [(item.get("id"), item.get("version")) for item in agent.value.get("toolProviders", [])]
    return [(name, version) for name, version in found if name is not None and version is not None]


def _provider_key(draft: Draft) -> tuple[str, str, str]:
    return draft.value["id"], draft.value["version"], platform_name(draft.value["platform"])


def _profile_platforms(profile: Draft, members: tuple[str, ...]) -> list[Platform]:
    """Return the platforms for which a build profile has an image in each of some lists, sorted."""
    lists = [[image.get("platform") for image in profile.value.get(member, [])] for member in members]
    found = [platform for platform in lists[0] if platform and all(platform in other for other in lists[1:])]
    return sorted(found, key=lambda platform: str(platform.get("architecture")))


def _platform(text: str) -> Platform:
    system, _, architecture = text.partition("/")
    return {"os": system, "architecture": architecture}
