"""Read a document of another format: JSON, JSON with comments, or YAML, held to the strict profile of ``jsondoc``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatch_agentsuite import jsondoc, yamldoc
from hatch_agentsuite.findings import Finding, RefusedError, printable
from hatch_agentsuite.regular import open_regular

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONValue

_YAML = frozenset({".yaml", ".yml"})
_MOST = jsondoc.DEFAULT_LIMITS.document_bytes
# What is not terminated matches to the end, so that no start is ever tried twice.
_STRING_OR_COMMENT = re.compile(rb'"[^"]*"?|//[^\r\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_WORDS = re.compile(r"[A-Za-z][A-Za-z_-]+")
_NOT_TEXT = frozenset({"true", "false", "null", "yes", "no", "on", "off"})
_VISIBLE = re.compile(rb"[^\r\n]")


@dataclass(frozen=True)
class ForeignDocument:
    """The value of a document, and the line and column (1-based) of its parts by JSON pointer, known for YAML."""

    value: JSONValue
    marks: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def read(path: Path, requirement: str, *, comments: bool = False) -> ForeignDocument:
    """Return the document at a path: YAML by the suffix ``.yaml`` or ``.yml``, else JSON.

    The path itself may be a symlink; a FIFO, a device or a folder is refused without blocking. Raises
    :class:`RefusedError` with one finding of the given requirement.
    """
    try:
        with open_regular(Path(os.path.realpath(path))) as stream:
            data = stream.read(_MOST + 1)
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or 'it is no regular file'}"
        raise RefusedError(Finding(requirement, "path", printable(str(path)), message)) from None
    try:
        return loads(data, yaml=path.suffix.lower() in _YAML, comments=comments)
    except (jsondoc.JSONDocumentError, yamldoc.YAMLDocumentError) as error:
        place = f"{path}#{error.pointer}"
        found = Finding(requirement, "json", place, error.message, error.hint, line=error.line, column=error.column)
        raise RefusedError(found) from None


def loads(data: bytes, *, yaml: bool = False, comments: bool = False) -> ForeignDocument:
    """Return the document that the bytes are; raises ``JSONDocumentError`` or ``YAMLDocumentError``."""
    if yaml:
        document = yamldoc.loads(data)
        return ForeignDocument(document.value, document.marks)
    return ForeignDocument(jsondoc.loads(without_comments(data) if comments and len(data) <= _MOST else data))


def without_comments(data: bytes) -> bytes:
    """Return JSON in which ``//`` and ``/* */`` comments are blank, so that lines and columns stay.

    A comment that is not closed is left for the parser to refuse where it begins.
    """
    plain = data.replace(rb"\\", b"__").replace(rb"\"", b"__")  # then every quote begins or ends a string
    pieces = []
    end = 0
    for match in _STRING_OR_COMMENT.finditer(plain):
        found = match.group()
        is_open = found.startswith(b"/*") and (len(found) < 4 or not found.endswith(b"*/"))
        if not found.startswith(b'"') and not is_open:
            pieces += [data[end : match.start()], _VISIBLE.sub(b" ", found)]
            end = match.end()
    return b"".join([*pieces, data[end:]])


def dump(value: Mapping[str, Any]) -> bytes:
    """Return a document as people read it: UTF-8 JSON, two spaces, members in the order given."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def dump_yaml(value: Mapping[str, Any]) -> bytes:
    """Return a document as YAML that :func:`loads` reads back as the same value: text is quoted unless it is a word."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes every text that another reader of YAML could take for something else."""

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 -- an alias is not JSON
            return True

    def text(dumper: yaml.SafeDumper, data: str) -> yaml.ScalarNode:
        plain = _WORDS.fullmatch(data) and data.lower() not in _NOT_TEXT
        return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=None if plain else '"')

    Dumper.add_representer(str, text)
    dumped = yaml.dump(dict(value), Dumper=Dumper, allow_unicode=True, sort_keys=False, width=10_000)
    return str(dumped).encode()
