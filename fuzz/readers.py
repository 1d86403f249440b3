"""Coverage-guided fuzzing of the readers that see untrusted bytes first: JSON, YAML, tar, gzip.

    python fuzz/readers.py READER [libFuzzer options] [CORPUS]

READER is ``json``, ``yaml``, ``tar``, ``layer`` (gzip) or ``content`` (tar inside good gzip). A reader may refuse its
input in its own way; any other exception, and anything that takes too long or too much memory, is a finding. ``make
fuzz`` runs each for a bounded time.
"""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["hatch_agentsuite"]):
    from hatch_agentsuite.archive.layer import Member, read_layer, write_layer
    from hatch_agentsuite.archive.tar import TarError, TarReader
    from hatch_agentsuite.content import Entry
    from hatch_agentsuite.jsondoc import JSONDocumentError, JSONLimits, canonical, loads
    from hatch_agentsuite.limits import Limits
    from hatch_agentsuite.yamldoc import YAMLDocumentError
    from hatch_agentsuite.yamldoc import loads as load_yaml

SMALL = Limits(JSONLimits(document_bytes=1 << 16), entries=1_000, expanded_bytes=1 << 20, metadata_bytes=1 << 18)


def read_json(data: bytes) -> None:
    """What was read has a canonical form, and that form is read to the same value."""
    try:
        value = loads(data)
    except JSONDocumentError:
        return
    if loads(canonical(value)) != value:
        raise AssertionError("the canonical form is another value")


def read_yaml(data: bytes) -> None:
    """What was read is a value that JSON can say."""
    try:
        value = load_yaml(data, max_bytes=1 << 14).value
    except YAMLDocumentError:
        return
    canonical(value)


def read_tar(data: bytes) -> None:
    """An entry has a path that is text, whatever the bytes are."""
    try:
        for found in TarReader(io.BytesIO(data)):
            _ = found.entry.path.encode()
    except TarError:
        return


def read_any_layer(data: bytes) -> None:
    """A layer is a tree with findings, whatever the bytes are; the second reading finds the same."""
    first = read_layer(io.BytesIO(data), SMALL)
    second = read_layer(io.BytesIO(data), SMALL)
    if first.entries != second.entries or first.findings != second.findings:
        raise AssertionError("two readings differ")


def read_content(data: bytes) -> None:
    """The same for a tar stream inside well-formed gzip, so that the tar reader is reached."""
    read_any_layer(gzip.compress(data, 1, mtime=0))


def seed_layer() -> bytes:
    """Return a small good layer with every type of entry and both ways of writing a name."""
    text = b'{"name":"seed"}'
    members = [
        Member(Entry("agentsuite.json", "file", 0o644, size=len(text)), text),
        Member(Entry("folder", "directory", 0o755)),
        Member(Entry("folder/link", "symlink", 0o777, link_target="../agentsuite.json")),
        Member(Entry("hard", "hardlink", 0o644, link_target="agentsuite.json")),
        Member(Entry(f"n\u00e4me/{'x' * 120}", "file", 0o755, size=len(text)), text),
    ]
    stream = io.BytesIO()
    write_layer(stream, members, codec="store", workers=1)
    return stream.getvalue()


def seeds() -> dict[str, list[bytes]]:
    """Return what each reader starts from."""
    layer = seed_layer()
    tar = gzip.decompress(layer)
    documents = [b'{"a":[1,-0.5e3,"\\u00e9\\ud83d\\ude00",true,null,{}]}', b'[[],{"b":{"c":"d"}}]']
    return {
        "json": documents,
        "yaml": [*documents, b"a:\n  - b: 'c'\n    d: |\n      text\n  - {e: [1, 2.5]}\n"],
        "tar": [tar],
        "layer": [layer],
        "content": [tar],
    }


READERS: dict[str, Callable[[bytes], None]] = {
    "json": read_json,
    "yaml": read_yaml,
    "tar": read_tar,
    "layer": read_any_layer,
    "content": read_content,
}


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in READERS:
        sys.exit(f"usage: {sys.argv[0]} {{{','.join(READERS)}}} [libFuzzer options] [CORPUS]")
    name = sys.argv.pop(1)
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds()[name]):
            Path(corpus, str(number)).write_bytes(seed)
        atheris.Setup([*sys.argv, corpus], READERS[name])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
