"""Output that appears whole or not at all, and replaces an older one without a moment that has neither.

    with staged(Path("dist/demo-1.0.agentsuite")) as new:
        new.mkdir()
        ...

``new`` is a path of the same name in a work folder ``.<name>.<random>.tmp`` beside the target. When the block ends,
what was made there takes the target's place in one step; when it raises, the target stays as it was. A build that is
killed leaves its work folder behind, and the next one removes it.

Whether a work folder is still in use is a lock's business, for the kernel drops a lock with the process that held it:

* a builder holds the lock of its work folder for as long as it lives;
* work folders are made, swept and moved from only under the lock of the folder that they lie in.

Linux exchanges the two names. Where that cannot be done, the old output is moved into the work folder first and, where
not even that can be done (a directory of a lower layer of overlayfs), removed. Killed in between, the work folder shows
what was about to happen, and the next build, `sweep` or `remove` finishes it. Nothing is flushed to disk: this is about
processes that are killed, not about power that fails.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows: no locks, so builds of one target must not run side by side there
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DAY = 24 * 60 * 60


@contextmanager
def staged(target: Path) -> Iterator[Path]:
    """Yield a path that does not exist yet; the file or directory made there replaces target when the block ends.

    Directories get mode 0755 and files 0644, whatever the umask. An older target of any kind is replaced, a symbolic
    link itself and never what it points to. If anything is raised, target is as before and nothing else is left.
    """
    target = _checked(target)
    missing = [folder for folder in target.parents if not folder.exists()]
    with ExitStack() as held:
        held.callback(_remove_empty, missing)
        work = _begin(target, held)
        held.callback(_end, work, target)
        new = work / target.name
        yield new
        _set_modes(new)
        with _locked(target.parent):
            _sweep(target)
            _replace(new, target)


def sweep(target: Path) -> None:
    """Remove what killed builds of target left, after finishing a replacement that one of them had begun."""
    target = _checked(target)
    if target.parent.is_dir():
        with _locked(target.parent):
            _sweep(target)


def remove(target: Path) -> bool:
    """Remove target and what killed builds of it left; return whether there was anything. A live build goes on."""
    target = _checked(target)
    if not target.parent.is_dir():
        return False
    with _locked(target.parent):
        found = _sweep(target)
        if os.path.lexists(target):
            found = True
            work = _new_work(target)
            try:
                _take_away(target, work)
            finally:
                _discard(work)
    return found


def _checked(target: Path) -> Path:
    """Return the absolute path of target, if that is something that can be replaced."""
    target = target.absolute()
    if target.name in {"", ".."}:
        raise OSError(errno.EINVAL, "Not a name that can be replaced", str(target))
    if os.path.ismount(target):
        raise OSError(errno.EBUSY, "A mount point cannot be replaced", str(target))
    return target


# -- work folders


def _begin(target: Path, held: ExitStack, attempts: int = 10) -> Path:
    """Return a new work folder, locked until held is closed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with _locked(target.parent):
            _sweep(target)
            work = _new_work(target)
            held.enter_context(_locked(work))
            return work
    except FileNotFoundError:  # a failed build has just removed the parent again, which it had made
        if attempts == 1:
            raise
    return _begin(target, held, attempts - 1)


def _end(work: Path, target: Path) -> None:
    if not _is_half_done(work, target):
        with suppress(OSError):  # the result stands; what resists here (say, a mount in the old output) stays as litter
            _discard(work)


def _new_work(target: Path) -> Path:
    work = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    work.mkdir(0o755)
    return work


def _sweep(target: Path) -> bool:
    """Do what `sweep` does, under the parent's lock; return whether there was any litter."""
    name = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.tmp")
    litter = [work for work in target.parent.iterdir() if name.fullmatch(work.name) and _is_abandoned(work)]
    for work in litter:
        if _is_half_done(work, target):
            _discard(target)
            (work / target.name).rename(target)
        with suppress(OSError):
            _discard(work)
    return bool(litter)


def _is_half_done(work: Path, target: Path) -> bool:
    """Whether the old output is gone, or going, and the new one still waits in the work folder."""
    going, gone = _marker(work, target).exists(), os.path.lexists(_old(work, target)) and not os.path.lexists(target)
    return os.path.lexists(work / target.name) and (going or gone)


def _old(work: Path, target: Path) -> Path:
    return work / f"{target.name}.old"


def _marker(work: Path, target: Path) -> Path:
    return work / f"{target.name}.ready"


# -- one name for another


def _replace(new: Path, target: Path) -> None:
    """Move new to target, under the parent's lock; an old target ends up in new's work folder."""
    if not os.path.lexists(target) or not (new.is_dir() or target.is_dir()):
        new.replace(target)
    elif not _exchange(new, target):
        _replace_in_two_steps(new, target)


def _exchange(new: Path, target: Path) -> bool:
    """Let the two paths change places; return whether they did. Why they did not, the two steps will tell better."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes

        renameat2 = ctypes.CDLL(None).renameat2
    except (ImportError, AttributeError):  # a Python without ctypes, an old C library
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(renameat2(here, os.fsencode(new), here, os.fsencode(target), exchange) == 0)


def _replace_in_two_steps(new: Path, target: Path) -> None:
    old = _old(new.parent, target)
    try:
        _take_away(target, new.parent)
        new.rename(target)
    except BaseException:
        if os.path.lexists(old) and not os.path.lexists(target):
            old.rename(target)
        raise


def _take_away(target: Path, work: Path) -> None:
    """Move target into the work folder. Where it cannot be moved, say so by the marker, then remove it in place."""
    try:
        target.rename(_old(work, target))
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _marker(work, target).touch()
        _discard(target)


def _set_modes(path: Path) -> None:
    if path.is_symlink():
        return
    if not path.is_dir():
        path.chmod(0o644)
        return
    path.chmod(0o755)
    for child in path.iterdir():
        _set_modes(child)


def _discard(path: Path) -> None:
    """Remove a file, a link or a tree, read-only directories in it or not."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except PermissionError:
        _set_modes(path)
        shutil.rmtree(path)


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError), _locked(folder):
            folder.rmdir()


# -- locks, and what replaces them where there are none


@contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the folder's lock for the block; without wait, BlockingIOError if another has it."""
    if fcntl is None:
        yield
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(opened), folder.stat()):
            raise FileNotFoundError(errno.ENOENT, "Removed while its lock was awaited", str(folder))
        yield
    finally:
        fcntl.flock(opened, fcntl.LOCK_UN)  # closing is not enough if another thread has forked meanwhile
        os.close(opened)


def _is_abandoned(work: Path) -> bool:
    """Whether a work folder has outlived its builder."""
    try:
        if fcntl is None:
            return time.time() - work.stat().st_mtime > _DAY
        with _locked(work, wait=False):
            return True
    except OSError:  # held, just removed, or not ours to open
        return False
