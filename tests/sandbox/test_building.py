"""Sandbox images are composed of layers, documents and payloads, and say what they are (specification 12, 13)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.jsondoc import digest, digest_bytes
from hatch_agentsuite.sandbox import contract
from hatch_agentsuite.sandbox.validation import validate_image
from tests.sandbox.kit import (
    CLOCK_ROOT,
    CREATED,
    EPOCH,
    File,
    Layout,
    OciImage,
    World,
    blob_path,
    folder,
    link,
    program,
)
from tests.source import trees


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def inventory(layout: Layout) -> dict[str, Any]:
    return {item["path"]: item for item in layout.document("inventory.json")["entries"]}


# --- 12: the layers -------------------------------------------------------------------------------------------------


def test_layers_are_those_of_base_and_harness_and_one_more(world: World) -> None:
    """12, steps 2 to 4: layers are taken as they are, those that both images have once."""
    layout = Layout(world.build().target)
    manifest = layout.manifest
    harness, _ = world.harness.blobs()
    below = [item["digest"] for item in json.loads(harness)["layers"]]
    assert [item["digest"] for item in manifest["layers"]][:-1] == below
    for digest_ in below:
        assert blob_path(layout.root, digest_).read_bytes() == blob_path(world.images, digest_).read_bytes()
    assert len(layout.config["rootfs"]["diff_ids"]) == len(manifest["layers"]) == len(layout.config["history"])


def test_harness_that_is_not_built_on_the_base_lies_above_it(world: World) -> None:
    """12, step 3: two file systems that agree wherever both have something are stacked."""
    world.harnesses["amd64"] = OciImage(
        [[folder("usr"), folder("usr/bin"), program("usr/bin/harness"), folder("tmp", 0o1777)]],
        {"Entrypoint": ["harness"], "Env": ["PATH=/usr/bin"]},
    )
    layout = Layout(world.build().target)
    assert len(layout.manifest["layers"]) == 4
    assert inventory(layout)["/usr/bin/harness"]["component"] == "harness"
    assert inventory(layout)["/usr/bin/sh"]["component"] == "runtime-base"


def test_shared_layers_are_known_by_what_is_in_them(world: World) -> None:
    """12: a harness whose copy of the base's layers is compressed otherwise is built on it nevertheless."""
    world.harness.compress = ""
    layout = Layout(world.build().target)
    assert [item["mediaType"].rpartition(".")[2] for item in layout.manifest["layers"]] == [
        "tar+gzip",
        "tar+gzip",
        "tar",
        "tar+gzip",
    ]
    assert validate_image(layout.root, suite=world.suite).ok


def test_layers_in_part_shared(world: World) -> None:
    """12, step 3: base and harness that grew from one image are compared as file systems, and stacked."""
    own = [folder("app"), program("app/harness")]
    world.harnesses["amd64"] = OciImage([world.base.layers[0], own], {"Entrypoint": ["/app/harness"]})
    layout = Layout(world.build().target)
    assert len(layout.manifest["layers"]) == 4
    assert validate_image(layout.root, suite=world.suite).ok


def test_harness_built_on_the_base_may_change_it(world: World) -> None:
    """12, step 3: what its publisher pinned is what a harness does with the base that it is built on."""
    world.harness.layers.append([File("etc/os-release", b"ID=mine\n"), File("usr/bin/.wh.nothing"), File("etc/.wh.x")])
    assert inventory(Layout(world.build().target))["/etc/os-release"]["component"] == "harness"


@pytest.mark.parametrize("compress", ["", "gzip", "zstd"])
def test_layers_may_be_plain_gzip_or_zstd(world: World, compress: str) -> None:
    world.base.compress = world.harness.compress = compress
    assert validate_image(world.build().target).ok


def test_payload_lies_at_its_install_root(world: World) -> None:
    """12, step 4: with modes and root as owner, folders that no inventory lists included."""
    entries = Layout(world.build().target).our_layer()
    clock = entries[f"{CLOCK_ROOT[1:]}/bin/clock"]
    assert (clock.mode, clock.uid, clock.gid, clock.mtime) == (0o755, 0, 0, EPOCH)
    assert entries["opt"].isdir()
    assert {entry.mtime for entry in entries.values()} == {EPOCH}


