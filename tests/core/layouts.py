"""Hand-made image layouts, valid around whatever layer they carry."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

ARTIFACT = "application/vnd.agentsuite.suite.v1"
LAYER = "application/vnd.agentsuite.content.v1.tar+gzip"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
EMPTY = "application/vnd.oci.empty.v1+json"


def dumps(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def descriptor(media_type: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": f"sha256:{hashlib.sha256(data).hexdigest()}", "size": len(data)}


def blob(root: Path, data: bytes) -> Path:
    """Return where a layout keeps a blob of these bytes."""
    return root / "blobs" / "sha256" / hashlib.sha256(data).hexdigest()


def manifest_of(layer: bytes, **members: Any) -> bytes:
    return dumps(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": ARTIFACT,
            "config": descriptor(EMPTY, b"{}"),
            "layers": [descriptor(LAYER, layer)],
            **members,
        }
    )


def index_of(manifest: bytes, **members: Any) -> bytes:
    selected = {**descriptor(MANIFEST, manifest), "artifactType": ARTIFACT, **members}
    return dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [selected]})


def make_layout(root: Path, layer: bytes) -> Path:
    manifest = manifest_of(layer)
    (root / "blobs" / "sha256").mkdir(parents=True)
    for data in (b"{}", layer, manifest):
        blob(root, data).write_bytes(data)
    (root / "index.json").write_bytes(index_of(manifest))
    (root / "oci-layout").write_bytes(b'{"imageLayoutVersion":"1.0.0"}')
    return root
