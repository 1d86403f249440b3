"""Rules of sections 5 to 11 that no table of another module reaches; docs/conformance.md names these tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.jsondoc import digest_bytes
from hatch_agentsuite.validation import validate
from tests.source import trees
from tests.source.trees import only_error, write_tree
from tests.validation.carriers import TarEntry
from tests.validation.contents import (
    CATALOG,
    CLOCK,
    DEFAULT,
    EVALS,
    LEAD,
    OPA,
    REVIEWER,
    SEARCH,
    TAIL,
    WRITER,
    ZONES,
    ref,
)
from tests.validation.suites import SuiteBuilder
from tests.validation.tables import Row, act, check, faults, row

ROOT = "agentsuite.json"
INSTRUCTIONS = f"{WRITER}#/instructions/path"


# --- paths of manifests (5.1) ---


def test_a_path_starts_at_the_content_root(tmp_path: Path) -> None:
    """5.1: not at the folder of the document that holds it."""
    suite = SuiteBuilder()
    suite.files["agents/prompt.md"] = b"Hello.\n"
    suite.edit(WRITER, "instructions/path", "agents/prompt.md")
    assert faults(validate(suite.directory(tmp_path / "root"))) == []
    suite.edit(WRITER, "instructions/path", "prompt.md")
    assert faults(validate(suite.directory(tmp_path / "folder"))) == [("AS-GRAPH-001", "graph", INSTRUCTIONS)]


@pytest.mark.parametrize("folder", ["", "$HOST/", "${HOST}/", "~/", "%HOST%/"])
def test_a_path_is_nothing_but_a_name(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """5.1: no variable, no home and no working folder is looked at, though each would lead to a file of the host."""
    path = f"{folder}prompt.md"
    (tmp_path / "prompt.md").write_bytes(b"Hello.\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOST", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    suite = SuiteBuilder()
    suite.edit(WRITER, "instructions", {"path": path, "digest": digest_bytes(b"Hello.\n")})
    assert faults(validate(suite.directory(tmp_path / "absent"))) == [("AS-GRAPH-001", "graph", INSTRUCTIONS)]
    suite.files[path] = b"Hello.\n"
    assert faults(validate(suite.directory(tmp_path / "present"))) == []


@pytest.mark.parametrize("path", ["/etc/hostname", "https://example.org/prompt.md", "file:///etc/hostname"])
def test_a_path_is_no_address(path: str, engine: str, tmp_path: Path) -> None:
    """5.1: host paths and URLs are no content paths, so nothing is ever resolved."""
    check(row(WRITER, "instructions/path", path, "json"), "AS-JSON-001", tmp_path, engine)


@pytest.mark.parametrize(("count", "expected"), [(511, []), (512, ["AS-GRAPH-001", "AS-PATH-001"])])
def test_the_bound_of_a_path_counts_bytes(count: int, expected: list[str], tmp_path: Path) -> None:
    """A schema counts characters: 1,024 bytes are allowed, a file of a longer path joins no content."""
    path = "a/" + "\u00e9" * count
    suite = SuiteBuilder()
    suite.files[path] = b"Hello.\n"
    suite.edit(WRITER, "instructions/path", path)
    assert sorted(name for name, _, _ in faults(validate(suite.layout(tmp_path / "layout")))) == expected


# --- closed descriptors (4.2, 5.3) ---

DESCRIPTORS = [
    row(CLOCK, "variants/0/sbom/urls", ["https://example.org/sbom"], "json"),
    row(CLOCK, "variants/0/provenance/data", "e30=", "json"),
    row(DEFAULT, "harness/0/image/urls", ["https://example.org/image"], "json"),
]


@pytest.mark.parametrize("found", DESCRIPTORS, ids=str)
def test_descriptors_of_documents_have_no_urls_and_no_data(found: Row, engine: str, tmp_path: Path) -> None:
    """4.2: absent there as well; these documents are closed."""
    check(found, "AS-JSON-001", tmp_path, engine)


# --- evaluations (8.2) ---


def _case_is_a_symlink(suite: SuiteBuilder) -> None:
    suite.seal().documents.pop(TAIL)
    suite.files["metadata/tail.json"] = b"{}"
    suite.symlinks[TAIL] = "../../../metadata/tail.json"


def test_a_case_is_a_regular_file(tmp_path: Path) -> None:
    """8.2: the index is held to it in the table of AS-GRAPH-001."""
    found = act("case is a symlink", _case_is_a_symlink, "graph", f"{EVALS}#/cases/1/path")
    check(found, "AS-GRAPH-001", tmp_path)


@pytest.mark.parametrize(("path", "holder"), [(EVALS, f"{WRITER}#/evals/0/path"), (TAIL, f"{EVALS}#/cases/1/path")])
def test_index_and_cases_are_no_hardlinks(path: str, holder: str, tmp_path: Path) -> None:
    """8.2: regular files; only a layer can tell."""
    suite = SuiteBuilder().seal()
    suite.files["metadata/copy.json"] = suite.bytes_of()[path]
    suite.documents.pop(path)
    suite.hardlinks[path] = "metadata/copy.json"
    assert ("AS-GRAPH-001", "graph", holder) in faults(validate(suite.layout(tmp_path / "layout", False)))


def _instructions_in_a_subtree(suite: SuiteBuilder) -> None:
    suite.files["evals/writer/prompt.md"] = b"Hello.\n"
    suite.edit(WRITER, "instructions/path", "evals/writer/prompt.md")


def _agent_in_a_subtree(suite: SuiteBuilder) -> None:
    suite.move(REVIEWER, "evals/writer/cases/reviewer.json")
    suite.edit(ROOT, "agents/1/path", "evals/writer/cases/reviewer.json")


def _evals_is_a_link(suite: SuiteBuilder) -> None:
    """Hide evaluations that no agent references behind a link."""
    for path in (EVALS, LEAD, TAIL):
        suite.documents.pop(path)
    suite.edit(WRITER, "evals", [])
    suite.folders = {path: mode for path, mode in suite.folders.items() if not path.startswith("evals")}
    suite.files["metadata/hidden/writer/index.json"] = b"{}"
    suite.symlinks["evals"] = "metadata/hidden"


SUBTREES = [
    act("instructions in a subtree", _instructions_in_a_subtree, "evaluation", "evals/writer/prompt.md"),
    act("an agent in a subtree", _agent_in_a_subtree, "evaluation", "evals/writer/cases/reviewer.json"),
    act("evals is a link", _evals_is_a_link, "evaluation", "evals"),
    row(TAIL, "id", "Lead-1", "evaluation", f"{EVALS}#/cases/1/path"),
]


@pytest.mark.parametrize("found", SUBTREES, ids=str)
def test_a_subtree_holds_its_index_and_cases_alone(found: Row, engine: str, tmp_path: Path) -> None:
    """8.2: also where another document refers to what lies there; 8.2.1: a case id stands once."""
    check(found, "AS-EVAL-001", tmp_path, engine)


# --- ToolProviders (9) ---


def test_conflicting_definitions_do_not_coexist(tmp_path: Path) -> None:
    """9: equal id and version, another manifest, each with its own right digest."""
    suite = SuiteBuilder()
    path = "tool-providers/opa/1.0.0-other/tool-provider.json"
    suite.documents[path] = {**SuiteBuilder().documents[OPA], "revision": "another"}
    suite.at(CATALOG, "toolProviders").append(ref(path, id="opa", version="1.0.0"))
    report = validate(suite.directory(tmp_path / "suite"))
    assert faults(report) == [("AS-GRAPH-001", "graph", f"{CATALOG}#/toolProviders/5")]
    entries = suite.at(CATALOG, "toolProviders")
    assert entries[2]["digest"] != entries[5]["digest"]


IDENTITIES = [
    row(ZONES, "version", "2026.1.1", "graph", f"{CATALOG}#/toolProviders/4/version"),
    row(CATALOG, "toolProviders/3/version", "1.0.1", "graph"),
]


@pytest.mark.parametrize("found", IDENTITIES, ids=str)
def test_catalog_and_manifest_name_one_version(found: Row, engine: str, tmp_path: Path) -> None:
    """9.1: an entry binds the exact version; the id is in the table of AS-GRAPH-001."""
    check(found, "AS-GRAPH-001", tmp_path, engine)


FORBIDDEN = [
    "clientSecret", "callbackUrl", "consentState", "accessToken", "refreshToken", "expiresAt", "revoked", "account",
    "connectionId",
]  # fmt: skip


@pytest.mark.parametrize("place", ["", "/delegatedAuthorization", "/delegatedAuthorization/credential"])
@pytest.mark.parametrize("member", FORBIDDEN)
def test_an_authorization_has_no_room_for_a_grant(place: str, member: str, tmp_path: Path) -> None:
    """9.9: each kind of state that an artifact must not hold, in the tool and in both objects below."""
    check(row(SEARCH, f"tools/0{place}/{member}", "x", "json"), "AS-JSON-001", tmp_path)


@pytest.mark.parametrize("where", ["service", "scope", "credential/bindingRef"])
def test_an_authorization_holds_no_token_in_place_of_a_name(where: str, tmp_path: Path) -> None:
    """9.9 with AS-SECRET-001: a token that is spelled like an identifier is a token all the same."""
    place = f"tools/0/delegatedAuthorization/{where}"
    token = "gh" + "p_" + "iq5wse9xs99t8sdqvexn7r2k4m6p8z1c3v5b"
    check(row(SEARCH, place, token, "security"), "AS-SECRET-001", tmp_path)


# --- names that inject code ---


@pytest.mark.parametrize("name", ["PYTHONHOME", "ENV", "DYLD_INSERT_LIBRARIES"])
def test_an_endpoint_name_that_can_inject_code_is_a_warning(name: str, tmp_path: Path) -> None:
    """The rule for names of environment variables holds for a model's endpoint too."""
    report = check(row(WRITER, "model/endpointEnv", name), "AS-PROVIDER-001", tmp_path)
    assert [(found.severity, found.category, found.location) for found in report.findings] == [
        ("warning", "security", f"{WRITER}#/model/endpointEnv")
    ]


