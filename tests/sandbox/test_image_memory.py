"""A large base costs time and no memory, and its layers are not written again (specification 5.2, 12)."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.sandbox.kit import STATIC, OciImage, World, blob_path

MEASURE = """
import sys
from pathlib import Path
from hatch_agentsuite.sandbox.building import build_image
from hatch_agentsuite.sandbox.validation import validate_image
root = Path(sys.argv[1])
build_image(root / "demo.agentsuite", root / "out", agent="writer", platform="linux/amd64", images=[root / "images"])
assert validate_image(root / "out").ok
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""
MIB = 1024**2


def large(size: int) -> tuple[bytes, str]:
    """Return a gzip layer with a program and a library of ``size`` bytes, mostly zeros, and its diff id."""

    def pieces() -> Iterator[bytes]:
        for name, head, length in (
            ("usr/bin/sh", STATIC["amd64"], len(STATIC["amd64"])),
            ("lib/big.so", STATIC["amd64"], size),
        ):
            info = tarfile.TarInfo(name)
            info.size, info.mode = length, 0o755
            yield info.tobuf()
            yield head
            for _ in range((length - len(head)) // MIB):
                yield bytes(MIB)
            yield bytes((length - len(head)) % MIB + -length % 512)
        yield bytes(1024)

    hasher, compressor, found = sha256(), zlib.compressobj(1, zlib.DEFLATED, 31), []
    for piece in pieces():
        hasher.update(piece)
        found.append(compressor.compress(piece))
    return b"".join([*found, compressor.flush()]), f"sha256:{hasher.hexdigest()}"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_does_not_grow_with_the_base(tmp_path: Path) -> None:
    peaks = []
    for size in (4 * MIB, 256 * MIB):
        world = World(tmp_path / str(size))
        blob, diff_id = large(size)

        class Large(OciImage):
            def blobs(self, blob: bytes = blob, diff_id: str = diff_id) -> tuple[bytes, dict[str, bytes]]:
                return with_layer(self, blob, diff_id)

        world.bases["amd64"] = Large([[]], world.base.settings)
        world.harnesses["amd64"] = OciImage([world.harness.layers[-1]], world.harness.settings)
        world.write()
        arguments = [sys.executable, "-c", MEASURE, str(world.root)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(arguments, env=environment, check=True, capture_output=True, text=True)
        peaks.append(int(done.stdout) / 1024)
        digest = f"sha256:{sha256(blob).hexdigest()}"
        source, taken = blob_path(world.images, digest), blob_path(world.root / "out", digest)
        assert taken.samefile(source) or taken.stat().st_size == source.stat().st_size
    assert peaks[1] - peaks[0] < 24, peaks


def with_layer(image: OciImage, blob: bytes, diff_id: str) -> tuple[bytes, dict[str, bytes]]:
    """Return the blobs of an image whose one layer is this blob."""
    from tests.sandbox.kit import LAYER, described

    def change(manifest: dict[str, object], config: dict[str, object]) -> None:
        manifest["layers"] = [described(f"{LAYER}+gzip", blob)]
        config["rootfs"] = {"type": "layers", "diff_ids": [diff_id]}

    manifest, blobs = OciImage(image.layers, image.settings, change=change).blobs()
    return manifest, {**blobs, f"sha256:{sha256(blob).hexdigest()}": blob}
