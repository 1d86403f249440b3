"""Judging sandbox images: one image or an index of several, by every requirement of section 15.2.

    report = validate_image(Path("writer.image"), suite=Path("dist/demo.agentsuite"))

Offline; nothing of an image is executed or unpacked. Memory grows with the number of entries, never with their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hatch_agentsuite.collection import collection_paused
from hatch_agentsuite.documents import IMAGE_INDEX_MEDIA_TYPE, IMAGE_MANIFEST_MEDIA_TYPE
from hatch_agentsuite.findings import Finding, RefusedError, printable
from hatch_agentsuite.jsondoc import JSONDocumentError, loads
from hatch_agentsuite.layout import INDEX_FILE, LAYOUT_FILE, LayoutArchive, LayoutDirectory, LayoutError
from hatch_agentsuite.packing import Step
from hatch_agentsuite.sandbox import provenance
from hatch_agentsuite.sandbox.checks.sources import check_suite
from hatch_agentsuite.sandbox.checks.subject import Subject
from hatch_agentsuite.sandbox.images import REQUIREMENT, ImageStore, is_descriptor
from hatch_agentsuite.sandbox.judging import judge
from hatch_agentsuite.sandbox.suites import OpenedSuite, open_suite

_MAX_MANIFESTS = 1_000
_MAX_INDEX = 4 * 1024 * 1024


@dataclass(frozen=True)
class ImageSummary:
    """One image that was judged."""

    digest: str
    platform: str
    kind: str
    name: str

    def to_json(self) -> dict[str, str]:
        """Return the summary as JSON."""
        return {"digest": self.digest, "platform": self.platform, "kind": self.kind, "name": self.name}


@dataclass(frozen=True)
class ImageReport:
    """The verdict on one layout; ``digest`` is that of the image, or of the index of several."""

    path: str
    findings: tuple[Finding, ...]
    digest: str | None = None
    images: tuple[ImageSummary, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing refuses the image; warnings do not count."""
        return not any(finding.is_error for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the machine form of the report."""
        members: dict[str, Any] = {"path": self.path, "valid": self.ok}
        if self.digest:
            members["digest"] = self.digest
        members["images"] = [image.to_json() for image in self.images]
        members["findings"] = [finding.to_json() for finding in self.findings]
        return members


def validate_image(path: str | Path, *, suite: str | Path | None = None, step: Step | None = None) -> ImageReport:
    """Judge the image, or the images of an index, in the layout or archive at ``path``.

    With ``suite``, a suite that is valid, the image must be one of it. Nothing is raised for whatever the image holds;
    raises :class:`RefusedError` for a suite that is refused.
    """
    path = Path(path)
    begin: Step = step or (lambda _name, _size: None)
    opened = open_suite(Path(suite)) if suite is not None else None
    try:
        index = _index(path)
        store = ImageStore([path])
        top = _top(index)
        found = _manifests(store, top)
    except LayoutError as error:
        return ImageReport(str(path), (_fault("", str(error)),))
    except RefusedError as error:
        return ImageReport(str(path), error.findings)
    findings: list[Finding] = []
    summaries = []
    for item in found:
        subject = _subject(store, item, begin, findings)
        if subject is None:
            continue
        summary = _summary(subject)
        with collection_paused():
            judged = list(_judged(subject, opened, begin))
        prefix = f"{summary.platform} " if len(found) > 1 else ""
        findings.extend(replace(finding, location=f"{prefix}{finding.location}".rstrip()) for finding in judged)
        summaries.append(summary)
    findings.extend(_platforms(summaries))
    findings.extend(provenance.check(store, index, top))
    return ImageReport(str(path), tuple(dict.fromkeys(findings)), top["digest"], tuple(summaries))


def _judged(subject: Subject, opened: OpenedSuite | None, begin: Step) -> Iterator[Finding]:
    begin("judging", 0)
    yield from judge(subject)
    if opened is not None:
        yield from check_suite(subject, opened.suite, opened.digest)


def _index(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise LayoutError("there is no such file or directory")
    if path.is_dir() and not (path / LAYOUT_FILE).exists():
        raise LayoutError(f"the folder is no image layout: it has no `{LAYOUT_FILE}`")
    layout = LayoutDirectory(path) if path.is_dir() else LayoutArchive(path)
    with layout.open(INDEX_FILE) as stream:
        return _object(stream.read(_MAX_INDEX + 1), INDEX_FILE)


def _object(data: bytes, name: str) -> dict[str, Any]:
    try:
        value = loads(data)
    except JSONDocumentError as error:
        raise LayoutError(f"{name}: {error.message}") from None
    manifests: Any = value.get("manifests") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(manifests, list) or not 0 < len(manifests) <= _MAX_MANIFESTS:
        raise LayoutError(f"{name}: it has no list of 1 to {_MAX_MANIFESTS:,} manifests")
    for item in manifests:
        if not is_descriptor(item):
            raise LayoutError(f"{name}: an entry is no descriptor of media type, digest and size")
        if not isinstance(item.get("platform", {}), dict):
            raise LayoutError(f"{name}: the platform of {item['digest']} is no object")
    return value


def _top(index: dict[str, Any]) -> dict[str, Any]:
    """Return the one image or index that a layout is about; artifacts that refer to it are left aside."""
    found = [item for item in index["manifests"] if "artifactType" not in item]
    if len({item["digest"] for item in found}) != 1:
        raise LayoutError(f"{INDEX_FILE} selects {len(found)} images; an image layout holds one, or one index")
    top: dict[str, Any] = found[0]
    return top


def _manifests(store: ImageStore, top: dict[str, Any]) -> list[dict[str, Any]]:
    if top.get("mediaType") != IMAGE_INDEX_MEDIA_TYPE:
        return [top]
    index = _object(store.document(top["digest"], top["size"], "image index"), "the image index")
    found: list[dict[str, Any]] = index["manifests"]
    return found


def _subject(store: ImageStore, item: dict[str, Any], begin: Step, findings: list[Finding]) -> Subject | None:
    platform = item.get("platform")
    if item.get("mediaType") != IMAGE_MANIFEST_MEDIA_TYPE:
        findings.append(_fault(item["digest"], "this is no OCI image manifest"))
        return None
    try:
        image = store.manifest(item["digest"], item, "")
        size = sum(layer["size"] for layer in image.descriptors)
        with collection_paused():
            layers = store.layers(image, "", begin("reading layers", size))
    except RefusedError as error:
        findings.extend(error.findings)
        return None
    return Subject(image, layers, platform)


def _summary(subject: Subject) -> ImageSummary:
    config, sources = subject.config_platform, subject.sources
    name = "" if sources is None else sources.composition["agent" if subject.is_agent else "id"]
    kind = "agent" if subject.is_agent else "toolProvider"
    return ImageSummary(subject.image.digest, printable(f"{config['os']}/{config['architecture']}"), kind, name)


def _platforms(summaries: list[ImageSummary]) -> Iterator[Finding]:
    """Yield where an index has two images of one platform, or images of different agents."""
    platforms = [summary.platform for summary in summaries]
    for platform in sorted({name for name in platforms if platforms.count(name) > 1}):
        yield _fault("", f"the index has several images for {platform}")
    if len({(summary.kind, summary.name) for summary in summaries}) > 1:
        yield _fault("", "the images of the index are not all of one agent or ToolProvider")


def _fault(location: str, message: str) -> Finding:
    return Finding(REQUIREMENT, "oci", location, printable(message))
