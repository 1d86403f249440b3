"""A manifest's whole way by the real commands: import, `hatch build`, `skopeo copy`, export; nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.checkout import copy_checkout, copy_example
from tests.e2e.test_hatch import INDEX_SETTINGS, UNREACHABLE
from tests.hatch.projects import Outcome, run, snapshot

pytestmark = pytest.mark.e2e

SOURCE = "brick/seed-library.json"


def said(outcome: Outcome) -> Outcome:
    assert outcome.status == 0, outcome.out + outcome.err
    return outcome


def agentsuite(project: Path, *arguments: str | Path) -> Outcome:
    return said(run(Path(sys.executable).parent / "agentsuite", *arguments, cwd=project))


def hatch_build(command: str, project: Path, home: Path) -> None:
    """Build in an isolated environment; the example gets the plugin of the checkout that it lies in."""
    changes = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "STATE")}
    changes |= {name: os.environ[name] for name in INDEX_SETTINGS if name in os.environ}
    changes |= {"HATCH_DATA_DIR": str(home / "hatch"), "NO_COLOR": "1", "HATCH_INTERACTIVE": "0"}
    outcome = run(command, "build", "-t", "agentsuite", cwd=project, **changes)
    if outcome.status and UNREACHABLE.search(outcome.out + outcome.err):
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("the package index cannot be reached")
    said(outcome)


def test_manifest_survives_hatch_and_skopeo(require_tool: Callable[[str], str], tmp_path: Path) -> None:
    """export(import(X)) is X, its files byte for byte, after other people's tools have built and carried the suite."""
    hatch, skopeo = require_tool("hatch"), require_tool("skopeo")
    examples = copy_checkout(tmp_path / "checkout") / "examples"
    shutil.rmtree(examples / "migrate-brick")
    project = copy_example("migrate-brick", examples)
    model = ("--model-protocol", "openai-chat", "--model", "example-model")
    agentsuite(project, "import", "brick", SOURCE, "-o", "suite", *model, "--tool-schemas", "schemas")
    hatch_build(hatch, project, tmp_path)

    policy = tmp_path / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
    made, carried = project / "dist/migrate_brick-0.1.0.agentsuite", tmp_path / "carried.tar"
    options = ("--policy", policy, "--tmpdir", tmp_path)
    said(run(skopeo, *options, "copy", f"oci:{made}", f"oci-archive:{carried}", cwd=tmp_path))

    agentsuite(project, "validate", carried)
    agentsuite(project, "export", "brick", carried, "-o", "exported")
    exported = snapshot(project / "exported/seed-library")
    given = snapshot(project / "brick")
    assert json.loads(exported.pop("brick.json")) == json.loads(given.pop("seed-library.json"))
    assert exported == given
