"""AS-PATH-001, warnings: paths that are two here and one where file names are normalised (specification 5.2).

Collisions under case folding are errors and found when the tree is read; the specification does not fold
normalisation forms, but some file systems do.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import islice

from hatch_agentsuite.findings import Finding, printable
from hatch_agentsuite.paths import parents, sort_key
from hatch_agentsuite.validation.suite import Suite

REQUIREMENT = "AS-PATH-001"

_MOST = 10_000  # paths that are looked at: a long run of combining marks takes quadratic time to normalise


def check(suite: Suite) -> Iterator[Finding]:
    """Yield a warning for every path that equals an earlier one once both are in normalisation form C."""
    named = islice((path for path in suite.tree.entries if not path.isascii()), _MOST)
    paths = {part for path in named for part in (path, *parents(path))}
    first: dict[str, str] = {}
    twins: set[str] = set()
    for path in sorted(paths, key=sort_key):
        other = first.setdefault(unicodedata.normalize("NFC", path), path)
        if other == path:
            continue
        twins.add(path)
        if path.rpartition("/")[0] not in twins:
            message = f"the path differs from `{_escaped(other)}` in nothing but its Unicode normalisation"
            hint = f"this one is `{_escaped(path)}`; some file systems take the two for one"
            yield Finding(REQUIREMENT, "path", printable(path), message, hint, "warning")


def _escaped(path: str) -> str:
    """Return a path with escapes for all that is not ASCII: the two would look alike."""
    return path.encode("unicode_escape").decode("ascii")
