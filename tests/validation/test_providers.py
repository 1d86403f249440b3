"""AS-PROVIDER-001: variants match the content, remote declarations are well formed (specification 9.4, 9.5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.jsondoc import digest_bytes
from hatch_agentsuite.validation import validate
from tests.validation.carriers import TarEntry
from tests.validation.contents import CLOCK, OPA, SEARCH
from tests.validation.suites import DROP, STALE, SuiteBuilder
from tests.validation.tables import Row, act, check, edits, faults, row

REQUIREMENT = "AS-PROVIDER-001"
PAYLOAD = "tool-providers/clock/1.0.0/linux-amd64"
FILES = f"{CLOCK}#/variants/0/files"
CLOCK_FILE, BIN, NOW, THEN, ZONE, SHARE = range(6)
"""Positions in the inventory."""


def _file(path: str, data: bytes, mode: int = 0o644) -> Any:
    """Put a file into the payload that the inventory does not list."""

    def change(suite: SuiteBuilder) -> None:
        suite.files[f"{PAYLOAD}/{path}"] = data
        suite.modes[f"{PAYLOAD}/{path}"] = mode

    return change


def _replaced_by_link(suite: SuiteBuilder) -> None:
    del suite.files[f"{PAYLOAD}/share/zone.txt"]
    suite.symlinks[f"{PAYLOAD}/share/zone.txt"] = "../bin/clock"


def _stray_link(suite: SuiteBuilder) -> None:
    suite.symlinks[f"{PAYLOAD}/stray"] = "bin/clock"


def _link_replaced_by_file(suite: SuiteBuilder) -> None:
    del suite.symlinks[f"{PAYLOAD}/bin/now"]
    suite.files[f"{PAYLOAD}/bin/now"] = b"now"


def _listed_folder(suite: SuiteBuilder) -> None:
    root = {"uid": 0, "gid": 0}
    suite.at(CLOCK, "variants/0/files").append({"path": "empty", "type": "directory", "mode": 0o755, **root})


ROWS = [
    # inventory against content: what is there (9.4)
    act("a file that is not listed", _file("lib/more.so", b"x"), "tool-provider", FILES),
    act("a link that is not listed", _stray_link, "tool-provider", FILES),
    row(CLOCK, f"variants/0/files/{ZONE}", DROP, "tool-provider", "variants/0/files"),
    row(CLOCK, f"variants/0/files/{NOW}", DROP, "tool-provider", "variants/0/files"),
    row(CLOCK, f"variants/0/files/{THEN}", DROP, "tool-provider", "variants/0/files"),
    act("a listed folder that is absent", _listed_folder, "tool-provider", f"{FILES}/6"),
    row(CLOCK, "variants/0/files/6", SuiteBuilder().at(CLOCK, f"variants/0/files/{ZONE}"), "tool-provider",
        "variants/0/files/6/path"),
    # ... and what it is
    act("other bytes of one size", _file("share/zone.txt", b"UTD\n"), "digest", f"{FILES}/{ZONE}/digest"),
    row(CLOCK, f"variants/0/files/{ZONE}/digest", STALE, "digest"),
    row(CLOCK, f"variants/0/files/{ZONE}/size", 5, "tool-provider"),
    row(CLOCK, f"variants/0/files/{ZONE}/mode", 0o444, "tool-provider"),
    row(CLOCK, f"variants/0/files/{CLOCK_FILE}/mode", 0o555, "tool-provider"),
    act("another mode in the content", _file("share/zone.txt", b"UTC\n", 0o600), "tool-provider",
        f"{FILES}/{ZONE}/mode"),
    row(CLOCK, f"variants/0/files/{NOW}/linkTarget", "then", "tool-provider"),
    act("a link where a file is listed", _replaced_by_link, "tool-provider", f"{FILES}/{ZONE}/type"),
    act("a file where a link is listed", _link_replaced_by_file, "tool-provider", f"{FILES}/{NOW}/type"),
    # entrypoint (9.4)
    row(OPA, "variants/0/entrypoint", "/usr/bin/opa", "tool-provider"),
    row(OPA, "variants/0/entrypoint", "/opt/agentsuite/opa", "tool-provider"),
    row(OPA, "variants/0/entrypoint", "/opt/agentsuite/opal/bin/opa", "tool-provider"),
    row(OPA, "variants/0/entrypoint", "/opt/agentsuite/opa/bin/none", "tool-provider"),
    row(CLOCK, "variants/0/entrypoint", "/opt/agentsuite/clock/share/zone.txt", "tool-provider"),
    row(CLOCK, "variants/0/entrypoint", "/opt/agentsuite/clock/bin", "tool-provider"),
    row(CLOCK, "variants/0/entrypoint", "/opt/agentsuite/clock/bin/now", "tool-provider"),
    # lists of a variant
    row(CLOCK, "variants/0/environment/2", {"name": "CLOCK_ZONE", "required": True}, "tool-provider",
        "variants/0/environment/2/name"),
    row(CLOCK, "variants/0/dependencies/1", SuiteBuilder().at(CLOCK, "variants/0/dependencies/0"), "tool-provider"),
    # remote headers are compared without regard to case (9.5)
    row(SEARCH, "remote/headers/1/name", "authorization", "tool-provider"),
    row(SEARCH, "remote/headers/1/name", "Authorization", "tool-provider"),
    row(SEARCH, "remote/headers/1/name", "AUTHORIZATION", "tool-provider"),
]  # fmt: skip


@pytest.mark.parametrize("found", ROWS, ids=str)
def test_one_disagreement_is_one_finding(found: Row, engine: str, tmp_path: Path) -> None:
    check(found, REQUIREMENT, tmp_path, engine)


ACCEPTED = [
    row(CLOCK, f"variants/0/files/{BIN}", DROP),
    row(CLOCK, f"variants/0/files/{SHARE}", DROP),
    row(OPA, "retained", True),
    act("an unlisted folder", lambda suite: suite.folders.update({f"{PAYLOAD}/lib": 0o755})),
    act("variants and remote", lambda suite: suite.edit(OPA, "remote", suite.at(SEARCH, "remote"))),
    act("a symlink that dangles inside", edits((CLOCK, f"variants/0/files/{NOW}/linkTarget", "nothing"))),
    row(SEARCH, "remote/headers", DROP),
    row(SEARCH, "remote/headers/0/name", "Cookie"),
    row(SEARCH, "remote/timeouts/connectMilliseconds", 3_600_000),
    row(OPA, "variants/0/installRoot", "/opt/agentsuite/opa"),
]


@pytest.mark.parametrize("found", ACCEPTED, ids=str)
def test_what_agrees_is_accepted(found: Row, tmp_path: Path) -> None:
    suite = found.build()
    suite.symlinks[f"{PAYLOAD}/bin/now"] = next(
        item["linkTarget"] for item in suite.at(CLOCK, "variants/0/files") if item["type"] == "symlink"
    )
    assert faults(validate(suite.directory(tmp_path / "suite"))) == []


def test_a_listed_file_that_is_absent(tmp_path: Path) -> None:
    """9.4; in a carrier too, where the folder above is then gone as well."""
    suite = SuiteBuilder()
    del suite.files[f"{PAYLOAD}/share/zone.txt"]
    suite.folders[f"{PAYLOAD}/share"] = 0o755
    expected = [(REQUIREMENT, "tool-provider", f"{FILES}/{ZONE}")]
    assert faults(validate(suite.directory(tmp_path / "suite"))) == expected
    assert faults(validate(suite.layout(tmp_path / "layout"))) == expected


def test_a_folder_is_not_implied_by_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The order of the inventory does not matter: both entries are absent."""
    suite = SuiteBuilder()
    del suite.files[f"{PAYLOAD}/share/zone.txt"]
    report = validate(suite.directory(tmp_path / "suite"))
    assert faults(report) == [(REQUIREMENT, "tool-provider", f"{FILES}/{number}") for number in (ZONE, SHARE)]


