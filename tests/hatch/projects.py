"""Small projects in temporary folders, and hatchling run on them as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

PIN = "1" * 64

AGENT = {
    "description": "Answers.",
    "model": {"protocol": "openai-chat", "model": "m", "endpointEnv": "MODEL_ENDPOINT", "secretRefs": ["key"]},
}

TOOL_PROVIDER = {
    "protocol": "mcp",
    "revision": "2025-11-25",
    "tools": [
        {
            "name": "look",
            "description": "Look.",
            "inputSchema": {"path": "schemas/look.json"},
            "effects": ["reads-files"],
            "effect": "read-only",
            "approval": "policy-controlled",
        }
    ],
    "variants": [
        {
            "platform": {"os": "linux", "architecture": "amd64"},
            "entrypoint": "/opt/agentsuite/tool-providers/eyes/1.0.0/run",
            "searchPath": ["/bin"],
            "runtime": {"abi": "static", "cpuBaseline": "x86-64-v1", "requiredBasePaths": ["/bin/sh"]},
        }
    ],
}


def image(name: str, architecture: str) -> dict[str, object]:
    return {
        "platform": {"os": "linux", "architecture": architecture},
        "imageRef": f"registry.example/{name}@sha256:{PIN}",
        "image": {
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": f"sha256:{PIN}",
            "size": 7,
        },
    }


def build_profile(*architectures: str) -> dict[str, object]:
    return {
        "runtimeBase": [image("base", architecture) for architecture in architectures],
        "harness": [image("harness", architecture) for architecture in architectures],
        "sourceEpoch": 1,
    }


def write_yaml(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(value), encoding="utf-8")


def write_suite(folder: Path, *, architectures: tuple[str, ...] = ("amd64",), with_tool: bool = False) -> Path:
    """Write the smallest authoring tree that packs without a warning: the agent `helper`, with the tool `look`."""
    agent: dict[str, object] = dict(AGENT)
    if with_tool:
        agent["toolProviders"] = [{"id": "eyes", "version": "1.0.0", "executionMode": "shared-sandbox"}]
        provider = folder / "tool-providers" / "eyes" / "1.0.0"
        write_yaml(provider / "tool-provider.yaml", TOOL_PROVIDER)
        (provider / "linux-amd64").mkdir()
        (provider / "linux-amd64" / "run").write_text("#!/bin/sh\n")
        (provider / "linux-amd64" / "run").chmod(0o755)
        (folder / "schemas").mkdir()
        (folder / "schemas" / "look.json").write_text('{"type": "object"}\n')
    write_yaml(folder / "agents" / "helper.yaml", agent)
    write_yaml(folder / "build-profiles" / "default.yaml", build_profile(*architectures))
    (folder / "instructions").mkdir()
    (folder / "instructions" / "helper.md").write_text("Help.\n")
    return folder


def pyproject(*, name: str = "demo", version: str = "0.1.0", tables: str = "") -> str:
    return (
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
        f'[project]\nname = "{name}"\nversion = "{version}"\nrequires-python = ">=3.10"\n\n{tables}\n'
    )


def target_table(options: str) -> str:
    return f"[tool.hatch.build.targets.agentsuite]\n{options}\n"


def write_project(root: Path, *, name: str = "demo", version: str = "0.1.0", tables: str = "") -> Path:
    """Write a project whose suite is at `suite/`."""
    write_suite(root / "suite")
    (root / "pyproject.toml").write_text(pyproject(name=name, version=version, tables=tables), encoding="utf-8")
    return root


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """What was said on standard error."""
        return self.err.splitlines()


def clean_environment(**changes: str) -> dict[str, str]:
    """Return this process's environment without what would steer Hatch, uv and Python, with changes."""
    steering = ("HATCH", "UV_", "PYTHON", "VIRTUAL_ENV", "SOURCE_DATE_EPOCH", "PYTEST", "COV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    return {**kept, **changes}


def run(*command: str | Path, cwd: Path, **changes: str) -> Outcome:
    """Run a command in a process of its own."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environment(**changes),
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=120,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def run_hatchling(root: Path, *arguments: str, **changes: str) -> Outcome:
    """Run `python -m hatchling build` in a process of its own."""
    return run(sys.executable, "-m", "hatchling", "build", *arguments, cwd=root, **changes)
