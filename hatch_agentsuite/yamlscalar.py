"""What one YAML scalar means as JSON, or why it means nothing.

YAML 1.1, YAML 1.2 and JSON disagree about plain scalars: ``no``, ``017``, ``1:30``. Where they do, there is no value.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from hatch_agentsuite.jsondoc import MAX_SAFE_INTEGER

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONValue

_MAX_DIGITS = 1_000

_JSON_WORDS: dict[str, JSONValue] = {"true": True, "false": False, "null": None}
_JSON_NUMBER = re.compile(r"(?P<mantissa>-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?)(?P<exponent>[eE][+-]?[0-9]+)?")

# What YAML 1.1 or the core schema of YAML 1.2 reads as something other than a string. A little more is refused where
# readers are known to be more generous than both: `1_0e5`, `2026-1-2`.
_YAML_WORD = re.compile(
    r"""~|=|<<|Null|NULL|True|TRUE|False|FALSE|[Yy]es|YES|[Nn]o|NO|[Oo]n|ON|[Oo]ff|OFF
      |[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)""",
    re.VERBOSE,
)
_YAML_NUMBER = re.compile(
    r"""[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+
      |(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?
      |[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)""",
    re.VERBOSE,
)
_YAML_DATE = re.compile(
    r"""[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}
        (?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)?""",
    re.VERBOSE,
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class ScalarError(Exception):
    """A scalar was refused: ``message`` and ``hint``. Neither repeats a value that could be a secret."""

    def __init__(self, message: str, hint: str = "put it in quotes if it is a string") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def quoted(text: str) -> str:
    """Return a quoted or block string unchanged; raises `ScalarError` for half a character."""
    if _SURROGATE.search(text):
        raise ScalarError("a surrogate escape in a string", "write the character itself")
    return text


def plain(text: str) -> JSONValue:
    """Return the value of a scalar without quotes; raises `ScalarError` where YAML would read it as more than JSON."""
    if text in _JSON_WORDS:
        return _JSON_WORDS[text]
    number = _JSON_NUMBER.fullmatch(text)
    if number:
        return _number(number)
    if not text:
        raise ScalarError("a value is missing", 'write null, or "" for an empty string')
    if _YAML_WORD.fullmatch(text):
        raise ScalarError(f"`{text}` is not JSON")
    if _YAML_NUMBER.fullmatch(text):
        raise ScalarError("a number in a notation that JSON does not have")
    if _YAML_DATE.fullmatch(text):
        raise ScalarError("a date or time, which JSON does not have")
    return text


def _number(number: re.Match[str]) -> int | float:
    """Return the value of a JSON number; raises `ScalarError` for one that canonical JSON would change."""
    literal, hint = number.group(), "write it as a string"
    if sum(map(str.isdigit, literal)) > _MAX_DIGITS:
        raise ScalarError(f"a number of more than {_MAX_DIGITS:,} digits", hint)
    if not number["fraction"] and not number["exponent"]:
        integer = int(literal)
        if abs(integer) > MAX_SAFE_INTEGER:
            raise ScalarError("an integer beyond 2^53 - 1", hint)
        return integer
    value = float(literal)
    if not math.isfinite(value):
        raise ScalarError("a number too large for JSON's number type", hint)
    if value == 0 and re.search("[1-9]", number["mantissa"]):
        raise ScalarError("a number so small that it would become zero", hint)
    if MAX_SAFE_INTEGER < abs(value) < 1e21:  # canonical JSON writes it as an integer
        raise ScalarError("an integer beyond 2^53 - 1", hint)
    return value
