"""Read YAML as JSON written differently.

A document holds strings, numbers, ``true``, ``false``, ``null``, lists and mappings with string keys. Whatever
only YAML can say (tags, anchors, aliases, merge keys, directives, a second document, ``yes``, dates, octal numbers) is
refused with its line and column, so a value never means one thing here and another thing to the next reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hatch_agentsuite.findings import pointer, printable
from hatch_agentsuite.yamlscalar import ScalarError, plain, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    import yaml

    from hatch_agentsuite.documents import JSONValue

Marks = Mapping[str, tuple[int, int]]

# A pointer costs the length of its whole path: few bytes of deep, long keys could ask for gigabytes of pointers.
_MAX_POINTER_TEXT = 1 << 24

_QUOTE = "put it in quotes if it is a string"

# Controls, invisible line breaks and the byte order mark: YAML refuses some, ends a line at others, drops the last.
_RAW_ASCII = re.compile(r"[^\t\n\r\x20-\x7e]")
_RAW = r"[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_COMMENT = re.compile(r"#[^\r\n]*")


class YAMLDocumentError(ValueError):
    """A document was refused: ``message``, ``hint``, ``line``, ``column`` (1-based), ``pointer`` ("" where unknown)."""

    def __init__(self, message: str, line: int = 1, column: int = 1, *, hint: str = "", pointer: str = "") -> None:
        self.message = message
        self.hint = hint
        self.line = line
        self.column = column
        self.pointer = pointer
        super().__init__(f"line {line}, column {column}: {message}" + (f" ({hint})" if hint else ""))


@dataclass(frozen=True)
class YAMLDocument:
    """A document that was read.

    ``marks`` has the line and column (1-based) of every value by JSON pointer: of its key where it is a member of a
    mapping. ``literals`` has the source text of every number: ``1.10`` is the number 1.1, and rarely meant as one.
    """

    value: JSONValue
    marks: Marks
    literals: Mapping[str, str]


def loads(
    data: bytes,
    *,
    max_bytes: int = 1 << 20,
    max_depth: int = 100,
    max_members: int = 1024,
    max_total_members: int = 100_000,
) -> YAMLDocument:
    """Read one YAML document of UTF-8 bytes.

    ``max_members`` limits one mapping, ``max_total_members`` the members and items of the whole document, ``max_depth``
    the mappings and lists around a value. Raises `YAMLDocumentError` for anything else than JSON written as YAML.
    """
    if len(data) > max_bytes:
        raise YAMLDocumentError(f"the document has {len(data):,} bytes; at most {max_bytes:,} are read")
    reader = _Reader(_decode(data), max_depth, max_members, max_total_members)
    return reader.read()


def _decode(data: bytes) -> str:
    """Return the text of UTF-8 bytes; refuse other encodings and characters that an author cannot see."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = _place(data[: error.start].decode("utf-8"))
        raise YAMLDocumentError("the document is not UTF-8", *place, hint="save the file as UTF-8") from None
    if text.startswith("\ufeff"):
        raise YAMLDocumentError("the document begins with a byte order mark", hint="save the file as UTF-8 without one")
    raw = (_RAW_ASCII if text.isascii() else re.compile(_RAW)).search(text)  # the large class takes long to compile
    if raw:
        code = ord(raw.group())
        escape = f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
        hint = f'remove it, or write it as {escape} in a string with "double quotes"'
        raise YAMLDocumentError(f"the character U+{code:04X} is not allowed", *_place(text[: raw.start()]), hint=hint)
    return text


def _place(before: str) -> tuple[int, int]:
    """Return the 1-based line and column of the character that follows the text ``before``."""
    lines = re.split(r"\r\n?|\n", before)
    return len(lines), len(lines[-1]) + 1


@dataclass
class _Open:
    """A mapping or list whose end has not been read; ``key`` is the member whose value comes next."""

    container: dict[str, JSONValue] | list[JSONValue]
    pointer: str
    place: tuple[int, int]
    key: str | None = None


