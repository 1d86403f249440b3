"""Garbage collection is paused for a while and left as it was found."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from hatch_agentsuite.collection import collection_paused


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    was_on = gc.isenabled()
    yield
    (gc.enable if was_on else gc.disable)()


@pytest.mark.parametrize("on", [True, False])
def test_collector_is_as_it_was(on: bool) -> None:
    (gc.enable if on else gc.disable)()
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is on


def test_collector_goes_on_after_a_failure() -> None:
    gc.enable()
    with pytest.raises(KeyError), collection_paused():
        raise KeyError
    assert gc.isenabled()
