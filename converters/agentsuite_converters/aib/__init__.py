"""Agent blueprints (Agent Interface and Blueprint, AIB)."""

from agentsuite_converters.aib import mapping, rules
from agentsuite_converters.formats import ForeignFormat

FORMAT = ForeignFormat(
    name="aib",
    prefix="AIB",
    schema="aib/blueprint",
    rules=rules.RULES,
    table=mapping.TABLE,
    views={"public": mapping.PUBLIC},
    demands={"name": "--name TEXT", "description": "--description TEXT"},
    assumed=("capabilities/*/visibility", "model/protocol"),
    published=frozenset({"run"}),
    comments=True,
)
"""What ``agentsuite check aib`` judges; the text's own sample holds comments, so comments are read."""
