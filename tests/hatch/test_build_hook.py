"""The build hook: a wheel carries the suite, file by file; every other target, and an editable wheel, is untouched."""

from __future__ import annotations

import gc
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hatch_agentsuite.builder import AgentSuiteBuilder
from hatch_agentsuite.validation import validate
from tests.hatch.projects import Outcome, pyproject, run_hatchling, snapshot, target_table, write_suite

Build = Callable[..., Outcome]
WHEEL = "demo-0.1.0-py3-none-any.whl"
HOOK = "[tool.hatch.build.targets.wheel.hooks.agentsuite]\n"
GLOBAL_HOOK = "[tool.hatch.build.hooks.agentsuite]\n"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The system's temporary folder, which must be empty again after every build."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    gc.collect()
    assert list(folder.iterdir()) == []


def write(root: Path, tables: str = HOOK, *, packages: tuple[str, ...] = ("demo",)) -> Path:
    write_suite(root / "suite", with_tool=True)
    for package in packages:
        (root / package).mkdir(parents=True)
        (root / package / "__init__.py").write_text("")
    (root / "pyproject.toml").write_text(pyproject(tables=tables))
    return root


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project")


def wheel_files(project: Path, wheel: str = WHEEL) -> dict[str, bytes]:
    with zipfile.ZipFile(project / "dist" / wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def carried(files: dict[str, bytes], folder: str = "demo/_agentsuite") -> dict[str, bytes]:
    return {name[len(folder) + 1 :]: data for name, data in files.items() if name.startswith(f"{folder}/")}


def layout_of(project: Path) -> dict[str, bytes]:
    """Return the files that the build target makes of the same project."""
    builder = AgentSuiteBuilder(str(project))
    [made] = builder.build(directory=str(project / "alone"))
    return snapshot(Path(made))


def test_wheel_holds_the_layout_that_the_target_makes(project: Path, build: Build, tmp_path: Path) -> None:
    outcome = build(project, "-t", "wheel")
    assert outcome.status == 0, outcome.err
    found = carried(wheel_files(project))
    assert found == layout_of(project)
    assert set(found) > {"oci-layout", "index.json"}
    with zipfile.ZipFile(project / "dist" / WHEEL) as archive:
        archive.extractall(tmp_path / "unzipped")
    report = validate(tmp_path / "unzipped" / "demo" / "_agentsuite")
    assert report.ok, report.findings
    assert f"AgentSuite demo {report.digest}" in outcome.lines


def test_target_table_configures_the_suite_in_the_wheel(tmp_path: Path, build: Build) -> None:
    """The hook's own table has one option; what is packed is the target's affair."""
    project = write(tmp_path / "project", HOOK + target_table('name = "other"\ncodec = "store"'))
    assert build(project, "-t", "wheel").status == 0
    assert carried(wheel_files(project)) == layout_of(project)
    assert b'"name":"other"' in b"".join(carried(wheel_files(project)).values())


def test_ignore_files_and_exclusions_do_not_reach_into_the_suite(project: Path, build: Build) -> None:
    """With `blobs/` ignored, a folder given to Hatch would lose every blob in silence."""
    (project / ".gitignore").write_text("blobs/\n_agentsuite/\n*.json\n")
    tables = '[tool.hatch.build]\nexclude = ["blobs", "_agentsuite", "oci-layout"]\n' + HOOK
    (project / "pyproject.toml").write_text(pyproject(tables=tables))
    assert build(project, "-t", "wheel").status == 0
    assert carried(wheel_files(project)) == layout_of(project)


EDITABLE = '[tool.hatch.build]\ndev-mode-dirs = ["."]\n'


@pytest.mark.parametrize("table", [HOOK, GLOBAL_HOOK])
def test_editable_wheel_is_untouched(tmp_path: Path, build: Build, table: str) -> None:
    """Files forced into an editable wheel would shadow the package that is being edited."""
    project = write(tmp_path / "project", EDITABLE + table)
    assert build(project, "-t", "wheel:editable").status == 0
    files = wheel_files(project)
    assert [name for name in files if "agentsuite" in name] == []
    assert [name for name in files if name.startswith("demo/")] == []


def test_editable_wheel_builds_though_the_suite_is_broken(tmp_path: Path, build: Build) -> None:
    project = write(tmp_path / "project", EDITABLE + HOOK)
    (project / "suite" / "agents" / "helper.yaml").write_text("nonsense")
    assert build(project, "-t", "wheel:editable").status == 0


@pytest.mark.parametrize("table", [HOOK, GLOBAL_HOOK])
def test_source_distribution_is_untouched(tmp_path: Path, build: Build, table: str) -> None:
    plain, hooked = write(tmp_path / "plain", ""), write(tmp_path / "hooked", table)
    for project in (plain, hooked):
        assert build(project, "-t", "sdist").status == 0
    names = []
    for project in (plain, hooked):
        with tarfile.open(project / "dist" / "demo-0.1.0.tar.gz") as archive:
            names.append(sorted(archive.getnames()))
    assert names[0] == names[1]


def test_enabled_for_all_targets_it_does_not_call_itself(tmp_path: Path, build: Build) -> None:
    """A hook in the global table runs for the target `agentsuite`, too."""
    project = write(tmp_path / "project", GLOBAL_HOOK)
    outcome = build(project, "-t", "agentsuite", "-t", "wheel", "-t", "sdist")
    assert outcome.status == 0, outcome.err
    assert outcome.err.count("AgentSuite demo sha256:") == 2, "once for the target, once for the wheel"
    assert carried(wheel_files(project)) == snapshot(project / "dist" / "demo-0.1.0.agentsuite")


def test_hook_switched_off(project: Path, build: Build) -> None:
    assert build(project, "-t", "wheel", "--no-hooks").status == 0
    assert carried(wheel_files(project)) == {}


@pytest.mark.parametrize("enabled", ["1", "0"])
def test_hook_enabled_by_environment(
    tmp_path: Path, build: Build, monkeypatch: pytest.MonkeyPatch, enabled: str
) -> None:
    project = write(tmp_path / "project", HOOK + "enable-by-default = false\n")
    monkeypatch.setenv("HATCH_BUILD_HOOK_ENABLE_AGENTSUITE", enabled)
    assert build(project, "-t", "wheel").status == 0
    assert bool(carried(wheel_files(project))) == (enabled == "1")


def test_hooks_only_and_clean_leave_no_litter(project: Path, build: Build) -> None:
    assert build(project, "-t", "wheel", "--hooks-only").status == 0
    assert build(project, "-t", "wheel", "--clean-only").status == 0
    assert list((project / "dist").iterdir()) == []


# --- where the suite goes


@pytest.mark.parametrize(
    ("tables", "packages", "folder"),
    [
        (HOOK, ("src/demo",), "demo/_agentsuite"),
        (HOOK + '[tool.hatch.build.targets.wheel]\npackages = ["lib/other"]', ("lib/other",), "other/_agentsuite"),
        (HOOK + 'path = "demo/suites/main"', ("demo",), "demo/suites/main"),
        (HOOK + 'path = "./demo//x/"', ("demo",), "demo/x"),
        (
            HOOK + 'path = "two/_agentsuite"\n[tool.hatch.build.targets.wheel]\npackages = ["one", "two"]',
            ("one", "two"),
            "two/_agentsuite",
        ),
    ],
)
def test_destination(tmp_path: Path, build: Build, tables: str, packages: tuple[str, ...], folder: str) -> None:
    project = write(tmp_path / "project", tables, packages=packages)
    outcome = build(project, "-t", "wheel")
    assert outcome.status == 0, outcome.err
    assert carried(wheel_files(project), folder) == layout_of(project)


MUST_BE_PATH = "Option `path` for build hook `agentsuite` must be a `/`-separated path inside the wheel"


@pytest.mark.parametrize(
    ("tables", "error"),
    [
        (HOOK + "path = 5", "Option `path` for build hook `agentsuite` must be a string"),
        *((HOOK + f"path = '{path}'", MUST_BE_PATH) for path in ("", ".", "/x", "../x", "a/../../x", "a\\b")),
        (HOOK + "pth = 'x'\nPath = 'y'", "Unknown options for build hook `agentsuite`: Path, pth. Available: path"),
        (
            HOOK + '[tool.hatch.build.targets.wheel]\npackages = ["one", "two"]',
            "Option `path` for build hook `agentsuite` is needed: the wheel has 2 packages",
        ),
        (
            HOOK + '[tool.hatch.build.targets.wheel]\nonly-include = ["one"]',
            "Option `path` for build hook `agentsuite` is needed: the wheel's package is not known",
        ),
        (
            HOOK + "[tool.hatch.build.targets]\nagentsuite = 5",
            "Field `tool.hatch.build.targets.agentsuite` must be a table",
        ),
        (
            HOOK + target_table("strict = 1"),
            "Field `tool.hatch.build.targets.agentsuite.strict` must be a boolean",
        ),
        (HOOK + target_table("source = 'nowhere'"), "The AgentSuite was refused, 1 finding:"),
    ],
)
def test_mistake_ends_the_wheel_with_one_message(tmp_path: Path, build: Build, tables: str, error: str) -> None:
    project = write(tmp_path / "project", tables, packages=("one", "two", "demo"))
    outcome = build(project, "-t", "wheel")
    assert outcome.status == 1
    assert outcome.out == ""
    assert outcome.lines[0] == error
    assert list((project / "dist").iterdir()) == []


def test_namespace_package_needs_a_path(tmp_path: Path, build: Build) -> None:
    """Two distributions of one namespace would overwrite each other's suite in `namespace/_agentsuite`."""
    project = write(tmp_path / "project", packages=("space/demo",))
    outcome = build(project, "-t", "wheel")
    assert outcome.status == 1
    [line] = outcome.lines
    assert line.startswith("Option `path` for build hook `agentsuite` is needed: `space` has no `__init__.py`; ")


def test_refused_suite_in_a_process_of_its_own(project: Path, temporary: Path) -> None:
    (project / "suite" / "instructions" / "helper.md").unlink()
    outcome = run_hatchling(project, "-t", "wheel", TMPDIR=str(temporary))
    assert outcome.status == 1
    assert "Traceback" not in outcome.err
    assert "suite/agents/helper.yaml" in outcome.err
    assert list((project / "dist").iterdir()) == []


def test_good_wheel_in_a_process_of_its_own_warns_of_nothing(project: Path, temporary: Path) -> None:
    outcome = run_hatchling(project, "-t", "wheel", TMPDIR=str(temporary), PYTHONWARNINGS="always")
    assert outcome.status == 0
    assert "Warning" not in outcome.err


# --- the same bytes


def test_wheel_bytes_are_reproducible(tmp_path: Path, build: Build) -> None:
    made = []
    for name in ("one", "two"):
        project = write(tmp_path / name)
        assert build(project, "-t", "wheel").status == 0
        made.append((project / "dist" / WHEEL).read_bytes())
    assert made[0] == made[1]


def test_wheel_from_the_source_distribution_carries_the_same_suite(project: Path, build: Build, tmp_path: Path) -> None:
    """`python -m build` makes the wheel from the unpacked sdist, which has a PKG-INFO besides."""
    assert build(project, "-t", "sdist", "-t", "wheel").status == 0
    with tarfile.open(project / "dist" / "demo-0.1.0.tar.gz") as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path / "unpacked")
    unpacked = tmp_path / "unpacked" / "demo-0.1.0"
    assert (unpacked / "PKG-INFO").is_file()
    assert build(unpacked, "-t", "wheel").status == 0
    assert carried(wheel_files(unpacked)) == carried(wheel_files(project)) != {}
