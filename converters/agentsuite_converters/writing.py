"""Files put in place all or none, and nothing that exists overwritten unless that is asked for."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from hatch_agentsuite.findings import Finding, RefusedError, printable


def write_files(root: Path, files: Mapping[str, bytes], *, force: bool = False, own: Collection[str] = ()) -> list[str]:
    """Write files below a folder, which is made if need be; return the paths whose content changed.

    A file that is there with other content is refused, all at once, unless ``force`` or unless it is among ``own``, the
    paths that the caller has read and means to change. Raises :class:`RefusedError`, or :class:`OSError` after which
    nothing has changed.
    """
    _refuse_others(root, files)
    changed = [path for path, data in files.items() if not _is_same(root / path, data)]
    taken = [path for path in changed if os.path.lexists(root / path) and not force and path not in own]
    if taken:
        message = "the file exists, and its content would change"
        raise RefusedError(
            *(Finding("WRITE-001", "path", printable(str(root / path)), message, "give --force") for path in taken)
        )
    if not changed:
        return changed
    parent = next(folder for folder in (root, *root.parents) if folder.is_dir())
    work = Path(tempfile.mkdtemp(prefix=".agentsuite.", suffix=".tmp", dir=parent))
    try:
        for number, path in enumerate(changed):
            (work / f"{number}.new").write_bytes(files[path])
        _exchange(root, changed, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return changed


def beside(name: str, document: bytes, files: Mapping[str, bytes], *, rename: bool = True) -> dict[str, bytes]:
    """Return a document and the files that it refers to, by path in one folder.

    Where one of the files has the document's name the document takes another, or is refused unless ``rename``.
    """
    taken = {path.partition("/")[0].casefold() for path in files}
    if not rename and name.casefold() in taken:
        message = "the document refers to a file of its own name"
        raise RefusedError(Finding("WRITE-001", "path", printable(name), message, "choose another name"))
    while name.casefold() in taken:
        name = f"_{name}"
    return {name: document, **files}


def _exchange(root: Path, changed: list[str], work: Path) -> None:
    """Move new files into place; whatever fails, what was there before is there again."""
    made: list[Path] = []
    done: list[int] = []
    try:
        for number, path in enumerate(changed):
            target = root / path
            _make_folders(target.parent, made)
            done.append(number)
            if os.path.lexists(target):
                target.rename(work / f"{number}.old")
            (work / f"{number}.new").rename(target)
    except BaseException:
        for number in reversed(done):
            target, old = root / changed[number], work / f"{number}.old"
            if os.path.lexists(old):
                old.replace(target)
            elif not os.path.lexists(work / f"{number}.new"):
                target.unlink(missing_ok=True)
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        raise


def _make_folders(folder: Path, made: list[Path]) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir()
        made.append(new)


def _refuse_others(root: Path, files: Mapping[str, bytes]) -> None:
    """Refuse to write through a symlink below the folder, or where a file is a folder or has to be one."""
    message = "a file is needed here, and this is a folder"
    folders = [root / path for path in files if (root / path).is_dir() and not (root / path).is_symlink()]
    problems = [Finding("WRITE-001", "path", printable(str(place)), message) for place in folders]
    for folder in sorted({parent for path in files for parent in Path(path).parents if parent != Path()}):
        place = root / folder
        if os.path.lexists(place) and (place.is_symlink() or not place.is_dir()):
            message = "a folder is needed here, and this is something else"
            problems.append(Finding("WRITE-001", "path", printable(str(place)), message))
    if problems:
        raise RefusedError(*problems)


def _is_same(path: Path, data: bytes) -> bool:
    try:
        return not path.is_symlink() and path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False
