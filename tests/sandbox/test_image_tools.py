"""Other people's tools read images and indexes, and unpack what the inventory says (specification 12)."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.packing import pack
from hatch_agentsuite.sandbox.building import build_image
from hatch_agentsuite.sandbox.inventory import EXCLUDED
from hatch_agentsuite.sandbox.validation import validate_image
from hatch_agentsuite.source import Options
from tests.sandbox.kit import STATIC, File, Layout, World, blob_path, folder, hardlink, link, program
from tests.source import trees

pytestmark = pytest.mark.e2e

Tool = Callable[..., str]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A world with something of everything that layers can do."""
    world = World(tmp_path, "amd64", "arm64")
    long = "usr/share/" + "/".join(["a-rather-long-name-of-a-folder"] * 8)
    world.base.layers[0] += [
        File(f"{long}/file", b"long"),
        File("usr/share/été", b"names"),
        File("usr/share/back\\slash", b"x"),
        File("usr/share/Readme", b"1"),
        File("usr/share/README", b"2"),
        program("usr/bin/su", mode=0o4755),
        File("var/lib/gone", b"x"),
        File("var/lib/hidden/a", b"x"),
        File("var/lib/hidden/b", b"x"),
        File("usr/share/twin", b"twins", uid=7, gid=8),
        hardlink("usr/lib/twin", "usr/share/twin"),
        folder("var/tmp", 0o1777),
    ]
    world.base.layers[1] += [File("var/lib/.wh.gone"), link("usr/share/dangling", "../nowhere")]
    world.harness.layers.append(
        [File("var/lib/hidden/.wh..wh..opq"), File("var/lib/hidden/c", b"c"), folder("usr", 0o700)]
    )
    world.payload("lib/current", trees.Link("../bin/clock"))
    world.variant["writablePaths"] = ["/var/cache/clock"]
    return world


@pytest.fixture
def skopeo(require_tool: Callable[[str], str], tmp_path: Path) -> Tool:
    command = require_tool("skopeo")
    policy = tmp_path / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
    return lambda *arguments: called(command, "--policy", policy, "--tmpdir", tmp_path, *arguments)