# --- build profiles (11) ---


@pytest.mark.parametrize("member", ["runtimeBase", "harness"])
def test_one_image_for_one_platform(member: str, tmp_path: Path) -> None:
    """11, 10.1: exactly one entry of each list serves a platform."""
    first: Any = SuiteBuilder().at(DEFAULT, f"{member}/0")
    check(row(DEFAULT, f"{member}/2", first, "graph", f"{member}/2/platform"), "AS-GRAPH-001", tmp_path)


def test_a_listed_folder_is_owned_by_root(tmp_path: Path) -> None:
    """9.4: payload entries are root's, a folder like a file; only a layer can tell."""
    suite = SuiteBuilder()
    path = "tool-providers/clock/1.0.0/linux-amd64/bin"
    del suite.folders[path]
    suite.more.append(TarEntry(path, b"5", 0o755, owner=1000))
    assert faults(validate(suite.layout(tmp_path / "layout"))) == [
        ("AS-PROVIDER-001", "tool-provider", f"{CLOCK}#/variants/0/files/1/uid"),
        ("AS-PROVIDER-001", "tool-provider", f"{CLOCK}#/variants/0/files/1/gid"),
    ]


# --- packing ---


@pytest.mark.parametrize(("version", "packed"), [("1.0.0-rc.1", True), ("1.0.0+b", True), ("1.0.0-rc.1+b", False)])
def test_a_version_that_the_reference_cannot_read_is_not_packed(version: str, packed: bool, tmp_path: Path) -> None:
    """A validator takes all of SemVer; what is packed has to be read by the reference implementation too."""
    files = trees.minimal() | trees.bundled(version=version)
    files["agents/writer.yaml"]["toolProviders"] = [trees.requirement("clock", version)]
    root = write_tree(tmp_path / "suite", files)
    if packed:
        catalog = trees.packed(root)["tool-providers/catalog.json"]
        assert [item["version"] for item in catalog["toolProviders"]] == [version]
        return
    finding = only_error(root)
    assert (finding.requirement, finding.category) == ("SOURCE-MATCH-001", "tool-provider")
    assert finding.location == f"tool-providers/clock/{version}/tool-provider.yaml#/version"
    assert "reference implementation" in finding.message
