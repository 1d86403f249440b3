"""What test_gzip compresses, here and in other Pythons that have no pytest."""

from __future__ import annotations

import hashlib
import io
import sys
from typing import TYPE_CHECKING

from hatch_agentsuite.archive.gzip import BLOCK, BlockGzipWriter, Codec, zlib_is_zlib_ng

if TYPE_CHECKING:
    from collections.abc import Iterable


def sample(size: int) -> bytes:
    """Bytes that compress about as text does, the same everywhere."""
    line = b"".join(b"%d " % (number * number % 9_973) for number in range(4_000))
    return (line * (size // len(line) + 1))[:size]


def compressed(pieces: Iterable[bytes], codec: Codec = "zlib", workers: int | None = 1) -> bytes:
    sink = io.BytesIO()
    with BlockGzipWriter(sink, codec, workers) as writer:
        for piece in pieces:
            writer.write(piece)
    return sink.getvalue()


def digest(codec: Codec) -> str:
    return hashlib.sha256(compressed([sample(BLOCK + 100_000)], codec)).hexdigest()


if __name__ == "__main__":
    sys.stdout.write(f"{digest('store')} {digest('zlib')} {zlib_is_zlib_ng()}\n")
