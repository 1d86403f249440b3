"""Content trees (section 5.2): the rules of a tree, and extracted directories read without following anything."""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hatch_agentsuite import content
from hatch_agentsuite.content import ContentTree, Entry, TreeLimitError, read_directory, special_kind, walk
from hatch_agentsuite.jsondoc import JSONLimits
from hatch_agentsuite.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs, modes and links")


def admitted(*entries: Entry, limits: Limits | None = None) -> ContentTree:
    tree = ContentTree(limits or Limits())
    for entry in entries:
        if tree.admit(entry):
            tree.add(entry)
    return tree


# -- the rules of a tree


@pytest.mark.parametrize(
    "entries",
    [
        [Entry("a", "file", 0o644), Entry("b", "file", 0o755), Entry("c", "file", 0o400)],
        [Entry("a", "directory", 0o777), Entry("a/l", "symlink", 0o777, link_target="../b")],
        [Entry("a", "file", 0o644), Entry("b", "hardlink", 0o644, link_target="a")],
        [Entry("a/b/c", "file", 0o644), Entry("a", "directory", 0o755)],
    ],
)
def test_a_safe_tree_has_no_findings(entries: list[Entry]) -> None:
    tree = admitted(*entries)
    assert tree.findings == []
    assert list(tree.entries.values()) == entries


@pytest.mark.parametrize(
    ("entry", "message", "category"),
    [
        (Entry("../x", "file", 0o644), "the path holds a `..` segment", "path"),
        (Entry("/x", "file", 0o644), "the path is absolute", "path"),
        (Entry("A", "file", 0o644), "the path is the same as `a`", "path"),
        (Entry("a", "file", 0o644), "the path is there twice", "path"),
        (Entry("a/x", "file", 0o644), "the path lies below `a`, which is a file", "path"),
        (Entry("l/x", "file", 0o644), "the path lies below `l`, which is a symlink", "path"),
        (Entry("x", "file", 0o4755), "set-id or sticky", "security"),
        (Entry("x", "file", 0o2755), "set-id or sticky", "security"),
        (Entry("x", "directory", 0o1755), "set-id or sticky", "security"),
        (Entry("x", "file", 0o664), "group or world writable (mode 0664)", "security"),
        (Entry("x", "file", 0o646), "group or world writable (mode 0646)", "security"),
        (Entry("x", "hardlink", 0o666, link_target="a"), "group or world writable", "security"),
        (Entry("x", "symlink", 0o777, link_target="../y"), "points out of the content root", "path"),
        (Entry("x", "symlink", 0o777, link_target="/y"), "absolute target", "path"),
        (Entry("x", "symlink", 0o777), "empty target", "path"),
        (Entry("x", "hardlink", 0o644, link_target="y"), "absent or comes later", "path"),
        (Entry("x", "hardlink", 0o644, link_target="x"), "absent or comes later", "path"),
        (Entry("x", "hardlink", 0o644), "absent or comes later", "path"),
        (Entry("x", "hardlink", 0o644, link_target="d"), "names a directory", "path"),
        (Entry("x", "hardlink", 0o644, link_target="l"), "names a symlink", "path"),
        (Entry("x", "hardlink", 0o644, link_target="h"), "names a hardlink", "path"),
    ],
)
def test_unsafe_entries_are_findings(entry: Entry, message: str, category: str) -> None:
    """5.2, each rule once, in a tree that is safe without this entry."""
    tree = admitted(
        Entry("a", "file", 0o644),
        Entry("d", "directory", 0o755),
        Entry("l", "symlink", 0o777, link_target="a"),
        Entry("h", "hardlink", 0o644, link_target="a"),
    )
    assert tree.findings == []
    tree.admit(entry)
    (finding,) = tree.findings
    assert finding.requirement == "AS-PATH-001"
    assert finding.category == category
    assert message in finding.message
    assert finding.is_error


def test_a_location_can_be_printed() -> None:
    tree = admitted(Entry("a\n\x1b\udcff/../b", "file", 0o644))
    assert [finding.location.isprintable() for finding in tree.findings] == [True]


