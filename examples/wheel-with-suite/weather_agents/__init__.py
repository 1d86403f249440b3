"""The weather agents: where their AgentSuite is.

from weather_agents import suite_path
print(suite_path() / "index.json")
"""

from importlib.resources import files
from pathlib import Path

__all__ = ["suite_path"]


def suite_path() -> Path:
    """Return the OCI image layout that came with this package.

    Raises:
        FileNotFoundError: The package was installed without it: editable, or from a zip.
    """
    layout = files(__name__) / "_agentsuite"
    if not isinstance(layout, Path) or not layout.is_dir():
        raise FileNotFoundError(f"no AgentSuite in {__name__}: install its wheel (an editable install carries none)")
    return layout
