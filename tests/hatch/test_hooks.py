"""What is registered with Hatch, and how little that loads."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path

from hatchling.plugin.manager import PluginManager

from hatch_agentsuite.build_hook import AgentSuiteBuildHook
from hatch_agentsuite.builder import AgentSuiteBuilder
from tests.hatch.projects import run

HEAVY = {"click", "jsonschema", "jsonschema_rs", "re2", "rfc8785", "rich", "yaml", "isal", "zlib_ng", "a2a"}


def loaded_after(statement: str, cwd: Path) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    outcome = run(sys.executable, "-c", code, cwd=cwd)
    assert outcome.status == 0, outcome.err
    return set(outcome.out.split())


def test_hatch_finds_target_and_hook() -> None:
    manager = PluginManager()
    assert manager.builder.get("agentsuite") is AgentSuiteBuilder
    assert manager.build_hook.get("agentsuite") is AgentSuiteBuildHook
    assert AgentSuiteBuilder.PLUGIN_NAME == AgentSuiteBuildHook.PLUGIN_NAME == "agentsuite"


def test_entry_point() -> None:
    [entry] = {found for found in entry_points(group="hatch") if found.name == "agentsuite"}
    assert entry.value == "hatch_agentsuite.hooks"


def test_hooks_module_loads_nothing_heavy(tmp_path: Path) -> None:
    """Hatch loads the module of every plugin as soon as one is asked for; ours must cost others nothing."""
    loaded = loaded_after("import hatch_agentsuite.hooks", tmp_path)
    assert loaded & HEAVY == set()
    assert {name for name in loaded if name.startswith(("hatch_agentsuite", "agentsuite_"))} == {
        "hatch_agentsuite",
        "hatch_agentsuite.hooks",
    }


def test_registration_loads_the_shells_but_nothing_heavy(tmp_path: Path) -> None:
    code = "from hatch_agentsuite import hooks; hooks.hatch_register_builder(); hooks.hatch_register_build_hook()"
    assert loaded_after(code, tmp_path) & HEAVY <= {"re2"}, "Hatch's own pathspec tries RE2"


def test_the_core_does_not_import_hatchling(tmp_path: Path) -> None:
    """Packing and validating serve other build backends and the command line as well."""
    code = "import hatch_agentsuite.packing, hatch_agentsuite.validation, hatch_agentsuite.unpacking"
    loaded = loaded_after(code, tmp_path)
    assert "hatch_agentsuite.packing" in loaded
    assert {name for name in loaded if name.split(".")[0] in {"hatchling", "hatch", "pluggy", "click", "rich"}} == set()
