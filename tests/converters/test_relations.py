"""Relationships become permissions to invoke only where that is asked for (specification 8.1), anew on every import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsuite_converters.importing import Imported, ImportOptions
from tests.converters.agents import FORMATS
from tests.converters.conversions import edit, exported, imported, resolved, save

Json = dict[str, Any]


def edge(agent: str, concurrent: int = 1, depth: int = 1) -> Json:
    return {"agent": agent, "maxConcurrent": concurrent, "maxDepth": depth}


def bring(tree: Path, agents: dict[str, dict[str, str]], *kinds: str, ids: Any = None) -> Imported:
    """Import blueprints, by id, with their relationships."""
    folder = tree.with_name("in")
    folder.mkdir(exist_ok=True)
    paths: list[Path] = []
    for name, relationships in agents.items():
        document = {
            "agent_id": name,
            "name": "Pilot",
            "description": "Pilots",
            "agent_config": {"agent_id": name, "agent_name": "Pilot", "relationships": relationships},
            "interface": {"methods": []},
        }
        paths.append(folder / f"{len(paths)}.json")
        paths[-1].write_text(json.dumps(document))
    options = ImportOptions("p", "m", "Pilot.\n", ids or {}, invoke_relations=frozenset(kinds))
    return imported(FORMATS["aib"], paths, tree, options, force=True)


def invokes(tree: Path, name: str) -> Any:
    return edit(tree / f"agents/{name}.json").get("invokes")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path / "suite"


KINDS: list[tuple[dict[str, str], tuple[str, ...], Any]] = [
    ({"b": "child"}, (), None),
    ({"b": "child"}, ("child",), [edge("b")]),
    ({"b": "child"}, ("Child",), None),
    ({"b": "child"}, ("parent",), None),
    ({"b": "child", "c": "parent"}, ("child",), [edge("b")]),
    ({"c": "parent", "b": "child"}, ("child", "parent"), [edge("b"), edge("c")]),
    ({"a": "child"}, ("child",), None),
    ({"a": "child", "b": "child"}, ("child",), [edge("b")]),
    ({"nobody": "child"}, ("child",), None),
    ({"": "child"}, ("child",), None),
    ({"B": "child"}, ("child",), None),
    ({}, ("child",), None),
]


@pytest.mark.parametrize(("relationships", "kinds", "expected"), KINDS)
def test_only_the_kinds_that_are_named_become_edges(
    relationships: dict[str, str], kinds: tuple[str, ...], expected: Any, tree: Path
) -> None:
    """Bounds are 1 and 1, no agent invokes itself, and what is not there is not invoked."""
    bring(tree, {"a": relationships, "b": {}, "c": {}}, *kinds)
    assert invokes(tree, "a") == expected
    assert invokes(tree, "b") is None
    resolved(tree)
    assert (
        exported(tree, FORMATS["aib"])["a"].expressed.document["agent_config"]["relationships"]  # type: ignore[index, call-overload]
        == relationships
    )


def test_a_relationship_with_an_agent_that_has_another_id_in_the_suite(tree: Path) -> None:
    bring(tree, {"a": {"B 1": "child"}, "B 1": {}}, "child", ids={"B 1": "bee"})
    assert invokes(tree, "a") == [edge("bee")]


def test_an_agent_without_an_id_of_its_own_is_nobodys_relation(tree: Path) -> None:
    """AIDIP metadata may have no id; a relationship with `""` is none with it."""
    path = tree.with_name("nameless.json")
    document = {
        "name": "Nameless", "description": "x", "version": "1", "publisher": "x", "capabilities": [], "tags": [],
        "endpoint": "/x", "inputs": {}, "outputs": {},
    }  # fmt: skip
    path.write_text(json.dumps(document))
    imported(FORMATS["aidip"], [path], tree, ImportOptions("p", "m", "i"))
    bring(tree, {"a": {"": "child"}}, "child")
    assert invokes(tree, "a") is None
    assert invokes(tree, "nameless") is None


def test_a_second_import_links_agents_that_were_there(tree: Path) -> None:
    bring(tree, {"a": {"b": "child"}}, "child")
    assert invokes(tree, "a") is None
    made = bring(tree, {"b": {"a": "child"}}, "child")
    assert (invokes(tree, "a"), invokes(tree, "b")) == ([edge("b")], [edge("a")])
    assert made.changed == {"agents/a.json"}


def test_edges_that_no_longer_follow_are_taken_back_and_others_stay(tree: Path) -> None:
    bring(tree, {"a": {"b": "child", "c": "child"}, "b": {}, "c": {}, "d": {}}, "child")
    manifest = edit(tree / "agents/a.json")
    manifest["invokes"].append(edge("d", 2, 2))
    save(tree / "agents/a.json", manifest)
    bring(tree, {"b": {}}, "parent")
    assert invokes(tree, "a") == [edge("c"), edge("d", 2, 2)]


def test_bounds_that_somebody_chose_are_kept(tree: Path) -> None:
    bring(tree, {"a": {"b": "child"}, "b": {}}, "child")
    save(tree / "agents/a.json", {**edit(tree / "agents/a.json"), "invokes": [edge("b", 4, 3)]})
    bring(tree, {"a": {"b": "child"}}, "child")
    assert invokes(tree, "a") == [edge("b", 4, 3)]
    bring(tree, {"b": {}}, "child")
    assert invokes(tree, "a") == [edge("b", 4, 3)]


def test_nothing_is_changed_where_nothing_changes(tree: Path) -> None:
    bring(tree, {"a": {"b": "child"}, "b": {}}, "child")
    before = (tree / "agents/a.json").read_bytes()
    made = bring(tree, {"b": {}}, "child")
    assert made.changed == frozenset()
    assert (tree / "agents/a.json").read_bytes() == before


def test_a_yaml_manifest_is_not_rewritten_but_told(tree: Path) -> None:
    import yaml

    bring(tree, {"a": {"b": "child"}}, "child")
    text = yaml.safe_dump(edit(tree / "agents/a.json"))
    (tree / "agents/a.json").unlink()
    (tree / "agents/a.yaml").write_text(text)
    made = bring(tree, {"b": {}}, "child")
    assert (tree / "agents/a.yaml").read_text() == text
    (found,) = [it for it in made.warnings if it.requirement == "PROFILE-EDGE-001"]
    assert (found.location, "`b`" in found.message) == ("agents/a.yaml", True)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff"])
def test_what_cannot_be_read_is_left_to_packing(data: bytes, tree: Path) -> None:
    bring(tree, {"a": {"b": "child"}}, "child")
    (tree / "agents/a.json").write_bytes(data)
    bring(tree, {"b": {}}, "child")
    assert (tree / "agents/a.json").read_bytes() == data


def test_cycles_of_relationships_are_told_by_packing_or_allowed(tree: Path) -> None:
    """Two agents that may invoke each other are a graph that the specification allows."""
    bring(tree, {"a": {"b": "child"}, "b": {"a": "child"}}, "child")
    assert resolved(tree).members