def test_dependencies_are_installed_too(world: World) -> None:
    """12, step 4: exact dependency closures, though no top-level record names them."""
    world.files |= trees.bundled("zones")
    world.variant["dependencies"] = [{"id": "zones", "version": "1.0.0"}]
    layout = Layout(world.build().target)
    assert inventory(layout)["/opt/agentsuite/tool-providers/zones/1.0.0/bin/zones"]["component"] == "zones@1.0.0"
    assert layout.document("tool-providers/zones/1.0.0.json")["id"] == "zones"


def test_symlinks_and_hard_links_of_a_payload(world: World) -> None:
    world.payload("lib/current", trees.Link("../bin/clock"))
    found = inventory(Layout(world.build().target))[f"{CLOCK_ROOT}/lib/current"]
    assert (found["type"], found["linkTarget"], found["mode"]) == ("symlink", "../bin/clock", 0o777)


def test_destination_below_a_symlink_of_the_base_is_resolved(world: World) -> None:
    """Nothing is written through a link: the entry stands where the link leads."""
    world.base.layers[0].append(folder("usr/opt"))
    world.base.layers[0].append(link("opt", "usr/opt"))
    layout = Layout(world.build().target)
    assert "opt" not in layout.our_layer()
    assert f"usr{CLOCK_ROOT}/bin/clock" in layout.our_layer()
    assert validate_image(layout.root, suite=world.suite).ok


def test_folders_of_the_base_keep_mode_and_owner(world: World) -> None:
    """A folder above our entries is said again as it is: some engines would give it another mode."""
    world.base.layers[0].append(folder("opt", 0o1775, 5, 6))
    found = Layout(world.build().target).our_layer()["opt"]
    assert (found.mode, found.uid, found.gid) == (0o1775, 5, 6)


def test_identical_entries_are_no_collision(world: World) -> None:
    """9.4: equal in type, bytes, mode, owner and link target."""
    world.base.layers[0].append(File(f"{CLOCK_ROOT[1:]}/share/zones", b"UTC\n"))
    layout = Layout(world.build().target)
    assert inventory(layout)[f"{CLOCK_ROOT}/share/zones"]["component"] == "runtime-base"
    assert f"{CLOCK_ROOT[1:]}/share/zones" not in layout.our_layer()


def test_names_that_differ_in_case_are_fine_in_a_base(world: World) -> None:
    """5.2 is about suite content: Debian has PAM.7.gz and pam.7.gz."""
    world.base.layers[0] += [File("usr/PAM.7"), File("usr/pam.7"), File("usr/back\\slash")]
    assert validate_image(world.build().target).ok


# --- 12: documents, inventory, binding -------------------------------------------------------------------------------


def test_instructions_and_metadata_are_installed(world: World) -> None:
    """12, step 6: exact bytes of the suite, readable by everybody."""
    layout = Layout(world.build().target)
    assert layout.file("/.agentsuite/content/instructions/writer.md") == b"Write.\n"
    assert layout.document("agent.json")["id"] == "writer"
    assert layout.document("tool-providers/clock/1.0.0.json")["id"] == "clock"
    assert layout.file("/.agentsuite/content/schemas/run.json") == b'{"type": "object"}\n'
    assert layout.file("/.agentsuite/runtime-base.json") == world.base.blobs()[0]
    modes = {entry.mode for entry in layout.our_layer().values() if entry.name.startswith(".agentsuite/")}
    assert modes == {0o644, 0o755}


def test_binding_commits_to_suite_composition_and_inventory(world: World) -> None:
    """13: suite digest, agent, platform, build profile, composition and inventory; the label has its JCS digest."""
    layout = Layout(world.build().target)
    record = layout.document("binding.json")
    suite = json.loads((world.suite / "index.json").read_bytes())["manifests"][0]
    assert record["suiteDigest"] == suite["digest"]
    assert (record["agent"], record["buildProfile"]) == ("writer", "default")
    assert record["platform"] == {"os": "linux", "architecture": "amd64"}
    data = layout.file("/.agentsuite/inventory.json")
    assert record["inventory"]["digest"] == digest_bytes(data)
    assert record["inventory"]["size"] == len(data)
    assert record["composition"]["digest"] == digest(layout.document("composition.json"))
    assert layout.settings["Labels"]["org.agentsuite.binding.digest"] == digest(record)


