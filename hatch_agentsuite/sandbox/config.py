"""The OCI image config: who runs what, with which names, and since when (specification 12, 12.1, 13)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from hatch_agentsuite.sandbox import contract
from hatch_agentsuite.sandbox.images import Image
from hatch_agentsuite.sandbox.nodes import Layer
from hatch_agentsuite.sandbox.sources import Sources

BINDING_LABEL: Final = "org.agentsuite.binding.digest"
PROVIDER_LABEL: Final = "org.agentsuite.tool-provider-composition.digest"
INVENTORY_LABEL: Final = "dev.hatch-agentsuite.inventory.digest"
DEFAULT_USER: Final = "65532:65532"
MAX_EPOCH: Final = 8**11 - 1
"""What fits the time of a tar header; the year 2242."""

_NUMERIC = re.compile(r"([0-9]{1,10})(?::([0-9]{1,10}))?")


def numeric_user(text: str) -> tuple[int, int] | None:
    """Return user and group (0 where none is named) of a numeric ``User``, or None for names."""
    match = _NUMERIC.fullmatch(text)
    return (int(match[1]), int(match[2] or 0)) if match else None


def image_config(
    sources: Sources, base: Image, harness: Image | None, layers: list[tuple[Layer, str]], labels: dict[str, str]
) -> dict[str, Any]:
    """Return the config of an image whose layers, lowest first, come each with the words of their origin."""
    created = timestamp(sources.profile["sourceEpoch"])
    return {
        "architecture": sources.platform["architecture"],
        "os": sources.platform["os"],
        "created": created,
        "config": _settings(sources, base.settings, harness.settings if harness else {}, labels),
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer, _ in layers]},
        "history": [{"created": created, "created_by": origin} for _, origin in layers],
    }


def timestamp(epoch: int) -> str:
    """Return seconds since 1970 as RFC 3339 in UTC, whatever the machine's time zone."""
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=epoch)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def environment(settings: dict[str, Any]) -> dict[str, str]:
    """Return the variables that a config sets; of a name that stands twice the last counts."""
    return dict(item.partition("=")[::2] for item in settings.get("Env") or [])


def _settings(
    sources: Sources, base: dict[str, Any], harness: dict[str, Any], labels: dict[str, str]
) -> dict[str, Any]:
    variables = {**environment(base), **environment(harness)}
    variant = sources.entry
    if variant is None:
        entrypoint, command = harness.get("Entrypoint") or [], harness.get("Cmd") or []
    else:
        entrypoint, command = [variant["entrypoint"], *variant.get("arguments", [])], []
        if variant.get("searchPath"):
            variables["PATH"] = ":".join(variant["searchPath"])
    found: dict[str, Any] = {
        "User": _user(harness.get("User") or base.get("User") or ""),
        "Env": [f"{name}={value}" for name, value in variables.items()],
        "WorkingDir": harness.get("WorkingDir") or base.get("WorkingDir") or "/",
        "Labels": {**labels, contract.LABEL: contract.label(sources)},
    }
    if entrypoint:
        found["Entrypoint"] = entrypoint
    if command:
        found["Cmd"] = command
    if sources.writable_paths:
        found["Volumes"] = {path: {} for path in sources.writable_paths}
    return found


def _user(declared: str) -> str:
    """Return the user that harness or base runs as where that is a number and not root, else a user without a name."""
    numbers = numeric_user(declared)
    return declared if numbers and numbers[0] else DEFAULT_USER
