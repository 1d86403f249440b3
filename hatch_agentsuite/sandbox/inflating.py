"""The bytes of a layer blob, uncompressed and hashed both ways on a second thread while they are read.

with Inflated(stream, "application/vnd.oci.image.layer.v1.tar+gzip") as pieces:
    pieces.read(512)
pieces.digest, pieces.size        # of the blob
pieces.diff_id                    # of the tar in it
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, Final

from hatch_agentsuite.archive.gzip import GzipError, GzipReader
from hatch_agentsuite.archive.pieces import Pieces

LAYER: Final = "application/vnd.oci.image.layer.v1.tar"
LAYER_GZIP: Final = LAYER + "+gzip"
LAYER_ZSTD: Final = LAYER + "+zstd"
MEDIA_TYPES: Final = (LAYER, LAYER_GZIP, LAYER_ZSTD)

_PIECE = 1 << 20
_WINDOW_LOG = 27  # 128 MiB: what `zstd -d` allows without being asked for more


class LayerDataError(Exception):
    """A blob that cannot be uncompressed; the text says why."""


class Inflated:
    """The uncompressed bytes of a blob by exact reads; the hashes are known once it was read to its end."""

    def __init__(self, stream: BinaryIO, media_type: str) -> None:
        self.size = 0
        self._blob_hash = hashlib.sha256()
        self._tar_hash = hashlib.sha256()
        self._stream = stream
        self._pieces = Pieces(self._tar_hashed(_pieces(self._blob_hashed, media_type)))
        self.read = self._pieces.read

    @property
    def digest(self) -> str:
        """The digest of the blob as it is stored."""
        return f"sha256:{self._blob_hash.hexdigest()}"

    @property
    def diff_id(self) -> str:
        """The digest of the uncompressed tar."""
        return f"sha256:{self._tar_hash.hexdigest()}"

    def __enter__(self) -> Inflated:  # noqa: PYI034 -- typing.Self needs Python 3.11
        return self

    def __exit__(self, *_error: object) -> None:
        self._pieces.close()

    def _blob_hashed(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._blob_hash.update(data)
        self.size += len(data)
        return data

    def _tar_hashed(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        try:
            for piece in pieces:
                self._tar_hash.update(piece)
                yield piece
        except GzipError as error:
            raise LayerDataError(str(error)) from None


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
