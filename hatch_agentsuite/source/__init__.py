"""The authoring tree: the manifests themselves, minus what can be computed (see docs/authoring.md)."""

from hatch_agentsuite.source.options import Options
from hatch_agentsuite.source.resolve import Resolved, resolve

__all__ = ["Options", "Resolved", "resolve"]
