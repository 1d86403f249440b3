"""Small OCI images made of ``tarfile``, and suites whose build profile pins them.

    world = World(tmp_path)                      # base, harness and a suite with an agent and a clock
    world.harness.layers.append([File("/etc/motd", b"hi")])
    built = world.build(agent="writer")

Nothing here is written by the code under test but the suite, which is packed.
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.jsondoc import digest_bytes
from hatch_agentsuite.packing import pack
from hatch_agentsuite.sandbox.building import BuiltImage, build_image
from hatch_agentsuite.sandbox.inflating import zstd_module
from hatch_agentsuite.source import Options
from tests.sandbox.elves import EXEC, elf
from tests.source import trees

Json = dict[str, Any]

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
EPOCH = 1_700_000_000
CREATED = "2023-11-14T22:13:20Z"
CLOCK_ROOT = "/opt/agentsuite/tool-providers/clock/1.0.0"
STATIC = {"amd64": elf(type=EXEC), "arm64": elf(type=EXEC, machine=183)}


# --- layers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class File:
    """A regular file of a layer; ``name`` is written as it is, without the leading slash."""

    name: str
    data: bytes = b""
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    kind: bytes = tarfile.REGTYPE
    target: str = ""
    device: tuple[int, int] = (0, 0)
    pax: Json = field(default_factory=dict)


def program(name: str, data: bytes = STATIC["amd64"], mode: int = 0o755) -> File:
    return File(name, data, mode)


def folder(name: str, mode: int = 0o755, uid: int = 0, gid: int = 0) -> File:
    return File(name, b"", mode, uid, gid, tarfile.DIRTYPE)


def link(name: str, target: str) -> File:
    return File(name, mode=0o777, kind=tarfile.SYMTYPE, target=target)


def hardlink(name: str, target: str) -> File:
    return File(name, kind=tarfile.LNKTYPE, target=target)


def device(name: str, kind: bytes = tarfile.CHRTYPE) -> File:
    return File(name, kind=kind, mode=0o666, device=(1, 3))


def tar(files: Iterable[File], form: int = tarfile.PAX_FORMAT) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for file in files:
            info = tarfile.TarInfo(file.name.removeprefix("/"))
            info.type, info.mode, info.uid, info.gid = file.kind, file.mode, file.uid, file.gid
            info.size, info.linkname, info.mtime = len(file.data), file.target.removeprefix("\0"), 1
            info.devmajor, info.devminor = file.device
            info.pax_headers = dict(file.pax)
            archive.addfile(info, io.BytesIO(file.data))
    return stream.getvalue()


Files = list[File]


# --- images --------------------------------------------------------------------------------------------------------


@dataclass
class OciImage:
    """An image of one platform; ``compress`` is empty, ``gzip`` or ``zstd``."""

    layers: list[Files]
    settings: Json = field(default_factory=dict)
    architecture: str = "amd64"
    compress: str = "gzip"
    change: Callable[[Json, Json], object] = lambda _manifest, _config: None
    form: int = tarfile.PAX_FORMAT

    def blobs(self) -> tuple[bytes, dict[str, bytes]]:
        """Return the manifest, and all blobs by digest."""
        tars = [tar(files, self.form) for files in self.layers]
        packed = [self._compressed(data) for data in tars]
        suffix = f"+{self.compress}" if self.compress else ""
        config: Json = {
            "os": "linux",
            "architecture": self.architecture,
            "config": dict(self.settings),
            "rootfs": {"type": "layers", "diff_ids": [digest_bytes(data) for data in tars]},
        }
        manifest: Json = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "layers": [described(LAYER + suffix, data) for data in packed],
        }
        self.change(manifest, config)
        encoded = json.dumps(config).encode()
        manifest.setdefault("config", described(CONFIG, encoded))
        whole = json.dumps(manifest).encode()
        return whole, {digest_bytes(data): data for data in (*packed, encoded, whole)}

    def _compressed(self, data: bytes) -> bytes:
        if self.compress == "gzip":
            return gzip.compress(data, 1, mtime=0)
        return bytes(zstd_module().compress(data)) if self.compress == "zstd" else data

    def pin(self, name: str) -> Json:
        data, _ = self.blobs()
        return {
            "platform": {"os": "linux", "architecture": self.architecture},
            "imageRef": f"registry.example.org/{name}@{digest_bytes(data)}",
            "image": described(MANIFEST, data),
        }


def described(media_type: str, data: bytes) -> Json:
    return {"mediaType": media_type, "digest": digest_bytes(data), "size": len(data)}


def write_layout(root: Path, images: Iterable[OciImage]) -> Path:
    """Write images into one layout."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "blobs/sha256").mkdir(parents=True, exist_ok=True)
    listed = []
    for image in images:
        manifest, blobs = image.blobs()
        listed.append(described(MANIFEST, manifest))
        for digest, data in blobs.items():
            blob_path(root, digest).write_bytes(data)
            blob_path(root, digest).chmod(0o644)
    (root / "index.json").write_text(json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": listed}))
    (root / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return root


def blob_path(root: Path, digest: str) -> Path:
    return root / "blobs/sha256" / digest.removeprefix("sha256:")


def base(architecture: str = "amd64") -> OciImage:
    """Return a base with a shell, in a merged /usr, of two layers."""
    first = [folder("usr"), folder("usr/bin"), link("bin", "usr/bin"), program("usr/bin/sh", STATIC[architecture])]
    second = [folder("etc"), File("etc/os-release", b"ID=demo\n"), folder("tmp", 0o1777)]
    settings = {"Env": ["PATH=/usr/bin", "LANG=C.UTF-8"]}
    return OciImage([first, second], settings, architecture)


def harness(on: OciImage) -> OciImage:
    """Return a harness that is built on a base."""
    own = [folder("app"), program("app/harness", STATIC[on.architecture])]
    settings = {**on.settings, "Entrypoint": ["/app/harness"], "Cmd": ["--stdio"], "WorkingDir": "/app"}
    return OciImage([*on.layers, own], settings, on.architecture)


# --- suites --------------------------------------------------------------------------------------------------------


class World:
    """Base and harness images and the authoring tree of a suite, open to change until they are written."""

    def __init__(self, root: Path, *architectures: str) -> None:
        self.root = root
        self.architectures = architectures or ("amd64",)
        self.bases = {name: base(name) for name in self.architectures}
        self.harnesses = {name: harness(self.bases[name]) for name in self.architectures}
        self.files = copy.deepcopy(trees.minimal())
        self.provider = trees.provider(
            *(
                trees.variant("clock", platform={"os": "linux", "architecture": name}, **self._variant(name))
                for name in self.architectures
            )
        )
        folder = "tool-providers/clock/1.0.0"
        self.files["agents/writer.yaml"]["toolProviders"] = [trees.requirement("clock")]
        self.files[f"{folder}/tool-provider.yaml"] = self.provider
        self.files["schemas/run.json"] = '{"type": "object"}\n'
        for name in self.architectures:
            self.files[f"{folder}/linux-{name}/bin/clock"] = trees.Script(STATIC[name])
            self.files[f"{folder}/linux-{name}/share/zones"] = b"UTC\n"

    @staticmethod
    def _variant(architecture: str) -> Json:
        baseline = "x86-64-v1" if architecture == "amd64" else "armv8-a"
        return {"runtime": {"abi": "static", "cpuBaseline": baseline}}

    @property
    def base(self) -> OciImage:
        return self.bases["amd64"]

    @property
    def harness(self) -> OciImage:
        return self.harnesses["amd64"]

    @property
    def variant(self) -> Json:
        found: Json = self.provider["variants"][0]
        return found

    def payload(self, path: str, content: Any) -> None:
        """Put a file into the clock's payload for linux/amd64."""
        self.files[f"tool-providers/clock/1.0.0/linux-amd64/{path}"] = content

    @property
    def images(self) -> Path:
        return self.root / "images"

    @property
    def suite(self) -> Path:
        return self.root / "demo.agentsuite"

    def write_images(self) -> None:
        write_layout(self.images, [*self.bases.values(), *self.harnesses.values()])

    def write_suite(self) -> Path:
        self.files["build-profiles/default.yaml"] = {
            "runtimeBase": [image.pin("base") for image in self.bases.values()],
            "harness": [image.pin("harness") for image in self.harnesses.values()],
            "sourceEpoch": EPOCH,
        }
        source = trees.write_tree(self.root / "suite", self.files)
        pack(source, self.suite, Options(default_name="demo", provider_images=("clock",)))
        return self.suite

    def write(self) -> World:
        self.write_images()
        self.write_suite()
        return self

    def build(self, target: str = "out.image", **options: Any) -> BuiltImage:
        """Write everything that is not written yet, and build."""
        if not self.images.exists():
            self.write_images()
        if not self.suite.exists():
            self.write_suite()
        if "tool_provider" not in options:
            options.setdefault("agent", "writer")
        options.setdefault("platform", "linux/amd64")
        options.setdefault("images", [self.images])
        return build_image(self.suite, self.root / target, **options)

    def refused(self, **options: Any) -> list[Finding]:
        """Return the errors that refuse a build, and see that nothing is left of it."""
        target = self.root / "out.image"
        with pytest.raises(RefusedError) as caught:
            self.build(**options)
        assert not target.exists()
        assert not [path for path in self.root.iterdir() if path.name.startswith(".")]
        assert all(str(finding).isprintable() for finding in caught.value.findings)
        return [finding for finding in caught.value.findings if finding.is_error]


# --- reading what was built ------------------------------------------------------------------------------------------


class Layout:
    """A built layout, read by hand."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.index: Json = json.loads((root / "index.json").read_bytes())

    def value(self, descriptor: Json) -> Json:
        found: Json = json.loads(self.data(descriptor))
        return found

    def data(self, descriptor: Json) -> bytes:
        return blob_path(self.root, descriptor["digest"]).read_bytes()

    @property
    def top(self) -> Json:
        [found] = [item for item in self.index["manifests"] if "artifactType" not in item]
        return dict(found)

    @property
    def manifest(self) -> Json:
        return self.value(self.top)

    @property
    def config(self) -> Json:
        return self.value(self.manifest["config"])

    @property
    def settings(self) -> Json:
        return dict(self.config["config"])

    def our_layer(self) -> dict[str, tarfile.TarInfo]:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(self.data(self.manifest["layers"][-1])))) as archive:
            return {member.name: member for member in archive}

    def file(self, path: str) -> bytes:
        data = gzip.decompress(self.data(self.manifest["layers"][-1]))
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            stream = archive.extractfile(path.lstrip("/"))
            assert stream is not None
            return stream.read()

    def document(self, name: str) -> Json:
        found: Json = json.loads(self.file(f"/.agentsuite/{name}"))
        return found
