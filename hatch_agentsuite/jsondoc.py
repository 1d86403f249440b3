"""The strict JSON profile, canonical bytes and digests (specification 5.2, 5.3 and 6).

    value = loads(data)             # strict: UTF-8, one value, no duplicate names, bounded
    canonical(value)                # RFC 8785 bytes
    digest(value)                   # "sha256:..." over those bytes (6.1)
    digest_bytes(data)              # "sha256:..." over exact bytes (6.2)
    variant_digest(variant)         # 6.3

Everything is bounded before it is parsed: size first, then nesting (a scan of the text), then members and digits.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from hatch_agentsuite.findings import pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hatch_agentsuite.documents import JSONObject, JSONValue

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer that RFC 8785 carries unchanged (RFC 7493, section 2.2)."""

_MAX_NUMBER_LENGTH = 1_000
_UNSAFE_INTEGER = "the integer is beyond 2^53 - 1, so canonical JSON would change it; write it as a string"
_LEAST_EXPONENTIAL = 1e21  # canonical JSON writes a smaller whole number as an integer, whatever it was written as
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# Several strings at once, or a bracket. An unterminated string matches to the end of the text, so that no start is ever
# tried more than twice.
_STRING_OR_BRACKET = re.compile(r'(?:"[^"]*"[^"\[\]{}]*){1,50}|"[^"]*"?|([\[{])|([\]}])')
_SURROGATE = re.compile("[\ud800-\udfff]")


MAX_DEPTH = 250
"""The deepest nesting that can be allowed: documents are parsed, and judged, by recursion."""


@dataclass(frozen=True)
class JSONLimits:
    """Bounds of one document (specification 5.2); counts of bytes, levels and object members.

    Raises :class:`ValueError` for a ``depth`` beyond ``MAX_DEPTH``.
    """

    document_bytes: int = 4 * 1024 * 1024
    depth: int = 100
    object_members: int = 1_024
    document_members: int = 100_000

    def __post_init__(self) -> None:
        if self.depth > MAX_DEPTH:
            raise ValueError(f"the depth of documents can be limited to at most {MAX_DEPTH} levels, not {self.depth:,}")


DEFAULT_LIMITS = JSONLimits()


