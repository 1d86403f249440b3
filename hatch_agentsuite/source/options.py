"""What a build may be told besides the source tree itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Options:
    """Options of one build, checked by whoever read them.

    ``name`` must agree with a written one; ``default_name`` is used where nothing else names the suite.
    ``build_profile`` is one profile's id, or a mapping from agent or ToolProvider to one. ``platforms`` are texts such
    as ``linux/amd64``; empty means all that the build profile offers. ``provider_images`` are ``<id>`` or
    ``<id>@<version>``. ``strict`` turns warnings that a release should not have into errors.
    """

    name: str | None = None
    default_name: str | None = None
    platforms: tuple[str, ...] = ()
    build_profile: str | Mapping[str, str] | None = None
    provider_images: tuple[str, ...] = ()
    strict: bool = False
    annotations: Mapping[str, str] = field(default_factory=dict)

    def profile_for(self, name: str) -> str | None:
        """Return the configured build profile of an agent or ToolProvider, or None."""
        if isinstance(self.build_profile, str) or self.build_profile is None:
            return self.build_profile
        return self.build_profile.get(name)

    def profile_names(self) -> tuple[str, ...]:
        """Return the agents and ToolProviders that the configuration gives a build profile by name."""
        return tuple(self.build_profile) if isinstance(self.build_profile, Mapping) else ()
