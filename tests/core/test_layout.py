"""OCI image layouts (section 4): exact documents out, regular files only in."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pytest

from hatch_agentsuite.archive.layer import Blob, HashingSink
from hatch_agentsuite.findings import RefusedError
from hatch_agentsuite.layout import (
    EMPTY_CONFIG_DIGEST,
    LayoutArchive,
    LayoutDirectory,
    LayoutError,
    blob_path,
    write_archive,
    write_layout,
)
from tests.core.archives import END, block, file, pax, record
from tests.core.layouts import blob, descriptor, index_of, make_layout, manifest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LAYER = b"these bytes stand for a layer"
SBOM = b'{"sbom":true}'

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs and symlinks")


def layer(stream: BinaryIO) -> Blob:
    sink = HashingSink(stream)
    sink.write(LAYER)
    return sink.blob()


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


# -- out


def test_a_layout_is_exactly_these_files(tmp_path: Path) -> None:
    """4.2, 4.3: one untagged descriptor, the empty config, one layer; no time and no host anywhere."""
    digest = write_layout(tmp_path / "new", layer)
    manifest = manifest_of(LAYER)
    assert digest == descriptor("", manifest)["digest"]
    assert files(tmp_path / "new") == {
        "oci-layout": b'{"imageLayoutVersion":"1.0.0"}',
        "index.json": index_of(manifest),
        blob(Path(), manifest).as_posix(): manifest,
        blob(Path(), LAYER).as_posix(): LAYER,
        "blobs/sha256/44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a": b"{}",
    }
    assert blob_path(EMPTY_CONFIG_DIGEST).endswith("/44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")


def test_the_bytes_of_manifest_and_index_are_pinned(tmp_path: Path) -> None:
    digest = write_layout(tmp_path / "new", layer)
    assert digest == "sha256:c422725930b2cdd0f06c28956c7cd346318b6b654f7c02b608643dd7ecff74bf"
    assert descriptor("", (tmp_path / "new" / "index.json").read_bytes())["digest"] == (
        "sha256:001591579ea3435d0d158fcbcfb0ea3ec1242cc54c154af9a61150132465aee3"
    )


@pytest.mark.parametrize("annotations", [{}, {"b": "2", "a": "1"}])
def test_annotations_belong_to_the_manifest_and_a_tag_to_the_index_alone(
    annotations: Mapping[str, str], tmp_path: Path
) -> None:
    plain = write_layout(tmp_path / "plain", layer, annotations=annotations)
    tagged = write_layout(tmp_path / "tagged", layer, annotations=annotations, tag="v1")
    assert plain == tagged
    manifest = manifest_of(LAYER, **({"annotations": dict(annotations)} if annotations else {}))
    assert (tmp_path / "plain" / "index.json").read_bytes() == index_of(manifest)
    tag = {"org.opencontainers.image.ref.name": "v1"}
    assert (tmp_path / "tagged" / "index.json").read_bytes() == index_of(manifest, annotations=tag)


def test_further_blobs_are_copied_and_verified(tmp_path: Path) -> None:
    """4.2: SBOM and provenance documents are in the layout."""
    source = tmp_path / "sbom.json"
    source.write_bytes(SBOM)
    digest = descriptor("", SBOM)["digest"]
    write_layout(tmp_path / "new", layer, blobs={digest: source})
    assert blob(tmp_path / "new", SBOM).read_bytes() == SBOM
    source.write_bytes(SBOM + b"\n")
    with pytest.raises(RefusedError) as caught:
        write_layout(tmp_path / "other", layer, blobs={digest: source})
    assert [finding.requirement for finding in caught.value.findings] == ["SOURCE-CHANGE-001"]


@posix
@pytest.mark.parametrize("kind", ["absent", "symlink", "fifo"])
def test_a_blob_that_is_no_longer_a_file_is_refused(kind: str, tmp_path: Path) -> None:
    source = tmp_path / "sbom.json"
    if kind == "symlink":
        (tmp_path / "real").write_bytes(SBOM)
        source.symlink_to("real")
    elif kind == "fifo":
        os.mkfifo(source)
    with pytest.raises(RefusedError, match="SOURCE-CHANGE-001"):
        write_layout(tmp_path / "new", layer, blobs={descriptor("", SBOM)["digest"]: source})


def test_a_layout_is_not_written_into_an_existing_folder(tmp_path: Path) -> None:
    write_layout(tmp_path / "new", layer)
    with pytest.raises(FileExistsError):
        write_layout(tmp_path / "new", layer)


def test_an_archive_holds_the_files_of_the_layout_in_one_order(tmp_path: Path) -> None:
    write_layout(tmp_path / "new", layer)
    for name in ("one.tar", "two.tar"):
        write_archive(tmp_path / "new", tmp_path / name)
        for path in (tmp_path / "new").rglob("*"):
            os.utime(path, (1, 2))
            path.chmod(0o700)
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    with tarfile.open(tmp_path / "one.tar") as archive:
        names = archive.getnames()
        assert names == sorted(names)
        assert {(item.mode, item.mtime, item.uid) for item in archive if item.isreg()} == {(0o644, 0, 0)}
        content = {item.name: archive.extractfile(item) for item in archive if item.isreg()}
        assert {name: stream.read() for name, stream in content.items() if stream} == files(tmp_path / "new")
    with pytest.raises(FileExistsError):
        write_archive(tmp_path / "new", tmp_path / "one.tar")


# -- in: a directory


def read(layout: LayoutDirectory | LayoutArchive, name: str) -> bytes:
    with layout.open(name) as stream:
        return stream.read()


def refusal(layout: LayoutDirectory | LayoutArchive, name: str) -> str:
    with pytest.raises(LayoutError) as caught:
        read(layout, name)
    return str(caught.value)


NAME = blob(Path(), LAYER).as_posix()


def test_a_directory_gives_the_bytes_of_its_files(tmp_path: Path) -> None:
    layout = LayoutDirectory(make_layout(tmp_path / "l", LAYER))
    assert read(layout, NAME) == LAYER
    assert refusal(layout, "blobs/sha256/" + "0" * 64) == "it is absent"
    assert "not a regular file" in refusal(layout, "blobs")


@posix
@pytest.mark.parametrize("name", [NAME, "index.json", "oci-layout"])
@pytest.mark.parametrize("kind", ["symlink", "dangling", "fifo", "directory"])
def test_a_file_of_a_layout_is_regular(kind: str, name: str, tmp_path: Path) -> None:
    """4.2: every descriptor matches a regular blob. A FIFO is not waited for."""
    root = make_layout(tmp_path / "l", LAYER)
    path = (root / name).rename(tmp_path / "moved")
    if kind == "symlink":
        (root / name).symlink_to(path)
    elif kind == "dangling":
        (root / name).symlink_to("nowhere")
    elif kind == "fifo":
        os.mkfifo(root / name)
    else:
        (root / name).mkdir()
    message = refusal(LayoutDirectory(root), name)
    assert ("symlink" if kind in {"symlink", "dangling"} else "not a regular file") in message


@posix
@pytest.mark.parametrize("folder", ["blobs", "blobs/sha256"])
def test_no_folder_of_a_layout_is_a_link(folder: str, tmp_path: Path) -> None:
    root = make_layout(tmp_path / "l", LAYER)
    (root / folder).symlink_to((root / folder).rename(tmp_path / "elsewhere"))
    assert "is a symlink" in refusal(LayoutDirectory(root), NAME)


@pytest.mark.parametrize("kind", ["directory", "archive"])
def test_an_error_while_a_file_is_open_is_the_users_own(kind: str, tmp_path: Path) -> None:
    """A full disk is not mistaken for a fault of the layout."""
    root = make_layout(tmp_path / "l", LAYER)
    write_archive(root, tmp_path / "l.tar")
    layout = LayoutDirectory(root) if kind == "directory" else LayoutArchive(tmp_path / "l.tar")
    with pytest.raises(OSError, match="No space left"), layout.open(NAME):
        raise OSError(28, "No space left on device")


# -- in: an archive


def opened(folder: Path, data: bytes) -> LayoutArchive:
    (folder / "x.tar").write_bytes(data)
    return LayoutArchive(folder / "x.tar")


@pytest.mark.parametrize("form", ["ustar", "gnu", "pax"])
@pytest.mark.parametrize("members", [["."], ["oci-layout", "index.json", "blobs"]])
def test_an_archive_of_the_usual_tar_is_read(
    form: str, members: list[str], require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    """Padded to records of 10,240 bytes, with times and owners, with or without `./`."""
    root = make_layout(tmp_path / "l", LAYER)
    target = tmp_path / "x.tar"
    subprocess.run([require_tool("tar"), "-cf", target, f"--format={form}", "-C", root, *members], check=True)
    assert target.stat().st_size % 10_240 == 0
    layout = LayoutArchive(target)
    assert {name: read(layout, name) for name in files(root)} == files(root)
    assert refusal(layout, "blobs") == refusal(layout, "nothing") == "it is absent, or not a regular file"


def test_an_archive_of_pythons_tarfile_is_read(tmp_path: Path) -> None:
    root = make_layout(tmp_path / "l", LAYER)
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.add(root, ".")
    layout = LayoutArchive(tmp_path / "x.tar")
    assert {name: read(layout, name) for name in files(root)} == files(root)


def test_a_file_is_read_in_pieces_and_not_beyond_its_end(tmp_path: Path) -> None:
    layout = opened(tmp_path, file(b"a", b"0123456789") + file(b"b", b"xyz") + END)
    with layout.open("a") as stream:
        assert [stream.read(4) for _ in range(4)] == [b"0123", b"4567", b"89", b""]
    assert read(layout, "b") == b"xyz"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (file(b"index.json", b"1") + file(b"index.json", b"2") + END, "it holds `index.json` twice"),
        (file(b"index.json", b"1") + file(b"./index.json", b"2") + END, "it holds `index.json` twice"),
        (file(b"a") + pax(record(b"path", b"a")) + file(b"b") + END, "it holds `a` twice"),
        (file(b"a") + block(b"dev", b"3") + END, "a character device"),
        (file(b"a"), "not ended by two zero blocks"),
        (b"", "not ended by two zero blocks"),
        (b"\x1f\x8b" + bytes(1_022), "wrong checksum"),
        (file(b"a") + END + b"x", "bytes follow"),
    ],
)
def test_an_archive_that_readers_disagree_about_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(LayoutError, match=message):
        opened(tmp_path, data)


@pytest.mark.parametrize("typeflag", [b"1", b"2"])
def test_a_link_in_an_archive_is_no_file(typeflag: bytes, tmp_path: Path) -> None:
    layout = opened(tmp_path, file(b"a", b"1") + block(b"b", typeflag, link=b"a") + END)
    assert "not a regular file" in refusal(layout, "b")


def test_what_cannot_be_opened_is_a_layout_error(tmp_path: Path) -> None:
    with pytest.raises(LayoutError, match="No such file"):
        LayoutArchive(tmp_path / "absent")


def test_a_section_is_a_binary_stream(tmp_path: Path) -> None:
    layout = opened(tmp_path, file(b"a", b"0123456789") + END)
    with layout.open("a") as stream:
        assert isinstance(stream, io.BufferedReader)
        assert stream.readable()
