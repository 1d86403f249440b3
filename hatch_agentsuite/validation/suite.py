"""A suite as its documents tell it: read from a content tree once, then judged by every requirement.

Reading follows the references from ``agentsuite.json`` (section 7). A document that is absent, not strict JSON or not
of its schema ends its own branch: it is known to be referenced, but has no value that a later check could misread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hatch_agentsuite.content import ContentTree, Entry
from hatch_agentsuite.findings import Finding, pointer
from hatch_agentsuite.jsondoc import JSONDocumentError, digest, loads
from hatch_agentsuite.validation.shape import shape_findings

ROOT = "agentsuite.json"

ProviderKey = tuple[str, str]


@dataclass(frozen=True)
class Document:
    """A JSON document of the suite; ``value`` is None when it is not strict JSON or does not fit its schema."""

    path: str
    kind: str
    value: dict[str, Any] | None
    digest: str | None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Reference:
    """A path and digest that a document holds; ``kind`` is the target's schema, or empty for a file of exact bytes."""

    source: str
    pointer: str
    path: str
    digest: str
    kind: str = ""

    @property
    def location(self) -> str:
        """Where the reference stands."""
        return f"{self.source}#{self.pointer}"


@dataclass
class Suite:
    """Everything reachable from ``agentsuite.json``. Where an identity stands twice, the first one is kept here."""

    tree: ContentTree
    documents: dict[str, Document] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)
    manifest: dict[str, Any] | None = None
    agents: dict[str, Document] = field(default_factory=dict)
    providers: dict[ProviderKey, Document] = field(default_factory=dict)
    compositions: list[tuple[Reference, Document]] = field(default_factory=list)
    provider_compositions: list[tuple[Reference, Document]] = field(default_factory=list)
    profiles: dict[str, Document] = field(default_factory=dict)
    catalog: Document | None = None
    eval_indexes: dict[str, Document] = field(default_factory=dict)

    def entry(self, path: str) -> Entry | None:
        """Return the entry that a content path names."""
        return self.tree.entries.get(path)

    def variants(self) -> Iterator[tuple[Document, int, dict[str, Any]]]:
        """Yield every bundled variant with its provider's document and its index there."""
        for document in self.providers.values():
            for index, variant in enumerate((document.value or {}).get("variants", [])):
                yield document, index, variant

    def reached(self) -> set[str]:
        """Return the content paths of all documents and files that references name."""
        return {ROOT, *(reference.path for reference in self.references)}


def load_suite(tree: ContentTree) -> Suite:
    """Follow the references of a content tree and return what they lead to."""
    suite = Suite(tree)
    root = _document(suite, ROOT, "agentsuite/suite")
    if root.value is None:
        return suite
    manifest = suite.manifest = root.value
    _load_agents(suite, manifest)
    _load_catalog(suite, manifest)
    for index, item in enumerate(manifest["compositions"]):
        suite.compositions.append(_follow(suite, ROOT, ("compositions", index), item, "agentsuite/composition"))
    for index, item in enumerate(manifest.get("toolProviderCompositions", [])):
        where = ("toolProviderCompositions", index)
        followed = _follow(suite, ROOT, where, item, "agentsuite/tool-provider-composition")
        suite.provider_compositions.append(followed)
    for index, item in enumerate(manifest["buildProfiles"]):
        _, document = _follow(suite, ROOT, ("buildProfiles", index), item, "agentsuite/build-profile")
        suite.profiles.setdefault(item["id"], document)
    _load_metadata(suite, manifest)
    return suite


def _load_agents(suite: Suite, manifest: dict[str, Any]) -> None:
    for index, item in enumerate(manifest["agents"]):
        _, document = _follow(suite, ROOT, ("agents", index), item, "agentsuite/agent")
        suite.agents.setdefault(item["id"], document)
        if document.value is None:
            continue
        _follow(suite, document.path, ("instructions",), document.value["instructions"], "")
        for position, evals in enumerate(document.value.get("evals", [])):
            _load_evals(suite, document, item["id"], position, evals)


