"""BRICK Core manifests 0.5 (draft-sharaf-brick-agent-definition-00)."""

from agentsuite_converters.brick import mapping, rules
from agentsuite_converters.brick.files import gather
from agentsuite_converters.formats import ForeignFormat

FORMAT = ForeignFormat(
    name="brick",
    prefix="BRICK",
    schema="brick/manifest",
    rules=rules.RULES,
    table=mapping.TABLE,
    demands={
        "agent/id": "--identifier URI",
        "agent/name": "--name TEXT",
        "agent/description": "--description TEXT",
        "agent/version": "--agent-version VERSION",
        "goals": "--goal TEXT",
        "capabilities": "--capability ID=DESCRIPTION",
    },
    gather=gather,
    assumed=("prompt", "model", "servers/*/visibility"),
    owners={
        "agentId": ("BRICK-ID-001", "graph"),
        "serverId": ("BRICK-TOOL-001", "tool-provider"),
        "toolReference": ("BRICK-TOOL-001", "tool-provider"),
        "transport": ("BRICK-ENDPOINT-001", "tool-provider"),
        "sha256": ("BRICK-FILE-001", "digest"),
    },
)
"""What ``agentsuite check brick`` judges: the draft's Manifest Validator conformance class (section 10)."""
