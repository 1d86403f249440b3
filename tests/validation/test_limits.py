"""The limits of section 5.2: each on both sides of its bound, downward and upward, and the file that changes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.jsondoc import MAX_DEPTH, JSONLimits
from hatch_agentsuite.limits import DEFAULT_LIMITS, NAMES, Limits, LimitsError, parse_limits
from hatch_agentsuite.validation import validate
from tests.validation.carriers import blob_of
from tests.validation.contents import profile
from tests.validation.suites import SuiteBuilder, plain

Measure = Callable[[Path], int]


def entries(root: Path) -> int:
    return sum(1 for _ in root.rglob("*"))


def expanded(root: Path) -> int:
    return sum(path.stat().st_size for path in files(root, "*"))


def metadata(root: Path) -> int:
    return sum(path.stat().st_size for path in files(root, "*.json"))


def largest(root: Path) -> int:
    return max(path.stat().st_size for path in files(root, "*.json"))


def files(root: Path, pattern: str) -> Iterator[Path]:
    return (path for path in root.rglob(pattern) if path.is_file() and not path.is_symlink())


def objects(value: Any, level: int = 1) -> Iterator[tuple[int, int]]:
    """Yield level and number of members of every container."""
    if isinstance(value, (dict, list)):
        yield level, len(value) if isinstance(value, dict) else 0
        for item in value.values() if isinstance(value, dict) else value:
            yield from objects(item, level + 1)


def of_documents(choose: Callable[[list[tuple[int, int]]], int]) -> Measure:
    return lambda _root: max(choose(list(objects(plain(value)))) for value in SuiteBuilder().documents.values())


MEASURES: dict[str, tuple[Measure, str]] = {
    "entries": (entries, "AS-PATH-001"),
    "expanded-bytes": (expanded, "AS-PATH-001"),
    "metadata-bytes": (metadata, "AS-PATH-001"),
    "document-bytes": (largest, "AS-JSON-001"),
    "document-depth": (of_documents(lambda found: max(level for level, _ in found)), "AS-JSON-001"),
    "object-members": (of_documents(lambda found: max(count for _, count in found)), "AS-JSON-001"),
    "document-members": (of_documents(lambda found: sum(count for _, count in found)), "AS-JSON-001"),
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return SuiteBuilder().directory(tmp_path_factory.mktemp("limits") / "suite")


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return SuiteBuilder().layout(tmp_path_factory.mktemp("limits") / "suite.layout")


@pytest.mark.parametrize("name", MEASURES)
def test_both_sides_of_a_bound(directory: Path, name: str) -> None:
    """5.2: what is exactly at the limit is accepted, one less refuses it under the requirement that owns the limit."""
    measure, requirement = MEASURES[name]
    amount = measure(directory)
    assert validate(directory, parse_limits({name: amount})).ok
    report = validate(directory, parse_limits({name: amount - 1}))
    refused = [finding for finding in report.findings if finding.is_error]
    assert {finding.requirement for finding in refused} == {requirement}
    assert f"{amount - 1:,}" in refused[0].message or name == "object-members"


@pytest.mark.parametrize("name", ["entries", "expanded-bytes", "metadata-bytes"])
def test_both_sides_in_a_layer(directory: Path, tmp_path: Path, name: str) -> None:
    """The same bounds hold while a layer is read, where an implied folder is no entry and a hard link has no bytes."""
    builder = SuiteBuilder()
    measured = {
        "entries": len(builder.seal().entries()),
        "expanded-bytes": sum(len(entry.data) for entry in builder.entries()),
        "metadata-bytes": sum(len(entry.data) for entry in builder.entries() if entry.name.endswith(".json")),
    }
    path = builder.layout(tmp_path / "suite")
    assert validate(path, parse_limits({name: measured[name]})).ok
    assert not validate(path, parse_limits({name: measured[name] - 1})).ok


def test_both_sides_of_the_index(layout: Path) -> None:
    """An index of an AgentSuite has one descriptor, so no file can be one too many for a limit of one."""
    size = blob_of(layout, "manifest").stat().st_size
    assert validate(layout, Limits(index_descriptors=1, index_bytes=size)).ok
    for limits in (Limits(index_descriptors=0), Limits(index_bytes=size - 1)):
        [finding] = validate(layout, limits).findings
        assert (finding.requirement, finding.location) == ("AS-OCI-001", "index.json#/manifests")


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("document-depth", {"a": []}),
        ("object-members", {f"m{number}": number for number in range(1_025)}),
        ("document-members", {f"m{number}": dict.fromkeys(map(str, range(1_000)), 0) for number in range(101)}),
    ],
)
def test_upward(tmp_path: Path, name: str, made: Any) -> None:
    """What the defaults refuse is accepted once the limit is raised."""
    for _ in range(100 if name == "document-depth" else 0):
        made = {"a": made}
    builder = SuiteBuilder()
    builder.documents["metadata/profiles/writer.json"] = profile(made)
    path = builder.directory(tmp_path / "suite")
    assert not validate(path).ok
    assert validate(path, parse_limits({name: 250 if name == "document-depth" else 200_000})).ok


def test_defaults_are_those_of_the_specification() -> None:
    """5.2 and 4.2 state the reference validator's limits."""
    assert parse_limits({}) == DEFAULT_LIMITS == Limits(
        JSONLimits(document_bytes=4 << 20, depth=100, object_members=1_024, document_members=100_000),
        entries=100_000,
        expanded_bytes=4 << 30,
        metadata_bytes=256 << 20,
        index_descriptors=1_000,
        index_bytes=1 << 30,
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_name_changes_one_limit(name: str) -> None:
    def flat(limits: Limits) -> dict[str, Any]:
        return {**vars(limits), **vars(limits.json)}

    changed, default = flat(parse_limits({name: 7})), flat(DEFAULT_LIMITS)
    different = {key for key in default if key != "json" and changed[key] != default[key]}
    assert different == {{"document-depth": "depth"}.get(name, name.replace("-", "_"))}


@pytest.mark.parametrize("value", [0, -1, 1.0, 1.5, "5", None, True, [], {}], ids=repr)
def test_what_is_no_positive_integer(value: Any) -> None:
    with pytest.raises(LimitsError, match="`entries` must be a positive integer"):
        parse_limits({"entries": value})


@pytest.mark.parametrize("value", [None, [], 5, "entries", [{"entries": 5}]], ids=repr)
def test_what_is_no_object(value: Any) -> None:
    with pytest.raises(LimitsError, match="an object of names and numbers"):
        parse_limits(value)


def test_every_mistake_at_once() -> None:
    with pytest.raises(LimitsError) as caught:
        parse_limits({"entries": 0, "expanded_bytes": 5, "depth": 5, "index-bytes": 5, "document-depth": MAX_DEPTH + 1})
    assert [text.split("`")[1] for text in caught.value.errors] == [
        "entries",
        "expanded_bytes",
        "depth",
        "document-depth",
    ]
    assert all(name in caught.value.errors[1] for name in NAMES), "an unknown name is answered with the known ones"


def test_deepest_allowed_document_is_read(tmp_path: Path) -> None:
    """The largest `document-depth` that can be asked for ends in a verdict and never in a recursion."""
    value: Any = {"number": 1.5}
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    builder = SuiteBuilder()
    builder.documents["metadata/profiles/writer.json"] = profile({"a": value[0][0][0]})
    builder.files["schemas/output.json"] = b'{"not":' * (MAX_DEPTH - 1) + b"{}" + b"}" * (MAX_DEPTH - 1)
    report = validate(builder.directory(tmp_path / "suite"), parse_limits({"document-depth": MAX_DEPTH}))
    assert {finding.requirement for finding in report.findings} <= {"AS-PROVIDER-001"}
