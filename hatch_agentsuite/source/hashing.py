"""Payload files hashed on all cores while the caller goes on (specification 6.2).

Large files are hashed by threads. Many small ones are not: threads that contend for the interpreter take longer than
one of them alone, so processes hash those.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar

from hatch_agentsuite import regular
from hatch_agentsuite.archive.gzip import default_workers
from hatch_agentsuite.regular import ANSWER, CHUNK, answer, hash_file, read_answer, request

if TYPE_CHECKING:
    import subprocess

    from hatch_agentsuite.source.tree import SourceEntry

Key = TypeVar("Key")
Progress = Callable[[int], None]
"""Called with the number of bytes that were hashed since the last call, from any thread."""

_BATCH_FILES = 256
_BATCH_BYTES = 8 * CHUNK
_MANY = 4_000  # small files; for fewer, a process costs more than it takes over


class _Batch:
    """Files that are hashed together; ``answers`` are there once it is ``done``."""

    def __init__(self, paths: list[str], size: int, *, is_large: bool = False) -> None:
        self.paths = paths
        self.size = size
        self.is_large = is_large
        self.answers = b""
        self.done = threading.Event()


class Hashing(Generic[Key]):
    """Hashes groups of files below ``root`` in the background; :meth:`results` gives what was found, group by group.

    ``workers`` counts the caller, who hashes with the others while waiting. Leaving the ``with`` block ends it all.
    """

    def __init__(
        self,
        root: str,
        groups: Mapping[Key, Iterable[SourceEntry]],
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._root = root
        self._progress = progress
        self._groups = {key: list(_batches(files)) for key, files in groups.items()}
        batches = [batch for found in self._groups.values() for batch in found]
        self._pending = list(batches)
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []
        helpers = (workers or default_workers()) - 1
        many = sum(len(batch.paths) for batch in batches if not batch.is_large) >= _MANY
        for number in range(helpers):
            if many and _can_run_processes():
                self._start_process(batches[number::helpers])
            elif any(batch.is_large for batch in batches):
                self._start_thread(self._hash_large)

    def __enter__(self) -> Hashing[Key]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._pending.clear()
        for process in self._processes:
            process.kill()
        for thread in self._threads:
            thread.join()
        for process in self._processes:
            process.wait()

    def results(self, key: Key) -> Iterator[tuple[int, str]]:
        """Yield size and digest of every file of a group, once; raises :class:`OSError` for one that cannot be read.

        The error's file name is the file's, the root included.
        """
        for batch in self._groups.pop(key):
            self._wait(batch)
            for index, path in enumerate(batch.paths):
                found = read_answer(batch.answers[index * ANSWER : (index + 1) * ANSWER])
                yield found or hash_file(self._file(path))

    def _wait(self, batch: _Batch) -> None:
        """Hash what comes last until a batch is done: the others began with what comes first."""
        while not batch.done.is_set():
            following = self._take_last()
            if following is None:
                batch.done.wait()
            else:
                self._hash(following)

    def _take_last(self) -> _Batch | None:
        with self._lock:
            return self._pending.pop() if self._pending else None

    def _take_large(self) -> _Batch | None:
        with self._lock:
            found = next((batch for batch in self._pending if batch.is_large), None)
            if found:
                self._pending.remove(found)
            return found

    def _hash(self, batch: _Batch) -> None:
        if not batch.done.is_set():
            self._finish(batch, b"".join(answer(self._file(path)) for path in batch.paths))

    def _hash_large(self) -> None:
        while batch := self._take_large():
            self._hash(batch)

    def _finish(self, batch: _Batch, answers: bytes) -> None:
        with self._lock:
            if batch.done.is_set():
                return
            batch.answers = answers
            batch.done.set()
        if self._progress:
            self._progress(batch.size)

    def _file(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _start_thread(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, name="hash", daemon=True)
        thread.start()
        self._threads.append(thread)

    def _start_process(self, batches: list[_Batch]) -> None:
        """Let a process hash batches; they stay pending, since the caller goes without an answer that does not come."""
        import subprocess

        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        command = [sys.executable, "-I", "-S", str(regular.__file__)]
        with suppress(OSError):
            process = subprocess.Popen(command, cwd=self._root, stdin=pipe, stdout=pipe, stderr=nowhere)  # noqa: S603
            self._processes.append(process)
            self._start_thread(self._converse, process, batches)

    def _converse(self, process: subprocess.Popen[bytes], batches: list[_Batch]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError), process.stdout as answers:
            with process.stdin as requests:
                requests.writelines(request(batch.paths) for batch in batches)
            for batch in batches:
                found = answers.read(len(batch.paths) * ANSWER)
                if len(found) != len(batch.paths) * ANSWER:
                    return
                self._finish(batch, found)


def _batches(files: Iterable[SourceEntry]) -> Iterator[_Batch]:
    """Yield the files in their order; large ones by themselves, since each is work for a thread."""
    paths: list[str] = []
    size = 0
    for file in files:
        is_large = file.size >= CHUNK
        if paths and (is_large or len(paths) == _BATCH_FILES or size >= _BATCH_BYTES):
            yield _Batch(paths, size)
            paths, size = [], 0
        if is_large:
            yield _Batch([file.path], file.size, is_large=True)
        else:
            paths.append(file.path)
            size += file.size
    if paths:
        yield _Batch(paths, size)


def _can_run_processes() -> bool:
    """Whether this is a Python that can be run by its name, and not a program that holds one."""
    return bool(sys.executable) and not getattr(sys, "frozen", False) and Path(regular.__file__).is_file()
