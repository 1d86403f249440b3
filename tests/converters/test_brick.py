"""BRICK Core manifests 0.5: every MUST of sections 4, 5, 7, 8, 9 and 10 that a Manifest Validator can judge."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsuite_converters.brick import FORMAT
from tests.converters.documents import GUIDE, brick, sha256, write_files
from tests.converters.mutations import DROP, changed
from tests.converters.random_json import ANYTHING, mutated, places

SAMPLES = Path(__file__).parents[3] / "shared" / "specs" / "samples"

SCHEMA, ID, REF, TOOL = "BRICK-SCHEMA-001", "BRICK-ID-001", "BRICK-REF-001", "BRICK-TOOL-001"
ENDPOINT, A2A, FILE = "BRICK-ENDPOINT-001", "BRICK-A2A-001", "BRICK-FILE-001"
UNSUPPORTED, PRIVACY = "BRICK-UNSUPPORTED-001", "BRICK-PRIVACY-001"

SERVER = {"id": "berths", "transport": "stdio", "endpoint": "x", "allowedTools": []}
ADVERTISED = "/capabilities/0"
DIGEST = "/instructions/0/sha256"

# The change, then the finding: requirement and place (where the change is not the place), the category.
BROKEN: list[tuple[str, Any, str, str | None, str]] = [
    # section 4: what a manifest declares
    ("/brickVersion", DROP, SCHEMA, "", "json"),
    ("/brickVersion", "0.6", SCHEMA, None, "json"),
    ("/brickVersion", 0.5, SCHEMA, None, "json"),
    ("/agent", DROP, SCHEMA, "", "json"),
    ("/agent", [], SCHEMA, None, "json"),
    ("/agent/id", DROP, SCHEMA, "/agent", "json"),
    ("/agent/name", DROP, SCHEMA, "/agent", "json"),
    ("/agent/name", " ", SCHEMA, None, "json"),
    ("/agent/description", DROP, SCHEMA, "/agent", "json"),
    ("/agent/version", DROP, SCHEMA, "/agent", "json"),
    ("/agent/version", 2, SCHEMA, None, "json"),
    ("/agent/id", "harbour", ID, None, "graph"),
    ("/agent/id", "https://agents.example.net/a b", ID, None, "graph"),
    ("/agent/id", "https://agents.example.net/a\n", ID, None, "graph"),
    ("/goals", DROP, SCHEMA, "", "json"),
    ("/goals", [], SCHEMA, None, "json"),
    ("/goals/0", "", SCHEMA, None, "json"),
    ("/capabilities", DROP, SCHEMA, "", "json"),
    ("/capabilities", [], SCHEMA, None, "json"),
    ("/capabilities/1/id", DROP, SCHEMA, "/capabilities/1", "json"),
    ("/capabilities/1/description", DROP, SCHEMA, "/capabilities/1", "json"),
    ("/capabilities/0/inputs/0", 3, SCHEMA, None, "json"),
    ("/capabilities/1/advertise", "yes", SCHEMA, None, "json"),
    # section 4: references
    ("/capabilities/0/skillRefs/-", "winds", REF, "/capabilities/0/skillRefs/1", "graph"),
    ("/capabilities/0/skillRefs/0", "find-berth", REF, None, "graph"),
    ("/capabilities/0/toolRefs/0", "winds:list_free", REF, None, "graph"),
    ("/capabilities/0/toolRefs/0", "berths:lower_bridge", TOOL, None, "tool-provider"),
    ("/capabilities/0/toolRefs/0", "Berths:list_free", REF, None, "graph"),
    ("/capabilities/0/toolRefs/0", "berths:List_Free", TOOL, None, "tool-provider"),
    ("/capabilities/0/toolRefs/0", "list_free", TOOL, None, "tool-provider"),
    ("/capabilities/0/toolRefs/0", ":list_free", TOOL, None, "tool-provider"),
    ("/capabilities/0/toolRefs/0", "berths:", TOOL, None, "tool-provider"),
    ("/capabilities/0/toolRefs/0", "", TOOL, None, "tool-provider"),
    ("/capabilities/0/toolRefs/1", "almanac:tides", TOOL, None, "tool-provider"),
    # section 5: unknown members, unique identifiers
    ("/model", "some-model", SCHEMA, None, "json"),
    ("/$schema", "https://example.net/brick.json", SCHEMA, None, "json"),
    ("/extension", {}, SCHEMA, None, "json"),
    ("/extensions", [], SCHEMA, None, "json"),
    ("/runtime", "x", SCHEMA, None, "json"),
    ("/instructions/1/id", "guide", ID, None, "graph"),
    ("/skills/-", {"id": "tides", "uri": "https://example.net/s"}, ID, "/skills/1/id", "graph"),
    ("/mcpServers/-", SERVER, ID, "/mcpServers/2/id", "graph"),
    ("/capabilities/1/id", "find-berth", ID, None, "graph"),
    ("/mcpServers/-", {**SERVER, "id": "a:b"}, TOOL, "/mcpServers/2/id", "tool-provider"),
    # section 6: instructions and skills
    ("/instructions/0/id", DROP, SCHEMA, "/instructions/0", "json"),
    ("/instructions/0/uri", DROP, SCHEMA, "/instructions/0", "json"),
    ("/instructions/0/uri", " ", SCHEMA, None, "json"),
    ("/instructions/0/uri", "./absent.md", FILE, None, "path"),
    ("/skills/0/uri", "skills/absent/SKILL.md", FILE, None, "path"),
    ("/skills/0/uri", "skills/harbour-tides", FILE, None, "path"),
    ("/instructions/0/uri", "../GUIDE.md", FILE, None, "security"),
    ("/instructions/0/uri", "%2e%2e/%2e%2e/etc/passwd", FILE, None, "security"),
    ("/instructions/0/uri", "skills/../GUIDE.md", FILE, None, "security"),
    ("/instructions/0/uri", "/etc/passwd", FILE, None, "security"),
    ("/instructions/0/uri", "%2Fetc/passwd", FILE, None, "security"),
    ("/instructions/0/uri", "//example.net/GUIDE.md", FILE, None, "security"),
    ("/instructions/0/uri", "file:///etc/passwd", FILE, None, "security"),
    ("/instructions/0/uri", "C:/Windows/win.ini", FILE, None, "security"),
    ("/instructions/0/uri", "\\\\server\\share", FILE, None, "security"),
    ("/instructions/0/uri", "https://me:secret@example.net/GUIDE.md", FILE, None, "security"),
    ("/instructions/0/uri", ".\\GUIDE.md", FILE, None, "path"),
    ("/instructions/0/uri", ".", FILE, None, "path"),
    ("/instructions/0/uri", "GUIDE.md?v=2", FILE, None, "path"),
    ("/instructions/0/uri", "GUIDE%2.md", FILE, None, "path"),
    ("/instructions/0/uri", "GUIDE%ff.md", FILE, None, "path"),
    ("/instructions/0/uri", "GUIDE.md%00", FILE, None, "path"),
    ("/instructions/0/uri", "GUIDE%252Emd", FILE, None, "path"),
    ("/instructions/0/uri", "GUIDE.md/x", FILE, None, "path"),
    ("/instructions/0/uri", "x" * 300, FILE, None, "path"),
    (DIGEST, "0" * 64, FILE, None, "digest"),
    (DIGEST, sha256(GUIDE)[:-1], FILE, None, "digest"),
    (DIGEST, "md5:" + "0" * 32, FILE, None, "digest"),
    (DIGEST, None, FILE, None, "digest"),
    # section 7: MCP servers
    ("/mcpServers/0/id", DROP, SCHEMA, "/mcpServers/0", "json"),
    ("/mcpServers/0/transport", DROP, SCHEMA, "/mcpServers/0", "json"),
    ("/mcpServers/0/endpoint", DROP, SCHEMA, "/mcpServers/0", "json"),
    ("/mcpServers/1/allowedTools", DROP, SCHEMA, "/mcpServers/1", "json"),
    ("/mcpServers/0/transport", "sse", ENDPOINT, None, "tool-provider"),
    ("/mcpServers/0/endpoint", "http://berths.internal.example.net/mcp", ENDPOINT, None, "security"),
    ("/mcpServers/0/endpoint", "http://127.0.0.1.example.net/mcp", ENDPOINT, None, "security"),
    ("/mcpServers/0/endpoint", "/mcp", ENDPOINT, None, "security"),
    ("/mcpServers/0/endpoint", "berths.example.net", ENDPOINT, None, "security"),
    ("/mcpServers/0/endpoint", "wss://berths.example.net/mcp", ENDPOINT, None, "security"),
    ("/mcpServers/0/endpoint", "https:///mcp", ENDPOINT, None, "security"),
    ("/mcpServers/0/endpoint", "https:berths.example.net", ENDPOINT, None, "security"),
    ("/mcpServers/0/endpoint", "https://berths.example.net:99999/", ENDPOINT, None, "security"),
    ("/mcpServers/0/endpoint", "https://[::1/", ENDPOINT, None, "security"),
    ("/mcpServers/0/endpoint", "https://berths.example.net/a b", ENDPOINT, None, "security"),
    ("/mcpServers/0/endpoint", "https://user:pass@berths.example.net/", ENDPOINT, None, "security"),
    # section 8: A2A
    ("/a2a", True, SCHEMA, None, "json"),
    ("/a2a/enabled", 1, SCHEMA, None, "json"),
    ("/a2a/endpoint", DROP, A2A, "/a2a", "graph"),
    ("/a2a/protocolVersion", DROP, A2A, "/a2a", "graph"),
    ("/a2a/endpoint", "http://agents.example.net/a2a", ENDPOINT, None, "security"),
    ("/a2a/protocolVersion", 1.0, SCHEMA, None, "json"),
    # sections 5 and 9: an advertised capability discloses nothing private
    ("/capabilities/0/description", "Asks berths:list_free for you", PRIVACY, None, "security"),
    ("/capabilities/0/description", "See https://BERTHS.internal.example.net/mcp/.", PRIVACY, None, "security"),
    ("/capabilities/0/description", "Served by berths.internal.example.net", PRIVACY, None, "security"),
    ("/capabilities/0/description", "Follows skills/harbour%2Dtides/SKILL.md", PRIVACY, None, "security"),
    ("/capabilities/0/inputs/0", "reserve_berth", PRIVACY, None, "security"),
    ("/capabilities/0/outputs/0", "list_free", PRIVACY, None, "security"),
    (
        "/capabilities/0/description",
        "Will REFUSE to discuss prices -- of competitors, under any: circumstances!",
        PRIVACY,
        None,
        "security",
    ),
    ("/agent/description", "A front for berths.internal.example.net", PRIVACY, None, "security"),
    ("/instructions/1/uri", "http://policies.example.net/agents.md", FILE, None, "security"),
]

WARNED: list[tuple[str, Any, str, str | None]] = [
    ("/extensions/com.example.audit", {"level": 3}, UNSUPPORTED, None),
    ("/extensions/a~1b", None, UNSUPPORTED, None),
    ("/runtime/adk", {}, UNSUPPORTED, None),
    ("/mcpServers/0/endpoint", "http://localhost:8080/mcp", ENDPOINT, None),
    ("/mcpServers/0/endpoint", "http://127.8.0.1/mcp", ENDPOINT, None),
    ("/mcpServers/0/endpoint", "http://[::1]:9/mcp", ENDPOINT, None),
    ("/a2a/endpoint", "http://localhost/a2a", ENDPOINT, None),
    ("/mcpServers/1/endpoint", "https://almanac.example.net", ENDPOINT, None),
    ("/capabilities/0/advertise", False, A2A, "/a2a/enabled"),
    ("/capabilities/0/advertise", DROP, A2A, "/a2a/enabled"),
    ("/skills/-", {"id": "winds", "uri": "skills/winds/SKILL.md"}, FILE, "/skills/1/uri"),
    ("/mcpServers/0/allowedTools/-", "list_free", TOOL, "/mcpServers/0/allowedTools/2"),
    ("/capabilities/0/skillRefs/-", "tides", REF, "/capabilities/0/skillRefs/1"),
    ("/capabilities/0/toolRefs/-", "berths:list_free", TOOL, "/capabilities/0/toolRefs/2"),
    ("/capabilities/0/description", "Calls reserve_berth when asked", PRIVACY, None),
    ("/capabilities/0/inputs/0", "berths", PRIVACY, None),
]

ACCEPTED: list[tuple[str, Any]] = [
    ("/agent/id", "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66"),
    ("/agent/id", "https://[2001:db8::1]/a%20b"),
    ("/agent/owner", {"nested": [None, 1.5]}),
    ("/instructions", DROP),
    ("/runtime", DROP),
    ("/extensions", DROP),
    ("/a2a", DROP),
    ("/a2a", {"enabled": False}),
    ("/a2a", {}),
    ("/a2a/more", 1),
    ("/instructions/0/sha256", DROP),
    ("/instructions/0/sha256", sha256(GUIDE).upper()),
    ("/instructions/0/uri", "GUIDE.md#limits"),
    ("/instructions/0/uri", "././GUIDE.md"),
    ("/instructions/0/uri", "GUIDE%2Emd"),
    ("/instructions/0/more", True),
    ("/instructions/1/uri", "HTTPS://policies.example.net/agents.md?x=1"),
    ("/instructions/1/uri", "urn:example:policy"),
    ("/mcpServers/1/id", "alm"),
    ("/mcpServers/0/endpoint", "https://127.0.0.1/mcp"),
    ("/mcpServers/0/endpoint", "https://berths.example.net:8443/mcp?tenant=7"),
    ("/capabilities/1/description", "Asks berths:list_free; not advertised, so not published"),
    ("/capabilities/0/description", "Tells which berths are free, by the almanac"),
    ("/capabilities/0/description", "Find it at agents.example.net"),
    ("/capabilities/0/id", "tides-and-berths"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path)


def found(document: Any, folder: Path | None) -> list[tuple[str, str, str, str]]:
    return [(it.requirement, it.location, it.category, it.severity) for it in FORMAT.check(document, folder)]


def broken(pointer: str, value: Any) -> Any:
    document = changed(brick(), pointer, value)
    if pointer == "/mcpServers/1/id":
        changed(document, "/capabilities/0/toolRefs/1", f"{value}:tides:today")
    return document


def test_a_complete_manifest_has_no_findings(folder: Path) -> None:
    """Section 4: ids are unique within each list only, as Appendix A shows; a tool's name may hold a colon."""
    assert list(FORMAT.check(brick(), folder)) == []


