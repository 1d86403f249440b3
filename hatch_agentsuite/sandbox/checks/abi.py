"""ASI-ABI-001: what an image starts can start, in its final file system (15.2)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from hatch_agentsuite.documents import platform_name
from hatch_agentsuite.findings import Finding, pointer
from hatch_agentsuite.sandbox import binding
from hatch_agentsuite.sandbox.abi import check_abi
from hatch_agentsuite.sandbox.checks.run import program
from hatch_agentsuite.sandbox.checks.subject import Subject
from hatch_agentsuite.sandbox.composing import METADATA


def check(subject: Subject) -> Iterator[Finding]:
    """Judge every bundle at its install root, and the entrypoint of the image."""
    sources = subject.sources
    if sources is None:
        return
    platform = platform_name(sources.platform)
    for key, variant in sources.bundles():
        variants = sources.providers[key]["variants"]
        place = f"{METADATA}/{binding.provider_path(key)}#{pointer('variants', variants.index(variant))}"
        yield from check_abi(subject.filesystem, platform, variant, [variant["installRoot"]], place)
    path = program(subject)
    if sources.agent is not None and path is not None and posixpath.isabs(path):
        yield from check_abi(subject.filesystem, platform, None, [path], "")
