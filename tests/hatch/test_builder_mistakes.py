"""A user's mistake ends the build with one clear message: exit status 1, no traceback, no output, no litter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.hatch.projects import (
    AGENT,
    Outcome,
    build_profile,
    pyproject,
    run_hatchling,
    snapshot,
    target_table,
    write_project,
    write_suite,
    write_yaml,
)

Build = Callable[..., Outcome]
Break = Callable[[Path], None]
T = "tool.hatch.build.targets.agentsuite"
PROVIDER = "suite/tool-providers/eyes/1.0.0"


def option(line: str) -> Break:
    def apply(project: Path) -> None:
        (project / "pyproject.toml").write_text(pyproject(tables=target_table(line)), encoding="utf-8")

    return apply


def without(path: str) -> Break:
    return lambda project: (project / path).unlink()


def holding(path: str, text: str) -> Break:
    def apply(project: Path) -> None:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")

    return apply


def document(path: str, **members: object) -> Break:
    """Return what adds members to a YAML document."""

    def apply(project: Path) -> None:
        file = project / path
        value = yaml.safe_load(file.read_text()) if file.exists() else {}
        write_yaml(file, {**value, **members})

    return apply


def without_payload(project: Path) -> None:
    (project / PROVIDER / "linux-amd64" / "run").unlink()
    (project / PROVIDER / "linux-amd64").rmdir()


def without_suite(project: Path) -> None:
    (project / "suite").rename(project / "elsewhere")


def two_profiles(project: Path) -> None:
    write_yaml(project / "suite/build-profiles/other.yaml", build_profile("amd64"))


def unsafe_link(project: Path) -> None:
    (project / "suite/instructions/more.md").symlink_to("/etc/passwd")


def name_that_is_not_utf8(project: Path) -> None:
    with open(bytes(project) + b"/suite/bad-\xff", "w"):
        pass


REFUSED = "The AgentSuite was refused, "
MISTAKES = [
    ("unknown option", option("typo = 1"), [f"Unknown options in `{T}`: typo. Available: "]),
    ("selection option", option('include = ["*"]'), [f"Options without effect in `{T}`: include. "]),
    ("wrong type", option("strict = 1"), [f"Field `{T}.strict` must be a boolean"]),
    (
        "several mistakes in the table",
        option('strict = 1\nsource = "/x"\nplatforms = 3'),
        [f"Field `{T}.{key}`" for key in ("source", "platforms", "strict")],
    ),
    ("name that is no identifier", option('name = "No Name"'), [f"Field `{T}.name` must be an identifier"]),
    ("missing source folder", without_suite, [f"{REFUSED}1 finding:", "the source folder `", "`source`"]),
    ("source is a file", option('source = "pyproject.toml"'), [f"{REFUSED}1 finding:", "is not a directory"]),
    (
        "missing agent file",
        document("suite/agentsuite.yaml", agents=[{"id": "ghost"}]),
        ["suite/agentsuite.yaml", "#/agents/0/path: there is no document at `agents/ghost.json`"],
    ),
    ("missing instructions", without("suite/instructions/helper.md"), ["suite/agents/helper.yaml", "instructions"]),
    ("missing build profile", without("suite/build-profiles/default.yaml"), ["the suite has no build profile"]),
    (
        "missing payload",
        without_payload,
        [f"{PROVIDER}/tool-provider.yaml", "linux-amd64"],
    ),
    (
        "wrong recorded digest",
        document(
            "suite/agents/helper.yaml", instructions={"path": "instructions/helper.md", "digest": f"sha256:{0:064}"}
        ),
        ["suite/agents/helper.yaml", "#/instructions/digest", f"sha256:{0:064}"],
    ),
    (
        "platform that no provider supports",
        option('platforms = ["linux/arm64"]'),
        ["linux/arm64", "helper"],
    ),
    (
        "agent that requires an unknown tool",
        document("suite/agents/helper.yaml", toolProviders=[{"id": "ears", "version": "1.0.0"}]),
        ["suite/agents/helper.yaml", "ears"],
    ),
    (
        "unknown build profile",
        option('build-profile = "ghost"'),
        ["there is no build profile `ghost`, which the configuration names", "known: `default`"],
    ),
    ("no profile chosen of two", two_profiles, ["there are 2 build profiles", "`build-profile`"]),
    ("unknown provider image", option('provider-images = ["ears"]'), ["`provider-images` names `ears`", "eyes"]),
    ("YAML that is not JSON", holding("suite/agents/helper.yaml", "description: yes\n"), ["helper.yaml:1:14"]),
    ("unknown member", document("suite/agents/helper.yaml", colour="red"), ["suite/agents/helper.yaml", "colour"]),
    ("not a mapping", holding("suite/agents/helper.yaml", "- a\n"), ["suite/agents/helper.yaml"]),
    ("empty document", holding("suite/agents/helper.yaml", ""), ["suite/agents/helper.yaml"]),
    ("two documents in one", holding("suite/agents/helper.json", "{}"), ["`agents/helper.json`", "remove all but one"]),
    ("another name written", option('name = "a"'), ["suite/agentsuite.yaml", "`name`"]),
    ("link out of the tree", unsafe_link, ["suite/instructions/more.md: this is a symlink to `/etc/passwd`"]),
    ("name that is not UTF-8", name_that_is_not_utf8, ["suite/bad-\\udcff: the path is not valid UTF-8"]),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    write_suite(root / "suite", architectures=("amd64", "arm64"), with_tool=True)
    (root / "pyproject.toml").write_text(pyproject())
    return root


def prepare(project: Path, what: str, mistake: Break) -> None:
    if what == "another name written":
        write_yaml(project / "suite/agentsuite.yaml", {"name": "b"})
    mistake(project)


def test_without_a_mistake_it_builds(project: Path, build: Build) -> None:
    outcome = build(project, "-t", "agentsuite")
    assert outcome.status == 0
    assert outcome.out == ""


@pytest.mark.parametrize(("what", "mistake", "said"), MISTAKES, ids=[mistake[0] for mistake in MISTAKES])
@pytest.mark.parametrize("version", ["layout", "archive"])
def test_mistake_is_explained_and_nothing_is_written(
    project: Path, build: Build, version: str, what: str, mistake: Break, said: list[str]
) -> None:
    """An exception that left the builder would fail this test, for hatchling runs in this process."""
    prepare(project, what, mistake)
    outcome = build(project, "-t", f"agentsuite:{version}")
    assert outcome.status == 1
    assert outcome.out == ""
    assert [text for text in said if text not in outcome.err] == [], outcome.err
    assert len(set(outcome.lines)) == len(outcome.lines), "nothing is said twice"
    assert list((project / "dist").iterdir()) == []


@pytest.mark.parametrize("what", ["unknown option", "missing agent file", "name that is not UTF-8"])
def test_mistake_in_a_process_of_its_own(project: Path, what: str) -> None:
    [(_, mistake, said)] = [item for item in MISTAKES if item[0] == what]
    prepare(project, what, mistake)
    outcome = run_hatchling(project, "-t", "agentsuite")
    assert outcome.status == 1
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    assert [text for text in said if text not in outcome.err] == []


@pytest.mark.parametrize("version", ["layout", "archive"])
def test_mistake_leaves_the_older_output_as_it_was(project: Path, build: Build, version: str) -> None:
    assert build(project, "-t", f"agentsuite:{version}").status == 0
    before = snapshot(project / "dist")
    without("suite/instructions/helper.md")(project)
    assert build(project, "-t", f"agentsuite:{version}").status == 1
    assert snapshot(project / "dist") == before


def test_independent_mistakes_are_reported_in_one_run(project: Path, build: Build) -> None:
    write_yaml(project / "suite/agents/second.yaml", {**AGENT, "colour": "red"})
    document("suite/agents/helper.yaml", flavour="sweet")(project)
    (project / "suite/instructions/second.md").write_text("x")
    outcome = build(project, "-t", "agentsuite")
    assert outcome.status == 1
    assert "colour" in outcome.err
    assert "flavour" in outcome.err


def test_output_that_cannot_be_written(project: Path, build: Build) -> None:
    """A file stands where a folder of the user's is named like our output: it is not replaced."""
    kept = project / "dist" / "demo-0.1.0.agentsuite"
    kept.mkdir(parents=True)
    (kept / "mine.txt").write_text("x")
    outcome = build(project, "-t", "agentsuite")
    assert outcome.status == 1
    [line] = outcome.lines
    assert line.startswith("The AgentSuite cannot be built: ")
    assert "holds more than an image layout" in line
    assert snapshot(project / "dist") == {"demo-0.1.0.agentsuite/mine.txt": b"x"}


def test_unknown_version_is_hatchlings_own_error(project: Path, build: Build) -> None:
    """It is raised before our code runs; pinned here so that a change of hatchling is seen."""
    with pytest.raises(ValueError, match="Unknown versions for target `agentsuite`: nope"):
        build(project, "-t", "agentsuite:nope")


def test_messages_do_not_repeat_credentials(tmp_path: Path, build: Build) -> None:
    project = write_project(tmp_path)
    secret = "sk-live-" + "a1B2c3D4" * 5
    document("suite/agents/helper.yaml", apiKey=secret)(project)
    outcome = build(project, "-t", "agentsuite")
    assert outcome.status == 1
    assert secret not in outcome.err