@pytest.mark.parametrize(("pointer", "value", "requirement", "place", "category"), BROKEN)
def test_one_fault_gives_its_finding_and_no_other(
    folder: Path, pointer: str, value: Any, requirement: str, place: str | None, category: str
) -> None:
    document = broken(pointer, value)
    if "uri" in pointer:  # a digest would be wrong too
        holder = document["skills" if "skills" in pointer else "instructions"]
        holder[int(pointer.split("/")[2])].pop("sha256", None)
    if value is DROP and pointer in {"/mcpServers/0/id", "/mcpServers/1/allowedTools"}:
        document["capabilities"][0]["toolRefs"] = []
    where = f"#{pointer if place is None else place}"
    assert found(document, folder) == [(requirement, where, category, "error")]
    (finding,) = FORMAT.check(document, folder)
    assert finding.message.isprintable()
    assert "secret" not in f"{finding}"
    assert ":pass@" not in f"{finding}"


@pytest.mark.parametrize(("pointer", "value", "requirement", "place"), WARNED)
def test_what_is_only_doubtful_is_a_warning(
    folder: Path, pointer: str, value: Any, requirement: str, place: str | None
) -> None:
    (finding,) = FORMAT.check(broken(pointer, value), folder)
    assert (finding.requirement, finding.location) == (requirement, f"#{pointer if place is None else place}")
    assert not finding.is_error


