"""Mistakes of authors: independent ones are all reported at once, each with its place and what would be right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.findings import RefusedError
from hatch_agentsuite.packing import pack
from hatch_agentsuite.source import Options, resolve
from tests.source import trees
from tests.source.trees import AMD64, CLOCK, NAMED, errors, line_of, only_error, packed, write_tree

ZEROS = "sha256:" + "0" * 64
PROVIDER = f"{CLOCK}/tool-provider.yaml"
STRICT = Options(default_name="demo", strict=True)
BOTH = Options(default_name="demo", platforms=("linux/amd64", "linux/arm64"))


def changed(files: dict[str, Any], name: str, **members: Any) -> dict[str, Any]:
    return files | {name: files.get(name, {}) | members}


def without(files: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: content for name, content in files.items() if name not in names}


def two_agents() -> dict[str, Any]:
    return trees.minimal() | {"agents/second.yaml": trees.agent(), "instructions/second.md": "x"}


def two_profiles() -> dict[str, Any]:
    return two_agents() | {"build-profiles/other.yaml": trees.profile(AMD64)}


def depending(*names: str, of: str = "clock") -> list[dict[str, Any]]:
    return [trees.variant(of, dependencies=[{"id": name, "version": "1.0.0"} for name in names])]


def both_payloads_missing() -> dict[str, Any]:
    return without(trees.rich(), *(f"tool-providers/base/1.0.0/linux-{x}/bin/base" for x in ("amd64", "arm64")))


ALL_AT_ONCE: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "instructions",
        without(two_agents(), "instructions/second.md", "instructions/writer.md"),
        ["agents/second.yaml#/instructions/path", "agents/writer.yaml#/instructions/path"],
    ),
    (
        "payload folders",
        both_payloads_missing(),
        [f"tool-providers/base/1.0.0/tool-provider.yaml#/variants/{x}" for x in (0, 1)],
    ),
    (
        "digests",
        changed(
            changed(
                two_agents(), "agents/second.yaml", instructions={"path": "instructions/second.md", "digest": ZEROS}
            ),
            "agents/writer.yaml",
            instructions={"path": "instructions/writer.md", "digest": ZEROS},
        ),
        ["agents/second.yaml#/instructions/digest", "agents/writer.yaml#/instructions/digest"],
    ),
    (
        "unknown members",
        changed(changed(trees.minimal(), "agents/writer.yaml", colour=1), "build-profiles/default.yaml", colour=1),
        ["build-profiles/default.yaml#/colour", "agents/writer.yaml#/colour"],
    ),
    (
        "invokes without an agent, and two more",
        changed(two_agents(), "agents/writer.yaml", invokes=[{"maxDepth": 1}]),
        ["agents/writer.yaml#/invokes/0", "agents/writer.yaml#/invokes/0"],
    ),
]


@pytest.mark.parametrize(("files", "locations"), [x[1:] for x in ALL_AT_ONCE], ids=[x[0] for x in ALL_AT_ONCE])
def test_all_of_one_kind_at_once(tmp_path: Path, files: dict[str, Any], locations: list[str]) -> None:
    found = errors(write_tree(tmp_path / "suite", files))
    assert [finding.location for finding in found] == locations
    assert all(finding.line for finding in found)


def test_an_unknown_member_has_its_line(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "suite", changed(trees.minimal(), "agents/writer.yaml", modle="x"))
    finding = only_error(root)
    assert finding.line == line_of(root, "agents/writer.yaml", "modle")
    assert "did you mean 'model'?" in finding.message


VERSION = trees.as_yaml(trees.provider(trees.variant("clock"))) + b"version: 1.10\n"
REMOTE = trees.minimal() | {
    "tool-providers/far/1.0.0/tool-provider.yaml": trees.provider(remote=trees.REMOTE),
    "schemas/run.json": "{}",
}
CYCLE = trees.with_clock() | trees.bundled("base", dependencies=[{"id": "clock", "version": "1.0.0"}])
ONE: list[tuple[str, dict[str, Any], Options, str, str, str]] = [
    (
        "a platform asked for that a provider lacks",
        trees.with_clock(),
        BOTH,
        "AS-COMPOSE-001",
        "agents/writer.yaml#",
        "no composition for linux/arm64: `clock` 1.0.0 has no variant for it",
    ),
    (
        "a platform asked for that the profile lacks",
        trees.minimal() | {"build-profiles/default.yaml": trees.profile(AMD64)},
        BOTH,
        "AS-COMPOSE-001",
        "agents/writer.yaml#",
        "the build profile `default` has no images for linux/arm64",
    ),
    (
        "no platform left",
        trees.with_clock() | {"build-profiles/default.yaml": trees.profile(trees.ARM64)},
        NAMED,
        "AS-COMPOSE-001",
        "agents/writer.yaml#",
        "no platform is left that all ToolProviders of `writer` support",
    ),
    (
        "unknown profile",
        trees.minimal(),
        Options(default_name="demo", build_profile="nope"),
        "AS-GRAPH-001",
        "agents/writer.yaml#",
        "there is no build profile `nope`, which the configuration names",
    ),
    (
        "remote only",
        changed(REMOTE, "agents/writer.yaml", toolProviders=[trees.requirement("far")]),
        NAMED,
        "AS-DRAFT-001",
        "agents/writer.yaml#/toolProviders/0",
        "`far` 1.0.0 is remote only",
    ),
    (
        "unknown provider",
        changed(trees.minimal(), "agents/writer.yaml", toolProviders=[trees.requirement("ghost")]),
        NAMED,
        "AS-GRAPH-001",
        "agents/writer.yaml#/toolProviders/0",
        "`ghost` 1.0.0 is no ToolProvider of this suite",
    ),
    (
        "dependency missing",
        trees.with_clock() | {PROVIDER: trees.provider(*depending("ghost"))},
        NAMED,
        "AS-GRAPH-001",
        f"{PROVIDER}#/variants/0/dependencies/0",
        "`ghost` 1.0.0 is no ToolProvider of this suite",
    ),
    (
        "dependency cycle",
        CYCLE | {PROVIDER: trees.provider(*depending("base"))},
        NAMED,
        "AS-GRAPH-001",
        "tool-providers/base/1.0.0/tool-provider.yaml#/variants/0/dependencies",
        "the dependencies form a cycle: base 1.0.0 -> clock 1.0.0 -> base 1.0.0",
    ),
    (
        "provider-images: unknown id",
        trees.with_clock(),
        Options(default_name="demo", provider_images=("nope",)),
        "SOURCE-CONFIG-001",
        "",
        "`provider-images` names `nope`",
    ),
    (
        "provider-images: unknown version",
        trees.with_clock(),
        Options(default_name="demo", provider_images=("clock@9.9.9",)),
        "SOURCE-CONFIG-001",
        "",
        "`provider-images` names `clock@9.9.9`",
    ),
    (
        "name",
        trees.minimal() | {"agentsuite.yaml": {"name": "My Suite"}},
        NAMED,
        "AS-JSON-001",
        "agentsuite.yaml#/name",
        "found 'My Suite'",
    ),
    ("no name", trees.minimal(), Options(), "AS-JSON-001", "agentsuite.json#", "the member 'name' is missing"),
    ("empty", trees.minimal() | {"agentsuite.yaml": ""}, NAMED, "AS-JSON-001", "agentsuite.yaml#", "document is empty"),
    (
        "version",
        {**trees.with_clock(), PROVIDER: VERSION},
        NAMED,
        "AS-JSON-001",
        f"{PROVIDER}#/version",
        "1.1",
    ),
    (
        ".yaml in a path",
        trees.minimal() | {"agentsuite.yaml": {"agents": [{"path": "agents/writer.yaml"}]}},
        NAMED,
        "AS-GRAPH-001",
        "agentsuite.yaml#/agents/0/path",
        "does not name a JSON document",
    ),
    (
        "catalog item without a version",
        trees.with_clock() | {"tool-providers/catalog.yaml": {"toolProviders": [{"id": "clock"}]}},
        NAMED,
        "SOURCE-GIVE-001",
        "tool-providers/catalog.yaml#/toolProviders/0",
        "an item needs an `id` and a `version`",
    ),
    (
        "half a platform: composition",
        trees.minimal() | {"compositions/writer-linux-amd64.yaml": {"platform": {"os": "linux"}}},
        NAMED,
        "AS-JSON-001",
        "compositions/writer-linux-amd64.yaml#/platform",
        "a platform needs both members",
    ),
    (
        "half a platform: variant",
        trees.with_clock() | {PROVIDER: trees.provider(trees.variant("clock", platform={"architecture": "amd64"}))},
        NAMED,
        "AS-JSON-001",
        f"{PROVIDER}#/variants/0/platform",
        "a platform needs both members",
    ),
    (
        "a written list of extensions is complete",
        trees.minimal()
        | {
            "agentsuite.yaml": {"extensions": [{"name": "other.v1", "critical": False}]},
            "metadata/files.yaml": {"files": [{"path": "metadata/NOTICE"}]},
            "metadata/NOTICE": "notice",
        },
        NAMED,
        "SOURCE-MATCH-001",
        "agentsuite.yaml#/extensions",
        "`metadata/files.yaml` is not in it",
    ),
    (
        "a build profile for nobody",
        trees.minimal(),
        Options(default_name="demo", build_profile={"nobody": "default"}),
        "SOURCE-CONFIG-001",
        "",
        "`nobody`, which is no agent",
    ),
    (
        "an inventory cannot invent a folder",
        trees.with_clock()
        | {
            PROVIDER: trees.provider(
                trees.variant("clock", files=[{"path": "bin/clock"}, {"path": "ghost", "type": "directory"}])
            )
        },
        NAMED,
        "AS-PROVIDER-001",
        f"{PROVIDER}#/variants/0/files/1",
        "`ghost` is not in the payload folder",
    ),
]


@pytest.mark.parametrize(
    ("files", "options", "requirement", "location", "message"), [x[1:] for x in ONE], ids=[x[0] for x in ONE]
)
def test_one_mistake_is_one_finding(
    tmp_path: Path, files: dict[str, Any], options: Options, requirement: str, location: str, message: str
) -> None:
    finding = only_error(write_tree(tmp_path / "suite", files), options)
    assert (finding.requirement, finding.location) == (requirement, location)
    assert message in finding.message


def test_a_number_where_text_is_meant_shows_what_was_written(tmp_path: Path) -> None:
    finding = only_error(write_tree(tmp_path / "suite", {**trees.with_clock(), PROVIDER: VERSION}))
    assert finding.hint == '`1.10` is a number in YAML; write "1.10" if it is text'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("model: &m {protocol: a, model: b}\n", 1, "an anchor"),
        ("model:\n  protocol: yes\n  model: b\n", 2, "`yes` is not JSON"),
        ("model: !x {protocol: a}\n", 1, "a tag"),
        ("description: a\ndescription: b\n", 2, "duplicate key `description`"),
        ("- a\n", 1, "must be an object"),
    ],
)
def test_what_only_yaml_can_say_is_refused_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    finding = only_error(write_tree(tmp_path / "suite", trees.minimal() | {"agents/writer.yaml": text}))
    assert (finding.requirement, finding.line) == ("AS-JSON-001", line)
    assert message in finding.message


def test_a_platform_lost_on_the_way_is_named_in_a_warning(tmp_path: Path) -> None:
    suite = packed(write_tree(tmp_path / "suite", trees.with_clock()))
    (warning,) = suite.packed.warnings
    assert warning.message == "no composition for linux/arm64: `clock` 1.0.0 has no variant for it"
    assert [x["platform"] for x in suite["agentsuite.json"]["compositions"]] == [AMD64]


def test_several_build_profiles_need_a_choice(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "suite", two_profiles())
    assert [x.message.split("`")[1] for x in errors(root)] == ["second", "writer"]
    table = Options(default_name="demo", build_profile={"writer": "other"})
    assert [x.message.split("`")[1] for x in errors(root, table)] == ["second"]
    table = Options(default_name="demo", build_profile={"writer": "other", "second": "default"})
    suite = packed(root, table)
    found = {x["agent"]: suite[x["path"]]["buildProfile"] for x in suite["agentsuite.json"]["compositions"]}
    assert found == {"writer": "other", "second": "default"}
    assert len(suite["agentsuite.json"]["compositions"]) == 3  # `other` has images for one platform only


def test_provider_images_of_several_versions(tmp_path: Path) -> None:
    files = trees.with_clock() | trees.bundled("clock", "2.0.0")
    suite = packed(write_tree(tmp_path / "suite", files), Options(default_name="d", provider_images=("clock",)))
    assert [x["path"] for x in suite["agentsuite.json"]["toolProviderCompositions"]] == [
        f"tool-provider-compositions/clock-{version}-linux-amd64.json" for version in ("1.0.0", "2.0.0")
    ]


def test_provider_images_of_a_single_version(tmp_path: Path) -> None:
    options = Options(default_name="d", provider_images=("clock", "clock@1.0.0"))
    suite = packed(write_tree(tmp_path / "suite", trees.with_clock()), options)
    assert [x["path"] for x in suite["agentsuite.json"]["toolProviderCompositions"]] == [
        "tool-provider-compositions/clock-linux-amd64.json"
    ]


def test_placeholders_warn_and_strict_refuses(tmp_path: Path) -> None:
    text = trees.as_yaml(trees.profile()).decode().replace("registry.example.org", "placeholder.invalid")
    text = text.replace("a" * 64, "0" * 64).replace("b" * 64, "0" * 64)
    root = write_tree(tmp_path / "suite", trees.minimal() | {"build-profiles/default.yaml": text})
    (warning,) = resolve(root, NAMED).warnings
    assert warning.message.startswith("4 of the images are placeholders")
    assert only_error(root, STRICT) == replace(warning, severity="error")


def test_what_nothing_reaches_is_named_and_not_packed(tmp_path: Path) -> None:
    stray = {".env": "KEY=1", "drafts/a": "x", "drafts/b/c": "x", "agents/notes.txt": "x", "one/x": "x"}
    root = write_tree(tmp_path / "suite", trees.minimal() | stray)
    suite = packed(root)
    assert [(x.location, x.message) for x in suite.packed.warnings] == [
        (".env", "nothing refers to it, so it is not packed"),
        ("agents/notes.txt", "nothing refers to it, so it is not packed"),
        ("drafts/", "nothing refers to the 2 files in this folder, so it is not packed"),
        ("one/", "nothing refers to the file in this folder, so it is not packed"),
    ]
    assert not set(stray) & set(suite.tree.entries)
    assert {x.requirement for x in errors(root, STRICT)} == {"SOURCE-REACH-001"}
    assert len(errors(root, STRICT)) == 4


def test_a_written_list_is_complete(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "suite", two_agents() | {"agentsuite.yaml": {"agents": [{"id": "writer"}]}})
    suite = packed(root)
    assert [x["id"] for x in suite["agentsuite.json"]["agents"]] == ["writer"]
    assert {x.location for x in suite.packed.warnings} == {"agents/second.yaml", "instructions/second.md"}


def test_an_id_differs_from_the_stem_only_where_a_reference_says_so(tmp_path: Path) -> None:
    files = without(trees.minimal(), "agents/writer.yaml") | {"agents/w.yaml": trees.agent()}
    listed = files | {"agentsuite.yaml": {"agents": [{"id": "writer", "path": "agents/w.json"}]}}
    assert packed(write_tree(tmp_path / "listed", listed))["agents/w.json"]["id"] == "writer"
    unlisted = changed(files, "agents/w.yaml", id="writer")
    found = errors(write_tree(tmp_path / "unlisted", unlisted))
    assert "agents/w.yaml#/id" in {x.location for x in found}


@pytest.mark.parametrize("content", [None, {"agentsuite.yaml": b"{}\n"}, {"agentsuite.json": b"{}"}])
def test_the_suite_manifest_may_be_left_out(tmp_path: Path, content: dict[str, bytes] | None) -> None:
    assert (
        packed(write_tree(tmp_path / "suite", trees.minimal() | (content or {})))["agentsuite.json"]["name"] == "demo"
    )


def test_two_variants_for_one_platform(tmp_path: Path) -> None:
    files = trees.with_clock() | {PROVIDER: trees.provider(trees.variant("clock"), trees.variant("clock"))}
    with pytest.raises(RefusedError) as caught:
        pack(write_tree(tmp_path / "suite", files), tmp_path / "out", NAMED)
    (finding,) = caught.value.findings
    assert finding.message == "`linux/amd64` stands twice in `variants`"
