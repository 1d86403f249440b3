"""A format: a schema for the shape, rules for the rest, how its documents are read, and what its members mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import agentsuite_schemas
from agentsuite_converters.document import read
from hatch_agentsuite.findings import Category, Finding, RefusedError, pointer, printable

if TYPE_CHECKING:
    from agentsuite_converters.mapping import Table
    from hatch_agentsuite.documents import JSONObject, JSONValue

Rule = Callable[["JSONObject", "Path | None"], Iterator[Finding]]
Gather = Callable[["JSONObject", Path], "dict[str, bytes]"]


@dataclass(frozen=True)
class ForeignFormat:
    """One format, judged by its own text.

    ``prefix`` begins the names of its requirements; ``owners`` gives those of the schema definitions whose faults have
    a name of their own (all others are ``<prefix>-SCHEMA-001``).

    ``assumed`` are members of the profile that every import of the format adds, and its documents need not say.
    ``table`` says which member is which of the agent profile, ``views`` are tables of what else the format shows of an
    agent, by name. ``demands`` are members that a document must have and the option that supplies each, ``one_of`` are
    members of which it must have one; ``gather`` reads the files that a document refers to. ``is_public`` formats are
    published as they are. Where capabilities do not say whether they are public, ``published`` are those that are, and
    others on demand.
    """

    name: str
    prefix: str
    schema: str
    rules: tuple[Rule, ...]
    table: Table
    views: Mapping[str, Table] = field(default_factory=dict)
    demands: Mapping[str, str] = field(default_factory=dict)
    one_of: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    gather: Gather | None = None
    is_public: bool = False
    assumed: tuple[str, ...] = ()
    published: frozenset[str] | None = None
    comments: bool = False
    owners: Mapping[str, tuple[str, Category]] = field(default_factory=dict)

    def check(self, document: JSONValue, folder: Path | None = None) -> Iterator[Finding]:
        """Yield what is wrong with a document; locations are JSON pointers behind ``#``.

        ``folder`` is the document's own. Files that it refers to are read only below it, and not at all without it.
        """
        for error in agentsuite_schemas.validator(self.schema).errors(document):
            requirement, category = self.owners.get(error.definition, (f"{self.prefix}-SCHEMA-001", "json"))
            yield Finding(requirement, category, f"#{pointer(*error.path)}", error.message)
        if isinstance(document, dict):
            for rule in self.rules:
                yield from rule(document, folder)

    def check_file(self, path: Path) -> list[Finding]:
        """Judge the document at a path; locations begin with the path."""
        try:
            document = read(path, f"{self.prefix}-JSON-001", comments=self.comments)
        except RefusedError as error:
            return list(error.findings)
        found = []
        for finding in self.check(document.value, path.parent):
            line, column = document.marks.get(finding.location[1:], (None, None))
            found.append(replace(finding, location=f"{path}{finding.location}", line=line, column=column))
        return found

    def load(self, path: Path) -> tuple[JSONObject, dict[str, bytes], list[Finding]]:
        """Return a valid document, the files that it refers to, and warnings; raises :class:`RefusedError`."""
        findings = self.check_file(path)
        errors = [finding for finding in findings if finding.is_error]
        if errors:
            raise RefusedError(*errors)
        document = read(path, f"{self.prefix}-JSON-001", comments=self.comments).value
        if not isinstance(document, dict):  # it is another one than a moment ago
            raise RefusedError(Finding(f"{self.prefix}-JSON-001", "json", printable(str(path)), "this is no object"))
        return document, self.gather(document, path.parent) if self.gather else {}, findings
