"""Safe extraction (section 5.2): all of a layer or nothing, and never outside the new directory."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from hatch_agentsuite import unpacking
from hatch_agentsuite.findings import RefusedError
from hatch_agentsuite.layout import write_archive
from hatch_agentsuite.limits import Limits
from hatch_agentsuite.unpacking import unpack
from tests.core.archives import END, block, compress, file
from tests.core.layouts import blob, make_layout

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs modes and links")

SAFE = (
    file(b"agentsuite.json", b"{}")
    + block(b"bin/", b"5", mode=0o755)
    + file(b"bin/run", b"#!/bin/sh\n", mode=0o755)
    + block(b"bin/run2", b"1", link=b"bin/run", mode=0o755)
    + block(b"bin/sh", b"2", link=b"run", mode=0o777)
    + block(b"dangling", b"2", link=b"nowhere", mode=0o777)
    + block(b"empty/", b"5", mode=0o755)
    + file(b"implied/a/f", b"x" * 2_000_000, mode=0o400)
    + file("caf\u00e9".encode(), b"", mode=0o644)
    + END
)


def layout(folder: Path, tar: bytes) -> Path:
    return make_layout(folder / "layout", compress(tar))


def everything(folder: Path) -> set[str]:
    """Every name below a folder, hidden ones too, but for the layout that a test made."""
    return {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if (folder / "layout") not in path.parents
    } - {"layout"}


def refusal(path: Path, target: Path, limits: Limits | None = None) -> str:
    with pytest.raises(RefusedError) as caught:
        unpack(path, target, limits or Limits())
    return str(caught.value)


@posix
@pytest.mark.parametrize("form", ["layout", "archive"])
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_safe_layer_is_extracted_as_it_is(umask: int, form: str, tmp_path: Path) -> None:
    source = layout(tmp_path, SAFE)
    if form == "archive":
        write_archive(source, tmp_path / "x.tar")
        shutil.rmtree(source)
        source = (tmp_path / "x.tar").rename(tmp_path / "layout")
    before = os.umask(umask)
    try:
        count = unpack(source, tmp_path / "out")
    finally:
        os.umask(before)
    out = tmp_path / "out"
    assert count == 9
    assert everything(tmp_path) == {"out"} | {
        f"out/{name}"
        for name in (
            *("agentsuite.json", "bin", "bin/run", "bin/run2", "bin/sh", "dangling", "empty", "caf\u00e9"),
            *("implied", "implied/a", "implied/a/f"),
        )
    }
    assert (out / "bin/run").read_bytes() == b"#!/bin/sh\n"
    assert (out / "implied/a/f").read_bytes() == b"x" * 2_000_000
    modes = {name: stat.S_IMODE((out / name).stat().st_mode) for name in ("agentsuite.json", "bin/run", "implied/a/f")}
    assert modes == {"agentsuite.json": 0o644, "bin/run": 0o755, "implied/a/f": 0o400}
    assert stat.S_IMODE(out.stat().st_mode) == 0o755
    assert ((out / "bin/sh").readlink(), (out / "dangling").readlink()) == (Path("run"), Path("nowhere"))
    assert (out / "bin/run").samefile(out / "bin/run2")
    assert list((out / "empty").iterdir()) == []


UNSAFE = {
    "traversal": block(b"../evil"),
    "traversal inside": block(b"a/../../evil"),
    "absolute": block(b"/evil"),
    "backslash": block(b"..\\evil"),
    "writing through a symlink": block(b"l", b"2", link=b"bin") + file(b"l/evil"),
    "writing through a symlink that leaves": block(b"l", b"2", link=b"..") + file(b"l/evil"),
    "a file in place of a symlink": block(b"l", b"2", link=b"bin/run") + file(b"l", b"evil"),
    "a hardlink to a file outside": block(b"h", b"1", link=b"/etc/passwd"),
    "a hardlink by traversal": block(b"h", b"1", link=b"../../layout/index.json"),
    "a hardlink through a symlink": block(b"l", b"2", link=b"bin") + block(b"h", b"1", link=b"l/run"),
    "a file below a file": file(b"bin/run/evil"),
    "a collision": file(b"BIN/evil"),
    "set-id": block(b"s", mode=0o4755),
    "writable": block(b"w", mode=0o666),
    "a device": block(b"d", b"3"),
}


@pytest.mark.parametrize("entries", UNSAFE.values(), ids=UNSAFE)
def test_an_unsafe_layer_leaves_nothing_behind(entries: bytes, tmp_path: Path) -> None:
    """5.2: neither at the target, nor beside it, nor above it; folders made for it go too."""
    source = layout(tmp_path, SAFE[: -len(END)] + entries + file(b"later", b"x") + END)
    links = (source / "index.json").stat().st_nlink
    text = refusal(source, tmp_path / "new" / "folders" / "out")
    assert "AS-PATH-001" in text
    assert everything(tmp_path) == set()
    assert (source / "index.json").stat().st_nlink == links


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    refusal(layout(tmp_path, file(b"../x") + END), tmp_path / "mine" / "new" / "out")
    assert everything(tmp_path) == {"mine"}


def test_folders_above_the_target_are_made(tmp_path: Path) -> None:
    unpack(layout(tmp_path, file(b"f", b"x") + END), tmp_path / "new" / "folders" / "out")
    assert (tmp_path / "new/folders/out/f").read_bytes() == b"x"
    assert everything(tmp_path) == {"new", "new/folders", "new/folders/out", "new/folders/out/f"}


@posix
def test_a_hardlink_to_a_file_of_the_host_is_never_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even in the work folder that a refusal removes."""
    made: list[str] = []
    monkeypatch.setattr(os, "link", lambda source, path: made.append(str(source)))
    secret = tmp_path / "secret"
    secret.write_text("x")
    source = layout(tmp_path, file(b"f") + block(b"h", b"1", link=str(secret).encode()[:99]) + END)
    refusal(source, tmp_path / "out")
    assert made == []


