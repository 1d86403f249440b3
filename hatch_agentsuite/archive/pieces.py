"""Exact reads over pieces that a second thread makes, such as the bytes of a stream while they are inflated.

A few pieces wait between the threads, so memory does not grow with the stream.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable
from contextlib import suppress

_QUEUED = 8


class Pieces:
    """A stream of exact reads; what the maker of the pieces raises is raised where it would have been read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._queue: queue.Queue[bytes | BaseException | None] = queue.Queue(_QUEUED)
        self._piece = b""
        self._position = 0
        self._ended = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._make, args=(pieces,), name="pieces", daemon=True)
        self._thread.start()

    def read(self, size: int) -> bytes:
        """Return exactly ``size`` bytes, or fewer at the end."""
        position = self._position
        if len(self._piece) - position >= size:
            self._position = position + size
            return self._piece[position : position + size]
        return self._gather(size)

    def close(self) -> None:
        """Stop the second thread, whether or not everything was read."""
        self._stop.set()
        while not self._ended and self._thread.is_alive():
            with suppress(queue.Empty):
                self._queue.get(timeout=0.01)
        self._thread.join()

    def _gather(self, size: int) -> bytes:
        parts = [self._piece[self._position :]]
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

    def _make(self, pieces: Iterable[bytes]) -> None:
        try:
            for piece in pieces:
                self._queue.put(piece)
                if self._stop.is_set():
                    return
            self._queue.put(None)
        except BaseException as error:
            self._queue.put(error)
