"""Content paths (sections 1 and 5.2): which are safe, and which two are one to some file system."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatch_agentsuite.paths import (
    Form,
    PathSet,
    are_plain,
    fold,
    is_below,
    parents,
    path_fault,
    sort_key,
    symlink_fault,
)

SEGMENT = st.text(st.characters(codec="utf-8", exclude_characters="/\\\0"), min_size=1, max_size=4).filter(
    lambda text: text not in {".", ".."}
)
PATHS = st.lists(SEGMENT, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    "path",
    [
        "a",
        "a/b/c",
        ".hidden",
        "...",
        "a..b/..c/d..",
        "a b/\u00e9/\U0001f600",
        "-rf",
        "C:x",
        "a" * 1_024,
        "\u00e9" * 512,
        "a/" * 511 + "ab",
    ],
)
def test_clean_paths_have_no_fault(path: str) -> None:
    assert path_fault(path) is None


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("", "is empty"),
        ("/", "is absolute"),
        ("/etc/passwd", "is absolute"),
        ("//a", "is absolute"),
        ("a//b", "an empty segment"),
        ("a/", "an empty segment"),
        (".", "a `.` segment"),
        ("./a", "a `.` segment"),
        ("a/./b", "a `.` segment"),
        ("..", "a `..` segment"),
        ("../a", "a `..` segment"),
        ("a/../b", "a `..` segment"),
        ("a/..", "a `..` segment"),
        ("a\\b", "a backslash"),
        ("..\\a", "a backslash"),
        ("a\0b", "a NUL"),
        ("a" * 1_025, "1,025 bytes"),
        ("\u00e9" * 512 + "a", "1,025 bytes"),
        ("\udcff", "not valid UTF-8"),
    ],
)
def test_other_paths_are_refused(path: str, fault: str) -> None:
    """Section 1: relative, slash-separated, clean; no backslash, no empty, `.` or `..` segment."""
    assert fault in (path_fault(path) or "")


@pytest.mark.parametrize(
    ("path", "target", "fault"),
    [
        ("link", "file", None),
        ("link", "link", None),
        ("link", "missing/for/now", None),
        ("a/link", "../b", None),
        ("a/link", ".", None),
        ("a/b/link", "../../c", None),
        ("a/b/link", "..", None),
        ("a/b/link", "../../a/../c", None),
        ("link", "a//b/./c", None),
        ("link", "a" * 1_024, None),
        ("link", ".", "out of the content root"),
        ("a/link", "..", "out of the content root"),
        ("link", "..", "out of the content root"),
        ("link", "../x", "out of the content root"),
        ("a/link", "../../x", "out of the content root"),
        ("a/link", "b/../../../x", "out of the content root"),
        ("a/link", "./../../a/b", "out of the content root"),
        ("link", "/etc/passwd", "absolute"),
        ("link", "//x", "absolute"),
        ("link", "", "empty target"),
        ("link", "a\\b", "backslash"),
        ("link", "a\0b", "NUL"),
        ("link", "a" * 1_025, "1,025 bytes"),
        ("link", "\udcff", "not valid UTF-8"),
    ],
)
def test_symlinks_stay_below_the_content_root_by_their_text(path: str, target: str, fault: str | None) -> None:
    """5.2: symlinks whose lexical target escapes the content root are refused."""
    found = symlink_fault(path, target)
    assert found is None if fault is None else fault in (found or "")


@given(PATHS, PATHS)
def test_a_relative_way_between_two_clean_paths_is_a_safe_target(path: str, target: str) -> None:
    up = "../" * path.count("/")
    assert symlink_fault(path, up + target) is None
    assert symlink_fault(path, "../" + up + target) is not None


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("a/b", "a", True),
        ("a/b/c", "a", True),
        ("a", "a", False),
        ("ab", "a", False),
        ("a", "a/b", False),
        ("/opt/x", "/opt", True),
        ("/opt", "/", True),
        ("/", "/", False),
    ],
)
def test_below_is_strict(path: str, root: str, expected: bool) -> None:
    assert is_below(path, root) is expected


@given(PATHS)
def test_parents_are_what_a_path_lies_below(path: str) -> None:
    found = parents(path)
    assert len(found) == path.count("/")
    assert found == sorted(found, key=len)
    assert all(is_below(path, parent) for parent in found)


def test_paths_are_sorted_by_their_bytes() -> None:
    """A folder does not come before everything in it that sorts below a slash; U+10000 comes after U+FFFF."""
    paths = ["\U00010000", "\uffff", "\u00e9", "a0", "a/b", "a-b", "a"]
    assert sorted(paths, key=sort_key) == paths[::-1]


# -- case folding

SAME = [
    ("README", "readme"),
    ("\u00c9", "\u00e9"),
    ("stra\u00dfe", "STRASSE"),
    ("\u1e9e", "ss"),
    ("s", "\u017f"),
    ("k", "\u212a"),
    ("\u00e5", "\u212b"),
    ("\ufb01", "fi"),
    ("\u03c2", "\u03c3"),
    ("\u03a3", "\u03c2"),
    ("\u0130", "i\u0307"),
    ("\u13a0", "\uab70"),
    ("\u13f0", "\u13f8"),
    ("\U00010400", "\U00010428"),
    # letters that the tables of older Pythons lack
    ("\u2c2f", "\u2c5f"),
    ("\ua7c0", "\ua7c1"),
    ("\ua7d0", "\ua7d1"),
    ("\ua7d6", "\ua7d7"),
    ("\ua7d8", "\ua7d9"),
    ("\U00010570", "\U00010597"),
    ("\U0001057a", "\U000105a1"),
    ("\U00010595", "\U000105bc"),
    ("\u1c89", "\u1c8a"),
    ("\ua7cb", "\u0264"),
    ("\ua7cc", "\ua7cd"),
    ("\ua7ce", "\ua7cf"),
    ("\ua7d2", "\ua7d3"),
    ("\ua7d4", "\ua7d5"),
    ("\ua7da", "\ua7db"),
    ("\ua7dc", "\u019b"),
    ("\U00010d50", "\U00010d70"),
    ("\U00010d65", "\U00010d85"),
    ("\U00016ea0", "\U00016ebb"),
    ("\U00016eb8", "\U00016ed3"),
]
DIFFERENT = [
    ("i", "\u0131"),
    ("I", "\u0131"),
    ("i", "\u0130"),
    ("\u00e9", "e\u0301"),
    ("a", "\uff21"),
    ("\uff41", "a"),
    ("\U0001057b", "\U000105a2"),
    ("\U00010d66", "\U00010d86"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_letters_that_fold_together_collide(left: str, right: str) -> None:
    """5.2: Unicode case-folding collisions, by full folding."""
    assert fold(left) == fold(right)
    assert fold(f"a/{left}x") == fold(f"A/{right}X")


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_folding_is_neither_turkic_nor_normalising(left: str, right: str) -> None:
    assert fold(left) != fold(right)


def test_every_python_folds_by_the_same_table() -> None:
    """Unicode 17, whatever the running interpreter knows."""
    changed = [(code, fold(chr(code))) for code in range(0x110000) if fold(chr(code)) != chr(code)]
    table = " ".join(f"{code:x}:{folded.encode().hex()}" for code, folded in changed)
    assert len(changed) == 1585
    assert hashlib.sha256(table.encode()).hexdigest() == (
        "da06d8508f2ba242e378c48e09187139023a22790344e933e09063c7a9b34319"
    )


@given(st.text(st.characters(max_codepoint=127)))
def test_the_fast_way_for_ascii_is_the_general_way(text: str) -> None:
    assert fold(text) == text.casefold()
    assert fold(text + "\u00e9") == fold(text) + "\u00e9"


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_folding_is_letter_by_letter_and_settles_at_once(left: str, right: str) -> None:
    assert fold(left + right) == fold(left) + fold(right)
    assert fold(fold(left)) == fold(left)


# -- sets of paths

Added = tuple[str, Form]

ACCEPTED_SETS: list[list[Added]] = [
    [("a", "directory"), ("a/b", "file"), ("a/c", "directory"), ("a/c/d", "symlink")],
    [("a/b/c", "file"), ("a/b/d", "file")],
    [("a/b", "file"), ("a", "directory")],
    [("i", "file"), ("\u0131", "file")],
    [("\u00e9", "file"), ("e\u0301", "file")],
    [("a", "file"), ("ab", "file"), ("a.b/c", "file")],
]
REFUSED_SETS: list[tuple[Added, Added, str, str]] = [
    (("a", "file"), ("a", "file"), "twice", "twice"),
    (("a", "directory"), ("a", "directory"), "twice", "twice"),
    (("a", "file"), ("a", "directory"), "twice", "twice"),
    (("a", "symlink"), ("a", "file"), "twice", "twice"),
    (("a", "file"), ("A", "file"), "same as `a`", "same as `A`"),
    (("s", "file"), ("\u017f", "file"), "same as `s`", "same as `\u017f`"),
    (("AA/x", "file"), ("aa/y", "file"), "below `aa`, which is the same as `AA`", "same as `aa`"),
    (("AA/x", "file"), ("aa", "file"), "same as `AA`", "same as `aa`"),
    (("a/B/x", "file"), ("a/b/x", "file"), "below `a/b`", "below `a/B`"),
    (("a", "file"), ("a/b", "file"), "below `a`, which is a file", "other entries lie below"),
    (("a", "file"), ("a/b/c", "file"), "below `a`, which is a file", "other entries lie below"),
    (("a", "symlink"), ("a/b", "file"), "below `a`, which is a symlink", "other entries lie below"),
    (("a/b", "symlink"), ("a/b/c", "directory"), "below `a/b`, which is a symlink", "other entries lie below"),
]


@pytest.mark.parametrize("added", ACCEPTED_SETS)
def test_paths_of_one_tree_go_together(added: list[Added]) -> None:
    paths = PathSet()
    assert [paths.add(path, form) for path, form in added] == [None] * len(added)


@pytest.mark.parametrize(("first", "second", "fault", "reverse"), REFUSED_SETS)
def test_the_second_of_two_conflicting_paths_is_refused(first: Added, second: Added, fault: str, reverse: str) -> None:
    """5.2: duplicates and collisions, implied parents included; nothing lies below a file or a link. In any order."""
    paths = PathSet()
    assert paths.add(*first) is None
    assert fault in (paths.add(*second) or "")
    paths = PathSet()
    assert paths.add(*second) is None
    assert reverse in (paths.add(*first) or "")


@given(st.lists(PATHS, unique=True))
def test_a_set_of_files_is_accepted_in_every_order_or_in_none(found: list[str]) -> None:
    def accepted(order: list[str]) -> bool:
        paths = PathSet()
        return all(paths.add(path, "file") is None for path in order)

    assert accepted(found) == accepted(found[::-1]) == accepted(sorted(found))


NAMES = st.text(st.sampled_from("aAbB.\\\0 \u00e9\u212a"), min_size=1, max_size=4).filter(
    lambda name: name not in {".", ".."}
)


@given(st.sampled_from(["", "folder", "f" * 1_021, "\u00e9" * 511]), st.lists(NAMES, unique=True, max_size=5))
def test_a_plain_folder_is_one_in_which_nothing_can_be_found(folder: str, names: list[str]) -> None:
    """Section 5.2, for a whole folder at a glance; what is not plain at a glance is looked at name by name."""
    paths = [f"{folder}/{name}" if folder else name for name in names]
    tree = PathSet()
    faults = [path_fault(path) or tree.add(path, "file") for path in paths]
    assert not (are_plain(folder, names) and any(faults))
    if folder.isascii() and all(path.isascii() for path in paths) and not any(name.startswith(".") for name in names):
        assert are_plain(folder, names) == (not any(faults))