def test_inventory_is_complete_but_for_what_pins_it(world: World) -> None:
    """6.2, 12: every entry of the flattened file system, its own two documents left out."""
    found = inventory(Layout(world.build().target))
    assert {"/", "/bin", "/usr/bin/sh", "/etc/os-release", "/app/harness", "/.agentsuite/agent.json"} <= found.keys()
    assert not {"/.agentsuite/inventory.json", "/.agentsuite/binding.json"} & found.keys()
    assert list(found) == sorted(found, key=str.encode)
    assert found["/etc/os-release"] == {
        "path": "/etc/os-release",
        "type": "file",
        "mode": 0o644,
        "uid": 0,
        "gid": 0,
        "component": "runtime-base",
        "size": 8,
        "digest": digest_bytes(b"ID=demo\n"),
    }


def test_provenance_refers_to_image_and_suite(world: World) -> None:
    """12.1, 13: an in-toto statement, as an artifact whose subject is the image."""
    built = world.build()
    layout = Layout(built.target)
    [artifact] = [item for item in layout.index["manifests"] if "artifactType" in item]
    manifest = layout.value(artifact)
    assert manifest["subject"]["digest"] == built.digest
    statement = layout.value(manifest["layers"][0])
    assert statement["subject"] == [{"name": "writer", "digest": {"sha256": built.digest.removeprefix("sha256:")}}]
    materials = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    digests = {item["digest"]["sha256"] for item in materials}
    suite = layout.document("binding.json")["suiteDigest"]
    pins = [world.base.pin("")["image"]["digest"], world.harness.pin("")["image"]["digest"]]
    assert digests == {item.removeprefix("sha256:") for item in (suite, *pins)}


# --- 12: the config --------------------------------------------------------------------------------------------------


def test_agent_image_runs_the_harness(world: World) -> None:
    settings = Layout(world.build().target).settings
    assert (settings["Entrypoint"], settings["Cmd"], settings["WorkingDir"]) == (["/app/harness"], ["--stdio"], "/app")
    assert settings["Env"] == ["PATH=/usr/bin", "LANG=C.UTF-8"]


@pytest.mark.parametrize(
    ("declared", "user"),
    [
        ("", "65532:65532"),
        ("root", "65532:65532"),
        ("0", "65532:65532"),
        ("0:0", "65532:65532"),
        ("node", "65532:65532"),
        ("1000", "1000"),
        ("1000:1000", "1000:1000"),
    ],
)
def test_user_is_a_number_and_not_root(world: World, declared: str, user: str) -> None:
    """12: the runnable default SHOULD be a non-root numeric user."""
    world.harness.settings["User"] = declared
    assert Layout(world.build().target).settings["User"] == user


def test_times_are_the_source_epoch(world: World) -> None:
    """11: sourceEpoch normalizes generated image and layer timestamps."""
    config = Layout(world.build().target).config
    assert config["created"] == CREATED
    assert {item["created"] for item in config["history"]} == {CREATED}


def test_contract_asks_for_no_new_privileges_and_names_inputs(world: World) -> None:
    """12: no capabilities, no_new_privs; names of variables, never values."""
    world.files["agents/writer.yaml"]["model"] |= {"endpointEnv": "MODEL_URL", "secretRefs": ["model-key"]}
    world.variant["environment"] = [
        {"name": "ZONE", "required": True},
        {"name": "TOKEN", "secret": True, "delivery": "file"},
    ]
    world.variant["network"] = [{"scheme": "https", "host": "time.example.org", "port": 443}]
    world.variant["writablePaths"] = ["/var/cache/clock"]
    settings = Layout(world.build().target).settings
    assert json.loads(settings["Labels"][contract.LABEL]) == {
        "capabilities": [],
        "noNewPrivileges": True,
        "writablePaths": ["/var/cache/clock"],
        "environment": [
            {"name": "MODEL_URL", "required": True, "secret": False},
            {"name": "TOKEN", "required": False, "secret": True, "delivery": "file"},
            {"name": "ZONE", "required": True, "secret": False},
        ],
        "network": [{"scheme": "https", "host": "time.example.org", "port": 443}],
        "secretRefs": ["model-key"],
    }
    assert not [item for item in settings["Env"] if item.startswith(("ZONE", "TOKEN", "MODEL_URL"))]
    assert settings["Volumes"] == {"/var/cache/clock": {}}


