"""What counts as credential-shaped: a curated list of shapes, found in text without ever repeating the text.

    for match in find(text):
        print(match.shape, match.line, match.column)

The list is data (``credential-shapes.json``). Every match of a shape begins with the shape's literal, so one pass finds
the literals, by RE2 where it is installed, and a pattern is tried only there. A pattern looks at most ``_AHEAD`` bytes
ahead and ``_BEHIND`` back, and no part of a text is in more than a few of its tries: the work is linear. All of it is
done on bytes, since every shape is ASCII.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from itertools import accumulate, islice
from typing import Any

MAX_MATCHES = 100

_AHEAD = 8 * 1024
_BEHIND = 32
_BINARY_PROBE = 8 * 1024
_CONTINUATION = bytes(range(0x80, 0xC0))
_HIDING_ESCAPES = re.compile(rb"\\[u/]")
_CUT_OFF = re.compile(rb"[!-~]{8,100}?\.\.\.")
_PRECEDING = re.compile(rb"[A-Za-z0-9_-]{0,200}\Z")


@dataclass(frozen=True)
class Shape:
    """The shape of one kind of credential; ``literal`` is what every match of ``pattern`` begins with.

    ``positive`` and ``negative`` are samples of what is one and of what only looks like it.
    """

    name: str
    source: str
    literal: str
    pattern: str
    positive: tuple[str, ...] = field(repr=False)
    negative: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True)
class Match:
    """Where a text has a shape (``line`` and ``column`` count from 1); the text itself is not kept."""

    shape: str
    line: int
    column: int


def shapes() -> tuple[Shape, ...]:
    """Return every shape, the more special of two that share a literal first."""
    return _finder().shapes


def find(text: str, most: int = MAX_MATCHES) -> Iterator[Match]:
    """Yield where a text is credential-shaped, in its order, at most ``most`` times; matches do not overlap."""
    data = text.encode("ascii", "replace")
    for shape, begin, _ in islice(_finder().spans(data, 0, len(data)), most):
        yield Match(shape.name, data.count(b"\n", 0, begin) + 1, begin - data.rfind(b"\n", 0, begin))


def may_hold(document: bytes) -> bool:
    """Whether the strings of a JSON document could have a shape: cheap, and never wrong about a no."""
    return _HIDING_ESCAPES.search(document) is not None or any(True for _ in _finder().literals(document, 0))


def is_binary(data: bytes) -> bool:
    """Whether the beginning of a file says that it is no text."""
    return data.find(b"\0", 0, _BINARY_PROBE) != -1


def suspects(texts: Sequence[bytes]) -> Iterator[int]:
    """Yield the indexes of the texts that could have a shape; all of them are searched as one.

    No beginning of a shape holds a NUL, so none reaches over the one that is put between two texts.
    """
    ends = list(accumulate(len(text) + 1 for text in texts))
    whole = b"\0".join(texts)
    position = 0
    while found := next(_finder().literals(whole, position), None):
        index = bisect_right(ends, found[0])
        yield index
        position = ends[index]


def redact(text: str) -> str:
    """Return a message without what in it is credential-shaped, or was before it was cut off by an ellipsis."""
    data = text.encode("ascii", "replace")
    result, position = "", 0
    for begin, end in _finder().unspeakable(data):
        preceding = _PRECEDING.search(data, max(position, begin - 200), begin)
        result += text[position : preceding.start() if preceding else begin] + "[redacted]"
        position = end
    return result + text[position:]


class Stream:
    """Finds the shapes in a text that comes in pieces; what they are cut into makes no difference.

    A text with a NUL among its first bytes is binary and not looked at. At most ``most`` matches are kept.
    """

    def __init__(self, most: int = MAX_MATCHES) -> None:
        self.matches: list[Match] = []
        self._most = most
        self._buffer = b""
        self._next = 0
        self._line = 1
        self._column = 1
        self._begun = False
        self._done = False

    def feed(self, piece: bytes) -> None:
        """Take the next piece in."""
        if self._done:
            return
        if not self._buffer:  # perhaps there is no more, as with most files: then they are judged at once
            self._buffer = piece
            return
        self._buffer += piece
        if len(self._buffer) - _AHEAD > self._next:
            self._advance(len(self._buffer) - _AHEAD)

    def close(self) -> None:
        """End the text."""
        if not self._done:
            self._advance(len(self._buffer))
        self._done, self._buffer = True, b""

    def _advance(self, stop: int) -> None:
        """Judge what begins before ``stop``, and forget what no later match can look back to."""
        buffer = self._buffer
        if not self._begun and is_binary(buffer):
            self._done, self._buffer = True, b""
            return
        self._begun = True
        for shape, begin, end in _finder().spans(buffer, self._next, stop):
            line, column = self._place(begin)
            self.matches.append(Match(shape.name, line, column))
            self._next = end
            if len(self.matches) >= self._most:
                self._done, self._buffer = True, b""
                return
        if stop == len(buffer):
            return
        self._next = max(self._next, stop)
        dropped = max(0, stop - _BEHIND)
        self._line, self._column = self._place(dropped)
        self._buffer = buffer[dropped:]
        self._next -= dropped

    def _place(self, position: int) -> tuple[int, int]:
        """Return line and column of a position in the buffer; columns count characters of UTF-8."""
        buffer = self._buffer
        start = buffer.rfind(b"\n", 0, position) + 1
        characters = len(buffer[start:position].translate(None, _CONTINUATION))
        return self._line + buffer.count(b"\n", 0, position), characters + (1 if start else self._column)


class _Finder:
    """The shapes, grouped by the literals that one search finds; the shortest stands for those that begin with it."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.shapes = tuple(_shape(item) for item in data["shapes"])
        self._placeholder = _compiled(data["placeholder"])
        literals = {shape.literal.encode() for shape in self.shapes}
        roots = sorted(one for one in literals if not any(one != other and one.startswith(other) for other in literals))
        self._groups = {
            root: tuple(shape for shape in self.shapes if shape.literal.encode().startswith(root)) for root in roots
        }
        beginnings = {
            item["literal"].encode(): item["beginning"].encode() for item in data["shapes"] if "beginning" in item
        }
        self._literals = _search_for([beginnings.get(root, re.escape(root)) for root in roots])

    def spans(self, data: bytes, start: int, stop: int) -> Iterator[tuple[Shape, int, int]]:
        """Yield each shape with the begin and end of a match that begins from ``start`` on and before ``stop``."""
        for begin, root in self._candidates(data, start):
            if begin >= stop:
                return
            judged = self._judge(data, begin, root) if begin >= start else None
            if judged:
                shape, start = judged
                yield shape, begin, start

    def unspeakable(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield begin and end of every match, and of whatever an ellipsis may have kept from being one."""
        position = 0
        for begin, root in self.literals(data, 0):
            if begin < position:
                continue
            judged, cut = self._judge(data, begin, root), _CUT_OFF.match(data, begin)
            if judged or cut:
                position = max(judged[1] if judged else 0, cut.end() if cut else 0)
                yield begin, position

    def _candidates(self, data: bytes, start: int) -> Iterator[tuple[int, bytes]]:
        """Yield where a shape could begin, with its literal; after very many, only where its pattern matches.

        Somebody's text has few literals. In one made of them each would cost more here than all patterns do in C.
        """
        begin = start
        for number, (begin, root) in enumerate(self.literals(data, start)):
            yield begin, root
            if number == 64 + len(data) // 1024:
                break
        else:
            return
        while found := self._any.search(data, begin + 1):
            begin = found.start()
            yield begin, self._root(data, begin)

    def literals(self, data: bytes, start: int) -> Iterator[tuple[int, bytes]]:
        """Yield where a literal stands from ``start`` on, or the longer beginning that its shape asks for."""
        while found := self._literals.search(data, start):
            begin = found.start()
            root = found[0] if found[0] in self._groups else self._root(data, begin)
            yield begin, root
            start = begin + len(root)

    def _root(self, data: bytes, begin: int) -> bytes:
        return next(root for root in self._groups if data.startswith(root, begin))

    @cached_property
    def _any(self) -> re.Pattern[bytes]:
        """All patterns in one, that which begin alike together: few are tried anywhere."""
        alike: dict[str, list[str]] = {}
        for shape in self.shapes:
            pattern = shape.pattern.removeprefix("\\")
            alike.setdefault(re.escape(pattern[0]), []).append(pattern[1:])
        return _compiled("|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in alike.items()))

    def _judge(self, data: bytes, begin: int, root: bytes) -> tuple[Shape, int] | None:
        """Return the shape of what begins with a literal, and where it ends."""
        for shape in self._groups[root]:
            match = _compiled(shape.pattern).match(data, begin)
            if match and not self._placeholder.search(data, begin, match.end()):
                return shape, match.end()
        return None


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


@cache
def _finder() -> _Finder:
    resource = files("hatch_agentsuite.validation").joinpath("credential-shapes.json")
    return _Finder(json.loads(resource.read_text("utf-8")))


def _shape(item: dict[str, Any]) -> Shape:
    positive, negative = (tuple("".join(pieces) for pieces in item[member]) for member in ("positive", "negative"))
    return Shape(item["name"], item["source"], item["literal"], item["pattern"], positive, negative)


def _search_for(beginnings: list[bytes]) -> Any:
    """Return a search for any of the expressions: by RE2, or by Python's slower ``re`` with the same result."""
    pattern = b"|".join(beginnings)
    try:
        import re2
    except ImportError:
        return re.compile(pattern)
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    return re2.compile(pattern, options=options)
