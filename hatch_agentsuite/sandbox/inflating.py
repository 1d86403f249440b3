"""The bytes of a layer blob, uncompressed and hashed both ways on a second thread while they are read.

    with Inflated(stream, "application/vnd.oci.image.layer.v1.tar+gzip") as pieces:
        pieces.read(512)
    pieces.digest, pieces.size        # of the blob
    pieces.diff_id                    # of the tar in it

A few pieces wait between the threads, so memory does not grow with the blob.
"""

from __future__ import annotations

import hashlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO, Final

from hatch_agentsuite.archive.gzip import GzipError, GzipReader

LAYER: Final = "application/vnd.oci.image.layer.v1.tar"
LAYER_GZIP: Final = LAYER + "+gzip"
LAYER_ZSTD: Final = LAYER + "+zstd"
MEDIA_TYPES: Final = (LAYER, LAYER_GZIP, LAYER_ZSTD)

_PIECE = 1 << 20
_QUEUED = 8
_WINDOW_LOG = 27  # 128 MiB: what `zstd -d` allows without being asked for more


class LayerDataError(Exception):
    """A blob that cannot be uncompressed; the text says why."""


class Inflated:
    """A stream of exact reads over the uncompressed bytes of a blob; hashes are known once it was read to its end."""

    def __init__(self, stream: BinaryIO, media_type: str) -> None:
        self.size = 0
        self.tar_size = 0
        self._blob_hash = hashlib.sha256()
        self._tar_hash = hashlib.sha256()
        self._stream = stream
        self._queue: queue.Queue[bytes | BaseException | None] = queue.Queue(_QUEUED)
        self._pieces = _pieces(self._hashed, media_type)
        self._piece = b""
        self._position = 0
        self._ended = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="inflate", daemon=True)
        self._thread.start()

    @property
    def digest(self) -> str:
        """The digest of the blob as it is stored."""
        return f"sha256:{self._blob_hash.hexdigest()}"

    @property
    def diff_id(self) -> str:
        """The digest of the uncompressed tar."""
        return f"sha256:{self._tar_hash.hexdigest()}"

    def read(self, size: int) -> bytes:
        """Return exactly ``size`` bytes, or fewer at the end."""
        position = self._position
        if len(self._piece) - position >= size:
            self._position = position + size
            return self._piece[position : position + size]
        parts = [self._piece[position:]]
        missing = size - len(parts[0])
        self._piece, self._position = b"", 0
        while missing and not self._ended:
            piece = self._queue.get()
            if isinstance(piece, BaseException):
                self._ended = True
                raise piece
            if piece is None:
                self._ended = True
                break
            parts.append(piece[:missing])
            if len(piece) > missing:
                self._piece, self._position = piece, missing
            missing -= len(parts[-1])
        return b"".join(parts)

    def __enter__(self) -> Inflated:  # noqa: PYI034 -- typing.Self needs Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        while not self._ended and self._thread.is_alive():
            with suppress(queue.Empty):
                self._queue.get(timeout=0.01)
        self._thread.join()

    def _hashed(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._blob_hash.update(data)
        self.size += len(data)
        return data

    def _run(self) -> None:
        try:
            for piece in self._pieces:
                self._tar_hash.update(piece)
                self.tar_size += len(piece)
                self._queue.put(piece)
                if self._stop.is_set():
                    return
            self._queue.put(None)
        except GzipError as error:
            self._queue.put(LayerDataError(str(error)))
        except BaseException as error:
            self._queue.put(error)


def _pieces(read: Callable[[int], bytes], media_type: str) -> Iterable[bytes]:
    if media_type == LAYER_GZIP:
        return GzipReader(read)
    if media_type == LAYER_ZSTD:
        return _zstd(read)
    return iter(lambda: read(_PIECE), b"")


def _zstd(read: Callable[[int], bytes]) -> Iterator[bytes]:
    zstd = zstd_module()
    options = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
    pending = read(_PIECE)
    while pending:
        frame = zstd.ZstdDecompressor(options=options)
        while not frame.eof:
            if frame.needs_input and not pending and not (pending := read(_PIECE)):
                raise LayerDataError("the zstd data ends too early")
            try:
                output = frame.decompress(pending, _PIECE)
            except zstd.ZstdError as error:
                raise LayerDataError(f"the zstd data is damaged: {error}") from None
            pending = b""
            if output:
                yield output
        pending = frame.unused_data or read(_PIECE)


def zstd_module() -> Any:
    """Return Python's own zstd (3.14), or its backport; raises :class:`LayerDataError` where there is neither."""
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            text = "the layer is compressed by zstd, which needs the package backports.zstd"
            raise LayerDataError(f"{text} (pip install hatch-agentsuite[zstd])") from None
    return zstd
