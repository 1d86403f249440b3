"""The documents below ``/.agentsuite/``: where each lies, and the binding that commits to them (specification 13).

    binding.json, inventory.json              the binding record, and what it pins
    composition.json, build-profile.json      the exact bytes of the suite
    agent.json                                the agent's manifest, in an agent's image
    tool-provider-composition.json            in a ToolProvider's image (12.1)
    tool-providers/ID/VERSION.json            the manifests of all bundles
    content/PATH                              instructions and tool schemas, by their content paths
    runtime-base.json, harness.json           the OCI manifests of the images below

All are root's, readable by everybody, and hold no value of a secret.
"""

from __future__ import annotations

from typing import Any, Final

from hatch_agentsuite.documents import (
    COMPOSITION_MEDIA_TYPE,
    SANDBOX_BINDING_MEDIA_TYPE,
    SCHEMA_VERSION,
)
from hatch_agentsuite.jsondoc import canonical, digest_bytes
from hatch_agentsuite.layout import descriptor
from hatch_agentsuite.sandbox import inventory
from hatch_agentsuite.sandbox.sources import Sources
from hatch_agentsuite.validation.suite import ProviderKey

BINDING: Final = "binding.json"
INVENTORY: Final = "inventory.json"
COMPOSITION: Final = "composition.json"
PROVIDER_COMPOSITION: Final = "tool-provider-composition.json"
PROFILE: Final = "build-profile.json"
AGENT: Final = "agent.json"
RUNTIME_BASE: Final = "runtime-base.json"
HARNESS: Final = "harness.json"
CONTENT: Final = "content"


def provider_path(key: ProviderKey) -> str:
    """Return where the manifest of a ToolProvider lies below ``/.agentsuite/``."""
    return f"tool-providers/{key[0]}/{key[1]}.json"


def composition_path(sources: Sources) -> str:
    """Return where the composition lies below ``/.agentsuite/``."""
    return COMPOSITION if sources.agent is not None else PROVIDER_COMPOSITION


def composition_descriptor(composition: dict[str, Any]) -> dict[str, Any]:
    """Return the descriptor of a composition: digest and size are those of its canonical bytes (6.4)."""
    data = canonical(composition)
    return descriptor(COMPOSITION_MEDIA_TYPE, digest_bytes(data), len(data))


def binding(sources: Sources, suite_digest: str, inventory_bytes: bytes) -> dict[str, Any]:
    """Return the binding record of an agent's image (13)."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "mediaType": SANDBOX_BINDING_MEDIA_TYPE,
        "suiteDigest": suite_digest,
        "agent": sources.composition["agent"],
        "platform": sources.platform,
        "buildProfile": sources.composition["buildProfile"],
        "composition": composition_descriptor(sources.composition),
        "inventory": descriptor(inventory.MEDIA_TYPE, digest_bytes(inventory_bytes), len(inventory_bytes)),
    }
