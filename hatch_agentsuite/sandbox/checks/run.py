"""ASI-RUN-001: the image's user, entrypoint, capabilities and ``no_new_privs`` contract are valid (15.2)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from hatch_agentsuite.findings import Category, Finding, Severity, printable
from hatch_agentsuite.jsondoc import JSONDocumentError, loads
from hatch_agentsuite.sandbox import contract
from hatch_agentsuite.sandbox.checks.subject import Subject
from hatch_agentsuite.sandbox.config import environment, numeric_user
from hatch_agentsuite.sandbox.sources import Sources

REQUIREMENT = "ASI-RUN-001"

_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_INJECTING = ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONPATH", "NODE_OPTIONS", "BASH_ENV")


def check(subject: Subject) -> Iterator[Finding]:
    """Yield what is wrong with how the image is run."""
    yield from _user(subject)
    yield from _entrypoint(subject)
    yield from _contract(subject)
    yield from _environment(subject)
    if subject.sources is not None:
        declared = subject.image.settings.get("Volumes") or {}
        if sorted(declared) != subject.sources.writable_paths:
            message = f"`Volumes` are {sorted(declared)}, the writable paths are {subject.sources.writable_paths}"
            yield _finding(message)


def program(subject: Subject) -> str | None:
    """Return the path of what the image starts, sought as a runtime does, or None where it starts nothing."""
    settings = subject.image.settings
    words: list[str] = [*(settings.get("Entrypoint") or []), *(settings.get("Cmd") or [])]
    if not words or not words[0]:
        return None
    if "/" in words[0]:
        return posixpath.normpath(posixpath.join(settings.get("WorkingDir") or "/", words[0]))
    for folder in environment(settings).get("PATH", _DEFAULT_PATH).split(":"):
        path = posixpath.join(folder, words[0])
        resolved = subject.filesystem.resolve(path) if folder.startswith("/") else None
        if resolved is not None and subject.filesystem.kind(resolved) == "file":
            return path
    return words[0]


def _user(subject: Subject) -> Iterator[Finding]:
    user = subject.image.settings.get("User") or ""
    numbers = numeric_user(user)
    if numbers is None:
        message = f"the user is `{user}`" if user else "the config names no user, which is root"
        yield _finding(message, "the runnable default is a non-root numeric user, such as 65532:65532")
    elif not numbers[0]:
        yield _finding("the image runs as root (user 0)", "the runnable default is a non-root numeric user")


def _entrypoint(subject: Subject) -> Iterator[Finding]:
    settings, sources = subject.image.settings, subject.sources
    if sources is not None and sources.entry is not None:
        expected = [sources.entry["entrypoint"], *sources.entry.get("arguments", [])]
        if settings.get("Entrypoint") != expected or settings.get("Cmd"):
            actual = [*(settings.get("Entrypoint") or []), *(settings.get("Cmd") or [])]
            yield _finding(f"the image's process is {actual}, the variant's entrypoint and arguments are {expected}")
    path = program(subject)
    if path is None:
        yield _finding("the image has no entrypoint", "the harness image's config must name one")
        return
    resolved = subject.filesystem.resolve(path) if path.startswith("/") else None
    if resolved is None or subject.filesystem.kind(resolved) != "file":
        yield _finding(f"the entrypoint `{path}` is no file of the image")
    elif not _may_run(subject, resolved):
        yield _finding(f"the user of the image may not execute the entrypoint `{path}`")


def _may_run(subject: Subject, path: str) -> bool:
    """Whether the image's user may execute a file and pass through the folders above it."""
    uid, gid = numeric_user(subject.image.settings.get("User") or "") or (0, 0)
    nodes = [subject.filesystem.nodes[path]]
    while uid and path != "/":
        path = posixpath.dirname(path)
        nodes.append(subject.filesystem.nodes[path])
    bits = [0o111 if uid == 0 else 0o100 if node.uid == uid else 0o010 if node.gid == gid else 0o001 for node in nodes]
    return all(node.mode & bit for node, bit in zip(nodes, bits, strict=True))


def _contract(subject: Subject) -> Iterator[Finding]:
    text = subject.labels.get(contract.LABEL)
    if text is None:
        yield _finding(f"the config has no label `{contract.LABEL}`, so no runtime is asked for `no_new_privs`")
        return
    try:
        value = loads(str(text).encode())
    except (JSONDocumentError, UnicodeEncodeError) as error:
        yield _finding(f"the label `{contract.LABEL}` cannot be read: {error}")
        return
    if not isinstance(value, dict):
        yield _finding(f"the label `{contract.LABEL}` is no object")
        return
    if value.get("noNewPrivileges") is not True:
        yield _finding("the runtime contract does not ask for `no_new_privs`")
    if value.get("capabilities") != []:
        yield _finding("the runtime contract adds capabilities; it must add none")
    expected = contract.contract(subject.sources) if subject.sources else {}
    for name in sorted(expected.keys() | value.keys() if expected else ()):
        if name not in ("capabilities", "noNewPrivileges") and value.get(name) != expected.get(name):
            yield _finding(f"the runtime contract's `{name}` is not what agent and bundles declare")


def _environment(subject: Subject) -> Iterator[Finding]:
    values = environment(subject.image.settings)
    for name in sorted(_declared(subject.sources) & values.keys()):
        message = f"the config gives `{name}` a value; an image holds the names of inputs, never their values"
        yield _finding(message, category="security")
    for name in _INJECTING:
        if values.get(name):
            yield _finding(f"the config sets `{name}`, which can inject code", category="security", severity="warning")


def _declared(sources: Sources | None) -> set[str]:
    return {item["name"] for item in contract.contract(sources)["environment"]} if sources else set()


def _finding(message: str, hint: str = "", *, category: Category = "build", severity: Severity = "error") -> Finding:
    return Finding(REQUIREMENT, category, "", printable(message), hint, severity)