def test_an_install_root_of_slash(tmp_path: Path) -> None:
    suite = SuiteBuilder()
    suite.edit(OPA, "variants/0/installRoot", "/")
    suite.edit(OPA, "variants/0/entrypoint", "/bin/opa")
    assert faults(validate(suite.directory(tmp_path / "suite"))) == []


def test_a_variant_cannot_depend_on_its_own_provider(tmp_path: Path) -> None:
    """9.4: it is a cycle as well (AS-GRAPH-001), and its digest cannot be right."""
    suite = SuiteBuilder()
    suite.edit(OPA, "variants/0/dependencies", [{"id": "opa", "version": "1.0.0", "variantDigest": STALE}])
    report = validate(suite.directory(tmp_path / "suite"))
    place = f"{OPA}#/variants/0/dependencies"
    assert (REQUIREMENT, "tool-provider", f"{place}/0") in faults(report)
    assert ("AS-GRAPH-001", "graph", place) in faults(report)


@pytest.mark.parametrize(
    "name", ["PYTHONHOME", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "ENV", "JAVA_TOOL_OPTIONS", "DYLD_INSERT_LIBRARIES"]
)
def test_environment_that_can_inject_code_is_a_warning(name: str, tmp_path: Path) -> None:
    """Names beyond those that are refused."""
    report = check(row(OPA, "variants/0/environment", [{"name": name}]), REQUIREMENT, tmp_path)
    assert [(found.category, found.location) for found in report.findings] == [
        ("security", f"{OPA}#/variants/0/environment/0/name")
    ]


