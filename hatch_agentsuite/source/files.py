"""Files packed verbatim (instructions, tool schemas, profile files), and blobs that join the layout (6.2, 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from hatch_agentsuite.archive.layer import Member
from hatch_agentsuite.content import Entry
from hatch_agentsuite.layout import blob_path
from hatch_agentsuite.regular import hash_file
from hatch_agentsuite.source.draft import Draft, Path
from hatch_agentsuite.source.tree import SourceTree


@dataclass
class Files:
    """The regular files that documents name, hashed once each."""

    tree: SourceTree
    members: dict[str, Member] = field(default_factory=dict)
    blobs: dict[str, FilePath] = field(default_factory=dict)

    def settle_reference(self, draft: Draft, where: Path, hint: str = "") -> None:
        """Fill in the digest of ``{path, digest}`` at ``where``; the file is packed as it is."""
        reference = draft.at(where)
        path = reference.get("path") if isinstance(reference, dict) else None
        if path is None:
            return
        found = self.packed(draft, (*where, "path"), path, hint)
        if found:
            draft.settle((*where, "digest"), found, f"the file `{path}`")

    def packed(self, draft: Draft, where: Path, path: str, hint: str = "") -> str | None:
        """Return the digest of a file that joins the content, or None after a report."""
        if path not in self.members:
            found = self._hash(draft, where, path, hint)
            if found is None:
                return None
            entry = Entry(path, "file", 0o644, size=found[1], digest=found[0])
            self.members[path] = Member(entry, self.tree.root)
        return self.members[path].entry.digest

    def blob(self, draft: Draft, where: Path, path: str) -> tuple[str, int] | None:
        """Return digest and size of a file whose bytes join the layout as a blob, or None after a report."""
        found = self._hash(draft, where, path, "")
        if found:
            self.blobs[found[0]] = self.tree.file(path)
        return found

    def settle_blob(self, draft: Draft, where: Path, descriptor: dict[str, Any]) -> None:
        """Find the blob of a written descriptor where ``agentsuite unpack`` leaves it."""
        path = blob_path(str(descriptor.get("digest", "")))
        found = self._hash(draft, where, path, "name the file itself instead of a descriptor, or put its bytes there")
        if found:
            draft.settle((*where, "digest"), found[0], f"the file `{path}`")
            draft.settle((*where, "size"), found[1], f"the file `{path}`")
            self.blobs[found[0]] = self.tree.file(path)

    def _hash(self, draft: Draft, where: Path, path: str, hint: str) -> tuple[str, int] | None:
        self.tree.reach(path)
        kind = self.tree.kind(path)
        if kind != "file":
            what = "there is no such file" if kind is None else f"it is a {kind}"
            draft.report("AS-GRAPH-001", "graph", where, f"`{path}` is needed here, but {what}", hint)
            return None
        try:
            size, digest = hash_file(self.tree.file(path))
        except OSError as error:
            draft.report("SOURCE-TREE-001", "path", where, f"`{path}` cannot be read: {error.strerror or error}")
            return None
        return digest, size
