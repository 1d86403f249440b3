"""Agent blueprints (Agent Interface and Blueprint, AIB)."""

from agentsuite_converters.aib import rules
from agentsuite_converters.formats import ForeignFormat

FORMAT = ForeignFormat(name="aib", prefix="AIB", schema="aib/blueprint", rules=rules.RULES, comments=True)
"""What ``agentsuite check aib`` judges; the text's own sample holds comments, so comments are read."""
