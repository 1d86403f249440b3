"""The hub: an agent as no format has it alone, with a member for everything that several formats say.

In memory it is one value, whatever document of a suite holds which part of it (see :mod:`.storage`). Its members are
those of the profile schema (``hatch/profile``), and besides: ``id``, the agent's id in the suite; ``prompt``, the text
of its instructions; ``model`` with the ``name`` of the model; ``tools`` of every server.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentsuite_converters.places import ABSENT, at_path, put

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsuite_converters.places import Path
    from hatch_agentsuite.documents import JSONObject, JSONValue


@dataclass
class AgentProfile:
    """An agent: its value, and the files that its documents refer to, by path below the document's folder.

    ``secrets`` are private names of the suite that no member holds, by what they are: ``{"API_KEY": "a secret"}``.
    ``supplied`` are the members that whoever converts gave, with how; ``replaced`` those of them that it had.
    """

    value: JSONObject
    files: dict[str, bytes] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    supplied: dict[Path, str] = field(default_factory=dict)
    replaced: set[Path] = field(default_factory=set)

    @property
    def id(self) -> str:
        """Return the agent's id in the suite."""
        return str(self.value.get("id", ""))

    @property
    def origin(self) -> str:
        """Return the name of the format that the agent was imported from, ``""`` if it was written as a suite."""
        return str(self.value.get("origin", ""))

    def supply(self, given: Mapping[Path, tuple[JSONValue, str]]) -> None:
        """Set members; each comes with how it was given, such as the option's name."""
        for path, (value, how) in given.items():
            if at_path(self.value, path) is not ABSENT:
                self.replaced.add(path)
            if put(self.value, path, value):
                self.supplied[path] = how
