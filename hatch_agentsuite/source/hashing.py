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
from hatch_agentsuite.archive.layer import Progress
from hatch_agentsuite.regular import ANSWER, CHUNK, answer, hash_file, read_answer, request

if TYPE_CHECKING:
    import subprocess

    from hatch_agentsuite.source.tree import SourceEntry

Key = TypeVar("Key")

_BATCH_FILES = 256
_BATCH_BYTES = 8 * CHUNK
_MANY = 4_000  # small files; for fewer, a process costs more than it takes over


class _Batch:
    """Files that are hashed together; ``answers`` are there once it is ``done``."""

    def __init__(self, paths: list[str], size: int, *, is_large: bool = False) -> None:
        self.paths = paths
        self.size = size
        self.is_large = is_large
        self.is_taken = False
        self.answers = b""
        self.done = threading.Event()


class Hashing(Generic[Key]):
    """Hashes groups of files below ``root`` in the background; :meth:`results` gives what was found, group by group.

    ``workers`` counts the caller, who hashes with the others while waiting; ``progress`` is called from any thread.
    Work begins with the ``with`` block, and leaving it ends it all.
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
        self._batches = [batch for found in self._groups.values() for batch in found]
        self._pending = list(self._batches)
        self._helpers = min((workers or default_workers()) - 1, len(self._batches))
        self._has_ended = False
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Hashing[Key]:
        large = [batch for batch in self._batches if batch.is_large]
        small = sum(len(batch.paths) for batch in self._batches if not batch.is_large)
        with_processes = small >= _MANY and _can_run_processes()
        for number in range(self._helpers):
            if with_processes:
                self._start_process(self._batches[number :: self._helpers])
            elif large:
                self._start_thread(self._hash_all, large)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._has_ended = True
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
            if self._pending:
                self._hash_all([self._pending.pop()])
            else:
                batch.done.wait()

    def _hash_all(self, batches: list[_Batch]) -> None:
        """Hash those batches that no other thread has taken and no process has answered."""
        for batch in batches:
            if self._take(batch) and not batch.done.is_set():
                self._finish(batch, b"".join(answer(self._file(path)) for path in batch.paths))

    def _take(self, batch: _Batch) -> bool:
        with self._lock:
            is_free = not (batch.is_taken or self._has_ended)
            batch.is_taken = True
            return is_free

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
        """Let a process hash batches, without taking them: the caller goes without an answer that does not come."""
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
