"""Judging one path: a content directory, an image layout, or an image layout in a tar archive (15.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from hatch_agentsuite.collection import collection_paused
from hatch_agentsuite.content import ContentTree, Observer, read_directory
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

CHECKS: tuple[Callable[[Suite], Iterator[Finding]], ...] = (
    strict_json.check,
    identity.check,
    graph.check,
    evaluations.check,
    compositions.check,
    provider_compositions.check,
    capabilities.check,
    drafts.check,
    tool_schemas.check,
    twins.check,
)
"""The checks that need nothing but the suite; those that look at what carries it are called in :func:`_judge`."""


class Opened:
    """A path, opened: the tree of its content, and the layout that carries it if one does.

    ``observer`` sees the bytes of every regular file while they are read.
    """

    def __init__(self, path: Path, limits: Limits, observer: Observer | None = None) -> None:
        self.findings: list[Finding] = []
        self.tree: ContentTree | None = None
        self.layout: Layout | None = None
        self.digest: str | None = None
        self.layer_size: int | None = None
        self.envelope: dict[str, Any] = {}
        try:
            self.layout = open_layout(path)
        except (LayoutError, OSError) as error:
            self.findings.append(Finding(oci.REQUIREMENT, "oci", "", f"the path cannot be used: {error}"))
            return
        if self.layout is None:
            self.tree = read_directory(path, limits, observer)
            return
        envelope = oci.read_envelope(self.layout, limits, observer=observer)
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
    with secrets.Scan() as scan, collection_paused():
        opened = Opened(path, limits, scan.observe)
    if opened.tree is None:
        return Report(str(path), told(opened.findings), digest=opened.digest)
    if not opened.tree.complete:
        return Report(str(path), told([*opened.findings, *opened.tree.findings]), digest=opened.digest)
    with collection_paused():
        suite = load_suite(opened.tree)
    findings = [*opened.findings, *opened.tree.findings, *_judge(suite, opened, scan)]
    root = suite.documents.get(ROOT)
    return Report(
        str(path),
        told(findings),
        summarize(suite),
        opened.digest,
        root.digest if root else None,
    )


def told(findings: Iterable[Finding]) -> tuple[Finding, ...]:
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


def _judge(suite: Suite, opened: Opened, scan: secrets.Scan) -> Iterator[Finding]:
    layout = opened.layout
    for check in CHECKS:
        yield from check(suite)
    yield from providers.check(suite, extracted=layout is None)
    yield from secrets.check(suite, scan, opened.envelope)
    yield from unreached.check(suite, extracted=layout is None)
    if layout is not None:
        yield from evidence.check(suite, layout)
