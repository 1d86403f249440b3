"""``agentsuite init``: a small project that builds at once."""

from __future__ import annotations

from pathlib import Path

import click

from hatch_agentsuite.cli.console import fail, reports_failures

_PLACEHOLDER = "0" * 64

_FILES = {
    "pyproject.toml": """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "0.1.0"

[tool.hatch.build.targets.agentsuite]
dependencies = ["hatch-agentsuite"]
""",
    "suite/agents/assistant.yaml": """\
# The file's name is the agent's id; its instructions are instructions/assistant.md.
description: Answers questions about one topic.
model:
  protocol: openai-chat
  model: your-model # the model that the harness asks for
  endpointEnv: MODEL_ENDPOINT # names of environment variables and secrets, never their values
  secretRefs: [model-api-key]
""",
    "suite/instructions/assistant.md": """\
Answer the user's question in at most three sentences. Say so when you do not know.
""",
    "suite/evals/assistant/cases/capital.yaml": """\
input: What is the capital of France?
assertions:
  - id: names-paris
    type: contains
    value: Paris
""",
    "suite/build-profiles/default.yaml": """\
# PLACEHOLDERS: replace each imageRef and image by images that you have, pinned by digest.
# The suite builds and validates as it is; no sandbox image can be built from it, and `strict = true` refuses it.
runtimeBase:
  - platform: {{os: linux, architecture: amd64}}
    imageRef: placeholder.invalid/runtime-base@sha256:{placeholder}
    image:
      mediaType: application/vnd.oci.image.manifest.v1+json
      digest: sha256:{placeholder}
      size: 1
harness:
  - platform: {{os: linux, architecture: amd64}}
    imageRef: placeholder.invalid/harness@sha256:{placeholder}
    image:
      mediaType: application/vnd.oci.image.manifest.v1+json
      digest: sha256:{placeholder}
      size: 1
sourceEpoch: 1767225600 # the time stamp of generated images: 2026-01-01
""",
}


@click.command("init")
@click.argument("directory", type=click.Path(path_type=Path), default=Path())
@click.option("--name", help="The project's name.  [default: the directory's name]")
@reports_failures
def command(directory: Path, name: str | None) -> None:
    """Write a small project into DIRECTORY (default: here): one agent, one eval case, a build profile to fill in.

    Nothing that exists is overwritten.
    """
    from hatch_agentsuite.configuration import identifier_from

    project = identifier_from(name or directory.resolve().name) or "agents"
    present = [path for path in _FILES if (directory / path).exists() or (directory / path).is_symlink()]
    if present:
        fail(f"already there, and not overwritten: {', '.join(str(directory / path) for path in present)}")
    for path, text in _FILES.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(name=project, placeholder=_PLACEHOLDER), encoding="utf-8")
        click.echo(file)
    click.echo(f"\nNext: cd {directory} && hatch build -t agentsuite", err=True)
