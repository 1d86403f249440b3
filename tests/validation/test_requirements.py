"""The registry of requirements: complete, used, and what the documentation says (15.1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from hatch_agentsuite.validation import validate
from hatch_agentsuite.validation.requirements import REQUIREMENTS, SUITE_REQUIREMENTS, Requirement
from tests.validation import contents
from tests.validation.suites import DROP, STALE, SuiteBuilder

ROOT = Path(__file__).parents[2]
ID = re.compile(r"\b(?:AS|SOURCE)-[A-Z]+(?:-[A-Z]+)*-[0-9]{3}\b")
SPECIFIED = (
    "AS-OCI-001",
    "AS-JSON-001",
    "AS-PATH-001",
    "AS-ID-001",
    "AS-GRAPH-001",
    "AS-EVAL-001",
    "AS-COMPOSE-001",
    "AS-PROVIDER-COMPOSE-001",
    "AS-PROVIDER-001",
    "AS-SECRET-001",
    "AS-CAP-001",
    "AS-DRAFT-001",
)


def page() -> str:
    return " ".join((ROOT / "docs" / "validation.md").read_text(encoding="utf-8").split())


def section(requirement: Requirement) -> str:
    """Return the part of the page about a requirement, its white space made single."""
    text = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    heading = f"### {requirement.id}: {requirement.title}\n"
    assert text.count(heading) == 1, heading
    return re.split(r"^##", text.split(heading)[1], maxsplit=1, flags=re.MULTILINE)[0]


def test_registry_has_the_specified_requirements() -> None:
    """15.1 lists twelve, in this order."""
    assert SUITE_REQUIREMENTS == SPECIFIED
    assert tuple(name for name in REQUIREMENTS if name.startswith("AS-")) == SPECIFIED
    assert all(name == requirement.id for name, requirement in REQUIREMENTS.items())


def test_code_and_registry_have_the_same_requirements() -> None:
    """Every id that any finding can have is registered, and every registered one is used."""
    used: set[str] = set()
    for folder in ("hatch_agentsuite", "converters", "schemas"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "requirements.py":
                used.update(re.findall(rf'"({ID.pattern})"', path.read_text(encoding="utf-8")))
    assert used == set(REQUIREMENTS)


@pytest.mark.parametrize("requirement", REQUIREMENTS.values(), ids=lambda item: item.id)
def test_texts_are_sentences(requirement: Requirement) -> None:
    """A title without a full stop, two sentences with one, a section for what the specification knows."""
    assert re.fullmatch(r"[A-Z][A-Za-z -]+", requirement.title)
    for text in (requirement.checks, requirement.mend):
        assert re.fullmatch(r"[A-Z].{20,}\.", text)
        assert ". " not in text
    assert bool(requirement.section) is requirement.id.startswith("AS-")
    assert len({getattr(requirement, field.name) for field in fields(requirement)}) == len(fields(requirement))


def test_titles_differ() -> None:
    assert len({requirement.title for requirement in REQUIREMENTS.values()}) == len(REQUIREMENTS)


def test_page_has_the_same_requirements() -> None:
    assert set(ID.findall(page())) == set(REQUIREMENTS)


@pytest.mark.parametrize("requirement", [REQUIREMENTS[name] for name in SPECIFIED], ids=lambda item: item.id)
def test_page_says_what_the_registry_says(requirement: Requirement) -> None:
    """What is checked, where the specification asks for it, an example, how to mend it."""
    text = " ".join(section(requirement).split())
    assert requirement.checks in text
    assert requirement.mend in text
    assert f"(section {requirement.section})" in text or f"(sections {requirement.section})" in text


@pytest.mark.parametrize(
    "requirement",
    [item for item in REQUIREMENTS.values() if item.id.startswith("SOURCE-")],
    ids=lambda item: item.id,
)
def test_page_lists_the_requirements_of_authoring_trees(requirement: Requirement) -> None:
    assert f"| `{requirement.id}` | {requirement.checks} | {requirement.mend} |" in page()


Example = Callable[[SuiteBuilder, Path], Path]


def edited(document: str, where: str, value: object) -> Example:
    def make(builder: SuiteBuilder, path: Path) -> Path:
        builder.edit(document, where, value)
        return builder.directory(path)

    return make


def with_file(name: str, data: bytes) -> Example:
    def make(builder: SuiteBuilder, path: Path) -> Path:
        builder.files[name] = data
        return builder.directory(path)

    return make


def with_link(builder: SuiteBuilder, path: Path) -> Path:
    builder.symlinks["metadata/link"] = "../../outside"
    return builder.directory(path)


def with_two_layers(builder: SuiteBuilder, path: Path) -> Path:
    return builder.layout(path, manifest=lambda document: document["layers"].append(dict(document["layers"][0])))


EXAMPLES: dict[str, Example] = {
    "AS-OCI-001": with_two_layers,
    "AS-JSON-001": edited(contents.WRITER, "model/temperature", 1),
    "AS-PATH-001": with_link,
    "AS-ID-001": edited(contents.WRITER, "instructions/digest", STALE),
    "AS-GRAPH-001": edited(contents.COORDINATOR, "invokes/0/agent", "editor"),
    "AS-EVAL-001": edited(contents.LEAD, "assertions/2/pattern", "(?=x)"),
    "AS-COMPOSE-001": edited(contents.WRITER_AMD64, "toolProviders/1", DROP),
    "AS-PROVIDER-COMPOSE-001": edited(contents.OPA_AMD64, "platform", dict(contents.ARM64)),
    "AS-PROVIDER-001": with_file("schemas/input.json", b'{"$ref": "https://example.com/schema.json"}'),
    "AS-SECRET-001": with_file("instructions/writer.md", b"Use " + b"AKIA" + b"QX7M2ZPL4TBWR6NV" + b".\n"),
    "AS-CAP-001": edited("agentsuite.json", "capabilities", []),
    "AS-DRAFT-001": edited("agentsuite.json", "extensions/1/critical", True),
}


@pytest.mark.parametrize("name", SPECIFIED)
def test_example_of_the_page(tmp_path: Path, name: str) -> None:
    """The page shows what the validator says of a suite with that fault; `...` stands for what is left out."""
    [shown] = re.findall(r"^```text\n(.*?)\n```$", section(REQUIREMENTS[name]), re.MULTILINE | re.DOTALL)
    pattern = ".*".join(map(re.escape, shown.split("...")))
    findings = [item for item in validate(EXAMPLES[name](SuiteBuilder(), tmp_path / "suite")).findings if item.is_error]
    said = [str(finding) for finding in findings if finding.requirement == name]
    assert any(re.fullmatch(pattern, text) for text in said), said
