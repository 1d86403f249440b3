"""A suite opened to build from or to compare with: validated first, then read once more with its files spooled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hatch_agentsuite.archive.layer import LayerSink
from hatch_agentsuite.content import Entry
from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.layout import LayoutError
from hatch_agentsuite.limits import DEFAULT_LIMITS
from hatch_agentsuite.validation import validate
from hatch_agentsuite.validation.oci import read_envelope
from hatch_agentsuite.validation.suite import Suite, load_suite
from hatch_agentsuite.validation.validator import open_layout


@dataclass(frozen=True)
class OpenedSuite:
    """A valid suite, the digest of its OCI manifest, and its files on disk by content path."""

    suite: Suite
    digest: str
    files: dict[str, Path]

    def data(self, path: str) -> bytes:
        """Return the bytes of a small file: a document, instructions or a schema."""
        found = self.suite.tree.documents.get(path)
        return self.files[path].read_bytes() if found is None else found


def open_suite(path: Path, spool: Path | None = None) -> OpenedSuite:
    """Return the suite at a path, its files written below ``spool`` where that is given.

    Raises :class:`RefusedError` for a suite that is not valid, and for a directory of content, which has no manifest
    that an image could be bound to.
    """
    report = validate(path)
    errors = _errors(report.findings)
    if errors:
        raise RefusedError(*errors)
    try:
        layout = open_layout(path)
    except LayoutError as error:
        raise RefusedError(Finding("AS-OCI-001", "oci", str(path), f"the path cannot be used: {error}")) from None
    if layout is None or report.digest is None:
        message = "this is a directory of content; an image is bound to the OCI manifest of a suite"
        raise RefusedError(Finding("ASI-SRC-001", "build", str(path), message, "give an image layout or an archive"))
    sink = _Spool(spool) if spool is not None else LayerSink()
    envelope = read_envelope(layout, DEFAULT_LIMITS, sink)
    if envelope.manifest_digest != report.digest or envelope.tree is None or _errors(envelope.tree.findings):
        raise RefusedError(Finding("ASI-SRC-001", "build", str(path), "the suite changed while it was read"))
    return OpenedSuite(load_suite(envelope.tree), report.digest, sink.files if isinstance(sink, _Spool) else {})


def _errors(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.is_error]


class _Spool(LayerSink):
    """Keeps the bytes of every regular file on disk, under numbers; links lead to their targets' bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files: dict[str, Path] = {}

    def entry(self, entry: Entry, chunks: Iterator[bytes]) -> None:
        if entry.type == "hardlink" and entry.link_target in self.files:
            self.files[entry.path] = self.files[entry.link_target]
        if entry.type != "file":
            return
        path = self._folder / str(len(self.files))
        with path.open("xb") as stream:
            for chunk in chunks:
                stream.write(chunk)
        self.files[entry.path] = path
