"""What a format says and the profile has no member for: the difference between two documents, kept and put back.

One document is what the profile alone gives, the other what was imported. A difference is a list of records, each a
JSON pointer ``at`` and either the ``value`` that stands there, the largest part that differs, or ``absent: true``.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from agentsuite_converters.places import parse_pointer, put, remove, same
from hatch_agentsuite.findings import pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsuite_converters.places import Path
    from hatch_agentsuite.documents import JSONObject, JSONValue


def difference(given: JSONValue, wanted: JSONValue, at: Path = ()) -> Iterator[JSONObject]:
    """Yield the records that turn one document into another (see :func:`restore`), in the order of the members' names.

    So they are the same for equal documents, in whatever order these have their members.
    """
    if same(given, wanted):
        return
    if isinstance(given, dict) and isinstance(wanted, dict):
        for name in sorted({*given, *wanted}):
            if name not in wanted:
                yield {"at": pointer(*at, name), "absent": True}
            elif name in given:
                yield from difference(given[name], wanted[name], (*at, name))
            else:
                yield {"at": pointer(*at, name), "value": copy.deepcopy(wanted[name])}
    elif isinstance(given, list) and isinstance(wanted, list) and len(given) == len(wanted):
        for position, pair in enumerate(zip(given, wanted, strict=True)):
            yield from difference(*pair, (*at, position))
    else:
        yield {"at": pointer(*at), "value": copy.deepcopy(wanted)}


def restore(document: JSONObject, records: JSONValue) -> Iterator[tuple[int, Path, bool]]:
    """Change a document as records say; yield the number and place of each, and whether there was a place for it.

    Where the profile was edited after the import, a record may have lost its place; it changes nothing then.
    """
    for number, record in enumerate(records if isinstance(records, list) else []):
        if not isinstance(record, dict):
            continue
        path = parse_pointer(str(record.get("at", "")), document)
        if record.get("absent") is True:
            remove(document, path)
        elif path and "value" in record:
            yield number, path, put(document, path, copy.deepcopy(record["value"]))
