"""A fully resolved tree is a fixed point: packing an unpacked suite gives the same bytes (design, "Authoring")."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hatch_agentsuite.paths import fold
from hatch_agentsuite.source import Options
from hatch_agentsuite.unpacking import unpack
from hatch_agentsuite.validation import validate
from tests.source import trees
from tests.source.trees import NAMED, RICH, Suite, packed, write_tree

EXAMPLES = sorted(Path(__file__).parents[2].glob("examples/*/suite"))


def repacked(suite: Suite, work: Path) -> Suite:
    """Unpack a suite and pack what came of it, told nothing."""
    folder = work / "unpacked"
    unpack(suite.packed.target, folder)
    return packed(folder, Options(strict=False))


def check_fixed_point(suite: Suite, work: Path) -> None:
    again = repacked(suite, work)
    assert again.digests == suite.digests
    assert again.packed.resolved.blobs.keys() == suite.packed.resolved.blobs.keys()
    assert {x.requirement for x in again.packed.warnings} <= {"SOURCE-PLACEHOLDER-001"}
    assert validate(work / "unpacked").ok


@pytest.mark.parametrize(
    ("files", "options"), [(trees.minimal(), NAMED), (trees.rich(), RICH)], ids=["minimal", "rich"]
)
def test_packing_an_unpacked_suite_gives_the_same_bytes(
    tmp_path: Path, files: dict[str, Any], options: Options
) -> None:
    check_fixed_point(packed(write_tree(tmp_path / "suite", files), options), tmp_path)


@pytest.mark.parametrize("source", EXAMPLES, ids=[path.parent.name for path in EXAMPLES])
def test_every_example_is_packed_to_a_fixed_point(tmp_path: Path, source: Path) -> None:
    check_fixed_point(packed(source, NAMED, tmp_path / "example.agentsuite"), tmp_path)


def test_the_examples_are_there() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("ending", [".json", ".yaml", ".yml"])
def test_the_spelling_of_documents_does_not_matter(tmp_path: Path, ending: str) -> None:
    """YAML is read as JSON written differently."""
    as_written = packed(write_tree(tmp_path / "suite", trees.rich()), RICH)
    respelled: dict[str, Any] = {}
    for name, content in trees.rich().items():
        renamed = str(Path(name).with_suffix(ending)) if isinstance(content, dict) else name
        respelled[renamed] = content
    assert packed(write_tree(tmp_path / "respelled", respelled), RICH).digests == as_written.digests


def test_written_modes_and_components_survive(tmp_path: Path) -> None:
    files = trees.with_clock()
    item = {"path": "bin/clock", "mode": 0o500, "component": "clock"}
    files[f"{trees.CLOCK}/tool-provider.yaml"]["variants"][0]["files"] = [item]
    check_fixed_point(packed(write_tree(tmp_path / "suite", files)), tmp_path)


IDENTIFIERS = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True).filter(lambda text: not text.endswith("."))
NAMES = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="/\\\0"), min_size=1, max_size=12
).filter(lambda name: name not in {".", ".."})
CONTENTS = st.one_of(
    st.none(),
    st.binary(max_size=40),
    st.binary(max_size=40).map(trees.Script),
    st.sampled_from(["bin", "../linux-amd64/bin", "nowhere"]).map(trees.Link),
)


@st.composite
def source_trees(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a tree of a few agents and ToolProviders whose payloads hold odd names, links and empty folders."""
    files: dict[str, Any] = {"build-profiles/default.yaml": trees.profile(trees.AMD64)}
    providers = draw(st.lists(IDENTIFIERS, max_size=2, unique=True))
    for name in providers:
        files |= trees.bundled(name)
        found = draw(st.dictionaries(NAMES, CONTENTS, max_size=5))
        folded = {"bin"}
        for leaf, content in found.items():
            if fold(leaf) not in folded:
                folded.add(fold(leaf))
                files[f"tool-providers/{name}/1.0.0/linux-amd64/{leaf}"] = content
        retained = draw(st.booleans())
        if retained:
            files[f"tool-providers/{name}/1.0.0/tool-provider.yaml"]["retained"] = True
    for number, name in enumerate(draw(st.lists(IDENTIFIERS, min_size=1, max_size=3, unique=True))):
        wanted = (
            providers
            if number == 0
            else draw(st.lists(st.sampled_from(providers), unique=True) if providers else st.just([]))
        )
        requirements = [trees.requirement(provider) for provider in wanted]
        files[f"agents/{name}.yaml"] = trees.agent(
            description=draw(st.text(max_size=10).filter(encodable)), toolProviders=requirements
        )
        files[f"instructions/{name}.md"] = draw(st.binary(max_size=20))
    return files


def encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(source_trees())
def test_any_tree_is_packed_to_a_fixed_point(files: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        suite = packed(write_tree(work / "suite", files), workers=1)
        check_fixed_point(suite, work)
