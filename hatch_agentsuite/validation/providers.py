"""AS-PROVIDER-001: bundled variants match the content, remote declarations are well formed (specification 9.4, 9.5).

Payloads are compared entry by entry with the inventory: type, mode, owner, size, digest, link target. A directory may
be left out of an inventory (9.4's own example does); everything else must stand in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from hatch_agentsuite.content import Entry
from hatch_agentsuite.findings import Category, Finding, pointer, printable
from hatch_agentsuite.paths import is_below, parents
from hatch_agentsuite.validation.suite import Document, Suite

REQUIREMENT = "AS-PROVIDER-001"

_SUSPECT_ENVIRONMENT = ("PYTHONHOME", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "ENV", "JAVA_TOOL_OPTIONS", "DYLD_")


def check(suite: Suite, *, extracted: bool) -> Iterator[Finding]:
    """Yield what is wrong with variants and remote declarations, and suspect names of environment variables.

    ``extracted`` says that the content is a directory, where ownership is root's by definition and a hardlink entry
    may be a regular file.
    """
    payloads = _payload_entries(suite)
    for document, index, variant in suite.variants():
        prefix = pointer("variants", index)
        entries = payloads.get(variant["payloadRoot"], [])
        yield from _variant_members(document, prefix, variant)
        yield from _inventory(document, prefix, variant, entries, extracted)
    for document in suite.providers.values():
        yield from _remote(document)
    for agent in suite.agents.values():
        model = (agent.value or {}).get("model", {})
        yield from _environment_name(f"{agent.path}#/model/endpointEnv", model.get("endpointEnv", ""))


def _payload_entries(suite: Suite) -> dict[str, list[Entry]]:
    """Return the entries below each payload root, found in one pass over the content."""
    roots = {variant["payloadRoot"] for _, _, variant in suite.variants()}
    found: dict[str, list[Entry]] = {root: [] for root in roots}
    for entry in suite.tree.entries.values():
        index = entry.path.find("/")
        while index != -1:
            root = entry.path[:index]
            if root in found:
                found[root].append(entry)
            index = entry.path.find("/", index + 1)
    return found


def _variant_members(document: Document, prefix: str, variant: dict[str, Any]) -> Iterator[Finding]:
    place = f"{document.path}#{prefix}"
    entrypoint, root = variant["entrypoint"], variant["installRoot"]
    if not is_below(entrypoint, root):
        yield _finding(f"{place}/entrypoint", f"the entrypoint does not lie below the install root {root}")
    else:
        relative = entrypoint[len(root.rstrip("/")) + 1 :]
        item = next((item for item in variant["files"] if item["path"] == relative), None)
        if item is None or item["type"] != "file" or not item["mode"] & 0o111:
            message = f"the entrypoint is no executable regular file of the inventory (`{relative}`)"
            yield _finding(f"{place}/entrypoint", message)
    own = ((document.value or {})["id"], (document.value or {})["version"])
    counts: Counter[tuple[str, str]] = Counter()
    for number, item in enumerate(variant.get("dependencies", [])):
        key = (item["id"], item["version"])
        counts[key] += 1
        if key == own:
            yield _finding(f"{place}/dependencies/{number}", "a variant cannot depend on its own provider")
        elif counts[key] == 2:
            yield _finding(f"{place}/dependencies/{number}", f"`{key[0]}` {key[1]} stands twice")
    names: Counter[str] = Counter()
    for number, item in enumerate(variant.get("environment", [])):
        name = item["name"]
        names[name] += 1
        if names[name] == 2:
            yield _finding(f"{place}/environment/{number}/name", f"`{name}` stands twice")
        yield from _environment_name(f"{place}/environment/{number}/name", name)


def _inventory(
    document: Document, prefix: str, variant: dict[str, Any], entries: list[Entry], extracted: bool
) -> Iterator[Finding]:
    root = variant["payloadRoot"]
    unlisted = {entry.path[len(root) + 1 :]: entry for entry in entries}
    implied = {parent for path in unlisted for parent in parents(path)}
    seen: set[str] = set()
    for number, item in enumerate(variant["files"]):
        location = f"{document.path}#{prefix}/files/{number}"
        path = item["path"]
        if path in seen:
            yield _finding(f"{location}/path", f"`{path}` stands twice in the inventory")
            continue
        seen.add(path)
        entry = unlisted.pop(path, None)
        if entry is None:
            if not (item["type"] == "directory" and path in implied):
                yield _finding(location, f"`{root}/{path}` is not in the content")
            continue
        yield from _compare(location, item, entry, extracted)
    for path, entry in unlisted.items():
        if entry.type != "directory":
            yield _finding(
                f"{document.path}#{prefix}/files",
                f"`{printable(root)}/{printable(path)}` is in the content but not in the inventory",
            )


def _compare(location: str, item: dict[str, Any], entry: Entry, extracted: bool) -> Iterator[Finding]:
    kind = item["type"]
    if kind != entry.type and not (extracted and kind == "hardlink" and entry.type == "file"):
        yield _finding(f"{location}/type", f"the inventory says {kind}, the content has a {entry.type}")
        return
    if item["mode"] != entry.mode and not (extracted and kind in {"symlink", "directory"}):
        yield _finding(f"{location}/mode", f"the inventory says {item['mode']:04o}, the content has {entry.mode:04o}")
    for owner, actual in (("uid", entry.uid), ("gid", entry.gid)):
        if item[owner] != actual:
            yield _finding(f"{location}/{owner}", f"the inventory says {item[owner]}, the content has {actual}")
    if kind == "file":
        if item["size"] != entry.size:
            yield _finding(f"{location}/size", f"the inventory says {item['size']:,}, the file has {entry.size:,}")
        if item["digest"] != entry.digest:
            message = f"the file has the digest {entry.digest}, not {item['digest']}"
            yield _finding(f"{location}/digest", message, category="digest")
    elif entry.type in {"symlink", "hardlink"} and item["linkTarget"] != entry.link_target:
        target = printable(entry.link_target or "")
        yield _finding(f"{location}/linkTarget", f"the inventory says `{item['linkTarget']}`, the link says `{target}`")


def _remote(document: Document) -> Iterator[Finding]:
    remote = (document.value or {}).get("remote")
    if remote is None:
        return
    names: Counter[str] = Counter()
    for number, header in enumerate(remote.get("headers", [])):
        name = header["name"].lower()
        names[name] += 1
        if names[name] == 2:
            location = f"{document.path}#/remote/headers/{number}/name"
            yield _finding(location, f"the header `{header['name']}` stands twice; letter case does not count")


def _environment_name(location: str, name: str) -> Iterator[Finding]:
    """Warn of names that inject code, beyond those that the schema refuses."""
    if name.startswith(_SUSPECT_ENVIRONMENT[-1]) or name in _SUSPECT_ENVIRONMENT:
        yield _finding(location, f"`{name}` can inject code into a program", category="security").as_warning()


def _finding(location: str, message: str, *, category: Category = "tool-provider") -> Finding:
    return Finding(REQUIREMENT, category, location, message)
