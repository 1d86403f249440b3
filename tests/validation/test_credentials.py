"""AS-SECRET-001: every curated shape finds its samples and nothing else, and nothing repeats one (9.5, 9.9, 15.1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatch_agentsuite.content import Entry
from hatch_agentsuite.findings import RefusedError
from hatch_agentsuite.inspection import inspect
from hatch_agentsuite.packing import pack
from hatch_agentsuite.validation import secrets, validate
from hatch_agentsuite.validation.credentials import Match, Shape, Stream, find, shapes, suspects
from tests.source import trees
from tests.validation.suites import SuiteBuilder

SHAPES = shapes()
POSITIVE = [(shape, text) for shape in SHAPES for text in shape.positive]
NEGATIVE = [(shape, text) for shape in SHAPES for text in shape.negative]
# Put together here, so that no file of this repository holds a credential-shaped text.
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA2cD4fG6"


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_shape_is_curated(shape: Shape) -> None:
    assert shape.source
    assert len(shape.positive) >= 2
    assert len(shape.negative) >= 2
    assert all(shape.literal in text for text in shape.positive)


@pytest.mark.parametrize(
    ("shape", "text"), POSITIVE, ids=[f"{shape.name}-{n}" for n, (shape, _) in enumerate(POSITIVE)]
)
def test_a_credential_is_found(shape: Shape, text: str) -> None:
    (match,) = find(f"first line\nvalue {text} end")
    assert (match.shape, match.line) == (shape.name, 2)
    assert text not in repr(match)


@pytest.mark.parametrize(
    ("shape", "text"), NEGATIVE, ids=[f"{shape.name}-{n}" for n, (shape, _) in enumerate(NEGATIVE)]
)
def test_what_only_looks_like_it_is_not(shape: Shape, text: str) -> None:
    assert shape.name not in {match.shape for match in find(f"value {text} end")}


@pytest.mark.parametrize(
    "text",
    [
        "sha256:" + "0123456789abcdef" * 4,
        "123e4567-e89b-12d3-a456-426614174000",
        "https://example.org:8443/path/to/thing",
        "the password is kept by the vault; the token is not",
        "Authorization: Bearer ${TOKEN}",
        "<YOUR_KEY>",
        "0123456789abcdef0123456789abcdef01234567",
        "https://user:password@example.org/",
    ],
)
def test_ordinary_text_is_no_credential(text: str) -> None:
    assert list(find(text)) == []


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40_000), st.integers(1, 20_000))
def test_a_cut_between_pieces_hides_nothing(before: int, size: int) -> None:
    """The stream is judged as one text, however it comes in pieces and however much of it is forgotten by then."""
    data = b"some line\n" * (before // 10) + b"x" * (before % 10) + b" " + TOKEN.encode() + b" end\n" * 5_000
    stream = Stream(10)
    for start in range(0, len(data), size):
        stream.feed(data[start : start + size])
    stream.close()
    assert stream.matches == [Match("GitHub personal access token", before // 10 + 1, before % 10 + 2)]


TEXTS = st.lists(
    st.sampled_from([b"", b"plain", b"://", b"://u:secret99", b"ghp", b"_", b"sk-", b"AKIA", TOKEN.encode(), b"\n"]),
    max_size=8,
).map(b"".join)


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=12))
def test_texts_that_are_searched_together_are_not_mixed(texts: list[bytes]) -> None:
    """Every text that has a shape is a suspect, in order; what two texts have only together is no suspicion."""
    found = list(suspects(texts))
    assert found == [index for index, text in enumerate(texts) if list(suspects([text]))]
    assert {index for index, text in enumerate(texts) if list(find(text.decode()))} <= set(found)


def test_many_files_of_any_size_are_judged_in_order() -> None:
    """Batches, and files that are no batch, give what each file gives by itself; binary files give nothing."""
    scan = secrets.Scan()
    sizes = [10, 300_000, 800_000, 5, 1 << 20, (1 << 20) + 1, 20, 600_000]
    bodies = {f"notes/{number}": b"x\n" * (size // 2) + TOKEN.encode() for number, size in enumerate(sizes)}
    bodies["notes/binary"] = b"\0" + TOKEN.encode()
    with scan:
        for path, body in bodies.items():
            entry = Entry(path, "file", 0o644, size=len(body))
            pieces = [body[start : start + 100_000] for start in range(0, len(body), 100_000)]
            assert b"".join(scan.observe(entry, iter(pieces))) == body
    assert list(scan.found) == [path for path in bodies if path != "notes/binary"]
    assert [match.line for [match] in scan.found.values()] == [size // 2 + 1 for size in sizes]


def test_a_token_inside_an_unfinished_url_is_found() -> None:
    """What a longer beginning passes over is looked at again."""
    assert [match.shape for match in find(f"://someone:{TOKEN} and no host")] == ["GitHub personal access token"]


@pytest.mark.parametrize(
    ("document", "place", "value"),
    [
        ("agents/writer.json", "description", f"use {TOKEN}"),
        ("agents/writer.json", "model/model", TOKEN),
    ],
)
def test_a_document_is_refused_without_repeating_it(tmp_path: Path, document: str, place: str, value: str) -> None:
    suite = SuiteBuilder()
    suite.edit(document, place, value)
    report = validate(suite.directory(tmp_path / "suite"))
    (finding,) = [finding for finding in report.findings if finding.is_error]
    assert (finding.requirement, finding.category) == ("AS-SECRET-001", "security")
    assert finding.location == f"{document}#/{place}"
    assert TOKEN not in str(report.to_json())


def test_packing_refuses_and_writes_nothing(tmp_path: Path) -> None:
    files = trees.minimal() | {"instructions/writer.md": f"Use {TOKEN} for the service.\n"}
    root = trees.write_tree(tmp_path / "suite", files)
    with pytest.raises(RefusedError) as refused:
        pack(root, tmp_path / "out.agentsuite", trees.NAMED)
    (finding,) = [finding for finding in refused.value.findings if finding.is_error]
    assert (finding.requirement, finding.location) == ("AS-SECRET-001", "instructions/writer.md")
    assert TOKEN not in str(refused.value)
    assert not (tmp_path / "out.agentsuite").exists()


def test_a_payload_file_is_a_warning(tmp_path: Path) -> None:
    """Software ships samples and test keys, and whoever packs it did not write it."""
    files = trees.with_clock() | {"tool-providers/clock/1.0.0/linux-amd64/notes.txt": f"{TOKEN}\n"}
    root = trees.write_tree(tmp_path / "suite", files)
    packed = pack(root, tmp_path / "out.agentsuite", trees.NAMED)
    found = [finding for finding in packed.warnings if finding.requirement == "AS-SECRET-001"]
    assert [finding.severity for finding in found] == ["warning"]


def test_a_large_text_outside_payloads_is_not_passed_over(tmp_path: Path) -> None:
    """Where a large file lies in a ToolProvider's folder without being its payload, it is refused and not trusted."""
    suite = SuiteBuilder()
    path = "tool-providers/notes-for-writers.md"
    suite.files[path] = b"x" * ((1 << 20) + 1)
    suite.edit("agents/writer.json", "instructions/path", path)
    report = validate(suite.directory(tmp_path / "suite"))
    found = [finding for finding in report.findings if finding.is_error]
    assert [(finding.requirement, finding.location) for finding in found] == [("AS-SECRET-001", path)]


def test_inspecting_repeats_no_credential(tmp_path: Path) -> None:
    suite = SuiteBuilder()
    suite.edit("agents/writer.json", "id", TOKEN)
    assert TOKEN not in str(inspect(suite.directory(tmp_path / "suite")).to_json()["findings"])
