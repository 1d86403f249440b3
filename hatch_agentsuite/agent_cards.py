"""Agent Cards beside a suite that Hatch builds: the option ``agent-cards`` of the build target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hatch_agentsuite.findings import Finding
    from hatch_agentsuite.source import Resolved

_SUPPLIED = {"tags": "tag", "input-modes": "input-mode", "output-modes": "output-mode", "provider-url": "provider-url"}


class Cards:
    """The cards of the agents that have a public capability; ``files`` by path, once the suite was admitted."""

    def __init__(self, settings: Mapping[str, str | tuple[str, ...]]) -> None:
        self._settings = settings
        self.files: dict[str, bytes] = {}
        self.warnings: list[Finding] = []

    def admit(self, resolved: Resolved, digest: str) -> None:
        """Make the cards of a packed suite; raises ``RefusedError`` where one of them cannot be published."""
        from agentsuite_converters.a2a.projection import CardOptions
        from agentsuite_converters.a2a.publishing import WELL_KNOWN, publish_all
        from agentsuite_converters.suites import agents_of
        from agentsuite_converters.supplies import supplies

        options = CardOptions(
            urls=tuple(self._list("urls")),
            binding=self._text("binding"),
            protocol_version=self._text("protocol-version"),
            api_key_header=self._text("api-key-header"),
            token_url=self._text("token-url"),
            suite_digest=digest,
        )
        given = supplies({option: self._settings.get(key) for key, option in _SUPPLIED.items()})
        for card in publish_all(agents_of(resolved).values(), options, given):
            self.files[f"{card.agent}/{WELL_KNOWN}"] = card.data
            self.warnings += card.warnings

    def write(self, folder: Path) -> None:
        """Write the cards into a folder that takes the place of an older one, whole or not at all."""
        from hatch_agentsuite.staging import staged

        with staged(folder) as work:
            for path, data in self.files.items():
                target = work / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)

    def _text(self, name: str) -> str:
        found = self._settings.get(name, "")
        return found if isinstance(found, str) else ""

    def _list(self, name: str) -> Sequence[str]:
        found = self._settings.get(name, ())
        return () if isinstance(found, str) else found
