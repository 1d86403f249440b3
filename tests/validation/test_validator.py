"""One verdict whatever carries the suite, every independent fault in one run, and never an exception (15.1)."""

from __future__ import annotations

import copy
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hatch_agentsuite.validation import Report, validate
from tests.validation import (
    carriers,
    test_capabilities,
    test_compositions,
    test_drafts,
    test_evaluations,
    test_graph,
    test_identity,
    test_provider_compositions,
    test_providers,
    test_strict_json,
)
from tests.validation.carriers import archived, blob_of
from tests.validation.contents import CLOCK, COORDINATOR, DEFAULT, LEAD, OPA_AMD64, SEARCH, WRITER, WRITER_AMD64
from tests.validation.suites import DROP, STALE, SuiteBuilder
from tests.validation.tables import Row, expected, faults

ROOT = "agentsuite.json"
MODULES = (
    test_capabilities,
    test_compositions,
    test_drafts,
    test_evaluations,
    test_graph,
    test_identity,
    test_provider_compositions,
    test_providers,
    test_strict_json,
)
TABLE = [(module.REQUIREMENT, found) for module in MODULES for found in module.ROWS]
SAMPLE = list(itertools.islice(TABLE, 0, None, 12))


def test_every_requirement_has_at_least_eight_rows() -> None:
    for module in MODULES:
        assert len({str(found) for found in module.ROWS}) >= 8, module.REQUIREMENT


@pytest.mark.parametrize(("requirement", "found"), SAMPLE, ids=[f"{name}-{found}" for name, found in SAMPLE])
def test_every_carrier_gives_the_same_verdict(requirement: str, found: Row, tmp_path: Path) -> None:
    """15.1: a layout and its tar say the same; the tables' own tests compare a directory and a layout."""
    root = found.build().layout(tmp_path / "layout")
    first = faults(validate(root))
    assert first == expected(found, requirement)
    assert faults(validate(archived(root, tmp_path / "archive.tar"))) == first


def test_a_valid_suite_in_every_carrier(tmp_path: Path, engine: str) -> None:
    suite = SuiteBuilder()
    reports = [
        validate(suite.directory(tmp_path / "suite")),
        validate(str(suite.layout(tmp_path / "layout"))),
        validate(suite.archive(tmp_path / "archive.tar")),
    ]
    assert [faults(report) for report in reports] == [[], [], []]
    assert len({report.content_digest for report in reports}) == 1
    assert reports[0].summary == reports[1].summary == reports[2].summary


def test_independent_faults_are_all_reported(tmp_path: Path) -> None:
    """One fault of each requirement, none of which hides another."""
    suite = SuiteBuilder()
    suite.edit(ROOT, "agents/0/digest", STALE)
    suite.edit(ROOT, "capabilities", [])
    suite.edit(ROOT, "extensions/1/critical", True)
    suite.edit(COORDINATOR, "invokes/0/agent", "nobody")
    suite.edit(LEAD, "minPasses", 9)
    suite.edit(WRITER_AMD64, "toolProviders/0/variantDigest", STALE)
    suite.edit(OPA_AMD64, "manifestDigest", STALE)
    suite.edit(CLOCK, "variants/0/files/0/size", 1)
    suite.edit("metadata/files.json", "surprise", 1)
    suite.files["metadata/notice.TXT"] = b"x"
    found = {requirement for requirement, _, _ in faults(validate(suite.directory(tmp_path / "suite")))}
    assert found == {*(module.REQUIREMENT for module in MODULES), "AS-PATH-001"}


def test_faults_of_envelope_and_content_together(tmp_path: Path) -> None:
    """4.2: an absent evidence blob does not hide what is wrong with the suite."""
    suite = SuiteBuilder()
    suite.blobs = suite.blobs[1:]
    suite.edit(SEARCH, "retained", DROP)
    found = {requirement for requirement, _, _ in faults(validate(suite.layout(tmp_path / "layout")))}
    assert found == {"AS-OCI-001", "AS-GRAPH-001"}


@pytest.mark.parametrize(
    "path", [COORDINATOR, WRITER, CLOCK, SEARCH, "tool-providers/catalog.json", WRITER_AMD64, OPA_AMD64, DEFAULT, LEAD]
)
@pytest.mark.parametrize("how", ["broken", "shapeless", "absent"])
def test_a_document_that_cannot_be_used_ends_its_own_branch(path: str, how: str, tmp_path: Path) -> None:
    """One fault, one finding: nothing is concluded from what an unusable document does not say."""
    suite = SuiteBuilder().seal()
    if how == "broken":
        suite.raw[path] = b"{"
    elif how == "shapeless":
        suite.edit(path, "schemaVersion", "2.0.0")
    else:
        del suite.documents[path]
    requirement = "AS-GRAPH-001" if how == "absent" else "AS-JSON-001"
    if how == "shapeless" and path == LEAD:
        requirement = "AS-EVAL-001"
    assert [name for name, _, _ in faults(validate(suite.directory(tmp_path / "suite")))] == [requirement]


# --- roots that are no regular file ---


@pytest.mark.parametrize("kind", [b"2", b"5", b"1"])
def test_a_root_that_is_no_regular_file(kind: bytes, tmp_path: Path) -> None:
    """7: a suite whose root cannot be read is refused and never waved through."""
    suite = SuiteBuilder().seal()
    suite.files["other.json"] = suite.bytes_of()[ROOT]
    del suite.documents[ROOT]
    suite.more.append(carriers.TarEntry(ROOT, kind, 0o755, target="" if kind == b"5" else "other.json"))
    report = validate(suite.layout(tmp_path / "layout", False))
    assert faults(report) == [("AS-GRAPH-001", "graph", ROOT)]
    assert report.summary is None


