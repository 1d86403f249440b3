"""AS-OCI-001: layout, index, manifest, descriptors, config and the one content layer (specification 4)."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from hatch_agentsuite.archive.layer import Blob
from hatch_agentsuite.layout import LayoutDirectory, write_archive, write_layout
from hatch_agentsuite.limits import Limits
from hatch_agentsuite.validation import validate
from tests.validation.carriers import MANIFEST, TarEntry, archived, blob_of, described, gzipped, tar
from tests.validation.contents import CLOCK, EVIDENCE, SBOM
from tests.validation.suites import DROP, SuiteBuilder, steps
from tests.validation.tables import faults

REQUIREMENT = "AS-OCI-001"
INDEX = "index.json"


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return SuiteBuilder().layout(tmp_path_factory.mktemp("valid") / "layout")


def edited(where: str, value: Any) -> Callable[[Any], None]:
    """Return a change of one place of an OCI document."""

    def change(document: Any) -> None:
        *way, last = steps(where)
        for step in way:
            document = document[step]
        if value is DROP:
            del document[last]
        else:
            document[last] = value

    return change


def _location(part: str, root: Path) -> str:
    return INDEX if part == "index" else "oci-layout" if part == "marker" else blob_of(root, "manifest").relative_to(
        root
    ).as_posix()  # fmt: skip


HEX = "5" * 64
# part, place, value, place of the finding
DOCUMENTS: list[tuple[str, str, Any, str]] = [
    ("marker", "imageLayoutVersion", "1.1.0", "/imageLayoutVersion"),
    ("marker", "imageLayoutVersion", "1.0.0\n", "/imageLayoutVersion"),
    ("marker", "imageLayoutVersion", DROP, ""),
    ("index", "schemaVersion", 1, "/schemaVersion"),
    ("index", "schemaVersion", 2.0, "/schemaVersion"),
    ("index", "mediaType", MANIFEST, "/mediaType"),
    ("index", "manifests", [], "/manifests"),
    ("index", "manifests/0/mediaType", "application/vnd.oci.image.index.v1+json", "/manifests/0/mediaType"),
    ("index", "manifests/0/artifactType", "application/vnd.example", "/manifests/0/artifactType"),
    ("index", "manifests/0/urls", [], "/manifests/0/urls"),
    ("index", "manifests/0/urls", ["https://example.org/x"], "/manifests/0/urls"),
    ("index", "manifests/0/urls", None, "/manifests/0/urls"),
    ("index", "manifests/0/data", None, "/manifests/0/data"),
    ("index", "manifests/0/data", "e30=", "/manifests/0/data"),
    ("index", "manifests/0/data", "not base64!", "/manifests/0/data"),
    ("index", "manifests/0/data", "e30", "/manifests/0/data"),
    ("index", "manifests/0/size", 1, "/manifests/0"),
    ("index", "manifests/0/size", 2**40, "/manifests"),
    ("index", "manifests/0/size", -1, "/manifests/0/size"),
    ("index", "manifests/0/digest", f"sha512:{HEX}{HEX}", "/manifests/0/digest"),
    ("index", "manifests/0/digest", f"sha256:{HEX.replace('5', 'A')}", "/manifests/0/digest"),
    ("index", "manifests/0/digest", f"sha256:{HEX}", "/manifests/0"),
    ("index", "manifests/0/platform", {"os": "linux"}, "/manifests/0/platform"),
    ("index", "annotations", {"a": 1}, "/annotations/a"),
    ("index", "subject", {}, "/subject"),
    ("manifest", "schemaVersion", 1, "/schemaVersion"),
    ("manifest", "mediaType", "application/vnd.oci.image.index.v1+json", "/mediaType"),
    ("manifest", "artifactType", DROP, ""),
    ("manifest", "artifactType", "application/vnd.agentsuite.suite.v2", "/artifactType"),
    ("manifest", "config", DROP, ""),
    ("manifest", "config/mediaType", "application/json", "/config/mediaType"),
    ("manifest", "config/urls", [], "/config/urls"),
    ("manifest", "config/data", "e30K", "/config/data"),
    ("manifest", "config/size", 3, "/config"),
    ("manifest", "layers", [], "/layers"),
    ("manifest", "layers/0/mediaType", "application/vnd.oci.image.layer.v1.tar+gzip", "/layers/0/mediaType"),
    ("manifest", "layers/0/urls", ["https://example.org/x"], "/layers/0/urls"),
    ("manifest", "layers/0/size", 7, "/layers/0"),
    ("manifest", "layers/0/digest", f"sha256:{HEX}", "/layers/0"),
    ("manifest", "layers/0/data", "e30=", "/layers/0/data"),
    ("manifest", "subject", described(MANIFEST, b"{}"), "/subject"),
    ("manifest", "subject", None, "/subject"),
]


@pytest.mark.parametrize(("part", "where", "value", "place"), DOCUMENTS, ids=lambda value: ascii(value)[:30])
def test_one_fault_of_the_envelope_is_one_finding(
    part: str, where: str, value: Any, place: str, engine: str, tmp_path: Path
) -> None:
    """4.1 to 4.3, in a directory and in a tar."""
    root = SuiteBuilder().layout(tmp_path / "layout", **{part: edited(where, value)})
    expected = [(REQUIREMENT, "oci", f"{_location(part, root)}#{place}")]
    assert faults(validate(root)) == expected
    assert faults(validate(archived(root, tmp_path / "archive.tar"))) == expected


def test_a_second_layer(tmp_path: Path) -> None:
    """4.2: exactly one content layer."""

    def twice(manifest: Any) -> None:
        manifest["layers"] *= 2

    root = SuiteBuilder().layout(tmp_path / "layout", manifest=twice)
    assert faults(validate(root)) == [(REQUIREMENT, "oci", f"{_location('manifest', root)}#/layers")]


def test_a_second_descriptor_is_refused_with_a_hint(tmp_path: Path) -> None:
    """4.2: exactly one descriptor, as `skopeo copy` into an old layout and `umoci tag` do not leave it."""

    def twice(index: Any) -> None:
        index["manifests"] *= 2

    report = validate(SuiteBuilder().layout(tmp_path / "layout", index=twice))
    assert faults(report) == [(REQUIREMENT, "oci", f"{INDEX}#/manifests")]
    assert "skopeo" in report.findings[0].hint
    assert "umoci" in report.findings[0].hint


ACCEPTED: list[tuple[str, str, Any]] = [
    ("index", "mediaType", DROP),
    ("index", "manifests/0/artifactType", DROP),
    ("index", "annotations", {"a": "b"}),
    ("index", "manifests/0/annotations", {"org.opencontainers.image.ref.name": "1.0"}),
    ("index", "manifests/0/platform", {"os": "linux", "architecture": "amd64", "os.version": "1", "variant": "v8"}),
    ("manifest", "mediaType", DROP),
    ("manifest", "annotations", {"org.opencontainers.image.title": "newsroom"}),
    ("manifest", "config/data", "e30="),
]


@pytest.mark.parametrize(("part", "where", "value"), ACCEPTED)
def test_what_oci_leaves_open_is_accepted(part: str, where: str, value: Any, engine: str, tmp_path: Path) -> None:
    report = validate(SuiteBuilder().layout(tmp_path / "layout", **{part: edited(where, value)}))
    assert report.findings == ()


def test_an_index_as_skopeo_writes_it(tmp_path: Path) -> None:
    """Neither media type nor artifact type."""

    def bare(index: Any) -> None:
        del index["mediaType"], index["manifests"][0]["artifactType"]

    assert validate(SuiteBuilder().layout(tmp_path / "layout", index=bare)).findings == ()


def test_inline_data_equal_to_the_blob(tmp_path: Path) -> None:
    """4.2: data decodes to the exact bytes of the blob, which is there all the same."""
    suite = SuiteBuilder().seal()
    layer = suite.layer()

    def inline(manifest: Any) -> None:
        manifest["layers"][0]["data"] = base64.b64encode(layer).decode()

    root = suite.layout(tmp_path / "layout", layer=layer, manifest=inline)
    assert validate(root).findings == ()
    blob_of(root, "layer").unlink()
    assert faults(validate(root)) == [(REQUIREMENT, "oci", f"{_location('manifest', root)}#/layers/0")]


@pytest.mark.parametrize(
    ("part", "member"), [("marker", "x"), ("index", "vendor"), ("index", "urls"), ("manifest", "x"), ("marker", "urls")]
)
def test_an_unknown_member_is_a_warning(part: str, member: str, tmp_path: Path) -> None:
    """The OCI specification forbids an error; the reference implementation refuses them all the same."""
    root = SuiteBuilder().layout(tmp_path / "layout", **{part: edited(member, [1])})
    report = validate(root)
    assert report.ok
    assert [(found.severity, found.location) for found in report.findings] == [
        ("warning", f"{_location(part, root)}#/{member}")
    ]


@pytest.mark.parametrize("config", [b"null", b"{ }", b"{}\n", b""])
def test_a_config_of_other_bytes(config: bytes, tmp_path: Path) -> None:
    """4.3: exactly these two bytes."""
    root = SuiteBuilder().layout(tmp_path / "layout", config=config)
    assert faults(validate(root)) == [(REQUIREMENT, "oci", f"{_location('manifest', root)}#/config")]


@pytest.mark.parametrize("name", ["oci-layout", INDEX])
@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"\xef\xbb\xbf{}", b'{"imageLayoutVersion":"1.0.0","imageLayoutVersion":"1.0.0"}', b"[" * 101],
)
def test_documents_of_the_envelope_are_strict_json(name: str, data: bytes, valid: Path, tmp_path: Path) -> None:
    """4.2 with 5.3: duplicate names, byte-order marks and depth are refused here as well."""
    root = Path(shutil.copytree(valid, tmp_path / "layout"))
    (root / name).write_bytes(data)
    report = validate(root)
    assert {(requirement, category) for requirement, category, _ in faults(report)} == {(REQUIREMENT, "oci")}
    assert all(found.location.startswith(name) for found in report.findings)


# --- blobs ---


@pytest.mark.parametrize("part", ["manifest", "config", "layer"])
@pytest.mark.parametrize("position", [0, -1])
def test_a_flipped_bit(part: str, position: int, valid: Path, tmp_path: Path) -> None:
    """4.2: every digest matches the referenced blob."""
    root = Path(shutil.copytree(valid, tmp_path / "layout"))
    path = blob_of(root, part)
    place = f"{INDEX}#/manifests/0" if part == "manifest" else f"{_location('manifest', root)}#/" + (
        "config" if part == "config" else "layers/0"
    )  # fmt: skip
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    assert faults(validate(root)) == [(REQUIREMENT, "oci", place)]
    assert faults(validate(archived(root, tmp_path / "archive.tar"))) == [(REQUIREMENT, "oci", place)]


@pytest.mark.parametrize("part", ["manifest", "config", "layer"])
@pytest.mark.parametrize("how", ["link", "absent", "folder", "longer", "shorter"])
def test_a_blob_that_is_none(part: str, how: str, valid: Path, tmp_path: Path) -> None:
    """4.2: a regular blob of its exact size is present; a link to one is none."""
    root = Path(shutil.copytree(valid, tmp_path / "layout"))
    path = blob_of(root, part)
    data = path.read_bytes()
    path.unlink()
    if how == "link":
        (tmp_path / "elsewhere").write_bytes(data)
        path.symlink_to(tmp_path / "elsewhere")
    elif how == "folder":
        path.mkdir()
    elif how != "absent":
        path.write_bytes(data + b"x" if how == "longer" else data[:-1])
    found = faults(validate(root))
    assert [(requirement, category) for requirement, category, _ in found] == [(REQUIREMENT, "oci")]


def test_a_linked_blob_folder(valid: Path, tmp_path: Path) -> None:
    """No link is followed, not even one to a folder."""
    root = Path(shutil.copytree(valid, tmp_path / "layout"))
    (root / "blobs" / "sha256").rename(tmp_path / "sha256")
    (root / "blobs" / "sha256").symlink_to(tmp_path / "sha256")
    assert faults(validate(root)) == [(REQUIREMENT, "oci", f"{INDEX}#/manifests/0")]


@pytest.mark.parametrize("name", ["oci-layout", INDEX])
def test_a_document_that_is_absent_or_a_link(name: str, valid: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(valid, tmp_path / "layout"))
    (root / name).rename(tmp_path / name)
    assert faults(validate(root)) == [(REQUIREMENT, "oci", name)]
    (root / name).symlink_to(tmp_path / name)
    assert faults(validate(root)) == [(REQUIREMENT, "oci", name)]


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("how", ["absent", "changed", "link"])
def test_evidence_blobs(number: int, how: str, valid: Path, tmp_path: Path) -> None:
    """4.2: a layout is self-contained; the hint says how such blobs get lost. A directory carries none of them."""
    root = Path(shutil.copytree(valid, tmp_path / "layout"))
    descriptor = described("", EVIDENCE[number])
    path = root / "blobs" / "sha256" / descriptor["digest"].removeprefix("sha256:")
    if how == "changed":
        path.write_bytes(path.read_bytes()[::-1])
    else:
        path.rename(tmp_path / "elsewhere")
    if how == "link":
        path.symlink_to(tmp_path / "elsewhere")
    report = validate(root)
    member = "sbom" if EVIDENCE[number] == SBOM else "provenance"
    assert faults(report) == [(REQUIREMENT, "oci", f"{CLOCK}#/variants/0/{member}")]
    assert "skopeo copy" in report.findings[0].hint


def test_a_directory_is_not_asked_for_evidence(tmp_path: Path) -> None:
    suite = SuiteBuilder()
    suite.edit(CLOCK, "variants/0/sbom/digest", f"sha256:{HEX}")
    assert validate(suite.directory(tmp_path / "suite")).findings == ()


# --- files that change meanwhile ---


def _after_opening(monkeypatch: pytest.MonkeyPatch, name: str, count: int, act: Callable[[], object]) -> None:
    """Do something between the ``count``-th opening of a file of a layout and the next one."""
    original = LayoutDirectory.open
    seen = []

    @contextmanager
    def opened(self: LayoutDirectory, asked: str) -> Any:
        with original(self, asked) as stream:
            yield stream
        if asked.endswith(name):
            seen.append(asked)
            if len(seen) == count:
                act()

    monkeypatch.setattr(LayoutDirectory, "open", opened)


@pytest.mark.parametrize("how", ["other content", "absent"])
@pytest.mark.parametrize("part", ["manifest", "layer"])
def test_a_blob_that_changes_after_it_was_verified(
    part: str, how: str, valid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """14, 17: verified bytes are the ones that are interpreted; the verdict is a refusal and never an exception."""
    root = Path(shutil.copytree(valid, tmp_path / "layout"))
    path = blob_of(root, part)
    other = SuiteBuilder()
    other.edit("agentsuite.json", "name", "another")
    replacement = blob_of(other.layout(tmp_path / "other"), part).read_bytes()
    change = path.unlink if how == "absent" else lambda: path.write_bytes(replacement)
    _after_opening(monkeypatch, path.name, 1, change)
    report = validate(root)
    assert [(requirement, category) for requirement, category, _ in faults(report)] == [(REQUIREMENT, "oci")]
    assert report.summary is None


# --- the two writers and the limits ---


def test_a_layout_by_this_projects_writers(valid: Path, tmp_path: Path) -> None:
    """4.2: what is packed is what is accepted, as a directory and as a tar."""
    layer = blob_of(valid, "layer").read_bytes()

    def write(stream: BinaryIO) -> Blob:
        stream.write(layer)
        return Blob(described("", layer)["digest"], len(layer))

    blobs = {}
    for number, data in enumerate(EVIDENCE):
        (tmp_path / str(number)).write_bytes(data)
        blobs[described("", data)["digest"]] = tmp_path / str(number)
    digest = write_layout(tmp_path / "layout", write, blobs=blobs)
    write_archive(tmp_path / "layout", tmp_path / "suite.tar")
    for path in (tmp_path / "layout", tmp_path / "suite.tar"):
        report = validate(path)
        assert report.findings == ()
        assert report.digest == digest


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([TarEntry(INDEX, data=b"{}")], "twice"),
        ([TarEntry("./" + INDEX, data=b"{}")], "twice"),
        ([TarEntry(INDEX, b"2", target="oci-layout")], "twice"),
        ([TarEntry("x" * 10, b"6")], "FIFO"),
    ],
)
def test_an_archive_that_readers_see_differently(
    entries: list[TarEntry], message: str, valid: Path, tmp_path: Path
) -> None:
    names = sorted(item.relative_to(valid).as_posix() for item in valid.rglob("*") if item.is_file())
    files = [TarEntry(name, data=(valid / name).read_bytes()) for name in names]
    path = tmp_path / "archive.tar"
    path.write_bytes(tar([*files, *entries]))
    report = validate(path)
    assert faults(report) == [(REQUIREMENT, "oci", "")]
    assert message in report.findings[0].message


def test_a_path_that_is_no_suite(tmp_path: Path) -> None:
    """An empty folder, a file of something else, nothing at all."""
    (tmp_path / "file").write_bytes(b"no tar")
    (tmp_path / "folder").mkdir()
    for name in ("file", "folder", "nothing"):
        assert faults(validate(tmp_path / name)) == [(REQUIREMENT, "oci", "")]


def test_an_index_that_promises_more_than_the_limit(valid: Path) -> None:
    """5.2: at most 1 GiB in aggregate; the bound itself is fine."""
    size = json.loads((valid / INDEX).read_bytes())["manifests"][0]["size"]
    assert validate(valid, Limits(index_bytes=size)).ok
    assert faults(validate(valid, Limits(index_bytes=size - 1))) == [(REQUIREMENT, "oci", f"{INDEX}#/manifests")]


def test_a_layer_that_is_no_gzip_says_nothing_of_the_suite(tmp_path: Path) -> None:
    """AS-PATH-001 owns what the archive says; no document is reported as absent."""
    for number, layer in enumerate((b"no gzip", gzipped(b"no tar" * 200), gzipped(b""))):
        report = validate(SuiteBuilder().layout(tmp_path / str(number), layer=layer))
        assert [requirement for requirement, _, _ in faults(report)] == ["AS-PATH-001"]
