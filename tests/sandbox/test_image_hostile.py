"""Layouts that are damaged or hold something else where a document should be: findings, never a traceback (16)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.jsondoc import digest_bytes
from hatch_agentsuite.sandbox.validation import validate_image
from tests.sandbox.kit import INDEX, Layout, World, blob_path, described, write_layout
from tests.sandbox.tampering import Tampered, errors

# --- blobs ---


def test_one_flipped_bit_in_any_blob(built: World, tmp_path: Path) -> None:
    """14: every descriptor is verified before its content is parsed (ASI-SRC-001)."""
    layout = Layout(built.root / "out.image")
    manifest = layout.manifest
    for number, descriptor in enumerate([layout.top, manifest["config"], *manifest["layers"]]):
        copy = Path(shutil.copytree(layout.root, tmp_path / str(number)))
        path = blob_path(copy, descriptor["digest"])
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.unlink()
        path.write_bytes(data)
        report = validate_image(copy)
        assert errors(report) == {"ASI-SRC-001"}
        assert descriptor["digest"] in "".join(map(str, report.findings))


@pytest.mark.parametrize("name", ["index.json", "oci-layout", "blobs"])
def test_incomplete_layout(built: World, tmp_path: Path, name: str) -> None:
    copy = Path(shutil.copytree(built.root / "out.image", tmp_path / "copy"))
    (shutil.rmtree if name == "blobs" else Path.unlink)(copy / name)
    assert errors(validate_image(copy)) == {"ASI-SRC-001"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"manifests": []}', '{"manifests": [1]}', '{"manifests": {}}'])
def test_index_that_is_none(built: World, tmp_path: Path, text: str) -> None:
    copy = Path(shutil.copytree(built.root / "out.image", tmp_path / "copy"))
    (copy / "index.json").write_text(text)
    assert errors(validate_image(copy)) == {"ASI-SRC-001"}


def test_nothing_there(tmp_path: Path) -> None:
    assert errors(validate_image(tmp_path / "nothing")) == {"ASI-SRC-001"}


def test_plain_image_is_no_sandbox_image(built: World, tmp_path: Path) -> None:
    """A base by itself carries neither binding nor inventory."""
    report = validate_image(write_layout(tmp_path / "plain", [built.base]))
    assert {"ASI-BIND-001", "ASI-SRC-001", "ASI-FS-001", "ASI-RUN-001"} <= errors(report)


def test_suite_itself_is_no_image(built: World) -> None:
    assert errors(validate_image(built.suite)) == {"ASI-SRC-001"}


def indexed(root: Path, *images: Path) -> Path:
    """Write a layout whose index selects an index of images."""
    manifests = []
    (root / "blobs/sha256").mkdir(parents=True)
    for image in images:
        shutil.copytree(image / "blobs", root / "blobs", dirs_exist_ok=True)
        manifests.append(Layout(image).top)
    data = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}).encode()
    blob_path(root, digest_bytes(data)).write_bytes(data)
    (root / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [described(INDEX, data)]}))
    (root / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return root


def test_index_of_images_that_do_not_belong_together(built: World, tmp_path: Path) -> None:
    """13: each platform has one image, all of one agent (ASI-SRC-001)."""
    agent, provider = built.root / "out.image", built.root / "clock.image"
    assert validate_image(indexed(tmp_path / "one", agent)).findings == ()
    [twice] = validate_image(indexed(tmp_path / "two", agent, agent)).findings
    assert "several images for linux/amd64" in twice.message
    report = validate_image(indexed(tmp_path / "both", agent, provider))
    assert errors(report) == {"ASI-SRC-001"}
    assert any("not all of one agent" in finding.message for finding in report.findings)


def test_index_in_an_index(built: World, tmp_path: Path) -> None:
    inner = indexed(tmp_path / "inner", built.root / "out.image")
    assert errors(validate_image(indexed(tmp_path / "outer", inner))) == {"ASI-SRC-001"}


WRONG: list[Any] = [None, 1, -1, "x", "\u202e", [], {}, [1], {"a": 1}, [[]], True]


@pytest.mark.parametrize("where", ["index", "manifest", "config", "settings"])
def test_no_shape_of_a_document_ends_in_a_traceback(built: World, tmp_path: Path, where: str) -> None:
    """16: a validator MUST fail closed, whatever stands where something else should."""
    names = {"index": ["manifests", "mediaType"], "manifest": ["config", "layers", "mediaType"]}
    names["config"] = ["os", "architecture", "created", "config", "rootfs", "history"]
    names["settings"] = ["User", "Env", "Entrypoint", "Cmd", "WorkingDir", "Labels", "Volumes"]
    for name in names[where]:
        for number, value in enumerate(WRONG):
            copy = Tampered(Path(shutil.copytree(built.root / "out.image", tmp_path / f"{name}{number}")))
            if where == "index":
                (copy.root / "index.json").write_text(json.dumps({**copy.index, name: value}))
            elif where == "manifest":
                copy.manifest[name] = value
                copy.seal()
            else:
                getattr(copy, where)[name] = value
                copy.write() if name != "rootfs" else copy.seal()
            report = validate_image(copy.root)
            assert all(str(finding).isprintable() for finding in report.findings)
            shutil.rmtree(copy.root)


@pytest.mark.parametrize("name", ["binding", "inventory", "composition", "build-profile", "agent", "runtime-base"])
def test_no_document_of_an_image_ends_in_a_traceback(built: World, tmp_path: Path, name: str) -> None:
    members = Tampered(built.root / "out.image").document(f"{name}.json")
    for number, value in enumerate(WRONG):
        for member in members:
            copy = Tampered(Path(shutil.copytree(built.root / "out.image", tmp_path / f"{number}{member}")))
            copy.put(f"/.agentsuite/{name}.json", json.dumps(copy.document(f"{name}.json") | {member: value}).encode())
            assert not validate_image(copy.write()).ok
            shutil.rmtree(copy.root)


# --- provenance ---


@pytest.mark.parametrize("part", ["manifest", "statement", "subject"])
def test_provenance_is_judged(built: World, tmp_path: Path, part: str) -> None:
    """13: what a layout says of its own origin is whole, and about its image (ASI-SRC-001)."""
    root = Path(shutil.copytree(built.root / "out.image", tmp_path / "copy"))
    layout = Layout(root)
    [artifact] = [item for item in layout.index["manifests"] if "artifactType" in item]
    manifest = layout.value(artifact)
    if part == "subject":
        manifest["subject"]["digest"] = "sha256:" + "5" * 64
        data = json.dumps(manifest).encode()
        artifact.update(digest=digest_bytes(data), size=len(data))
        blob_path(root, artifact["digest"]).write_bytes(data)
        (root / "index.json").write_text(json.dumps(layout.index))
    else:
        blob_path(root, (artifact if part == "manifest" else manifest["layers"][0])["digest"]).unlink()
    [finding] = validate_image(root).findings
    assert (finding.requirement, "provenance" in finding.message) == ("ASI-SRC-001", True)
