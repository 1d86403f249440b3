"""What an image is refused for when it is built, each by its requirement of section 15.2, and all of it at once."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.sandbox.building import build_image
from hatch_agentsuite.sandbox.validation import validate_image
from tests.sandbox.elves import EXEC, LOADER, elf
from tests.sandbox.kit import (
    CLOCK_ROOT,
    STATIC,
    File,
    OciImage,
    World,
    blob_path,
    device,
    folder,
    hardlink,
    link,
    program,
)
from tests.source import trees

Change = Callable[[World], object]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def lower(*files: File) -> Change:
    """Put entries into the runtime base, which the harness is built on."""
    return lambda world: world.base.layers[0].extend(files)


def upper(*files: File) -> Change:
    return lambda world: world.harness.layers.append(list(files))


def payload(path: str, content: object) -> Change:
    return lambda world: world.payload(path, content)


def variant(**members: object) -> Change:
    return lambda world: world.variant.update(members)


def settings(**members: object) -> Change:
    return lambda world: world.harness.settings.update(members)


def apart(*files: File) -> Change:
    """Replace the harness by one that is not built on the base."""

    def change(world: World) -> None:
        own = [folder("app"), program("app/harness"), *files]
        world.harnesses["amd64"] = OciImage([own], {"Entrypoint": ["/app/harness"]})

    return change


def both(*changes: Change) -> Change:
    return lambda world: [change(world) for change in changes]


ROOT = CLOCK_ROOT[1:]
RUNTIME = {"abi": "static", "cpuBaseline": "x86-64-v1"}
GNU = elf(type=EXEC, interpreter=LOADER, needed=["libc.so.6"])
PLACEHOLDER = "placeholder.invalid/base@sha256:" + "0" * 64

COLLISIONS = {
    "payload and base": (lower(File(f"{ROOT}/share/zones", b"other")), f"{CLOCK_ROOT}/share/zones"),
    "payload and harness": (upper(File(f"{ROOT}/bin/clock", b"other", 0o755)), f"{CLOCK_ROOT}/bin/clock"),
    "mode alone": (lower(File(f"{ROOT}/share/zones", b"UTC\n", 0o600)), f"{CLOCK_ROOT}/share/zones"),
    "owner alone": (lower(File(f"{ROOT}/share/zones", b"UTC\n", uid=5)), f"{CLOCK_ROOT}/share/zones"),
    "a file where a folder goes": (lower(File("opt", b"")), CLOCK_ROOT),
    "a link for a file": (lower(link(f"{ROOT}/bin/clock", "/usr/bin/sh")), f"{CLOCK_ROOT}/bin/clock"),
    "below a dangling link": (lower(link("opt", "/nowhere")), CLOCK_ROOT),
    "below a link that loops": (lower(link("opt", "/opt")), CLOCK_ROOT),
    "below a link to a file": (lower(link("opt", "usr/bin/sh")), CLOCK_ROOT),
    "metadata in the base": (lower(folder(".agentsuite")), "/.agentsuite"),
    "metadata that is a link": (upper(link(".agentsuite", "/usr")), "/.agentsuite"),
    "base and harness": (apart(File("etc/os-release", b"ID=other\n")), "/etc/os-release"),
    "folders of base and harness": (apart(folder("etc", 0o700)), "/etc"),
    "harness removes from the base": (apart(File("etc/.wh.os-release")), "/etc/os-release"),
    "harness hides what the base has": (apart(File("etc/.wh..wh..opq")), "/etc/os-release"),
}


@pytest.mark.parametrize(("change", "path"), COLLISIONS.values(), ids=COLLISIONS)
def test_collisions(world: World, change: Change, path: str) -> None:
    """12, step 5: non-identical collisions are refused (ASI-FS-001)."""
    change(world)
    assert (("ASI-FS-001", path)) in {(item.requirement, item.location) for item in world.refused()}


def test_all_collisions_are_listed(world: World) -> None:
    """12, step 5: independent faults are reported in one run."""
    world.base.layers[0] += [File(f"{ROOT}/share/zones", b"x"), File(f"{ROOT}/bin/clock", b"x"), folder(".agentsuite")]
    places = {finding.location for finding in world.refused()}
    assert {f"{CLOCK_ROOT}/share/zones", f"{CLOCK_ROOT}/bin/clock", "/.agentsuite"} <= places


REFUSED = {
    # ASI-FS-001: layers that engines read in different ways, and content that nobody may bring
    "entry below a link": (upper(File("bin/tool")), "ASI-FS-001", "below `/bin`, which is a symlink"),
    "entry below a file": (upper(File("etc/os-release/x")), "ASI-FS-001", "which is a file"),
    "hard link to nothing": (upper(hardlink("app/x", "app/y")), "ASI-FS-001", "where there is nothing"),
    "device outside /dev": (upper(device("app/null")), "ASI-FS-001", "character-device"),
    "fifo": (upper(device("app/pipe", tarfile.FIFOTYPE)), "ASI-FS-001", "this is a fifo"),
    "world-writable": (upper(File("app/open", b"", 0o666)), "ASI-FS-001", "writable by everybody"),
    "writable path with content": (
        both(variant(writablePaths=["/var/cache"]), lower(File("var/cache/x"))),
        "ASI-FS-001",
        "not empty",
    ),
    "writable path in the payload": (variant(writablePaths=[f"{CLOCK_ROOT}/share"]), "ASI-FS-001", "not empty"),
    "writable path is a file": (variant(writablePaths=["/etc/os-release"]), "ASI-FS-001", "is a file"),
    "writable path is the metadata": (variant(writablePaths=["/.agentsuite"]), "ASI-FS-001", "not empty"),
    "payload in the metadata": (
        variant(installRoot="/.agentsuite/clock", entrypoint="/.agentsuite/clock/bin/clock"),
        "ASI-FS-001",
        "the folder is the image's own",
    ),
    # ASI-ABI-001
    "payload for another machine": (payload("bin/clock", trees.Script(STATIC["arm64"])), "ASI-ABI-001", "aarch64"),
    "missing loader and library": (
        both(payload("bin/clock", trees.Script(GNU)), variant(runtime={**RUNTIME, "abi": "gnu"})),
        "ASI-ABI-001",
        "ld-linux",
    ),
    "script without interpreter": (
        payload("bin/clock", trees.Script(b"#!/usr/bin/python3\n")),
        "ASI-ABI-001",
        "/usr/bin/python3",
    ),
    "required base path": (
        variant(runtime={**RUNTIME, "requiredBasePaths": ["/etc/ssl/certs"]}),
        "ASI-ABI-001",
        "/etc/ssl/certs",
    ),
    "harness for another machine": (upper(program("app/harness", STATIC["arm64"])), "ASI-ABI-001", "/app/harness"),
    # ASI-RUN-001
    "no entrypoint": (settings(Entrypoint=[], Cmd=[]), "ASI-RUN-001", "no entrypoint"),
    "absent entrypoint": (settings(Entrypoint=["/app/nothing"]), "ASI-RUN-001", "no file of the image"),
    "entrypoint not for the user": (upper(program("app/harness", mode=0o700)), "ASI-RUN-001", "may not execute"),
    "entrypoint in a folder not for the user": (upper(folder("app", 0o700)), "ASI-RUN-001", "may not execute"),
    "value of a declared input": (
        both(variant(environment=[{"name": "TOKEN"}]), settings(Env=["TOKEN=abc"])),
        "ASI-RUN-001",
        "gives `TOKEN` a value",
    ),
}


@pytest.mark.parametrize(("change", "requirement", "text"), REFUSED.values(), ids=REFUSED)
def test_refused_by_its_own_requirement(world: World, change: Change, requirement: str, text: str) -> None:
    """15.2: each fault by the requirement that it offends, and by no other that it does not."""
    change(world)
    found = world.refused()
    assert any(text in finding.message for finding in found), found
    assert {finding.requirement for finding in found if text in finding.message} == {requirement}
    assert not any("abc" in str(finding) for finding in found), "a value is never repeated"


WARNED = {
    "set-id program of a base": (lower(program("usr/bin/su", mode=0o4755)), "/usr/bin/su"),
    "device below /dev": (lower(device("dev/null")), "/dev/null"),
    "file capabilities": (
        lower(File("usr/bin/ping", STATIC["amd64"], 0o755, pax={"SCHILY.xattr.security.capability": "x"})),
        "/usr/bin/ping",
    ),
}


@pytest.mark.parametrize(("change", "path"), WARNED.values(), ids=WARNED)
def test_what_a_base_brings_is_reported(world: World, change: Change, path: str) -> None:
    """12: no_new_privs takes the power from it; it is said and does not refuse (ASI-FS-001)."""
    change(world)
    found = [finding for finding in world.build().warnings if finding.location == path]
    assert [(finding.requirement, finding.severity) for finding in found] == [("ASI-FS-001", "warning")]


def test_variable_that_injects_code_is_reported(world: World) -> None:
    """16, security: what a base sets is kept, and said."""
    world.harness.settings["Env"] = ["LD_PRELOAD=/usr/lib/x.so", "PATH=/usr/bin"]
    [finding] = world.build().warnings
    assert (finding.requirement, finding.category) == ("ASI-RUN-001", "security")
    assert "`LD_PRELOAD`" in finding.message
    assert "x.so" not in finding.message


def test_link_of_a_payload_that_leads_nowhere_is_reported(world: World) -> None:
    world.payload("lib/current", trees.Link("../share/none"))
    [finding] = world.build().warnings
    assert (finding.requirement, finding.location) == ("ASI-FS-001", f"{CLOCK_ROOT}/lib/current")


def test_bundles_that_differ_at_one_path_are_refused_with_the_suite(world: World) -> None:
    """9.4: before any image is built; two that agree there are one entry."""
    world.files |= trees.bundled("zones", installRoot=CLOCK_ROOT, entrypoint=f"{CLOCK_ROOT}/bin/zones")
    world.files["tool-providers/zones/1.0.0/linux-amd64/share/zones"] = b"UTC\n"
    world.variant["dependencies"] = [{"id": "zones", "version": "1.0.0"}]
    world.write()
    assert world.build().digest
    world.files["tool-providers/zones/1.0.0/linux-amd64/share/zones"] = b"other\n"
    with pytest.raises(RefusedError, match="different entries"):
        world.write_suite()


# --- ASI-SRC-001: the images below ---


def test_everything_that_is_missing_is_named_at_once(tmp_path: Path) -> None:
    """11: all referenced OCI blobs MUST be present before construction begins."""
    world = World(tmp_path, "amd64", "arm64").write()
    gone = {"base": world.bases["amd64"], "harness": world.harnesses["arm64"]}
    for image in gone.values():
        blob_path(world.images, image.pin("")["image"]["digest"]).unlink()
    layer = world.bases["arm64"].blobs()[1]
    lost = next(digest for digest, data in layer.items() if data[:2] == b"\x1f\x8b")
    blob_path(world.images, lost).unlink()
    found = world.refused(platform=None)
    assert {finding.requirement for finding in found} == {"ASI-SRC-001"}
    told = "\n".join(map(str, found))
    for name, image in gone.items():
        assert image.pin(name)["imageRef"] in told
    assert lost in told


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)


def test_every_blob_of_a_base_is_verified(world: World) -> None:
    """4.2, 12: a base blob with one flipped bit is refused (ASI-SRC-001), whichever it is."""
    world.write()
    for digest in world.base.blobs()[1]:
        path = blob_path(world.images, digest)
        whole = path.read_bytes()
        flip(path)
        [*found] = world.refused()
        assert {finding.requirement for finding in found} == {"ASI-SRC-001"}
        assert digest in str(found[0])
        path.write_bytes(whole)
    assert world.build().digest


def test_whole_copy_of_a_damaged_blob_is_taken(world: World) -> None:
    """Which of several layouts has a blob does not matter: bytes are judged by their digest."""
    world.write()
    damaged = world.root / "a-damaged"
    world.images.rename(damaged)
    world.write_images()
    for path in (damaged / "blobs/sha256").iterdir():
        flip(path)
    expected = world.build("first.image").digest
    built = world.build(images=[damaged, world.images])
    assert built.digest == expected
    assert validate_image(built.target).ok


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda m, c: c["rootfs"]["diff_ids"].reverse(), "the config says"),
        (lambda m, c: c["rootfs"]["diff_ids"].pop(), "diff ids for"),
        (lambda m, c: c.update(architecture="arm64"), "is for linux/arm64"),
        (lambda m, c: m["layers"][0].update(mediaType="application/x"), "known are"),
        (lambda m, c: m["layers"][0].update(urls=["https://example.org"]), "from elsewhere"),
        (lambda m, c: m.update(layers=[]), "does not have 1"),
        (lambda m, c: c.update(config={"Env": "x"}), "`Env` is no list"),
    ],
)
def test_images_that_are_not_what_they_say(world: World, change: Callable[..., object], text: str) -> None:
    world.base.change = change
    found = world.refused()
    assert {finding.requirement for finding in found} == {"ASI-SRC-001"}
    assert any(text in finding.message for finding in found), found


def test_placeholder_is_named(world: World) -> None:
    """A build profile with placeholder pins packs, and builds no image."""
    world.write_images()
    source = trees.write_tree(world.root / "suite", {**world.files, "build-profiles/default.yaml": _placeholder()})
    from hatch_agentsuite.packing import pack
    from hatch_agentsuite.source import Options

    pack(source, world.suite, Options(default_name="demo"))
    assert all("is a placeholder" in finding.message for finding in world.refused())


def _placeholder() -> dict[str, object]:
    value = trees.profile(trees.AMD64)
    for role in ("runtimeBase", "harness"):
        value[role][0]["imageRef"] = PLACEHOLDER
        value[role][0]["image"]["digest"] = PLACEHOLDER.partition("@")[2]
    return value


# --- ASI-SRC-001: the suite ---


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"agent": "nobody"}, "no composition for the agent `nobody`"),
        ({"tool_provider": "nobody"}, "no composition for the ToolProvider `nobody`"),
        ({"tool_provider": "clock@2.0.0"}, "no composition"),
        ({"platform": "linux/arm64"}, "not composed for linux/arm64"),
        ({"images": [Path("/nonexistent")]}, "no images can be read here"),
    ],
)
def test_what_the_suite_does_not_have(world: World, options: dict[str, object], text: str) -> None:
    [finding] = world.refused(**options)
    assert (finding.requirement, text in finding.message) == ("ASI-SRC-001", True)


def test_damaged_suite_is_refused_before_anything(world: World) -> None:
    """12, step 1: resolved by digest."""
    world.write()
    for path in (world.suite / "blobs/sha256").iterdir():
        if path.stat().st_size > 10:
            flip(path)
    assert {finding.requirement for finding in world.refused()} == {"AS-OCI-001"}


def test_directory_of_content_has_nothing_to_bind_to(world: World) -> None:
    from hatch_agentsuite.unpacking import unpack

    world.write()
    unpack(world.suite, world.root / "content")
    with pytest.raises(RefusedError) as caught:
        build_image(world.root / "content", world.root / "x", agent="writer", images=[world.images])
    found: Finding = caught.value.findings[0]
    assert found.requirement == "ASI-SRC-001"


def test_one_subject_at_a_time(world: World) -> None:
    with pytest.raises(ValueError, match="one agent or of one ToolProvider"):
        build_image(world.suite, world.root / "x", images=[])