@pytest.mark.parametrize(("pointer", "value"), ACCEPTED)
def test_what_the_text_allows_has_no_findings(folder: Path, pointer: str, value: Any) -> None:
    document = broken(pointer, value)
    if "uri" in pointer:
        document["instructions"][0].pop("sha256", None)
    assert list(FORMAT.check(document, folder)) == []


def test_independent_faults_are_all_found(folder: Path) -> None:
    document = brick()
    document["mcpServers"][0]["endpoint"] = "/mcp"
    document["capabilities"][0]["skillRefs"] = ["nowhere"]
    document["skills"] = "none"
    document["instructions"][0]["sha256"] = "0" * 64
    document["extensions"] = {"a": 1, "b": 2}
    requirements = [finding.requirement for finding in FORMAT.check(document, folder)]
    assert requirements == [SCHEMA, REF, ENDPOINT, FILE, UNSUPPORTED, UNSUPPORTED]


@pytest.mark.parametrize("identifier", ["berths:x", "a:b", ":", "urn:x"])
def test_a_server_id_holds_no_colon(folder: Path, identifier: str) -> None:
    """Section 4: `server-id:tool-name` is split in one way only, so the declaration is refused, not the reference."""
    document = changed(brick(), "/mcpServers/-", {**SERVER, "id": identifier})
    assert found(document, folder) == [(TOOL, "#/mcpServers/2/id", "tool-provider", "error")]


