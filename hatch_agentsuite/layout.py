"""OCI image layouts: descriptors, blobs and index; written, and opened for reading (specification 4).

A layout is a directory, or the same files in one uncompressed tar (``oci-archive``). Reading gives bytes; what they
must say is judged by :mod:`hatch_agentsuite.validation.oci`.
"""

from __future__ import annotations

import errno
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from hatch_agentsuite.archive.layer import Blob, HashingSink
from hatch_agentsuite.archive.tar import END, TarError, TarReader, header, padding
from hatch_agentsuite.content import Entry
from hatch_agentsuite.documents import (
    ARTIFACT_TYPE,
    CONTENT_LAYER_MEDIA_TYPE,
    EMPTY_CONFIG_MEDIA_TYPE,
    IMAGE_INDEX_MEDIA_TYPE,
    IMAGE_MANIFEST_MEDIA_TYPE,
    JSONObject,
)
from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.jsondoc import canonical, digest_bytes
from hatch_agentsuite.regular import CHUNK, open_regular

LAYOUT_FILE: Final = "oci-layout"
INDEX_FILE: Final = "index.json"
BLOBS: Final = "blobs/sha256"
EMPTY_CONFIG: Final = b"{}"
EMPTY_CONFIG_DIGEST: Final = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
TAG_ANNOTATION: Final = "org.opencontainers.image.ref.name"

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_MAX_ARCHIVE_FILES = 100_000


def blob_path(digest: str) -> str:
    """Return where a layout keeps a blob: its hexadecimal digest without the algorithm (4.2)."""
    return f"{BLOBS}/{digest.removeprefix('sha256:')}"


def descriptor(media_type: str, digest: str, size: int) -> JSONObject:
    """Return an OCI descriptor."""
    return {"mediaType": media_type, "digest": digest, "size": size}


# --- out ---------------------------------------------------------------------------------------------------------


def is_tag(text: str) -> bool:
    """Whether a text can be the name of an image or artifact in the index (OCI distribution: a tag)."""
    return _TAG.fullmatch(text) is not None


def is_layout_directory(path: Path) -> bool:
    """Whether a path is a directory with the marker of an image layout."""
    return path.is_dir() and (path / LAYOUT_FILE).exists()


def refuse_other_work(target: Path) -> None:
    """Raise :class:`FileExistsError` for a directory that no build made: an output may name a folder by mistake."""
    if target.is_dir() and not {path.name for path in target.iterdir()} <= {LAYOUT_FILE, INDEX_FILE, "blobs"}:
        message = "the directory holds more than an image layout, so it is not replaced"
        raise FileExistsError(errno.EEXIST, message, str(target))


def write_layout(
    folder: Path,
    layer: Callable[[BinaryIO], Blob],
    *,
    annotations: Mapping[str, str] | None = None,
    tag: str | None = None,
    blobs: Mapping[str, Path] | None = None,
) -> str:
    """Write an AgentSuite image layout into ``folder``, which is made, and return the manifest's digest.

    ``layer`` writes the content layer into the stream it gets. ``blobs`` are further blobs by digest (SBOM and
    provenance documents); their bytes are verified. ``tag`` names the manifest in the index alone. No time and no host
    enters any document (4.2, 4.3).
    """
    blob_folder = folder / BLOBS
    blob_folder.mkdir(parents=True)
    unnamed = blob_folder / "layer"
    with unnamed.open("xb") as stream:
        written = layer(stream)
    unnamed.rename(folder / blob_path(written.digest))
    _write_blob(folder, EMPTY_CONFIG)
    for digest, source in (blobs or {}).items():
        _copy_blob(folder, digest, source)
    manifest: JSONObject = {
        "schemaVersion": 2,
        "mediaType": IMAGE_MANIFEST_MEDIA_TYPE,
        "artifactType": ARTIFACT_TYPE,
        "config": descriptor(EMPTY_CONFIG_MEDIA_TYPE, EMPTY_CONFIG_DIGEST, len(EMPTY_CONFIG)),
        "layers": [descriptor(CONTENT_LAYER_MEDIA_TYPE, written.digest, written.size)],
    }
    if annotations:
        manifest["annotations"] = dict(annotations)
    data = canonical(manifest)
    digest = _write_blob(folder, data)
    selected = descriptor(IMAGE_MANIFEST_MEDIA_TYPE, digest, len(data))
    selected["artifactType"] = ARTIFACT_TYPE
    if tag:
        selected["annotations"] = {TAG_ANNOTATION: tag}
    index: JSONObject = {"schemaVersion": 2, "mediaType": IMAGE_INDEX_MEDIA_TYPE, "manifests": [selected]}
    (folder / INDEX_FILE).write_bytes(canonical(index))
    (folder / LAYOUT_FILE).write_bytes(canonical({"imageLayoutVersion": "1.0.0"}))
    return digest


