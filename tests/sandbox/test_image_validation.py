"""Sandbox images from anywhere are judged by the requirements of section 15.2, each fault by its own."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hatch_agentsuite.findings import RefusedError
from hatch_agentsuite.jsondoc import digest_bytes
from hatch_agentsuite.sandbox import contract
from hatch_agentsuite.sandbox.judging import CHECKS
from hatch_agentsuite.sandbox.requirements import IMAGE_REQUIREMENTS
from hatch_agentsuite.sandbox.validation import ImageReport, validate_image
from tests.sandbox.kit import CLOCK_ROOT, STATIC, File, Layout, World
from tests.sandbox.tampering import BINDING, Tampered, errors

PROVIDER = "org.agentsuite.tool-provider-composition.digest"
CLOCK = f"{CLOCK_ROOT}/bin/clock"

Change = Callable[[Tampered], object]


def tampered(world: World, folder: Path, change: Change, image: str = "out.image") -> ImageReport:
    copy = Tampered(Path(shutil.copytree(world.root / image, folder / "copy")))
    change(copy)
    return validate_image(copy.write())


@pytest.mark.parametrize("image", ["out.image", "clock.image"])
def test_what_was_built_is_valid(built: World, tmp_path: Path, image: str) -> None:
    """Also after it was taken apart and put together again unchanged."""
    assert validate_image(built.root / image, suite=built.suite).findings == ()
    assert tampered(built, tmp_path, lambda _: None, image).findings == ()


def no_label(copy: Tampered) -> None:
    del copy.labels[BINDING]


def swap_platform(copy: Tampered) -> None:
    copy.edit("binding.json", lambda value: value["platform"].update(architecture="arm64"))
    copy.bind()


def descriptor_platform(copy: Tampered) -> None:
    copy.index["manifests"][0]["platform"]["architecture"] = "arm64"


def other_suite(copy: Tampered) -> None:
    copy.edit("binding.json", lambda value: value.update(suiteDigest="sha256:" + "5" * 64))


def set_id(copy: Tampered) -> None:
    copy.info(CLOCK).mode = 0o4755
    copy.inventory(CLOCK, mode=0o4755)


def open_file(copy: Tampered) -> None:
    copy.put("/opt/open", b"", 0o666)
    copy.listed(path="/opt/open", type="file", mode=0o666, size=0, digest=File("").data.hex() or EMPTY)


EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def owned(copy: Tampered) -> None:
    copy.info(CLOCK).uid = 1000
    copy.inventory(CLOCK, uid=1000)


def extra(copy: Tampered) -> None:
    copy.put("/opt/extra", b"x")


def taken_out(copy: Tampered) -> None:
    copy.inventory("/etc/os-release")


def stale_inventory(copy: Tampered) -> None:
    copy.edit("inventory.json", lambda value: value["entries"].pop())


def replaced_base_file(copy: Tampered) -> None:
    copy.put("/etc/os-release", b"", 0o644)
    copy.inventory("/etc/os-release", size=0, digest=EMPTY, component="agentsuite")


def whiteout(copy: Tampered) -> None:
    copy.put("/etc/.wh.os-release")
    copy.inventory("/etc/os-release")


def full_mount(copy: Tampered) -> None:
    copy.put("/var/cache/clock/x", b"")
    copy.listed(path="/var/cache/clock/x", type="file", mode=0o644, size=0, digest=EMPTY)


def hidden_document(copy: Tampered) -> None:
    """Let a symlink stand where a document was; its bytes lie elsewhere."""
    copy.put("/opt/agent.json", copy.entries[".agentsuite/agent.json"][1])
    copy.put("/.agentsuite/agent.json", kind=tarfile.SYMTYPE)
    copy.info("/.agentsuite/agent.json").linkname = "/opt/agent.json"


def device(copy: Tampered) -> None:
    copy.put("/opt/null", kind=tarfile.CHRTYPE)
    copy.listed(path="/opt/null", type="character-device", mode=0o644, device=[0, 0])


def other_payload(copy: Tampered) -> None:
    copy.put(CLOCK, b"#!/usr/bin/sh\n", 0o755)
    copy.inventory(CLOCK, size=14, digest=digest_bytes(b"#!/usr/bin/sh\n"))


def other_machine(copy: Tampered) -> None:
    copy.put(CLOCK, STATIC["arm64"], 0o755)


def swapped_layers(copy: Tampered) -> None:
    for items in (copy.manifest["layers"], copy.config["rootfs"]["diff_ids"]):
        items[0], items[1] = items[1], items[0]


def lost_layer(copy: Tampered) -> None:
    for items in (copy.manifest["layers"], copy.config["rootfs"]["diff_ids"]):
        items.pop(1)


def other_instructions(copy: Tampered) -> None:
    copy.put("/.agentsuite/content/instructions/writer.md", b"Obey.\n")


def other_base(copy: Tampered) -> None:
    copy.edit("runtime-base.json", lambda value: value.update(annotations={}))


def contract_with(**members: object) -> Change:
    def change(copy: Tampered) -> None:
        value = json.loads(copy.labels[contract.LABEL]) | members
        copy.labels[contract.LABEL] = json.dumps(value)

    return change


def settings(**members: object) -> Change:
    return lambda copy: copy.settings.update(members)


AGENT = {
    "no label": (no_label, "ASI-BIND-001"),
    "label of another digest": (lambda c: c.labels.update({BINDING: "sha256:0"}), "ASI-BIND-001"),
    "label of both kinds": (lambda c: c.labels.update({PROVIDER: "sha256:0"}), "ASI-BIND-001"),
    "no binding": (lambda c: c.entries.pop(".agentsuite/binding.json"), "ASI-BIND-001"),
    "binding that is no JSON": (lambda c: c.put("/.agentsuite/binding.json", b"{"), "ASI-BIND-001"),
    "binding with another member": (lambda c: c.edit("binding.json", lambda v: v.update(x=1)), "ASI-BIND-001"),
    "binding changed": (other_suite, "ASI-BIND-001"),
    "platform of the binding": (swap_platform, "ASI-BIND-001"),
    "platform of the descriptor": (descriptor_platform, "ASI-BIND-001"),
    "composition changed": (lambda c: c.edit("composition.json", lambda v: v.update(toolProviders=[])), "ASI-SRC-001"),
    "link for a document": (hidden_document, "ASI-SRC-001"),
    "no profile": (lambda c: c.entries.pop(".agentsuite/build-profile.json"), "ASI-SRC-001"),
    "another agent": (lambda c: c.edit("agent.json", lambda v: v.update(id="other")), "ASI-SRC-001"),
    "instructions changed": (other_instructions, "ASI-SRC-001"),
    "manifest of the base changed": (other_base, "ASI-SRC-001"),
    "payload replaced": (other_payload, "ASI-SRC-001"),
    "layers swapped": (swapped_layers, "ASI-SRC-001"),
    "layer lost": (lost_layer, "ASI-SRC-001"),
    "created at another time": (lambda c: c.config.update(created="2020-01-01T00:00:00Z"), "ASI-SRC-001"),
    "set-id": (set_id, "ASI-FS-001"),
    "world-writable": (open_file, "ASI-FS-001"),
    "owner": (owned, "ASI-FS-001"),
    "file beyond the inventory": (extra, "ASI-FS-001"),
    "entry out of the inventory": (taken_out, "ASI-FS-001"),
    "inventory tampered with": (stale_inventory, "ASI-FS-001"),
    "no inventory": (lambda c: c.entries.pop(".agentsuite/inventory.json"), "ASI-FS-001"),
    "file of the base replaced": (replaced_base_file, "ASI-FS-001"),
    "file of the base removed": (whiteout, "ASI-FS-001"),
    "mount point with content": (full_mount, "ASI-FS-001"),
    "device": (device, "ASI-FS-001"),
    "other machine": (other_machine, "ASI-ABI-001"),
    "root": (settings(User="0"), "ASI-RUN-001"),
    "no user": (settings(User=""), "ASI-RUN-001"),
    "user by name": (settings(User="node"), "ASI-RUN-001"),
    "no entrypoint": (settings(Entrypoint=None, Cmd=None), "ASI-RUN-001"),
    "no contract": (lambda c: c.labels.pop(contract.LABEL), "ASI-RUN-001"),
    "contract without no_new_privs": (contract_with(noNewPrivileges=False), "ASI-RUN-001"),
    "contract with capabilities": (contract_with(capabilities=["CAP_SYS_ADMIN"]), "ASI-RUN-001"),
    "contract with a writable path": (contract_with(writablePaths=["/"]), "ASI-RUN-001"),
    "contract that is no JSON": (lambda c: c.labels.update({contract.LABEL: "x"}), "ASI-RUN-001"),
    "volumes": (settings(Volumes={"/opt": {}}), "ASI-RUN-001"),
}

ALONE = {
    "set-id": {"ASI-FS-001", "ASI-SRC-001"},
    "owner": {"ASI-FS-001", "ASI-SRC-001"},
    "layers swapped": {"ASI-SRC-001"},
    "layer lost": {"ASI-FS-001", "ASI-SRC-001"},
    "other machine": {"ASI-FS-001", "ASI-SRC-001", "ASI-ABI-001"},
}
"""Where a change offends more than one: a set-id payload is no longer what the suite has."""


@pytest.mark.parametrize(("change", "requirement"), AGENT.values(), ids=AGENT)
def test_agent_image_that_was_tampered_with(built: World, tmp_path: Path, change: Change, requirement: str) -> None:
    report = tampered(built, tmp_path, change)
    assert requirement in errors(report)
    assert all(str(finding).isprintable() for finding in report.findings)


@pytest.mark.parametrize("name", [name for name in AGENT if AGENT[name][1] in ("ASI-RUN-001", "ASI-FS-001")])
def test_fault_is_told_by_its_own_requirement_alone(built: World, tmp_path: Path, name: str) -> None:
    change, requirement = AGENT[name]
    others = {"ASI-BIND-001"} if name in ("no label", "file of the base replaced") else set()
    assert errors(tampered(built, tmp_path, change)) - others <= ALONE.get(name, {requirement})


@pytest.mark.parametrize(("mode", "severity"), [(0o755, None), (0o775, "warning"), (0o777, "error"), (0o1777, "error")])
def test_folder_that_others_may_write_to(built: World, tmp_path: Path, mode: int, severity: str | None) -> None:
    """12: no writable content paths; 9.4 forbids group write permission of files alone."""

    def change(copy: Tampered) -> None:
        copy.put("/opt/open", mode=mode, kind=tarfile.DIRTYPE)
        copy.listed(path="/opt/open", type="directory", mode=mode)

    found = [(finding.requirement, finding.severity) for finding in tampered(built, tmp_path, change).findings]
    assert found == ([("ASI-FS-001", severity)] if severity else [])


def provider_label(copy: Tampered) -> None:
    copy.labels[PROVIDER] = "sha256:" + "0" * 64


def provider_platform(copy: Tampered) -> None:
    copy.edit("tool-provider-composition.json", lambda value: value["platform"].update(architecture="arm64"))


PROVIDERS = {
    "label": (provider_label, "ASI-PROVIDER-001"),
    "no label": (lambda c: c.labels.pop(PROVIDER), "ASI-BIND-001"),
    "composition": (
        lambda c: c.edit("tool-provider-composition.json", lambda v: v.update(version="2.0.0")),
        "ASI-PROVIDER-001",
    ),
    "no composition": (lambda c: c.entries.pop(".agentsuite/tool-provider-composition.json"), "ASI-PROVIDER-001"),
    "platform": (provider_platform, "ASI-PROVIDER-001"),
    "entrypoint": (settings(Entrypoint=["/usr/bin/sh"]), "ASI-RUN-001"),
    "arguments": (settings(Entrypoint=[CLOCK, "--more"]), "ASI-RUN-001"),
    "command": (settings(Cmd=["--more"]), "ASI-RUN-001"),
    "inventory": (stale_inventory, "ASI-FS-001"),
}


@pytest.mark.parametrize(("change", "requirement"), PROVIDERS.values(), ids=PROVIDERS)
def test_tool_provider_image_that_was_tampered_with(
    built: World, tmp_path: Path, change: Change, requirement: str
) -> None:
    """12.1: label, embedded composition and platform MUST agree."""
    assert requirement in errors(tampered(built, tmp_path, change, "clock.image"))


# --- with a suite ---


def test_image_of_another_suite(built: World, tmp_path: Path) -> None:
    """15.2, ASI-SRC-001: suite, agent, composition and build inputs match."""
    other = World(tmp_path)
    other.files["agents/writer.yaml"]["description"] = "another"
    other.write()
    for image, least in (("out.image", 3), ("clock.image", 1)):
        report = validate_image(built.root / image, suite=other.suite)
        assert errors(report) == {"ASI-SRC-001"}
        assert len(report.findings) >= least


def test_suite_that_is_refused_is_no_judge(built: World, tmp_path: Path) -> None:
    with pytest.raises(RefusedError):
        validate_image(built.root / "out.image", suite=tmp_path)


# --- the report ---


def test_report_as_json(built: World) -> None:
    value = validate_image(built.root / "out.image").to_json()
    layout = Layout(built.root / "out.image")
    digest = layout.top["digest"]
    assert (value["valid"], value["digest"], value["findings"]) == (True, digest, [])
    image = {"digest": digest, "platform": "linux/amd64", "kind": "agent", "name": "writer"}
    assert value["images"] == [image]


def test_requirements_are_those_of_the_specification() -> None:
    """15.2 names six, and each has its check."""
    names = ["BIND", "PROVIDER", "SRC", "FS", "ABI", "RUN"]
    assert list(IMAGE_REQUIREMENTS) == [f"ASI-{name}-001" for name in names]
    assert len(CHECKS) == len(names)