class _Reader:
    """Builds a document from parser events, without recursion: what is open lies on a stack."""

    def __init__(self, text: str, max_depth: int, max_members: int, max_total_members: int) -> None:
        self.text = text
        self.max_depth = max_depth
        self.max_members = max_members
        self.max_total_members = max_total_members
        self.value: JSONValue = None
        self.marks: dict[str, tuple[int, int]] = {}
        self.literals: dict[str, str] = {}
        self.stack: list[_Open] = []
        self.place = (1, 1)  # of the event in hand; start is its offset, and previous_end that of the event before it
        self.start = self.previous_end = 0
        self.pointer_text = 0

    def read(self) -> YAMLDocument:
        """Return the document; raises `YAMLDocumentError`."""
        import yaml

        for event in self._events():
            start, end = event.start_mark, event.end_mark
            assert isinstance(start, yaml.Mark)
            assert isinstance(end, yaml.Mark)
            self.start, self.place = start.index, (start.line + 1, start.column + 1)
            if isinstance(event, yaml.DocumentStartEvent):
                self._start_document()
            elif isinstance(event, yaml.AliasEvent):
                raise self._refused("an alias (`*name`) is not allowed", self._next_pointer(), _QUOTE)
            elif isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._open(event, {} if isinstance(event, yaml.MappingStartEvent) else [])
            elif isinstance(event, yaml.CollectionEndEvent):
                self.stack.pop()
            self.previous_end = end.index
        if not self.marks:
            raise YAMLDocumentError("the document is empty")
        return YAMLDocument(self.value, self.marks, self.literals)

    def _events(self) -> Iterator[yaml.Event]:
        """Yield what the pure-Python parser finds; its complaints become ours."""
        import yaml

        loader = yaml.SafeLoader(self.text)
        try:
            while (event := loader.get_event()) is not None:  # type: ignore[no-untyped-call]
                yield event
        except yaml.MarkedYAMLError as error:
            raise self._explained(error) from None
        except (ValueError, OverflowError):  # a number of the syntax that Python cannot hold, as in "\U00110000"
            message = "an escape or a directive with a number that is too large"
            raise YAMLDocumentError(message, loader.line + 1, loader.column + 1) from None
        finally:
            loader.dispose()

    def _explained(self, error: yaml.MarkedYAMLError) -> YAMLDocumentError:
        """Return a complaint of the parser in our words: where it is, what is wrong and what to do."""
        context, problem = error.context or "", error.problem or "this is not YAML"
        if "<stream end>" in problem and self.stack:
            return YAMLDocumentError("this bracket is never closed", *self.stack[-1].place)
        mark, hint = error.problem_mark, ""
        message = printable(" ".join(problem.split()))
        message = message[:1].lower() + message[1:]
        for known in _SYNTAX:
            if context.startswith(known.context) and known.problem in problem:
                message, hint = known.message, known.hint
                mark = error.context_mark if known.at_start and error.context_mark else mark
                break
        return YAMLDocumentError(message, *((mark.line + 1, mark.column + 1) if mark else (1, 1)), hint=hint)

    def _refused(self, message: str, path: str, hint: str = "") -> YAMLDocumentError:
        return YAMLDocumentError(message, *self.place, hint=hint, pointer=path)

    def _start_document(self) -> None:
        if self.marks:
            raise self._refused("a second document begins here", "", "write one document a file")
        if self.text.startswith("%", self.start):
            raise self._refused("a directive (`%`) is not allowed", "", "remove the line")

    def _next_pointer(self) -> str:
        """Return the pointer of the value that comes next, or of the mapping where a key comes next."""
        if not self.stack:
            return ""
        parent = self.stack[-1]
        if isinstance(parent.container, list):
            return f"{parent.pointer}/{len(parent.container)}"
        return parent.pointer if parent.key is None else parent.pointer + pointer(parent.key)

    def _check_properties(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, path: str) -> None:
        if event.anchor is not None:
            raise self._refused("an anchor (`&name`) is not allowed", path, _QUOTE)
        if event.tag is not None:
            raise self._refused("a tag (`!name`) is not allowed", path, _QUOTE)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        """Take a key, or a string, number, boolean or null."""
        path = self._next_pointer()
        self._check_properties(event, path)
        parent = self.stack[-1] if self.stack else None
        members = parent.container if parent and parent.key is None else None
        if isinstance(members, dict):
            self._check_no_question_mark(path)
        try:
            value = quoted(event.value) if event.style else plain(event.value)
        except ScalarError as error:
            raise self._refused(error.message, path, error.hint) from None
        if parent and isinstance(members, dict):
            self._key(value, parent, members)
            return
        self._put(value, path)
        if type(value) in (int, float):
            self.literals[path] = event.value

    def _check_no_question_mark(self, path: str) -> None:
        """Refuse `? key`: no event tells of it, but before a key only it and comments can hold a question mark."""
        gap = self.text[self.previous_end : self.start]
        if "?" in gap and "?" in _COMMENT.sub("", gap):
            raise self._refused("a key after `?` is not allowed", path, "write `key: value`")

    def _key(self, key: JSONValue, parent: _Open, members: dict[str, JSONValue]) -> None:
        if not isinstance(key, str):
            raise self._refused("a key must be a string", parent.pointer, "put it in quotes")
        path = parent.pointer + pointer(key)
        if key in members:
            name = printable(key if len(key) <= 60 else key[:57] + "...")
            raise self._refused(f"duplicate key `{name}`, first on line {self.marks[path][0]}", path)
        if len(members) == self.max_members:
            raise self._refused(f"a mapping with more than {self.max_members:,} members", parent.pointer)
        parent.key = key
        self._note(path)

    def _open(self, event: yaml.CollectionStartEvent, container: dict[str, JSONValue] | list[JSONValue]) -> None:
        """Take the start of a mapping or list."""
        path = self._next_pointer()
        self._check_properties(event, path)
        if self.stack and self.stack[-1].key is None and isinstance(self.stack[-1].container, dict):
            raise self._refused("a key must be a string", path)
        if event.flow_style and isinstance(container, dict) and not self.text.startswith("{", self.start):
            raise self._refused("a pair inside a list needs braces", path, "write `{key: value}`")
        if len(self.stack) == self.max_depth:
            raise self._refused(f"mappings and lists more than {self.max_depth:,} deep", path)
        self._put(container, path)
        self.stack.append(_Open(container, path, self.place))

    def _put(self, value: JSONValue, path: str) -> None:
        """Store a value where its path says."""
        if not self.stack:
            self._note(path)
            self.value = value
            return
        parent = self.stack[-1]
        if isinstance(parent.container, list):
            self._note(path)
            parent.container.append(value)
        elif parent.key is not None:
            parent.container[parent.key] = value
            parent.key = None

    def _note(self, path: str) -> None:
        """Mark where a value is; refuse a document of too many values."""
        if len(self.marks) > self.max_total_members:
            raise self._refused(f"more than {self.max_total_members:,} members and items", path)
        self.pointer_text += len(path)
        if self.pointer_text > _MAX_POINTER_TEXT:
            raise self._refused("too many values under long keys", "", "shorten the keys")
        self.marks[path] = self.place