def test_many_wrong_references_are_told_in_linear_time() -> None:
    document = brick()
    document["skills"] = [{"id": f"s{number}", "uri": "https://example.net/s"} for number in range(5_000)]
    document["mcpServers"][0]["allowedTools"] = [f"t{number}" for number in range(5_000)]
    document["capabilities"][0]["skillRefs"] = [f"x{number}" for number in range(5_000)]
    document["capabilities"][0]["toolRefs"] = [f"berths:x{number}" for number in range(5_000)]
    start = time.process_time()
    assert len(found(document, None)) == 10_000
    assert time.process_time() - start < 5, "looking through all names for each takes a minute"


# --- nothing raises ----------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=ANYTHING)
def test_any_json_is_judged(folder: Path, value: Any) -> None:
    assert all(finding.requirement.startswith("BRICK-") for finding in FORMAT.check(value, folder))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_a_manifest_is_judged(folder: Path, data: st.DataObject) -> None:
    document = mutated(brick(), data)
    for finding in FORMAT.check(document, folder):
        assert finding.location.startswith("#")
        assert str(finding).isprintable()


def test_places_of_a_manifest_are_many() -> None:
    """The mutations above have something to change."""
    assert len(list(places(brick()))) > 60


# --- the sample of the text --------------------------------------------------------------------------------------


