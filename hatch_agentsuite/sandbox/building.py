"""Sandbox images built from a suite: offline, deterministic, by composing files (specification 12, 12.1).

    built = build_image(Path("dist/demo.agentsuite"), Path("writer.image"), agent="writer", images=[Path("images")])

Every input is verified before it is used, the result is judged by what judges foreign images, and takes its place only
when it passed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from hatch_agentsuite.archive.gzip import Codec
from hatch_agentsuite.collection import collection_paused
from hatch_agentsuite.documents import IMAGE_INDEX_MEDIA_TYPE, IMAGE_MANIFEST_MEDIA_TYPE
from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.jsondoc import canonical, digest, digest_bytes
from hatch_agentsuite.layout import TAG_ANNOTATION, refuse_other_work, write_archive
from hatch_agentsuite.packing import Step
from hatch_agentsuite.sandbox import binding, inventory, provenance
from hatch_agentsuite.sandbox.checks.subject import Subject
from hatch_agentsuite.sandbox.composing import Plan, add_bundle, add_document
from hatch_agentsuite.sandbox.config import (
    BINDING_LABEL,
    INVENTORY_LABEL,
    MAX_EPOCH,
    PROVIDER_LABEL,
    image_config,
)
from hatch_agentsuite.sandbox.images import CONFIG_MEDIA_TYPE, REQUIREMENT, Image, ImageStore
from hatch_agentsuite.sandbox.inflating import LAYER_GZIP
from hatch_agentsuite.sandbox.judging import judge
from hatch_agentsuite.sandbox.layers import MAX_DOCUMENT, read_layer
from hatch_agentsuite.sandbox.nodes import Layer
from hatch_agentsuite.sandbox.sources import Selection, select
from hatch_agentsuite.sandbox.stacking import Stacked, stack
from hatch_agentsuite.sandbox.suites import OpenedSuite, open_suite
from hatch_agentsuite.sandbox.writing import LayoutWriter
from hatch_agentsuite.staging import staged

Form = Literal["layout", "archive"]


@dataclass(frozen=True)
class BuiltImage:
    """What was built: ``digest`` is that of the image or, for all platforms, of their index."""

    target: Path
    digest: str
    platforms: dict[str, str]
    """The digest of each platform's image manifest."""
    warnings: tuple[Finding, ...]


@dataclass(frozen=True)
class _Inputs:
    """The images below one image."""

    base: Image
    harness: Image | None

    @property
    def images(self) -> list[Image]:
        return [self.base] if self.harness is None else [self.base, self.harness]


def build_image(
    suite: Path,
    target: Path,
    *,
    agent: str | None = None,
    tool_provider: str | None = None,
    platform: str | None = None,
    images: Sequence[Path] = (),
    form: Form = "layout",
    tag: str | None = None,
    codec: Codec = "zlib",
    workers: int | None = None,
    step: Step | None = None,
) -> BuiltImage:
    """Build the image of an agent, or of a ToolProvider (``id`` or ``id@version``), into ``target``.

    Without ``platform`` the result is an index of all platforms that the suite composes it for. ``images`` are image
    layouts, archives, or folders of such, that hold the runtime base and the harness. Equal inputs give equal bytes.
    Raises :class:`RefusedError` with everything that refuses the image, and :class:`OSError`; then ``target`` is as it
    was.
    """
    if (agent is None) == (tool_provider is None):
        raise ValueError("an image is that of one agent or of one ToolProvider")
    begin: Step = step or (lambda _name, _size: None)
    refuse_other_work(target)
    with staged(target) as work, collection_paused():
        begin("reading the suite", 0)
        spool = work.with_name("spool")
        spool.mkdir()
        opened = open_suite(suite, spool)
        selections = select(opened.suite, agent, tool_provider, platform)
        store = ImageStore(list(images))
        inputs = _find(store, selections)
        layout = work if form == "layout" else work.with_name("layout")
        build = _Build(opened, store, LayoutWriter(layout), codec, workers, begin)
        made = [build.image(selection, found) for selection, found in zip(selections, inputs, strict=True)]
        if build.errors:
            raise RefusedError(*build.findings)
        top = made[0] if platform is not None else build.index(made)
        used = [image for found in inputs for image in found.images]
        statement = provenance.statement(selections[0].name, made, opened.digest, selections, used)
        evidence = provenance.attach(build.writer, top, statement)
        name = {TAG_ANNOTATION: tag or selections[0].name}
        build.writer.finish([{**top, "annotations": name}, evidence])
        if form == "archive":
            write_archive(layout, work)
    platforms = {selection.platform: item["digest"] for selection, item in zip(selections, made, strict=True)}
    return BuiltImage(target, top["digest"], platforms, tuple(build.findings))


def _find(store: ImageStore, selections: list[Selection]) -> list[_Inputs]:
    """Return the images below each image; whatever is missing for any platform is named at once."""
    findings: list[Finding] = []
    found: list[_Inputs] = []

    def image(selection: Selection, role: str) -> Image | None:
        pin, place = selection.sources.pin(role), f"{selection.profile.path}#/{role}"
        if pin is None:
            message = f"the build profile pins no image for {selection.platform}"
            findings.append(Finding(REQUIREMENT, "build", place, message))
            return None
        try:
            return store.image(pin, place)
        except RefusedError as error:
            findings.extend(error.findings)
            return None

    for selection in selections:
        if selection.sources.profile["sourceEpoch"] > MAX_EPOCH:
            message = f"the source epoch is later than {MAX_EPOCH}, which fits no tar header"
            findings.append(Finding(REQUIREMENT, "build", f"{selection.profile.path}#/sourceEpoch", message))
        base = image(selection, "runtimeBase")
        harness = image(selection, "harness") if selection.sources.agent is not None else None
        if base is not None:
            found.append(_Inputs(base, harness))
    if findings:
        raise RefusedError(*dict.fromkeys(findings))
    return found


