"""Every requirement of section 15.2, put to one image; the builder and the validator ask the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hatch_agentsuite.findings import Finding
from hatch_agentsuite.sandbox.checks import abi, binding, files, provider, run, sources
from hatch_agentsuite.sandbox.checks.subject import Subject

CHECKS: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    binding.check,
    provider.check,
    sources.check,
    files.check,
    abi.check,
    run.check,
)


def judge(subject: Subject) -> list[Finding]:
    """Return what is wrong with an image by itself."""
    return [finding for check in CHECKS for finding in check(subject)]
