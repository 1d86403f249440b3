"""Trees that no suite should be made from are refused before a byte is written (design, "Authoring")."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.findings import RefusedError
from hatch_agentsuite.limits import Limits
from hatch_agentsuite.packing import pack
from hatch_agentsuite.source import inventory, providers, resolve
from hatch_agentsuite.source.tree import SourceTree
from tests.source import trees
from tests.source.trees import CLOCK, NAMED, Link, errors, only_error, packed, write_tree

PAYLOAD = f"{CLOCK}/linux-amd64"


def with_links(**links: str) -> dict[str, Any]:
    files = trees.with_clock() | {f"{PAYLOAD}/deep/er/x": "x"}
    return files | {f"{PAYLOAD}/{name.replace('__', '/')}": Link(target) for name, target in links.items()}


LINKS: list[tuple[str, dict[str, Any], str, str]] = [
    ("relative", with_links(out="../../../../../etc"), f"{PAYLOAD}/out", "points out of the content root"),
    ("the root itself", with_links(out="../../../.."), f"{PAYLOAD}/out", "points out of the content root"),
    ("absolute", with_links(out="/etc/passwd"), f"{PAYLOAD}/out", "has an absolute target"),
    ("backslash", with_links(out="a\\b"), f"{PAYLOAD}/out", "has a target that holds a NUL or a backslash"),
    ("nested", with_links(up="../..", out="up/../../../etc"), f"{PAYLOAD}/out", "leads out of the tree by way of"),
    ("self", with_links(me="me"), f"{PAYLOAD}/me", "leads back to itself"),
    ("by a folder", with_links(deep__me="../deep/me/x"), f"{PAYLOAD}/deep/me", "leads back to itself"),
    ("an agent", trees.minimal() | {"agents/b.yaml": Link("writer.yaml")}, "agents/b.yaml", "this is a symlink to"),
    ("a loop", trees.minimal() | {"agents/b.yaml": Link("b.yaml")}, "agents/b.yaml", "this is a symlink to"),
    ("a folder", trees.minimal() | {"metadata": Link("instructions")}, "metadata", "this is a symlink to"),
    ("unreferenced", trees.minimal() | {"x": Link("instructions")}, "x", "this is a symlink to"),
]


@pytest.mark.parametrize(("files", "location", "message"), [x[1:] for x in LINKS], ids=[x[0] for x in LINKS])
def test_links(tmp_path: Path, files: dict[str, Any], location: str, message: str) -> None:
    finding = only_error(write_tree(tmp_path / "suite", files))
    assert (finding.requirement, finding.location) == ("AS-PATH-001", location)
    assert message in finding.message


def test_every_link_of_a_circle_is_named(tmp_path: Path) -> None:
    found = errors(write_tree(tmp_path / "suite", with_links(a="b", b="a", c="bin/clock")))
    assert [x.location for x in found] == [f"{PAYLOAD}/a", f"{PAYLOAD}/b"]


def test_a_payload_folder_is_no_link(tmp_path: Path) -> None:
    files = trees.with_clock() | {f"{CLOCK}/linux-arm64": Link("linux-amd64")}
    assert only_error(write_tree(tmp_path / "suite", files)).location == f"{CLOCK}/linux-arm64"


def test_links_inside_payloads_may_dangle_and_chain(tmp_path: Path) -> None:
    """Section 5.2 judges the text of a link alone."""
    suite = packed(write_tree(tmp_path / "suite", with_links(a="b", b="bin", c="nowhere")))
    assert suite.entry(f"{PAYLOAD}/c").link_target == "nowhere"


def a_fifo(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def a_device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("device nodes are for root to make")


@pytest.mark.parametrize("folder", ["instructions", f"{PAYLOAD}/bin"])
@pytest.mark.parametrize(("make", "name"), [(a_fifo, "FIFO"), (a_socket, "socket"), (a_device, "character device")])
def test_special_files(tmp_path: Path, make: Callable[[Path], None], name: str, folder: str) -> None:
    root = write_tree(tmp_path / "suite", trees.with_clock())
    make(root / folder / "odd")
    finding = only_error(root)
    assert (finding.requirement, finding.location) == ("AS-PATH-001", f"{folder}/odd")
    assert finding.message == f"this is a {name}; a source tree holds files and folders"


NAMES: list[tuple[bytes, str, str]] = [
    (b"\xff.md", "instructions/\\udcff.md", "is not valid UTF-8"),
    (b"a\\b", "instructions/a\\b", "holds a backslash"),
    (b"WRITER.md", "instructions/writer.md", "is the same as `instructions/WRITER.md`"),
]


@pytest.mark.parametrize(("name", "location", "message"), NAMES)
def test_names(tmp_path: Path, name: bytes, location: str, message: str) -> None:
    root = write_tree(tmp_path / "suite", trees.minimal())
    Path(os.fsdecode(os.fsencode(root / "instructions") + b"/" + name)).write_text("x")
    finding = only_error(root)
    assert (finding.requirement, finding.location) == ("AS-PATH-001", location)
    assert message in finding.message


@pytest.mark.parametrize(
    ("one", "other"),
    [("Docs/a", "docs/b"), ("straße", "STRASSE"), ("\u1e9e", "ss"), ("\u03c2", "\u03a3"), ("K", "\u212a")],
)
def test_two_names_equal_under_case_folding(tmp_path: Path, one: str, other: str) -> None:
    """Section 5.2: full Unicode case folding, folders included."""
    found = errors(write_tree(tmp_path / "suite", trees.minimal() | {one: "x", other: "x"}))
    assert {x.requirement for x in found} == {"AS-PATH-001"}
    assert "where letter case does not count" in found[0].message


def test_a_packed_name_may_collide_only_with_a_computed_one(tmp_path: Path) -> None:
    """`Compositions/` is alone in the source; the derived `compositions/` collides with it in the content."""
    files = trees.minimal() | {"Compositions/w.md": "x"}
    files["agents/writer.yaml"]["instructions"] = {"path": "Compositions/w.md"}
    root = write_tree(tmp_path / "suite", files)
    with pytest.raises(RefusedError) as caught:
        pack(root, tmp_path / "out", NAMED)
    assert caught.value.findings[0].requirement == "AS-PATH-001"
    assert os.listdir(tmp_path) == ["suite"]


def test_control_characters_are_escaped_in_messages(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "suite", trees.minimal() | {"a\n\x1b[31m\u202eb.txt": "x"})
    (warning,) = resolve(root, NAMED).warnings
    assert warning.location == "a\\n\\x1b[31m\\u202eb.txt"
    assert str(warning).isprintable()


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o1644])
def test_set_id_and_sticky_files_are_refused(tmp_path: Path, mode: int) -> None:
    root = write_tree(tmp_path / "suite", trees.with_clock())
    (root / PAYLOAD / "bin/clock").chmod(mode)
    finding = only_error(root)
    assert (finding.category, finding.location) == ("security", f"{PAYLOAD}/bin/clock")
    assert f"{mode:04o}" in finding.message


def test_other_modes_are_normalised(tmp_path: Path) -> None:
    """Group-writable files and set-gid folders are what a umask and a shared checkout make."""
    files = trees.with_clock() | {f"{PAYLOAD}/data": "x", f"{PAYLOAD}/empty": None}
    root = write_tree(tmp_path / "suite", files)
    for name, mode in (("bin/clock", 0o777), ("data", 0o666), ("empty", 0o2775), ("bin", 0o3777)):
        (root / PAYLOAD / name).chmod(mode)
    suite = packed(root)
    found = {name: suite.entry(f"{PAYLOAD}/{name}").mode for name in ("bin/clock", "data", "empty")}
    assert found == {"bin/clock": 0o755, "data": 0o644, "empty": 0o755}


def moved(files: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {name.replace(old, new) if name.startswith(old) else name: value for name, value in files.items()}


def without(files: dict[str, Any], name: str, **more: Any) -> dict[str, Any]:
    return {key: value for key, value in files.items() if key != name} | more


MISPLACED: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "agents is a file",
        without(trees.minimal(), "agents/writer.yaml", agents="x"),
        "agents",
        "the suite has no agent",
    ),
    (
        "build-profiles is a file",
        without(trees.minimal(), "build-profiles/default.yaml") | {"build-profiles": "x"},
        "build-profiles",
        "the suite has no build profile",
    ),
    (
        "payload folder is a file",
        without(trees.with_clock(), f"{PAYLOAD}/bin/clock") | {PAYLOAD: "x"},
        f"{CLOCK}/tool-provider.yaml#/variants/0",
        "is no folder",
    ),
    ("a document is a folder", trees.minimal() | {"agents/b.yaml": None}, "agents/b.yaml", "this is a directory"),
    (
        "instructions are a folder",
        moved(trees.minimal(), "instructions/writer.md", "instructions/writer.md/x"),
        "agents/writer.yaml#/instructions/path",
        "it is a directory",
    ),
    (
        "two spellings",
        trees.minimal() | {"agents/writer.json": trees.agent()},
        "agents/writer.yaml",
        "`agents/writer.yaml` and `agents/writer.json` are one document",
    ),
]


@pytest.mark.parametrize(("files", "location", "message"), [x[1:] for x in MISPLACED], ids=[x[0] for x in MISPLACED])
def test_files_and_folders_in_each_others_place(
    tmp_path: Path, files: dict[str, Any], location: str, message: str
) -> None:
    finding = only_error(write_tree(tmp_path / "suite", files))
    assert finding.location == location
    assert message in finding.message


@pytest.mark.parametrize("name", ["tool-providers/x", "tool-providers/x/1.0.0"])
def test_a_file_in_place_of_a_provider_folder_is_named(tmp_path: Path, name: str) -> None:
    root = write_tree(tmp_path / "suite", trees.minimal() | {name: "x"})
    (warning,) = resolve(root, NAMED).warnings
    assert (warning.requirement, warning.location) == ("SOURCE-REACH-001", "tool-providers/")


def test_the_source_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "is not a directory" in only_error(tmp_path / "file").message
    assert "does not exist" in only_error(tmp_path / "missing").message


def test_the_number_of_entries_is_limited(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "suite", trees.minimal())  # three folders with a file each
    SourceTree(root, Limits(entries=6))
    with pytest.raises(RefusedError, match="more than 5 entries") as caught:
        SourceTree(root, Limits(entries=5))
    assert caught.value.findings[0].requirement == "AS-PATH-001"
    with pytest.raises(RefusedError, match="more than 10 bytes together"):
        SourceTree(root, Limits(expanded_bytes=10))


def test_an_inventory_too_large_for_a_manifest_is_refused_before_anything_is_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Section 5.2: one document holds at most 100,000 members."""
    root = write_tree(tmp_path / "suite", trees.with_clock())
    monkeypatch.setitem(inventory._MEMBERS_OF_ENTRY, "file", 100_000)
    monkeypatch.setattr(providers, "Hashing", lambda *_: pytest.fail("something was hashed"))
    finding = only_error(root)
    assert (finding.requirement, finding.location) == ("AS-JSON-001", f"{CLOCK}/tool-provider.yaml#/variants")
    assert "100,000 members" in finding.message


