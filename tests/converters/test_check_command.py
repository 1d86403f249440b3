"""`agentsuite check FORMAT FILE...`: exit status 0, 1 and 2, text and JSON, formats found as entry points."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hatch_agentsuite import formats
from hatch_agentsuite.cli import main
from hatch_agentsuite.findings import Finding
from tests.converters import test_aib, test_aidip, test_brick
from tests.converters.documents import aib, aidip, brick, write_files
from tests.converters.mutations import changed

BUILD: dict[str, Callable[[], Any]] = {"aib": aib, "aidip": aidip, "brick": brick}


def check(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, ["check", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def written(folder: Path, document: Any, name: str = "agent.json") -> Path:
    file = write_files(folder) / name
    file.write_text(json.dumps(document))
    return file


@pytest.mark.parametrize("name", BUILD)
def test_a_valid_document_is_accepted(tmp_path: Path, name: str) -> None:
    file = written(tmp_path, BUILD[name]())
    result = check(name, file)
    assert (result.exit_code, result.stdout) == (0, f"{file}: valid\n")


def test_a_refused_document_is_status_1_with_its_findings(tmp_path: Path) -> None:
    file = written(tmp_path, changed(brick(), "/capabilities/0/toolRefs/0", "winds:now"))
    result = check("brick", file)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"{file}: refused",
        (
            f"  error: {file}#/capabilities/0/toolRefs/0: no MCP server has the id `winds` "
            "(servers: `almanac`, `berths`) [BRICK-REF-001]"
        ),
    ]


def test_warnings_do_not_refuse(tmp_path: Path) -> None:
    file = written(tmp_path, changed(aidip(), "/status", "beta"))
    result = check("aidip", file)
    assert result.exit_code == 0
    assert "valid" in result.stdout
    assert "warning" in result.stdout
    assert "AIDIP-STATUS-001" in result.stdout


def test_several_files_are_all_judged(tmp_path: Path) -> None:
    good = written(tmp_path, brick())
    bad = written(tmp_path, {}, "bad.json")
    result = check("brick", "--format", "json", bad, good)
    assert result.exit_code == 1
    first, second = json.loads(result.stdout)
    assert (first["path"], first["format"], first["valid"]) == (str(bad), "brick", False)
    assert {finding["requirement"] for finding in first["findings"]} == {"BRICK-SCHEMA-001"}
    assert second == {"path": str(good), "format": "brick", "valid": True, "findings": []}


def test_json_of_one_file_is_one_object(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"a": 1, "a": 2}')
    result = check("aib", "--format", "json", file)
    (finding,) = json.loads(result.stdout)["findings"]
    assert finding["requirement"] == "AIB-JSON-001"
    assert finding["location"] == f"{file}#/a"


@pytest.mark.parametrize("name", ["adl", "BRICK", "", "brick\x1b[31m"])
def test_an_unknown_format_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    result = check(name, written(tmp_path, brick()))
    assert result.exit_code == 2
    assert "known formats: aib, aidip, brick" in result.stderr
    assert "\x1b[31m" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [[], ["brick"], ["brick", "absent.json"], ["brick", "--format", "xml", "x"]])
def test_wrong_usage_is_status_2(arguments: list[str]) -> None:
    assert check(*arguments).exit_code == 2


def test_a_folder_in_place_of_a_file_is_a_finding(tmp_path: Path) -> None:
    result = check("brick", tmp_path)
    assert result.exit_code == 1
    assert "BRICK-JSON-001" in result.stdout


def test_hostile_text_does_not_reach_the_terminal(tmp_path: Path) -> None:
    file = written(tmp_path, {"evil\x1b]0;x\x07\u202e": 1}, "evil\x1b[31m.json")
    result = check("brick", file)
    assert result.exit_code == 1
    assert all(character.isprintable() or character == "\n" for character in result.stdout)


# --- the registry ------------------------------------------------------------------------------------------------


class Theirs:
    def check_file(self, path: Path) -> list[Finding]:
        return [Finding("ADL-X-001", "json", f"{path}#/x", "wrong")]


THEIRS = Theirs()


def test_formats_are_found_as_entry_points() -> None:
    assert formats.names() == ["aib", "aidip", "brick"]
    for name in formats.names():
        assert formats.find(name).name == name  # type: ignore[attr-defined]


def test_another_package_adds_a_format_without_a_patch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("adl", f"{__name__}:THEIRS", formats.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: THEIRS)
    monkeypatch.setattr(formats, "entry_points", lambda **asked: [entry] if asked.get("name", "adl") == "adl" else [])
    result = check("adl", written(tmp_path, {}))
    assert result.exit_code == 1
    assert "ADL-X-001" in result.stdout
    assert "known formats: adl" in check("brick", written(tmp_path, {})).stderr


def test_a_format_that_cannot_be_loaded_is_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("adl", "no_such_package:FORMAT", formats.GROUP)
    monkeypatch.setattr(formats, "entry_points", lambda **_: [entry])
    result = check("adl", written(tmp_path, {}))
    assert result.exit_code == 2
    assert "cannot be loaded: No module named 'no_such_package'" in result.stderr


def test_the_page_lists_every_requirement_and_no_other() -> None:
    """docs/formats.md says what is judged."""
    tables = [row for module in (test_aib, test_aidip, test_brick) for row in [*module.BROKEN, *module.WARNED]]
    judged = {row[2] for row in tables} | {f"{name.upper()}-JSON-001" for name in BUILD}
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\b(?:AIB|AIDIP|BRICK)-[A-Z0-9]+-\d{3}\b", page)) == judged


def test_the_core_does_not_import_the_converters() -> None:
    """The command line finds them when a format is asked for, and not before."""
    import subprocess
    import sys

    code = (
        "import sys, hatch_agentsuite.cli.check_command, hatch_agentsuite.formats as f\n"
        "f.names(); assert 'agentsuite_converters' not in sys.modules, 'too early'\n"
        "f.find('brick'); assert 'agentsuite_converters' in sys.modules\n"
        "assert not {'jsonschema', 'jsonschema_rs', 're2', 'yaml'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