@pytest.fixture
def appendix_a(tmp_path: Path) -> Path:
    sample = SAMPLES / "brick-appendix-a.json"
    if not sample.exists():
        pytest.skip("the samples printed in the specification texts are not beside this checkout")
    for path in ("AGENTS.md", "skills/subscription-help/SKILL.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("Made up.\n")
    (tmp_path / "manifest.json").write_bytes(sample.read_bytes())
    return tmp_path / "manifest.json"


def test_appendix_a_is_accepted(appendix_a: Path) -> None:
    assert FORMAT.check_file(appendix_a) == []


def test_appendix_a_without_its_files_is_refused(appendix_a: Path) -> None:
    (appendix_a.parent / "AGENTS.md").unlink()
    (finding,) = FORMAT.check_file(appendix_a)
    assert finding.location == f"{appendix_a}#/instructions/0/uri"


def test_check_file_reads_yaml_and_names_the_line(folder: Path) -> None:
    import yaml

    (folder / "m.yaml").write_text(
        yaml.safe_dump(changed(brick(), "/capabilities/0/toolRefs/0", "a:b"), sort_keys=False)
    )
    (finding,) = FORMAT.check_file(folder / "m.yaml")
    assert finding.line is not None
    assert (folder / "m.yaml").read_text().splitlines()[finding.line - 1].strip() == "- a:b"


def test_check_file_of_what_is_no_json(folder: Path) -> None:
    (folder / "m.json").write_text('{"brickVersion": "0.5", // no comments here\n}')
    (finding,) = FORMAT.check_file(folder / "m.json")
    assert (finding.requirement, finding.line) == ("BRICK-JSON-001", 1)
    (folder / "m.json").write_text(json.dumps([]))
    assert [it.requirement for it in FORMAT.check_file(folder / "m.json")] == [SCHEMA]
