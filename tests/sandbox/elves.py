"""A small ELF writer: program headers, dynamic table, symbol versions and notes, for both classes and byte orders."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

BASE = 0x400000
X86_64, I386, AARCH64 = 62, 3, 183
EXEC, DYN, REL, CORE = 2, 3, 1, 4
LOADER = "/lib64/ld-linux-x86-64.so.2"
MUSL_LOADER = "/lib/ld-musl-x86_64.so.1"


@dataclass
class Elf:
    """What to write; ``needs`` maps a library to versions, one that ends in ``?`` being weak."""

    bits: int = 64
    little: bool = True
    machine: int = X86_64
    type: int = DYN
    osabi: int = 0
    interpreter: str = ""
    needed: Sequence[str] = ()
    soname: str = ""
    rpath: str = ""
    runpath: str = ""
    needs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    defines: Sequence[str] = ()
    isa: int = 0
    extra_tags: Sequence[tuple[int, int]] = ()
    terminated: bool = True

    def __post_init__(self) -> None:
        self._order = "<" if self.little else ">"
        self._strings = bytearray(b"\0")
        self._segments: list[tuple[int, int, int, int]] = []  # type, offset, size, alignment
        self._body = bytearray()
        self._start = self._header_size + 5 * self._entry_size

    @property
    def _header_size(self) -> int:
        return 64 if self.bits == 64 else 52

    @property
    def _entry_size(self) -> int:
        return 56 if self.bits == 64 else 32

    def pack(self, layout: str, *values: int) -> bytes:
        return struct.pack(self._order + layout, *values)

    def string(self, text: str) -> int:
        at = len(self._strings)
        self._strings += text.encode() + b"\0"
        return at

    def _place(self, data: bytes) -> int:
        self._body += bytes(-len(self._body) % 8)
        at = self._start + len(self._body)
        self._body += data
        return at

    def write(self) -> bytes:
        if self.interpreter:
            name = self.interpreter.encode() + b"\0"
            self._segments.append((3, self._place(name), len(name), 1))
        if self.isa:
            size = 8 if self.bits == 64 else 4
            properties = self.pack("III", 0xC0000002, 4, 3) + bytes(size - 4)  # what the code is protected by
            properties += self.pack("III", 0xC0008002, 4, self.isa) + bytes(size - 4)
            note = self.pack("III", 4, 4, 1) + b"GNU\0" + bytes(size)  # another note, padded to the alignment
            note += self.pack("III", 4, len(properties), 5) + b"GNU\0" + properties
            self._segments.append((4, self._place(note), len(note), size))
        self._write_dynamic()
        size = self._start + len(self._body)
        loads = [(1, 0, size, 0x1000), *self._segments]
        header = b"\x7fELF" + bytes([self.bits // 32, 1 if self.little else 2, 1, self.osabi]) + bytes(8)
        word = "Q" if self.bits == 64 else "I"
        header += self.pack("HHI" + 3 * word, self.type, self.machine, 1, BASE, self._header_size, 0)
        header += self.pack("IHHHHHH", 0, self._header_size, self._entry_size, len(loads), 0, 0, 0)
        table = b"".join(self._program_header(*load) for load in loads)
        return header + table.ljust(5 * self._entry_size, b"\0") + bytes(self._body)

    def _program_header(self, kind: int, offset: int, size: int, align: int) -> bytes:
        at = BASE + offset
        if self.bits == 64:
            return self.pack("IIQQQQQQ", kind, 5, offset, at, at, size, size, align)
        return self.pack("IIIIIIII", kind, offset, at, at, size, size, 5, align)

    def _write_dynamic(self) -> None:
        tags = [(1, self.string(name)) for name in self.needed]
        tags += [
            (tag, self.string(text)) for tag, text in ((14, self.soname), (15, self.rpath), (29, self.runpath)) if text
        ]
        if self.needs:
            tags.append((0x6FFFFFFE, BASE + self._place(self._version_needs())))
        if self.defines:
            tags.append((0x6FFFFFFC, BASE + self._place(self._version_definitions())))
        tags += self.extra_tags
        if not tags:
            return
        strings = self._place(bytes(self._strings))
        tags += [(5, BASE + strings), (10, len(self._strings))] + [(0, 0)] * self.terminated
        table = b"".join(self.pack("QQ" if self.bits == 64 else "II", *tag) for tag in tags)
        self._segments.append((2, self._place(table), len(table), 8))

    def _version_needs(self) -> bytes:
        table = bytearray()
        for number, (library, versions) in enumerate(self.needs.items(), 1):
            more = 16 + 16 * len(versions) if number < len(self.needs) else 0
            table += self.pack("HHIII", 1, len(versions), self.string(library), 16, more)
            for index, version in enumerate(versions, 1):
                weak = 2 * version.endswith("?")
                following = 16 if index < len(versions) else 0
                table += self.pack("IHHII", 0, weak, index, self.string(version.rstrip("?")), following)
        return bytes(table)

    def _version_definitions(self) -> bytes:
        names = [self.soname or "self", *self.defines]
        table = bytearray()
        for index, name in enumerate(names, 1):
            more = 28 if index < len(names) else 0
            table += self.pack("HHHHIII", 1, 1 if index == 1 else 0, index, 1, 0, 20, more)
            table += self.pack("II", self.string(name), 0)
        return bytes(table)


def elf(**members: object) -> bytes:
    """Return the bytes of an ELF file."""
    return Elf(**members).write()  # type: ignore[arg-type]
