"""The build target: `hatchling build -t agentsuite`, run in this process on real projects."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hatch_agentsuite.builder import AgentSuiteBuilder
from hatch_agentsuite.validation import validate
from tests.hatch.projects import Outcome, pyproject, snapshot, target_table, write_project, write_suite

Build = Callable[..., Outcome]
LAYOUT = "demo-0.1.0.agentsuite"
ARCHIVE = "demo-0.1.0.agentsuite.tar"


def outputs(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def configure(project: Path, options: str) -> Path:
    (project / "pyproject.toml").write_text(pyproject(tables=target_table(options)), encoding="utf-8")
    return project


# --- versions and places


@pytest.mark.parametrize(
    ("target", "made"),
    [
        ("agentsuite", [LAYOUT]),
        ("agentsuite:", [LAYOUT]),
        ("agentsuite:layout", [LAYOUT]),
        ("agentsuite:archive", [ARCHIVE]),
        ("agentsuite:layout,archive", [LAYOUT, ARCHIVE]),
        ("agentsuite:archive,archive", [ARCHIVE]),
    ],
)
def test_versions_of_the_target(project: Path, build: Build, target: str, made: list[str]) -> None:
    assert build(project, "-t", target).status == 0
    assert outputs(project / "dist") == made
    for name in made:
        report = validate(project / "dist" / name)
        assert report.ok, report.findings
        assert report.summary
        assert report.summary.name == "demo"


def test_versions_option_of_hatch_chooses_the_default(project: Path, build: Build) -> None:
    assert build(configure(project, 'versions = ["archive"]'), "-t", "agentsuite").status == 0
    assert outputs(project / "dist") == [ARCHIVE]


def test_layout_and_archive_are_one_suite(project: Path, build: Build) -> None:
    build(project, "-t", "agentsuite:layout,archive")
    first, second = (validate(project / "dist" / name) for name in (LAYOUT, ARCHIVE))
    assert first.digest
    assert first.digest == second.digest


@pytest.mark.parametrize("way", ["-d out", "-d ./x/../out", "-d absolute", "HATCH_BUILD_LOCATION", "directory option"])
def test_output_directory(project: Path, build: Build, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Hatch hands a location down as it was written, relative or not."""
    arguments = ["-t", "agentsuite"]
    if way == "HATCH_BUILD_LOCATION":
        monkeypatch.setenv(way, "out")
    elif way == "directory option":
        configure(project, 'directory = "out"')
    else:
        arguments += ["-d", str(project / "out") if way == "-d absolute" else way.removeprefix("-d ")]
    outcome = build(project, *arguments)
    assert outcome.status == 0
    assert outcome.lines[-1] == str(project / "out" / LAYOUT)
    assert validate(project / "out" / LAYOUT).ok
    assert outputs(project / "dist") == []


def test_what_is_said_when_all_is_well(project: Path, build: Build) -> None:
    """One line with the digest, then Hatch's own line with the path; nothing on standard output."""
    outcome = build(project, "-t", "agentsuite")
    digest = validate(project / "dist" / LAYOUT).digest
    assert outcome == Outcome(0, "", f"AgentSuite demo {digest}\n{project / 'dist' / LAYOUT}\n")
    outcome = build(project, "-t", "agentsuite:archive")
    assert outcome == Outcome(0, "", f"AgentSuite demo {digest}\n{Path('dist') / ARCHIVE}\n")