def _load_evals(suite: Suite, agent: Document, name: str, position: int, item: dict[str, Any]) -> None:
    _, index = _follow(suite, agent.path, ("evals", position), item, "agentsuite/eval-index")
    suite.eval_indexes.setdefault(name, index)
    for number, case in enumerate((index.value or {}).get("cases", [])):
        _follow(suite, index.path, ("cases", number), case, "agentsuite/eval-case")


def _load_catalog(suite: Suite, manifest: dict[str, Any]) -> None:
    where = ("toolProviderCatalog",)
    _, catalog = _follow(suite, ROOT, where, manifest["toolProviderCatalog"], "agentsuite/tool-provider-catalog")
    suite.catalog = catalog
    if catalog.value is None:
        return
    for index, item in enumerate(catalog.value["toolProviders"]):
        _, document = _follow(suite, catalog.path, ("toolProviders", index), item, "agentsuite/tool-provider")
        suite.providers.setdefault((item["id"], item["version"]), document)
        for number, tool in enumerate((document.value or {}).get("tools", [])):
            for member in ("inputSchema", "outputSchema"):
                if member in tool:
                    _follow(suite, document.path, ("tools", number, member), tool[member], "")


def _load_metadata(suite: Suite, manifest: dict[str, Any]) -> None:
    """Follow the two non-critical extensions of this project: agents' profiles and the list of further files."""
    from hatch_agentsuite.documents import FILES_EXTENSION, FILES_PATH, PROFILE_EXTENSION, profile_path

    for index, extension in enumerate(manifest.get("extensions", [])):
        if extension["name"] == FILES_EXTENSION and "digest" in extension:
            item = {"path": FILES_PATH, "digest": extension["digest"]}
            _, listing = _follow(suite, ROOT, ("extensions", index), item, "hatch/metadata-files")
            for number, file in enumerate((listing.value or {}).get("files", [])):
                _follow(suite, FILES_PATH, ("files", number), file, "")
    for name, agent in suite.agents.items():
        for index, extension in enumerate((agent.value or {}).get("extensions", [])):
            if extension["name"] == PROFILE_EXTENSION and "digest" in extension:
                item = {"path": profile_path(name), "digest": extension["digest"]}
                _, profile = _follow(suite, agent.path, ("extensions", index), item, "hatch/profile")
                for number, file in enumerate((profile.value or {}).get("files", [])):
                    _follow(suite, profile.path, ("files", number), file, "")


def _follow(
    suite: Suite, source: str, where: tuple[str | int, ...], item: dict[str, Any], kind: str
) -> tuple[Reference, Document]:
    reference = Reference(source, pointer(*where), item["path"], item["digest"], kind)
    suite.references.append(reference)
    return reference, _document(suite, reference.path, kind) if kind else Document(reference.path, kind, None, None)


def _document(suite: Suite, path: str, kind: str) -> Document:
    """Return the document at a path, read once; it has no value when there is no such regular file."""
    known = suite.documents.get(path)
    if known is not None:
        return known if known.kind == kind else Document(path, kind, None, known.digest)
    entry = suite.entry(path)
    if entry is None or entry.type != "file":
        return Document(path, kind, None, None)
    document = _read(suite, path, kind)
    suite.documents[path] = document
    return document


def _read(suite: Suite, path: str, kind: str) -> Document:
    data = suite.tree.documents.get(path)
    if data is None:
        limit = suite.tree.limits.json.document_bytes
        message = (
            f"the document has more than {limit:,} bytes" if path.endswith(".json") else "a document is a `.json` file"
        )
        return Document(path, kind, None, None, (Finding("AS-JSON-001", "json", path, message),))
    try:
        value = loads(data, suite.tree.limits.json)
    except JSONDocumentError as error:
        found = Finding(
            "AS-JSON-001",
            "json",
            f"{path}#{error.pointer}",
            error.message,
            error.hint,
            line=error.line,
            column=error.column,
        )
        return Document(path, kind, None, None, (found,))
    findings = tuple(shape_findings(kind, path, value))
    usable = not findings and isinstance(value, dict)
    return Document(path, kind, value if usable and isinstance(value, dict) else None, digest(value), findings)
