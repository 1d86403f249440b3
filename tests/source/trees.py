"""Source trees to pack, as dictionaries from path to content, and what comes of packing them.

    write_tree(root, rich())        # a tree that has something of everything
    refused(root)                   # the findings that refuse it

A mapping or list is a document, written as YAML or JSON by the path's ending; None is an empty folder.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.limits import DEFAULT_LIMITS
from hatch_agentsuite.packing import Packed, pack
from hatch_agentsuite.source import Options, resolve
from hatch_agentsuite.validation.validator import Opened

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hatch_agentsuite.content import ContentTree, Entry

Json = dict[str, Any]

AMD64 = {"os": "linux", "architecture": "amd64"}
ARM64 = {"os": "linux", "architecture": "arm64"}
CLOCK = "tool-providers/clock/1.0.0"
MODEL = {"protocol": "openai-chat", "model": "example-model"}
NAMED = Options(default_name="demo")
RICH = Options(default_name="demo", provider_images=("clock@2.0.0",))


@dataclass(frozen=True)
class Script:
    """A file that its owner may execute."""

    data: bytes = b"#!/bin/sh\n"


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


_Dumper.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


def as_yaml(value: Any) -> bytes:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False).encode()


def write_tree(root: Path, files: Mapping[str, Any]) -> Path:
    """Write the files below root and return it."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = root / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            path.symlink_to(content.target)
        elif isinstance(content, Script):
            path.write_bytes(content.data)
            path.chmod(0o755)
        else:
            path.write_bytes(_encoded(name, content))
    return root