class _Build:
    """One build: what it reads from, what it writes to, and what was found on the way."""

    def __init__(
        self,
        suite: OpenedSuite,
        store: ImageStore,
        writer: LayoutWriter,
        codec: Codec,
        workers: int | None,
        begin: Step,
    ) -> None:
        self.writer = writer
        self.findings: list[Finding] = []
        self._suite = suite
        self._store = store
        self._codec: Codec = codec
        self._workers = workers
        self._begin = begin

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.is_error]

    def image(self, selection: Selection, inputs: _Inputs) -> dict[str, Any]:
        """Build the image of one platform and return its descriptor; faults are among the findings."""
        progress = self._progress(selection, inputs)
        place = selection.profile.path
        base = self._store.layers(inputs.base, place, progress)
        harness = self._store.layers(inputs.harness, place, progress) if inputs.harness else []
        stacked = stack(base, harness)
        plan = Plan(stacked.filesystem)
        self._compose(plan, selection, inputs)
        collisions = [*stacked.findings, *plan.findings]
        if any(finding.is_error for finding in collisions):
            self.findings.extend(collisions)
            return {}
        self._begin(f"composing {selection.platform}", 0)
        labels = self._bind(plan, selection)
        layer = self._layer(plan, selection)
        origins = [(item, f"runtime base {inputs.base.digest}") for item in stacked.base]
        origins += [(item, f"harness {inputs.harness.digest}") for item in stacked.harness if inputs.harness]
        origins.append((layer, "hatch-agentsuite"))
        config = image_config(selection.sources, inputs.base, inputs.harness, origins, labels)
        for item in stacked.layers:
            self.writer.take(self._store, item.digest)
        return self._judged(selection, stacked, layer, config)

    def _progress(self, selection: Selection, inputs: _Inputs) -> Callable[[int], object] | None:
        size = sum(item["size"] for image in inputs.images for item in image.descriptors)
        return self._begin(f"reading images for {selection.platform}", size)

    def _compose(self, plan: Plan, selection: Selection, inputs: _Inputs) -> None:
        sources = selection.sources
        for key, variant in sources.bundles():
            add_bundle(plan, key, variant, self._suite.files)
            add_document(plan, binding.provider_path(key), self._suite.data(selection.providers[key].path))
        add_document(plan, binding.composition_path(sources), self._suite.data(selection.composition.path))
        add_document(plan, binding.PROFILE, self._suite.data(selection.profile.path))
        add_document(plan, binding.RUNTIME_BASE, inputs.base.manifest_bytes)
        if inputs.harness is not None:
            add_document(plan, binding.HARNESS, inputs.harness.manifest_bytes)
        if selection.agent is not None:
            add_document(plan, binding.AGENT, self._suite.data(selection.agent.path))
        for path in dict.fromkeys(selection.references()):
            add_document(plan, f"{binding.CONTENT}/{path}", self._suite.data(path))
        for path in sources.mount_points:
            plan.mount_point(path)

    def _bind(self, plan: Plan, selection: Selection) -> dict[str, str]:
        """Plan the inventory and what pins it; return the labels."""
        data = canonical(inventory.document(plan.applied()))
        if len(data) > MAX_DOCUMENT // 2:
            message = f"the inventory has {len(data):,} bytes; at most {MAX_DOCUMENT // 2:,} are read"
            raise RefusedError(Finding("ASI-FS-001", "build", inventory.PATH, message, "use a smaller base or harness"))
        add_document(plan, binding.INVENTORY, data)
        if selection.agent is None:
            return {
                PROVIDER_LABEL: digest(selection.sources.composition),
                INVENTORY_LABEL: digest_bytes(data),
            }
        record = binding.binding(selection.sources, self._suite.digest, data)
        add_document(plan, binding.BINDING, canonical(record))
        return {BINDING_LABEL: digest(record)}

    def _layer(self, plan: Plan, selection: Selection) -> Layer:
        """Write our layer, and read it back as a stranger would."""
        epoch = selection.sources.profile["sourceEpoch"]
        written = self.writer.layer(plan.entries, epoch, self._codec, self._workers)
        described = {"mediaType": LAYER_GZIP, "digest": written.digest, "size": written.size}
        return read_layer(partial(self.writer.open, written.digest), described, written.diff_id)

    def _judged(self, selection: Selection, stacked: Stacked, layer: Layer, config: dict[str, Any]) -> dict[str, Any]:
        layers = [*stacked.layers, layer]
        manifest: dict[str, Any] = {
            "schemaVersion": 2,
            "mediaType": IMAGE_MANIFEST_MEDIA_TYPE,
            "config": self.writer.document(CONFIG_MEDIA_TYPE, config),
            "layers": [{"mediaType": i.media_type, "digest": i.digest, "size": i.size} for i in layers],
        }
        data = canonical(manifest)
        self._begin(f"judging {selection.platform}", 0)
        image = Image(selection.name, digest_bytes(data), data, manifest, config)
        self.findings.extend(judge(Subject(image, layers, selection.sources.platform, stacked.filesystem)))
        written = self.writer.document(IMAGE_MANIFEST_MEDIA_TYPE, manifest)
        return {**written, "platform": dict(selection.sources.platform)}

    def index(self, made: list[dict[str, Any]]) -> dict[str, Any]:
        """Write the index of all platforms and return its descriptor."""
        value: dict[str, Any] = {"schemaVersion": 2, "mediaType": IMAGE_INDEX_MEDIA_TYPE, "manifests": made}
        return self.writer.document(IMAGE_INDEX_MEDIA_TYPE, value)