def test_labels_of_a_base_are_not_ours(world: World) -> None:
    world.harness.settings["Labels"] = {"org.agentsuite.binding.digest": "sha256:0", "maintainer": "x"}
    labels = Layout(world.build().target).settings["Labels"]
    assert sorted(labels) == ["dev.hatch-agentsuite.runtime-contract", "org.agentsuite.binding.digest"]


@pytest.mark.parametrize("there", [None, folder("var/cache/clock", 0o777)])
def test_writable_path_is_an_empty_folder(world: World, there: File | None) -> None:
    """12: empty runtime-provided mounts; a folder that is there is left as it is."""
    world.variant["writablePaths"] = ["/var/cache/clock"]
    if there:
        world.base.layers[0].append(there)
    found = inventory(Layout(world.build().target))["/var/cache/clock"]
    assert (found["type"], found["mode"]) == ("directory", 0o777 if there else 0o755)


def test_writable_path_below_another_is_in_its_mount(world: World) -> None:
    """12: both are declared, the outer one alone has a folder, which stays empty."""
    world.variant["writablePaths"] = ["/var/cache/clock", "/var/cache"]
    layout = Layout(world.build().target)
    assert "/var/cache" in inventory(layout)
    assert "/var/cache/clock" not in inventory(layout)
    assert sorted(layout.settings["Volumes"]) == ["/var/cache", "/var/cache/clock"]


# --- 12.1: ToolProvider images ---


@pytest.mark.parametrize("name", ["clock", "clock@1.0.0"])
def test_tool_provider_image(world: World, name: str) -> None:
    """12.1: base and bundle, the exact composition, the label, the variant's entrypoint and arguments."""
    world.variant.update(arguments=["--utc"], searchPath=["/usr/bin", "/bin"])
    built = world.build(tool_provider=name)
    layout = Layout(built.target)
    assert len(layout.manifest["layers"]) == 3
    embedded = layout.document("tool-provider-composition.json")
    settings = layout.settings
    assert settings["Labels"]["org.agentsuite.tool-provider-composition.digest"] == digest(embedded)
    assert "org.agentsuite.binding.digest" not in settings["Labels"]
    assert settings["Entrypoint"] == [f"{CLOCK_ROOT}/bin/clock", "--utc"]
    assert "Cmd" not in settings
    assert "PATH=/usr/bin:/bin" in settings["Env"]
    assert settings["User"] == "65532:65532"
    assert validate_image(built.target, suite=world.suite).ok


# --- indexes ---------------------------------------------------------------------------------------------------------


def test_index_of_all_platforms(tmp_path: Path) -> None:
    """12, step 8; 13: each platform's manifest has its own binding."""
    world = World(tmp_path, "amd64", "arm64")
    built = world.build(platform=None)
    layout = Layout(built.target)
    index = layout.manifest
    assert built.digest == layout.top["digest"]
    assert [item["platform"]["architecture"] for item in index["manifests"]] == ["amd64", "arm64"]
    configs = [layout.value(layout.value(item)["config"]) for item in index["manifests"]]
    assert len({config["config"]["Labels"]["org.agentsuite.binding.digest"] for config in configs}) == 2
    report = validate_image(built.target, suite=world.suite)
    assert report.ok
    assert [image.platform for image in report.images] == ["linux/amd64", "linux/arm64"]
    one = world.build("one.image")
    assert built.platforms["linux/amd64"] == one.digest
