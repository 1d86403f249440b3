"""Makes the authoring trees that are measured: `python benchmarks/trees.py A|B|C|D FOLDER`.

The payloads are cut from files of this machine, ELF binaries for C and text for the others, so that they compress like
what people ship. All files of a kind are taken as one long stream in the order of their paths, and each payload file is
the next piece of it (C: fifty pieces spread over all of it), started over when it ends. Every file begins with its
number, so no two are equal; what is the same further away than deflate's window of 32 KiB does not make a tree easier.
The same machine gives the same trees; another one gives trees of the same shape that compress much the same.
"""

from __future__ import annotations

import math
import os
import random
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

PLATFORM = "linux-amd64"
TEXT_SUFFIXES = (".c", ".h", ".js", ".md", ".py", ".rst", ".txt")
LEAST_BINARY = 64 * 1024
ZERO_DIGEST = f"sha256:{'0' * 64}"


@dataclass(frozen=True)
class Shape:
    """How many files of what mean size a tree has, and over how many ToolProviders they are spread."""

    kind: str
    providers: int
    files: int
    mean_size: int
    spread: float
    """The sigma of the sizes' log-normal distribution."""
    agents: int = 1


SHAPES = {
    "A": Shape("text", providers=1, files=2_000, mean_size=9_500, spread=1.0),
    "B": Shape("text", providers=6, files=60_000, mean_size=7_400, spread=1.0),
    "C": Shape("binary", providers=1, files=50, mean_size=22_600_000, spread=0.3),
    "D": Shape("text", providers=50, files=60_000, mean_size=17_900, spread=1.0, agents=200),
}


