"""What is packed (section 5.2): sorted by path bytes, each path once, whichever way it is held."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hatch_agentsuite.archive.layer import Member
from hatch_agentsuite.content import Entry
from hatch_agentsuite.paths import sort_key
from hatch_agentsuite.source.members import Members, PayloadMembers

FOLDER = Path("suite")
NAMES = st.text(st.sampled_from("a-0/\u00e9"), min_size=1, max_size=5).filter(
    lambda path: all(path.split("/")) and not path.startswith("/")
)
ROOTS = st.sampled_from(["a", "a-", "a/0", "0/a", "\u00e9"])
ITEMS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["file", "directory", "symlink"]),
        "mode": st.sampled_from([0o644, 0o755]),
        "size": st.integers(0, 2**40),
    }
)
INVENTORIES = st.dictionaries(NAMES, ITEMS, max_size=4)


def payload_member(path: str, item: dict[str, Any]) -> Member:
    kind = item["type"]
    if kind == "file":
        digest = f"sha256:{hashlib.sha256(path.encode()).hexdigest()}"
        return Member(Entry(path, "file", item["mode"], size=item["size"], digest=digest), FOLDER)
    return Member(Entry(path, kind, item["mode"], link_target="x" if kind == "symlink" else None))


def payload(root: str, inventory: dict[str, dict[str, Any]]) -> PayloadMembers:
    items = []
    for path, item in inventory.items():
        entry = payload_member(f"{root}/{path}", item).entry
        known = {"digest": entry.digest, "linkTarget": entry.link_target}
        kept = {key: value for key, value in item.items() if key != "size" or item["type"] == "file"}
        items.append({"path": path, **kept, **{key: value for key, value in known.items() if value}})
    return PayloadMembers(FOLDER, [f"{root}/{path}" for path in inventory], items)


@given(st.lists(NAMES, unique=True, max_size=6), st.dictionaries(ROOTS, INVENTORIES, max_size=3))
def test_members_are_sorted_and_each_is_there_once(
    files: list[str], inventories: dict[str, dict[str, dict[str, Any]]]
) -> None:
    """Payload folders that lie in each other, and files that are named by a document and lie in a payload, included."""
    held = {path: Member(Entry(path, "file", 0o644, size=1, digest="d"), b"x") for path in files}
    expected = dict(held)
    for root, inventory in inventories.items():
        # a file in a payload folder is in its inventory: payloads are listed without a gap
        inventory.update(
            {
                path.removeprefix(f"{root}/"): {"type": "file", "mode": 0o755, "size": 7}
                for path in files
                if path.startswith(f"{root}/")
            }
        )
        expected.update({f"{root}/{path}": payload_member(f"{root}/{path}", item) for path, item in inventory.items()})
    members = Members(held, {root: payload(root, inventory) for root, inventory in inventories.items()})
    assert list(members) == sorted(expected.values(), key=lambda member: sort_key(member.entry.path))
    assert list(members) == list(members)
    assert len(members) == len(expected)
    assert members.size == sum(member.entry.size for member in expected.values())