# --- what only an archive can say ---


def test_ownership_in_a_layer(tmp_path: Path) -> None:
    """9.4: payload files are root-owned."""
    suite = SuiteBuilder().seal()
    path = f"{PAYLOAD}/share/zone.txt"
    data = suite.files.pop(path)
    suite.more.append(TarEntry(path, data=data, owner=1000))
    assert faults(validate(suite.layout(tmp_path / "layout"))) == [
        (REQUIREMENT, "tool-provider", f"{FILES}/{ZONE}/uid"),
        (REQUIREMENT, "tool-provider", f"{FILES}/{ZONE}/gid"),
    ]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda suite: suite.hardlinks.update({f"{PAYLOAD}/bin/then": f"{PAYLOAD}/share/zone.txt"}), "linkTarget"),
        (lambda suite: suite.edit(CLOCK, f"variants/0/files/{THEN}/linkTarget", "bin/clock"), "linkTarget"),
        (lambda suite: suite.edit(CLOCK, f"variants/0/files/{THEN}/mode", 0o555), "mode"),
        (lambda suite: suite.folders.update({f"{PAYLOAD}/bin": 0o700}), None),
    ],
)
def test_links_and_folders_in_a_layer(change: Any, place: str | None, tmp_path: Path) -> None:
    """9.4: type, mode and link target; a hardlink's target is a content path. A directory cannot show either."""
    suite = SuiteBuilder()
    change(suite)
    number, place = (THEN, place) if place else (BIN, "mode")
    expected = [(REQUIREMENT, "tool-provider", f"{FILES}/{number}/{place}")]
    assert faults(validate(suite.layout(tmp_path / "layout"))) == expected


def test_a_file_where_a_hardlink_is_listed(tmp_path: Path) -> None:
    """In a layer that is another type; in an extracted directory it cannot be told apart."""
    suite = SuiteBuilder()
    suite.hardlinks.clear()
    path = f"{PAYLOAD}/bin/then"
    suite.files[path], suite.modes[path] = suite.files[f"{PAYLOAD}/bin/clock"], 0o755
    assert faults(validate(suite.directory(tmp_path / "suite"))) == []
    assert faults(validate(suite.layout(tmp_path / "layout"))) == [
        (REQUIREMENT, "tool-provider", f"{FILES}/{THEN}/type")
    ]


def test_a_mismatch_names_both_values(tmp_path: Path) -> None:
    suite = SuiteBuilder()
    suite.files[f"{PAYLOAD}/share/zone.txt"] = b"UTD\n"
    report = validate(suite.directory(tmp_path / "suite"))
    for data in (b"UTC\n", b"UTD\n"):
        assert digest_bytes(data) in report.findings[0].message
