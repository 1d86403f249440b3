"""Content paths: which ones are safe, which two are the same to some file system (specification 1, 5.2).

A content path is relative, ``/``-separated, clean UTF-8 of at most 1,024 bytes. Two paths that are equal under full
Unicode case folding cannot stand in one suite; normalisation forms are not folded (they are a warning elsewhere).
"""

from __future__ import annotations

import posixpath
from typing import Literal

MAX_PATH_BYTES = 1_024

Form = Literal["file", "directory", "symlink", "implied"]
_FOLDERS = ("directory", "implied")


def path_fault(path: str) -> str | None:
    """Return what is wrong with a content path, in words that follow "the path", or None."""
    if _is_plain(path):
        return None
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return "is not valid UTF-8"
    if not path:
        return "is empty"
    if len(encoded) > MAX_PATH_BYTES:
        return f"has {len(encoded):,} bytes; at most {MAX_PATH_BYTES:,} are allowed"
    if "\0" in path:
        return "holds a NUL"
    if "\\" in path:
        return "holds a backslash"
    if path.startswith("/"):
        return "is absolute"
    for segment in path.split("/"):
        if segment == "":
            return "holds an empty segment"
        if segment in {".", ".."}:
            return f"holds a `{segment}` segment"
    return None


def _is_plain(path: str) -> bool:
    """Whether a path is clean at first glance, as nearly all are: ASCII, and no name in it begins with a dot."""
    return (
        path.isascii()
        and 0 < len(path) <= MAX_PATH_BYTES
        and path[0] not in "./"
        and path[-1] != "/"
        and not ("//" in path or "/." in path or "\\" in path or "\0" in path)
    )


def are_plain(folder: str, names: list[str]) -> bool:
    """Whether nothing can be wrong with the paths of all entries of a clean folder, as nearly always.

    That is so where :func:`path_fault` has nothing to say and no two are the same where letter case does not count.
    """
    text = "/".join(names)
    longest = len(folder) + 1 + max(map(len, names), default=0)
    return (
        (folder + text).isascii()
        and longest <= MAX_PATH_BYTES
        and not (text.startswith(".") or "/." in text or "\\" in text or "\0" in text)
        and len(set(text.lower().split("/"))) == max(len(names), 1)
    )


def symlink_fault(path: str, target: str) -> str | None:
    """Return what is wrong with the target of a symlink at ``path``, judged by its text alone, or None.

    A target is resolved against the link's folder without looking at the file system; it may dangle, but must stay
    below the content root (5.2).
    """
    try:
        encoded = target.encode()
    except UnicodeEncodeError:
        return "has a target that is not valid UTF-8"
    if not target:
        return "has an empty target"
    if len(encoded) > MAX_PATH_BYTES:
        return f"has a target of {len(encoded):,} bytes; at most {MAX_PATH_BYTES:,} are allowed"
    if "\0" in target or "\\" in target:
        return "has a target that holds a NUL or a backslash"
    if target.startswith("/"):
        return "has an absolute target"
    resolved = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if resolved in {".", ".."} or resolved.startswith("../"):
        return "points out of the content root"
    return None


def is_below(path: str, root: str) -> bool:
    """Whether ``path`` lies strictly below ``root``, both clean and of one kind (relative or absolute)."""
    return path.startswith(root.rstrip("/") + "/") and path != root


def parents(path: str) -> list[str]:
    """Return the folders above a content path, outermost first; ``a/b/c`` gives ``a`` and ``a/b``."""
    found = []
    index = path.find("/")
    while index != -1:
        found.append(path[:index])
        index = path.find("/", index + 1)
    return found


def sort_key(path: str) -> bytes:
    """Return the key by which archives and inventories are sorted: the path's UTF-8 bytes."""
    return path.encode()


def fold(text: str) -> str:
    """Return the full case folding of text by Unicode 17, the same on every Python version."""
    return text.lower() if text.isascii() else text.casefold().translate(_LATER_FOLDINGS)


class PathSet:
    """The paths of one content tree, refusing duplicates, fold collisions and entries below what is no folder.

    Parents that no entry names are implied and take part.
    """

    def __init__(self) -> None:
        self._forms: dict[str, Form] = {}
        self._folded: dict[str, str] = {}

    def add(self, path: str, form: Form) -> str | None:
        """Take a clean path in; return what is wrong with it, in words that follow "the path", or None."""
        known = self._forms.get(path)
        if known is not None and not (known == "implied" and form == "directory"):
            if known == "implied":
                return f"is a {form}, but other entries lie below it"
            return "is there twice"
        folder = path.rpartition("/")[0]
        if folder and self._forms.get(folder) not in _FOLDERS:  # above a known folder there are none but folders
            for parent in parents(path):
                fault = self._imply(parent)
                if fault:
                    return fault
        if known is None:
            collision = self._claim(path)
            if collision:
                return f"is the same as `{collision}` where letter case does not count"
        self._forms[path] = form
        return None

    def _imply(self, parent: str) -> str | None:
        known = self._forms.get(parent)
        if known in {"file", "symlink"}:
            return f"lies below `{parent}`, which is a {known}"
        if known is None:
            collision = self._claim(parent)
            if collision:
                return f"lies below `{parent}`, which is the same as `{collision}` where letter case does not count"
            self._forms[parent] = "implied"
        return None

    def _claim(self, path: str) -> str | None:
        key = fold(path)
        other = self._folded.setdefault(path if key == path else key, path)  # most are their own key: one text, not two
        return None if other == path else other


def _later_foldings() -> dict[int, str]:
    """Return the simple foldings of Unicode 14 to 17 that the running Python's tables may lack.

    Where the interpreter already folds a letter, the result is one of these values and is left alone.
    """
    table = {
        # Latin, Glagolitic and Cyrillic letters of Unicode 14 to 17
        0x2C2F: 0x2C5F,
        0xA7C0: 0xA7C1,
        0xA7D0: 0xA7D1,
        0xA7D6: 0xA7D7,
        0xA7D8: 0xA7D9,
        0x1C89: 0x1C8A,
        0xA7CB: 0x0264,
        0xA7CC: 0xA7CD,
        0xA7CE: 0xA7CF,
        0xA7D2: 0xA7D3,
        0xA7D4: 0xA7D5,
        0xA7DA: 0xA7DB,
        0xA7DC: 0x019B,
    }
    for first, last, offset in (
        (0x10570, 0x1057A, 39),  # Vithkuqi, Unicode 14
        (0x1057C, 0x1058A, 39),
        (0x1058C, 0x10592, 39),
        (0x10594, 0x10595, 39),
        (0x10D50, 0x10D65, 32),  # Garay, Unicode 16
        (0x16EA0, 0x16EB8, 27),  # Beria Erfe, Unicode 17
    ):
        table.update({upper: upper + offset for upper in range(first, last + 1)})
    return {upper: chr(lower) for upper, lower in table.items()}


_LATER_FOLDINGS = _later_foldings()
