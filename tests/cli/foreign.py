"""Documents of other formats in the working folder, and what makes agents of a suite of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.converters.documents import aib, aidip, brick, write_files
from tests.hatch.projects import snapshot

BUILD: dict[str, Callable[[], dict[str, Any]]] = {"aib": aib, "aidip": aidip, "brick": brick}

MODEL = ("--model-protocol", "openai-chat", "--model", "m")
SUPPLIES: dict[str, tuple[str, ...]] = {
    "aib": (),
    "aidip": (*MODEL, "--instructions", "prompt.md"),
    "brick": MODEL,
}
"""The options that an import of each format's sample needs."""

IDS = {"aib": "harbour_7", "aidip": "harbour-7", "brick": "harbour"}
"""The agent that each format's sample becomes."""


def written(form: str, name: str = "agent.json", document: Any = None) -> Path:
    """Write a document of a format, the sample by default, with the files that may be referred to."""
    write_files(Path())
    Path("prompt.md").write_text("Moor every boat.\n")
    Path(name).write_text(json.dumps(BUILD[form]() if document is None else document))
    return Path(name)


def small_aib(identifier: str, **related: str) -> dict[str, Any]:
    """Return a small blueprint with a model, a prompt and relationships."""
    return {
        "agent_id": identifier,
        "name": identifier,
        "description": "Does what is tested",
        "agent_config": {
            "agent_id": identifier,
            "agent_name": identifier,
            "system_prompt": "Do it.",
            "relationships": related,
            "llm_config": {"model_provider": "openai-chat", "model_name": "m"},
        },
        "interface": {"methods": [{"name": "run", "description": "Do", "input": {}, "output": {}}]},
    }


def loaded(path: str | Path) -> Any:
    """Return a JSON document."""
    return json.loads(Path(path).read_bytes())


def everything() -> dict[str, bytes]:
    """Return all files of the working folder, so that two moments can be compared; no work folder may be left."""
    assert [path for path in Path().rglob("*") if path.name.endswith(".tmp")] == []
    return snapshot(Path())