def test_the_number_of_entries_is_bounded_also_when_each_is_refused() -> None:
    """5.2: otherwise an archive of bad names would fill memory with findings."""
    limits = Limits(entries=3)
    assert admitted(*(Entry(f"a{n}", "file", 0o644) for n in range(3)), limits=limits).findings == []
    tree = ContentTree(limits)
    for number in range(3):
        tree.admit(Entry(f"../{number}", "file", 0o644))
    with pytest.raises(TreeLimitError):
        tree.admit(Entry("../3", "file", 0o644))
    assert "more than 3 entries" in tree.findings[-1].message


def test_expanded_bytes_are_bounded() -> None:
    limits = Limits(expanded_bytes=10)
    tree = admitted(Entry("a", "file", 0o644, size=4), Entry("b", "file", 0o644, size=6), limits=limits)
    assert tree.findings == []
    with pytest.raises(TreeLimitError, match="more than 10 bytes"):
        tree.admit(Entry("c", "file", 0o644, size=1))


def test_json_documents_are_retained_up_to_the_limits() -> None:
    """5.2: at most 256 MiB of JSON metadata, no document beyond 4 MiB, nothing else."""
    limits = Limits(json=JSONLimits(document_bytes=6), metadata_bytes=10)
    tree = ContentTree(limits)
    assert not tree.retains(Entry("a.md", "file", 0o644, size=1))
    assert not tree.retains(Entry("d.json", "directory", 0o755))
    assert not tree.retains(Entry("big.json", "file", 0o644, size=7))
    assert tree.retains(Entry("a.json", "file", 0o644, size=6))
    assert tree.retains(Entry("b.json", "file", 0o644, size=4))
    with pytest.raises(TreeLimitError, match="more than 10 bytes"):
        tree.retains(Entry("c.json", "file", 0o644, size=1))


# -- extracted directories


def write(root: Path, name: str, data: bytes = b"x", mode: int = 0o644) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


@posix
def test_a_directory_is_read_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, "agentsuite.json", b"{}")
    write(tmp_path, "b/run", b"run", 0o755)
    (tmp_path / "b/link").symlink_to("../agentsuite.json")
    (tmp_path / "b/dangling").symlink_to("nowhere//x/.")
    (tmp_path / "empty").mkdir()
    os.link(tmp_path / "b/run", tmp_path / "b/run2")
    tree = read_directory(tmp_path)
    assert tree.findings == []
    assert {path: (entry.type, entry.link_target) for path, entry in tree.entries.items()} == {
        "agentsuite.json": ("file", None),
        "b": ("directory", None),
        "b/dangling": ("symlink", "nowhere//x/."),
        "b/link": ("symlink", "../agentsuite.json"),
        "b/run": ("file", None),
        "b/run2": ("file", None),
        "empty": ("directory", None),
    }
    run = tree.entries["b/run"]
    assert (run.mode, run.uid, run.gid, run.size) == (0o755, 0, 0, 3)
    assert run.digest == f"sha256:{hashlib.sha256(b'run').hexdigest()}"
    assert tree.documents == {"agentsuite.json": b"{}"}


@posix
@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("fifo", os.mkfifo, "this is a FIFO"),
        ("w", lambda path: write(path.parent, path.name, mode=0o666), "group or world writable"),
        ("suid", lambda path: write(path.parent, path.name, mode=0o4755), "set-id"),
        ("out", lambda path: path.symlink_to("../x"), "points out of the content root"),
        ("abs", lambda path: path.symlink_to("/etc/passwd"), "absolute target"),
        ("x\\y", lambda path: write(path.parent, path.name), "holds a backslash"),
        ("OK", lambda path: write(path.parent, path.name), "where letter case does not count"),
    ],
)
def test_unsafe_entries_of_a_directory_are_findings(name: str, make: object, message: str, tmp_path: Path) -> None:
    write(tmp_path, "ok")
    if name == "OK" and (tmp_path / name).exists():
        pytest.skip("this file system does not tell letter case apart")
    assert callable(make)
    make(tmp_path / name)
    tree = read_directory(tmp_path)
    assert [message in finding.message for finding in tree.findings] == [True]
    assert "ok" in {path.lower() for path in tree.entries}