@posix
@pytest.mark.parametrize("kind", ["file", "directory", "empty directory", "link", "dangling link"])
def test_an_existing_target_is_refused_and_stays(kind: str, tmp_path: Path) -> None:
    source, target = layout(tmp_path, SAFE), tmp_path / "out"
    if kind == "file":
        target.write_text("mine")
    elif kind == "link":
        target.symlink_to(source)
    elif kind == "dangling link":
        target.symlink_to("nowhere")
    else:
        target.mkdir()
        if kind == "directory":
            (target / "mine").write_text("mine")
    before = (everything(tmp_path), os.lstat(target).st_ino)
    with pytest.raises(FileExistsError) as caught:
        unpack(source, target)
    assert caught.value.filename == str(target)
    assert (everything(tmp_path), os.lstat(target).st_ino) == before


def test_a_content_directory_is_extracted_already(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "agentsuite.json").write_text("{}")
    assert "content directory" in refusal(tmp_path / "content", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda _path: None], ids=["empty", "no tar", "absent"])
def test_what_is_no_suite_is_refused(make: object, tmp_path: Path) -> None:
    assert callable(make)
    make(tmp_path / "layout")
    assert "AS-OCI-001" in refusal(tmp_path / "layout", tmp_path / "new" / "out")
    assert everything(tmp_path) == set()


@pytest.mark.parametrize("damage", ["changed", "cut off", "longer", "absent"])
def test_a_damaged_blob_is_refused_before_a_byte_is_written(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4.2: verification comes before interpretation."""
    source = layout(tmp_path, SAFE)
    path = blob(source, compress(SAFE))
    data = path.read_bytes()
    damaged = {"changed": data[:-1] + bytes([data[-1] ^ 1]), "cut off": data[:-1], "longer": data + b"\0"}
    path.unlink() if damage == "absent" else path.write_bytes(damaged[damage])
    written: list[str] = []
    monkeypatch.setattr(unpacking._Extraction, "entry", lambda _self, entry, _chunks: written.append(entry.path))
    assert "AS-OCI-001" in refusal(source, tmp_path / "out")
    assert written == []
    assert everything(tmp_path) == set()


def test_limits_hold_while_extracting(tmp_path: Path) -> None:
    source = layout(tmp_path, SAFE)
    assert "more than 1,000 bytes" in refusal(source, tmp_path / "out", Limits(expanded_bytes=1_000))
    assert everything(tmp_path) == set()


@pytest.mark.parametrize("form", ["layout", "archive"])
def test_a_disk_that_is_full_is_an_os_error_and_leaves_nothing(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = layout(tmp_path, SAFE)
    if form == "archive":
        write_archive(source, tmp_path / "x.tar")
        shutil.rmtree(source)
        source = (tmp_path / "x.tar").rename(tmp_path / "layout")

    def full(_path: Path, _mode: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "chmod", full)
    with pytest.raises(OSError, match="No space left on device"):
        unpack(source, tmp_path / "new" / "out")
    assert everything(tmp_path) == set()
