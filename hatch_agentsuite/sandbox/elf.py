"""What the kernel and a dynamic loader read of a program or a library: ELF headers, names, versions, notes; ``#!``.

    facts = examine(stream)
    facts.needed                      # ("libm.so.6", "libc.so.6")

Only program headers lead the way, as they do for the kernel and the loaders: section headers may be stripped, or lie.
Files come from untrusted suites, so every read is inside the file, and all tables together are read up to a budget:
counts, chains and names that are wrong end in :class:`ElfError`, and soon.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO, Literal

ElfType = Literal["NONE", "REL", "EXEC", "DYN", "CORE", "OTHER"]

SCRIPT_HEAD = 256
"""How much of a script the kernel looks at for its first line."""

_BUDGET = 512 * 1024  # bytes of tables and names read in one file; of 3,000 real ones none came to 20 KiB
_STEP = 64  # what one entry costs at least, so that a chain of tiny or overlapping entries ends as well
_HEADERS = 65_536  # bytes of program headers; the kernel reads no more
_NAME = 4_096  # bytes of one name, as for a path

_TYPES: dict[int, ElfType] = {0: "NONE", 1: "REL", 2: "EXEC", 3: "DYN", 4: "CORE"}
_MACHINES = {
    3: "i386",
    8: "mips",
    20: "ppc",
    21: "ppc64",
    22: "s390",
    40: "arm",
    43: "sparcv9",
    62: "x86_64",
    183: "aarch64",
    243: "riscv",
    258: "loongarch",
}
_SYSTEMS = {0: "sysv", 2: "netbsd", 3: "gnu", 6: "solaris", 9: "freebsd", 12: "openbsd"}
_ISA_LEVELS = ("x86-64-v1", "x86-64-v2", "x86-64-v3", "x86-64-v4")

_LOAD, _DYNAMIC, _INTERP, _NOTE, _PROPERTY = 1, 2, 3, 4, 0x6474E553
_NEEDED, _STRTAB, _STRSZ, _SONAME, _RPATH, _RUNPATH = 1, 5, 10, 14, 15, 29
_VERDEF, _VERNEED = 0x6FFFFFFC, 0x6FFFFFFE
_EXECUTE, _BASE, _WEAK = 1, 1, 2  # flags of a segment, of a version definition, of a version need
_GNU_PROPERTY, _X86_ISA_NEEDED = 5, 0xC0008002


class ElfError(ValueError):
    """A file begins as ELF and is broken; the text says how, in words that follow "the file"."""


@dataclass(frozen=True)
class Executable:
    """The facts of one program, library or script; what a file does not have is empty.

    ``version_needs`` leaves out weak needs, which a loader only warns of; ``version_definitions`` leaves out the name
    of the library itself. Split debug information, which has the headers of a program and none of its code, is of
    type ``OTHER``. ``rpath`` and ``runpath`` are as written, an empty element being the working directory.
    """

    kind: Literal["elf", "script"]
    bits: int = 0
    little_endian: bool = True
    machine: str = ""
    type: ElfType = "NONE"
    osabi: str = ""
    interpreter: str = ""
    argument: str = ""
    needed: tuple[str, ...] = ()
    soname: str = ""
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    version_needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version_definitions: frozenset[str] = frozenset()
    isa_needed: tuple[str, ...] = ()


def looks_executable(head: bytes) -> bool:
    """Whether the first four bytes of a file are those of an ELF file or a script."""
    return head[:4] == b"\x7fELF" or head[:2] == b"#!"


def examine(stream: BinaryIO) -> Executable | None:
    """Return what a seekable file, read from its start, is; None for neither ELF nor script.

    Raises :class:`ElfError` for a broken ELF file.
    """
    head = stream.read(SCRIPT_HEAD)
    if head[:2] == b"#!":
        return _script(head)
    return _elf(stream, head) if head[:4] == b"\x7fELF" else None


def _script(head: bytes) -> Executable:
    """Return a script by the kernel's own reading of its first line; a path that is cut off is no interpreter."""
    line, mark, _ = head[2:].partition(b"\n")
    words = line.partition(b"\0")[0].strip(b" \t")
    end = min((at for at in (words.find(b" "), words.find(b"\t")) if at != -1), default=len(words))
    cut_off = not mark and len(head) == SCRIPT_HEAD and head[-1:] not in (b" ", b"\t") and b"\0" not in line
    if cut_off and end == len(words):
        return Executable(kind="script")
    return Executable(kind="script", interpreter=_text(words[:end]), argument=_text(words[end:].strip(b" \t")))


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class _Segment:
    type: int
    flags: int
    offset: int
    address: int
    size: int
    memory: int
    align: int


