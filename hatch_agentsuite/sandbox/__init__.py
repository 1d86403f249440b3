"""Sandbox images: built from a suite by composing files, and judged (specification 12, 13, 15.2).

    from hatch_agentsuite.sandbox import build_image, validate_image

    built = build_image(suite, Path("writer.image"), agent="writer", images=[Path("images")])
    report = validate_image(built.target, suite=suite)

The names below are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hatch_agentsuite.sandbox.building import BuiltImage, build_image
    from hatch_agentsuite.sandbox.validation import ImageReport, validate_image

__all__ = ["BuiltImage", "ImageReport", "build_image", "validate_image"]

_HOMES = {
    "BuiltImage": "building",
    "ImageReport": "validation",
    "build_image": "building",
    "validate_image": "validation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
