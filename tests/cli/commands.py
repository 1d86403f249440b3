"""`agentsuite` in a process of its own, and what is hostile about names."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.hatch.projects import Outcome, run

STRICT_OUTPUT = {"PYTHONIOENCODING": "utf-8:strict"}
"""As in most people's locale: text that cannot be encoded raises."""

HOSTILE = "evil\x1b]0;owned\x07\x9b31m\u202etxt"
ESCAPED = "evil\\x1b]0;owned\\x07\\x9b31m\\u202etxt"


def agentsuite(*arguments: str | Path, **changes: str) -> Outcome:
    code = "from hatch_agentsuite.cli import main; main(prog_name='agentsuite')"
    return run(sys.executable, "-c", code, *arguments, cwd=Path.cwd(), **changes)


def is_harmless(text: str) -> bool:
    """Whether a terminal would show the text and do nothing else."""
    return all(character.isprintable() or character == "\n" for character in text)
