"""Other people's tools read what we write, and we read what they write (specification 4)."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hatch_agentsuite.packing import Form, pack
from hatch_agentsuite.source import Options
from hatch_agentsuite.unpacking import unpack
from hatch_agentsuite.validation import validate
from tests.hatch.projects import Outcome, run, snapshot, write_suite

pytestmark = pytest.mark.e2e

Tool = Callable[..., Outcome]


def make(folder: Path, form: Form = "layout", tag: str | None = None) -> Path:
    source = write_suite(folder / "suite", with_tool=True)
    target = folder / f"made-{form}"
    pack(source, target, Options(default_name="demo"), form=form, tag=tag)
    return target


@pytest.fixture
def skopeo(require_tool: Callable[[str], str], tmp_path: Path) -> Tool:
    command = require_tool("skopeo")
    policy = tmp_path / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')

    def call(*arguments: str | Path) -> Outcome:
        outcome = run(command, "--policy", policy, "--tmpdir", tmp_path, *arguments, cwd=tmp_path)
        assert outcome.status == 0, outcome.err
        return outcome

    return call


def blob(layout: Path, descriptor: dict[str, str]) -> Path:
    return layout / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")


def manifest_bytes(layout: Path) -> bytes:
    [selected] = json.loads((layout / "index.json").read_bytes())["manifests"]
    return blob(layout, selected).read_bytes()


def test_skopeo_shows_the_very_manifest(skopeo: Tool, tmp_path: Path) -> None:
    layout = make(tmp_path)
    assert skopeo("inspect", "--raw", f"oci:{layout}").out.encode() == manifest_bytes(layout)


def test_skopeo_shows_the_manifest_of_the_archive(skopeo: Tool, tmp_path: Path) -> None:
    layout, archive = make(tmp_path / "one"), make(tmp_path / "two", "archive")
    assert skopeo("inspect", "--raw", f"oci-archive:{archive}").out.encode() == manifest_bytes(layout)


@pytest.mark.parametrize("tag", [None, "v1.0"])
def test_skopeo_copies_keep_the_digest_and_validate(skopeo: Tool, tmp_path: Path, tag: str | None) -> None:
    """4.2: the identity of a suite survives being carried; layout to archive to layout."""
    layout = make(tmp_path, tag=tag)
    suffix = f":{tag}" if tag else ""
    skopeo("copy", f"oci:{layout}{suffix}", f"oci-archive:{tmp_path / 'copied.tar'}{suffix}")
    skopeo("copy", f"oci-archive:{tmp_path / 'copied.tar'}{suffix}", f"oci:{tmp_path / 'copied'}{suffix}")
    reports = [validate(path) for path in (layout, tmp_path / "copied.tar", tmp_path / "copied")]
    assert [report.findings for report in reports if not report.ok] == []
    assert len({report.digest for report in reports}) == 1
    unpack(layout, tmp_path / "a")
    unpack(tmp_path / "copied.tar", tmp_path / "b")
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")


def test_skopeo_inspects_by_tag(skopeo: Tool, tmp_path: Path) -> None:
    layout = make(tmp_path, tag="v1.0")
    assert skopeo("inspect", "--raw", f"oci:{layout}:v1.0").out.encode() == manifest_bytes(layout)


def test_umoci_lists_the_tag(require_tool: Callable[[str], str], tmp_path: Path) -> None:
    umoci = require_tool("umoci")
    outcome = run(umoci, "ls", "--layout", make(tmp_path, tag="v1.0"), cwd=tmp_path)
    assert (outcome.status, outcome.out) == (0, "v1.0\n"), outcome.err


def layer_of(layout: Path) -> Path:
    [layer] = json.loads(manifest_bytes(layout))["layers"]
    return blob(layout, layer)


def test_tarfile_lists_what_we_unpack(tmp_path: Path) -> None:
    """5.2: Python's own reader sees the same entries, in the same order, with the same bytes, modes and owners."""
    layout = make(tmp_path)
    unpack(layout, tmp_path / "content")
    with tarfile.open(layer_of(layout), "r:gz") as archive:
        infos = archive.getmembers()
        assert [info.name for info in infos] == sorted((info.name for info in infos), key=str.encode)
        assert {info.name: _read(archive, info) for info in infos if info.isfile()} == snapshot(tmp_path / "content")
    assert {(info.uid, info.gid, info.uname, info.gname, info.mtime) for info in infos} == {(0, 0, "", "", 0)}
    assert {info.mode for info in infos if info.isfile()} == {0o644, 0o755}


def test_tarfile_lists_the_archive(tmp_path: Path) -> None:
    layout, archive_path = make(tmp_path / "one"), make(tmp_path / "two", "archive")
    with tarfile.open(archive_path, "r:") as archive:
        assert {info.name: _read(archive, info) for info in archive if info.isfile()} == snapshot(layout)


@pytest.mark.parametrize("tool", ["tar", "pigz"])
def test_tar_and_pigz_read_the_layer(require_tool: Callable[[str], str], tmp_path: Path, tool: str) -> None:
    layer = layer_of(make(tmp_path))
    if tool == "pigz":
        assert run(require_tool(tool), "-t", layer, cwd=tmp_path).status == 0
        return
    outcome = run(require_tool(tool), "-tzf", layer, cwd=tmp_path)
    with tarfile.open(layer, "r:gz") as archive:
        assert outcome.out.splitlines() == [f"{info.name}/" if info.isdir() else info.name for info in archive]


def _read(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(info)
    assert stream
    return stream.read()
