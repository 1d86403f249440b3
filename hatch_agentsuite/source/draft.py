"""A document on its way from what somebody wrote to what is packed.

What is written must agree with what is computed. :meth:`Draft.settle` is the one place where the two meet: it fills a
member in, or finds the written one equal, or reports both values and which of the two to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import agentsuite_schemas
from hatch_agentsuite.documents import SCHEMA_VERSION, SCHEMAS
from hatch_agentsuite.findings import Category, Finding, RefusedError, pointer, printable
from hatch_agentsuite.jsondoc import DEFAULT_LIMITS, JSONDocumentError, canonical, digest_bytes, loads
from hatch_agentsuite.regular import open_regular
from hatch_agentsuite.source.tree import SourceTree
from hatch_agentsuite.validation.shape import owner, shape_findings
from hatch_agentsuite.yamldoc import YAMLDocumentError
from hatch_agentsuite.yamldoc import loads as load_yaml

MEDIA_TYPES: Mapping[str, str] = {kind: media_type for media_type, kind in SCHEMAS.items()}

Path = tuple[str | int, ...]


class Problems:
    """Findings of one resolution; :meth:`stop` ends it when there are errors among them."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def add(
        self, requirement: str, category: Category, location: str, message: str, hint: str = "", **where: int | None
    ) -> None:
        """Take a finding down."""
        self.findings.append(Finding(requirement, category, location, message, hint, **where))  # type: ignore[arg-type]

    def extend(self, findings: list[Finding]) -> None:
        """Take several findings down."""
        self.findings.extend(findings)

    @property
    def has_errors(self) -> bool:
        """Whether anything that was found is an error."""
        return any(finding.is_error for finding in self.findings)

    def stop(self) -> None:
        """Raise :class:`RefusedError` with everything found so far, if any of it is an error."""
        if self.has_errors:
            raise RefusedError(*dict.fromkeys(self.findings))


@dataclass
class Draft:
    """One document: its content path, the file it was written in (empty if nobody wrote it), and its value so far."""

    path: str
    kind: str
    problems: Problems
    file: str = ""
    value: dict[str, Any] = field(default_factory=dict)
    marks: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    literals: Mapping[str, str] = field(default_factory=dict)
    is_readable: bool = True
    _packed: bytes | None = field(default=None, init=False, repr=False)
    _faults: list[Finding] | None = field(default=None, init=False, repr=False)

    @property
    def name(self) -> str:
        """Return what to call the document in a message."""
        return self.file or self.path

    def report(
        self, requirement: str, category: Category, where: Path, message: str, hint: str = "", *, warning: bool = False
    ) -> None:
        """Take a finding about a member down, with its line where the document has lines."""
        line, column = self._mark(where)
        finding = Finding(
            requirement, category, f"{self.name}#{pointer(*where)}", message, hint, line=line, column=column
        )
        self.problems.findings.append(finding.as_warning() if warning else finding)

    def settle(self, where: Path, computed: Any, source: str) -> None:
        """Fill a member in, or compare the written one with ``computed``; ``source`` says what it follows from."""
        parent = self.at(where[:-1])
        if not isinstance(parent, dict):
            return
        key = str(where[-1])
        if key not in parent:
            parent[key] = computed
        elif parent[key] != computed:
            self.report(
                "SOURCE-MATCH-001",
                "digest" if "igest" in key else "graph",
                where,
                f"`{key}` is written as {_show(parent[key])}, but {source} makes it {_show(computed)}",
                f"leave `{key}` out, or change what it is computed from",
            )

    def at(self, where: Path) -> Any:
        """Return the value at a path, or None."""
        value: Any = self.value
        try:
            for token in where:
                value = value[token]
        except (KeyError, IndexError, TypeError):
            return None
        return value

    def packed(self) -> bytes:
        """Return the canonical bytes of the finished value; they are made once, and the value stays as it is then."""
        if self._packed is None:
            self._packed = canonical(self.value)
        return self._packed

    def digest(self) -> str:
        """Return the digest of the finished document (6.1)."""
        return digest_bytes(self.packed())

    def settle_constants(self) -> None:
        """Fill in ``schemaVersion`` and ``mediaType``."""
        self.settle(("schemaVersion",), SCHEMA_VERSION, "this version of the format")
        self.settle(("mediaType",), MEDIA_TYPES[self.kind], "the kind of document")

    def seal(self, packed: bytes) -> None:
        """Take the canonical bytes of the finished value and judge it now, so that it need not be kept whole."""
        self._packed = packed
        self._faults = self._judged()

    def check(self) -> None:
        """Hold the finished document against its schema and report what is wrong in terms of the written file."""
        self.problems.extend(self._judged() if self._faults is None else self._faults)

    def _judged(self) -> list[Finding]:
        found = []
        for finding in shape_findings(self.kind, self.name, self.value):
            line, column = self._mark_of(finding.location.partition("#")[2])
            found.append(replace(finding, line=line, column=column))
        return found

    def _mark(self, where: Path) -> tuple[int | None, int | None]:
        return self._mark_of(pointer(*where))

    def _mark_of(self, place: str) -> tuple[int | None, int | None]:
        """Return line and column of a member, or of the nearest thing around it that was written."""
        while place and place not in self.marks:
            place = place.rpartition("/")[0]
        return self.marks.get(place, (None, None))


