"""The samples that the three texts print: in and out equal, in valid suites, and each on a valid Agent Card."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from agentsuite_converters.a2a.check import check_card
from agentsuite_converters.a2a.projection import CardOptions, project
from agentsuite_converters.document import read
from agentsuite_converters.exporting import export_agent
from agentsuite_converters.formats import ForeignFormat
from agentsuite_converters.suites import read_suite
from hatch_agentsuite.formats import find
from hatch_agentsuite.packing import pack
from hatch_agentsuite.source import Options
from tests.converters.conversions import imported

SAMPLES = Path(__file__).parents[3] / "shared" / "specs" / "samples"
FILES = {
    "brick": "brick-appendix-a.json",
    "aib": "aib-base-template.jsonc",
    "aidip": "aidip-translation-agent.json",
}
REFERENCED = {"AGENTS.md": "Be brief and kind.\n", "skills/subscription-help/SKILL.md": "# Subscription help\n"}
LACKING: dict[tuple[str | int, ...], Any] = {
    ("version",): ("1.0.0", "--card-version"),
    ("tags",): (["agent"], "--tag"),
    ("inputModes",): (["text/plain"], "--input-mode"),
    ("outputModes",): (["text/plain"], "--output-mode"),
}

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"the samples of the texts are not at {SAMPLES}")


def form_of(name: str) -> ForeignFormat:
    form = find(name)
    assert isinstance(form, ForeignFormat)
    return form


@pytest.fixture(params=sorted(FILES))
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[ForeignFormat, Path]:
    """One sample in a folder of its own, with the files that Appendix A of BRICK refers to."""
    document = tmp_path / "given" / FILES[request.param]
    document.parent.mkdir()
    shutil.copy(SAMPLES / document.name, document)
    for path, text in REFERENCED.items():
        (document.parent / path).parent.mkdir(parents=True, exist_ok=True)
        (document.parent / path).write_text(text)
    return form_of(request.param), document


def test_a_sample_comes_out_as_it_went_in(sample: tuple[ForeignFormat, Path], tmp_path: Path) -> None:
    """Through an authoring tree, and through what was packed of it; packing ends by validating."""
    form, document = sample
    given = read(document, "TEST", comments=form.comments).value
    imported(form, [document], tmp_path / "suite")
    packed = pack(tmp_path / "suite", tmp_path / "packed", Options(default_name="demo"))
    assert packed.report.ok
    for suite in (tmp_path / "suite", tmp_path / "packed"):
        [agent] = read_suite(suite).values()
        exported = export_agent(form, agent, {}).expressed
        assert exported.document == given
        assert exported.report.dropped == ()
        assert exported.files == (
            {path: text.encode() for path, text in REFERENCED.items()} if form.name == "brick" else {}
        )


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_a_sample_has_a_valid_card(sample: tuple[ForeignFormat, Path], tmp_path: Path, version: Any) -> None:
    """With the options that supply what its text lacks."""
    form, document = sample
    imported(form, [document], tmp_path / "suite")
    [agent] = read_suite(tmp_path / "suite").values()
    agent.supply(LACKING)
    options = CardOptions(("https://agents.example.org/a2a",), protocol_version=version, has_provider=False)
    card = project(agent, options).card
    assert [str(finding) for finding in check_card(card, version) if finding.is_error] == []
