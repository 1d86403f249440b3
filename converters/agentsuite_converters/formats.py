"""A format: a schema for the shape, rules for the rest, and how its documents are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import agentsuite_schemas
from agentsuite_converters.document import read
from hatch_agentsuite.findings import Category, Finding, RefusedError, pointer

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject, JSONValue

Rule = Callable[["JSONObject", "Path | None"], Iterator[Finding]]


@dataclass(frozen=True)
class ForeignFormat:
    """One format, judged by its own text.

    ``prefix`` begins the names of its requirements; ``owners`` gives those of the schema definitions whose faults have
    a name of their own (all others are ``<prefix>-SCHEMA-001``).
    """

    name: str
    prefix: str
    schema: str
    rules: tuple[Rule, ...]
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