def test_an_extracted_root_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "suite" / ROOT).mkdir(parents=True)
    assert faults(validate(tmp_path / "suite")) == [("AS-GRAPH-001", "graph", ROOT)]


def test_a_layer_without_a_root(tmp_path: Path) -> None:
    root = carriers.layout(tmp_path / "layout", carriers.gzipped(carriers.tar([])))
    assert faults(validate(root)) == [("AS-GRAPH-001", "graph", ROOT)]


def test_folders_deeper_than_the_system_can_name(tmp_path: Path) -> None:
    """An extracted directory can be deeper than any path; that is a refusal and no exception."""
    root = SuiteBuilder().directory(tmp_path / "suite")
    start = folder = os.open(root, os.O_RDONLY)
    opened = [start]
    try:
        for _ in range(25):
            os.mkdir("x" * 200, dir_fd=folder)
            folder = os.open("x" * 200, os.O_RDONLY, dir_fd=folder)
            opened.append(folder)
        report = validate(root)
    finally:
        for descriptor in opened:
            os.close(descriptor)
        shutil.rmtree(root, ignore_errors=True)
    assert {requirement for requirement, _, _ in faults(report)} == {"AS-PATH-001"}


# --- never an exception ---


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def places(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        yield (*where, step)
        yield from places(member, (*where, step))


BASE = SuiteBuilder().seal().documents
PLACES = [(path, where) for path, value in BASE.items() for where in places(value)]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.text(max_size=20),
    st.sampled_from([[], {}, [[]], "linux", "/", "..", "writer", WRITER, ROOT, str(STALE), "1.0.0", "x" * 2000]),
)


def _mutate(data: st.DataObject, suite: SuiteBuilder) -> None:
    path, where = data.draw(st.sampled_from(PLACES))
    holder = suite.documents[path]
    for step in where[:-1]:
        if not isinstance(holder, (dict, list)) or (isinstance(holder, list) and step >= len(holder)):
            return
        holder = holder[step] if isinstance(holder, list) else holder.get(step)
    last = where[-1]
    if not (isinstance(holder, dict) and last in holder) and not (isinstance(holder, list) and last < len(holder)):
        return
    how = data.draw(st.sampled_from(["drop", "replace", "twice", "borrow"]))
    if how == "drop":
        del holder[last]
    elif how == "twice" and isinstance(holder, list):
        holder.insert(last, copy.deepcopy(holder[last]))
    elif how == "borrow":
        other, way = data.draw(st.sampled_from(PLACES))
        value: Any = BASE[other]
        for step in way:
            value = value[step]
        holder[last] = copy.deepcopy(value)
    else:
        holder[last] = data.draw(VALUES)


BOUNDED = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def _is_a_verdict(report: Report) -> None:
    assert isinstance(report, Report)
    assert report.ok == (not faults(report))
    assert report.summary is not None or not report.ok
    assert [str(found) for found in report.findings] or report.ok
    report.to_json()


@BOUNDED
@given(st.data())
def test_changed_documents_always_get_a_verdict(data: st.DataObject) -> None:
    """Up to three changes of documents, digests computed again or not."""
    suite = SuiteBuilder()
    for _ in range(data.draw(st.integers(1, 3))):
        _mutate(data, suite)
    if data.draw(st.booleans()):
        suite.seal()
    with folder() as root:
        _is_a_verdict(validate(suite.directory(root / "suite", seal=False)))


ARCHIVE = carriers.tar(SuiteBuilder().seal().entries())
LAYER = carriers.gzipped(ARCHIVE)


def _damaged(data: st.DataObject, original: bytes) -> bytes:
    damaged = bytearray(original)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(damaged) - 1))
        how = data.draw(st.sampled_from(["flip", "cut", "insert", "block"]))
        if how == "flip":
            damaged[position] ^= 1 << data.draw(st.integers(0, 7))
        elif how == "cut":
            del damaged[position : position + data.draw(st.integers(1, 512))]
        elif how == "insert":
            damaged[position:position] = data.draw(st.binary(min_size=1, max_size=16))
        else:
            damaged[position // 512 * 512 : position // 512 * 512] = damaged[:512]
        damaged = damaged or bytearray(1)
    return bytes(damaged)


@BOUNDED
@given(st.data())
def test_damaged_layers_always_get_a_verdict(data: st.DataObject) -> None:
    """The tar is damaged, or the gzip around it; every OCI digest is right."""
    inside = data.draw(st.booleans())
    layer = carriers.gzipped(_damaged(data, ARCHIVE)) if inside else _damaged(data, LAYER)
    with folder() as root:
        _is_a_verdict(validate(carriers.layout(root / "layout", layer)))


@BOUNDED
@given(st.data())
def test_damaged_layouts_always_get_a_verdict(data: st.DataObject) -> None:
    """A file of a layout is damaged, or the tar that carries the whole of it."""
    with folder() as root:
        path = carriers.layout(root / "layout", LAYER)
        if data.draw(st.booleans()):
            path = archived(path, root / "archive.tar")
            victim = path
        else:
            victim = data.draw(
                st.sampled_from([path / "index.json", path / "oci-layout", blob_of(path, "manifest")]),
            )
        victim.write_bytes(_damaged(data, victim.read_bytes()))
        _is_a_verdict(validate(path))