class JSONDocumentError(ValueError):
    """A document that is not strict JSON: ``message``, a JSON ``pointer``, and ``line`` and ``column`` where known."""

    def __init__(
        self, message: str, *, pointer: str = "", hint: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        self.message = message
        self.pointer = pointer
        self.hint = hint
        self.line = line
        self.column = column
        super().__init__(message)


def loads(data: bytes, limits: JSONLimits = DEFAULT_LIMITS) -> JSONValue:
    """Return the value of a strict JSON document (5.3).

    Refused with :class:`JSONDocumentError`: more bytes, levels or members than ``limits`` allow, anything but UTF-8
    without a byte-order mark, duplicate names, lone surrogates, non-finite numbers, and numbers that canonical JSON
    would change (integers beyond 2^53 - 1, values that underflow to zero).
    """
    if len(data) > limits.document_bytes:
        raise JSONDocumentError(f"the document has {len(data):,} bytes; at most {limits.document_bytes:,} are allowed")
    text = _decode(data)
    _check_depth(text, limits.depth)
    parser = _Parser(limits)
    try:
        value = json.loads(
            text,
            object_pairs_hook=parser.pairs,
            parse_int=parser.integer,
            parse_float=parser.float,
            parse_constant=parser.constant,
        )
    except json.JSONDecodeError as error:
        message = f"this is not JSON: {_lower_first(error.msg)}"
        raise JSONDocumentError(message, line=error.lineno, column=error.colno) from None
    if parser.is_suspicious or "\\u" in text:  # only an escape makes a lone surrogate
        _check_value(value, limits)
    return value  # type: ignore[no-any-return]


def canonical(value: JSONValue) -> bytes:
    """Return the RFC 8785 bytes of a value as :func:`loads` returns it (6.1, step 2)."""
    if _is_plain(value):
        return _ENCODER.encode(value).encode()
    import rfc8785

    try:
        return rfc8785.dumps(value)
    except ValueError as error:
        raise JSONDocumentError(f"the value has no canonical form: {error}") from None


def canonical_object(value: JSONObject, known: Mapping[str, bytes]) -> bytes:
    """Return the RFC 8785 bytes of an object of whose members some are ``known`` by their RFC 8785 bytes.

    A known member need not be in ``value``; where it is, the known bytes count.
    """
    members = {name: canonical(member) for name, member in value.items() if name not in known} | dict(known)
    ordered = sorted(members, key=lambda name: name.encode("utf-16-be"))
    return b"{" + b",".join(canonical(name) + b":" + members[name] for name in ordered) + b"}"


def digest(value: JSONValue) -> str:
    """Return the manifest identity of a value: SHA-256 over its canonical bytes (6.1)."""
    return digest_bytes(canonical(value))


def digest_bytes(data: bytes) -> str:
    """Return the digest of exact bytes (6.2)."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def variant_digest(variant: JSONObject, known: Mapping[str, bytes] = MappingProxyType({})) -> str:
    """Return the identity of a ToolProvider variant: its JCS digest with ``variantDigest`` emptied (6.3).

    Every other member counts as written, also one that says no more than its absence would. ``known`` are members whose
    RFC 8785 bytes are at hand: an inventory is long.
    """
    return digest_bytes(canonical_object({**variant, "variantDigest": ""}, known))


def is_digest(value: object) -> bool:
    """Whether a value is ``sha256:`` and 64 lowercase hexadecimal characters (section 1)."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False)


def _is_plain(value: object) -> bool:
    """Whether Python's C encoder gives RFC 8785 bytes for a value.

    It does where no float needs ECMAScript's notation, every integer is safe, and sorting names by code points equals
    sorting them by UTF-16 units, which holds below U+D800.
    """
    pending: list[Iterable[Any]] = [(value,)]
    names: set[str] = set()
    while pending:
        for item in pending.pop():
            kind = type(item)
            if kind is str:
                if not item.isascii() and _SURROGATE.search(item):
                    return False
            elif kind is int:
                if not -MAX_SAFE_INTEGER <= item <= MAX_SAFE_INTEGER:
                    return False
            elif kind is dict:
                if not item.keys() <= names:  # in a long list of objects, all but the first have known names
                    if not all(map(_is_plain_name, item)):
                        return False
                    names.update(item)
                pending.append(item.values())
            elif kind is list:
                pending.append(item)
            elif kind is not bool and item is not None:
                return False
    return True


def _is_plain_name(name: object) -> bool:
    return type(name) is str and (name.isascii() or max(name) < "\ud800")


class _Duplicate(dict[str, Any]):
    """An object in which a name stands twice; found again by its type, when the way to it is known."""

    name = ""


class _TooMany(dict[str, Any]):
    """An object with more members than allowed."""

    count = 0


class _Parser:
    """Builds objects and numbers while json parses, and stops at the first bound that is passed.

    Where something else is wrong it leaves a mark instead, and says that there is one (``is_suspicious``).
    """

    def __init__(self, limits: JSONLimits) -> None:
        self._limits = limits
        self._members = 0
        self.is_suspicious = False

    def integer(self, text: str) -> int | _BadNumber:
        if len(text) <= 17:
            number = int(text)
            if -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
                return number
        self.is_suspicious = True
        return _BadNumber(_UNSAFE_INTEGER)

    def float(self, text: str) -> float | _BadNumber:
        number = _float(text)
        self.is_suspicious |= isinstance(number, _BadNumber)
        return number

    def constant(self, name: str) -> _BadNumber:
        self.is_suspicious = True
        return _BadNumber(f"{name} is not JSON")

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        self._members += len(pairs)
        if self._members > self._limits.document_members:
            raise JSONDocumentError(f"the document has more than {self._limits.document_members:,} object members")
        members = dict(pairs)
        if len(pairs) > self._limits.object_members:
            self.is_suspicious = True
            too_many = _TooMany()
            too_many.count = len(pairs)
            return too_many
        if len(members) != len(pairs):
            self.is_suspicious = True
            duplicate = _Duplicate(members)
            seen: set[str] = set()
            duplicate.name = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            return duplicate
        return members


def _decode(data: bytes) -> str:
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise JSONDocumentError("the document begins with a byte-order mark; UTF-8 without one is required")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise JSONDocumentError("the document is not valid UTF-8", line=line, column=column) from None


def _check_depth(text: str, limit: int) -> None:
    """Refuse deep nesting before the recursive parser sees it; brackets inside strings do not count."""
    text = text.replace(r"\\", "").replace(r"\"", "")  # then every quote begins or ends a string
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        kind = match.lastindex
        if kind == 1:
            depth += 1
            if depth > limit:
                line = text.count("\n", 0, match.start()) + 1
                raise JSONDocumentError(f"the document is nested more than {limit} levels deep", line=line, column=1)
        elif kind == 2:
            depth -= 1


def _check_value(root: object, limits: JSONLimits) -> None:
    """Report what the parser could only mark, with the pointer to it."""
    stack: list[tuple[object, tuple[str | int, ...]]] = [(root, ())] if _can_be_wrong(root) else []
    while stack:
        value, path = stack.pop()
        if isinstance(value, dict):
            _check_object(value, path, limits)
            stack.extend((member, (*path, name)) for name, member in value.items() if _can_be_wrong(member))
        elif isinstance(value, list):
            stack.extend((item, (*path, index)) for index, item in enumerate(value) if _can_be_wrong(item))
        elif isinstance(value, str):
            raise JSONDocumentError("the string holds a lone surrogate, which is no character", pointer=pointer(*path))
        else:
            _raise_number(value, path)


def _check_object(value: dict[str, Any], path: tuple[str | int, ...], limits: JSONLimits) -> None:
    if isinstance(value, _TooMany):
        message = f"the object has {value.count:,} members; at most {limits.object_members:,} are allowed"
        raise JSONDocumentError(message, pointer=pointer(*path))
    for name in value:
        if not name.isascii() and _SURROGATE.search(name):
            raise JSONDocumentError("a member name holds a lone surrogate", pointer=pointer(*path))
    if isinstance(value, _Duplicate):
        raise JSONDocumentError(
            "the member is written twice in one object", pointer=pointer(*path, value.name), hint="remove one of them"
        )


def _can_be_wrong(value: object) -> bool:
    if isinstance(value, str):
        return not value.isascii() and _SURROGATE.search(value) is not None
    return not isinstance(value, (int, float, bool, type(None)))


@dataclass(frozen=True)
class _BadNumber:
    """A number that is refused; replaced by an error once the way to it is known."""

    message: str


def _raise_number(value: object, path: tuple[str | int, ...]) -> NoReturn:
    message = value.message if isinstance(value, _BadNumber) else "this is no JSON value"
    raise JSONDocumentError(message, pointer=pointer(*path))


def _float(text: str) -> float | _BadNumber:
    if len(text) > _MAX_NUMBER_LENGTH:
        return _BadNumber(f"the number has more than {_MAX_NUMBER_LENGTH:,} characters")
    number = float(text)
    if not math.isfinite(number):
        return _BadNumber("the number is too large for JSON's number type")
    if number == 0 and any(digit in "123456789" for digit in re.split("[eE]", text)[0]):
        return _BadNumber("the number is too small: it would become zero")
    if MAX_SAFE_INTEGER < abs(number) < _LEAST_EXPONENTIAL:
        return _BadNumber(_UNSAFE_INTEGER)
    return number


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
