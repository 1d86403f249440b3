"""The build hook ``agentsuite``: puts a project's suite into its wheel, as an image layout inside the package.

The suite is the one that the build target makes: its options stand in the target's table. The hook's own table has one
option, ``path``, where the layout goes inside the wheel.
"""

from __future__ import annotations

import shutil
import weakref
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

from hatch_agentsuite.builder import abort, configuration_of, pack_for_hatch

_HATCH_KEYS = frozenset(
    {"dependencies", "enable-by-default", "require-runtime-dependencies", "require-runtime-features"}
)
_FOLDER = "_agentsuite"


class AgentSuiteBuildHook(BuildHookInterface[BuilderConfig]):
    """Builds the suite into a temporary folder and adds it to a wheel file by file.

    Editable wheels and every other target are left alone.
    """

    PLUGIN_NAME = "agentsuite"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the suite to the files of a standard wheel."""
        if self.target_name != "wheel" or version == "editable":
            return
        destination = self._destination()
        table = self.build_config.builder.metadata.hatch.build_targets.get("agentsuite", {})
        configuration = configuration_of(table, self.metadata.core.raw_name, self.app)
        # The folder lives as long as the hook, which Hatch keeps until the wheel is written, or was given up.
        folder = mkdtemp(prefix="agentsuite-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        layout = Path(folder).resolve() / "layout"
        pack_for_hatch(Path(self.root), layout, configuration, self.app)
        for path in sorted(layout.rglob("*")):
            if path.is_file():
                build_data["force_include"][str(path)] = f"{destination}/{path.relative_to(layout).as_posix()}"

    def _destination(self) -> str:
        """Return where the layout goes: the option ``path``, or ``_agentsuite`` inside the only package."""
        unknown = sorted(set(self.config) - _HATCH_KEYS - {"path"})
        if unknown:
            abort(self.app, f"Unknown options for build hook `agentsuite`: {', '.join(unknown)}. Available: path")
        path = self.config.get("path")
        if path is None:
            return f"{self._package()}/{_FOLDER}"
        if not isinstance(path, str):
            abort(self.app, "Option `path` for build hook `agentsuite` must be a string")
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or "\\" in path or ".." in parts:
            abort(self.app, "Option `path` for build hook `agentsuite` must be a `/`-separated path inside the wheel")
        return "/".join(parts)

    def _package(self) -> str:
        packages = sorted(set(self.build_config.packages))
        what = ""
        if len(packages) != 1:
            what = f"the wheel has {len(packages)} packages" if packages else "the wheel's package is not known"
        elif not (Path(self.root) / packages[0] / "__init__.py").is_file():
            what = f"`{packages[0]}` has no `__init__.py`; another wheel may put its suite into the same namespace"
        if what:
            abort(self.app, f"Option `path` for build hook `agentsuite` is needed: {what}")
        return PurePosixPath(packages[0].replace("\\", "/")).name