class _Syntax(NamedTuple):
    """A complaint of the parser (how its context begins, what its problem holds) and our words for it."""

    context: str
    problem: str
    message: str
    hint: str = ""
    at_start: bool = False  # the fault lies where the construct began, not where the parser noticed


_START = "put a string that begins with it in quotes"
_SYNTAX = (
    _Syntax("while scanning a directive", "", "a directive (`%`) is not allowed", "remove the line", at_start=True),
    _Syntax("while scanning an alias", "", "an alias (`*name`) is not allowed", _START, at_start=True),
    _Syntax("while scanning an anchor", "", "an anchor (`&name`) is not allowed", _START, at_start=True),
    _Syntax("while scanning a tag", "", "a tag (`!name`) is not allowed", _START, at_start=True),
    _Syntax("while parsing a tag", "", "a tag (`!name`) is not allowed", _START, at_start=True),
    _Syntax("", "undefined tag handle", "a tag (`!name`) is not allowed", _START, at_start=True),
    _Syntax("", "duplicate tag handle", "a directive (`%`) is not allowed", "remove the line"),
    _Syntax("", "YAML directive", "a directive (`%`) is not allowed", "remove the line"),
    _Syntax("", "incompatible YAML document", "a directive (`%`) is not allowed", "remove the line"),
    _Syntax("", r"'\t' that cannot start", "a tab where only spaces may be", "indent with spaces"),
    _Syntax("", "that cannot start", "no plain string begins with this character", "put the string in quotes"),
    _Syntax("", "could not find expected ':'", "a key without its colon", "write `key: value`", at_start=True),
    _Syntax("", "mapping values are not", "a colon where no key can be", "check the indentation, or quote the string"),
    _Syntax("", "mapping keys are not", "a key after `?` is not allowed", _START),
    _Syntax("", "sequence entries are not", "a list cannot begin here", "begin it on a line of its own"),
    _Syntax("", "expected ',' or ']'", "a comma or `]` is missing before this"),
    _Syntax("", "expected ',' or '}'", "a comma or `}` is missing before this"),
    _Syntax("while scanning a quoted", "", "this quote is never closed", at_start=True),
    _Syntax("", "unknown escape", "an escape that YAML does not have", "write a backslash twice"),
    _Syntax("", "escape sequence of", "an escape with too few hexadecimal digits"),
    _Syntax("", "chomping or indentation", "no plain string begins with `|` or `>`", _START, at_start=True),
    _Syntax(
        "", "<block end>, but found '<scalar>'", "text after the end of a value", "check the quotes and the indentation"
    ),
    _Syntax("", ", but found ':'", "a key is missing before this"),
    _Syntax("", "expected <block end>", "the line does not fit what it stands in", "align it with the lines around it"),
    _Syntax("", "expected the node content", "a value is missing before this"),
    _Syntax(
        "", "expected '<document start>'", "text after the end of the value", "check the quotes and the indentation"
    ),
)
