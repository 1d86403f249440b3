"""What may be left out is computed; what is written otherwise is refused, naming both (design, "Authoring")."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.jsondoc import digest, variant_digest
from hatch_agentsuite.source import Options
from tests.source import trees
from tests.source.trees import AMD64, ARM64, CLOCK, RICH, Suite, line_of, only_error, packed, write_tree

ZEROS = "sha256:" + "0" * 64
PROVIDER = f"{CLOCK}/tool-provider.json"


def exact(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The rich tree, which leaves out everything that may be left out, packed."""
    return packed(write_tree(tmp_path_factory.mktemp("rich") / "suite", trees.rich()), RICH)


def variants(suite: Suite) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = suite[PROVIDER]["variants"]
    return found


def composition(suite: Suite) -> dict[str, Any]:
    value: dict[str, Any] = suite["compositions/writer-linux-amd64.json"]
    return value


def file(path: str, mode: int, data: bytes) -> dict[str, Any]:
    size = len(data)
    return {"path": path, "type": "file", "mode": mode, "uid": 0, "gid": 0, "size": size, "digest": exact(data)}


INVENTORY = [
    file("bin/clock", 0o755, b"#!/bin/sh\n"),
    file("data.txt", 0o644, b"data"),
    {"path": "lib/current", "type": "symlink", "mode": 0o777, "uid": 0, "gid": 0, "linkTarget": "../bin/clock"},
    {"path": "lib/empty", "type": "directory", "mode": 0o755, "uid": 0, "gid": 0},
]

COMPUTED: list[tuple[str, Callable[[Suite], object], Callable[[Suite], object]]] = [
    ("schemaVersion", lambda s: s["agents/writer.json"]["schemaVersion"], lambda s: "1.0.0-draft"),
    ("mediaType", lambda s: s[PROVIDER]["mediaType"], lambda s: "application/vnd.agentsuite.tool.provider.v1+json"),
    ("name", lambda s: s["agentsuite.json"]["name"], lambda s: "demo"),
    ("agents", lambda s: [x["id"] for x in s["agentsuite.json"]["agents"]], lambda s: ["reviewer", "writer"]),
    ("agent id", lambda s: s["agents/writer.json"]["id"], lambda s: "writer"),
    ("profile id", lambda s: s["build-profiles/default.json"]["id"], lambda s: "default"),
    (
        "instructions",
        lambda s: s["agents/writer.json"]["instructions"],
        lambda s: {"path": "instructions/writer.md", "digest": exact(b"Write.\n")},
    ),
    (
        "manifest digest (6.1)",
        lambda s: s["agentsuite.json"]["agents"][1]["digest"],
        lambda s: digest(s["agents/writer.json"]),
    ),
    (
        "schema digest (6.2)",
        lambda s: s[PROVIDER]["tools"][0]["inputSchema"]["digest"],
        lambda s: exact(b'{"type": "object"}\n'),
    ),
    ("variantDigest (6.3)", lambda s: variants(s)[0]["variantDigest"], lambda s: variant_digest(variants(s)[0])),
    (
        "dependency digest",
        lambda s: variants(s)[0]["dependencies"][0]["variantDigest"],
        lambda s: s["tool-providers/base/1.0.0/tool-provider.json"]["variants"][0]["variantDigest"],
    ),
    ("provider id", lambda s: (s[PROVIDER]["id"], s[PROVIDER]["version"]), lambda s: ("clock", "1.0.0")),
    ("files", lambda s: variants(s)[0]["files"], lambda s: INVENTORY),
    ("payloadRoot", lambda s: variants(s)[1]["payloadRoot"], lambda s: f"{CLOCK}/linux-arm64"),
    ("installRoot", lambda s: variants(s)[0]["installRoot"], lambda s: "/opt/agentsuite/tool-providers/clock/1.0.0"),
    (
        "sbom",
        lambda s: variants(s)[0]["sbom"],
        lambda s: {"mediaType": "application/spdx+json", "digest": exact(b"{}\n"), "size": 3},
    ),
    (
        "provenance",
        lambda s: variants(s)[1]["provenance"],
        lambda s: {"mediaType": "application/vnd.example", "digest": exact(b"\0\1"), "size": 2},
    ),
    (
        "catalog",
        lambda s: [(x["id"], x["version"], x["path"]) for x in s["tool-providers/catalog.json"]["toolProviders"]],
        lambda s: [
            (name, version, f"tool-providers/{name}/{version}/tool-provider.json")
            for name, version in (("base", "1.0.0"), ("calendar", "1.0.0"), ("clock", "1.0.0"), ("clock", "2.0.0"))
        ],
    ),
    (
        "compositions",
        lambda s: [(x["agent"], x["platform"], x["path"]) for x in s["agentsuite.json"]["compositions"]],
        lambda s: [
            (name, platform, f"compositions/{name}-linux-{platform['architecture']}.json")
            for name in ("reviewer", "writer")
            for platform in (AMD64, ARM64)
        ],
    ),
    (
        "composition",
        lambda s: (composition(s)["buildProfile"], composition(s)["toolProviders"]),
        lambda s: (
            "default",
            [
                {
                    "id": "clock",
                    "version": "1.0.0",
                    "manifestDigest": digest(s[PROVIDER]),
                    "variantDigest": variants(s)[0]["variantDigest"],
                    "executionMode": "shared-sandbox",
                }
            ],
        ),
    ),
    (
        "ToolProvider composition: the path carries the version where there are several",
        lambda s: [x["path"] for x in s["agentsuite.json"]["toolProviderCompositions"]],
        lambda s: ["tool-provider-compositions/clock-2.0.0-linux-amd64.json"],
    ),
    (
        "evals",
        lambda s: s["agents/writer.json"]["evals"],
        lambda s: [{"path": "evals/writer/index.json", "digest": digest(s["evals/writer/index.json"])}],
    ),
    (
        "cases in case-id order",
        lambda s: [x["path"] for x in s["evals/writer/index.json"]["cases"]],
        lambda s: ["evals/writer/cases/Second.json", "evals/writer/cases/first.json"],
    ),
    (
        "smallest limits that fit the packed bytes (8.2)",
        lambda s: s["evals/writer/index.json"]["limits"],
        lambda s: {
            "maxCases": 2,
            "maxCaseBytes": max(s.entry(f"evals/writer/cases/{x}.json").size for x in ("first", "Second")),
        },
    ),
    (
        "profile record",
        lambda s: s["agents/writer.json"]["extensions"],
        lambda s: [
            {
                "name": "hatch-agentsuite.profile.v1",
                "critical": False,
                "digest": digest(s["metadata/profiles/writer.json"]),
            }
        ],
    ),
    ("capabilities (7)", lambda s: s["agentsuite.json"]["capabilities"], lambda s: ["bundled-stdio-mcp"]),
]


