"""The clock example's payload is a real MCP server: what it says to the official client, and to a hostile line."""

import json
import os
import re
import stat
import subprocess
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
import yaml
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SUITE = Path(__file__).parents[2] / "examples" / "clock" / "suite"
PROVIDER = SUITE / "tool-providers" / "clock" / "1.0.0"
SERVER = PROVIDER / "linux-amd64" / "bin" / "clock"
MANIFEST = yaml.safe_load((PROVIDER / "tool-provider.yaml").read_text())
TOOL = MANIFEST["tools"][0]
NEWEST = MANIFEST["revision"]

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602


def schema(member: str) -> Any:
    return json.loads((SUITE / TOOL[member]["path"]).read_text())


class Server:
    """The clock under one shell."""

    def __init__(self, shell: list[str], path: str) -> None:
        self.command = [*shell, str(SERVER)]
        self.environment = {"PATH": path}

    def raw(self, sent: bytes) -> bytes:
        done = subprocess.run(
            self.command, input=sent, capture_output=True, env=self.environment, timeout=10, check=True
        )
        assert done.stderr == b""
        return done.stdout

    def tell(self, *lines: str | bytes) -> list[Any]:
        """Send lines, read the answers: each is one JSON document on one line."""
        sent = b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
        received = self.raw(sent)
        assert received == b"" or received.endswith(b"\n")
        return [json.loads(line) for line in received.decode().splitlines()]

    def ask(self, method: str, params: Any = None) -> Any:
        request = {"jsonrpc": "2.0", "id": 1, "method": method} | ({} if params is None else {"params": params})
        [answer] = self.tell(json.dumps(request))
        assert answer["jsonrpc"] == "2.0"
        assert answer["id"] == 1
        return answer


@pytest.fixture(params=["sh", "dash", "bash --posix", "busybox sh"])
def server(request: pytest.FixtureRequest, require_tool: Callable[[str], str], tmp_path: Path) -> Server:
    name, *arguments = request.param.split()
    executable = require_tool(name)
    path = os.environ["PATH"]
    if name == "busybox":  # with its own utilities, as on a small runtime base
        for utility in ("awk", "date"):
            (tmp_path / utility).symlink_to(executable)
        path = str(tmp_path)
    return Server([executable, *arguments], path)


def error(answer: Any) -> tuple[Any, int]:
    return answer["id"], answer["error"]["code"]


# --- the payload ---


def test_both_payloads_are_the_same_executable() -> None:
    twin = PROVIDER / "linux-arm64" / "bin" / "clock"
    assert SERVER.read_bytes() == twin.read_bytes()
    for payload in (SERVER, twin):
        assert stat.S_IMODE(payload.stat().st_mode) & 0o111 == 0o111


@pytest.mark.parametrize("member", ["inputSchema", "outputSchema"])
def test_schema_files_are_json_schemas(member: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(member))
    assert schema(member)["type"] == "object"


# --- the official client ---


def seconds_since_1970(said: str | int) -> int:
    return said if isinstance(said, int) else int(datetime.fromisoformat(said.replace("Z", "+00:00")).timestamp())


def with_client(talk: Callable[[ClientSession], Awaitable[None]]) -> None:
    async def main() -> None:
        parameters = StdioServerParameters(command=str(SERVER))
        async with stdio_client(parameters) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
            with anyio.fail_after(10):
                started = (await session.initialize()).model_dump(by_alias=True)
                assert started["serverInfo"]["name"] == "clock"
                assert started["serverInfo"]["version"] == PROVIDER.name
                await talk(session)

    anyio.run(main)


def test_client_lists_the_tools_that_the_manifest_declares() -> None:
    async def talk(session: ClientSession) -> None:
        listed = (await session.list_tools()).model_dump(by_alias=True)["tools"]
        assert [tool["name"] for tool in listed] == [tool["name"] for tool in MANIFEST["tools"]]
        assert listed[0]["description"] == TOOL["description"]
        assert listed[0]["inputSchema"] == schema("inputSchema")
        assert listed[0]["outputSchema"] == schema("outputSchema")

    with_client(talk)


@pytest.mark.parametrize("arguments", [None, {}, {"format": "rfc3339"}, {"format": "unix"}], ids=str)
def test_client_calls_the_tool(arguments: dict[str, Any] | None) -> None:
    async def talk(session: ClientSession) -> None:
        before = int(time.time())
        result = (await session.call_tool("current_time", arguments)).model_dump(by_alias=True)
        assert not result["isError"]
        reading = result["structuredContent"]
        jsonschema.validate(reading, schema("outputSchema"), jsonschema.Draft202012Validator)
        assert json.loads(result["content"][0]["text"]) == reading
        assert reading["format"] == (arguments or {}).get("format", "rfc3339")
        said = reading["time"]
        seconds = (
            said if isinstance(said, int) else int(datetime.fromisoformat(said.replace("Z", "+00:00")).timestamp())
        )
        assert before <= seconds <= int(time.time())

    with_client(talk)


# --- the protocol, line by line ---