def _encoded(name: str, content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    return json.dumps(content, indent=1).encode() if name.endswith(".json") else as_yaml(content)


# --- trees ---------------------------------------------------------------------------------------------------------


def agent(**members: Any) -> Json:
    return {"model": dict(MODEL), **members}


def image(name: str, platform: Json, digit: str = "a") -> Json:
    digest = "sha256:" + digit * 64
    return {
        "platform": dict(platform),
        "imageRef": f"registry.example.org/{name}@{digest}",
        "image": {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": 7},
    }


def profile(*platforms: Json) -> Json:
    wanted = platforms or (AMD64, ARM64)
    return {
        "runtimeBase": [image("base", platform) for platform in wanted],
        "harness": [image("harness", platform, "b") for platform in wanted],
        "sourceEpoch": 1,
    }


def variant(provider: str, version: str = "1.0.0", platform: Json | None = None, **members: Any) -> Json:
    return {
        "platform": dict(platform or AMD64),
        "entrypoint": f"/opt/agentsuite/tool-providers/{provider}/{version}/bin/{provider}",
        "runtime": {"abi": "static", "cpuBaseline": "x86-64-v1"},
        **members,
    }


def provider(*variants: Json, **members: Any) -> Json:
    tool = {"name": "run", "inputSchema": {"path": "schemas/run.json"}}
    value: Json = {"protocol": "mcp", "revision": "2025-11-25", "tools": [tool], **members}
    return {**value, "variants": list(variants)} if variants else value


def requirement(name: str, version: str = "1.0.0") -> Json:
    return {"id": name, "version": version, "executionMode": "shared-sandbox"}


def case(**members: Any) -> Json:
    return {"input": "hello", "assertions": [{"id": "a", "type": "contains", "value": "hello"}], **members}


REMOTE: Json = {
    "transport": "streamable-http",
    "endpointRef": "calendar",
    "network": [{"destinationRef": "calendar"}],
    "timeouts": {"connectMilliseconds": 5000, "requestMilliseconds": 30000},
    "cancellation": "propagate",
    "connection": "session-aware",
}


def minimal() -> dict[str, Any]:
    """Return the least that can be packed: one agent, its instructions, a build profile."""
    return {
        "agents/writer.yaml": agent(),
        "instructions/writer.md": "Write.\n",
        "build-profiles/default.yaml": profile(),
    }


def bundled(name: str = "clock", version: str = "1.0.0", **members: Any) -> dict[str, Any]:
    """Return the files of a ToolProvider with one variant, for linux/amd64."""
    folder = f"tool-providers/{name}/{version}"
    return {
        f"{folder}/tool-provider.yaml": provider(variant(name, version, **members)),
        f"{folder}/linux-amd64/bin/{name}": Script(),
        "schemas/run.json": '{"type": "object"}\n',
    }


def with_clock() -> dict[str, Any]:
    """Return the minimal tree and a bundled ToolProvider that its agent requires."""
    files = minimal() | bundled()
    files["agents/writer.yaml"]["toolProviders"] = [requirement("clock")]
    return files


def rich() -> dict[str, Any]:
    """Return a tree with something of everything; pack it with :data:`RICH`."""
    files = minimal()
    files["agents/writer.yaml"] |= {
        "toolProviders": [requirement("clock")],
        "invokes": [{"agent": "reviewer", "maxConcurrent": 1, "maxDepth": 1}],
    }
    files["agents/reviewer.json"] = agent(description="Grüße, 世界")
    files["instructions/reviewer.md"] = "Review.\n"
    files["evals/writer/cases/first.yaml"] = case()
    files["evals/writer/cases/Second.json"] = case(runs=3, minPasses=2)
    files["metadata/profiles/writer.yaml"] = {"goals": ["clarity"], "model": {"parameters": {"temperature": 0.5}}}
    files["metadata/profiles/writer/files/notes.txt"] = "kept\n"
    files["metadata/files.yaml"] = {"files": [{"path": "metadata/licence.txt"}]}
    files["metadata/licence.txt"] = "free\n"
    files |= bundled("clock", "2.0.0")
    files |= _platforms("base")
    files |= _platforms("clock", dependencies=[{"id": "base", "version": "1.0.0"}])
    files[f"{CLOCK}/tool-provider.yaml"]["variants"][0]["sbom"] = f"{CLOCK}/sbom.spdx.json"
    files[f"{CLOCK}/tool-provider.yaml"]["variants"][1]["provenance"] = {
        "path": f"{CLOCK}/provenance.bin",
        "mediaType": "application/vnd.example",
    }
    files[f"{CLOCK}/sbom.spdx.json"] = "{}\n"
    files[f"{CLOCK}/provenance.bin"] = b"\0\1"
    files[f"{CLOCK}/linux-amd64/lib/empty"] = None
    files[f"{CLOCK}/linux-amd64/lib/current"] = Link("../bin/clock")
    files[f"{CLOCK}/linux-amd64/data.txt"] = b"data"
    files["tool-providers/calendar/1.0.0/tool-provider.json"] = provider(retained=True, remote=dict(REMOTE))
    return files


def _platforms(name: str, **members: Any) -> dict[str, Any]:
    folder = f"tool-providers/{name}/1.0.0"
    both = [variant(name, platform=platform, **copy.deepcopy(members)) for platform in (AMD64, ARM64)]
    return {
        f"{folder}/tool-provider.yaml": provider(*both),
        f"{folder}/linux-amd64/bin/{name}": Script(),
        f"{folder}/linux-arm64/bin/{name}": Script(b"#!/bin/sh\n# arm64\n"),
    }


# --- what comes of them ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Suite:
    """A packed suite read back: its content tree, and its documents by path."""

    packed: Packed
    tree: ContentTree
    layer: str

    def __getitem__(self, path: str) -> Any:
        return json.loads(self.tree.documents[path])

    def entry(self, path: str) -> Entry:
        return self.tree.entries[path]

    @property
    def digests(self) -> tuple[str, str]:
        """The digests of the OCI manifest and of the content layer."""
        return self.packed.digest, self.layer


def packed(root: Path, options: Options = NAMED, target: Path | None = None, **how: Any) -> Suite:
    """Pack the tree at root and read back what was written."""
    target = target or root.with_name(f"{root.name}.agentsuite")
    result = pack(root, target, options, **how)
    return read_back(result)


def read_back(result: Packed) -> Suite:
    opened = Opened(result.target, DEFAULT_LIMITS)
    assert not opened.findings
    assert opened.tree is not None
    assert not opened.tree.findings
    assert opened.layout is not None
    with opened.layout.open(f"blobs/sha256/{result.digest.removeprefix('sha256:')}") as stream:
        manifest = json.load(stream)
    return Suite(result, opened.tree, manifest["layers"][0]["digest"])


def refused(root: Path, options: Options = NAMED) -> list[Finding]:
    """Return the findings that refuse the tree at root, before anything is written."""
    with pytest.raises(RefusedError) as caught:
        resolve(root, options)
    findings = list(caught.value.findings)
    assert all((finding.message + finding.hint) and str(finding).isprintable() for finding in findings)
    return findings


def errors(root: Path, options: Options = NAMED) -> list[Finding]:
    return [finding for finding in refused(root, options) if finding.is_error]


def only_error(root: Path, options: Options = NAMED) -> Finding:
    """Return the one error that refuses the tree at root."""
    found = errors(root, options)
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]


def line_of(root: Path, file: str, text: str) -> int:
    """Return the number of the first line that holds text."""
    lines = (root / file).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)