def test_quiet_says_nothing(project: Path, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HATCH_QUIET", "1")
    assert build(project, "-t", "agentsuite") == Outcome(0, "", "")


def test_verbose_shows_what_was_packed_and_from_where(
    project: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HATCH_VERBOSE", "1")
    lines = build(project, "-t", "agentsuite").lines
    assert "agents/helper.json <- suite/agents/helper.yaml" in lines
    assert "instructions/helper.md <- suite/instructions/helper.md" in lines
    assert "build-profiles/default.json <- suite/build-profiles/default.yaml" in lines
    assert "agentsuite.json <- computed" in lines
    assert "compositions/helper-linux-amd64.json <- computed" in lines


def test_verbose_escapes_control_characters(tmp_path: Path, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """A payload's file may have any UTF-8 name; a terminal shows it and does not obey it."""
    project = tmp_path / "project"
    write_suite(project / "suite", with_tool=True)
    (project / "pyproject.toml").write_text(pyproject())
    payload = project / "suite" / "tool-providers" / "eyes" / "1.0.0" / "linux-amd64"
    (payload / "red\x1b[31m\n").write_text("")
    monkeypatch.setenv("HATCH_VERBOSE", "1")
    outcome = build(project, "-t", "agentsuite")
    assert outcome.status == 0, outcome.err
    assert "\x1b" not in outcome.err
    assert "linux-amd64/red\\x1b[31m\\n <- suite/tool-providers/" in outcome.err


# --- names and sources


@pytest.mark.parametrize(
    ("name", "version", "file", "suite"),
    [
        ("My.Cool_App", "1.0", "my_cool_app-1.0.agentsuite", "my.cool_app"),
        ("a--b", "1.0", "a_b-1.0.agentsuite", "a--b"),
        ("demo", "1.0+abc", "demo-1.0+abc.agentsuite", "demo"),
        ("demo", "2026.08.010", "demo-2026.8.10.agentsuite", "demo"),
        ("demo", "1!2.0rc1.dev3", "demo-1!2.0rc1.dev3.agentsuite", "demo"),
    ],
)
def test_names(tmp_path: Path, build: Build, name: str, version: str, file: str, suite: str) -> None:
    """The file is named as a wheel is, the suite after the project as it is written, as an identifier."""
    project = write_project(tmp_path, name=name, version=version)
    assert build(project, "-t", "agentsuite").status == 0
    made = outputs(project / "dist")
    assert made == [file]
    summary = validate(project / "dist" / made[0]).summary
    assert summary
    assert summary.name == suite
    assert build(project, "-t", "agentsuite", "--clean-only").status == 0
    assert outputs(project / "dist") == []


def test_dynamic_version(project: Path, build: Build) -> None:
    text = pyproject(tables='[tool.hatch.version]\npath = "about.py"')
    (project / "pyproject.toml").write_text(text.replace('version = "0.1.0"', 'dynamic = ["version"]'))
    (project / "about.py").write_text('__version__ = "3.2"\n')
    assert build(project, "-t", "agentsuite").status == 0
    assert outputs(project / "dist") == ["demo-3.2.agentsuite"]


def test_hatch_toml_holds_the_same_table(project: Path, build: Build) -> None:
    (project / "suite").rename(project / "agents-of-mine")
    (project / "hatch.toml").write_text('[build.targets.agentsuite]\nsource = "agents-of-mine"\n')
    assert build(project, "-t", "agentsuite").status == 0
    assert validate(project / "dist" / LAYOUT).ok


def test_options_reach_the_suite(project: Path, build: Build) -> None:
    configure(project, 'name = "other"\nannotations = { "org.opencontainers.image.licenses" = "MIT" }\ncodec = "store"')
    assert build(project, "-t", "agentsuite").status == 0
    report = validate(project / "dist" / LAYOUT)
    assert report.ok
    assert report.digest
    assert report.summary
    assert report.summary.name == "other"
    manifest = json.loads((project / "dist" / LAYOUT / "blobs/sha256" / report.digest[7:]).read_bytes())
    assert manifest["annotations"] == {"org.opencontainers.image.licenses": "MIT"}


def test_builder_from_a_dictionary(tmp_path: Path) -> None:
    """As hatchling allows: no file but the suite, the configuration in memory."""
    write_suite(tmp_path / "here")
    table = {"source": "here"}
    config = {
        "project": {"name": "demo", "version": "1.0"},
        "tool": {"hatch": {"build": {"targets": {"agentsuite": table}}}},
    }
    builder = AgentSuiteBuilder(str(tmp_path), config=config)
    [artifact] = builder.build(directory=str(tmp_path / "dist"))
    assert artifact == str(tmp_path / "dist" / "demo-1.0.agentsuite")
    assert builder.get_default_versions() == ["layout"]
    assert sorted(builder.get_version_api()) == ["archive", "layout"]
    assert table == {"source": "here"}


def test_only_what_the_suite_needs_is_packed(project: Path, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hatch's own selection would take `.env` and whatever else lies about, and obey a stray `.gitignore`."""
    (project / ".env").write_text("SECRET=1")
    (project / "suite" / ".env").write_text("SECRET=1")
    (project / ".gitignore").write_text("*\n")
    monkeypatch.setenv("HATCH_VERBOSE", "1")
    outcome = build(project, "-t", "agentsuite")
    assert outcome.status == 0
    assert [line for line in outcome.lines if "<-" in line and ".env" in line] == []
    [warning] = [line for line in outcome.lines if ".env" in line]
    assert warning.startswith("suite/.env: nothing refers to it, so it is not packed")


def test_unreached_files_are_warnings_or_with_strict_errors(project: Path, build: Build) -> None:
    (project / "suite" / "notes").mkdir()
    for name in ("a.md", "b.md"):
        (project / "suite" / "notes" / name).write_text("x")
    outcome = build(project, "-t", "agentsuite")
    assert outcome.status == 0
    assert "suite/notes/: nothing refers to the 2 files in this folder, so it is not packed" in outcome.err
    outcome = build(configure(project, "strict = true"), "-t", "agentsuite", "-d", "other")
    assert outcome.status == 1
    assert outcome.lines[0] == "The AgentSuite was refused, 1 finding:"
    assert outputs(project / "other") == []


def test_earlier_output_inside_the_source_tree_is_not_packed(tmp_path: Path, build: Build) -> None:
    """`source = "."` and `dist` inside it: the second build is the first again."""
    project = configure(write_suite(tmp_path / "project"), 'source = "."')
    assert build(project, "-t", "agentsuite").status == 0
    first = snapshot(project / "dist")
    outcome = build(project, "-t", "agentsuite")
    assert outcome.status == 0
    assert "./dist/: nothing refers to" in outcome.err
    assert snapshot(project / "dist") == first


def test_source_may_be_a_path_with_spaces_and_more(tmp_path: Path, build: Build) -> None:
    project = write_project(tmp_path / "a b%20ü")
    assert build(project, "-t", "agentsuite").status == 0
    assert validate(project / "dist" / LAYOUT).ok


# --- cleaning

OTHERS = (
    "demo-0.1.0.tar.gz",
    "demo-0.1.0-py3-none-any.whl",
    "demo_2-0.1.0.agentsuite",
    "demo2-0.1.0.agentsuite",
    "otherdemo-0.1.0.agentsuite",
    "demo-latest.agentsuite",
    "notes.agentsuite",
    "demo-0.1.0.agentsuite.txt",
)


@pytest.mark.parametrize(
    ("target", "gone"),
    [
        ("agentsuite", [LAYOUT, "demo-0.0.9.agentsuite"]),
        ("agentsuite:archive", [ARCHIVE, "demo-0.0.9.agentsuite.tar"]),
        (
            "agentsuite:layout,archive",
            [LAYOUT, ARCHIVE, "demo-0.0.9.agentsuite", "demo-0.0.9.agentsuite.tar"],
        ),
    ],
)
def test_clean_removes_what_this_target_made_and_nothing_else(
    project: Path, build: Build, target: str, gone: list[str]
) -> None:
    dist = project / "dist"
    for version in ("0.0.9", "0.1.0"):
        (project / "pyproject.toml").write_text(pyproject(version=version))
        assert build(project, "-t", "agentsuite:layout,archive").status == 0
    for name in OTHERS:
        (dist / name).write_text("somebody else's")
    (dist / ".demo-0.0.8.agentsuite.0123456789abcdef.tmp").mkdir()
    before = outputs(dist)
    outcome = build(project, "-t", target, "--clean-only")
    assert outcome == Outcome(0, "", "")
    litter = [".demo-0.0.8.agentsuite.0123456789abcdef.tmp"] if "layout" in target or target == "agentsuite" else []
    assert outputs(dist) == sorted(set(before) - set(gone) - set(litter))
    assert {name: (dist / name).read_text() for name in OTHERS} == dict.fromkeys(OTHERS, "somebody else's")


def test_clean_and_build(project: Path, build: Build) -> None:
    (project / "dist" / "demo-0.0.9.agentsuite").mkdir(parents=True)
    (project / "dist" / "demo-0.0.9.tar.gz").write_text("")
    assert build(project, "-c", "-t", "agentsuite").status == 0
    assert outputs(project / "dist") == ["demo-0.0.9.tar.gz", LAYOUT]
    assert validate(project / "dist" / LAYOUT).ok


def test_clean_with_nothing_there(project: Path, build: Build) -> None:
    assert build(project, "--clean-only", "-t", "agentsuite") == Outcome(0, "", "")


def test_clean_does_not_follow_a_link(project: Path, build: Build, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    (project / "dist").mkdir()
    (project / "dist" / LAYOUT).symlink_to(kept)
    assert build(project, "--clean-only", "-t", "agentsuite").status == 0
    assert outputs(project / "dist") == []
    assert outputs(kept) == ["file"]


def test_wheels_of_the_same_project_do_not_clean_suites(project: Path, build: Build) -> None:
    """`hatch build -c` removes `*.tar.gz` and `*.whl` by suffix: no output of ours may end so."""
    (project / "demo").mkdir()
    (project / "demo" / "__init__.py").write_text("")
    assert build(project, "-t", "agentsuite:layout,archive").status == 0
    assert build(project, "-c", "-t", "wheel", "-t", "sdist").status == 0
    assert {LAYOUT, ARCHIVE} <= set(outputs(project / "dist"))


def test_rebuilding_replaces_the_older_output(project: Path, build: Build) -> None:
    build(project, "-t", "agentsuite:layout,archive")
    old = snapshot(project / "dist")
    (project / "suite" / "instructions" / "helper.md").write_text("Help more.\n")
    build(project, "-t", "agentsuite:layout,archive")
    new = snapshot(project / "dist")
    assert outputs(project / "dist") == [LAYOUT, ARCHIVE]
    assert old[ARCHIVE] != new[ARCHIVE]
    assert validate(project / "dist" / LAYOUT).ok, "no blob of the older one is left"
    assert (project / "dist" / LAYOUT).stat().st_mode & 0o777 == 0o755