@pytest.mark.parametrize("known", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_initialize_agrees_to_a_known_revision(server: Server, known: str) -> None:
    result = server.ask("initialize", {"protocolVersion": known, "capabilities": {}})["result"]
    assert result["protocolVersion"] == known
    assert result["capabilities"] == {"tools": {}}


@pytest.mark.parametrize("unknown", ["", "1999-01-01", "2024-11-05 2025-03-26", "2024-11-05\u0000"])
def test_initialize_offers_the_newest_revision_otherwise(server: Server, unknown: str) -> None:
    assert server.ask("initialize", {"protocolVersion": unknown})["result"]["protocolVersion"] == NEWEST


def test_silence(server: Server) -> None:
    assert server.raw(b"") == b""
    assert (
        server.tell(
            "",
            " \t\r",
            '{"jsonrpc":"2.0","method":"notifications/initialized"}',
            '{"jsonrpc":"2.0","method":"ping"}',
            '{"jsonrpc":"2.0","method":"no/such","params":{"id":1}}',
            '{"jsonrpc":"2.0","id":1,"result":{}}',
            '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}',
            '[{"jsonrpc":"2.0","method":"ping"}]',
        )
        == []
    )


@pytest.mark.parametrize(
    "identifier",
    [
        "0",
        "-7",
        "1.50e3",
        "12345678901234567890123",
        '""',
        r'"a\"method\":\"x"',
        r'"{\"method\":\"tools/list\"}"',
        r'"\\\\\" \/\b\f\n\r\t \u0041 \u0000 \ud83d\ude00 \uD800"',
        '"caf\u00e9 \u2026 \u65e5\u672c \U0001f600 \u0081\u0082\u0088\u007f"',
        "\"%s %d %c & \\\\& $(date) `date` ${PATH} '; date; '\"",
        '"' + "x" * 60000 + '"',
    ],
    ids=lambda identifier: identifier[:20].encode("unicode_escape").decode(),
)
def test_ids_come_back_as_they_were_written(server: Server, identifier: str) -> None:
    sent = f'{{"jsonrpc":"2.0","id":{identifier},"method":"ping"}}\n'
    assert server.raw(sent.encode()) == f'{{"jsonrpc":"2.0","id":{identifier},"result":{{}}}}\n'.encode()


@pytest.mark.parametrize(
    "line",
    [
        r'{"jsonrpc":"2.0","id":1,"method":"\u0070ing"}',
        r'{"json\u0072pc":"\u0032.0","id":1,"meth\u006fd":"ping"}',
        '{"method":"ping","params":{"method":"tools/list","id":2,"_meta":{"method":"x"}},"id":1,"jsonrpc":"2.0"}',
        '{"x":{"method":"tools/list"},"y":[{"method":"tools/call"},"method"],"jsonrpc":"2.0","id":1,"method":"ping"}',
        r'{"x":"\",\"method\":\"tools/list","jsonrpc":"2.0","id":1,"method":"ping"}',
        r'{"x\\":"\\","jsonrpc":"2.0","id":1,"method":"ping"}',
        '\t{ "jsonrpc" : "2.0" , "id" : 1 , "method" : "ping" , "params" : { } }\r',
        '{"jsonrpc":"2.0","id":1,"method":"ping","x":[[],{},-0,1e9,true,false,null,[1,[2,[3]]]]}',
        '{"jsonrpc":"2.0","id":1,"method":"ping","x":' + "[" * 98 + "]" * 98 + "}",
    ],
)
def test_only_the_outer_members_count(server: Server, line: str) -> None:
    assert server.tell(line) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@pytest.mark.parametrize(
    "line",
    [
        "{nope",
        "}",
        '{"jsonrpc":"2.0","id":1,"method":"ping"',
        '{"jsonrpc":"2.0","id":1,"method":"ping",}',
        '{"jsonrpc":"2.0","id":1,"method":"ping"} x',
        '{"jsonrpc":"2.0","id":1,"method":"ping"}{}',
        '{"jsonrpc":"2.0","id":01,"method":"ping"}',
        '{"jsonrpc":"2.0","id":+1,"method":"ping"}',
        '{"jsonrpc":"2.0","id":1.,"method":"ping"}',
        '{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
        '{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}',
        r'{"jsonrpc":"2.0","id":1,"i\u0064":1,"method":"ping"}',
        r'{"jsonrpc":"2.0","id":"\x41","method":"ping"}',
        r'{"jsonrpc":"2.0","id":"\u12","method":"ping"}',
        '{"jsonrpc":"2.0","id":"tab\t","method":"ping"}',
        '{"jsonrpc":"2.0","id":"\x01","method":"ping"}',
        "{'jsonrpc':'2.0','id':1,'method':'ping'}",
        "[1,]",
        "[" * 101 + "]" * 101,
        "[" * 20000,
        b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}',
        b'{"jsonrpc":"2.0","id":"\xc0\xaf","method":"ping"}',
        b'{"jsonrpc":"2.0","id":"\xed\xa0\x80","method":"ping"}',
        b'{"jsonrpc":"2.0","id":"\xf4\x90\x80\x80","method":"ping"}',
        b'{"jsonrpc":"2.0","id":"\xe2\x82","method":"ping"}',
    ],
    ids=lambda line: repr(line[:45]),
)
def test_what_is_not_json(server: Server, line: str | bytes) -> None:
    answers = server.tell(line, '{"jsonrpc":"2.0","id":2,"method":"ping"}')
    assert error(answers[0]) == (None, PARSE_ERROR)
    assert answers[1:] == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


