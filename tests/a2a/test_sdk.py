"""Our cards seen by others: a server of a2a-sdk serves them, a client of a2a-sdk finds, accepts and uses them."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agentsuite_converters.a2a.projection import CardOptions
from agentsuite_converters.a2a.publishing import WELL_KNOWN, publish_card
from agentsuite_converters.a2a.upgrade import upgrade_card
from tests.a2a.cards import Json, agent

KEY = {"key": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}}}
SECURITY = {"schemes": KEY, "requirements": [{"key": []}]}


def test_the_well_known_path_is_the_sdks() -> None:
    from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH

    assert f"/{WELL_KNOWN}" == AGENT_CARD_WELL_KNOWN_PATH


def card_of(url: str, version: str, *, binding: str = "JSONRPC") -> bytes:
    """Return the card of our agent at a URL of this machine."""
    given = CardOptions(urls=(f"{binding}={url}",), protocol_version=version)
    return publish_card(agent(security=SECURITY), given, {}, allow_local=True).data


def application(data: bytes, *, static: bool) -> Any:
    """Return a server of the SDK with an agent that echoes; the card is served by the SDK's route, or as it is."""
    from a2a.client.card_resolver import parse_agent_card
    from a2a.helpers import get_message_text, new_text_message
    from a2a.server.agent_execution import AgentExecutor
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
    from a2a.server.routes.rest_routes import create_rest_routes
    from a2a.server.tasks import InMemoryTaskStore
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    class Echo(AgentExecutor):
        async def execute(self, context: Any, event_queue: Any) -> None:
            await event_queue.enqueue_event(new_text_message(f"echo {get_message_text(context.message)}"))

        async def cancel(self, context: Any, event_queue: Any) -> None:
            raise NotImplementedError

    async def as_it_is(_request: Any) -> Response:
        return Response(data, media_type="application/json")

    card = parse_agent_card(json.loads(data))
    handler = DefaultRequestHandler(Echo(), InMemoryTaskStore(), card)
    own = [Route(f"/{WELL_KNOWN}", as_it_is)] if static else create_agent_card_routes(card)
    rpc = create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True)
    return Starlette(routes=[*own, *rpc, *create_rest_routes(handler)])


@contextmanager
def serving(build: Callable[[str], bytes], *, static: bool) -> Iterator[str]:
    """Serve a card, made for the address it is served at; the context is that address."""
    import uvicorn

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        made = application(build(address), static=static)
        server = uvicorn.Server(uvicorn.Config(made, log_level="critical", ws="none", lifespan="off"))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(timeout=20)
            assert not thread.is_alive()


async def talk(address: str, bindings: list[str]) -> tuple[Any, str, str]:
    """Resolve the card, make a client that chooses a transport, and send a message; return card, URL and answer."""
    import httpx
    from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
    from a2a.helpers import get_message_text, new_text_message
    from a2a.types import Role, SendMessageRequest

    asked: list[str] = []

    async def remember(request: Any) -> None:
        asked.append(str(request.url))

    async with httpx.AsyncClient(timeout=20, event_hooks={"request": [remember]}) as http:
        for _ in range(200):
            try:
                card = await A2ACardResolver(http, address).get_agent_card()
                break
            except Exception as error:
                if "ConnectError" not in repr(error) and "connect" not in str(error).lower():
                    raise
                await asyncio.sleep(0.05)
        else:
            pytest.fail("the server did not come up")
        config = ClientConfig(streaming=False, httpx_client=http, supported_protocol_bindings=bindings)
        client = ClientFactory(config).create(card)
        request = SendMessageRequest(message=new_text_message("ahoy", role=Role.ROLE_USER))
        answers = [get_message_text(answer.message) async for answer in client.send_message(request)]
    return card, asked[-1], "".join(answers)


@pytest.mark.parametrize("static", [False, True], ids=["sdk-route", "static-file"])
@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_a_client_finds_accepts_and_uses_the_card(version: str, static: bool) -> None:
    with serving(lambda address: card_of(f"{address}/rpc", version), static=static) as address:
        card, url, answer = asyncio.run(talk(address, ["JSONRPC"]))
    assert card.name == "Harbour Guide"
    assert [skill.id for skill in card.skills] == ["berth", "tides"]
    assert [item.protocol_version[:3] for item in card.supported_interfaces] == [version]
    assert card.security_schemes["key"].api_key_security_scheme.name == "X-API-Key"
    assert list(card.security_requirements[0].schemes) == ["key"]
    assert (url, answer) == (f"{address}/rpc", "echo ahoy")


def test_a_client_chooses_among_the_bindings() -> None:
    """The first interface of the card that the client speaks (A2A 1.0 section 8.3): JSONRPC, else HTTP+JSON."""

    def both(address: str) -> bytes:
        given = CardOptions(urls=(f"{address}/rpc", f"HTTP+JSON={address}"))
        return publish_card(agent(security=SECURITY), given, {}, allow_local=True).data

    with serving(both, static=True) as address:
        for bindings, end in ((["HTTP+JSON"], "/message:send"), (["HTTP+JSON", "JSONRPC"], "/rpc")):
            _, url, answer = asyncio.run(talk(address, bindings))
            assert (url, answer) == (f"{address}{end}", "echo ahoy")


def test_an_upgraded_card_is_used_as_the_old_one_was() -> None:
    """The server speaks 0.3 still, and the card of 1.0 says so."""

    def upgraded(address: str) -> bytes:
        made: Json = upgrade_card(json.loads(card_of(f"{address}/rpc", "0.3"))).card
        assert made["supportedInterfaces"][0]["protocolVersion"] == "0.3"
        return json.dumps(made).encode()

    with serving(upgraded, static=True) as address:
        card, url, answer = asyncio.run(talk(address, ["JSONRPC"]))
    assert list(card.security_requirements[0].schemes) == ["key"]
    assert (url, answer) == (f"{address}/rpc", "echo ahoy")


def test_a_client_without_a_common_binding_is_refused() -> None:
    """The test can fail: a card of another binding is not usable for a client that speaks JSONRPC alone."""
    from a2a.client import ClientConfig, ClientFactory
    from a2a.client.card_resolver import parse_agent_card

    card = parse_agent_card(json.loads(card_of("http://127.0.0.1:9/", "1.0", binding="HTTP+JSON")))
    with pytest.raises(ValueError, match="no compatible transports"):
        ClientFactory(ClientConfig()).create(card)
