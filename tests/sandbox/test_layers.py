"""Layers of images: what tar may look like, what whiteouts remove, where readers disagree (OCI image layer rules)."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatch_agentsuite.jsondoc import digest_bytes
from hatch_agentsuite.sandbox import filesystem, layers
from hatch_agentsuite.sandbox.filesystem import Filesystem, PathError
from hatch_agentsuite.sandbox.inflating import LAYER, LAYER_GZIP, LAYER_ZSTD, LayerDataError, zstd_module
from hatch_agentsuite.sandbox.inventory import entries
from hatch_agentsuite.sandbox.layers import read_layer
from hatch_agentsuite.sandbox.nodes import BASE, Layer
from tests.sandbox.elves import elf
from tests.sandbox.kit import File, device, folder, hardlink, link, program, tar


def opener(data: bytes) -> Callable[[], AbstractContextManager[BinaryIO]]:
    return lambda: closing(io.BytesIO(data))


def layer(*files: File, form: int = tarfile.PAX_FORMAT) -> Layer:
    return read(tar(files, form))


def read(data: bytes, media_type: str = LAYER, blob: bytes | None = None) -> Layer:
    blob = data if blob is None else blob
    descriptor = {"mediaType": media_type, "digest": digest_bytes(blob), "size": len(blob)}
    return read_layer(opener(blob), descriptor, digest_bytes(data))


def flat(*stack: list[File]) -> Filesystem:
    found = Filesystem()
    for files in stack:
        found.apply(layer(*files), BASE)
    return found


def paths(filesystem: Filesystem) -> list[str]:
    return [path for path, node in filesystem if node.kind != "directory"]


# --- tar ---

LONG = "a" * 90 + "/" + "b" * 90 + "/" + "c" * 150
FORMS = {"pax": tarfile.PAX_FORMAT, "gnu": tarfile.GNU_FORMAT, "ustar": tarfile.USTAR_FORMAT}


@pytest.mark.parametrize("form", ["pax", "gnu"])
def test_long_names_and_targets(form: str) -> None:
    """GNU long names and PAX records; ustar has neither."""
    found = Filesystem()
    found.apply(layer(File(LONG, b"x"), link("l", LONG), hardlink("h", LONG), form=FORMS[form]), BASE)
    assert not found.faults
    assert found.nodes[f"/{LONG}"].size == 1
    assert found.nodes["/l"].target == LONG
    assert found.nodes["/h"].inode == found.nodes[f"/{LONG}"].inode


@pytest.mark.parametrize("form", FORMS)
def test_members_of_a_header(form: str) -> None:
    files = [File("été", b"x", 0o2755, 12, 34), device("null"), File("pipe", kind=tarfile.FIFOTYPE)]
    first, second, third = layer(*files, form=FORMS[form]).changes
    assert first.node
    assert (first.path, first.node.mode, first.node.uid, first.node.gid) == ("/été", 0o2755, 12, 34)
    assert second.node
    assert (second.node.kind, second.node.device) == ("character-device", (1, 3))
    assert third.node
    assert third.node.kind == "fifo"


def test_owners_in_base_256() -> None:
    """GNU tar writes what does not fit octal digits as bytes."""
    [change] = layer(File("x", uid=2**31, gid=2**40), form=tarfile.GNU_FORMAT).changes
    assert change.node
    assert (change.node.uid, change.node.gid) == (2**31, 2**40)


@pytest.mark.parametrize("name", ["./x", "/x", "x", ".//x", "././x"])
def test_names_of_one_path(name: str) -> None:
    info = tarfile.TarInfo(name)
    assert read(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)).changes[0].path == "/x"


def test_padding_and_a_missing_end_are_read() -> None:
    """Python pads to 10 KiB, GNU tar can be cut after the last entry."""
    block = tarfile.TarInfo("x").tobuf()
    for end in (b"", bytes(512), bytes(1024), bytes(10240)):
        assert len(read(block + end).changes) == 1


def changed(offset: int, value: bytes) -> bytes:
    """Return one entry with other header bytes and a right checksum."""
    block = bytearray(tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT))
    block[offset : offset + len(value)] = value
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + bytes(1024)


def pax(text: str) -> bytes:
    record = f" {text}\n"
    size = len(record) + 2
    data = f"{size}{record}".encode()
    head = tarfile.TarInfo("h")
    head.type, head.size = b"x", len(data)
    return head.tobuf() + data.ljust(512, b"\0") + tarfile.TarInfo("x").tobuf() + bytes(1024)


def sized(kind: bytes) -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size, info.linkname = kind, 512, "y"
    return info.tobuf() + bytes(512 + 1024)


def globally(text: bytes) -> bytes:
    info = tarfile.TarInfo("g")
    info.type, info.size = b"g", len(text)
    return info.tobuf() + text.ljust(512, b"\0") + tarfile.TarInfo("x").tobuf() + bytes(1024)


def huge_header() -> bytes:
    info = tarfile.TarInfo("h")
    info.type, info.size = b"x", 1 << 30
    return info.tobuf() + bytes(1024)


HOSTILE = {
    "checksum": (tarfile.TarInfo("x").tobuf()[:10] + b"y" + tarfile.TarInfo("x").tobuf()[11:], "checksum"),
    "cut header": (tarfile.TarInfo("x").tobuf()[:100], "middle of a header"),
    "cut file": (tar([File("x", b"y" * 2000)])[:1200], "middle of an entry"),
    "data after the end": (bytes(1024) + b"x" * 512, "follow the end"),
    "damage in the middle": (tar([File("x")])[:512] + b"\1" * 512 + bytes(1024), "not a number"),
    "number": (changed(124, b"9" * 11), "not a number"),
    "negative": (changed(108, b"\xff" * 8), "negative"),
    "type": (changed(156, b"S"), "unknown or sparse type"),
    "parent": (tar([File("a/../../x")]), "`..`"),
    "not UTF-8": (changed(0, b"\xff\xfe"), "not valid UTF-8"),
    "hard link with data": (sized(b"1"), "of data"),
    "folder with data": (sized(b"5"), "of data"),
    "sparse": (pax("GNU.sparse.major=1"), "sparse"),
    "pax size": (pax("size=-5"), "not a number"),
    "pax path with a NUL": (pax("path=a\0b"), "NUL"),
    "global header": (globally(b"15 mode=0777xx\n"), "global"),
    "huge header": (huge_header(), "at most"),
    "empty link": (tar([File("x", kind=tarfile.SYMTYPE)]), "empty or too long"),
    "unknown marker": (tar([File(".wh..wh.plnk")]), "whiteouts"),
    "whiteout of nothing": (tar([File(".wh.")]), "whiteouts"),
    "header without an entry": (globally(b"")[:0] + pax("path=y")[:1024], "followed by none"),
}


@pytest.mark.parametrize(("data", "text"), HOSTILE.values(), ids=HOSTILE)
def test_archives_that_are_refused(data: bytes, text: str) -> None:
    """5.2: what readers of tar disagree about, and damage, is refused by name."""
    with pytest.raises(LayerDataError) as caught:
        read(data)
    assert text in str(caught.value)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=2048), st.integers(0, 4000))
def test_no_bytes_end_in_another_error(noise: bytes, at: int) -> None:
    data = bytearray(tar([File(LONG, b"x" * 600), link("l", "x"), folder("d")]))
    data[at : at + len(noise)] = noise
    with suppress(LayerDataError):
        read(bytes(data))


# --- compression and verification ---


@pytest.mark.parametrize("media_type", [LAYER_GZIP, LAYER_ZSTD])
def test_compressed_in_several_parts(media_type: str) -> None:
    """Members and frames one after the other are one stream."""
    data = tar([File("x", b"y" * 3_000_000)])
    compress = zstd_module().compress if media_type == LAYER_ZSTD else gzip.compress
    blob = compress(data[:1000]) + compress(data[1000:])
    [change] = read(data, media_type, blob).changes
    assert change.node
    assert change.node.digest == digest_bytes(b"y" * 3_000_000)


@pytest.mark.parametrize("media_type", [LAYER_GZIP, LAYER_ZSTD])
@pytest.mark.parametrize(
    "damage", [lambda b: b[:-6], lambda b: b + b"junk", lambda b: b"", lambda b: b[:20] + b"\0" * 40]
)
def test_damaged_compression(media_type: str, damage: Callable[[bytes], bytes]) -> None:
    data = tar([File("x", b"y" * 5000)])
    blob = damage((zstd_module().compress if media_type == LAYER_ZSTD else gzip.compress)(data))
    with pytest.raises(LayerDataError):
        read(data, media_type, blob)


def test_nothing_is_interpreted_before_it_is_verified() -> None:
    """14: size and digest first, then the bytes, then the diff id."""
    data = tar([File("x")])
    descriptor = {"mediaType": LAYER, "digest": digest_bytes(data), "size": len(data)}
    for wrong, text in (
        ({"size": len(data) - 1}, "bytes that its descriptor says"),
        ({"size": len(data) + 1}, "bytes that its descriptor says"),
        ({"digest": digest_bytes(b"")}, "the bytes of the blob have the digest"),
    ):
        with pytest.raises(LayerDataError, match=text):
            read_layer(opener(b"\1" * len(data) if "digest" in wrong else data), {**descriptor, **wrong}, "")
    with pytest.raises(LayerDataError, match="the config says sha256:0"):
        read_layer(opener(data), descriptor, "sha256:0")


def test_blob_that_changes_while_it_is_read() -> None:
    first, second = tar([File("x")]), tar([File("y")])
    given_ = iter([first, second])
    descriptor = {"mediaType": LAYER, "digest": digest_bytes(first), "size": len(first)}
    with pytest.raises(LayerDataError, match="changed while it was read"):
        read_layer(lambda: closing(io.BytesIO(next(given_))), descriptor, digest_bytes(second))


def test_entries_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """5.2: what costs memory is counted before it is held; files are streamed, and their bytes counted, too."""
    monkeypatch.setattr(layers, "MAX_NAMES", 3 * 1030)
    assert len(layer(*[File(str(number)) for number in range(3)]).changes) == 3
    with pytest.raises(LayerDataError, match="more than 3 entries"):
        layer(*[File(str(number)) for number in range(4)])
    with pytest.raises(LayerDataError, match="more than 3 entries"):
        layer(File("x" * 4000))
    monkeypatch.setattr(layers, "MAX_EXPANDED", 5)
    assert len(layer(File("a", b"xxx"), File("b", b"xx")).changes) == 2
    with pytest.raises(LayerDataError, match="more than 5 bytes"):
        layer(File("a", b"xxx"), File("b", b"xxx"))


def test_folders_that_are_implied_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystem, "MAX_NAMES", 1000)
    assert flat([File("a/" * 20 + "x")]).faults == []
    assert len(flat([File("a/" * 50 + "x")]).faults) == 1


def test_facts_of_programs_and_text_of_configuration_are_kept() -> None:
    files = [
        program("bin/p", elf(needed=["libc.so.6"])),
        program("bin/s", b"#!/bin/sh\n"),
        File("etc/ld.so.conf", b"/l\n"),
    ]
    one, two, three = layer(*files, program("bin/x", b"\x7fELFbroken")).changes[:3]
    assert one.node
    assert one.node.facts.needed == ("libc.so.6",)  # type: ignore[union-attr]
    assert two.node
    assert two.node.facts.interpreter == "/bin/sh"  # type: ignore[union-attr]
    assert three.node
    assert three.node.text == b"/l\n"


# --- one upon the other ---


STACKS: dict[str, tuple[list[list[File]], list[str]]] = {
    "added": ([[File("a")], [File("b")]], ["/a", "/b"]),
    "replaced": ([[File("a", b"1")], [File("a", b"2")]], ["/a"]),
    "whiteout": ([[File("d/a"), File("d/b")], [File("d/.wh.a")]], ["/d/b"]),
    "whiteout of a folder": ([[File("d/a"), File("d/b")], [File(".wh.d")]], []),
    "whiteout of nothing": ([[File("a")], [File(".wh.b")]], ["/a"]),
    "whiteout leaves its own layer": ([[File("d/a", b"1")], [File("d/a", b"2"), File("d/.wh.a")]], ["/d/a"]),
    "opaque": ([[File("d/a"), File("d/b/c")], [File("d/.wh..wh..opq"), File("d/e")]], ["/d/e"]),
    "opaque after its entries": ([[File("d/a")], [File("d/e"), File("d/.wh..wh..opq")]], ["/d/e"]),
    "folder over file": ([[File("d")], [folder("d"), File("d/a")]], ["/d/a"]),
    "file over folder": ([[File("d/a")], [File("d")]], ["/d"]),
    "folder over folder keeps what is in it": ([[File("d/a")], [folder("d", 0o700)]], ["/d/a"]),
    "hard link outlives its first name": ([[File("a"), hardlink("b", "a")], [File(".wh.a")]], ["/b"]),
    "hard link across layers": ([[File("a")], [hardlink("b", "a")]], ["/a", "/b"]),
    "hard link to a symlink": ([[link("a", "x"), hardlink("b", "a")]], ["/a", "/b"]),
    "twice in one layer": ([[File("a", b"1"), File("a", b"2")]], ["/a"]),
}


@pytest.mark.parametrize(("stack", "expected"), STACKS.values(), ids=STACKS)
def test_layers_are_applied(stack: list[list[File]], expected: list[str]) -> None:
    found = flat(*stack)
    assert (paths(found), found.faults) == (expected, [])


def test_last_entry_counts() -> None:
    assert flat([File("a", b"1")], [File("a", b"22")]).nodes["/a"].size == 2


def test_folders_that_nothing_names_are_roots() -> None:
    node = flat([File("a/b/c")]).nodes["/a/b"]
    assert (node.kind, node.mode, node.uid, node.gid) == ("directory", 0o755, 0, 0)


@pytest.mark.parametrize(
    "files",
    [
        [link("bin", "usr/bin"), File("bin/x")],
        [File("a"), File("a/b")],
        [hardlink("a", "b")],
        [folder("d"), hardlink("a", "d")],
        [link("bin", "usr"), File("usr/x"), hardlink("a", "bin/x")],
        [File(".")],
    ],
)
def test_entries_that_engines_treat_differently(files: list[File]) -> None:
    assert len(flat(files).faults) == 1


def test_hard_links_are_one_file_in_the_inventory() -> None:
    """6.2: the first name is a file, the others name it."""
    found = {item["path"]: item for item in entries(flat([File("z", b"x"), hardlink("b", "z"), hardlink("m", "b")]))}
    assert found["/b"]["type"] == "file"
    assert [(found[name]["type"], found[name]["linkTarget"]) for name in ("/m", "/z")] == [("hardlink", "/b")] * 2


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/opt/x/y", "/usr/opt/x/y"),
        ("/abs/y", "/usr/opt/y"),
        ("/new/folder/y", "/new/folder/y"),
        ("/up/y", "/y"),
        ("/opt", "/opt"),
        ("/opt/in/y", "/usr/opt/in/y"),
    ],
)
def test_place_of_an_entry(path: str, place: str) -> None:
    """Links above are resolved inside the root, the last name is left as it is."""
    files = [folder("usr/opt"), link("opt", "usr/opt"), link("abs", "/opt"), link("up", "../../..")]
    assert flat(files).place(path) == place


@pytest.mark.parametrize("path", ["/loop/y", "/dangling/y", "/file/y", "/tofile/y"])
def test_place_that_is_none(path: str) -> None:
    files = [link("loop", "loop"), link("dangling", "/no"), File("file"), link("tofile", "file")]
    with pytest.raises(PathError):
        flat(files).place(path)


# --- a model of what layers do ---

NAMES = st.sampled_from(["a", "b", "a/a", "a/b", "b/a", "a/a/a"])
FILES = st.lists(
    st.one_of(
        st.builds(File, NAMES, st.binary(max_size=2)),
        st.builds(folder, NAMES),
        st.builds(lambda name: File(_marked(name)), NAMES),
        st.builds(lambda name: File(f"{name}/.wh..wh..opq"), NAMES),
    ),
    max_size=4,
)


def _marked(name: str) -> str:
    above, _, last = name.rpartition("/")
    return f"{above}/.wh.{last}" if above else f".wh.{last}"


@settings(max_examples=300, deadline=None)
@given(st.lists(FILES, max_size=3))
def test_no_stack_leaves_orphans(stack: list[list[File]]) -> None:
    """Whatever layers hold, every entry has a folder above it, and a folder lists just what is in it."""
    found = flat(*stack)
    for path, _ in found:
        if path != "/":
            above, _, name = path.rpartition("/")
            assert found.nodes[above or "/"].kind == "directory"
            assert name in found.children(above or "/")
    listed = {f"{path.rstrip('/')}/{name}" for path, node in found for name in found.children(path)}
    assert listed == set(found.nodes) - {"/"}


@settings(max_examples=200, deadline=None)
@given(FILES, FILES)
def test_copy_is_its_own(first: list[File], second: list[File]) -> None:
    one = flat(first)
    before = dict(one.nodes)
    one.copy().apply(layer(*second), BASE)
    assert one.nodes == before
