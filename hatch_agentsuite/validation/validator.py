"""Judging one path: a content directory, an image layout, or an image layout in a tar archive (15.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from hatch_agentsuite.content import ContentTree, read_directory
from hatch_agentsuite.findings import Finding
from hatch_agentsuite.layout import INDEX_FILE, LAYOUT_FILE, Layout, LayoutArchive, LayoutDirectory, LayoutError
from hatch_agentsuite.limits import DEFAULT_LIMITS, Limits
from hatch_agentsuite.validation import (
    capabilities,
    compositions,
    drafts,
    evaluations,
    evidence,
    graph,
    identity,
    oci,
    provider_compositions,
    providers,
    secrets,
    strict_json,
    tool_schemas,
    twins,
    unreached,
)
from hatch_agentsuite.validation.report import Report, summarize
from hatch_agentsuite.validation.suite import ROOT, Suite, load_suite

CHECKS: dict[str, Callable[[Suite], Iterator[Finding]]] = {
    strict_json.REQUIREMENT: strict_json.check,
    identity.REQUIREMENT: identity.check,
    graph.REQUIREMENT: graph.check,
    evaluations.REQUIREMENT: evaluations.check,
    compositions.REQUIREMENT: compositions.check,
    provider_compositions.REQUIREMENT: provider_compositions.check,
    capabilities.REQUIREMENT: capabilities.check,
    drafts.REQUIREMENT: drafts.check,
}
"""The requirements that need nothing but the suite; OCI, PATH, PROVIDER and SECRET need what carries it as well."""


class Opened:
    """A path, opened: the tree of its content, and the layout that carries it if one does."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.findings: list[Finding] = []
        self.tree: ContentTree | None = None
        self.layout: Layout | None = None
        self.digest: str | None = None
        self.layer_size: int | None = None
        self.scan = secrets.Scan()
        self.envelope: dict[str, Any] = {}
        try:
            self.layout = open_layout(path)
        except (LayoutError, OSError) as error:
            self.findings.append(Finding(oci.REQUIREMENT, "oci", "", f"the path cannot be used: {error}"))
            return
        if self.layout is None:
            try:
                self.tree = read_directory(path, limits, self.scan.observe)
            except OSError as error:
                message = f"the directory cannot be read: {error.strerror or error}"
                self.findings.append(Finding("AS-PATH-001", "path", "", message))
            return
        envelope = oci.read_envelope(self.layout, limits, observer=self.scan.observe)
        self.findings.extend(envelope.findings)
        self.envelope = envelope.documents
        self.digest = envelope.manifest_digest
        self.layer_size = envelope.layer_size
        self.tree = envelope.tree


def validate(path: str | Path, limits: Limits = DEFAULT_LIMITS) -> Report:
    """Judge the suite at ``path`` and return the report; nothing is raised for whatever the suite holds.

    ``path`` is an extracted content directory, an OCI image-layout directory, or an uncompressed tar of a layout.
    Offline and without side effects; memory is bounded by ``limits``, not by the size of payloads.
    """
    path = Path(path)
    opened = Opened(path, limits)
    if opened.tree is None:
        return Report(str(path), _told(opened.findings), digest=opened.digest)
    if not opened.tree.complete:
        return Report(str(path), _told([*opened.findings, *opened.tree.findings]), digest=opened.digest)
    suite = load_suite(opened.tree)
    findings = [*opened.findings, *opened.tree.findings, *_judge(suite, opened)]
    root = suite.documents.get(ROOT)
    return Report(
        str(path),
        _told(findings),
        summarize(suite),
        opened.digest,
        root.digest if root else None,
    )


def _told(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return each finding once, and none that repeats a credential."""
    return tuple(dict.fromkeys(map(secrets.redacted, findings)))


def open_layout(path: Path) -> Layout | None:
    """Return the layout at a path, or None for a directory of content.

    Raises :class:`LayoutError` when there is nothing that could be a suite.
    """
    if path.is_dir():
        is_layout = any((path / name).exists() for name in (LAYOUT_FILE, INDEX_FILE)) and not (path / ROOT).exists()
        if not is_layout and not (path / ROOT).exists():
            raise LayoutError(f"the directory holds neither `{ROOT}` nor an OCI image layout")
        return LayoutDirectory(path) if is_layout else None
    if not path.exists():
        raise LayoutError("there is no such file or directory")
    if not path.is_file():
        raise LayoutError("it is neither a directory nor a regular file")
    return LayoutArchive(path)


def _judge(suite: Suite, opened: Opened) -> Iterator[Finding]:
    layout = opened.layout
    for check in CHECKS.values():
        yield from check(suite)
    yield from providers.check(suite, extracted=layout is None)
    yield from secrets.check(suite, opened.scan, opened.envelope)
    yield from tool_schemas.check(suite)
    yield from unreached.check(suite, extracted=layout is None)
    yield from twins.check(suite)
    if layout is not None:
        yield from evidence.check(suite, layout)
