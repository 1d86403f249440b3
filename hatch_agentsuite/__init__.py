"""AgentSuites: packed from a source tree, carried as OCI artifacts, judged offline.

    from hatch_agentsuite import Options, pack, validate

    packed = pack(Path("suite"), Path("dist/newsroom.agentsuite"), Options(name="newsroom"))
    report = validate(packed.target)

The names below are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hatch_agentsuite.findings import Finding, RefusedError
    from hatch_agentsuite.limits import Limits
    from hatch_agentsuite.packing import Packed, pack
    from hatch_agentsuite.sandbox import BuiltImage, ImageReport, build_image, validate_image
    from hatch_agentsuite.source import Options
    from hatch_agentsuite.unpacking import unpack
    from hatch_agentsuite.validation import Report, validate

__all__ = [
    "BuiltImage",
    "Finding",
    "ImageReport",
    "Limits",
    "Options",
    "Packed",
    "RefusedError",
    "Report",
    "build_image",
    "pack",
    "unpack",
    "validate",
    "validate_image",
]

_HOMES = {
    "BuiltImage": "sandbox",
    "Finding": "findings",
    "ImageReport": "sandbox",
    "Limits": "limits",
    "Options": "source",
    "Packed": "packing",
    "RefusedError": "findings",
    "Report": "validation",
    "build_image": "sandbox",
    "pack": "packing",
    "unpack": "unpacking",
    "validate": "validation",
    "validate_image": "sandbox",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
