"""AS-JSON-001: normative JSON is strict, duplicate-free, closed and schema-valid (specification 5.2, 5.3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.jsondoc import JSONLimits, digest_bytes
from hatch_agentsuite.limits import Limits
from hatch_agentsuite.validation import validate
from tests.validation.contents import (
    CATALOG,
    CLOCK,
    COORDINATOR,
    DEFAULT,
    EVALS,
    LEAD,
    OPA,
    OPA_AMD64,
    REVIEWER,
    SEARCH,
    SMALL,
    WRITER,
    WRITER_AMD64,
)
from tests.validation.suites import DROP, Kept, SuiteBuilder
from tests.validation.tables import Change, Row, act, check, faults, row

REQUIREMENT = "AS-JSON-001"
ROOT = "agentsuite.json"
IMAGE = SuiteBuilder().at(DEFAULT, "harness/0/image/digest")


def _raw(path: str, old: bytes, new: bytes) -> Change:
    """Write a document in other bytes of the same value, or of no value at all."""

    def change(suite: SuiteBuilder) -> None:
        data = suite.seal().bytes_of()[path]
        assert old in data
        suite.raw[path] = data.replace(old, new, 1)

    return change


def raw(label: str, old: bytes, new: bytes, place: str = "", path: str = WRITER) -> Row:
    return act(label, _raw(path, old, new), "json", f"{path}#{place}")


TEXT = b'"The writer."'
ROWS = [
    # strict (5.3)
    raw("a member twice", b'"id":"writer"', b'"id":"writer","id":"writer"', "/id"),
    raw("a nested member twice", b'"model":"any', b'"protocol":"x","model":"any', "/model/protocol"),
    raw("a name twice at the top of the suite", b'"name":"newsroom"', b'"name":"a","name":"b"', "/name", ROOT),
    raw("a byte-order mark", b'{"description"', b'\xef\xbb\xbf{"description"'),
    raw("a raw 0xFF byte in a string", TEXT, b'"\xff"'),
    raw("a lone high surrogate", TEXT, rb'"\ud800"', "/description"),
    raw("a high surrogate and another escape", TEXT, rb'"\ud800\u0061"', "/description"),
    raw("text after the value", b'{"description"', b'{}{"description"'),
    raw("a comment", b'{"description"', b'/**/{"description"'),
    raw("a trailing comma", TEXT + b",", TEXT + b",,"),
    raw("NaN", TEXT, b"NaN", "/description"),
    raw("Infinity", TEXT, b"-Infinity", "/description"),
    raw("an integer beyond 2^53", TEXT, b"9007199254740993", "/description"),
    # The reference takes 2^53; RFC 7493 ends at 2^53 - 1, as 2^53 + 1 becomes the same double.
    raw("the integer 2^53", TEXT, b"9007199254740992", "/description"),
    raw("a number that is too large", TEXT, b"1e400", "/description"),
    raw("an integer of many digits", TEXT, b"1" * 100_000, "/description"),
    raw("nested 101 levels", TEXT, b"[" * 100 + b"]" * 100),
    act("a broken eval case", _raw(LEAD, b'"id":"Lead-1"', b'"id"'), "json", f"{LEAD}#"),
    # closed
    row(ROOT, "policy", {"path": "x", "digest": IMAGE}, "json"),
    row(ROOT, "toolCatalog", {}, "json"),
    row(ROOT, "toolCompositions", [], "json"),
    row(ROOT, "Name", "newsroom", "json"),
    row(WRITER, "tools", [], "json"),
    row(WRITER_AMD64, "tools", [], "json"),
    row(OPA, "operations", [], "json"),
    row(OPA, "provider", {}, "json"),
    row(CATALOG, "tools", [], "json"),
    row(WRITER, "model/temperature", 1, "json"),
    row(SEARCH, "tools/0/delegatedAuthorization/token", "x", "json"),
    row(SEARCH, "tools/0/delegatedAuthorization/credential/connection", "x", "json"),
    row(SEARCH, "remote/url", "https://example.org", "json"),
    row(SEARCH, "remote/headers/0/value", "Bearer x", "json"),
    row("metadata/files.json", "surprise", 1, "json"),
    # null, missing, and the other kinds of fault of a schema
    row(WRITER, "description", None, "json"),
    row(WRITER, "toolProviders", None, "json"),
    row(ROOT, "capabilities", None, "json"),
    row(ROOT, "capabilities", ["bundled-stdio-mcp"] * 2, "json"),
    row(CLOCK, "variants/0/sbom", None, "json"),
    row(CLOCK, "extensions", None, "json"),
    row(WRITER, "model", DROP, "json", ""),
    row(WRITER_AMD64, "toolProviders", DROP, "json", ""),
    row(ROOT, "compositions", DROP, "json", ""),
    row(CATALOG, "toolProviders", DROP, "json", ""),
    row(ROOT, "extensions/1/critical", DROP, "json", "extensions/1"),
    row(WRITER, "evals", None, "json"),
    row(WRITER, "description", "x" * 4097, "json"),
    raw("an integer written 1.0", b'"maxDepth":1', b'"maxDepth":1.0', "/invokes/0/maxDepth", COORDINATOR),
    raw("an integer written 1e0", b'"maxDepth":1', b'"maxDepth":1e0', "/invokes/0/maxDepth", COORDINATOR),
    row(COORDINATOR, "invokes/0/maxConcurrent", 0, "json"),
    row(WRITER, "toolProviders/0/version", "^1.0.0", "json"),
    row(WRITER, "toolProviders/0/version", "latest", "json"),
    row(ROOT, "agents/0/digest", Kept("sha256:" + "A" * 64), "json"),
    row(ROOT, "agents/0/digest", Kept("a" * 64), "json"),
    row(ROOT, "agents/0/digest", Kept("sha256:" + "a" * 63), "json"),
    row(ROOT, "agents/0/path", "../agents/coordinator.json", "json"),
    row(ROOT, "agents/0/path", "agents//coordinator.json", "json"),
    row(ROOT, "agents/0/path", "/agents/coordinator.json", "json"),
    row(ROOT, "agents/0/path", "agents\\coordinator.json", "json"),
    row(OPA, "mediaType", "application/vnd.agentsuite.tool-provider.v1+json", "json"),
    row(OPA_AMD64, "mediaType", "application/vnd.agentsuite.tool_provider.composition.v1+json", "json"),
    row(OPA, "retained", False, "json"),
    row(OPA, "variants", [], "json"),
    row(OPA, "tools", [], "json"),
    row(SEARCH, "remote", DROP, "json", ""),
    row(OPA, "tools/0/name", "UseOpa", "json"),
    row(SEARCH, "tools/0/effect", DROP, "json", "tools/0"),
    row(SEARCH, "tools/0/approval", DROP, "json", "tools/0"),
    row(SEARCH, "tools/1/approval", True, "json"),
    row(SEARCH, "tools/1/effect", "consequential", "json"),
    row(SEARCH, "tools/0/delegatedAuthorization/credential/resolution", "packaged", "json"),
    row(SEARCH, "tools/0/delegatedAuthorization/credential/bindingRef", "https://x", "json"),
    row(CLOCK, "tools/0/effects/0", "", "json"),
    row(CLOCK, "tools/0/effects", ["a", "a"], "json"),
    row(CLOCK, "variants/0/arguments", ["${HOME}"], "json", "variants/0/arguments/0"),
    row(CLOCK, "variants/0/arguments", ["$(id)"], "json", "variants/0/arguments/0"),
    row(CLOCK, "variants/0/searchPath", ["bin"], "json", "variants/0/searchPath/0"),
    row(CLOCK, "variants/0/writablePaths", ["/tmp/../etc"], "json", "variants/0/writablePaths/0"),
    row(CLOCK, "variants/0/network/0/port", 0, "json"),
    row(CLOCK, "variants/0/environment/1/delivery", DROP, "json", "variants/0/environment/1"),
    row(CLOCK, "variants/0/files/0/digest", DROP, "json", "variants/0/files/0"),
    row(CLOCK, "variants/0/files/0/uid", 1000, "json"),
    row(CLOCK, "variants/0/files/0/mode", 512, "json"),
    row(CLOCK, "variants/0/sbom/digest", "sha256:1", "json"),
    row(SEARCH, "remote/endpointRef", "https://search.example", "json"),
    row(SEARCH, "remote/headers/1/name", "Content-Type", "json"),
    row(SEARCH, "remote/headers/1/name", "mcp-session-id", "json"),
    row(SEARCH, "remote/headers/0/secretRef", "secret", "json"),
    row(SEARCH, "remote/headers/0", {"name": "Cookie", "secretRef": "a=b"}, "json", "remote/headers/0/secretRef"),
    row(SEARCH, "remote/headers/0", {"name": "X-API-Key", "secretRef": "k"}, "json", "remote/headers/0/secretRef"),
    row(WRITER_AMD64, "toolProviders/0/variantDigest", DROP, "json", "toolProviders/0"),
    row(OPA_AMD64, "variantDigest", DROP, "json", ""),
    row(SEARCH, "remote/headers/0/secretRef", DROP, "json", "remote/headers/0"),
    row(SEARCH, "remote/timeouts/connectMilliseconds", 0, "json"),
    row(SEARCH, "remote/network", [], "json"),
    row(SMALL, "sourceEpoch", 0, "json"),
    row(SMALL, "harness/0/image/size", 0, "json"),
    row(SMALL, "harness/0/image/mediaType", "application/vnd.oci.image.index.v1+json", "json"),
    row(SMALL, "harness/0/imageRef", "registry.example/harness:1.0", "json"),
    row(SMALL, "harness/0/imageRef", f"harness@{IMAGE}", "json"),
    row(SMALL, "harness/0/imageRef", f"registry.example/harness:1.0@{IMAGE}", "json"),
    row(SMALL, "harness/0/imageRef", f"registry.example:70000/harness@{IMAGE}", "json"),
    row(SMALL, "harness/0/imageRef", DROP, "json", "harness/0"),
    # names that inject code (16: security)
    row(CLOCK, "variants/0/environment/0/name", "LD_PRELOAD", "security"),
    row(CLOCK, "variants/0/environment/0/name", "PYTHONPATH", "security"),
    row(CLOCK, "variants/0/environment/0/name", "NODE_OPTIONS", "security"),
    row(WRITER, "model/endpointEnv", "BASH_ENV", "security"),
]  # fmt: skip


@pytest.mark.parametrize("found", ROWS, ids=str)
def test_one_fault_is_one_finding(found: Row, engine: str, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path, engine)


def spelled(label: str, old: bytes, new: bytes) -> Row:
    return act(label, _raw(WRITER, old, new))


ACCEPTED = [
    spelled("white space", b"{", b" \r\n\t{\n"),
    spelled("escapes of the same text", TEXT, rb'"\u0054he writer\u002e"'),
    row(WRITER, "description", "a literal \ufffd"),
    row(WRITER, "description", "\U0001f600 and NUL \x00"),
    row(WRITER, "description", "x" * 4096),
    row(WRITER, "description", ""),
    row("metadata/profiles/writer.json", "model/parameters/n", 333333333.33333329),
    row("metadata/profiles/writer.json", "model/parameters/n", {"Foo": 1, "foo": 2}),
    row("metadata/profiles/writer.json", "model/parameters/n", None),
    row(CLOCK, "variants/0/arguments", ["$HOME", "100%"]),
    row(SMALL, "harness/0/imageRef", f"[2001:db8::1]:5000/harness@{IMAGE}"),
    row(SMALL, "harness/0/imageRef", f"localhost:5000/harness@{IMAGE}"),
    row(SMALL, "sourceEpoch", 2**53 - 1),
    row(ROOT, "agents/0/version", "1.0.0-rc.1+build.5"),
    row(REVIEWER, "invokes", []),
]


@pytest.mark.parametrize("found", ACCEPTED, ids=str)
def test_what_the_profile_allows_is_accepted(found: Row, tmp_path: Path) -> None:
    suite = found.build()
    if "imageRef" in found.label:
        suite.edit(SMALL, "harness/0/image/digest", IMAGE)
    assert faults(validate(suite.directory(tmp_path / "suite"))) == []


def _nested(levels: int) -> Change:
    def change(suite: SuiteBuilder) -> None:
        value: Any = []
        for _ in range(levels - 4):
            value = [value]
        suite.edit("metadata/profiles/writer.json", "model/parameters/n", value)

    return change


@pytest.mark.parametrize(("levels", "category"), [(100, ""), (101, "json")])
def test_nesting(levels: int, category: str, tmp_path: Path) -> None:
    """5.2: 100 levels."""
    check(act("", _nested(levels), category, "metadata/profiles/writer.json#"), REQUIREMENT, tmp_path)


@pytest.mark.parametrize(("count", "category"), [(1024, ""), (1025, "json")])
def test_members_of_one_object(count: int, category: str, tmp_path: Path) -> None:
    """5.2: 1,024 members of an object."""
    value = {f"m{number}": 1 for number in range(count)}
    path, member = "metadata/profiles/writer.json", "model/parameters/n"
    change = act("", lambda suite: suite.edit(path, member, value), category, f"{path}#/{member}")
    check(change, REQUIREMENT, tmp_path)


def test_bytes_and_members_of_one_document(tmp_path: Path) -> None:
    """5.2: bounds on both sides, lowered so that the test is small."""
    root = SuiteBuilder().directory(tmp_path / "suite")
    size = len((root / CLOCK).read_bytes())
    assert validate(root, Limits(json=JSONLimits(document_bytes=size))).ok
    assert faults(validate(root, Limits(json=JSONLimits(document_bytes=size - 1)))) == [(REQUIREMENT, "json", CLOCK)]
    assert validate(root, Limits(json=JSONLimits(document_members=1000))).ok
    few = faults(validate(root, Limits(json=JSONLimits(document_members=100))))
    assert few == [(REQUIREMENT, "json", f"{CLOCK}#")]


@pytest.mark.parametrize("carrier", ["directory", "layout"])
def test_a_document_of_4_MiB(carrier: str, tmp_path: Path) -> None:  # noqa: N802 -- the unit
    """5.2: exactly 4 MiB is a document; one byte more is not, and is no matter where nothing references it."""
    path = "metadata/profiles/writer.json"
    for size, expected in ((4 << 20, []), ((4 << 20) + 1, [(REQUIREMENT, "json", path)])):
        suite = SuiteBuilder().seal()
        suite.raw[path] = suite.bytes_of()[path].ljust(size)
        assert faults(validate(getattr(suite, carrier)(tmp_path / str(size)))) == expected
    suite = SuiteBuilder()
    suite.files["metadata/big.json"] = b" " * ((4 << 20) + 1)
    assert faults(validate(getattr(suite, carrier)(tmp_path / "unreferenced"))) == []


def test_broken_json_that_nothing_references(tmp_path: Path) -> None:
    """5.3 is about normative documents."""
    suite = SuiteBuilder()
    suite.files["metadata/broken.json"] = b"{"
    assert faults(validate(suite.directory(tmp_path / "suite"))) == []


def test_a_manifest_is_a_json_file(tmp_path: Path) -> None:
    """Only such files are kept as documents; paths are free otherwise."""
    suite = SuiteBuilder()
    suite.move(REVIEWER, "agents/reviewer.txt")
    suite.edit(ROOT, "agents/1/path", "agents/reviewer.txt")
    assert faults(validate(suite.directory(tmp_path / "other"))) == [(REQUIREMENT, "json", "agents/reviewer.txt")]
    suite = SuiteBuilder()
    suite.move(REVIEWER, "elsewhere/critic.json")
    suite.edit(ROOT, "agents/1/path", "elsewhere/critic.json")
    assert faults(validate(suite.directory(tmp_path / "moved"))) == []


def test_tool_schemas_are_files_of_exact_bytes(tmp_path: Path) -> None:
    """6.2: white space counts there."""
    suite = SuiteBuilder()
    suite.files["schemas/output.json"] = b'{"type": "object"}   '
    assert suite.seal().at(CLOCK, "tools/0/outputSchema/digest") == digest_bytes(b'{"type": "object"}   ')
    assert faults(validate(suite.directory(tmp_path / "suite"))) == []


def test_a_parse_error_has_line_and_column(tmp_path: Path) -> None:
    suite = SuiteBuilder().seal()
    text = json.dumps(suite.documents[EVALS], indent=1)
    suite.raw[EVALS] = text.replace('"agent":', '"agent"', 1).encode()
    line = text.splitlines().index(next(line for line in text.splitlines() if '"agent":' in line)) + 1
    report = validate(suite.directory(tmp_path / "suite"))
    assert [(found.location, found.line) for found in report.findings if found.is_error] == [(f"{EVALS}#", line)]


def test_many_faults_of_one_document_are_all_reported(tmp_path: Path) -> None:
    suite = SuiteBuilder()
    for where, value in (("surprise", 1), ("id", "Writer"), ("model/model", ""), ("instructions/path", "/x")):
        suite.edit(WRITER, where, value)
    found = {location for _, _, location in faults(validate(suite.directory(tmp_path / "suite")))}
    assert found == {f"{WRITER}#/{where}" for where in ("surprise", "id", "model/model", "instructions/path")}
