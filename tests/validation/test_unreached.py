"""AS-GRAPH-001 and AS-PATH-001, warnings: content that nothing reaches, and paths that normalisation makes one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatch_agentsuite.findings import Finding
from hatch_agentsuite.packing import pack
from hatch_agentsuite.source import Options
from hatch_agentsuite.unpacking import unpack
from hatch_agentsuite.validation import Report, validate
from tests.validation.carriers import TarEntry
from tests.validation.contents import WRITER, ref
from tests.validation.suites import DROP, SuiteBuilder

PAYLOAD = "tool-providers/clock/1.0.0/linux-amd64"
CARRIERS = ["directory", "layout", "archive"]
COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def judge(builder: SuiteBuilder, folder: Path, form: str = "layout") -> Report:
    return validate(getattr(builder, form)(folder / "made"))


def warnings(report: Report) -> list[Finding]:
    """Return the warnings of an accepted suite."""
    assert report.ok, report.findings
    return list(report.findings)


@pytest.mark.parametrize("form", CARRIERS)
def test_whole_suite_is_reached(tmp_path: Path, form: str) -> None:
    """7: documents, instructions, schemas, cases, payloads, profiles and listed files are all referred to."""
    assert warnings(judge(SuiteBuilder(), tmp_path, form)) == []


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["README.md"], {"README.md": 1}),
        (["agents/old.json"], {"agents/old.json": 1}),
        (["agents/a.json", "agents/b.json"], {"agents/a.json": 1, "agents/b.json": 1}),
        (["logs/one.txt"], {"logs/one.txt": 1}),
        (["logs/one.txt", "logs/two.txt"], {"logs/": 2}),
        (["logs/a/one.txt", "logs/b/two.txt", "logs/b/c/three.txt"], {"logs/": 3}),
        (["metadata/a/one", "metadata/a/two", "metadata/b"], {"metadata/a/": 2, "metadata/b": 1}),
        (["schemas.txt", "schemas-old/a", "schemas-old/b"], {"schemas-old/": 2, "schemas.txt": 1}),
        ([".git/config", ".env"], {".env": 1, ".git/config": 1}),
        (["blobs/sha256/" + "0" * 64], {"blobs/sha256/" + "0" * 64: 1}),
        (["metadata/profiles/writer/notes.md"], {"metadata/profiles/writer/notes.md": 1}),
        (["metadata/profiles/reviewer/files/a"], {"metadata/profiles/reviewer/files/a": 1}),
        ([f"{PAYLOAD}-old/bin/clock"], {f"{PAYLOAD}-old/bin/clock": 1}),
        ([f"logs/{number}" for number in range(1234)], {"logs/": 1234}),
    ],
    ids=lambda value: next(iter(value)),
)
@pytest.mark.parametrize("form", ["directory", "layout"])
def test_nothing_refers_to_it(tmp_path: Path, form: str, paths: list[str], expected: dict[str, int]) -> None:
    """A warning for each file, one for a whole folder of them, in the order of paths; the verdict stays."""
    builder = SuiteBuilder()
    builder.files.update(dict.fromkeys(paths, b"x"))
    found = warnings(judge(builder, tmp_path, form))
    assert [finding.location for finding in found] == list(expected)
    assert {(item.requirement, item.category, item.severity) for item in found} == {
        ("AS-GRAPH-001", "graph", "warning")
    }
    for finding in found:
        count = expected[finding.location]
        assert (f"the {count:,} files in this folder" in finding.message) == (count > 1)


def test_a_folder_is_no_content(tmp_path: Path) -> None:
    """A folder needs nothing that refers to it."""
    builder = SuiteBuilder()
    builder.folders["metadata/empty"] = 0o755
    assert warnings(judge(builder, tmp_path)) == []


@pytest.mark.parametrize("is_listed", [True, False])
def test_file_of_a_profile(tmp_path: Path, is_listed: bool) -> None:
    """A profile lists the files that belong to it; others beside them are left over."""
    path = "metadata/profiles/writer/files/deep/er.md"
    builder = SuiteBuilder()
    builder.files[path] = b"x"
    if is_listed:
        builder.edit("metadata/profiles/writer.json", "files", [ref(path)])
    assert [item.location for item in warnings(judge(builder, tmp_path))] == ([] if is_listed else [path])


def test_profile_that_no_agent_binds(tmp_path: Path) -> None:
    """Without its extension record a profile and the files beside it are left over."""
    builder = SuiteBuilder()
    builder.files["metadata/profiles/writer/files/a.md"] = b"x"
    builder.edit(WRITER, "extensions/0", DROP)
    assert [item.location for item in warnings(judge(builder, tmp_path))] == ["metadata/profiles/"]


def test_links_count(tmp_path: Path) -> None:
    builder = SuiteBuilder()
    builder.symlinks["docs/link"] = "nowhere"
    builder.more.append(TarEntry("docs/hard", b"1", target="schemas/input.json"))
    assert [item.location for item in warnings(judge(builder, tmp_path))] == ["docs/"]


def test_evidence_beside_unpacked_content(tmp_path: Path) -> None:
    """4.2: `agentsuite unpack` leaves SBOM and provenance blobs in the directory, where packing looks for them."""
    unpack(SuiteBuilder().layout(tmp_path / "layout"), tmp_path / "content")
    assert any((tmp_path / "content/blobs/sha256").iterdir())
    assert warnings(validate(tmp_path / "content")) == []


def test_evidence_inside_a_layer(tmp_path: Path) -> None:
    """In a layer nothing looks there."""
    unpack(SuiteBuilder().layout(tmp_path / "layout"), tmp_path / "content")
    builder = SuiteBuilder()
    for blob in (tmp_path / "content/blobs/sha256").iterdir():
        builder.files[f"blobs/sha256/{blob.name}"] = blob.read_bytes()
    assert [item.location for item in warnings(judge(builder, tmp_path))] == ["blobs/"]


@pytest.mark.parametrize(
    ("path", "owner"), [("evals/writer/old.json", "AS-EVAL-001"), (f"{PAYLOAD}/stray", "AS-PROVIDER-001")]
)
def test_what_the_specification_refuses_is_refused_once(tmp_path: Path, path: str, owner: str) -> None:
    """8.2, 9.4: stray files in `evals/` and in payloads are errors of another requirement, and no warning beside it."""
    builder = SuiteBuilder()
    builder.files[path] = b"x"
    report = judge(builder, tmp_path)
    assert [(item.requirement, item.is_error) for item in report.findings] == [(owner, True)]


def test_silent_where_a_document_cannot_be_read(tmp_path: Path) -> None:
    """What an unreadable agent would reach is not known; its instructions are not called left over."""
    builder = SuiteBuilder()
    builder.files["README.md"] = b"x"
    builder.raw["agents/coordinator.json"] = b"{"
    report = judge(builder, tmp_path)
    assert not report.ok
    assert all(finding.is_error for finding in report.findings)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([f"metadata/{COMPOSED}", f"metadata/{DECOMPOSED}"], [f"metadata/{COMPOSED}"]),
        ([f"{COMPOSED}/a", f"{DECOMPOSED}/a"], [COMPOSED]),
        ([f"{COMPOSED}/a", f"{DECOMPOSED}/b"], [COMPOSED]),
        ([f"a/{COMPOSED}/x/b", f"a/{DECOMPOSED}/y/c"], [f"a/{COMPOSED}"]),
        (["\u1ebf", "\u00ea\u0301", "e\u0302\u0301"], ["\u00ea\u0301", "\u1ebf"]),
        ([COMPOSED, f"{DECOMPOSED}s"], []),
        ([f"a/{COMPOSED}", f"b/{DECOMPOSED}"], []),
        (["x\u00b2", "x2"], []),
    ],
    ids=ascii,
)
def test_normalisation_twins(tmp_path: Path, paths: list[str], expected: list[str]) -> None:
    """5.2 folds letter case and no normalisation form: a warning at the uppermost of two such paths, by bytes."""
    builder = SuiteBuilder()
    builder.files.update(dict.fromkeys(paths, b"x"))
    found = [item for item in warnings(judge(builder, tmp_path)) if item.requirement == "AS-PATH-001"]
    assert [item.location for item in found] == expected
    for finding in found:
        assert finding.severity == "warning"
        assert finding.message.isascii()
        assert finding.hint.isascii()


def test_twins_are_looked_for_in_bounded_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Normalising is quadratic in a run of combining marks: a warning is not worth more than some paths of that."""
    monkeypatch.setattr("hatch_agentsuite.validation.twins._MOST", 2)
    builder = SuiteBuilder()
    builder.files.update(dict.fromkeys([DECOMPOSED, COMPOSED, "z\u00e9", "ze\u0301"], b"x"))
    found = [item.location for item in judge(builder, tmp_path).findings if item.requirement == "AS-PATH-001"]
    assert found == [COMPOSED]


def test_twins_under_folding_stay_an_error(tmp_path: Path) -> None:
    builder = SuiteBuilder()
    builder.files.update({COMPOSED: b"x", COMPOSED.upper(): b"x"})
    assert [item.requirement for item in judge(builder, tmp_path).findings if item.is_error] == ["AS-PATH-001"]


@pytest.mark.parametrize("example", ["hello", "newsroom"])
def test_packed_example_has_no_warning(tmp_path: Path, example: str) -> None:
    """What this project packs is the closed graph and nothing else."""
    source = Path(__file__).parents[2] / "examples" / example / "suite"
    packed = pack(source, tmp_path / "made", Options(default_name=example))
    assert warnings(packed.report) == []
