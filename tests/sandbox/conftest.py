"""An agent's image and a ToolProvider's, built once for all tests that judge or take them apart."""

from __future__ import annotations

import pytest

from tests.sandbox.kit import World


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One world, with an agent's image ``out.image`` and a ToolProvider's, ``clock.image``."""
    world = World(tmp_path_factory.mktemp("built"))
    world.variant["writablePaths"] = ["/var/cache/clock"]
    world.build()
    world.build("clock.image", tool_provider="clock")
    return world