class _Reader:
    """Bounded reads of one ELF file in its own class and byte order."""

    def __init__(self, stream: BinaryIO, bits: int, little_endian: bool) -> None:
        self._stream = stream
        self._budget = _BUDGET
        self._order = "<" if little_endian else ">"
        self.wide = bits == 64
        self.size = stream.seek(0, io.SEEK_END)

    def read(self, offset: int, length: int, what: str) -> bytes:
        self._budget -= max(length, _STEP)
        if self._budget < 0:
            raise ElfError("has tables and names without end")
        if offset + length > self.size:
            raise ElfError(f"ends before its {what}")
        self._stream.seek(offset)
        data = self._stream.read(length)
        if len(data) != length:
            raise ElfError(f"ends before its {what}")
        return data

    def unpack(self, layout: str, offset: int, what: str) -> tuple[int, ...]:
        layout = self._order + layout
        return struct.unpack(layout, self.read(offset, struct.calcsize(layout), what))

    def each(self, layout: str, data: bytes) -> Iterator[tuple[int, ...]]:
        """Yield the records of a table, a last one that is cut off left out."""
        size = struct.calcsize(self._order + layout)
        return struct.iter_unpack(self._order + layout, data[: len(data) - len(data) % size])


@dataclass(frozen=True)
class _Region:
    """A run of bytes that is loaded: where it is in the file, and its end there."""

    offset: int
    end: int


def _elf(stream: BinaryIO, head: bytes) -> Executable:
    if len(head) < 20:
        raise ElfError("ends within its ELF header")
    if head[4] not in (1, 2) or head[5] not in (1, 2):
        raise ElfError("has an ELF class or byte order that does not exist")
    if head[6] != 1:
        raise ElfError(f"has ELF version {head[6]}; 1 is the only one")
    bits, little_endian = 32 * head[4], head[5] == 1
    reader = _Reader(stream, bits, little_endian)
    layout = "HHIQQQIHHHHHH" if reader.wide else "HHIIIIIHHHHHH"
    kind, machine, _, _, table, _, _, _, entry, count, *_ = reader.unpack(layout, 16, "ELF header")
    facts = Executable(
        kind="elf",
        bits=bits,
        little_endian=little_endian,
        machine=_MACHINES.get(machine, f"machine {machine}"),
        type=_TYPES.get(kind, "OTHER"),
        osabi=_SYSTEMS.get(head[7], f"system {head[7]}"),
    )
    if facts.type not in ("EXEC", "DYN"):
        return facts
    segments = _segments(reader, table, entry, count)
    code = [segment for segment in segments if segment.type == _LOAD and segment.flags & _EXECUTE]
    if code and not any(segment.size for segment in code) and any(segment.memory for segment in code):
        return replace(facts, type="OTHER")
    dynamic = _Dynamic(reader, segments)
    return replace(
        facts,
        interpreter=_interpreter(reader, segments),
        needed=tuple(dynamic.names(_NEEDED)),
        soname=dynamic.name(_SONAME),
        rpath=_elements(dynamic.name(_RPATH)),
        runpath=_elements(dynamic.name(_RUNPATH)),
        version_needs=dynamic.version_needs(),
        version_definitions=dynamic.version_definitions(),
        isa_needed=_isa_needed(reader, segments) if facts.machine in ("x86_64", "i386") else (),
    )


def _elements(path: str) -> tuple[str, ...]:
    return tuple(path.split(":")) if path else ()


def _segments(reader: _Reader, table: int, entry: int, count: int) -> list[_Segment]:
    layout = "IIQQQQQQ" if reader.wide else "IIIIIIII"
    size = struct.calcsize("=" + layout)
    if count == 0:
        raise ElfError("has no program headers")
    if entry != size:
        raise ElfError(f"has program headers of {entry} bytes; its class has {size}")
    if count * size > _HEADERS:
        raise ElfError(f"has {count:,} program headers; the kernel reads {_HEADERS // size:,} at most")
    found = []
    for record in reader.each(layout, reader.read(table, count * size, "program headers")):
        if reader.wide:
            kind, flags, offset, address, _, length, memory, align = record
        else:
            kind, offset, address, _, length, memory, flags, align = record
        if kind in (_LOAD, _DYNAMIC, _INTERP, _NOTE, _PROPERTY) and length and offset + length > reader.size:
            raise ElfError("ends before its last segment")
        found.append(_Segment(kind, flags, offset, address, length, memory, align))
    return found


def _interpreter(reader: _Reader, segments: list[_Segment]) -> str:
    segment = next((segment for segment in segments if segment.type == _INTERP), None)
    if segment is None:
        return ""
    if not 2 <= segment.size <= _NAME:
        raise ElfError(f"names its loader in {segment.size:,} bytes; the kernel takes 2 to {_NAME:,}")
    name = reader.read(segment.offset, segment.size, "loader's name")
    if name[-1]:
        raise ElfError("names a loader without an end")
    return _text(name.partition(b"\0")[0])


