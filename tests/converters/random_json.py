"""Random JSON, and random changes of a document."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["", " ", "a:b", "../x", "https://x.example/", "http://[", "%", "#/x", "\x00", "\u202e", "x" * 5000, "type"]
)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False) | TEXT
MEMBERS = TEXT | st.sampled_from(
    ["agent", "capabilities", "mcpServers", "id", "uri", "interface", "methods", "input", "operations", "inputs",
     "examples", "type", "properties", "$ref", "$id", "$schema", "pattern", "allOf", "items", "$defs", "enum"]
)  # fmt: skip
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=3),
    max_leaves=12,
)


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value inside a document."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in members:
        yield (*way, step)
        yield from places(part, (*way, step))


def mutated(document: Any, data: st.DataObject) -> Any:
    """Return the document after one to three changes: a value replaced, removed, added, or copied elsewhere."""
    for _ in range(data.draw(st.integers(1, 3))):
        ways = list(places(document))
        if not ways:
            return document
        *holders, last = data.draw(st.sampled_from(ways))
        holder = document
        for step in holders:
            holder = holder[step]
        change = data.draw(st.sampled_from(["replace", "remove", "add", "copy"]))
        if change == "replace":
            holder[last] = data.draw(ANYTHING)
        elif change == "remove":
            del holder[last]
        elif change == "copy":
            value = document
            for step in data.draw(st.sampled_from(ways)):
                value = value[step]
            holder[last] = copy.deepcopy(value)
        elif isinstance(holder, list):
            holder.append(data.draw(ANYTHING))
        else:
            holder[data.draw(MEMBERS)] = data.draw(ANYTHING)
    return document
