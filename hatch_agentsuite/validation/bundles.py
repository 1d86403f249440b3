"""Bundled variants resolved: which one a platform selects, what it depends on, where its files land (9.4, 10).

Shared by the requirements that judge compositions, and by whoever builds from one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hatch_agentsuite.paths import is_below, parents
from hatch_agentsuite.validation.suite import ProviderKey, Suite


@dataclass(frozen=True)
class Destination:
    """What one bundle puts at one absolute path."""

    provider: ProviderKey
    entry: tuple[object, ...]


def select_variant(suite: Suite, key: ProviderKey, platform: dict[str, Any]) -> dict[str, Any] | None:
    """Return the variant of a cataloged ToolProvider for exactly this platform."""
    provider = suite.providers.get(key)
    for variant in (provider.value or {}).get("variants", []) if provider else []:
        if variant["platform"] == platform:
            found: dict[str, Any] = variant
            return found
    return None


def closure(suite: Suite, roots: list[ProviderKey], platform: dict[str, Any]) -> list[ProviderKey]:
    """Return the roots and their dependencies for a platform, depth first, each once; what is missing is left out."""
    order: list[ProviderKey] = []
    pending = list(reversed(roots))
    seen: set[ProviderKey] = set()
    while pending:
        key = pending.pop()
        variant = select_variant(suite, key, platform)
        if key in seen or variant is None:
            continue
        seen.add(key)
        order.append(key)
        pending.extend((item["id"], item["version"]) for item in reversed(variant.get("dependencies", [])))
    return order


def collisions(suite: Suite, keys: list[ProviderKey], platform: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (destination, what is wrong) for every path at which two bundles put entries that are not identical."""
    taken: dict[str, Destination] = {}
    for key, variant in _meeting(suite, keys, platform):
        for item in variant["files"]:
            path = f"{variant['installRoot'].rstrip('/')}/{item['path']}"
            mine = Destination(key, _identity(item))
            other = taken.setdefault(path, mine)
            if other.provider != key and other.entry != mine.entry:
                yield path, f"{_name(other.provider)} and {_name(key)} put different entries there"
    for path, mine in taken.items():
        for parent in parents(path[1:]):
            above = taken.get(f"/{parent}")
            if above and above.provider != mine.provider and above.entry[0] != "directory":
                what = f"{_name(above.provider)} puts a {above.entry[0]} at /{parent}"
                yield path, f"{what}, above what {_name(mine.provider)} installs"
                break


def _meeting(
    suite: Suite, keys: list[ProviderKey], platform: dict[str, Any]
) -> list[tuple[ProviderKey, dict[str, Any]]]:
    """Return the bundles whose install root is, lies below, or lies above another's; no others can collide."""
    selected = ((key, select_variant(suite, key, platform)) for key in keys)
    bundles = [(key, variant) for key, variant in selected if variant is not None]
    roots = [variant["installRoot"] for _, variant in bundles]
    return [
        (key, variant)
        for (key, variant), root in zip(bundles, roots, strict=True)
        if sum(root == other or is_below(root, other) or is_below(other, root) for other in roots) > 1
    ]


def dependency_cycle(suite: Suite, start: ProviderKey, platform: dict[str, Any]) -> list[ProviderKey] | None:
    """Return a dependency cycle that leads back to ``start`` on a platform, as the keys on the way, or None."""
    parent: dict[ProviderKey, ProviderKey] = {}
    pending = [start]
    while pending:
        key = pending.pop()
        variant = select_variant(suite, key, platform)
        for item in (variant or {}).get("dependencies", []):
            following = (item["id"], item["version"])
            if following == start:
                way = [key]
                while way[-1] != start:
                    way.append(parent[way[-1]])
                return [*reversed(way), start]
            if following not in parent:
                parent[following] = key
                pending.append(following)
    return None


def _identity(item: dict[str, Any]) -> tuple[object, ...]:
    """Return what must be equal for two entries at one path to be identical (9.4)."""
    size = item.get("size", 0)
    return (item["type"], item["mode"], item["uid"], item["gid"], size, item.get("digest"), item.get("linkTarget"))


def _name(key: ProviderKey) -> str:
    return f"`{key[0]}` {key[1]}"
