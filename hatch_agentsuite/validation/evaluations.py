"""AS-EVAL-001: optional evaluations conform to section 8.2. Operands are never repeated in a message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from hatch_agentsuite.findings import Finding, pointer, printable
from hatch_agentsuite.validation.suite import Document, Suite

REQUIREMENT = "AS-EVAL-001"

_KNOWN_TYPES = frozenset({"contains", "notContains", "regex", "toolCalled", "toolNotCalled", "llmJudge"})
_KINDS = frozenset({"agentsuite/eval-index", "agentsuite/eval-case"})
_RE2_MEMORY = 64 << 20


def check(suite: Suite) -> Iterator[Finding]:
    """Yield what is wrong with eval references, indexes, cases and the ``evals/`` subtrees."""
    for name, agent in suite.agents.items():
        for index, item in enumerate((agent.value or {}).get("evals", [])):
            expected = f"evals/{name}/index.json"
            if item["path"] != expected:
                location = f"{agent.path}#{pointer('evals', index, 'path')}"
                yield _finding(location, f"the path is `{item['path']}`; it must be `{expected}`")
    for name, document in suite.eval_indexes.items():
        if document.value is not None:
            yield from _index(suite, name, document, document.value)
    yield from _orphans(suite)


def _index(suite: Suite, agent: str, document: Document, value: dict[str, Any]) -> Iterator[Finding]:
    if value["agent"] != agent:
        yield _finding(f"{document.path}#/agent", f"the index names `{value['agent']}`; its owner is `{agent}`")
    cases, limits = value["cases"], value["limits"]
    if len(cases) > limits["maxCases"]:
        yield _finding(
            f"{document.path}#/limits/maxCases", f"there are {len(cases)} cases, more than {limits['maxCases']}"
        )
    paths: Counter[str] = Counter()
    for number, item in enumerate(cases):
        location = f"{document.path}#{pointer('cases', number, 'path')}"
        paths[item["path"]] += 1
        if paths[item["path"]] == 2:
            yield _finding(location, f"`{item['path']}` stands twice")
        case = suite.documents.get(item["path"])
        if case is None or case.value is None or case.kind != "agentsuite/eval-case":
            continue
        expected = f"evals/{agent}/cases/{case.value['id']}.json"
        if item["path"] != expected:
            yield _finding(location, f"the path is `{item['path']}`; the case's id makes it `{expected}`")
        size = len(suite.tree.documents[item["path"]])
        if size > limits["maxCaseBytes"]:
            yield _finding(location, f"the case has {size:,} bytes, more than maxCaseBytes {limits['maxCaseBytes']:,}")
        yield from _case(case.path, case.value)


def _case(path: str, value: dict[str, Any]) -> Iterator[Finding]:
    if "minPasses" in value and value["minPasses"] > value.get("runs", 1):
        yield _finding(f"{path}#/minPasses", "minPasses is more than runs")
    ids: Counter[str] = Counter()
    for number, assertion in enumerate(value["assertions"]):
        place = f"{path}#{pointer('assertions', number)}"
        ids[assertion["id"]] += 1
        if ids[assertion["id"]] == 2:
            yield _finding(f"{place}/id", f"the assertion id `{assertion['id']}` stands twice")
        for operand, bound in (("pattern", 1_024), ("rubric", 4_096)):
            if assertion["type"] in _KNOWN_TYPES and len(assertion.get(operand, "").encode()) > bound:
                yield _finding(f"{place}/{operand}", f"the {operand} has more than {bound:,} UTF-8 bytes")
        if assertion["type"] == "regex":
            fault = pattern_fault(assertion["pattern"])
            if fault:
                yield _finding(f"{place}/pattern", fault)


def pattern_fault(pattern: str) -> str | None:
    """Return why a pattern is not valid RE2 syntax, without repeating it, or None (8.2.2)."""
    try:
        import re2
    except ImportError:
        return "the pattern cannot be judged: google-re2 has no build for this Python; regex assertions are refused"
    if len(pattern.encode()) > 1_024:
        return None
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _RE2_MEMORY
    try:
        compiled = re2.compile(pattern, options=options)
    except re2.error as error:
        reason = error.args[0] if error.args else b""
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        return f"the pattern is not valid RE2 ({printable(text.split(':')[0])})"
    # The C++ library takes two things that RE2's syntax, as other implementations read it, does not have.
    if "\\C" in pattern.replace("\\\\", "") or not all(name.isascii() for name in compiled.groupindex):
        return "the pattern uses `\\C` or a group name that is not ASCII, which not every RE2 accepts"
    return None


def _orphans(suite: Suite) -> Iterator[Finding]:
    """Every ``evals/<agent>/`` subtree is referenced and holds only its index, its cases and their folders.

    Where an agent or its index cannot be read, what its subtree should hold is not known. No other reference makes a
    file belong there, and no link leads to subtrees elsewhere.
    """
    if suite.manifest is None:
        return
    top = suite.entry("evals")
    if top and top.type != "directory":
        yield _finding("evals", f"this is a {top.type}; `evals` is a folder of evaluation subtrees")
    holders = (*suite.agents.items(), *suite.eval_indexes.items())
    unknown = {f"evals/{name}" for name, document in holders if document.value is None}
    referenced = {f"evals/{name}" for name in suite.eval_indexes}
    reached = {reference.path for reference in suite.references if reference.kind in _KINDS}
    reported: set[str] = set()
    for path, entry in suite.tree.entries.items():
        if not path.startswith("evals/") or path in reached:
            continue
        subtree = "/".join(path.split("/")[:2])
        if subtree in unknown:
            continue
        if entry.type == "directory" and subtree in referenced and path in {subtree, f"{subtree}/cases"}:
            continue
        if subtree in referenced:
            yield _finding(printable(path), "no evaluation index references this; `evals/<agent>/` holds nothing else")
        elif subtree not in reported:
            reported.add(subtree)
            yield _finding(printable(subtree), "no agent references this evaluation subtree")


def _finding(location: str, message: str) -> Finding:
    return Finding(REQUIREMENT, "evaluation", location, message)
