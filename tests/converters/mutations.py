"""One change of a valid document, at the place that a JSON pointer names."""

from __future__ import annotations

from typing import Any


class _Drop:
    def __repr__(self) -> str:
        return "DROP"


DROP = _Drop()


def changed(document: Any, pointer: str, value: Any) -> Any:
    """Change a document in place and return it; ``-`` appends to a list."""
    *way, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    holder = document
    for step in way:
        holder = holder[int(step) if isinstance(holder, list) else step]
    if isinstance(holder, list):
        if last == "-":
            holder.append(value)
        elif value is DROP:
            del holder[int(last)]
        else:
            holder[int(last)] = value
    elif value is DROP:
        del holder[last]
    else:
        holder[last] = value
    return document
