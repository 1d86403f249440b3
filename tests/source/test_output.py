"""Output appears whole or not at all (design, "Authoring")."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from hatch_agentsuite import packing
from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.packing import Form, pack
from hatch_agentsuite.validation import Report
from tests.source import trees
from tests.source.trees import NAMED, packed, write_tree


def contents(path: Path) -> dict[str, bytes]:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {str(file.relative_to(path)): file.read_bytes() for file in files if file.is_file()}


@pytest.mark.parametrize("form", ["layout", "archive"])
@pytest.mark.parametrize("fault", ["source", "result", "change"])
def test_a_refused_build_leaves_the_older_output_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Form, fault: str
) -> None:
    root, target = write_tree(tmp_path / "suite", trees.minimal()), tmp_path / "out"
    pack(root, target, NAMED, form=form)
    before = contents(target)
    (root / "instructions/writer.md").write_text("Other.\n")
    if fault == "source":
        (root / "instructions/writer.md").unlink()
    elif fault == "result":
        finding = Finding("AS-X", "oci", "", "no")
        monkeypatch.setattr(packing, "validate", lambda path: Report(str(path), (finding,)))

    def step(stage: str, _size: int) -> None:
        if stage == "packing" and fault == "change":
            (root / "instructions/writer.md").write_text("Changed.\n")

    with pytest.raises(RefusedError):
        pack(root, target, NAMED, form=form, step=step)
    assert contents(target) == before
    assert sorted(os.listdir(tmp_path)) == ["out", "suite"]


@pytest.mark.parametrize("form", ["layout", "archive"])
def test_an_invalid_result_produces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Form) -> None:
    finding = Finding("AS-X", "oci", "", "no")
    monkeypatch.setattr(packing, "validate", lambda path: Report(str(path), (finding,)))
    root = write_tree(tmp_path / "suite", trees.minimal())
    with pytest.raises(RefusedError) as caught:
        pack(root, tmp_path / "dist/out", NAMED, form=form)
    assert caught.value.findings == (finding,)
    assert os.listdir(tmp_path) == ["suite"]


def test_warnings_of_the_result_do_not_refuse_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = Finding("AS-X", "oci", "", "hm", severity="warning")
    monkeypatch.setattr(packing, "validate", lambda path: Report(str(path), (finding,)))
    root = write_tree(tmp_path / "suite", trees.minimal())
    assert pack(root, tmp_path / "out", NAMED).warnings == (finding,)


def test_the_archive_holds_the_files_of_the_layout(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "suite", trees.rich())
    layout = packed(root, trees.RICH, tmp_path / "layout", tag="latest")
    archive = packed(root, trees.RICH, tmp_path / "suite.tar", tag="latest", form="archive")
    assert archive.digests == layout.digests
    with tarfile.open(tmp_path / "suite.tar", "r:") as tar:
        found = {item.name: tar.extractfile(item).read() for item in tar if item.isfile()}  # type: ignore[union-attr]
    assert found == contents(tmp_path / "layout")


def test_a_tag_touches_the_index_alone(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "suite", trees.minimal())
    packed(root, target=tmp_path / "plain")
    packed(root, target=tmp_path / "tagged", tag="latest")
    plain, tagged = contents(tmp_path / "plain"), contents(tmp_path / "tagged")
    assert {name for name in plain | tagged if plain.get(name) != tagged.get(name)} == {"index.json"}


def test_steps_are_told_in_order_and_payload_bytes_are_counted(tmp_path: Path) -> None:
    sizes: dict[str, int] = {}
    done: list[int] = []

    def step(stage: str, size: int) -> object:
        sizes[stage] = size
        return done.append if stage == "packing" else None

    result = pack(write_tree(tmp_path / "suite", trees.rich()), tmp_path / "out", trees.RICH, step=step)  # type: ignore[arg-type]
    assert list(sizes) == ["hashing", "packing", "validating"]
    assert sum(done) == sizes["packing"] == result.resolved.payload_bytes > 0
