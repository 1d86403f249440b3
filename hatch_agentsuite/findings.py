"""What every judgement of this project returns: findings, each with a requirement, a place and a way to mend it.

Requirements are named by section 15.1 of the AgentSuite specification (``AS-*``); the authoring tree, which the
specification does not know, has names of its own (``SOURCE-*``). Categories are the stable ones of section 16.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

Category = Literal[
    "oci", "json", "path", "digest", "graph", "platform", "tool-provider", "build", "evaluation", "security"
]
Severity = Literal["error", "warning"]

CATEGORIES: tuple[str, ...] = get_args(Category)


@dataclass(frozen=True)
class Finding:
    """One fault, or one thing worth a warning.

    ``location`` is a document path and a JSON pointer (``agents/writer.json#/invokes/0/agent``); either may be missing.
    ``line`` and ``column`` (1-based) are known for YAML and for JSON that cannot be parsed. A message never repeats a
    credential or an evaluation operand.
    """

    requirement: str
    category: Category
    location: str
    message: str
    hint: str = ""
    severity: Severity = "error"
    line: int | None = None
    column: int | None = None

    @property
    def is_error(self) -> bool:
        """Whether this finding refuses what was judged."""
        return self.severity == "error"

    def as_warning(self) -> Finding:
        """Return the same finding as one that does not change the verdict."""
        return replace(self, severity="warning")

    def to_json(self) -> dict[str, str | int]:
        """Return the finding as a JSON object, absent members left out."""
        members: dict[str, str | int] = {
            "requirement": self.requirement,
            "category": self.category,
            "severity": self.severity,
            "location": self.location,
            "message": self.message,
        }
        if self.hint:
            members["hint"] = self.hint
        if self.line is not None:
            members["line"] = self.line
        if self.column is not None:
            members["column"] = self.column
        return members

    @property
    def place(self) -> str:
        """Return the location for people, with line and column where they are known."""
        place = self.location.removesuffix("#")
        if self.line is None:
            return place
        document, mark, pointer = place.partition("#")
        return f"{document}:{self.line}:{self.column or 1}{mark}{pointer}"

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        if self.hint:
            text = f"{text} ({self.hint})"
        return printable(f"{text} [{self.requirement}]")


class RefusedError(Exception):
    """Something was refused; ``findings`` says what, where and why (at least one of them is an error)."""

    def __init__(self, *findings: Finding) -> None:
        self.findings = findings
        super().__init__("\n".join(str(finding) for finding in findings))


def pointer(*tokens: str | int) -> str:
    """Return the JSON pointer (RFC 6901) that the tokens name; no token is the whole document."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def printable(text: str) -> str:
    """Return text in which control characters, surrogates and bidirectional overrides are escapes.

    Names come from untrusted archives; a terminal must show them and not obey them. Line breaks are kept out too.
    """
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
