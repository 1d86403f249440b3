"""What is packed, in order: files one by one, and payload folders, whose entries are made when they are asked for."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hatch_agentsuite.archive.layer import Member
from hatch_agentsuite.content import Entry
from hatch_agentsuite.paths import parents, sort_key

_PREFIX = "sha256:"
_DIGEST = 32
_NONE = _PREFIX + "00" * _DIGEST


class PayloadMembers(Iterable[Member]):
    """The members of a payload folder, sorted by path bytes.

    There may be tens of thousands, so that of each file only path, mode, size and digest are held, in a few bytes.
    """

    def __init__(self, folder: Path, paths: list[str], items: list[dict[str, Any]]) -> None:
        """Take the items of an inventory and their paths, which lead to the files from ``folder``."""
        order = sorted(range(len(paths)), key=lambda number: sort_key(paths[number]))
        items = [items[number] for number in order]
        self._folder = folder
        self._paths = [paths[number] for number in order]
        self._modes = array("H", [item["mode"] for item in items])
        self._sizes = array("Q", [item.get("size", 0) for item in items])
        self._digests = bytes.fromhex("".join([item.get("digest", _NONE)[len(_PREFIX) :] for item in items]))
        self._others = {
            place: Member(Entry(path, item["type"], item["mode"], link_target=item.get("linkTarget")))
            for place, (path, item) in enumerate(zip(self._paths, items, strict=True))
            if item["type"] != "file"
        }

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[Member]:
        digests = memoryview(self._digests)
        for place, (path, mode, size) in enumerate(zip(self._paths, self._modes, self._sizes, strict=True)):
            other = self._others.get(place)
            if other:
                yield other
                continue
            digest = _PREFIX + digests[place * _DIGEST : (place + 1) * _DIGEST].hex()
            yield Member(Entry(path, "file", mode, 0, 0, size, digest, None), self._folder)

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(self._sizes)


class Members(Iterable[Member]):
    """All members of a content layer, sorted by path bytes; a file that lies in a payload folder is the payload's."""

    def __init__(self, files: Mapping[str, Member], payloads: Mapping[str, PayloadMembers]) -> None:
        """Take files by path and payloads by folder."""
        if not all(payloads.keys().isdisjoint(parents(root)) for root in payloads):
            files = dict(files) | {member.entry.path: member for payload in payloads.values() for member in payload}
            payloads = {}
        units: dict[str, Member | PayloadMembers] = {f"{root}/": payload for root, payload in payloads.items()}
        units.update((path, file) for path, file in files.items() if payloads.keys().isdisjoint(parents(path)))
        self._units = [units[key] for key in sorted(units, key=sort_key)]

    def __len__(self) -> int:
        return sum(1 if isinstance(unit, Member) else len(unit) for unit in self._units)

    def __iter__(self) -> Iterator[Member]:
        for unit in self._units:
            if isinstance(unit, Member):
                yield unit
            else:
                yield from unit

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(unit.entry.size if isinstance(unit, Member) else unit.size for unit in self._units)
