"""The strict JSON profile (sections 5.2 and 5.3): what is read, what is refused and where the refusal points."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hatch_agentsuite.jsondoc import MAX_DEPTH, JSONDocumentError, JSONLimits, canonical, loads

ROOT = Path(__file__).parents[2]
MEBIBYTE = 1024 * 1024

ACCEPTED: list[tuple[bytes, Any]] = [
    (b"null", None),
    (b" \t\r\n[ ] \n", []),
    (b"{}", {}),
    (b'{"a":{"a":1},"b":{"a":1}}', {"a": {"a": 1}, "b": {"a": 1}}),
    (b'{"Foo":1,"foo":2}', {"Foo": 1, "foo": 2}),
    (b"[9007199254740991,-9007199254740991]", [2**53 - 1, -(2**53) + 1]),
    (b"[0,-0,0.0,0e999,1e2,1.50,1E-7]", [0, 0, 0.0, 0.0, 100.0, 1.5, 1e-7]),
    (b"333333333.33333329", 333333333.33333329),
    (b"[5e-324,1.7976931348623157e308,1e21]", [5e-324, 1.7976931348623157e308, 1e21]),
    ('"caf\xe9 \U0001f600 \ufffd"'.encode(), "caf\xe9 \U0001f600 \ufffd"),
    (rb'"\ud83d\ude00\u0000\/\"\\"', '\U0001f600\0/"\\'),
    (b'"\xef\xbb\xbf"', "\ufeff"),
    (b'["[[[","}}}","\\"[","\\\\"]', ["[[[", "}}}", '"[', "\\"]),
]

REFUSED: list[tuple[bytes, str, str]] = [
    # one value, followed only by white space
    (b"", "not JSON", ""),
    (b"  ", "not JSON", ""),
    (b"{} {}", "not JSON", ""),
    (b"{}x", "not JSON", ""),
    (b"{}\0", "not JSON", ""),
    (b"\x0b1", "not JSON", ""),
    ("\xa01".encode(), "not JSON", ""),
    # what other readers of JSON allow
    (b"[1,]", "not JSON", ""),
    (b'{"a":1,}', "not JSON", ""),
    (b"{'a':1}", "not JSON", ""),
    (b"{a:1}", "not JSON", ""),
    (b"// x\n1", "not JSON", ""),
    (b"[01]", "not JSON", ""),
    (b"[+1]", "not JSON", ""),
    (b"[.5]", "not JSON", ""),
    (b"[1.]", "not JSON", ""),
    (b"[0x10]", "not JSON", ""),
    (b"[1_000]", "not JSON", ""),
    ("[\u0661]".encode(), "not JSON", ""),
    (b"[True]", "not JSON", ""),
    (b'"a\nb"', "not JSON", ""),
    (b'"\x00"', "not JSON", ""),
    (rb'"\x41"', "not JSON", ""),
    (rb'"\u12"', "not JSON", ""),
    (b'"open', "not JSON", ""),
    (b'"open\\', "not JSON", ""),
    (b"[", "not JSON", ""),
    (b"]", "not JSON", ""),
    # encodings
    (b"\xef\xbb\xbf{}", "byte-order mark", ""),
    ("{}".encode("utf-16"), "byte-order mark", ""),
    ("{}".encode("utf-16-le"), "not JSON", ""),
    ("{}".encode("utf-16-be"), "not JSON", ""),
    ("{}".encode("utf-32"), "byte-order mark", ""),
    (b'"\xff"', "not valid UTF-8", ""),
    (b'"\xc0\xaf"', "not valid UTF-8", ""),
    (b'"\xed\xa0\x80"', "not valid UTF-8", ""),
    (b'"\xf4\x90\x80\x80"', "not valid UTF-8", ""),
    # surrogates
    (rb'"\ud800"', "lone surrogate", ""),
    (rb'["",{"a":"x\udc00"}]', "lone surrogate", "/1/a"),
    (rb'"\ud83d\u0041"', "lone surrogate", ""),
    (rb'"\ude00\ud83d"', "lone surrogate", ""),
    (rb'{"a":[{"\ud800":1}]}', "name holds a lone surrogate", "/a/0"),
    # duplicate names
    (b'{"a":1,"a":1}', "written twice", "/a"),
    (b'{"x":[0,{"b/c":1,"d":2,"b/c":3}]}', "written twice", "/x/1/b~1c"),
    (rb'{"a":1,"\u0061":2}', "written twice", "/a"),
    (b'{"a":{"b":1,"b":2},"c":0}', "written twice", "/a/b"),
    (b'{"a":{"b":1,"b":2},"a":0}', "written twice", "/a"),
    (b'{"":1,"":2}', "written twice", "/"),
    # numbers that are none, or that canonical JSON would change
    (b"NaN", "NaN is not JSON", ""),
    (b"[0,Infinity]", "Infinity is not JSON", "/1"),
    (b'{"a":-Infinity}', "-Infinity is not JSON", "/a"),
    (b"[1e400]", "too large", "/0"),
    (b"[-1e400]", "too large", "/0"),
    (b"[1e-400]", "too small", "/0"),
    (b"[-0.0000001e-320]", "too small", "/0"),
    (b"9007199254740992", "beyond 2^53 - 1", ""),
    (b"-9007199254740992", "beyond 2^53 - 1", ""),
    (b"9007199254740993", "beyond 2^53 - 1", ""),
    (b"9007199254740992.0", "beyond 2^53 - 1", ""),
    (b"[1e20]", "beyond 2^53 - 1", "/0"),
    (b"[-999999999999999900000.0]", "beyond 2^53 - 1", "/0"),
    (b"1" * 5_000, "beyond 2^53 - 1", ""),
    (b"0." + b"1" * 5_000, "more than 1,000 characters", ""),
]


@pytest.mark.parametrize(("data", "expected"), ACCEPTED)
def test_strict_json_is_read(data: bytes, expected: Any) -> None:
    """5.3: a document is UTF-8 and holds one JSON value followed only by white space."""
    assert loads(data) == expected


@pytest.mark.parametrize(("data", "message", "pointer"), REFUSED, ids=range(len(REFUSED)))
def test_anything_else_is_refused_where_it_stands(data: bytes, message: str, pointer: str) -> None:
    """5.3: with the reason, and a pointer that itself can be printed."""
    with pytest.raises(JSONDocumentError) as caught:
        loads(data)
    assert message in caught.value.message
    assert caught.value.pointer == pointer
    caught.value.pointer.encode()


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b'{\n  "a": 1\n  "b": 2\n}', 3, 3),
        (b"[1,\n x]", 2, 2),
        (b'[\n"\xff"]', 2, 2),
        (b'"\xff"', 1, 2),
        (b"[\n" + b"[" * 100, 2, 1),
    ],
)
def test_a_fault_of_the_text_has_line_and_column(data: bytes, line: int, column: int) -> None:
    with pytest.raises(JSONDocumentError) as caught:
        loads(data)
    assert (caught.value.line, caught.value.column) == (line, column)


def nested(levels: int, opening: bytes, closing: bytes) -> bytes:
    return opening * levels + b"0" + closing * levels


def wide(members: int) -> bytes:
    return b"{" + b",".join(b'"m%d":0' % number for number in range(members)) + b"}"


LIMITS = [
    ("4 MiB", b'"' + b"a" * (4 * MEBIBYTE - 2) + b'"', b'"' + b"a" * (4 * MEBIBYTE - 1) + b'"', "4,194,304"),
    ("white space counts", b"0" + b" " * (4 * MEBIBYTE - 1), b"0" + b" " * 4 * MEBIBYTE, "4,194,304"),
    ("100 arrays", nested(100, b"[", b"]"), nested(101, b"[", b"]"), "100 levels"),
    ("100 objects", nested(100, b'{"a":', b"}"), nested(101, b'{"a":', b"}"), "100 levels"),
    ("50 of each", nested(50, b'[{"[":', b"}]"), b"[" + nested(50, b'[{"[":', b"}]") + b"]", "100 levels"),
    ("1,024 members", wide(1_024), wide(1_025), "1,025 members"),
    (
        "100,000 members a document",
        b"[" + b",".join([wide(1_000)] * 100) + b"]",
        b"[" + b",".join([wide(1_000)] * 100) + b',{"a":0}]',
        "100,000 object members",
    ),
]


@pytest.mark.parametrize(("accepted", "refused", "message"), [case[1:] for case in LIMITS], ids=[c[0] for c in LIMITS])
def test_limits_of_a_document_hold_on_both_sides(accepted: bytes, refused: bytes, message: str) -> None:
    """5.2: 4 MiB, 100 levels, 1,024 members per object and 100,000 per document."""
    loads(accepted)
    with pytest.raises(JSONDocumentError, match=message):
        loads(refused)


def test_an_object_with_too_many_members_is_pointed_at() -> None:
    with pytest.raises(JSONDocumentError) as caught:
        loads(b'{"a":[0,' + wide(1_025) + b"]}")
    assert caught.value.pointer == "/a/1"


def test_a_depth_that_recursion_could_not_bear_cannot_be_chosen() -> None:
    """5.2: the deepest that can is read and written; one more is refused when it is asked for, not when it is met."""
    deepest = JSONLimits(depth=MAX_DEPTH)
    value = loads(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, deepest)
    assert canonical(value) == b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    with pytest.raises(JSONDocumentError, match=f"more than {MAX_DEPTH} levels"):
        loads(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), deepest)
    with pytest.raises(ValueError, match=f"at most {MAX_DEPTH} levels, not 5,000"):
        JSONLimits(depth=5_000)


def test_limits_can_be_chosen() -> None:
    limits = JSONLimits(document_bytes=20, depth=2, object_members=2, document_members=3)
    assert loads(b'[{"a":0,"b":0}]', limits) == [{"a": 0, "b": 0}]
    for data in (b" " * 21, b"[[[0]]]", b'{"a":0,"b":0,"c":0}', b'[{"a":0},{"b":0,"c":{}},{"d":0}]'):
        with pytest.raises(JSONDocumentError):
            loads(data, limits)


TRAPS = """
import resource
from hatch_agentsuite.jsondoc import JSONDocumentError, loads
size = 4 * 1024 * 1024
for data in (
    b"[" * 10**6,
    b'{"a":' * (size // 5),
    b"]" * 10**6 + b"[" * 10**6,
    b"1" * 10**6,
    b"0." + b"1" * 10**6,
    b'"' * size,
    b'"' + b"\\\\" * (size - 1),
    b'"' + b"\\\\" * (size - 2) + b'"',
    b'"' + b'\\\\"' * (size // 2 - 1),
    b'"\\\\' * (size // 2),
    b'"' + b'a"' * (size // 2 - 1),
):
    try:
        loads(data)
    except JSONDocumentError as error:
        print(error.message[:30])
    else:
        print("accepted")
try:  # Linux counts the parent's memory in ru_maxrss, too
    with open("/proc/self/status") as status:
        print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
except OSError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="measures memory by getrusage")
def test_hostile_documents_cost_little_time_and_memory() -> None:
    """5.2: depth, digits and quotes without end; anything quadratic would take hours, recursion would crash."""
    done = subprocess.run(
        [sys.executable, "-c", TRAPS], cwd=ROOT, capture_output=True, check=False, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    *messages, peak = done.stdout.split("\n")[:-1]
    assert len(messages) == 11
    assert messages.count("accepted") == 1  # the string of backslashes that is closed
    kibibytes = int(peak) if sys.platform != "darwin" else int(peak) // 1024
    assert kibibytes < 120 * 1024