@pytest.mark.parametrize(("found", "wanted"), [row[1:] for row in COMPUTED], ids=[row[0] for row in COMPUTED])
def test_what_is_left_out_is_computed(
    suite: Suite, found: Callable[[Suite], object], wanted: Callable[[Suite], object]
) -> None:
    assert found(suite) == wanted(suite)


def test_evidence_joins_the_layout_as_blobs(suite: Suite) -> None:
    """Section 4.2: descriptors of SBOM and provenance have their blobs in the layout."""
    for data in (b"{}\n", b"\0\1"):
        blob = suite.packed.target / "blobs/sha256" / exact(data).removeprefix("sha256:")
        assert blob.read_bytes() == data


def test_verbatim_files_keep_their_bytes_and_documents_become_canonical(suite: Suite) -> None:
    assert suite.entry("instructions/writer.md").digest == exact(b"Write.\n")
    assert suite.tree.documents["metadata/files.json"].startswith(b'{"files":[{"digest":')


def test_no_capability_without_bundles(tmp_path: Path) -> None:
    assert "capabilities" not in packed(write_tree(tmp_path / "suite", trees.minimal()))["agentsuite.json"]


def test_one_variant_takes_its_platform_from_the_only_folder(tmp_path: Path) -> None:
    files = trees.with_clock()
    del files[f"{CLOCK}/tool-provider.yaml"]["variants"][0]["platform"]
    assert packed(write_tree(tmp_path / "suite", files))[PROVIDER]["variants"][0]["platform"] == AMD64


def test_agents_may_name_one_file_in_common(tmp_path: Path) -> None:
    files = trees.minimal()
    files["agents/second.yaml"] = trees.agent(instructions={"path": "instructions/writer.md"})
    suite = packed(write_tree(tmp_path / "suite", files))
    assert suite["agents/second.json"]["instructions"] == suite["agents/writer.json"]["instructions"]


@pytest.mark.parametrize("entry", [{}, {"type": "file"}, {"mode": 0o700, "component": "clock"}])
def test_a_written_inventory_entry_is_completed(tmp_path: Path, entry: dict[str, Any]) -> None:
    """An entry may leave out what the file tells, name its component, and give another executable mode."""
    files = trees.with_clock()
    files[f"{CLOCK}/tool-provider.yaml"]["variants"][0]["files"] = [{"path": "bin/clock", **entry}]
    suite = packed(write_tree(tmp_path / "suite", files))
    assert suite[PROVIDER]["variants"][0]["files"] == [INVENTORY[0] | entry]
    assert suite.entry(f"{CLOCK}/linux-amd64/bin/clock").mode == entry.get("mode", 0o755)


def set_at(value: Any, where: str, new: object) -> None:
    *way, last = [int(token) if token.isdigit() else token for token in where.split("/")[1:]]
    for token in way:
        value = value[token] if isinstance(token, int) else value.setdefault(token, {})
    value[last] = new


