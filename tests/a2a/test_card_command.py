"""`agentsuite card`: what the commands take, write, say and refuse."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agentsuite_converters.a2a.publishing import WELL_KNOWN
from tests.a2a.cards import URL, public_profile, write_tree
from tests.a2a.conftest import Command, read, written
from tests.a2a.keys import PASSPHRASE
from tests.cli.commands import agentsuite
from tests.cli.test_startup import loaded_by
from tests.converters.documents import aib, aidip, brick, write_files
from tests.hatch.projects import snapshot

INSTALL = 'pip install "hatch-agentsuite[a2a]"'
MODES = ("--input-mode", "text/plain", "--output-mode", "text/plain")


@pytest.fixture
def tree(cli: Command) -> Path:
    """An authoring tree with two agents that have a public capability, and one that has none."""
    return write_tree(
        Path("suite"),
        harbour=public_profile(interfaces=[{"url": URL, "binding": "JSONRPC"}]),
        pilot=public_profile(name="Pilot", interfaces=[{"url": "https://agents.example.com/pilot"}]),
        keeper={"capabilities": [{"id": "lamp", "description": "Lights it.", "visibility": "private"}]},
    )


# --- build ---


@pytest.mark.parametrize("build", [("card",), ("card", "build")], ids=" ".join)
@pytest.mark.parametrize("is_first", [True, False])
def test_card_of_an_agent(cli: Command, tree: Path, build: tuple[str, ...], is_first: bool) -> None:
    """`agentsuite card SUITE --agent ID -o FILE`, with the options before or behind."""
    given = ("--agent", "harbour", "-o", "card.json")
    outcome = cli(*build, *((tree, *given) if is_first else (*given, tree)))
    assert outcome.status == 0, outcome.err
    assert outcome.out == "card.json\n"
    card = read("card.json")
    assert card["name"] == "Harbour Guide"
    assert [skill["id"] for skill in card["skills"]] == ["berth"]
    assert Path("card.json").read_bytes() == (json.dumps(card, indent=2, sort_keys=True) + "\n").encode()


def test_tree_content_layout_and_archive_give_the_same_card(cli: Command, tree: Path) -> None:
    assert cli("pack", tree, "-o", "made.agentsuite", "--name", "port").status == 0
    assert cli("pack", tree, "-o", "made.tar", "--archive", "--name", "port").status == 0
    assert cli("unpack", "made.agentsuite", "content").status == 0
    cards = []
    for number, suite in enumerate([tree, "made.agentsuite", "made.tar", "content"]):
        assert cli("card", suite, "--agent", "pilot", "-o", f"{number}.json").status == 0
        cards.append(Path(f"{number}.json").read_bytes())
    assert len(set(cards)) == 1


@pytest.mark.parametrize(("version", "member"), [("1.0", "supportedInterfaces"), ("0.3", "url")])
def test_options_of_the_card(cli: Command, tree: Path, version: str, member: str) -> None:
    outcome = cli(
        "card", tree, "--agent", "harbour", "-o", "card.json", "--protocol-version", version,
        "--url", "HTTP+JSON=https://a.example.com/{agent}", "--url", "https://b.example.com/", "--binding", "GRPC",
        "--name", "N", "--description", "D", "--card-version", "3.0.0", "--provider", "P",
        "--provider-url", "https://p.example.com/", "--documentation-url", "https://d.example.com/",
        "--icon-url", "https://i.example.com/", "--input-mode", "a/b", "--input-mode", "c/d", "--output-mode", "e/f",
        "--streaming", "--push-notifications",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    card = read("card.json")
    assert member in card
    assert (card["name"], card["description"], card["version"]) == ("N", "D", "3.0.0")
    assert card["provider"] == {"organization": "P", "url": "https://p.example.com/"}
    assert (card["documentationUrl"], card["iconUrl"]) == ("https://d.example.com/", "https://i.example.com/")
    assert (card["defaultInputModes"], card["defaultOutputModes"]) == (["a/b", "c/d"], ["e/f"])
    assert card["capabilities"] == {"streaming": True, "pushNotifications": True}
    listed = card.get("supportedInterfaces") or card["additionalInterfaces"]
    assert [item["url"] for item in listed] == ["https://a.example.com/harbour", "https://b.example.com/"]
    assert [item.get("protocolBinding") or item["transport"] for item in listed] == ["HTTP+JSON", "GRPC"]


def test_what_is_derived_is_said(cli: Command, tree: Path) -> None:
    outcome = cli("card", tree, "--agent", "pilot", "-o", "card.json")
    assert "pilot: an Agent Card of version 1.0\n" in outcome.err
    assert "derived: /supportedInterfaces: `JSONRPC`, since no binding is given" in outcome.err


def test_digest_of_a_packed_suite(cli: Command, tree: Path) -> None:
    assert cli("pack", tree, "-o", "made.agentsuite", "--name", "port").status == 0
    digest = json.loads(cli("inspect", "--format", "json", "made.agentsuite").out)["digest"]
    assert cli("card", "made.agentsuite", "--agent", "pilot", "-o", "card.json", "--with-digest").status == 0
    assert read("card.json")["capabilities"]["extensions"][0]["params"]["suiteDigest"] == digest
    outcome = cli("card", tree, "--agent", "pilot", "-o", "other.json", "--with-digest")
    assert (outcome.status, Path("other.json").exists()) == (2, False)


FORMATS: list[tuple[str, Any, tuple[str, ...]]] = [
    ("brick", brick, ("--tag", "boats")),
    ("aib", aib, ("--tag", "boats", "--card-version", "1.0.0", "--url", URL)),
    ("aidip", aidip, ("--provider-url", "https://port.example.com/", "--binding", "JSONRPC")),
]


@pytest.mark.parametrize(("form", "build", "given"), FORMATS)
def test_card_of_a_document(cli: Command, form: str, build: Any, given: tuple[str, ...]) -> None:
    """`--from FORMAT`: a BRICK, AIB or AIDIP document directly, with no suite between."""
    write_files(Path())
    document = written("agent.json", build())
    outcome = cli("card", document, "--from", form, *given, *MODES, "-o", "card.json")
    assert outcome.status == 0, outcome.err
    assert cli("card", "check", "card.json").status == 0
    lacking = cli("card", document, "--from", form, "-o", "other.json")
    assert lacking.status == 1
    assert "--input-mode" in lacking.err
    identifier = outcome.err.partition(":")[0]
    for agent, status in ((identifier, 0), ("another", 2)):
        named = cli("card", document, "--from", form, "--agent", agent, *given, *MODES, "-o", "card.json")
        assert named.status == status
    assert not Path("other.json").exists()


REFUSED: list[tuple[tuple[str, ...], int, str]] = [
    (("suite", "-o", "c.json"), 2, "choose one by --agent (`harbour`, `keeper`, `pilot`)"),
    (("suite", "--agent", "nobody", "-o", "c.json"), 1, "no agent is called `nobody`"),
    (("missing", "-o", "c.json"), 1, "there is no such file or folder"),
    (("suite", "--agent", "keeper", "-o", "c.json"), 1, "#/skills"),
    (("suite", "--agent", "pilot"), 2, "'-o'"),
    (("suite", "--agent", "pilot", "-o", "c.json", "--url", "http://agents.example.com/"), 1, "use https"),
    (("suite", "--agent", "pilot", "-o", "c.json", "--url", "jsonrpc=https://a.example.com/"), 1, "write `JSONRPC`"),
    (("suite", "--agent", "pilot", "-o", "c.json", "--url", "https://a.internal/"), 1, "A2A-PRIVACY-001"),
    (("suite", "--agent", "pilot", "-o", "c.json", "--url", "http://localhost:1/"), 1, "A2A-PRIVACY-001"),
    (("suite", "--agent", "pilot", "-o", "c.json", "--protocol-version", "0.2"), 2, "0.2"),
    (("suite", "--agent", "pilot", "-o", "c.json", "--input-mode", "text"), 1, "write `text/plain`"),
    (("suite", "--agent", "pilot", "-o", "c.json", "--name", "\udcff"), 1, "A2A-"),
    (("agent.json", "--from", "toml", "-o", "c.json"), 2, "toml"),
    (("agent.json", "--from", "aib", "-o", "c.json"), 1, "AIB-"),
]


@pytest.mark.parametrize(("arguments", "status", "said"), REFUSED)
def test_what_is_refused_writes_nothing(
    cli: Command, tree: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    written("agent.json", {"agent_id": 7})
    before = snapshot(Path())
    outcome = cli("card", *arguments)
    assert outcome.status == status
    assert said in outcome.err
    assert snapshot(Path()) == before


def test_allow_local_is_for_trying_out(cli: Command, tree: Path) -> None:
    given = ("card", tree, "--agent", "pilot", "-o", "c.json", "--url", "http://127.0.0.1:9/")
    assert cli(*given).status == 1
    outcome = cli(*given, "--allow-local")
    assert outcome.status == 0
    assert "warning" in outcome.err


def test_a_file_that_changes_needs_force(cli: Command, tree: Path) -> None:
    given = ("card", tree, "--agent", "pilot", "-o", "deep/c.json")
    assert cli(*given).status == 0
    before = Path("deep/c.json").read_bytes()
    assert cli(*given).status == 0, "the same content is no change"
    outcome = cli(*given, "--name", "Other")
    assert outcome.status == 1
    assert "--force" in outcome.err
    assert Path("deep/c.json").read_bytes() == before
    assert cli(*given, "--name", "Other", "--force").status == 0
    assert read("deep/c.json")["name"] == "Other"


# --- site ---


def test_site_has_the_cards_of_all_public_agents(cli: Command, tree: Path) -> None:
    """Static files under their well-known paths (A2A 1.0 section 8.2); no card for an agent without a public one."""
    outcome = cli("card", "site", tree, "-o", "site")
    assert outcome.status == 0, outcome.err
    assert list(snapshot(Path("site"))) == [f"harbour/{WELL_KNOWN}", f"pilot/{WELL_KNOWN}"]
    assert outcome.out.splitlines() == [f"site/harbour/{WELL_KNOWN}", f"site/pilot/{WELL_KNOWN}"]
    assert cli("card", tree, "--agent", "pilot", "-o", "pilot.json").status == 0
    assert Path("pilot.json").read_bytes() == Path("site/pilot", WELL_KNOWN).read_bytes()


def test_agent_stands_for_the_id(cli: Command, tree: Path) -> None:
    assert cli("card", "site", tree, "-o", "site", "--url", "https://x.example.com/{agent}/a2a").status == 0
    for name in ("harbour", "pilot"):
        [interface] = read(Path("site", name, WELL_KNOWN))["supportedInterfaces"]
        assert interface["url"] == f"https://x.example.com/{name}/a2a"


def test_two_agents_at_one_url_are_a_warning(cli: Command, tree: Path) -> None:
    outcome = cli("card", "site", tree, "-o", "site", "--url", "https://x.example.com/")
    assert outcome.status == 0
    assert "warning: pilot#/supportedInterfaces/0/url: the agent `harbour` is called at this URL, too" in outcome.err
    assert "called at this URL" not in cli("card", "site", tree, "-o", "site2").err


def test_site_is_whole_or_not_at_all(cli: Command, tree: Path) -> None:
    """One agent that cannot be published keeps all from being written, and every fault of all is told."""
    write_tree(Path("suite"), ghost={"version": "1", "capabilities": public_profile()["capabilities"]})
    outcome = cli("card", "site", tree, "-o", "site")
    assert outcome.status == 1
    assert "ghost#/supportedInterfaces" in outcome.err
    assert "ghost#/defaultInputModes" in outcome.err
    assert not Path("site").exists()


def test_site_without_a_public_agent(cli: Command) -> None:
    tree = write_tree(Path("suite"), keeper={"goals": ["Keep"]})
    outcome = cli("card", "site", tree, "-o", "site")
    assert outcome.status == 1
    assert "no agent has a public capability" in outcome.err


# --- the extra ---


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra is not installed: nothing of it can be imported."""
    for name in [name for name in sys.modules if name.partition(".")[0] in {"a2a", "google", "jwt", "cryptography"}]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("a2a", "google.protobuf", "google", "jwt", "cryptography"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("keys", "without_extra")
@pytest.mark.parametrize(
    "arguments",
    [
        ("suite", "--agent", "pilot", "-o", "out.json"),
        ("site", "suite", "-o", "out.json"),
        ("sign", "card.json", "--key", "key.pem", "-o", "out.json"),
        ("verify", "card.json", "--key", "public.pem"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_without_the_extra_a_clear_message(cli: Command, tree: Path, arguments: tuple[str, ...]) -> None:
    outcome = cli("card", *arguments)
    assert outcome.status == 1
    assert INSTALL in outcome.err
    assert outcome.err.count("\n") == 1, "nothing but what to install"
    assert not Path("out.json").exists()


@pytest.mark.usefixtures("without_extra")
def test_what_needs_no_sdk_works_without_it(cli: Command, tree: Path) -> None:
    """Cards of 0.3, checking and upgrading."""
    outcome = cli("card", tree, "--agent", "pilot", "-o", "old.json", "--protocol-version", "0.3")
    assert outcome.status == 0, outcome.err
    assert cli("card", "upgrade", "old.json", "-o", "new.json").status == 0
    assert cli("card", "check", "old.json", "new.json").status == 0


@pytest.mark.parametrize("arguments", [("card", "--help"), ("card", "check", "--help"), ("card", "nope", "-o", "x")])
def test_start_loads_nothing_of_the_extra(cli: Command, arguments: tuple[str, ...]) -> None:
    """With the extra or without it, a start of the command line costs the same."""
    assert loaded_by(*arguments) & {"a2a", "google", "jwt", "cryptography", "pydantic", "starlette", "httpx"} == set()


# --- processes ---


def test_equal_input_gives_equal_bytes_in_every_process(cli: Command, tree: Path) -> None:
    """Maps of protocol buffers have a random order in each process; no byte of a card depends on it."""
    schemes = {
        name: {"mtlsSecurityScheme": {"description": name}} for name in ("zz", "aa", "mm", "bb", "yy", "cc", "xx")
    }
    security = {"schemes": schemes, "requirements": [{name: [] for name in schemes}]}
    write_tree(tree, harbour=public_profile(security=security))
    seen = set()
    for seed in ("0", "1", "4711"):
        for version in ("1.0", "0.3"):
            name = f"{seed}-{version}.json"
            outcome = agentsuite(
                "card", tree, "--agent", "harbour", "-o", name, "--protocol-version", version, PYTHONHASHSEED=seed
            )
            assert outcome.status == 0, outcome.err
            seen.add(Path(name).read_bytes())
    assert len(seen) == 2


# --- signed as it is made ---


@pytest.mark.usefixtures("keys")
def test_card_is_signed_as_it_is_made(cli: Command, tree: Path) -> None:
    """`--sign KEY.pem [--kid K] [--jku URL]`: the card is the same but for its signature, which the key verifies."""
    jku = "https://agents.example.com/jwks.json"
    assert cli("card", tree, "--agent", "harbour", "-o", "plain.json").status == 0
    signing = ("--sign", "key.pem", "--kid", "k1", "--jku", jku)
    assert cli("card", tree, "--agent", "harbour", "-o", "signed.json", *signing).status == 0
    signed = read("signed.json")
    assert len(signed.pop("signatures")) == 1
    assert signed == read("plain.json")
    assert cli("card", "verify", "signed.json", "--key", "public.pem").status == 0
    assert cli("card", "verify", "signed.json", "--key", "other.pem").status == 1


@pytest.mark.usefixtures("keys")
def test_cards_of_a_site_are_signed(cli: Command, tree: Path) -> None:
    """With one passphrase for all of them."""
    outcome = cli("card", "site", tree, "-o", "site", "--sign", "locked.pem", stdin=f"{PASSPHRASE}\n")
    assert outcome.status == 0, outcome.err
    assert outcome.err.count("Passphrase") == 1
    for agent in ("harbour", "pilot"):
        assert cli("card", "verify", f"site/{agent}/{WELL_KNOWN}", "--key", "public.pem").status == 0


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--sign", "key.pem", "--protocol-version", "0.3"), 1, "only cards of A2A 1.0 are signed"),
        (("--sign", "public.pem"), 1, "no private key in PEM"),
        (("--sign", "key.pem", "--jku", "http://keys.example.com/"), 2, "--jku is an https URL"),
        (("--kid", "k1"), 2, "give --sign KEY"),
    ],
)
def test_card_that_cannot_be_signed_is_not_written(
    cli: Command, tree: Path, options: tuple[str, ...], status: int, said: str
) -> None:
    outcome = cli("card", tree, "--agent", "harbour", "-o", "signed.json", *options)
    assert outcome.status == status
    assert said in outcome.err
    assert not Path("signed.json").exists()