@posix
def test_a_socket_is_no_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert [f.message.split(";")[0] for f in read_directory(tmp_path).findings] == ["this is a socket"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a file system that takes any bytes as a name")
def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).write_bytes(b"")
    (finding,) = read_directory(tmp_path).findings
    assert "not valid UTF-8" in finding.message
    assert finding.location == "\\udcff"


def test_nothing_is_read_beyond_the_limit_of_entries(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path, f"f{number}")
    tree = read_directory(tmp_path, Limits(entries=3))
    assert list(tree.entries) == ["f0", "f1", "f2"]
    assert len(tree.findings) == 1


@pytest.mark.parametrize("name", ["a.txt", "a.json"])
@pytest.mark.parametrize("size", [1, 5])
def test_a_file_that_changes_while_it_is_read_is_a_finding(
    name: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, name, b"123")
    stale = list(walk(tmp_path))

    def earlier(root: Path) -> Iterator[tuple[str, os.stat_result]]:
        yield from stale

    monkeypatch.setattr(content, "walk", earlier)
    write(tmp_path, name, b"x" * size)
    tree = read_directory(tmp_path)
    assert [finding.message for finding in tree.findings] == ["the file changed while it was read"]
    assert tree.entries == {}
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/etc/passwd")
    assert "cannot be read" in read_directory(tmp_path).findings[0].message


def test_walking_is_sorted_by_bytes_and_parents_come_first(tmp_path: Path) -> None:
    for name in ("b/x", "a-b", "a/z", "a/b/c", "a0", "\u00e9/x", "B"):
        write(tmp_path, name)
    found = [path for path, _ in walk(tmp_path)]
    assert len(found) == len(set(found)) == 11
    for folder in {path.rpartition("/")[0] for path in found}:
        names = [path for path in found if path.rpartition("/")[0] == folder]
        assert names == sorted(names, key=str.encode)
    for path in found:
        parent = path.rpartition("/")[0]
        assert not parent or found.index(parent) < found.index(path)


def test_walking_needs_no_descriptors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system cannot look entries up from an opened folder, the same is found by path."""
    for name in ("b/x", "a/b/c", "a0"):
        write(tmp_path, name)
    expected = [(path, status.st_ino) for path, status in walk(tmp_path)]
    monkeypatch.setattr(os, "supports_fd", set())
    assert [(path, status.st_ino) for path, status in walk(tmp_path)] == expected


@posix
def test_a_folder_that_becomes_a_link_leads_nowhere(tmp_path: Path) -> None:
    """Section 5.2: no link is followed, also not one that was a folder when it was found."""
    write(tmp_path, "outside/secret")
    write(tmp_path, "tree/a/x")
    found = walk(tmp_path / "tree")
    assert next(found)[0] == "a"
    (tmp_path / "tree/a/x").unlink()
    (tmp_path / "tree/a").rmdir()
    (tmp_path / "tree/a").symlink_to("../outside")
    with pytest.raises(OSError, match="tree/a"):
        next(found)


@posix
def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path, "tree/x")
    (tmp_path / "link").symlink_to("tree")
    assert [path for path, _ in walk(tmp_path / "link")] == ["x"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (stat.S_IFREG, None),
        (stat.S_IFDIR, None),
        (stat.S_IFLNK, None),
        (stat.S_IFIFO, "FIFO"),
        (stat.S_IFSOCK, "socket"),
        (stat.S_IFCHR, "character device"),
        (stat.S_IFBLK, "block device"),
        (0, "special file"),
    ],
)
def test_special_files_are_named(kind: int, name: str | None) -> None:
    assert special_kind(kind | 0o644) == name
