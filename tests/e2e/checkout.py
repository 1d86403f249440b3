"""Copies of this checkout and of its examples, without what was built in them."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ("clock", "hello", "newsroom", "publish-card", "wheel-with-suite")
MIGRATIONS = ("migrate-aib", "migrate-aidip", "migrate-brick", "mixed-formats")
"""Examples whose suite is made by the commands in their READMEs."""

_BUILT = shutil.ignore_patterns("dist", "__pycache__", ".*cache", ".venv", "site", "*.pem", "card*.json", "signed.json")
_MADE = shutil.ignore_patterns("dist", "suite*", "exported", "public", "published", "summary")


def copy_example(name: str, target: Path) -> Path:
    """Copy an example as a user would, leaving the checkout and `examples/uv.toml` behind."""
    ignored = _MADE if name in MIGRATIONS else _BUILT
    return Path(shutil.copytree(ROOT / "examples" / name, target / name, ignore=ignored))


def copy_checkout(target: Path) -> Path:
    """Copy what the examples need of the checkout: the packages and the examples themselves."""
    for name in ("hatch_agentsuite", "converters", "schemas", "examples"):
        shutil.copytree(ROOT / name, target / name, ignore=_BUILT)
    for name in ("pyproject.toml", "README.md", "LICENSE", "Makefile"):
        shutil.copy(ROOT / name, target / name)
    return target
