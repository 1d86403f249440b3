"""Agent metadata (draft-cui-ai-agent-discovery-invocation, AIDIP)."""

from agentsuite_converters.aidip import rules
from agentsuite_converters.formats import ForeignFormat

FORMAT = ForeignFormat(name="aidip", prefix="AIDIP", schema="aidip/metadata", rules=rules.RULES)
"""What ``agentsuite check aidip`` judges."""
