"""Equal inputs give equal images on every machine, and what is large is taken over as it is (specification 12)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hatch_agentsuite.sandbox.validation import validate_image
from tests.sandbox.kit import World, base, blob_path, write_layout


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def contents(layout: Path) -> dict[str, bytes]:
    return {str(path.relative_to(layout)): path.read_bytes() for path in layout.rglob("*") if path.is_file()}


def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    """12: pure composition; order and place of images, form of their layouts and threads do not matter."""
    world = World(tmp_path, "amd64", "arm64").write()
    expected = contents(world.build(platform=None).target)
    apart = [write_layout(tmp_path / f"l{n}", [image]) for n, image in enumerate(
        [*world.harnesses.values(), *world.bases.values()]
    )]  # fmt: skip
    again = {
        "reversed": world.build("a.image", platform=None, images=apart[::-1]),
        "threads": world.build("b.image", platform=None, images=apart, workers=3),
        "folder": world.build("c.image", platform=None, images=[tmp_path]),
    }
    for name, built in again.items():
        assert contents(built.target) == expected, name


def test_machine_does_not_show(tmp_path: Path) -> None:
    """12: nor do umask, time zone, hash seed, locale and the folder of the run."""
    world = World(tmp_path).write()
    expected = contents(world.build().target)
    program_ = (
        "import os, sys; os.umask(0o077);"
        "from pathlib import Path; from hatch_agentsuite.sandbox.building import build_image;"
        "build_image(Path(sys.argv[1]), Path(sys.argv[2]), agent='writer', platform='linux/amd64', "
        "images=[Path(sys.argv[3])])"
    )
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    environment = {**os.environ, "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7", "LC_ALL": "C"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    arguments = [str(world.suite), "other.image", str(world.images)]
    subprocess.run([sys.executable, "-c", program_, *arguments], cwd=elsewhere, env=environment, check=True)
    assert contents(elsewhere / "other.image") == expected
    modes = {oct(path.stat().st_mode & 0o777) for path in (elsewhere / "other.image").rglob("*") if path.is_file()}
    assert modes == {"0o644"}


def test_archive_holds_the_same_layout(world: World) -> None:
    layout = world.build()
    archive = world.build("out.tar", form="archive")
    assert archive.digest == layout.digest
    assert validate_image(archive.target).digest == layout.digest


def test_blobs_are_shared_and_never_rewritten(world: World) -> None:
    """A base is verified and linked where its file allows it, copied where it does not; its own mode stays."""
    world.write()
    harness, _ = world.harness.blobs()
    first, second, *_ = [blob_path(world.images, item["digest"]) for item in json.loads(harness)["layers"]]
    second.chmod(0o444)
    out = world.build().target
    assert (
        first.samefile(out / first.relative_to(world.images))
        or first.read_bytes() == (out / first.relative_to(world.images)).read_bytes()
    )
    assert not second.samefile(out / second.relative_to(world.images))
    assert second.stat().st_mode & 0o777 == 0o444


def test_older_output_is_replaced_and_foreign_folders_are_not(world: World) -> None:
    first = world.build()
    assert world.build().digest == first.digest
    (first.target / "mine.txt").write_text("kept")
    with pytest.raises(FileExistsError):
        world.build()
    assert (first.target / "mine.txt").read_text() == "kept"


def test_images_may_come_from_archives(world: World) -> None:
    world.write()
    shutil.make_archive(str(world.root / "packed"), "tar", world.images)
    built = world.build(images=[world.root / "packed.tar"])
    assert validate_image(built.target).ok


def test_base_for_another_harness_is_not_needed_twice(world: World) -> None:
    """The image of a ToolProvider needs the runtime base alone (11)."""
    world.write()
    only_base = write_layout(world.root / "base-only", [base()])
    assert world.build(tool_provider="clock", images=[only_base]).digest
