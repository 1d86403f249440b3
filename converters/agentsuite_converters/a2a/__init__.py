"""A2A Agent Cards (https://a2a-protocol.org): judged, upgraded, signed, and projected from agents.

    from agentsuite_converters.a2a import check_card
    findings = check_card(json.loads(text))

Nothing of a2a-sdk is imported before a card needs it (see :mod:`agentsuite_converters.a2a.extra`).
"""

from agentsuite_converters.a2a.check import check_card

__all__ = ["check_card"]