@pytest.mark.parametrize(
    ("line", "identifier"),
    [
        ('"ping"', None),
        ("[]", None),
        ("{}", None),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
        ('{"jsonrpc":"2.0","id":{"method":"ping"},"method":"ping"}', None),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
        ('{"jsonrpc":2.0,"id":1,"method":"ping"}', 1),
        ('{"jsonrpc":"1.0","id":"a","method":"ping"}', "a"),
        ('{"id":1,"method":"ping"}', 1),
        ('{"jsonrpc":"2.0","id":1}', 1),
        ('{"jsonrpc":"2.0","id":1,"method":7}', 1),
        ('{"jsonrpc":"2.0","id":"' + "x" * 65536 + '","method":"ping"}', None),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_no_request(server: Server, line: str, identifier: Any) -> None:
    [answer] = server.tell(line)
    assert error(answer) == (identifier, INVALID_REQUEST)


@pytest.mark.parametrize("method", ["no/such", "", "PING", "ping\u0000", "ping ", "server/discover", "1"])
def test_unknown_method(server: Server, method: str) -> None:
    assert error(server.ask(method)) == (1, METHOD_NOT_FOUND)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("ping", [1]),
        ("ping", "x"),
        ("initialize", {}),
        ("initialize", {"protocolVersion": 20250618}),
        ("tools/list", {"cursor": "x"}),
        ("tools/call", {}),
        ("tools/call", {"name": 1}),
        ("tools/call", {"name": "no_such_tool"}),
        ("tools/call", {"name": "current_time\u0000"}),
        ("tools/call", {"name": {"name": "current_time"}}),
        ("tools/call", {"name": "current_time", "arguments": "x"}),
    ],
)
def test_invalid_params(server: Server, method: str, params: Any) -> None:
    assert error(server.ask(method, params)) == (1, INVALID_PARAMS)


def test_an_unknown_tool_is_named(server: Server) -> None:
    answer = server.ask("tools/call", {"name": 'rm "-rf" \\ \u00e9 $(x)'})
    assert answer["error"]["message"] == 'Unknown tool: rm "-rf" \\ \u00e9 $(x)'


@pytest.mark.parametrize(
    "arguments",
    [
        {"format": "iso"},
        {"format": ""},
        {"format": None},
        {"format": ["unix"]},
        {"format": "unix\u0000"},
        {"format": "$(touch /tmp/x)"},
        {"zone": "CET"},
        {"format": "unix", "zone": "CET"},
    ],
)
def test_bad_arguments_are_told_to_the_model(server: Server, arguments: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(arguments, schema("inputSchema"), jsonschema.Draft202012Validator)
    result = server.ask("tools/call", {"name": "current_time", "arguments": arguments})["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert "format" in result["content"][0]["text"]


@pytest.mark.parametrize("written", ["rfc3339", "unix"])
def test_both_formats_under_every_shell(server: Server, written: str) -> None:
    result = server.ask("tools/call", {"name": "current_time", "arguments": {"format": written}})["result"]
    jsonschema.validate(result["structuredContent"], schema("outputSchema"), jsonschema.Draft202012Validator)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_a_clock_that_cannot_be_read(require_tool: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "awk").symlink_to(require_tool("awk"))
    (tmp_path / "date").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "date").chmod(0o755)
    result = Server(["/bin/sh"], str(tmp_path)).ask("tools/call", {"name": "current_time"})["result"]
    assert result["isError"] is True


def test_batch(server: Server) -> None:
    lines = [
        '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":"b","method":"no/such"}',
        "7",
    ]
    [answers] = server.tell("[" + ",".join(lines) + "]")
    assert answers[0] == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert [error(answer) for answer in answers[1:]] == [("b", METHOD_NOT_FOUND), (None, INVALID_REQUEST)]


def test_each_answer_comes_before_the_next_question(server: Server) -> None:
    """No buffering: the client may wait for one answer with standard input still open."""
    with subprocess.Popen(
        server.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=server.environment
    ) as process:
        assert process.stdin
        assert process.stdout
        for number in range(3):
            process.stdin.write(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % number)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(timeout=10) == 0


def test_it_needs_no_more_than_it_declares(tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    """With nothing else on the search path than the declared base paths, everything works."""
    declared = MANIFEST["variants"][0]["runtime"]["requiredBasePaths"]
    assert all(variant["runtime"]["requiredBasePaths"] == declared for variant in MANIFEST["variants"])
    assert SERVER.read_text().startswith("#!/bin/sh\n")
    for path in declared:
        (tmp_path / Path(path).name).symlink_to(require_tool(Path(path).name))
    answer = Server(["/bin/sh"], str(tmp_path)).ask("tools/call", {"name": "current_time"})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", answer["result"]["structuredContent"]["time"])
