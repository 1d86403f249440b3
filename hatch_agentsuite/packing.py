"""The main job: an authoring tree in, a validated AgentSuite image layout or archive out.

The output is staged, validated by the same code that judges foreign suites, and takes the place of an older one only
when it passed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal

from hatch_agentsuite.archive.gzip import Codec, zlib_is_zlib_ng
from hatch_agentsuite.archive.layer import Blob, write_layer
from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.layout import refuse_other_work, write_archive, write_layout
from hatch_agentsuite.source import Options, Resolved, resolve
from hatch_agentsuite.staging import staged
from hatch_agentsuite.validation import Report, validate
from hatch_agentsuite.validation.secrets import redacted

Form = Literal["layout", "archive"]
Admission = Callable[[Resolved, str], None]
"""Called with what was packed and its digest before it takes its place; what it raises refuses the suite."""
Step = Callable[[str, int], Callable[[int], None] | None]
"""Called with a step's name and its size in bytes (0 where unknown); returns what to call as bytes are done."""


@dataclass(frozen=True)
class Packed:
    """What was packed and where it is; ``report`` is that of the written artifact."""

    target: Path
    digest: str
    resolved: Resolved
    report: Report

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Everything worth saying that did not refuse the suite."""
        return (*self.resolved.warnings, *self.report.findings)


def pack(
    source: Path,
    target: Path,
    options: Options,
    *,
    form: Form = "layout",
    codec: Codec = "zlib",
    tag: str | None = None,
    workers: int | None = None,
    step: Step | None = None,
    admit: Admission | None = None,
) -> Packed:
    """Pack the authoring tree ``source`` into ``target``, a directory (``layout``) or a tar file (``archive``).

    Equal sources give equal bytes, whatever the machine. Raises :class:`RefusedError` when the source or the result
    would be no valid AgentSuite or ``admit`` refuses it, and :class:`OSError` when the output cannot be written; then
    ``target`` is as it was.
    """
    begin: Step = step or (lambda _name, _size: None)
    refuse_other_work(target)
    try:
        resolved = resolve(source, options, workers=workers, progress=begin("hashing", 0))
    except RefusedError as error:
        raise RefusedError(*map(redacted, error.findings)) from None
    with staged(target) as work:
        layout = work if form == "layout" else work.with_name("layout")
        progress = begin("packing", resolved.payload_bytes)

        def layer(stream: BinaryIO) -> Blob:
            return write_layer(stream, resolved.members, codec=codec, workers=workers, progress=progress)

        digest = write_layout(layout, layer, annotations=options.annotations, tag=tag, blobs=resolved.blobs)
        begin("validating", 0)
        if form == "archive":
            write_archive(layout, work)
        report = validate(work)
        if not report.ok:
            raise RefusedError(*report.findings)
        if admit:
            admit(resolved, digest)
    return Packed(target, digest, _with_zlib_warning(resolved, codec), replace(report, path=str(target)))


def _with_zlib_warning(resolved: Resolved, codec: Codec) -> Resolved:
    if codec != "zlib" or not zlib_is_zlib_ng():
        return resolved
    finding = Finding(
        "SOURCE-CODEC-001",
        "build",
        "",
        "this Python's zlib is zlib-ng, whose compressed bytes differ from those made elsewhere",
        "the content is the same; use the codec `store` where the layer's bytes must be, too",
        severity="warning",
    )
    return replace(resolved, warnings=(*resolved.warnings, finding))