@pytest.mark.parametrize(
    ("name", "location"),
    [
        ("agents/writer.yaml", "agents/writer.yaml"),
        ("instructions/writer.md", "agents/writer.yaml#/instructions/path"),
        (f"{PAYLOAD}/bin/clock", f"{CLOCK}/tool-provider.yaml#/variants/0"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, location: str) -> None:
    root = write_tree(tmp_path / "suite", trees.with_clock())
    really = os.open

    def refuse(path: Any, *arguments: Any, **options: Any) -> int:
        if Path(path) == root / name:
            raise PermissionError(13, "Permission denied", str(path))
        return really(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    finding = only_error(root)
    assert (finding.requirement, finding.location) == ("SOURCE-TREE-001", location)
    assert "Permission denied" in finding.message


@pytest.mark.parametrize("name", ["instructions/writer.md", f"{PAYLOAD}/bin/clock"])
@pytest.mark.parametrize("change", [b"", b"#!/bin/SH\n", b"#!/bin/sh\nmore"])
def test_a_file_that_changes_while_it_is_packed(tmp_path: Path, name: str, change: bytes) -> None:
    root = write_tree(tmp_path / "suite", trees.with_clock())

    def step(stage: str, _size: int) -> None:
        if stage == "packing":
            (root / name).write_bytes(change)

    with pytest.raises(RefusedError) as caught:
        pack(root, tmp_path / "out", NAMED, step=step)
    assert [(x.requirement, x.location) for x in caught.value.findings] == [("SOURCE-CHANGE-001", name)]
    assert os.listdir(tmp_path) == ["suite"]
