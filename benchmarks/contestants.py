"""One run of a contestant written in Python: `python benchmarks/contestants.py NAME TREE OUTPUT`.

`pack` is the whole job; `write` leaves out the final validation, but not documents, inventories and their digests;
`layer` is only what the peers do: find every file, hash it, write the blob. `tarfile` is how Python clients of OCI
registries make a layer: the standard library's `tarfile` over `gzip`.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tarfile
    from collections.abc import Iterator

    from hatch_agentsuite.archive.gzip import Codec

PIECE = 1 << 20


def pack(tree: Path, output: Path, codec: Codec) -> None:
    """Pack a tree as `agentsuite pack` does."""
    from hatch_agentsuite.packing import pack
    from hatch_agentsuite.source import Options

    pack(tree, output / "suite", Options(default_name="benchmark"), codec=codec)


def write(tree: Path, output: Path, codec: Codec) -> None:
    """Resolve a tree and write its layer, without the final validation."""
    from hatch_agentsuite.archive.layer import write_layer
    from hatch_agentsuite.source import Options, resolve

    resolved = resolve(tree, Options(default_name="benchmark"))
    with (output / "blob").open("wb") as stream:
        print(write_layer(stream, resolved.members, codec=codec).digest)


def layer(tree: Path, output: Path, codec: Codec) -> None:
    """Hash every file of a folder and write them all as a layer; nothing is known of what they are."""
    from hatch_agentsuite.archive.layer import Member, write_layer
    from hatch_agentsuite.content import Entry
    from hatch_agentsuite.source.hashing import Hashing
    from hatch_agentsuite.source.tree import SourceTree

    entries = sorted(SourceTree(tree).entries.values(), key=lambda entry: entry.path.encode())
    with Hashing(str(tree), {"all": [entry for entry in entries if entry.kind == "file"]}) as hashing:
        digests = [digest for _, digest in hashing.results("all")]

    def members() -> Iterator[Member]:
        found = iter(digests)
        for path, kind, mode, size, _ in entries:
            if kind == "file":
                yield Member(Entry(path, "file", mode & 0o755, size=size, digest=next(found)), tree)
            else:
                yield Member(Entry(path, "directory", 0o755))

    with (output / "blob").open("wb") as stream:
        print(write_layer(stream, members(), codec=codec).digest)


def validate_plain(suite: Path) -> None:
    """Validate a suite as it is done where the extra `fast` is not installed."""
    for module in ("isal", "zlib_ng", "jsonschema_rs"):
        sys.modules[module] = None  # type: ignore[assignment]
    from hatch_agentsuite.validation import validate

    print(validate(suite).ok)


def tarfile_gzip(tree: Path, output: Path) -> None:
    """Hash every file, add it to a compressed tar, and hash the blob."""
    import gzip
    import tarfile

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.mtime = member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    blob = output / "blob"
    with (
        gzip.GzipFile(blob, "wb", compresslevel=6, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                digest(path)
            archive.add(path, path.relative_to(tree).as_posix(), recursive=False, filter=plain)
    print(digest(blob))


def digest(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
    hasher = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(PIECE):
            hasher.update(piece)
    return f"sha256:{hasher.hexdigest()}"


def main(name: str, tree: Path, output: Path) -> None:
    """Run the contestant of a name: `pack:zlib`, `layer:store`, `tarfile`."""
    job, _, codec = name.partition(":")
    if job == "tarfile":
        tarfile_gzip(tree, output)
    elif job == "plain":
        validate_plain(tree)
    else:
        {"pack": pack, "write": write, "layer": layer}[job](tree, output, codec)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
