"""Paths in a final file system resolve as the kernel resolves them and never leave it (for ASI-ABI-001, 15.2)."""

import posixpath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatch_agentsuite.sandbox.lookup import Lookup
from tests.sandbox.images import (
    Tree,
)


def test_links_are_followed_forty_times() -> None:
    links = {f"/l{index}": f"l{index + 1}" for index in range(45)}
    tree = Lookup(Tree({**links, "/l45": b"x"}))
    assert tree.resolve("/l5") == "/l45"
    assert tree.resolve("/l4") is None


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/", "/"),
        ("/d/f", "/d/f"),
        ("/d/./f", "/d/f"),
        ("//d//f", "/d/f"),
        ("/d/../d/f", "/d/f"),
        ("/../../d/f", "/d/f"),
        ("/out/d/f", "/d/f"),
        ("/in/f", "/d/f"),
        ("/in/../d/f", "/d/f"),
        ("/d/f/", None),
        ("/d/f/..", None),
        ("/d/f/x", None),
        ("/gone", None),
        ("/loop", None),
        ("/d/" + "x/" * 3000, None),
    ],
)
def test_a_path_resolves_inside_the_root(path: str, found: str | None) -> None:
    tree = Tree({"/d/f": b"x", "/out": "../../../..", "/in": "/out/d", "/loop": "loop/x"})
    assert Lookup(tree).resolve(path) == found


NAMES = st.sampled_from(["a", "b", "c", "lib", "..", "."])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
CLEAN = st.lists(st.sampled_from(["a", "b", "c", "lib"]), min_size=1, max_size=3).map("/".join)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(CLEAN, st.one_of(PATHS, PATHS.map("/{}".format), st.just(b"x"))), st.lists(PATHS, max_size=4))
def test_resolution_never_leaves_the_root_and_ends(entries: dict[str, str | bytes], paths: list[str]) -> None:
    """Whatever links there are, only clean paths are asked for, below folders, and what is found is no link."""
    kept = {f"/{path}": value for path, value in entries.items() if not any(path.startswith(f"{o}/") for o in entries)}
    tree = Tree({"/": None, **kept})
    view = Lookup(tree)
    for path in paths:
        resolved = view.resolve(f"/{path}")
        if resolved is not None:
            assert view.kind(resolved) in {"file", "directory"}
            assert view.resolve(resolved) == resolved
    for asked in tree.asked:
        assert asked.startswith("/")
        assert posixpath.normpath(asked) == asked
        assert tree.entries.get(posixpath.dirname(asked), "") is None