class _Dynamic:
    """The dynamic table, and the names and versions that it leads to; empty where a file has none."""

    def __init__(self, reader: _Reader, segments: list[_Segment]) -> None:
        self._reader = reader
        self._loads = [segment for segment in segments if segment.type == _LOAD]
        self._entries: list[tuple[int, int]] = []
        segment = next((segment for segment in segments if segment.type == _DYNAMIC), None)
        if segment is not None:
            self._entries = self._read(segment)
        self._values = dict(self._entries)  # of equal tags the last counts, as in the loaders
        self._strings: _Region | None = None
        if _STRTAB in self._values:
            strings = self._region(self._values[_STRTAB], "table of names")
            length = self._values.get(_STRSZ, 0)
            if strings.offset + length > strings.end:
                raise ElfError("has a table of names that is not loaded as a whole")
            self._strings = _Region(strings.offset, strings.offset + length)

    def _read(self, segment: _Segment) -> list[tuple[int, int]]:
        region = self._region(segment.address, "dynamic table")
        length = min(segment.size, region.end - region.offset)
        entries: list[tuple[int, int]] = []
        table = self._reader.read(region.offset, length, "dynamic table")
        for tag, value in self._reader.each("QQ" if self._reader.wide else "II", table):
            if tag == 0:
                return entries
            entries.append((tag, value))
        raise ElfError("has a dynamic table without an end")

    def _region(self, address: int, what: str) -> _Region:
        for load in reversed(self._loads):  # a later segment is mapped over an earlier one
            if load.address <= address < load.address + load.size:
                return _Region(load.offset + address - load.address, load.offset + load.size)
        raise ElfError(f"has a {what} outside of what is loaded")

    def _string(self, index: int) -> str:
        if self._strings is None or index >= self._strings.end - self._strings.offset:
            raise ElfError("has a name outside of its table of names")
        start = self._strings.offset + index
        for size in (_STEP, _NAME):
            name, mark, _ = self._reader.read(start, min(size, self._strings.end - start), "names").partition(b"\0")
            if mark:
                return _text(name)
        raise ElfError(f"has a name without an end, or of more than {_NAME:,} bytes")

    def names(self, tag: int) -> Iterator[str]:
        return (self._string(value) for key, value in self._entries if key == tag)

    def name(self, tag: int) -> str:
        return self._string(self._values[tag]) if tag in self._values else ""

    def _chain(self, layout: str, offset: int, end: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield (offset, record) of records whose last member is the distance of the next, 0 at the end."""
        size = struct.calcsize("=" + layout)
        while True:
            if offset + size > end:
                raise ElfError("has a table of versions outside of what is loaded")
            record = self._reader.unpack(layout, offset, "table of versions")
            yield offset, record
            if not record[-1]:
                return
            offset += record[-1]

    def version_needs(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        if _VERNEED not in self._values:
            return found
        region = self._region(self._values[_VERNEED], "table of versions")
        for offset, (_, _, library, first, _) in self._chain("HHIII", region.offset, region.end):
            needs = [
                self._string(name)
                for _, (_, flags, _, name, _) in self._chain("IHHII", offset + first, region.end)
                if not flags & _WEAK
            ]
            name = self._string(library)
            found[name] = (*found.get(name, ()), *needs)
        return found

    def version_definitions(self) -> frozenset[str]:
        found: set[str] = set()
        if _VERDEF not in self._values:
            return frozenset()
        region = self._region(self._values[_VERDEF], "table of versions")
        for offset, (_, flags, _, _, _, first, _) in self._chain("HHHHIII", region.offset, region.end):
            _, (name, _) = next(self._chain("II", offset + first, region.end))  # the further names are its parents
            if not flags & _BASE:
                found.add(self._string(name))
        return frozenset(found)


def _isa_needed(reader: _Reader, segments: list[_Segment]) -> tuple[str, ...]:
    """Return the x86-64 levels that the GNU property notes name as needed."""
    needed = 0
    for segment in segments:
        if segment.type in (_NOTE, _PROPERTY):
            for properties in _property_notes(reader, segment):
                needed |= _isa_bits(reader, properties)
    return tuple(level for bit, level in enumerate(_ISA_LEVELS) if needed >> bit & 1)


def _property_notes(reader: _Reader, segment: _Segment) -> Iterator[bytes]:
    align = 8 if segment.align == 8 else 4
    offset, end = segment.offset, segment.offset + segment.size
    while offset + 12 <= end:
        owner_size, size, kind = reader.unpack("III", offset, "notes")
        start = offset + -(-(12 + owner_size) // align) * align
        if start + size > end:
            raise ElfError("has a note that is longer than its segment")
        if kind == _GNU_PROPERTY and owner_size == 4 and reader.read(offset + 12, 4, "notes") == b"GNU\0":
            yield reader.read(start, size, "notes")
        offset = start + -(-size // align) * align


def _isa_bits(reader: _Reader, properties: bytes) -> int:
    needed, offset, align = 0, 0, 8 if reader.wide else 4
    while offset + 8 <= len(properties):
        kind, size = next(reader.each("II", properties[offset : offset + 8]))
        if kind == _X86_ISA_NEEDED and size == 4 and offset + 12 <= len(properties):
            needed |= next(reader.each("I", properties[offset + 8 : offset + 12]))[0]
        offset += 8 + -(-size // align) * align
    return needed
