"""Regular files, opened as such, read in bounded pieces and hashed (specification 6.2).

Run as a program, this module hashes files for another process (:func:`serve`). It imports the standard library alone,
so that a helper is soon at work.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

CHUNK = 1 << 20
_SMALL = 4096
_SIZE = 8  # bytes of the size in an answer, little-endian
ANSWER = _SIZE + hashlib.sha256().digest_size
"""The bytes of the answer about one file."""
_UNREADABLE = bytes(ANSWER)

_READ_REGULAR = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"):
    _READ_REGULAR |= getattr(os, _flag, 0)


@contextmanager
def open_regular(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a regular file for reading, never a link to one, never blocking on what is not one.

    Raises :class:`OSError` when it is anything else.
    """
    descriptor, _ = _opened(path)
    try:
        stream = os.fdopen(descriptor, "rb", buffering=0)
    except BaseException:
        os.close(descriptor)
        raise
    with stream:
        yield stream


def read_regular(path: str | os.PathLike[str], most: int = sys.maxsize) -> Iterator[bytes]:
    """Yield the bytes of a regular file in bounded pieces, at most ``most`` of them; it is opened as above.

    For the many small files of a tree: a stream object each, and a buffer larger than the file, would cost more than
    the reading.
    """
    descriptor, size = _opened(path)
    try:
        piece = min(max(size + 1, _SMALL), CHUNK)
        while most and (chunk := os.read(descriptor, min(most, piece))):
            yield chunk
            most -= len(chunk)
            size -= len(chunk)
            if not size and len(chunk) < piece:  # more was asked for than there was: one look at the end is enough
                return
    finally:
        os.close(descriptor)


def hash_file(path: str | os.PathLike[str]) -> tuple[int, str]:
    """Return size and digest of a regular file, read once in bounded pieces (6.2)."""
    size, digest = _hashed(path)
    return size, f"sha256:{digest.hex()}"


def request(paths: Iterable[str]) -> bytes:
    """Return what a process of :func:`serve` is sent, all or a part; paths are relative to its current folder."""
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def answer(path: str) -> bytes:
    """Return the ``ANSWER`` about a file: its size and digest, or zero bytes where it cannot be read."""
    try:
        size, digest = _hashed(path)
    except OSError:
        return _UNREADABLE
    return size.to_bytes(_SIZE, "little") + digest


def read_answer(data: bytes) -> tuple[int, str] | None:
    """Return size and digest of an answer, or None where the file could not be read: :func:`hash_file` says why."""
    return None if data == _UNREADABLE else (int.from_bytes(data[:_SIZE], "little"), f"sha256:{data[_SIZE:].hex()}")


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Read the paths that a :func:`request` names, and write an answer about each, in their order."""
    answers.writelines(answer(os.fsdecode(path)) for path in requests.read().split(b"\0")[:-1])
    answers.flush()


def _hashed(path: str | os.PathLike[str]) -> tuple[int, bytes]:
    hasher = hashlib.sha256()
    size = 0
    for chunk in read_regular(path):
        hasher.update(chunk)
        size += len(chunk)
    return size, hasher.digest()


def _opened(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Return the descriptor and the size of a regular file; refuse anything else."""
    descriptor = os.open(path, _READ_REGULAR)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{os.fspath(path)} is not a regular file")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status.st_size


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
