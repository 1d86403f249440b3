"""The files that a document refers to, read only below the document's own folder.

A reference is a URI reference: a relative one names a file, percent-encoding decoded once; one with a scheme is
remote, kept as it is and never fetched.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import unquote_to_bytes

from agentsuite_converters.urls import has_credentials, scheme
from hatch_agentsuite.findings import Category
from hatch_agentsuite.paths import path_fault
from hatch_agentsuite.regular import CHUNK, open_regular

MAX_FILE_BYTES = 16 * 1024**2
MAX_TOTAL_BYTES = 64 * 1024**2
MAX_FOLDER_ENTRIES = 1_000

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_RELATIVE = "write a path below the document's folder, such as ./AGENTS.md"


@dataclass(frozen=True)
class ReferencedFile:
    """A file that a document refers to: its path below the document's folder, its bytes, its SHA-256."""

    path: str
    data: bytes
    sha256: str


class RefusedReferenceError(Exception):
    """A reference was refused: ``message``, ``hint`` and ``category``; ``missing`` where the file is only absent."""

    def __init__(self, message: str, hint: str = "", *, category: Category = "path", missing: bool = False) -> None:
        self.message = message
        self.hint = hint
        self.category: Category = category
        self.missing = missing
        super().__init__(message)


class Folder:
    """The folder of one document: reads what the document refers to, each file once, so much in all and no more."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.realpath(root))
        self._read: dict[str, ReferencedFile | RefusedReferenceError] = {}
        self._left = MAX_TOTAL_BYTES

    def file(self, path: str) -> ReferencedFile:
        """Return the file at a path as :func:`local_path` returns it; raises :class:`RefusedReferenceError`."""
        if path not in self._read:
            try:
                self._read[path] = self._file(path)
            except RefusedReferenceError as error:
                self._read[path] = error
        found = self._read[path]
        if isinstance(found, RefusedReferenceError):
            raise found
        return found

    def below(self, path: str) -> list[str]:
        """Return the paths of all files below a folder, sorted; raises :class:`RefusedReferenceError`."""
        root = Path(os.path.realpath(self._root / path))
        if not root.is_relative_to(self._root):
            raise RefusedReferenceError("the folder is a symlink out of the document's folder", category="security")
        found: list[str] = []
        pending = [path]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(self._root / folder) as listing:
                    entries = list(islice(listing, MAX_FOLDER_ENTRIES + 1))
            except OSError as error:
                raise RefusedReferenceError(f"the folder cannot be read: {error.strerror}") from None
            for entry in entries:
                child = f"{folder}/{entry.name}"
                fault = path_fault(child)
                if fault:
                    raise RefusedReferenceError(f"the folder holds a file whose path {fault}")
                if entry.is_dir(follow_symlinks=False):
                    pending.append(child)
                else:
                    found.append(child)
            if len(found) + len(pending) > MAX_FOLDER_ENTRIES:
                raise RefusedReferenceError(f"the folder has more than {MAX_FOLDER_ENTRIES:,} entries")
        return sorted(found)

    def _file(self, path: str) -> ReferencedFile:
        target = Path(os.path.realpath(self._root / path))
        if not target.is_relative_to(self._root):
            hint = "put the file itself below the document's folder"
            raise RefusedReferenceError("the file is a symlink out of the document's folder", hint, category="security")
        try:
            if target.is_dir():
                raise RefusedReferenceError("the file is a folder", "name a file in it, such as its SKILL.md")
            return ReferencedFile(path, *self._bytes(target))
        except FileNotFoundError:
            hint = "add the file, or mend the reference"
            raise RefusedReferenceError("there is no such file", hint, missing=True) from None
        except OSError as error:
            reason = error.strerror or "it is no regular file"
            raise RefusedReferenceError(f"the file cannot be read: {reason}") from None

    def _bytes(self, target: Path) -> tuple[bytes, str]:
        """Return bytes and digest of a file, read in bounded pieces and never further than a bound."""
        most = min(MAX_FILE_BYTES, self._left)
        hasher = hashlib.sha256()
        pieces: list[bytes] = []
        read = 0
        with open_regular(target) as stream:
            size = os.fstat(stream.fileno()).st_size
            while max(size, read) <= most and (piece := stream.read(CHUNK)):
                read += len(piece)
                hasher.update(piece)
                pieces.append(piece)
        size = max(size, read)
        if size > MAX_FILE_BYTES:
            raise RefusedReferenceError(
                f"the file has more than {MAX_FILE_BYTES:,} bytes, which is no text for an agent"
            )
        if size > self._left:
            raise RefusedReferenceError(f"the files of this document have more than {MAX_TOTAL_BYTES:,} bytes together")
        self._left -= size
        return b"".join(pieces), hasher.hexdigest()


def local_path(reference: str) -> str | None:
    """Return the path that a URI reference names below the document's folder, or None for a remote one.

    Raises :class:`RefusedReferenceError` for what is neither: a path that is absolute or leads up, a ``file:`` URL,
    credentials, a query.
    """
    if has_credentials(reference):
        hint = "credentials are given by the runtime, never in a document"
        raise RefusedReferenceError("the reference holds a user name or password", hint, category="security")
    kind = scheme(reference)
    if kind == "file" or len(kind) == 1 or reference.startswith(("/", "\\")):
        raise RefusedReferenceError("the reference is absolute", _RELATIVE, category="security")
    if kind:
        return None
    path, _, query = reference.partition("#")[0].partition("?")
    if query:
        raise RefusedReferenceError("the reference has a query, which no file answers", "write `?` in a name as %3F")
    if _BAD_ESCAPE.search(path):
        raise RefusedReferenceError("the reference has a `%` without two hexadecimal digits", "write `%` as %25")
    try:
        decoded = unquote_to_bytes(path).decode()
    except UnicodeError:
        raise RefusedReferenceError("the reference is not valid UTF-8 when its escapes are decoded") from None
    clean = "/".join(segment for segment in decoded.split("/") if segment != ".")
    fault = path_fault(clean)
    if fault:
        category: Category = "security" if ".." in clean.split("/") or clean.startswith("/") else "path"
        raise RefusedReferenceError(f"the reference {fault}", _RELATIVE, category=category)
    return clean
