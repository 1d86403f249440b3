"""A built image taken apart, changed, and put together again with every digest outside of what was changed right."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hatch_agentsuite.jsondoc import canonical, digest_bytes
from hatch_agentsuite.sandbox.validation import ImageReport
from tests.sandbox.kit import Layout, blob_path

Json = dict[str, Any]
BINDING = "org.agentsuite.binding.digest"


def errors(report: ImageReport) -> set[str]:
    """Return the requirements that a report refuses an image by."""
    return {finding.requirement for finding in report.findings if finding.is_error}


class Tampered:
    """The parts of an image of one platform; :meth:`write` puts them back, and seals config, manifest and index."""

    def __init__(self, root: Path) -> None:
        self.root = root
        layout = Layout(root)
        self.index: Json = {**layout.index, "manifests": [layout.top]}  # the provenance is about what it was
        self.manifest: Json = layout.manifest
        self.config: Json = layout.config
        self.entries: dict[str, tuple[tarfile.TarInfo, bytes]] = {}
        data = gzip.decompress(layout.data(self.manifest["layers"][-1]))
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                self.entries[member.name] = (member, stream.read() if stream else b"")

    @property
    def settings(self) -> Json:
        found: Json = self.config["config"]
        return found

    @property
    def labels(self) -> dict[str, str]:
        found: dict[str, str] = self.settings["Labels"]
        return found

    def info(self, path: str) -> tarfile.TarInfo:
        return self.entries[path.lstrip("/")][0]

    def put(self, path: str, data: bytes = b"", mode: int = 0o644, kind: bytes = tarfile.REGTYPE) -> None:
        """Add or replace an entry of our layer."""
        name = path.lstrip("/")
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.size = kind, mode, len(data)
        self.entries[name] = (info, data)

    def document(self, name: str) -> Any:
        return json.loads(self.entries[f".agentsuite/{name}"][1])

    def edit(self, name: str, change: Callable[[Any], object]) -> None:
        """Change a document in place and write it back, canonical."""
        value = self.document(name)
        change(value)
        self.put(f".agentsuite/{name}", canonical(value))

    def inventory(self, path: str, **members: object) -> None:
        """Change an entry of the inventory; without members, take it out. Then bind the inventory again."""

        def change(value: Json) -> None:
            [entry] = [item for item in value["entries"] if item["path"] == path]
            entry.update(members)
            if not members:
                value["entries"].remove(entry)

        self.edit("inventory.json", change)
        self.bind()

    def listed(self, **entry: object) -> None:
        """Add an entry to the inventory and bind it again."""

        def change(value: Json) -> None:
            value["entries"].append({"uid": 0, "gid": 0, "component": "agentsuite", **entry})

        self.edit("inventory.json", change)
        self.bind()

    def bind(self) -> None:
        """Let the binding commit to the inventory and the label to the binding."""
        data = self.entries[".agentsuite/inventory.json"][1]
        self.edit("binding.json", lambda v: v["inventory"].update(digest=digest_bytes(data), size=len(data)))
        self.labels[BINDING] = digest_bytes(self.entries[".agentsuite/binding.json"][1])

    def write(self) -> Path:
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name in sorted(self.entries, key=str.encode):
                info, data = self.entries[name]
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        blob = gzip.compress(stream.getvalue(), 1, mtime=0)
        self.manifest["layers"][-1].update(self._blob(blob))
        self.config["rootfs"]["diff_ids"][-1] = digest_bytes(stream.getvalue())
        return self.seal()

    def seal(self) -> Path:
        """Write config, manifest and index, the layer left as it is."""
        if isinstance(self.manifest["config"], dict):
            self.manifest["config"].update(self._blob(json.dumps(self.config).encode()))
        self.index["manifests"][0].update(self._blob(json.dumps(self.manifest).encode()))
        (self.root / "index.json").write_text(json.dumps(self.index))
        return self.root

    def _blob(self, data: bytes) -> Json:
        blob_path(self.root, digest_bytes(data)).write_bytes(data)
        return {"digest": digest_bytes(data), "size": len(data)}