def bind_extension(draft: Draft, name: str, target: Draft) -> None:
    """Bind ``target`` to a document by a non-critical extension record; a written list of extensions is complete."""
    extensions = draft.value.get("extensions")
    index = next((i for i, item in enumerate(extensions or []) if item.get("name") == name), None)
    if index is None:
        if extensions is not None:
            draft.report(
                "SOURCE-MATCH-001",
                "graph",
                ("extensions",),
                f"the list is complete as written, but `{target.name}` is not in it",
                f"leave `extensions` out, or add `{{name: {name}, critical: false}}`",
            )
            return
        index = 0
        draft.value["extensions"] = [{"name": name}]
    draft.settle(("extensions", index, "critical"), False, "what the extension is")
    draft.settle(("extensions", index, "digest"), target.digest(), f"`{target.name}`")


def read_draft(tree: SourceTree, problems: Problems, stem: str, kind: str) -> Draft | None:
    """Return the document written at ``stem`` plus ``.yaml``, ``.yml`` or ``.json``, or None where there is none.

    Whatever is wrong with it is reported; then the draft is not readable and its value is empty.
    """
    files = [f"{stem}{suffix}" for suffix in (".yaml", ".yml", ".json") if tree.kind(f"{stem}{suffix}") is not None]
    if not files:
        return None
    for file in files:
        tree.reach(file)
    draft = Draft(f"{stem}.json", kind, problems, files[0], is_readable=False)
    if len(files) > 1:
        listed = " and ".join(f"`{file}`" for file in files)
        problems.add("SOURCE-TREE-001", "graph", files[0], f"{listed} are one document", "remove all but one")
        return draft
    if tree.kind(draft.file) != "file":
        message = f"this is a {tree.kind(draft.file)}; a document is needed here"
        problems.add("SOURCE-TREE-001", "path", draft.file, message)
        return draft
    value = _parse(tree, draft)
    if value is not None:
        draft.value = value
        draft.is_readable = True
    return draft


def _parse(tree: SourceTree, draft: Draft) -> dict[str, Any] | None:
    problems, file = draft.problems, draft.file
    limit = DEFAULT_LIMITS.document_bytes
    try:
        with open_regular(tree.file(file)) as stream:
            data = stream.read(limit + 1)
        if file.endswith(".json"):
            value = loads(data)
        else:
            document = load_yaml(data)
            value, draft.marks, draft.literals = document.value, document.marks, document.literals
    except OSError as error:
        problems.add("SOURCE-TREE-001", "path", file, f"the file cannot be read: {error.strerror or error}")
        return None
    except (JSONDocumentError, YAMLDocumentError) as error:
        problems.add(
            "AS-JSON-001",
            "json",
            f"{file}#{error.pointer}",
            error.message,
            error.hint,
            line=error.line,
            column=error.column,
        )
        return None
    return _shaped(draft, value)


def _shaped(draft: Draft, value: Any) -> dict[str, Any] | None:
    """Return the value if it fits the relaxed schema, in which all that can be computed may be absent."""
    evaluation = draft.kind.startswith("agentsuite/eval")
    errors = list(agentsuite_schemas.authoring(draft.kind).errors(value, show_values=not evaluation))
    for error in errors:
        requirement, category = owner(draft.kind, error.definition)
        literal = draft.literals.get(pointer(*error.path)) if error.keyword == "type" else None
        hint = f'`{literal}` is a number in YAML; write "{literal}" if it is text' if literal else ""
        draft.report(requirement, category, error.path, error.message, hint)
    halves = [] if errors else list(_half_platforms(value))
    for where in halves:
        message = "a platform needs both members, `os` and `architecture`"
        draft.report("AS-JSON-001", "platform", where, message, "write `{os: linux, architecture: amd64}`")
    return value if not errors and not halves and isinstance(value, dict) else None


def _half_platforms(value: Any, where: Path = ()) -> Iterator[Path]:
    """Yield where a platform is written, but not all of it: nothing else tells what is missing."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        if key == "platform" and isinstance(member, dict) and set(member) != {"os", "architecture"}:
            yield (*where, key)
        elif isinstance(member, (dict, list)):
            yield from _half_platforms(member, (*where, key))


def _show(value: Any) -> str:
    if isinstance(value, str):
        return f"`{printable(value)}`"
    if isinstance(value, dict) and set(value) == {"os", "architecture"}:
        return f"`{value['os']}/{value['architecture']}`"
    text = printable(repr(value))
    return text if len(text) <= 200 else f"{text[:200]}..."
