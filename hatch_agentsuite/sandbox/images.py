"""Images in local OCI layouts and archives, found by digest and verified; nothing is fetched.

    store = ImageStore([Path("images")])
    image = store.image(pin, place)          # manifest and config, read and judged
    layers = store.layers(image, place)      # every blob hashed, every diff id compared

What is absent or damaged is named, all of it at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from hatch_agentsuite.documents import IMAGE_MANIFEST_MEDIA_TYPE, PLACEHOLDER_REGISTRY, platform_name
from hatch_agentsuite.findings import Finding, RefusedError, printable
from hatch_agentsuite.jsondoc import JSONDocumentError, digest_bytes, is_digest, loads
from hatch_agentsuite.layout import LAYOUT_FILE, Layout, LayoutArchive, LayoutDirectory, LayoutError, blob_path
from hatch_agentsuite.sandbox.inflating import MEDIA_TYPES, LayerDataError
from hatch_agentsuite.sandbox.layers import Budget, Progress, read_layer
from hatch_agentsuite.sandbox.nodes import Layer

if TYPE_CHECKING:
    from hatch_agentsuite.document_types import PlatformImage

CONFIG_MEDIA_TYPE: Final = "application/vnd.oci.image.config.v1+json"
REQUIREMENT: Final = "ASI-SRC-001"

_MAX_DOCUMENT = 4 * 1024 * 1024
_MAX_LAYERS = 500


@dataclass(frozen=True)
class Image:
    """An image manifest with its config, both as they are stored and as values."""

    reference: str
    digest: str
    manifest_bytes: bytes
    manifest: dict[str, Any]
    config: dict[str, Any]

    @property
    def platform(self) -> dict[str, str]:
        """What the config says the image is for."""
        return {name: str(self.config.get(name)) for name in ("os", "architecture")}

    @property
    def descriptors(self) -> list[dict[str, Any]]:
        """The descriptors of the layers, lowest first."""
        found: list[dict[str, Any]] = self.manifest["layers"]
        return found

    @property
    def diff_ids(self) -> list[str]:
        """The digests of the uncompressed layers."""
        found: list[str] = self.config["rootfs"]["diff_ids"]
        return found

    @property
    def settings(self) -> dict[str, Any]:
        """The part of the config that says how to run the image."""
        return self.config.get("config") or {}


class ImageStore:
    """Blobs of several layouts by digest; which of them has one does not matter, for every blob is verified.

    A path is an image layout, an archive of one, or a folder that holds such. Raises :class:`RefusedError` where one
    cannot be used.
    """

    def __init__(self, paths: list[Path]) -> None:
        self._layouts: list[tuple[Layout, Path | None]] = []
        self._whole: dict[str, int] = {}
        self._budget = Budget()
        self._layers: dict[tuple[str, str, str], Layer] = {}
        faults = [fault for path in paths for fault in self._add(path)]
        if faults:
            raise RefusedError(*faults)

    def _add(self, path: Path) -> Iterator[Finding]:
        try:
            if path.is_dir() and not (path / LAYOUT_FILE).exists():
                found = [child for child in sorted(path.iterdir()) if _is_layout(child)]
                if not found:
                    raise LayoutError("the folder is no image layout and holds none")
                for child in found:
                    self._open(child)
            else:
                self._open(path)
        except (LayoutError, OSError) as error:
            yield Finding(REQUIREMENT, "build", printable(str(path)), f"no images can be read here: {error}")

    def _open(self, path: Path) -> None:
        if path.is_dir():
            self._layouts.append((LayoutDirectory(path), path))
        else:
            self._layouts.append((LayoutArchive(path), None))

    def has(self, digest: str) -> bool:
        """Whether a blob is there; its bytes are not looked at."""
        try:
            with self.open(digest):
                return True
        except LayoutError:
            return False

    @contextmanager
    def open(self, digest: str, number: int = 0) -> Iterator[BinaryIO]:
        """Open the blob in the layout of that number among those that have it; raises :class:`LayoutError`."""
        with ExitStack() as opened:
            for layout, _ in self._layouts:
                try:
                    stream = opened.enter_context(layout.open(blob_path(digest)))
                except LayoutError:
                    continue
                if number == 0:
                    yield stream
                    return
                number -= 1
            raise LayoutError("the blob is in none of the images' layouts")

    @contextmanager
    def whole(self, digest: str) -> Iterator[BinaryIO]:
        """Open a blob where it was found to be what its digest says."""
        with self.open(digest, self._whole.get(digest, 0)) as stream:
            yield stream

    def file(self, digest: str) -> Path | None:
        """Return the file of a blob that was found to be whole, where it lies in a layout directory."""
        number, found = self._whole.get(digest), 0
        for layout, folder in self._layouts if number is not None else ():
            try:
                with layout.open(blob_path(digest)):
                    pass
            except LayoutError:
                continue
            if number == found:
                return None if folder is None else folder / blob_path(digest)
            found += 1
        return None

    def document(self, digest: str, size: int, what: str) -> bytes:
        """Return the verified bytes of a small blob; raises :class:`LayoutError`."""
        if size > _MAX_DOCUMENT:
            raise LayoutError(f"the {what} has {size:,} bytes; at most {_MAX_DOCUMENT:,} are read")
        number, fault = 0, ""
        while True:
            try:
                with self.open(digest, number) as stream:
                    data = stream.read(size + 1)
            except LayoutError:
                raise LayoutError(fault or f"the {what} {digest} is in none of the images' layouts") from None
            if len(data) == size and digest_bytes(data) == digest:
                return data
            fault = f"the {what} {digest} is damaged: its bytes are not those of its digest and size"
            number += 1

    def image(self, pin: PlatformImage, location: str) -> Image:
        """Return the image that a build profile pins; raises :class:`RefusedError` with everything that is missing."""
        image = self.manifest(pin["imageRef"], pin["image"], location)
        is_for, wanted = platform_name(image.platform), platform_name(pin["platform"])
        if is_for != wanted:
            message = printable(f"`{image.reference}`: the image is for {is_for}, not {wanted}")
            raise RefusedError(Finding(REQUIREMENT, "build", location, message))
        return image

    def manifest(self, reference: str, descriptor: Mapping[str, Any], location: str) -> Image:
        """Return the image of a manifest, its layers being there; raises :class:`RefusedError`."""
        digest = descriptor["digest"]
        if reference.startswith(f"{PLACEHOLDER_REGISTRY}/"):
            message = f"`{printable(reference)}` is a placeholder; the build profile must pin a real image"
            raise RefusedError(Finding(REQUIREMENT, "build", location, message))
        try:
            data = self.document(digest, descriptor["size"], "image manifest")
            manifest = _object(data, "image manifest")
            _check_manifest(manifest)
            config_at = manifest["config"]
            config = _object(self.document(config_at["digest"], config_at["size"], "image config"), "image config")
            _check_config(config, manifest)
        except LayoutError as error:
            message = f"`{printable(reference)}`: {error}"
            raise RefusedError(Finding(REQUIREMENT, "build", location, message)) from None
        missing = [layer["digest"] for layer in manifest["layers"] if not self.has(layer["digest"])]
        if missing:
            raise RefusedError(
                *(
                    Finding(
                        REQUIREMENT,
                        "build",
                        location,
                        f"`{printable(reference)}`: the layer {digest} is in none of the images' layouts",
                    )
                    for digest in missing
                )
            )
        return Image(reference, digest, data, manifest, config)

    def layers(self, image: Image, location: str, progress: Progress | None = None) -> list[Layer]:
        """Return the layers of an image, each blob verified and read once however many images have it."""
        found = []
        for descriptor, diff_id in zip(image.descriptors, image.diff_ids, strict=True):
            key = (descriptor["digest"], diff_id, descriptor["mediaType"])
            if key not in self._layers:
                try:
                    self._layers[key] = self._read(descriptor, diff_id, progress)
                except (LayerDataError, LayoutError) as error:
                    message = f"`{printable(image.reference)}`: layer {descriptor['digest']}: {error}"
                    raise RefusedError(Finding(REQUIREMENT, "build", location, printable(message))) from None
            found.append(self._layers[key])
        return found

    def _read(self, descriptor: dict[str, Any], diff_id: str, progress: Progress | None) -> Layer:
        """Read a layer from the first layout whose blob is whole; of damaged ones the first says why."""
        faults: list[LayerDataError] = []
        while True:
            try:
                blob = partial(self.open, descriptor["digest"], len(faults))
                layer = read_layer(blob, descriptor, diff_id, progress, self._budget)
            except LayerDataError as error:  # noqa: PERF203 -- as many turns as there are layouts
                faults.append(error)
            except LayoutError as error:
                raise (faults[0] if faults else error) from None
            else:
                self._whole[descriptor["digest"]] = len(faults)
                return layer


def _is_layout(path: Path) -> bool:
    return (path / LAYOUT_FILE).is_file() if path.is_dir() else path.suffix == ".tar" and path.is_file()


def _object(data: bytes, what: str) -> dict[str, Any]:
    try:
        value = loads(data)
    except JSONDocumentError as error:
        raise LayoutError(f"the {what} cannot be read: {error.message}") from None
    if not isinstance(value, dict):
        raise LayoutError(f"the {what} is no JSON object")
    return value


def _check_manifest(manifest: dict[str, Any]) -> None:
    if manifest.get("mediaType", IMAGE_MANIFEST_MEDIA_TYPE) != IMAGE_MANIFEST_MEDIA_TYPE:
        raise LayoutError(f"the manifest is {manifest['mediaType']}, not an OCI image manifest")
    layers = manifest.get("layers")
    if not isinstance(layers, list) or not 0 < len(layers) <= _MAX_LAYERS:
        raise LayoutError(f"the manifest does not have 1 to {_MAX_LAYERS} layers")
    for item, what in ((manifest.get("config"), "config"), *((layer, "layer") for layer in layers)):
        if not is_descriptor(item):
            raise LayoutError(f"a {what} descriptor of the manifest has no media type, digest and size")
        if item.get("urls"):
            raise LayoutError(f"the {what} {item['digest']} is to be fetched from elsewhere (urls)")
        if what == "layer" and item["mediaType"] not in MEDIA_TYPES:
            raise LayoutError(f"the layer {item['digest']} is {item['mediaType']}; known are {', '.join(MEDIA_TYPES)}")
    if manifest["config"]["mediaType"] != CONFIG_MEDIA_TYPE:
        raise LayoutError(f"the config is {manifest['config']['mediaType']}, not an OCI image config")


def is_descriptor(item: object) -> bool:
    """Whether a value has media type, digest and size."""
    return (
        isinstance(item, dict)
        and isinstance(item.get("mediaType"), str)
        and is_digest(item.get("digest"))
        and isinstance(item.get("size"), int)
        and item["size"] >= 0
    )


def _check_config(config: dict[str, Any], manifest: dict[str, Any]) -> None:
    rootfs = config.get("rootfs")
    diff_ids = rootfs.get("diff_ids") if isinstance(rootfs, dict) else None
    if not isinstance(diff_ids, list) or not all(map(is_digest, diff_ids)):
        raise LayoutError("the config has no list of diff ids")
    if len(diff_ids) != len(manifest["layers"]):
        raise LayoutError(f"the config has {len(diff_ids)} diff ids for {len(manifest['layers'])} layers")
    settings = config.get("config")
    if settings is not None and not isinstance(settings, dict):
        raise LayoutError("the config's `config` is no object")
    for name in ("Env", "Entrypoint", "Cmd"):
        value = (settings or {}).get(name)
        if value is not None and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise LayoutError(f"the config's `{name}` is no list of texts")
    for name in ("User", "WorkingDir"):
        if not isinstance((settings or {}).get(name) or "", str):
            raise LayoutError(f"the config's `{name}` is no text")
    for name in ("Labels", "Volumes"):
        if not isinstance((settings or {}).get(name) or {}, dict):
            raise LayoutError(f"the config's `{name}` is no object")