def write_archive(layout: Path, target: Path) -> None:
    """Write the files of a layout directory into one uncompressed tar, the same bytes for the same layout."""
    names = sorted([LAYOUT_FILE, INDEX_FILE, *(f"{BLOBS}/{path.name}" for path in (layout / BLOBS).iterdir())])
    with target.open("xb") as stream:
        stream.write(header(Entry("blobs", "directory", 0o755)))
        stream.write(header(Entry(BLOBS, "directory", 0o755)))
        for name in names:
            size = (layout / name).stat().st_size
            stream.write(header(Entry(name, "file", 0o644, size=size)))
            with open_regular(layout / name) as source:
                while chunk := source.read(CHUNK):
                    stream.write(chunk)
            stream.write(padding(size))
        stream.write(END)


def _write_blob(folder: Path, data: bytes) -> str:
    digest = digest_bytes(data)
    (folder / blob_path(digest)).write_bytes(data)
    return digest


def _copy_blob(folder: Path, digest: str, source: Path) -> None:
    with ExitStack() as opened:
        try:
            stream = opened.enter_context(open_regular(source))
        except OSError as error:
            raise RefusedError(_change(source, f"the file can no longer be read: {error.strerror or error}")) from None
        sink = HashingSink(opened.enter_context((folder / blob_path(digest)).open("wb")))
        while chunk := stream.read(CHUNK):
            sink.write(chunk)
    if sink.blob().digest != digest:
        raise RefusedError(_change(source, "the file changed while it was packed"))


def _change(source: Path, message: str) -> Finding:
    return Finding("SOURCE-CHANGE-001", "digest", source.name, message, "build again")


# --- in ----------------------------------------------------------------------------------------------------------


class LayoutError(Exception):
    """A layout, or a file of one, that cannot be opened; the text says why."""


class Layout(Protocol):
    """The files of an image layout, opened by their names below its root."""

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a regular file; raise :class:`LayoutError` for anything else, on entering the context."""
        ...


class LayoutDirectory:
    """An image layout on disk. No link is followed, neither a file nor one of the folders above it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """See :class:`Layout`."""
        folder = self._root
        for segment in name.split("/")[:-1]:
            folder = folder / segment
            if folder.is_symlink():
                raise LayoutError(f"`{segment}` is a symlink; a layout holds regular files and folders")
        path = self._root / name
        if path.is_symlink():
            raise LayoutError("it is a symlink; a layout holds regular files")
        with ExitStack() as opened:
            try:
                stream = opened.enter_context(open_regular(path))
            except FileNotFoundError:
                raise LayoutError("it is absent") from None
            except OSError as error:
                raise LayoutError(error.strerror or "it is not a regular file") from None
            yield stream


class LayoutArchive:
    """An image layout in an uncompressed tar; its entries are found once, their bytes read where they stand.

    Raises :class:`LayoutError` when the tar cannot be read, or names one file twice.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: dict[str, tuple[int, int]] = {}
        self._others: set[str] = set()
        try:
            with path.open("rb") as stream:
                self._scan(stream)
        except TarError as error:
            raise LayoutError(error.message) from None
        except OSError as error:
            raise LayoutError(error.strerror or str(error)) from None

    def _scan(self, stream: BinaryIO) -> None:
        reader = TarReader(stream, carrier=True)
        for count, found in enumerate(reader):
            if count >= _MAX_ARCHIVE_FILES:
                raise LayoutError(f"it holds more than {_MAX_ARCHIVE_FILES:,} entries")
            entry = found.entry
            name = entry.path.removeprefix("./")
            if entry.type == "directory":
                continue
            if name in self._files or name in self._others:
                raise LayoutError(f"it holds `{name}` twice")
            if entry.type != "file":
                self._others.add(name)
                continue
            self._files[name] = (reader.offset, entry.size)

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """See :class:`Layout`."""
        if name not in self._files:
            raise LayoutError("it is absent, or not a regular file")
        offset, size = self._files[name]
        with self._path.open("rb") as stream:
            stream.seek(offset)
            yield io.BufferedReader(_Section(stream, size))


class _Section(io.RawIOBase):
    """The bytes of one file inside an archive."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        super().__init__()
        self._stream = stream
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(min(self._left, len(buffer)))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)
