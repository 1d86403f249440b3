"""Agent metadata (draft-cui-ai-agent-discovery-invocation, AIDIP)."""

from agentsuite_converters.aidip import mapping, rules
from agentsuite_converters.formats import ForeignFormat

FORMAT = ForeignFormat(
    name="aidip",
    prefix="AIDIP",
    schema="aidip/metadata",
    rules=rules.RULES,
    table=mapping.TABLE,
    views={"summary": mapping.SUMMARY},
    demands={
        "name": "--name TEXT",
        "description": "--description TEXT",
        "version": "--agent-version VERSION",
        "publisher": "--publisher TEXT",
        "endpoint": "--endpoint URL",
    },
    one_of={("operations", "inputs"): "--capability ID=DESCRIPTION"},
    is_public=True,
    assumed=("prompt", "model", "capabilities/*/visibility"),
)
"""What ``agentsuite check aidip`` judges."""
