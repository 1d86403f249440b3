"""The build target of ``hatch build -t agentsuite``, a thin shell around :mod:`hatch_agentsuite.packing`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from hatchling.builders.config import BuilderConfig
from hatchling.builders.plugin.interface import BuilderInterface
from hatchling.plugin.manager import PluginManager

if TYPE_CHECKING:
    from hatchling.bridge.app import Application

    from hatch_agentsuite.configuration import Configuration
    from hatch_agentsuite.packing import Admission, Form, Packed

SUFFIXES: dict[Form, str] = {"layout": ".agentsuite", "archive": ".agentsuite.tar"}
CARDS_SUFFIX = ".agent-cards"


class AgentSuiteBuilder(BuilderInterface[BuilderConfig, PluginManager]):
    """Builds an AgentSuite as an OCI image layout (version ``layout``) or as the same layout in a tar (``archive``)."""

    PLUGIN_NAME = "agentsuite"

    @classmethod
    def get_config_class(cls) -> type[BuilderConfig]:
        """Return Hatch's own configuration class; the options of this target are read by ``configuration``."""
        return BuilderConfig

    def get_version_api(self) -> dict[str, Callable[..., str]]:
        """Return what builds each version of the target."""
        return {"layout": self.build_layout, "archive": self.build_archive}

    def get_default_versions(self) -> list[str]:
        """Return the version that ``-t agentsuite`` builds."""
        return ["layout"]

    def build_layout(self, directory: str, **_build_data: Any) -> str:
        """Build the image layout as a directory and return its absolute path."""
        return self._build(directory, "layout")

    def build_archive(self, directory: str, **_build_data: Any) -> str:
        """Build the image layout as an uncompressed tar and return its absolute path."""
        return self._build(directory, "archive")

    def clean(self, directory: str, versions: list[str]) -> None:
        """Remove the suites and cards of this project, of any version, and what killed builds left; nothing else."""
        from hatch_agentsuite.staging import remove

        folder = Path(directory).resolve()
        prefix = re.escape(self.normalize_file_name_component(self.metadata.core.name))
        suffixes = [SUFFIXES[version] for version in versions]  # type: ignore[index]
        for suffix in (*suffixes, CARDS_SUFFIX):
            pattern = re.compile(rf"\.?({prefix}-[0-9][^/]*{re.escape(suffix)})(\.[^/.]+\.tmp)?")
            matches = (pattern.fullmatch(path.name) for path in folder.iterdir())
            for name in sorted({match[1] for match in matches if match}):
                remove(folder / name)

    def _build(self, directory: str, form: Form) -> str:
        configuration = configuration_of(self.target_config, self.metadata.core.raw_name, self.app)
        folder = Path(directory).resolve()
        target = folder / f"{self.project_id}{SUFFIXES[form]}"
        if configuration.cards is None:
            pack_for_hatch(Path(self.root), target, configuration, self.app, form)
        else:
            self._build_with_cards(target, folder / f"{self.project_id}{CARDS_SUFFIX}", configuration, form)
        return str(target)

    def _build_with_cards(self, target: Path, folder: Path, configuration: Configuration, form: Form) -> None:
        """Build the suite and the Agent Cards of its agents beside it, both or none of them."""
        from hatch_agentsuite.agent_cards import Cards

        cards = Cards(configuration.cards or {})
        pack_for_hatch(Path(self.root), target, configuration, self.app, form, cards.admit)
        for warning in cards.warnings:
            self.app.display_warning(str(warning))
        cards.write(folder)
        self.app.display_info(f"{len(cards.files)} Agent Card{'s' if len(cards.files) > 1 else ''} in {folder.name}")


def configuration_of(table: dict[str, Any], project_name: str, app: Application) -> Configuration:
    """Return the configuration, or end the build with everything that is wrong with it."""
    from hatch_agentsuite.configuration import ConfigurationError, read_configuration

    try:
        return read_configuration(table, project_name)
    except ConfigurationError as error:
        abort(app, str(error))


def pack_for_hatch(
    root: Path,
    target: Path,
    configuration: Configuration,
    app: Application,
    form: Form = "layout",
    admit: Admission | None = None,
) -> Packed:
    """Pack a project's suite, say through ``app`` what is worth saying, or end the build with what is wrong."""
    from hatch_agentsuite.findings import RefusedError, printable
    from hatch_agentsuite.packing import pack

    try:
        packed = pack(
            root / configuration.source,
            target,
            configuration.options,
            form=form,
            codec=configuration.codec,
            admit=admit,
        )
    except RefusedError as error:
        abort(app, _refusal(error, configuration.source))
    except (OSError, ValueError) as error:
        abort(app, f"The AgentSuite cannot be built: {error}")
    for finding in packed.warnings:
        app.display_warning(f"{configuration.source}/{finding}" if finding.location else str(finding))
    for member in packed.resolved.members:
        origin = packed.resolved.origin(member)
        text = f"{member.entry.path} <- {f'{configuration.source}/{origin}' if origin else 'computed'}"
        app.display_debug(printable(text))
    app.display_info(f"AgentSuite {packed.resolved.name} {packed.digest}")
    return packed


def _refusal(error: Any, source: str) -> str:
    errors = [finding for finding in error.findings if finding.is_error]
    lines = [f"{source}/{finding}" if finding.location else str(finding) for finding in errors]
    return "\n".join([f"The AgentSuite was refused, {len(errors)} finding{'s' if len(errors) > 1 else ''}:", *lines])


def abort(app: Application, message: str) -> NoReturn:
    """End the build with a message and exit status 1."""
    app.abort(message)
    raise SystemExit(1)