WRITER = "agents/writer.yaml"
MANIFEST = f"{CLOCK}/tool-provider.yaml"
SUITE = "agentsuite.yaml"
COMPOSITION = "compositions/writer-linux-amd64.yaml"
INDEX = "evals/writer/index.yaml"
WRONG: list[tuple[str, str, object, str]] = [
    (WRITER, "/id", "scribe", "writer"),
    (WRITER, "/instructions", {"path": "instructions/writer.md", "digest": ZEROS}, exact(b"Write.\n")),
    ("build-profiles/default.yaml", "/id", "other", "default"),
    (MANIFEST, "/id", "watch", "clock"),
    (MANIFEST, "/version", "1.0.1", "1.0.0"),
    (MANIFEST, "/tools/0/inputSchema/digest", ZEROS, exact(b'{"type": "object"}\n')),
    (MANIFEST, "/variants/0/variantDigest", ZEROS, "sha256:"),
    (MANIFEST, "/variants/0/dependencies/0/variantDigest", ZEROS, "sha256:"),
    (MANIFEST, "/variants/0/payloadRoot", f"{CLOCK}/linux-arm64", "linux/arm64"),
    (SUITE, "/capabilities", [], "bundled-stdio-mcp"),
    (SUITE, "/toolProviderCatalog", {"id": "catalog", "digest": ZEROS}, "sha256:"),
    (INDEX, "/agent", "reviewer", "writer"),
    ("evals/writer/cases/first.yaml", "/id", "last", "first"),
    (COMPOSITION, "/toolProviders", [{"id": "clock", "version": "1.0.0", "manifestDigest": ZEROS}], "sha256:"),
    (COMPOSITION, "/toolProviders", [{"id": "clock", "version": "1.0.0", "variantDigest": ZEROS}], "sha256:"),
]
AT = {"/instructions": "/instructions/digest", "/toolProviderCatalog": "/toolProviderCatalog/digest"}


@pytest.mark.parametrize(("name", "where", "value", "computed"), WRONG, ids=[f"{row[0]}#{row[1]}" for row in WRONG])
def test_what_is_written_wrongly_is_one_finding_with_both_values(
    tmp_path: Path, name: str, where: str, value: object, computed: str
) -> None:
    files = trees.rich()
    set_at(files.setdefault(name, {}), where, value)
    root = write_tree(tmp_path / "suite", files)
    finding = only_error(root, RICH)
    assert finding.requirement == "SOURCE-MATCH-001"
    document, _, pointer = finding.location.partition("#")
    assert document == name
    written = ZEROS if ZEROS in str(value) else str(value)
    assert computed in finding.message
    if where != "/variants/0/payloadRoot":  # there it is the platform that disagrees with the folder
        assert pointer.startswith(AT.get(where, where))
        assert f"is written as `{written}`" in finding.message or f"is written as {written}" in finding.message
        assert finding.line == line_of(root, name, written if written != "[]" else "capabilities")
    assert "leave `" in finding.hint
    assert finding.line is not None


@pytest.mark.parametrize(("member", "value"), [("schemaVersion", "9"), ("mediaType", "text/plain")])
def test_constants_are_checked(tmp_path: Path, member: str, value: str) -> None:
    files = trees.minimal()
    files[WRITER][member] = value
    root = write_tree(tmp_path / "suite", files)
    finding = only_error(root)
    assert value in finding.message
    assert (finding.location, finding.line) == (f"{WRITER}#/{member}", line_of(root, WRITER, member))


def test_the_option_and_the_document_must_agree_on_the_name(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "suite", trees.minimal() | {SUITE: {"name": "written"}})
    finding = only_error(root, Options(name="wanted"))
    assert finding.location == "agentsuite.yaml#/name"
    assert "`written`" in finding.message
    assert "the option `name` makes it `wanted`" in finding.message
    assert packed(root, Options(name="written"))["agentsuite.json"]["name"] == "written"
    # the project's name is a default only
    assert packed(root, Options(default_name="project"))["agentsuite.json"]["name"] == "written"


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ({"mode": 0o644}, "`mode`"),
        ({"size": 4}, "`size`"),
        ({"digest": ZEROS}, "`digest`"),
        ({"type": "symlink", "linkTarget": "x"}, "`type`"),
    ],
)
def test_a_written_inventory_is_held_against_the_folder(tmp_path: Path, entry: dict[str, Any], word: str) -> None:
    files = trees.with_clock()
    files[MANIFEST]["variants"][0]["files"] = [{"path": "bin/clock", **entry}]
    finding = only_error(write_tree(tmp_path / "suite", files))
    assert finding.location.startswith(f"{MANIFEST}#/variants/0/files/0/")
    assert word in finding.message


def test_an_inventory_lists_the_folder_exactly(tmp_path: Path) -> None:
    files = trees.with_clock() | {f"{CLOCK}/linux-amd64/more": "x"}
    files[MANIFEST]["variants"][0]["files"] = [{"path": "bin/clock"}, {"path": "ghost"}]
    findings = trees.errors(write_tree(tmp_path / "suite", files))
    assert [(x.location.partition("#")[2], x.message.split("`")[1]) for x in findings] == [
        ("/variants/0/files/1", "ghost"),
        ("/variants/0/files", "more"),
    ]
