"""Privacy (BRICK section 9, A2A 1.0 sections 13.3 and 14.3): what a card discloses refuses it, and is not repeated."""

from __future__ import annotations

import time
from typing import Any

import pytest

from agentsuite_converters.a2a.disclosure import disclosed
from agentsuite_converters.a2a.projection import CardOptions
from agentsuite_converters.a2a.publishing import publish_card
from agentsuite_converters.supplies import supplies
from hatch_agentsuite.findings import RefusedError
from hatch_agentsuite.validation.credentials import shapes
from tests.a2a.cards import CAPABILITIES, PROMPT, URL, Json, agent, bare, card_03, card_10, changed, full_03, full_10

CREDENTIAL = shapes()[0].positive[0]


def shapes_of(place: str, text: str) -> list[bool]:
    """Return of each finding about a text at a place of a card whether it is an error; the place has to be right."""
    found = list(disclosed(changed(card_10(), {place: text}), None))
    assert {finding.location for finding in found} <= {f"#{place}"}
    assert all(finding.requirement == "A2A-PRIVACY-001" for finding in found)
    assert all(text not in f"{finding.message}{finding.hint}" for finding in found)
    return [finding.is_error for finding in found]


# --- shapes ---

HOSTS = [
    "localhost", "LOCALHOST", "a.localhost", "127.0.0.1", "127.9.9.9", "127.1", "2130706433", "[::1]", "0.0.0.0",
    "10.0.0.7", "172.16.0.1", "192.168.1.20", "100.64.0.1", "169.254.169.254", "[fe80::1]", "[fd00::7]",
    "[::ffff:10.0.0.7]", "intranet", "billing", "billing.internal", "billing.prod.internal.", "nas.local", "x.lan",
    "x.corp", "x.home", "x.localdomain", "x.intranet", "x.private", "api.default.svc", "api.svc.cluster.local",
]  # fmt: skip
PUBLIC_HOSTS = [
    "example.com", "agents.example.com", "8.8.8.8", "[2606:4700::1111]", "internal.example.com", "local.example.com",
    "svc.example.com", "xn--bcher-kva.example", "a.b.c.example.org", "my-internal.example.com", "corp.example",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("form", ["https://{}/a", "http://{}:8080", "{}:443", "HTTPS://{}?x=1"])
@pytest.mark.parametrize("place", ["/supportedInterfaces/0/url", "/documentationUrl"])
def test_hosts_that_nobody_outside_reaches_are_refused(place: str, form: str, host: str) -> None:
    assert shapes_of(place, form.format(host)) == [True]


@pytest.mark.parametrize("host", HOSTS)
def test_they_are_refused_in_prose_that_writes_a_url(host: str) -> None:
    assert shapes_of("/description", f"Call (https://{host}/a), then wait.") == [True]


@pytest.mark.parametrize("host", PUBLIC_HOSTS)
def test_public_hosts_are_none_of_these(host: str) -> None:
    assert shapes_of("/documentationUrl", f"https://{host}:8443/a") == []
    assert shapes_of("/description", f"See https://{host}/a, or {host} itself.") == []


ERRORS = [
    "runs on billing.prod.internal",
    "(db1.corp)",
    "ask billing.local:8080 for it",
    "listens on localhost:9000",
    "http://localhost",
    "listens on 10.0.0.7:8080.",
    "fill in ${HOST} first",
    "Hello {{ user.name }}",
    "Send <API_KEY> along",
    "your key: YOUR_API_KEY",
    "YOUR-SERVICE is called",
    "reads /etc/passwd",
    "see /home/ida/agents/notes.md",
    "in ~/.ssh/config",
    r"under C:\Users\ida",
    "file:///srv/models/x.bin",
    "https://user:pw@agents.example.com/",
    "https://user@agents.example.com/",
    "https://agents.example.com/?api_key=1234",
    "https://agents.example.com/?a=b&access_token=1234",
    "https://agents.example.com/?clientSecret=1234",
    "https://agents.example.com/?X-Amz-Signature=1234",
    "wss://agents.example.com/?sig=1234#x",
]
WARNINGS = [
    "write to ida@port.example.nl",
    "mail harbour.master+berths@port.nl today",
    "release 10.4.1.2 is out",
    "at 192.168.1.20",
]
SILENT = [
    "Finds a berth, and the tide of the day.",
    "ida@example.com and bo@mail.example.org",
    "version 1.2.3.4",
    "10.4.1 and 410.",
    "a < B > c, List<str>, <b>bold</b>",
    "a set {x, y} of $5 {each}",
    "your service",
    "and/or, 24/7, text/plain, application/vnd.x+json",
    "/berths/north is the path",
    "etc/passwd, http:/x",
    "an internal matter of the local port, at home",
    "runs on localhost",
    "https://agents.example.com/?page=2&monkey=3&token=&tokenize=1",
    "https://agents.example.com/token?keyboard=us",
    "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi",
    "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432",
    "If you are a skipper, say so.",
]


@pytest.mark.parametrize("text", ERRORS)
@pytest.mark.parametrize("place", ["/description", "/skills/0/examples/0", "/skills/0/tags/0"])
def test_shapes_that_no_public_text_has_are_refused(place: str, text: str) -> None:
    card = changed(card_10(), {"/skills/0/examples": ["x"]})
    found = [finding for finding in disclosed(changed(card, {place: text}), None) if finding.is_error]
    assert [finding.location for finding in found] == [f"#{place}"]


@pytest.mark.parametrize("text", WARNINGS)
def test_what_may_be_meant_is_a_warning(text: str) -> None:
    assert shapes_of("/description", text) == [False]


@pytest.mark.parametrize("text", SILENT)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert shapes_of("/description", text) == []


@pytest.mark.parametrize("url", ["https://{tenant}.example.com/", "https://a.example.com/{id}", "https://x/${A}/<B>"])
def test_holes_in_urls_are_templates(url: str) -> None:
    assert True in shapes_of("/documentationUrl", url)


@pytest.mark.parametrize("url", ["data:image/png;base64,iVBORw0KGgo=", "data:,x", "DATA:image/svg+xml,%3Csvg/%3E"])
def test_an_icon_may_be_in_the_card_itself(url: str) -> None:
    assert shapes_of("/iconUrl", url) == []


@pytest.mark.parametrize("place", ["/description", "/skills/0/id", "/documentationUrl", "/provider"])
def test_credentials_are_refused_wherever_they_stand(place: str) -> None:
    value: Any = {"organization": CREDENTIAL} if place == "/provider" else CREDENTIAL
    found = list(disclosed(changed(card_10(), {place: value}), None))
    assert any(finding.is_error and "credential" in finding.message for finding in found)
    assert all(CREDENTIAL not in str(finding) for finding in found)


def test_names_that_somebody_chose_are_read_too() -> None:
    """Names of schemes and scopes are text, and no part of a location repeats a credential."""
    flow: Json = {"tokenUrl": "https://login.example.com/t", "scopes": {"read db.internal": "x", CREDENTIAL: "reads"}}
    schemes: Json = {CREDENTIAL: {"oauth2SecurityScheme": {"flows": {"clientCredentials": flow}}}}
    found = [finding for finding in disclosed({**card_10(), "securitySchemes": schemes}, None) if finding.is_error]
    assert len(found) == 3
    assert all(finding.location.startswith("#/securitySchemes") for finding in found)
    assert all(CREDENTIAL not in str(finding) for finding in found)


@pytest.mark.parametrize("card", [card_10(), card_03(), full_10(), full_03()])
def test_full_cards_disclose_nothing(card: Any) -> None:
    """No false positive: `tokenUrl`, an API-key scheme, `bearerFormat: JWT`, example.com, base64 of a signature."""
    signature: Json = {"protected": "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UifQ", "signature": "c2lnbmF0dXJl" * 7}
    assert list(disclosed({**card, "signatures": [signature]}, None)) == []


def test_allow_local_makes_hosts_a_warning_and_nothing_else() -> None:
    card = changed(card_10(), {"/description": "http://localhost:1/ ${X}", "/documentationUrl": "http://10.0.0.7/"})
    strict, tolerant = list(disclosed(card, None)), list(disclosed(card, None, allow_local=True))
    assert [finding.message for finding in strict] == [finding.message for finding in tolerant]
    assert [finding.is_error for finding in strict] == [True, True, True]
    assert sorted(finding.is_error for finding in tolerant) == [False, False, True]


# --- what is private of the agent ---

QUOTE = " ".join(PROMPT.split()[:9])


@pytest.mark.parametrize(
    ("said", "is_error"),
    [
        (f"Note: {QUOTE}.", True),
        (PROMPT.upper(), True),
        ("Never tell anybody that the eastern pier... is CLOSED, in winter", True),
        ("HARBOUR_API_KEY", True),
        ("gpt-harbour-9", True),
        ("acme-models", True),
        ("list_free", True),
        ("berth-register", True),
        ("calls berth-register:list_free", True),
        ("https://register.berths.example.net/mcp", True),
        ("see https://register.berths.example.net/health", True),
        ("hosted at register.berths.example.net", True),
        ("follows ./GUIDE.md", True),
        ("search", False),
        ("Set HARBOUR_API_KEY first.", False),
        ("runs on gpt-harbour-9", False),
        ("asks berth-register", False),
        ("Speaks for the northern harbour, and for nobody else", None),
        ("You are the guide", None),
        ("lets you search the register of berths", None),
        ("harbour_api_keys are none of ours, nor is my-gpt-harbour-9x", None),
        ("Ask the almanac", None),
        ("", None),
        ("Harbour Guide", None),
        ("the pilot", None),
    ],
)
def test_private_material_of_the_agent(said: str, is_error: bool | None) -> None:
    """Instructions by eight words in a row; names as whole values; the same word inside prose is a warning."""
    card = changed(card_10(), {"/skills/0/examples": [said]})
    found = list(disclosed(card, agent()))
    assert [finding.is_error for finding in found] == ([] if is_error is None else [is_error])
    for finding in found:
        assert finding.location == "#/skills/0/examples/0"
        for secret in ("list_free", "berth-register", "gpt-harbour-9", "acme-models", "HARBOUR", "example.net", "pier"):
            assert secret not in f"{finding.message} {finding.hint}"


@pytest.mark.parametrize(
    ("value", "member"),
    [
        ("berth-register", {"name": "berth-register"}),
        ("list_free", {"capabilities": [{**CAPABILITIES[0], "id": "list_free"}]}),
        ("HARBOUR_API_KEY", {"tags": ["HARBOUR_API_KEY"]}),
        ("acme-models", {"publisher": {"name": "acme-models", "url": "https://a.example.com"}}),
        ("register.berths.example.net", {"documentationUrl": "https://register.berths.example.net/docs"}),
    ],
)
def test_a_value_that_is_also_public_is_exempt(value: str, member: Any) -> None:
    """What the profile publishes as a name or an address discloses nothing; elsewhere on the card neither."""
    card = changed(card_10(), {"/skills/0/examples": [value]})
    assert len(list(disclosed(card, agent()))) == 1
    assert list(disclosed(card, agent(**member))) == []


def test_an_agent_without_a_model_or_servers_has_nothing_to_disclose() -> None:
    """Absent names are no empty names: a scope without a description is not `the model's provider`."""
    made = bare(servers=[], model={}, prompt="")
    card = changed(full_10(), {"/skills/0/examples/0": ""})
    assert list(disclosed(card, made)) == []


def test_the_public_endpoints_host_is_public() -> None:
    """BRICK section 9 speaks of internal addresses; a server beside the public endpoint is on a public host."""
    server = {"id": "s", "endpoint": "https://agents.example.com/mcp", "visibility": "private"}
    made = agent(servers=[server])
    assert list(disclosed(changed(card_10(), {"/description": "See agents.example.com"}), made)) == []
    [finding] = disclosed(changed(card_10(), {"/description": "Ask https://agents.example.com/mcp"}), made)
    assert finding.is_error


# --- the whole way ---


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize(
    ("option", "value", "place"),
    [
        ("description", f"It says: {QUOTE}.", "#/description"),
        ("name", "gpt-harbour-9 on localhost:80", "#/name"),
        ("documentation-url", "https://wiki.internal/", "#/documentationUrl"),
        ("provider-url", "https://u:p@port.example.com/", "#/provider/url"),
    ],
)
def test_a_card_that_discloses_is_not_published(version: str, option: str, value: str, place: str) -> None:
    with pytest.raises(RefusedError) as caught:
        publish_card(agent(), CardOptions(protocol_version=version), supplies({option: value}))
    assert place in {found.location for found in caught.value.findings if found.requirement == "A2A-PRIVACY-001"}
    assert all(value not in str(finding) for finding in caught.value.findings)


def test_a_local_url_needs_leave() -> None:
    given = CardOptions(urls=("http://127.0.0.1:9999/",))
    with pytest.raises(RefusedError):
        publish_card(agent(), given, {})
    assert any(not found.is_error for found in publish_card(agent(), given, {}, allow_local=True).warnings)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "a@" * 50_000,
        "a." * 50_000,
        "${" * 50_000,
        "{{" * 50_000,
        "<A" * 50_000,
        "http://[" * 12_000,
        "https://a" * 12_000,
        "1." * 50_000,
        "YOUR_" * 20_000,
        "-" * 100_000,
        f"{URL}?{'a=b&' * 25_000}",
        "localhost" * 10_000,
        "a.internal." * 10_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_is_judged_in_linear_time(text: str) -> None:
    """Doubling the text doubles the work at most, with much room; a square would take hours."""
    start = time.process_time()
    list(disclosed(changed(card_10(), {"/description": text, "/documentationUrl": text}), None))
    assert time.process_time() - start < 10
