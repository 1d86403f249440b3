"""What each requirement of a sandbox image is about, in words for people (specification 15.2)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hatch_agentsuite.validation.requirements import Requirement

_IMAGE = (
    Requirement(
        "ASI-BIND-001",
        "Agent binding",
        "The label, the embedded binding, its digest and the platform of an agent's image agree.",
        "Build the image again from its suite.",
        "13",
    ),
    Requirement(
        "ASI-PROVIDER-001",
        "ToolProvider composition",
        "The label, the embedded composition, its digest and the platform of a ToolProvider's image agree.",
        "Build the image again from its suite.",
        "12.1",
    ),
    Requirement(
        "ASI-SRC-001",
        "Sources",
        "Suite, agent, composition, bundles, build profile and the images below match the identities that bind them.",
        "Give the images that the build profile pins, whole, and build from the suite that is meant.",
        "12, 13",
    ),
    Requirement(
        "ASI-FS-001",
        "File system",
        "The inventory, owners, modes, links, collisions and writable paths of the flattened file system hold.",
        "Move what collides, remove set-id bits, and leave writable paths empty.",
        "6.2, 9.4, 12",
    ),
    Requirement(
        "ASI-ABI-001",
        "Native programs",
        "Loaders, libraries, interpreters, the CPU baseline and required base paths resolve in the final file system.",
        "Put what is missing into the bundle or the runtime base, or correct what the variant declares.",
        "11",
    ),
    Requirement(
        "ASI-RUN-001",
        "Running",
        "User, entrypoint, capabilities and the `no_new_privs` contract are valid.",
        "Let the harness name an entrypoint, and build the image again.",
        "12",
    ),
)

IMAGE_REQUIREMENTS: Mapping[str, Requirement] = MappingProxyType({item.id: item for item in _IMAGE})
"""What a sandbox image validator judges, by id (15.2)."""
