"""Fixtures for every test."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SEARCHED = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


@pytest.fixture(scope="session")
def require_tool() -> Callable[[str], str]:
    """Find an external command. Without it the test is skipped, by name; in CI, where it must be there, it fails."""

    def find(command: str) -> str:
        path = shutil.which(command, path=SEARCHED)
        if path is None:
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{command} is not installed")
        return path

    return find
