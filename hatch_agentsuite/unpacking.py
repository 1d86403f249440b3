"""Safe extraction of a suite's content layer into a new directory (specification 5.2).

The blob is verified before a byte of it is interpreted. What is extracted lands in a work folder beside the target,
which takes the target's name only when the whole layer was found safe; SBOM and provenance blobs follow into
``blobs/sha256/``, where packing the directory again looks for them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hatch_agentsuite.archive.layer import LayerSink
from hatch_agentsuite.content import Entry
from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.layout import Layout, LayoutError, blob_path
from hatch_agentsuite.limits import DEFAULT_LIMITS, Limits
from hatch_agentsuite.regular import CHUNK
from hatch_agentsuite.validation.evidence import evidence
from hatch_agentsuite.validation.oci import read_envelope
from hatch_agentsuite.validation.suite import load_suite
from hatch_agentsuite.validation.validator import open_layout


def unpack(path: Path, target: Path, limits: Limits = DEFAULT_LIMITS) -> int:
    """Extract the content of the layout or archive at ``path`` into ``target`` and return the number of entries.

    ``target`` must not exist. Raises :class:`RefusedError` when the artifact is not safe to extract, and
    :class:`OSError` when it cannot be written; then nothing is left behind. Whether the content is a valid suite is
    for :func:`hatch_agentsuite.validation.validate` to say.
    """
    layout = _layout(path)
    if os.path.lexists(target):
        raise FileExistsError(17, "already exists; content is extracted into a new directory", str(target))
    missing = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
    try:
        content = work / "content"
        content.mkdir(mode=0o755)
        sink = _Extraction(content)
        envelope = read_envelope(layout, limits, sink)
        findings = [*envelope.findings, *(envelope.tree.findings if envelope.tree else ())]
        errors = [finding for finding in findings if finding.is_error]
        if errors or envelope.tree is None:
            raise RefusedError(*errors)
        for _location, descriptor in evidence(load_suite(envelope.tree)):
            _copy_evidence(layout, descriptor["digest"], content)
        content.chmod(0o755)
        content.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        for folder in missing:
            with suppress(OSError):  # the target is in it
                folder.rmdir()
    return len(envelope.tree.entries)


class _Extraction(LayerSink):
    """Writes admitted entries below a folder that nobody else writes to."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def entry(self, entry: Entry, chunks: Iterator[bytes]) -> None:
        path = self._root / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.type == "directory":
            path.mkdir(exist_ok=True)
        elif entry.type == "symlink":
            path.symlink_to(entry.link_target or "")
        elif entry.type == "hardlink":
            source = self._root / (entry.link_target or "")
            if source.is_file() and not source.is_symlink():
                os.link(source, path)
        else:
            with path.open("xb") as stream:
                for chunk in chunks:
                    stream.write(chunk)
            path.chmod(entry.mode & 0o755)


def _layout(path: Path) -> Layout:
    try:
        layout = open_layout(path)
    except LayoutError as error:
        raise RefusedError(Finding("AS-OCI-001", "oci", str(path), f"the path cannot be used: {error}")) from None
    if layout is None:
        raise RefusedError(Finding("AS-OCI-001", "oci", str(path), "this is a content directory, extracted already"))
    return layout


def _copy_evidence(layout: Layout, digest: str, content: Path) -> None:
    """Copy an SBOM or provenance blob beside the content; one that is absent is the validator's business."""
    target = content / blob_path(digest)
    if target.exists():
        return
    try:
        with layout.open(blob_path(digest)) as stream:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as copy:
                shutil.copyfileobj(stream, copy, CHUNK)
    except LayoutError:
        return