def make_tree(name: str, folder: Path) -> None:
    """Write an authoring tree into a new folder; it appears whole or not at all."""
    work = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(work, ignore_errors=True)
    shape = SHAPES[name]
    write_documents(work, shape)
    source = Corpus(shape.kind)
    sizes = file_sizes(shape)
    for number, size in enumerate(sizes):
        if shape.kind == "binary":
            source.seek(number * source.size // len(sizes))
        path = work / payload_path(shape, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            stream.write(b"# %06d\n" % number)
            for piece in source.take(size):
                stream.write(piece)
    work.rename(folder)


def file_sizes(shape: Shape) -> list[int]:
    """Return the sizes of a tree's files: many small, few large."""
    numbers = random.Random(0)
    middle = math.log(shape.mean_size) - shape.spread**2 / 2
    return [round(numbers.lognormvariate(middle, shape.spread)) for _ in range(shape.files)]


def payload_path(shape: Shape, number: int) -> str:
    """Return where the file of a number lies: a hundred files a folder, as many folders as it takes."""
    each = shape.files // shape.providers
    provider, index = divmod(number, each)
    suffix = "py" if shape.kind == "text" else "so"
    return f"{payload_folder(provider)}/lib/part{index // 100:03d}/module{index % 100:02d}.{suffix}"


def payload_folder(provider: int) -> str:
    """Return the payload folder of a ToolProvider."""
    return f"tool-providers/tools{provider}/1.0.0/{PLATFORM}"


class Corpus:
    """Files of this machine as one endless stream."""

    def __init__(self, kind: str) -> None:
        self._files = list(corpus_files(is_text if kind == "text" else is_binary))
        if not self._files:
            raise SystemExit(f"this machine has no {kind} files to cut payloads from")
        self.size = sum(size for _, size in self._files)
        self._index = self._position = 0

    def seek(self, position: int) -> None:
        """Go on at a byte of the stream."""
        self._index = 0
        while position >= self._files[self._index][1]:
            position -= self._files[self._index][1]
            self._index += 1
        self._position = position

    def take(self, size: int) -> Iterator[bytes]:
        """Yield the next bytes, piece by piece."""
        while size > 0:
            path, length = self._files[self._index]
            with path.open("rb") as stream:
                stream.seek(self._position)
                piece = stream.read(min(size, length - self._position))
            size -= len(piece)
            self._position += len(piece)
            if not piece or self._position >= length:
                self._index = (self._index + 1) % len(self._files)
                self._position = 0
            yield piece


def corpus_files(wanted: Callable[[Path, int], bool]) -> Iterator[tuple[Path, int]]:
    """Yield files of the system and of Python, with their sizes, sorted by folder."""
    roots = {Path(root) for root in ("/usr/bin", "/usr/include", "/usr/lib", "/usr/share")}
    roots |= {Path(sys.base_prefix), Path(sysconfig.get_path("stdlib"))}
    for root in sorted(roots):
        for folder, names, files in os.walk(root):
            names.sort()
            for name in sorted(files):
                path = Path(folder, name)
                if path.is_symlink() or not path.is_file():
                    continue
                size = path.stat().st_size
                if size and wanted(path, size):
                    yield path, size


def is_text(path: Path, _size: int) -> bool:
    """Whether a file is source or prose."""
    return path.suffix in TEXT_SUFFIXES


def is_binary(path: Path, size: int) -> bool:
    """Whether a file is an ELF binary of some size."""
    if size < LEAST_BINARY:
        return False
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def write_documents(root: Path, shape: Shape) -> None:
    """Write what makes a suite of payloads: agents, a build profile, and the ToolProviders' manifests."""
    documents = {
        "schemas/input.json": '{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}\n',
        "build-profiles/default.yaml": "\n".join(
            [*image_lines("runtimeBase"), *image_lines("harness"), "sourceEpoch: 1767225600", ""]
        ),
    }
    for number in range(shape.agents):
        documents[f"agents/worker{number}.yaml"] = agent_text(number, shape)
        documents[f"instructions/worker{number}.md"] = f"Use the tools as worker {number}.\n"
    for number in range(shape.providers):
        documents[f"tool-providers/tools{number}/1.0.0/tool-provider.yaml"] = provider_text(number)
        documents[f"{payload_folder(number)}/bin/server"] = f"#!/bin/sh\n# {number}\nexec true\n"
    for name, text in documents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if path.name == "server":
            path.chmod(0o755)


def agent_text(number: int, shape: Shape) -> str:
    """Return an agent's manifest; every ToolProvider is used by somebody."""
    each = -(-shape.providers // shape.agents)
    used = sorted({(number * each + offset) % shape.providers for offset in range(max(each, min(4, shape.providers)))})
    lines = [f"\n  - {{id: tools{n}, version: 1.0.0, executionMode: shared-sandbox}}" for n in used]
    return f"""\
description: Uses the tools that are measured.
model: {{protocol: openai-chat, model: example-model, endpointEnv: MODEL_ENDPOINT, secretRefs: [model-api-key]}}
toolProviders:{"".join(lines)}
"""


def provider_text(number: int) -> str:
    """Return a ToolProvider's manifest as its author writes it."""
    return f"""\
protocol: mcp
revision: "2025-11-25"
tools:
  - name: call{number}
    description: Do what is measured.
    inputSchema: {{path: schemas/input.json}}
    effects: []
    effect: read-only
    approval: policy-controlled
variants:
  - platform: {{os: linux, architecture: amd64}}
    entrypoint: /opt/agentsuite/tool-providers/tools{number}/1.0.0/bin/server
    searchPath: [/usr/bin, /bin]
    runtime: {{abi: static, cpuBaseline: x86-64-v1, requiredBasePaths: [/bin/sh]}}
"""


def image_lines(member: str) -> list[str]:
    """Return a build profile's pin of one image, a placeholder."""
    return [
        f"{member}:",
        "  - platform: {os: linux, architecture: amd64}",
        f"    imageRef: placeholder.invalid/{member.lower()}@{ZERO_DIGEST}",
        f"    image: {{mediaType: application/vnd.oci.image.manifest.v1+json, digest: '{ZERO_DIGEST}', size: 1}}",
    ]


if __name__ == "__main__":
    make_tree(sys.argv[1], Path(sys.argv[2]))
