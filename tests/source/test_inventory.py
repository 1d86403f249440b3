"""Inventories of payload folders (section 9.4): what is computed is canonical as it is written."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from hatch_agentsuite.jsondoc import canonical, loads
from hatch_agentsuite.source.inventory import inventory, packed_inventory
from hatch_agentsuite.source.tree import SourceEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = "tool-providers/clock/1.0.0/linux-amd64"
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12) | st.sampled_from(
    ['"', "\x7f", "\n", "\u2028", "</script>", "\U0001f600", "\ufb33"]
)
ENTRIES = st.builds(
    SourceEntry,
    NAMES.map(lambda name: f"{ROOT}/{name}"),
    st.sampled_from(["file", "directory", "symlink"]),
    st.sampled_from([0o600, 0o644, 0o700, 0o755, 0o777]),
    st.integers(0, 2**53 - 1),
    NAMES,
)


def found(entries: list[SourceEntry]) -> Iterator[tuple[int, str]]:
    return (
        (entry.size, f"sha256:{hashlib.sha256(entry.path.encode()).hexdigest()}")
        for entry in entries
        if entry.kind == "file"
    )


@given(st.lists(ENTRIES, max_size=5))
def test_a_computed_inventory_is_packed_as_canonical_json_has_it(entries: list[SourceEntry]) -> None:
    """RFC 8785, whatever a name holds."""
    items: Any = inventory(ROOT, entries, found(entries))
    packed = packed_inventory(items)
    assert packed == canonical(items)
    assert loads(packed) == items
    assert [item["path"] for item in items] == [entry.path.removeprefix(f"{ROOT}/") for entry in entries]
