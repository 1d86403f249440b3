"""AS-PATH-001 as far as the content tree goes: paths, links, types, modes, collisions, limits (specification 5.2)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.jsondoc import JSONLimits
from hatch_agentsuite.limits import Limits
from hatch_agentsuite.validation import validate
from tests.validation.carriers import TarEntry, gzipped, tar
from tests.validation.contents import CLOCK
from tests.validation.suites import SuiteBuilder
from tests.validation.tables import faults

REQUIREMENT = "AS-PATH-001"
META = "metadata/"
ENTRIES: list[tuple[str, list[TarEntry], str, str]] = [
    # paths
    ("parent traversal", [TarEntry("../x")], "path", "../x"),
    ("traversal in the middle", [TarEntry("metadata/../x")], "path", "metadata/../x"),
    ("an absolute path", [TarEntry("/x")], "path", "/x"),
    ("a backslash", [TarEntry("metadata\\x")], "path", "metadata\\x"),
    ("a leading dot", [TarEntry("./x")], "path", "./x"),
    ("an empty segment", [TarEntry("metadata//x")], "path", "metadata//x"),
    ("a file twice", [TarEntry("metadata/NOTICE.txt")], "path", "metadata/NOTICE.txt"),
    ("a folder twice", [TarEntry("agents", b"5", 0o755)], "path", "agents"),
    ("a name that differs by case", [TarEntry("metadata/Notice.txt")], "path", "metadata/Notice.txt"),
    ("long s beside s", [TarEntry("metadata/notes"), TarEntry("metadata/note\u017f")], "path", "metadata/note\u017f"),
    ("sharp s beside ss", [TarEntry("metadata/ss"), TarEntry("metadata/\u00df")], "path", "metadata/\u00df"),
    ("a folder that differs by case", [TarEntry("Metadata/x")], "path", "Metadata/x"),
    ("a file below a file", [TarEntry("metadata/NOTICE.txt/x")], "path", "metadata/NOTICE.txt/x"),
    ("a file where others lie below", [TarEntry("schemas")], "path", "schemas"),
    ("a file below a symlink", [TarEntry("metadata/l", b"2", target="."), TarEntry("metadata/l/x")], "path",
     "metadata/l/x"),
    # links
    ("a symlink out of the content", [TarEntry("metadata/l", b"2", 0o777, target="../../x")], "path", "metadata/l"),
    ("an absolute symlink", [TarEntry("metadata/l", b"2", 0o777, target="/etc/passwd")], "path", "metadata/l"),
    ("a symlink to the root", [TarEntry("metadata/l", b"2", 0o777, target="..")], "path", "metadata/l"),
    ("a long link target", [TarEntry("metadata/l", b"2", 0o777, target="x" * 1025)], "path", "metadata/l"),
    ("a hardlink to nothing", [TarEntry("metadata/l", b"1", target="none")], "path", "metadata/l"),
    ("a hardlink to a later entry", [TarEntry("metadata/l", b"1", target="metadata/z"), TarEntry("metadata/z")], "path",
     "metadata/l"),
    ("a hardlink to a folder", [TarEntry("metadata/l", b"1", target="agents")], "path", "metadata/l"),
    ("a hardlink to a hardlink", [TarEntry("metadata/a", b"1", target="metadata/NOTICE.txt"),
                                  TarEntry("metadata/b", b"1", target="metadata/a")], "path", "metadata/b"),
    # types, times, modes
    ("a FIFO", [TarEntry("metadata/f", b"6")], "path", "metadata/f"),
    ("a character device", [TarEntry("metadata/f", b"3")], "path", "metadata/f"),
    ("an unknown type", [TarEntry("metadata/f", b"Z")], "path", "metadata/f"),
    ("a modification time", [TarEntry("metadata/x", time=1)], "path", "metadata/x"),
    ("a set-id bit", [TarEntry("metadata/x", mode=0o4755)], "security", "metadata/x"),
    ("a sticky folder", [TarEntry("metadata/d", b"5", 0o1755)], "security", "metadata/d"),
    ("a group-writable file", [TarEntry("metadata/x", mode=0o664)], "security", "metadata/x"),
    ("a world-writable file", [TarEntry("metadata/x", mode=0o646)], "security", "metadata/x"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("entries", "category", "place"), [row[1:] for row in ENTRIES], ids=[row[0] for row in ENTRIES]
)
def test_one_unsafe_entry_is_one_finding(
    entries: list[TarEntry], category: str, place: str, engine: str, tmp_path: Path
) -> None:
    """5.2, behind a whole and valid suite; the last entry is at fault."""
    suite = SuiteBuilder()
    suite.more = entries
    assert faults(validate(suite.layout(tmp_path / "layout"))) == [(REQUIREMENT, category, place)]


ACCEPTED: list[list[TarEntry]] = [
    [TarEntry("metadata/l", b"2", 0o777, target="nothing")],
    [TarEntry("metadata/l", b"2", 0o777, target=".")],
    [TarEntry("metadata/l", b"2", 0o777, target="x" * 1024)],
    [TarEntry("metadata/\u0131"), TarEntry("metadata/i")],
    [TarEntry("metadata/d", b"5", 0o755)],
    [TarEntry("metadata/x", b"\0")],
    [TarEntry("metadata/" + "n" * 200)],
    [TarEntry("metadata/l", b"1", target="metadata/NOTICE.txt")],
]


@pytest.mark.parametrize("entries", ACCEPTED)
def test_a_safe_entry_is_accepted(entries: list[TarEntry], tmp_path: Path) -> None:
    suite = SuiteBuilder()
    suite.more = entries
    assert faults(validate(suite.layout(tmp_path / "layout"))) == []


LAYERS: list[tuple[str, Any, str]] = [
    ("a gzip time", lambda data: gzipped(data, time=1), "path"),
    ("a damaged gzip trailer", lambda data: gzipped(data)[:-1] + b"\x55", "oci"),
    ("bytes after gzip", lambda data: gzipped(data) + b"x", "oci"),
    ("a byte after the tar", lambda data: gzipped(data + b"\0"), "path"),
    ("a padded tar", lambda data: gzipped(data + bytes(10_240)), "path"),
    ("one zero block", lambda data: gzipped(data[:-512]), "path"),
    ("a tar cut off", lambda data: gzipped(data[:-2048]), "path"),
    ("a gzip stream cut off", lambda data: gzipped(data)[:-20], "oci"),
]


@pytest.mark.parametrize(("write", "category"), [row[1:] for row in LAYERS], ids=[row[0] for row in LAYERS])
def test_one_fault_of_the_archive_is_one_finding(write: Any, category: str, tmp_path: Path) -> None:
    """5.2; a fault that ends reading says nothing of what was not read."""
    data = tar(SuiteBuilder().seal().entries())
    report = validate(SuiteBuilder().layout(tmp_path / "layout", layer=write(data)))
    assert [(requirement, kind) for requirement, kind, _ in faults(report)] == [(REQUIREMENT, category)]


def test_several_gzip_members_are_a_warning(tmp_path: Path) -> None:
    data = tar(SuiteBuilder().seal().entries())
    report = validate(SuiteBuilder().layout(tmp_path / "layout", layer=gzipped(data[:700]) + gzipped(data[700:])))
    assert faults(report) == []
    assert [found.requirement for found in report.findings if "gzip members" in found.message] == [REQUIREMENT]


# --- extracted directories ---


def test_unsafe_things_in_a_directory(tmp_path: Path) -> None:
    """The same rules where the content is extracted."""
    suite = SuiteBuilder()
    suite.symlinks = {**suite.symlinks, "metadata/out": "../../x", "metadata/root": "/etc"}
    suite.modes["metadata/NOTICE.txt"] = 0o666
    suite.modes["instructions/writer.md"] = 0o4755
    suite.files["metadata/notice.TXT"] = b"x"
    suite.folders["metadata/Profiles"] = 0o777
    root = suite.directory(tmp_path / "suite")
    os.mkfifo(root / "metadata" / "fifo")
    assert set(faults(validate(root))) == {
        (REQUIREMENT, "path", "metadata/out"),
        (REQUIREMENT, "path", "metadata/root"),
        (REQUIREMENT, "security", "metadata/NOTICE.txt"),
        (REQUIREMENT, "security", "instructions/writer.md"),
        (REQUIREMENT, "path", "metadata/notice.TXT"),
        (REQUIREMENT, "path", "metadata/fifo"),
        (REQUIREMENT, "path", "metadata/profiles"),
        (REQUIREMENT, "path", "metadata/profiles/writer.json"),
        ("AS-GRAPH-001", "graph", "agents/writer.json#/extensions/0"),
    }


def test_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    root = SuiteBuilder().directory(tmp_path / "suite")
    (root / os.fsdecode(b"metadata/\xff")).write_bytes(b"")
    assert faults(validate(root)) == [(REQUIREMENT, "path", r"metadata/\udcff")]


def test_a_writable_payload_file_is_the_trees_business(tmp_path: Path) -> None:
    """9.4 and 5.2 overlap: where inventory and content agree on an unsafe mode, AS-PATH-001 owns the case."""
    suite = SuiteBuilder()
    path = "tool-providers/clock/1.0.0/linux-amd64/share/zone.txt"
    suite.modes[path] = 0o664
    suite.edit(CLOCK, "variants/0/files/4/mode", 0o664)
    assert faults(validate(suite.directory(tmp_path / "suite"))) == [(REQUIREMENT, "security", path)]


# --- limits ---


@pytest.mark.parametrize("carrier", ["directory", "layout"])
def test_limits_on_both_sides(carrier: str, tmp_path: Path) -> None:
    """5.2: a bound that is passed ends reading, and is the one finding."""
    suite = SuiteBuilder().seal()
    root = getattr(suite, carrier)(tmp_path / "suite")
    files = {**suite.bytes_of()}
    if carrier == "directory":
        files |= {path: files[target] for path, target in suite.hardlinks.items()}
    total = sum(map(len, files.values()))
    metadata = sum(len(data) for path, data in files.items() if path.endswith(".json"))
    assert faults(validate(root, Limits(expanded_bytes=total))) == []
    assert [name for name, _, _ in faults(validate(root, Limits(expanded_bytes=total - 1)))] == [REQUIREMENT]
    assert faults(validate(root, Limits(metadata_bytes=metadata))) == []
    assert [name for name, _, _ in faults(validate(root, Limits(metadata_bytes=metadata - 1)))] == [REQUIREMENT]
    assert faults(validate(root, Limits(entries=200))) == []
    assert [name for name, _, _ in faults(validate(root, Limits(entries=10)))] == [REQUIREMENT]


def test_the_defaults_are_those_of_5_2() -> None:
    limits = Limits()
    assert (limits.entries, limits.expanded_bytes) == (100_000, 4 << 30)
    assert (limits.metadata_bytes, limits.index_descriptors, limits.index_bytes) == (256 << 20, 1_000, 1 << 30)
    assert limits.json == JSONLimits(4 << 20, 100, 1_024, 100_000)
