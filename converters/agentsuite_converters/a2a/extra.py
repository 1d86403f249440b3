"""The extra ``a2a``: a2a-sdk and what it brings, imported when a card needs it and never before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hatch_agentsuite.findings import Finding, RefusedError, printable

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject

EXTRA = "A2A-EXTRA-001"
MISSING = 'install it with: pip install "hatch-agentsuite[a2a]"'


@dataclass(frozen=True)
class ProtocolBuffers:
    """An Agent Card as a message of the SDK: made from a JSON value, and turned into one again."""

    parse: Callable[[Any], Any]
    to_json: Callable[[Any], dict[str, Any]]
    parse_error: type[Exception]


def protocol_buffers() -> ProtocolBuffers:
    """Return what reads and writes messages; raises :class:`RefusedError` where the extra is not installed."""
    try:
        from a2a.types import AgentCard
        from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
    except ImportError:
        message = "Agent Cards of version 1.0 are written by a2a-sdk, which is not installed"
        raise RefusedError(Finding(EXTRA, "build", "", message, MISSING)) from None

    def parse(card: Any) -> Any:
        return ParseDict(card, AgentCard())

    return ProtocolBuffers(parse, MessageToDict, ParseError)


def required_faults(card: JSONObject) -> list[Finding]:
    """Return what the SDK's own check refuses in a card of version 1.0, nothing where the SDK is not installed.

    It looks at a card that every other check accepted: what it finds is a disagreement.
    """
    try:
        from a2a.types import AgentCard
        from a2a.utils.errors import InvalidParamsError
        from a2a.utils.proto_utils import validate_proto_required_fields
        from google.protobuf.json_format import ParseDict, ParseError
    except ImportError:
        return []
    try:
        validate_proto_required_fields(ParseDict(card, AgentCard()))
    except InvalidParamsError as error:
        named = [f"{item['field']}: {item['message']}" for item in (error.data or {}).get("errors", [])]
        return [_disagreement(message) for message in named or [str(error)]]
    except ParseError as error:
        return [_disagreement(str(error))]
    return []


def _disagreement(message: str) -> Finding:
    return Finding("A2A-SDK-001", "json", "#", f"a2a-sdk refuses the card: {printable(message)}")
