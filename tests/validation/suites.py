"""A valid, rich suite held in memory: change anything, and every other digest is computed again.

    suite = SuiteBuilder()
    suite.edit("agents/writer.json", "invokes/0/agent", "nobody")
    suite.directory(tmp_path / "suite")

Layers and layouts are written by ``tarfile`` and ``gzip``, not by the code under test, so that hostile ones can be made
the same way. A :class:`Kept` digest is left as it is written.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from hatch_agentsuite.jsondoc import canonical, digest, digest_bytes, variant_digest
from tests.validation import carriers, contents
from tests.validation.carriers import TarEntry
from tests.validation.contents import Json

_ROUNDS = 12


class Kept(str):
    """A digest that is not computed again."""

    __slots__ = ()


STALE = Kept("sha256:" + "5" * 64)


class _Drop:
    def __repr__(self) -> str:
        return "DROP"


DROP = _Drop()
"""A value that stands for the absence of a member or item."""


class SuiteBuilder:
    """The documents, other files, folders, links and evidence blobs of a suite, by content path."""

    def __init__(self) -> None:
        self.documents: dict[str, Any] = copy.deepcopy(_sealed())
        self.files: dict[str, bytes] = contents.files()
        self.modes: dict[str, int] = dict.fromkeys(contents.EXECUTABLES, 0o755)
        self.folders: dict[str, int] = dict.fromkeys(contents.FOLDERS, 0o755)
        self.symlinks: dict[str, str] = dict(contents.SYMLINKS)
        self.hardlinks: dict[str, str] = dict(contents.HARDLINKS)
        self.blobs: list[bytes] = list(contents.EVIDENCE)
        self.raw: dict[str, bytes] = {}
        """Documents written as these bytes; their digest is still that of their value."""
        self.more: list[TarEntry] = []
        """Entries at the end of the layer, whatever they are."""

    # --- changing ---

    def at(self, document: str, where: str = "") -> Any:
        """Return the value at a place of a document (``variants/0/files``)."""
        value = self.documents[document]
        for step in steps(where):
            value = value[step]
        return value

    def edit(self, document: str, where: str, value: Any) -> None:
        """Set or drop the value at a place of a document."""
        *way, last = steps(where)
        holder = self.documents[document]
        for step in way:
            holder = holder[step]
        if value is DROP:
            del holder[last]
        elif isinstance(holder, list) and last == len(holder):
            holder.append(value)
        else:
            holder[last] = value

    def move(self, source: str, target: str) -> None:
        """Move a document to another path; references to it are left alone."""
        self.documents[target] = self.documents.pop(source)

    # --- digests ---

    def seal(self) -> SuiteBuilder:
        """Compute every digest but the kept ones, until nothing changes any more (a cycle never settles)."""
        for _ in range(_ROUNDS):
            if not self._round():
                break
        return self

    def _round(self) -> bool:
        digests = {path: digest(plain(value)) for path, value in self.documents.items()}
        digests.update((path, digest_bytes(data)) for path, data in self.files.items())
        providers = self._providers(digests)
        changed = False
        for value in self.documents.values():
            for holder, platform in _objects(value, None):
                for member, new in _computed(holder, platform, digests, providers).items():
                    if new != holder[member] and not isinstance(holder[member], Kept):
                        holder[member] = new
                        changed = True
        return changed

    def _providers(self, digests: dict[str, str]) -> dict[str, dict[str, str]]:
        """Return manifest and variant digests of ToolProviders, by their identity as JSON text."""
        found: dict[str, dict[str, str]] = {}
        for value in self.documents.values():
            for holder, _ in _objects(value, None):
                path = holder.get("path")
                provider = self.documents.get(path) if isinstance(path, str) and "version" in holder else None
                if not isinstance(provider, dict) or "tools" not in provider or path not in digests:
                    continue
                known = found.setdefault(_key(holder), {"manifest": digests[path]})
                variants = provider.get("variants")
                for variant in variants if isinstance(variants, list) else []:
                    if isinstance(variant, dict) and isinstance(variant.get("variantDigest"), str):
                        name = json.dumps(variant.get("platform"), sort_keys=True)
                        known.setdefault(name, str(variant["variantDigest"]))
        return found

    def inventory(self) -> None:
        """Bring size and digest of inventoried files in line with the content."""
        for value in self.documents.values():
            for variant in value.get("variants", []):
                for item in variant["files"]:
                    data = self.files.get(f"{variant['payloadRoot']}/{item['path']}")
                    if data is not None:
                        item["size"], item["digest"] = len(data), digest_bytes(data)

    # --- writing ---

    def bytes_of(self) -> dict[str, bytes]:
        """Return every regular file with its bytes."""
        found = {path: canonical(plain(value)) for path, value in self.documents.items()}
        return {**found, **self.files, **self.raw}

    def entries(self) -> list[TarEntry]:
        """Return the entries of the layer, sorted, hard links after their targets."""
        found = [TarEntry(path, b"5", mode) for path, mode in self.folders.items()]
        found += [TarEntry(path, mode=self.modes.get(path, 0o644), data=data) for path, data in self.bytes_of().items()]
        found += [TarEntry(path, b"2", 0o777, target=target) for path, target in self.symlinks.items()]
        found.sort(key=lambda entry: entry.name.encode())
        links = [TarEntry(path, b"1", 0o755, target=target) for path, target in sorted(self.hardlinks.items())]
        return found + links + self.more

    def directory(self, root: Path, *, seal: bool = True) -> Path:
        """Write the content as an extracted directory; a hard link becomes a file of its own."""
        if seal:
            self.seal()
        root.mkdir(parents=True)
        for path, mode in self.folders.items():
            (root / path).mkdir(parents=True, exist_ok=True)
            (root / path).chmod(mode)
        files = self.bytes_of()
        files.update((path, files[target]) for path, target in self.hardlinks.items())
        for path, data in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
            (root / path).chmod(0o755 if path in self.hardlinks else self.modes.get(path, 0o644))
        for path, target in self.symlinks.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(target)
        return root

    def layer(self) -> bytes:
        """Return the content as a layer."""
        return carriers.gzipped(carriers.tar(self.entries()))

    def layout(self, root: Path, seal: bool = True, /, **changes: Any) -> Path:
        """Write the content as an image layout; ``changes`` are those of :func:`carriers.layout`."""
        if seal:
            self.seal()
        return carriers.layout(root, changes.pop("layer", None) or self.layer(), blobs=self.blobs, **changes)

    def archive(self, path: Path) -> Path:
        """Write the content as an image layout in a tar."""
        return carriers.archived(self.layout(path.with_suffix(".layout")), path)


@cache
def _sealed() -> dict[str, Any]:
    """Return the unchanged documents with all their digests, which leaves less to compute in every test."""
    suite = SuiteBuilder.__new__(SuiteBuilder)
    suite.documents, suite.files = contents.documents(), contents.files()
    return suite.seal().documents


def steps(where: str) -> list[str | int]:
    """Return the steps of a place, numbers as positions."""
    return [int(step) if step.isdigit() else step for step in where.split("/")] if where else []


def plain(value: Any) -> Any:
    """Return a value with no :class:`Kept` in it."""
    return json.loads(json.dumps(value))


def _key(value: Json) -> str:
    return json.dumps([value.get("id"), value.get("version")])


def _objects(value: Any, platform: Any) -> Iterator[tuple[Json, Any]]:
    """Yield every object in a value, innermost first, with the nearest platform around it."""
    if isinstance(value, list):
        for item in value:
            yield from _objects(item, platform)
    elif isinstance(value, dict):
        platform = value.get("platform", platform)
        for item in value.values():
            yield from _objects(item, platform)
        yield value, platform


def _computed(holder: Json, platform: Any, digests: dict[str, str], providers: dict[str, Any]) -> dict[str, str]:
    """Return the digests that an object should hold, of those members that it has."""
    found: dict[str, str] = {}
    path = holder.get("path")
    if "digest" in holder and isinstance(path, str) and "mode" not in holder and path in digests:
        found["digest"] = digests[path]
    name = holder.get("name")
    if "digest" in holder and "critical" in holder and isinstance(name, str):
        target = contents.EXTENSIONS.get(name, "")
        if target in digests:
            found["digest"] = digests[target]
    if "payloadRoot" in holder and "variantDigest" in holder:
        found["variantDigest"] = variant_digest(plain(holder))
    elif "version" in holder:
        provider = providers.get(_key(holder), {})
        for member, key in (
            ("manifestDigest", "manifest"),
            ("variantDigest", json.dumps(platform, sort_keys=True)),
        ):
            if member in holder and key in provider:
                found[member] = provider[key]
    return found
