"""Reading documents of other formats: JSON, JSON with comments, YAML, by the strict profile (specification 5.3)."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsuite_converters.document import loads, read, without_comments
from hatch_agentsuite.findings import Finding, RefusedError
from hatch_agentsuite.jsondoc import JSONDocumentError
from tests.converters.random_json import ANYTHING

REQUIREMENT = "X-JSON-001"

COMMENTS = [
    (b"{} // end", b"{}       "),
    (b"// a\n{}", b"    \n{}"),
    (b"// a\r{}", b"    \r{}"),
    (b"{/* a\n b */}", b"{    \n     }"),
    (b"{/**/}", b"{    }"),
    (b"{/***/}", b"{     }"),
    (b"/* // */{}", b"        {}"),
    (b"// /*\n{}", b"     \n{}"),
    (b'{"a": "// no"}', b'{"a": "// no"}'),
    (b'{"a": "\\"// no"}', b'{"a": "\\"// no"}'),
    (b'{"a": "\\\\"} // yes', b'{"a": "\\\\"}       '),
    (b'{"a": "/* no */"}', b'{"a": "/* no */"}'),
    (b'// it"s\n{}', b"       \n{}"),
    ("// é\n{}".encode(), b"     \n{}"),
    (b"/* open", b"/* open"),
    (b"/*/", b"/*/"),
    (b"/", b"/"),
    (b"", b""),
]


def refused(path: Path, *, comments: bool = False) -> Finding:
    with pytest.raises(RefusedError) as error:
        read(path, REQUIREMENT, comments=comments)
    (finding,) = error.value.findings
    assert finding.requirement == REQUIREMENT
    assert finding.is_error
    return finding


@pytest.mark.parametrize(("data", "expected"), COMMENTS)
def test_comments_become_blank_and_strings_stay(data: bytes, expected: bytes) -> None:
    """Lines and columns of everything else stay, so findings point into the file as it is."""
    assert without_comments(data) == expected


@settings(max_examples=100, deadline=None)
@given(value=ANYTHING, indent=st.sampled_from([None, 0, 2]))
def test_json_without_comments_is_unchanged(value: Any, indent: int | None) -> None:
    data = json.dumps(value, indent=indent).encode()
    assert without_comments(data) == data


@settings(max_examples=100, deadline=None)
@given(value=st.lists(st.text(alphabet='/*"\\ \na'), max_size=6), note=st.text(alphabet='/" \\a'))
def test_comments_between_values_change_nothing(value: list[str], note: str) -> None:
    data = (
        "[//" + note + "\n" + ", /*\n".join(json.dumps(item) + "/* " + note.replace("/", "") + " */" for item in value)
    )
    data = data.replace(", /*\n", ", /*" + note.replace("/", "") + "*/\n") + "]"
    assert loads(data.encode(), comments=True).value == value


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=60) | st.text(alphabet='/*"\\{}[]:, \na1').map(str.encode), yaml=st.booleans())
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes, yaml: bool) -> None:
    path = tmp_path_factory.getbasetemp() / ("any.yaml" if yaml else "any.json")
    path.write_bytes(data)
    with suppress(RefusedError):
        read(path, REQUIREMENT, comments=True)


@pytest.mark.parametrize("name", ["a.json", "a.jsonc", "a", "a.YAML", "a.yml"])
def test_the_suffix_tells_yaml_from_json(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"a": 1}' if "json" in name or name == "a" else "a: 1\n")
    assert read(tmp_path / name, REQUIREMENT).value == {"a": 1}


@pytest.mark.parametrize(
    ("name", "data", "place", "line"),
    [
        ("a.json", b'{"a": 1, "a": 2}', "#/a", None),
        ("a.json", b'{"a": NaN}', "#/a", None),
        ("a.json", b'{"a": 9007199254740993}', "#/a", None),
        ("a.json", b'{"a": "\\ud800"}', "#/a", None),
        ("a.json", b"\xef\xbb\xbf{}", "#", None),
        ("a.json", b'{"a": "\xff"}', "#", 1),
        ("a.json", b"{\n}}", "#", 2),
        ("a.json", b"", "#", 1),
        ("a.json", b"[" * 200, "#", 1),
        ("a.json", b" " * (4 * 1024**2) + b"{}", "#", None),
        ("a.json", b"{} // not here", "#", 1),
        ("a.yaml", b"a: 1\na: 2\n", "#/a", 2),
        ("a.yaml", b"a: yes\n", "#/a", 1),
        ("a.yaml", b"a: !!python/object/apply:os.system [id]\n", "#/a", 1),
        ("a.yaml", b"a: &x 1\nb: *x\n", "#/a", 1),
    ],
)
def test_what_is_not_strict_is_one_finding(
    tmp_path: Path, name: str, data: bytes, place: str, line: int | None
) -> None:
    (tmp_path / name).write_bytes(data)
    finding = refused(tmp_path / name)
    assert (finding.location, finding.line) == (f"{tmp_path / name}{place}", line)


def test_an_open_comment_is_refused_where_it_begins(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1,\n  /* never closed')
    finding = refused(tmp_path / "a.json", comments=True)
    assert (finding.line, finding.column) == (2, 3)


def test_a_trailing_comma_is_no_comment(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1, // last\n}')
    assert refused(tmp_path / "a.json", comments=True).line is not None


def test_a_symlink_is_read_and_a_fifo_is_not(tmp_path: Path) -> None:
    """A user may name a link; nothing that would block or never end is opened."""
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "link.json").symlink_to("real.json")
    assert read(tmp_path / "link.json", REQUIREMENT).value == {}
    os.mkfifo(tmp_path / "fifo.json")
    assert "no regular file" in refused(tmp_path / "fifo.json").message
    assert refused(tmp_path).category == "path"
    assert refused(Path("/dev/zero")).category == "path"
    assert "No such file" in refused(tmp_path / "absent.json").message


def test_marks_are_those_of_yaml() -> None:
    assert loads(b"a:\n  - b\n", yaml=True).marks["/a/0"] == (2, 5)
    assert loads(b'{"a": 1}').marks == {}


@pytest.mark.parametrize("unit", [b'"\\"', b"/*", b'"', b"/", b"//", b"*/", b"\\"])
def test_hostile_text_is_scanned_in_linear_time(unit: bytes) -> None:
    data = unit * (500_000 // len(unit))
    start = time.process_time()
    without_comments(data)
    assert time.process_time() - start < 5


def test_loads_raises_what_jsondoc_raises() -> None:
    with pytest.raises(JSONDocumentError):
        loads(b"{", comments=True)
