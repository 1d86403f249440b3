"""The documents of an AgentSuite: their media types, schemas and where they live.

A document is read once, checked against its JSON Schema, and is a plain ``dict`` from then on; which members it has is
said in :mod:`hatch_agentsuite.document_types`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hatch_agentsuite.document_types import Platform

JSONValue: TypeAlias = "str | int | float | bool | list[JSONValue] | dict[str, JSONValue] | None"
JSONObject: TypeAlias = "dict[str, JSONValue]"

SCHEMA_VERSION: Final = "1.0.0-draft"

# --- media types (specification 4.1) -----------------------------------------------------------------------------

ARTIFACT_TYPE: Final = "application/vnd.agentsuite.suite.v1"
EMPTY_CONFIG_MEDIA_TYPE: Final = "application/vnd.oci.empty.v1+json"
CONTENT_LAYER_MEDIA_TYPE: Final = "application/vnd.agentsuite.content.v1.tar+gzip"
SUITE_MEDIA_TYPE: Final = "application/vnd.agentsuite.manifest.v1+json"
AGENT_MEDIA_TYPE: Final = "application/vnd.agentsuite.agent.v1+json"
EVAL_INDEX_MEDIA_TYPE: Final = "application/vnd.agentsuite.eval.index.v1+json"
EVAL_CASE_MEDIA_TYPE: Final = "application/vnd.agentsuite.eval.case.v1+json"
TOOL_PROVIDER_CATALOG_MEDIA_TYPE: Final = "application/vnd.agentsuite.tool.provider.catalog.v1+json"
TOOL_PROVIDER_MEDIA_TYPE: Final = "application/vnd.agentsuite.tool.provider.v1+json"
COMPOSITION_MEDIA_TYPE: Final = "application/vnd.agentsuite.composition.v1+json"
TOOL_PROVIDER_COMPOSITION_MEDIA_TYPE: Final = "application/vnd.agentsuite.tool.provider.composition.v1+json"
BUILD_PROFILE_MEDIA_TYPE: Final = "application/vnd.agentsuite.build.profile.v1+json"
SANDBOX_BINDING_MEDIA_TYPE: Final = "application/vnd.agentsuite.sandbox.binding.v1+json"

IMAGE_INDEX_MEDIA_TYPE: Final = "application/vnd.oci.image.index.v1+json"
IMAGE_MANIFEST_MEDIA_TYPE: Final = "application/vnd.oci.image.manifest.v1+json"

SCHEMAS: Mapping[str, str] = MappingProxyType(
    {
        SUITE_MEDIA_TYPE: "agentsuite/suite",
        AGENT_MEDIA_TYPE: "agentsuite/agent",
        EVAL_INDEX_MEDIA_TYPE: "agentsuite/eval-index",
        EVAL_CASE_MEDIA_TYPE: "agentsuite/eval-case",
        TOOL_PROVIDER_CATALOG_MEDIA_TYPE: "agentsuite/tool-provider-catalog",
        TOOL_PROVIDER_MEDIA_TYPE: "agentsuite/tool-provider",
        COMPOSITION_MEDIA_TYPE: "agentsuite/composition",
        TOOL_PROVIDER_COMPOSITION_MEDIA_TYPE: "agentsuite/tool-provider-composition",
        BUILD_PROFILE_MEDIA_TYPE: "agentsuite/build-profile",
        SANDBOX_BINDING_MEDIA_TYPE: "agentsuite/sandbox-binding",
    }
)
"""The name of the schema of each AgentSuite document, by media type."""

# --- what this project adds, by non-critical extension ------------------------------------------------------------

FILES_MEDIA_TYPE: Final = "application/vnd.hatch-agentsuite.metadata.files.v1+json"
FILES_EXTENSION: Final = "hatch-agentsuite.files.v1"
FILES_PATH: Final = "metadata/files.json"
PLACEHOLDER_REGISTRY: Final = "placeholder.invalid"
PROFILE_MEDIA_TYPE: Final = "application/vnd.hatch-agentsuite.profile.v1+json"
PROFILE_EXTENSION: Final = "hatch-agentsuite.profile.v1"


def profile_path(agent: str) -> str:
    """Return where the profile of an agent lives in the content."""
    return f"metadata/profiles/{agent}.json"


def platform_name(platform: Mapping[str, str] | Platform) -> str:
    """Return a platform as the specification writes it in text: ``linux/amd64``."""
    return f"{platform['os']}/{platform['architecture']}"
