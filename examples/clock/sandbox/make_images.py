"""Make a runtime base and a harness to try sandbox images with, and pin them: python sandbox/make_images.py

The base is this machine's busybox with what it loads, for linux/amd64; `apt-get install busybox-static` gives one that
loads nothing. The harness is the shell script `client` beside this file. Both are written as OCI images into `images/`,
and their digests into `suite/build-profiles/default.yaml`. For real work, pin images that somebody looks after.
"""

import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE.parent
APPLETS = ("awk", "cat", "date", "id", "sed", "sh")
EPOCH = 1767225600
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def base_entries():
    busybox = Path(shutil.which("busybox") or sys.exit("busybox is not installed")).resolve()
    yield "bin", None
    yield "usr", None
    yield "usr/bin", None
    yield "bin/busybox", busybox.read_bytes()
    for applet in APPLETS:
        yield f"bin/{applet}", "busybox"
    yield "usr/bin/awk", "/bin/busybox"
    loaded = subprocess.run(
        ["ldd", busybox], capture_output=True, text=True, check=False
    ).stdout  # nothing of a static one
    for library in re.findall(r"(/\S+) \(0x", loaded):
        yield library[1:], Path(library).resolve().read_bytes()


def harness_entries():
    yield "app", None
    yield "app/client", (HERE / "client").read_bytes()


def tar(entries):
    """Return a tar: None is a folder, text the target of a link, bytes a program."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.mode, info.mtime = 0o755, EPOCH
            if isinstance(content, bytes):
                info.size = len(content)
            elif content is None:
                info.type = tarfile.DIRTYPE
            else:
                info.type, info.linkname = tarfile.SYMTYPE, content
            archive.addfile(info, io.BytesIO(content if isinstance(content, bytes) else b""))
    return stream.getvalue()


def blob(layout, media_type, data):
    """Write a blob and return its descriptor."""
    digest = hashlib.sha256(data).hexdigest()
    path = layout / "blobs/sha256" / digest
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}


def image(name, layers, settings):
    """Write an image into the layout `images/NAME` and return how a build profile pins it."""
    layout = PROJECT / "images" / name
    described = [blob(layout, "application/vnd.oci.image.layer.v1.tar", layer) for layer in layers]
    platform = {"os": "linux", "architecture": "amd64"}
    rootfs = {"type": "layers", "diff_ids": [item["digest"] for item in described]}
    config = json.dumps({**platform, "config": settings, "rootfs": rootfs}).encode()
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": blob(layout, "application/vnd.oci.image.config.v1+json", config),
        "layers": described,
    }
    pinned = blob(layout, MANIFEST, json.dumps(manifest).encode())
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [pinned]}))
    (layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return {"platform": platform, "imageRef": f"registry.example.org/{name}@{pinned['digest']}", "image": pinned}


base, harness = tar(base_entries()), tar(harness_entries())
environment = {"Env": ["PATH=/usr/bin:/bin"]}
profile = {
    "runtimeBase": [image("runtime-base", [base], environment)],
    "harness": [
        image("harness", [base, harness], {**environment, "Entrypoint": ["/app/client"], "WorkingDir": "/app"})
    ],
    "sourceEpoch": EPOCH,
}
(PROJECT / "suite/build-profiles/default.yaml").write_text(json.dumps(profile, indent=2) + "\n")