def called(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_skopeo_inspects_an_image(skopeo: Tool, world: World) -> None:
    built = world.build()
    shown = json.loads(skopeo("inspect", f"oci:{built.target}:writer"))
    assert (shown["Digest"], shown["Architecture"], shown["Os"]) == (built.digest, "amd64", "linux")
    assert "org.agentsuite.binding.digest" in shown["Labels"]
    assert json.loads(skopeo("inspect", "--config", f"oci:{built.target}:writer"))["created"] == "2023-11-14T22:13:20Z"


@pytest.mark.parametrize("options", [(), ("--preserve-digests",)])
def test_skopeo_copies_an_image(skopeo: Tool, world: World, options: tuple[str, ...]) -> None:
    built = world.build()
    skopeo("copy", *options, f"oci:{built.target}:writer", f"oci:{world.root}/copy:writer")
    assert validate_image(world.root / "copy", suite=world.suite).digest == built.digest


def test_skopeo_copies_an_index(skopeo: Tool, world: World) -> None:
    """12, step 8: an OCI image index for multiple platforms."""
    built = world.build(platform=None)
    raw = skopeo("inspect", "--raw", f"oci:{built.target}:writer").encode()
    assert raw == blob_path(built.target, built.digest).read_bytes()
    skopeo("copy", "--all", f"oci:{built.target}:writer", f"oci:{world.root}/copy:writer")
    report = validate_image(world.root / "copy", suite=world.suite)
    assert (report.ok, report.digest, len(report.images)) == (True, built.digest, 2)


def test_skopeo_copies_an_archive(skopeo: Tool, world: World) -> None:
    built = world.build(form="archive", target="out.tar", tag="v1")
    skopeo("copy", f"oci-archive:{built.target}:v1", f"oci:{world.root}/copy:v1")
    assert validate_image(world.root / "copy").digest == built.digest


# --- umoci -----------------------------------------------------------------------------------------------------------


def unpacked(root: Path) -> dict[str, dict[str, Any]]:
    """Return what lies below a folder in the words of the inventory, hard links by their first name."""
    found: dict[str, dict[str, Any]] = {}
    first: dict[tuple[int, int], str] = {}
    for path in sorted(root.rglob("*"), key=lambda item: os.fsencode(item.relative_to(root))):
        name = f"/{path.relative_to(root)}"
        status = path.lstat()
        entry: dict[str, Any] = {"mode": stat.S_IMODE(status.st_mode), "uid": status.st_uid, "gid": status.st_gid}
        if stat.S_ISLNK(status.st_mode):
            entry |= {"type": "symlink", "linkTarget": str(path.readlink()), "mode": 0o777}
        elif stat.S_ISDIR(status.st_mode):
            entry |= {"type": "directory"}
        elif first.setdefault((status.st_dev, status.st_ino), name) != name:
            entry |= {"type": "hardlink", "linkTarget": first[status.st_dev, status.st_ino]}
        else:
            data = path.read_bytes()
            entry |= {"type": "file", "size": len(data), "digest": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        found[name] = entry
    return found


def listed(layout: Layout) -> dict[str, dict[str, Any]]:
    entries = layout.document("inventory.json")["entries"]
    return {
        item["path"]: {key: value for key, value in item.items() if key not in ("path", "component")}
        for item in entries
        if item["path"] != "/"
    }


@pytest.mark.parametrize("provider", [False, True])
def test_umoci_unpacks_what_the_inventory_says(
    require_tool: Callable[[str], str], world: World, provider: bool
) -> None:
    """6.2: type, mode, owner, size, digest and link, entry by entry."""
    if os.geteuid() != 0:
        pytest.skip("umoci sets owners as root only")
    built = world.build(tool_provider="clock") if provider else world.build()
    name = "clock" if provider else "writer"
    called(require_tool("umoci"), "unpack", "--image", f"{built.target}:{name}", world.root / "bundle")
    actual = unpacked(world.root / "bundle/rootfs")
    expected = listed(Layout(built.target))
    assert EXCLUDED - {"/.agentsuite/binding.json"} <= actual.keys()
    assert {path: entry for path, entry in actual.items() if path not in EXCLUDED} == expected
    assert {"/usr/lib/twin", "/opt", "/usr/bin/su"} <= expected.keys()


# --- images that other tools made ---


@pytest.fixture
def foreign(require_tool: Callable[[str], str], world: World) -> Path:
    """A base made by umoci: two layers of files, one that removes, its config umoci's own."""
    umoci = require_tool("umoci")
    rootfs = world.root / "rootfs"
    for name in ("usr/bin", "usr/share/demo", "etc"):
        (rootfs / name).mkdir(parents=True)
    (rootfs / "usr/bin/sh").write_bytes(STATIC["amd64"])
    (rootfs / "usr/bin/sh").chmod(0o755)
    (rootfs / "bin").symlink_to("usr/bin")
    long = "/".join(["a-rather-long-name-of-a-folder"] * 9)
    (rootfs / "usr/share/demo" / long).mkdir(parents=True)
    (rootfs / "usr/share/demo" / long / "file").write_text("long")
    (rootfs / "usr/share/demo/one").write_text("one")
    os.link(rootfs / "usr/share/demo/one", rootfs / "usr/share/demo/two")
    layout = world.root / "foreign"
    called(umoci, "init", "--layout", layout)
    image = f"{layout}:base"
    called(umoci, "new", "--image", image)
    rootless = [] if os.geteuid() == 0 else ["--rootless"]
    for part in ("bin", "etc", "usr"):
        called(umoci, "insert", *rootless, "--image", image, rootfs / part, f"/{part}")
    called(umoci, "insert", "--image", image, "--whiteout", "/usr/share/demo/one")
    called(
        umoci, "config", "--image", image, "--os", "linux", "--architecture", "amd64", "--config.env", "PATH=/usr/bin"
    )
    called(umoci, "gc", "--layout", layout)
    return layout


def provider_of(world: World, layout: Path) -> Layout:
    """Build the clock's image on the one image of a layout."""
    [selected] = json.loads((layout / "index.json").read_bytes())["manifests"]
    image = {name: selected[name] for name in ("mediaType", "digest", "size")}
    pin = {"platform": trees.AMD64, "imageRef": f"registry.example.org/base@{image['digest']}", "image": image}
    world.files["build-profiles/default.yaml"] = {"runtimeBase": [pin], "harness": [pin], "sourceEpoch": 1}
    world.provider["variants"] = [world.variant]
    source = trees.write_tree(world.root / "suite", world.files)
    options = Options(default_name="demo", provider_images=("clock",), platforms=("linux/amd64",))
    pack(source, world.suite, options)
    built = build_image(world.suite, world.root / "out", tool_provider="clock", platform="linux/amd64", images=[layout])
    assert validate_image(built.target, suite=world.suite).ok
    return Layout(built.target)


def test_base_made_by_umoci(world: World, foreign: Path) -> None:
    """Go's tar, umoci's whiteouts and config."""
    found = listed(provider_of(world, foreign))
    assert "/usr/share/demo/one" not in found
    assert found["/usr/share/demo/two"]["type"] == "file"
    assert found["/bin"]["linkTarget"] == "usr/bin"
    assert any(path.endswith("/file") and len(path) > 250 for path in found)


def test_base_compressed_by_skopeo(skopeo: Tool, world: World, foreign: Path) -> None:
    """zstd as Go writes it."""
    options = ("--dest-compress", "--dest-compress-format", "zstd", "--dest-force-compress-format")
    try:
        skopeo("copy", *options, f"oci:{foreign}:base", f"oci:{world.root}/zstd:base")
    except AssertionError:  # older ones keep what is compressed already, and know no such option
        skopeo("copy", "--dest-decompress", f"oci:{foreign}:base", f"dir:{world.root}/plain")
        skopeo("copy", *options[:3], f"dir:{world.root}/plain", f"oci:{world.root}/zstd:base")
    layout = provider_of(world, world.root / "zstd")
    assert {item["mediaType"].rpartition("+")[2] for item in layout.manifest["layers"][:-1]} == {"zstd"}
