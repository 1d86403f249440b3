"""Output appears whole or not at all, and replaces an older one without a moment that has neither."""

from __future__ import annotations

import errno
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hatch_agentsuite import staging
from hatch_agentsuite.staging import remove, staged, sweep
from tests.core.staging_builder import FILES, WAYS, build, strike, take_way, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
RANDOM = "0123456789abcdef"
OLD_KINDS = ("nothing", "file", "directory", "link to file", "link to directory", "dangling link")

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="exchanging two names is Linux's")
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs locks, signals or permission bits")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "dist" / "demo-1.0.agentsuite"


@pytest.fixture(params=["demo-1.0.agentsuite", "demo-1.0.agentsuite.tar"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A target that is a directory, a target that is a file."""
    return tmp_path / "dist" / str(request.param)


def generation(path: Path) -> str | None:
    """Return the generation of a whole output, None if there is none; a torn one fails the test."""
    if not os.path.lexists(path):
        return None
    assert not path.is_symlink()
    if path.is_file():
        found = path.read_text()
        name = found[: len(found) // 1000]
        assert found == name * 1000
        return name
    assert sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()) == sorted(FILES)
    (name,) = {(path / file).read_text() for file in FILES}
    return name


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def work_folder(target: Path, random_part: str = RANDOM) -> Path:
    work = target.with_name(f".{target.name}.{random_part}.tmp")
    work.mkdir(parents=True)
    return work


def fail_to_build(target: Path, raised: type[BaseException]) -> None:
    with staged(target) as new:
        write(new, "failed")
        raise raised


def start(target: Path, way: str, name: str, *, builds: int = 1, step: int = 0) -> subprocess.Popen[str]:
    """Start a builder and return when it begins to build."""
    command = [sys.executable, str(ROOT / "tests" / "core" / "staging_builder.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    builder = subprocess.Popen(
        [*command, str(target), way, name, str(builds), str(step)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert builder.stdout is not None
    assert builder.stdout.readline() == "ready\n"
    return builder


def finish(builder: subprocess.Popen[str]) -> int:
    with builder:
        return builder.wait(timeout=30)


# -- one build


def test_output_appears_when_the_block_ends_and_not_before(either: Path) -> None:
    with staged(either) as new:
        assert new.name == either.name
        assert not new.exists()
        write(new, "one")
        assert not either.exists()
    assert generation(either) == "one"
    assert names(either.parent) == [either.name]


def test_a_build_replaces_an_older_one(either: Path) -> None:
    build(either, "one")
    with staged(either) as new:
        write(new, "two")
        assert generation(either) == "one"
    assert generation(either) == "two"
    assert names(either.parent) == [either.name]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", OLD_KINDS)
def test_any_kind_of_target_is_replaced_by_any_kind_of_output(
    either: Path, kind: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = either.parent.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("not ours")
    either.parent.mkdir()
    if kind == "file":
        either.write_text("old")
    elif kind == "directory":
        either.mkdir()
        (either / "file").write_text("old")
    elif kind != "nothing":
        pointee = {"link to file": elsewhere / "file", "link to directory": elsewhere, "dangling link": Path("gone")}
        either.symlink_to(pointee[kind])
    take_way(way, either, monkeypatch.setattr)
    build(either, "new")
    assert generation(either) == "new"
    assert names(either.parent) == [either.name]
    assert names(elsewhere) == ["file"]
    assert (elsewhere / "file").read_text() == "not ours"


@linux
def test_linux_never_shows_a_moment_without_the_target(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(target, "one")

    def forbidden(*paths: object) -> bool:
        raise AssertionError("the old output was moved away before the new one took its place")

    monkeypatch.setattr(staging, "_replace_in_two_steps", forbidden)
    build(target, "two")
    assert generation(target) == "two"


@pytest.mark.parametrize("raised", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failed_build_changes_nothing_and_leaves_nothing(either: Path, raised: type[BaseException]) -> None:
    build(either, "one")
    with pytest.raises(raised):
        fail_to_build(either, raised)
    assert generation(either) == "one"
    assert names(either.parent) == [either.name]


def test_a_build_that_makes_nothing_fails_and_changes_nothing(either: Path) -> None:
    build(either, "one")
    with pytest.raises(FileNotFoundError), staged(either):
        pass
    assert generation(either) == "one"
    assert names(either.parent) == [either.name]


def test_a_failed_build_removes_the_folders_that_it_made(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), staged(tmp_path / "a" / "b" / "demo"):
        raise RuntimeError
    assert names(tmp_path) == []


def test_a_failed_build_leaves_a_folder_that_was_there_or_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    with pytest.raises(RuntimeError), staged(tmp_path / "dist" / "demo"):
        raise RuntimeError
    assert names(tmp_path) == ["dist"]
    with staged(tmp_path / "new" / "one") as new:
        with pytest.raises(RuntimeError):
            fail_to_build(tmp_path / "new" / "two", RuntimeError)
        write(new, "one")
    assert names(tmp_path / "new") == ["one"]


def test_a_parent_removed_by_another_failed_build_is_made_again(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_work = staging._new_work

    def after_removal(target: Path) -> Path:
        monkeypatch.setattr(staging, "_new_work", new_work)
        target.parent.rmdir()
        return new_work(target)

    monkeypatch.setattr(staging, "_new_work", after_removal)
    build(target, "one")
    assert generation(target) == "one"


@pytest.mark.parametrize("umask", [0o000, 0o027, 0o077])
@posix
def test_modes_do_not_depend_on_the_umask(either: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with staged(either) as new:
            write(new, "one")
            assert stat.S_IMODE(new.parent.stat().st_mode) & 0o022 == 0
    finally:
        os.umask(before)
    for path in (either, *either.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o755 if path.is_dir() else 0o644), path


@pytest.mark.parametrize("name", ["with space", "schön-☃", "-rf", "[a]*.b+$", ".hidden", "a.b", "x.old", "x.ready"])
@pytest.mark.parametrize("way", WAYS)
def test_any_name_will_do(tmp_path: Path, name: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / f"parent of {name}" / name
    (work_folder(target) / name).mkdir()
    take_way(way, target, monkeypatch.setattr)
    build(target, "one")
    build(target, "two")
    assert generation(target) == "two"
    assert names(target.parent) == [name]


def test_a_relative_target_means_the_folder_in_which_the_build_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    with staged(Path("dist/demo")) as new:
        monkeypatch.chdir(tmp_path)
        write(new, "one")
    assert generation(tmp_path / "project" / "dist" / "demo") == "one"
    monkeypatch.chdir(tmp_path / "project" / "dist")
    build(Path("demo"), "two")
    assert generation(tmp_path / "project" / "dist" / "demo") == "two"
    assert remove(Path("demo"))


# -- targets that cannot be replaced


@pytest.mark.parametrize("name", ["/", ".."])
def test_a_path_without_a_name_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="Not a name that can be replaced"), staged(Path(name)):
        pytest.fail("the build began")


def test_a_mount_point_is_refused_before_the_build(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(target, "one")
    monkeypatch.setattr(os.path, "ismount", lambda path: path == target)
    with pytest.raises(OSError, match=r"A mount point cannot be replaced.*demo-1\.0"), staged(target):
        pytest.fail("the build began")
    with pytest.raises(OSError, match="A mount point cannot be replaced"):
        remove(target)
    assert generation(target) == "one"
    assert names(target.parent) == [target.name]


@pytest.mark.parametrize("refused", ["target", "new"])
def test_a_move_that_is_refused_leaves_the_old_output(
    target: Path, refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(target, "one")
    take_way("two steps", target, monkeypatch.setattr)
    rename = Path.rename

    def refuse(path: Path, to: Path) -> Path:
        if path.name == target.name and (path == target) == (refused == "target"):
            raise PermissionError(errno.EPERM, "Operation not permitted", str(path))
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(PermissionError, match=r"demo-1\.0\.agentsuite"):
        build(target, "two")
    assert generation(target) == "one"
    assert names(target.parent) == [target.name]


def test_old_output_that_cannot_be_removed_does_not_fail_a_build_but_fails_a_removal(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(path: Path) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy", str(path))

    build(target, "one")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", busy)
        build(target, "two")
        build(target, "three")
        assert generation(target) == "three"
        assert len(names(target.parent)) == 3
        with pytest.raises(OSError, match="busy"):
            remove(target)
    assert remove(target)
    assert names(target.parent) == []


@pytest.fixture
def own_folder() -> Iterator[Path]:
    """A folder in which we work without root's power to ignore permission bits."""
    folder = Path(tempfile.mkdtemp())
    is_root = os.geteuid() == 0
    try:
        if is_root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        shutil.rmtree(folder)


@posix
def test_read_only_folders_in_the_old_output_are_removed(own_folder: Path) -> None:
    target = own_folder / "demo"
    for act in (lambda: build(target, "two"), lambda: remove(target)):
        build(target, "one")
        (target / "blobs" / "sha256").chmod(0o555)
        (target / "blobs").chmod(0o555)
        act()
        assert names(own_folder) == (["demo"] if target.exists() else [])
    assert not target.exists()


@posix
def test_a_read_only_old_output_is_left_alone_with_an_error(own_folder: Path) -> None:
    target = own_folder / "demo"
    build(target, "one")
    target.chmod(0o555)
    with pytest.raises(PermissionError, match="demo"):
        build(target, "two")
    target.chmod(0o755)
    assert generation(target) == "one"
    assert names(own_folder) == ["demo"]


# -- builders that were killed


def unfinished(work: Path, target: Path) -> None:
    (work / target.name).mkdir()


def waiting(work: Path, target: Path) -> None:
    write(work / target.name, "new")


def moved(work: Path, target: Path) -> None:
    write(work / f"{target.name}.old", "old")


def marked(work: Path, target: Path) -> None:
    (work / f"{target.name}.ready").touch()


def nothing(target: Path) -> None:
    pass


def torn(target: Path) -> None:
    write(target, "old")
    (target / FILES[0]).unlink()


def whole(name: str) -> Callable[[Path], None]:
    return lambda target: write(target, name)


@pytest.mark.parametrize(
    ("in_work", "at_target", "expected"),
    [
        pytest.param([], whole("old"), "old", id="nothing built"),
        pytest.param([unfinished], whole("old"), "old", id="built in part"),
        pytest.param([unfinished], nothing, None, id="first one built in part"),
        pytest.param([waiting], whole("old"), "old", id="built, or exchanged"),
        pytest.param([waiting, moved], nothing, "new", id="between the two moves"),
        pytest.param([moved], whole("new"), "new", id="after the two moves"),
        pytest.param([waiting, moved], whole("other"), "other", id="between the two moves, another came"),
        pytest.param([waiting, marked], whole("old"), "new", id="before removal in place"),
        pytest.param([waiting, marked], torn, "new", id="during removal in place"),
        pytest.param([waiting, marked], nothing, "new", id="after removal in place"),
        pytest.param([marked], whole("new"), "new", id="moved after removal in place"),
        pytest.param([moved], nothing, None, id="during remove"),
    ],
)
@posix
def test_what_a_killed_builder_left_is_finished_or_removed(
    target: Path,
    in_work: list[Callable[[Path, Path], None]],
    at_target: Callable[[Path], None],
    expected: str | None,
) -> None:
    work = work_folder(target)
    for make in in_work:
        make(work, target)
    at_target(target)
    sweep(target)
    assert generation(target) == expected
    assert names(target.parent) == ([target.name] if expected else [])


@posix
def test_a_build_that_fails_has_still_finished_an_interrupted_replacement(target: Path) -> None:
    work = work_folder(target)
    waiting(work, target)
    moved(work, target)
    with pytest.raises(RuntimeError), staged(target):
        raise RuntimeError
    assert generation(target) == "new"
    assert names(target.parent) == [target.name]


@posix
def test_a_builder_killed_in_its_last_step_does_not_undo_a_later_one(target: Path) -> None:
    with staged(target) as new:
        write(new, "later")
        killed = work_folder(target)
        waiting(killed, target)
        marked(killed, target)
    sweep(target)
    assert generation(target) == "later"
    assert names(target.parent) == [target.name]


@posix
def test_only_litter_of_this_target_is_swept(tmp_path: Path) -> None:
    target = tmp_path / "a.b"
    others = [f".aXb.{RANDOM}.tmp", f".a.b-1.{RANDOM}.tmp", f".a.b.c.{RANDOM}.tmp", ".a.b.backup.tmp", f"a.b.{RANDOM}"]
    for name in others:
        (tmp_path / name).mkdir()
    work_folder(target)
    build(target, "one")
    assert remove(target)
    assert names(tmp_path) == sorted(others)


@posix
def test_sweeping_without_a_parent_makes_none(target: Path) -> None:
    sweep(target)
    assert not target.parent.exists()


@pytest.mark.parametrize("way", [pytest.param("exchange", marks=linux), "two steps", "in place"])
@posix
def test_a_builder_may_be_killed_at_every_step(target: Path, way: str) -> None:
    for step in count(1):
        shutil.rmtree(target.parent, ignore_errors=True)
        build(target, "old")
        survived = finish(start(target, way, "new", step=step)) == 0
        if way == "exchange":
            assert generation(target) in {"old", "new-0"}
        sweep(target)
        assert generation(target) in ({"new-0"} if survived else {"old", "new-0"})
        assert names(target.parent) == [target.name]
        if survived:
            break
    assert step > 10


@pytest.mark.parametrize("way", [pytest.param("exchange", marks=linux), "two steps", "in place"])
@posix
def test_a_builder_may_be_interrupted_at_every_step(target: Path, way: str) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    for step in count(1):
        shutil.rmtree(target.parent, ignore_errors=True)
        build(target, "old")
        survived = False
        with pytest.MonkeyPatch.context() as patch:
            take_way(way, target, patch.setattr)
            strike(step, interrupt, patch.setattr)
            with suppress(KeyboardInterrupt):
                build(target, "new")
                survived = True
        if way == "in place":
            sweep(target)
        assert generation(target) in ({"new"} if survived else {"old", "new"})
        build(target, "next")
        assert names(target.parent) == [target.name]
        if survived:
            break
    assert step > 10


@pytest.mark.parametrize("way", [pytest.param("exchange", marks=linux), "two steps"])
@posix
def test_builders_killed_at_random_leave_a_whole_output(target: Path, way: str) -> None:
    chance = random.Random(7)
    build(target, "first")
    builders = [start(target, way, f"builder{number}", builds=1_000_000) for number in range(3)]
    try:
        ending = time.monotonic() + 2
        while time.monotonic() < ending:
            time.sleep(chance.uniform(0, 0.03))
            victim = chance.randrange(3)
            builders[victim].kill()
            assert finish(builders[victim]) != 0
            builders[victim] = start(target, way, f"builder{victim}", builds=1_000_000)
    finally:
        for builder in builders:
            builder.kill()
            finish(builder)
    if way != "exchange":
        sweep(target)
    assert generation(target) is not None
    build(target, "last")
    assert generation(target) == "last"
    assert names(target.parent) == [target.name]


@posix
def test_a_removal_may_be_interrupted_at_every_step(target: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    for step in count(1):
        build(target, "old")
        survived = False
        with pytest.MonkeyPatch.context() as patch:
            strike(step, interrupt, patch.setattr)
            with suppress(KeyboardInterrupt):
                survived = remove(target)
        assert generation(target) in {"old", None}
        if survived:
            break
        build(target, "next")
        assert names(target.parent) == [target.name]
    assert step > 5


# -- builders that live


def test_of_two_builders_the_one_that_ends_last_wins(either: Path) -> None:
    with staged(either) as slow:
        write(slow, "slow")
        build(either, "fast")
        assert generation(either) == "fast"
    assert generation(either) == "slow"
    assert names(either.parent) == [either.name]


@posix
def test_a_live_builder_is_neither_swept_nor_removed(either: Path) -> None:
    with staged(either) as new:
        write(new, "one")
        sweep(either)
        assert not remove(either)
        assert generation(new) == "one"
    assert generation(either) == "one"


@posix
def test_a_work_folder_that_another_process_holds_stays_until_that_dies(target: Path) -> None:
    hold = (
        "import fcntl, os, sys; opened = os.open(sys.argv[1], os.O_RDONLY); "
        "fcntl.flock(opened, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()"
    )
    work = work_folder(target)
    command = [sys.executable, "-c", hold, str(work)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        build(target, "one")
        assert work.is_dir()
        holder.kill()
        holder.wait()
        build(target, "two")
        assert names(target.parent) == [target.name]


def is_locked(folder: Path) -> bool:
    try:
        with staging._locked(folder, wait=False):
            return False
    except BlockingIOError:
        return True


@posix
def test_work_folders_are_made_and_moved_from_and_parents_removed_under_the_lock_of_the_parent(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = []

    def watch(owner: object, name: str) -> None:
        function = getattr(owner, name)

        def watched(path: Path, *rest: Path) -> object:
            locked.append((name, is_locked(target.parent)))
            return function(path, *rest)

        monkeypatch.setattr(owner, name, watched)

    watch(staging, "_new_work")
    watch(staging, "_replace")
    watch(staging, "_take_away")
    watch(Path, "rmdir")
    with pytest.raises(RuntimeError):
        fail_to_build(target, RuntimeError)
    target.parent.mkdir()
    build(target, "one")
    remove(target)
    expected = ["_new_work", "rmdir", "_new_work", "_replace", "_new_work", "_take_away"]
    assert locked == [(name, True) for name in expected]


@posix
def test_the_lock_of_a_parent_that_was_made_anew_meanwhile_does_not_count(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_file, new_work = os.open, staging._new_work
    locked = []

    def open_and_lose(path: Path, flags: int) -> int:
        monkeypatch.setattr(os, "open", open_file)
        opened = open_file(path, flags)
        path.rmdir()
        path.mkdir()
        return opened

    def watched(path: Path) -> Path:
        locked.append(is_locked(path.parent))
        return new_work(path)

    monkeypatch.setattr(os, "open", open_and_lose)
    monkeypatch.setattr(staging, "_new_work", watched)
    build(target, "one")
    assert generation(target) == "one"
    assert locked == [True]


@posix
def test_no_lock_outlives_a_build_in_a_process_forked_meanwhile(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_file = os.open
    inherited = []

    def open_twice(path: Path, flags: int, **options: int) -> int:
        opened = open_file(path, flags, **options)
        inherited.append(os.dup(opened))
        return opened

    target.parent.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", open_twice)
        with staged(target) as new:
            write(new, "one")
            assert not is_locked(target.parent)
            assert is_locked(new.parent)
    assert not is_locked(target.parent)
    for opened in inherited:
        os.close(opened)


def seen(target: Path) -> set[str]:
    """Return the generations in the directory that is at target now; nothing if it was replaced during the look."""
    opened = os.open(target, os.O_RDONLY)
    try:
        generations = set()
        for name in FILES:
            file = os.open(name, os.O_RDONLY, dir_fd=opened)
            with os.fdopen(file, encoding="utf-8") as stream:
                generations.add(stream.read())
        return generations
    except FileNotFoundError:
        assert not os.path.samestat(os.fstat(opened), target.stat()), "the output at target lacks a file"
        return set()
    finally:
        os.close(opened)


@linux
def test_parallel_builders_never_show_a_torn_or_missing_output(target: Path) -> None:
    build(target, "first")
    builders = [start(target, "exchange", f"builder{number}", builds=100) for number in range(3)]
    looks = [seen(target)]
    while any(builder.poll() is None for builder in builders):
        looks.append(seen(target))
    assert [finish(builder) for builder in builders] == [0, 0, 0]
    assert max(len(look) for look in looks) == 1
    assert generation(target) in {"builder0-99", "builder1-99", "builder2-99"}
    assert names(target.parent) == [target.name]


@posix
def test_parallel_builders_without_exchange_end_with_a_whole_output(target: Path) -> None:
    builders = [start(target, way, way.replace(" ", "-"), builds=50) for way in ("two steps", "in place", "two steps")]
    assert [finish(builder) for builder in builders] == [0, 0, 0]
    assert generation(target) in {"two-steps-49", "in-place-49"}
    assert names(target.parent) == [target.name]


# -- removal


def test_remove_takes_the_output_and_says_so(either: Path) -> None:
    build(either, "one")
    (either.parent / "other").touch()
    assert remove(either) is True
    assert names(either.parent) == ["other"]
    assert remove(either) is False


def test_remove_takes_a_link_and_not_what_it_points_to(target: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    target.parent.mkdir()
    target.symlink_to(tmp_path / "elsewhere")
    assert remove(target) is True
    assert names(target.parent) == []
    assert names(tmp_path / "elsewhere") == ["file"]


def test_remove_makes_nothing_where_nothing_is(target: Path) -> None:
    assert remove(target) is False
    assert not target.parent.exists()


@posix
def test_remove_takes_litter_alone(target: Path) -> None:
    unfinished(work_folder(target), target)
    assert remove(target) is True
    assert names(target.parent) == []


def test_remove_takes_a_directory_that_cannot_be_moved(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(target, "one")
    take_way("in place", target, monkeypatch.setattr)
    assert remove(target) is True
    assert names(target.parent) == []


# -- without locks


def test_without_locks_only_old_litter_is_swept(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "fcntl", None)
    young, old = work_folder(target, "0" * 16), work_folder(target, "1" * 16)
    os.utime(young, (2**32, 2**32))
    os.utime(old, (0, 0))
    build(target, "one")
    assert generation(target) == "one"
    assert names(target.parent) == sorted([young.name, target.name])
