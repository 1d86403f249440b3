"""AS-GRAPH-001, warnings: content that nothing in the suite reaches (specification 7).

The specification refuses such files in ``evals/`` and in payloads only, where other checks find them. Elsewhere they
do no harm but to size and digest, and are most often a mistake.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hatch_agentsuite.findings import Finding, printable
from hatch_agentsuite.layout import blob_path
from hatch_agentsuite.paths import parents, sort_key
from hatch_agentsuite.validation.evidence import evidence
from hatch_agentsuite.validation.suite import Suite

REQUIREMENT = "AS-GRAPH-001"


def check(suite: Suite, *, extracted: bool) -> Iterator[Finding]:
    """Yield a warning for every file or link that nothing reaches, or for the whole folder that holds it.

    ``extracted`` says that the content is a directory, where ``agentsuite unpack`` leaves SBOM and provenance blobs.
    Where a document cannot be read, what it reaches is not known, and nothing is said.
    """
    if suite.manifest is None or any(_is_unknown(suite, item.path) for item in suite.references if item.kind):
        return
    reached = suite.reached()
    if extracted:
        reached.update(blob_path(descriptor["digest"]) for _, descriptor in evidence(suite))
    folders = {"evals", *(variant["payloadRoot"] for _, _, variant in suite.variants())}
    for place, count in _unreached(suite, reached, folders):
        what = f"nothing refers to the {count:,} files in this folder" if count > 1 else "nothing refers to it"
        hint = "refer to it, or leave it out"
        yield Finding(REQUIREMENT, "graph", printable(place), what, hint, "warning")


def _is_unknown(suite: Suite, path: str) -> bool:
    document = suite.documents.get(path)
    return document is None or document.value is None


def _unreached(suite: Suite, reached: set[str], folders: set[str]) -> Iterator[tuple[str, int]]:
    """Yield unreached paths, sorted, each with 1, and whole folders of several (``logs/``) with their number."""
    covered: dict[str, bool] = {}
    alive: set[str] = set()
    found = []
    for path, entry in suite.tree.entries.items():
        folder = path.rpartition("/")[0]
        if folder not in covered:
            covered[folder] = not folders.isdisjoint((folder, *parents(folder)))
        if path in reached or covered[folder]:
            alive.add(folder)
        elif entry.type != "directory":
            found.append(path)
    alive.update(parent for folder in list(alive) for parent in parents(folder))
    dead = {path: next((parent for parent in parents(path) if parent not in alive), "") for path in found}
    counts = Counter(folder for folder in dead.values() if folder)
    alone = {path: 1 for path, folder in dead.items() if counts[folder] < 2}
    whole = {f"{folder}/": count for folder, count in counts.items() if count > 1}
    yield from sorted({**alone, **whole}.items(), key=lambda item: sort_key(item[0]))
