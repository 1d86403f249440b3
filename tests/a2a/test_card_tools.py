"""`agentsuite card check`, `upgrade`, `sign` and `verify`: what they take, write, say and refuse."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.a2a.cards import URL, Json, card_03, card_10, changed, full_03, full_10
from tests.a2a.conftest import Command, read, written
from tests.a2a.keys import PASSPHRASE
from tests.cli.commands import ESCAPED, HOSTILE, is_harmless

# --- check ---


def test_valid_cards_are_accepted(cli: Command) -> None:
    outcome = cli("card", "check", written("a.json", full_10()), written("b.json", full_03()))
    assert outcome.status == 0
    assert "a.json: valid\n" in outcome.out
    assert "b.json: valid\n" in outcome.out
    assert "warning: b.json#/url: `url` is not of A2A 1.0" in outcome.err + outcome.out


def test_a_broken_card_is_status_1(cli: Command) -> None:
    broken = written("a.json", changed(card_10(), {"/skills/0/tags": [], "/defaultInputModes/0": "text"}))
    outcome = cli("card", "check", broken, written("b.json", card_10()))
    assert outcome.status == 1
    assert "a.json: refused\n" in outcome.out
    assert "a.json#/skills/0/tags" in outcome.err + outcome.out
    assert "write `text/plain`" in outcome.err + outcome.out
    assert "b.json: valid\n" in outcome.out


def test_check_for_programs(cli: Command) -> None:
    one = json.loads(cli("card", "check", "--format", "json", written("a.json", card_10())).out)
    assert (one["path"], one["valid"], one["findings"]) == ("a.json", True, [])
    outcome = cli("card", "check", "--format", "json", "a.json", written("b.json", {"x": 1}))
    assert outcome.status == 1
    _, two = json.loads(outcome.out)
    assert two["valid"] is False
    assert two["findings"][0]["requirement"] == "A2A-VERSION-001"
    assert two["findings"][0]["location"] == "b.json#"


def test_check_sees_what_no_card_should_say(cli: Command) -> None:
    card = changed(card_10(), {"/description": "Reads /etc/passwd on db.internal", "/skills/0/examples": ["a@port.nl"]})
    outcome = cli("card", "check", written("a.json", card))
    assert outcome.status == 1
    assert "a.json#/description" in outcome.out + outcome.err
    assert "a.json#/skills/0/examples/0" in outcome.out + outcome.err
    assert "passwd" not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "A2A-JSON-001"), (b"{", "A2A-JSON-001"), (b'{"a":1,"a":2}', "A2A-JSON-001"), (b"[" * 200, "A2A-JSON-001"),
     (b"[]", "a JSON object"), (b"\xff", "A2A-JSON-001"), (b"<html>", "A2A-JSON-001"), (b"null", "a JSON object")],
)  # fmt: skip
def test_what_is_no_card_is_refused(cli: Command, data: bytes, said: str) -> None:
    Path("a.json").write_bytes(data)
    for command in (("check",), ("upgrade", "-o", "b.json")):
        outcome = cli("card", *command, "a.json")
        assert outcome.status == 1
        assert said in outcome.out + outcome.err
    assert not Path("b.json").exists()


def test_a_hostile_card_does_not_reach_the_terminal(cli: Command) -> None:
    card = {**card_10(), HOSTILE: 1, "securitySchemes": {HOSTILE: {}}, "securityRequirements": [{HOSTILE: []}]}
    outcome = cli("card", "check", written(f"{HOSTILE}.json", card))
    assert outcome.status == 1
    assert is_harmless(outcome.out + outcome.err)
    assert ESCAPED in outcome.out + outcome.err


def _big(**more: Any) -> Json:
    return {**card_10(), **more}


_SKILL: Json = card_10()["skills"][0]
HUGE: dict[str, Any] = {
    "skills": _big(skills=[{**_SKILL, "id": f"s{number}"} for number in range(5_000)]),
    "bad skills": _big(skills=[{"id": "s"}] * 5_000),
    "bad modes": _big(defaultInputModes=["text"] * 10_000),
    "schemes": _big(
        securitySchemes={f"s{number}": {"mtlsSecurityScheme": {"description": "x"}} for number in range(5_000)},
        securityRequirements=[{"schemes": {f"t{number}": {"list": []}}} for number in range(5_000)],
    ),
    "old schemes": {
        **card_03(),
        "securitySchemes": {
            f"s{n}": {"type": "oauth2", "flows": {"implicit": {}, "password": {}}} for n in range(5_000)
        },
        "security": [{f"s{number}": [] for number in range(5_000)}],
        "additionalInterfaces": [{"url": f"{URL}/{number}", "transport": "JSONRPC"} for number in range(5_000)],
    },
    "interfaces": _big(supportedInterfaces=card_10()["supportedInterfaces"] * 5_000),
    "depth": _big(capabilities={"extensions": [{"uri": "u:x", "params": json.loads('{"a":' * 90 + "1" + "}" * 90)}]}),
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_cards_are_judged_in_bounded_time_and_words(cli: Command, name: str) -> None:
    """Time does not grow with the square of a card, and of thousands of faults a hundred are told and counted."""
    written("a.json", HUGE[name])
    start = time.process_time()
    outcome = cli("card", "check", "a.json")
    cli("card", "upgrade", "a.json", "-o", "b.json")
    assert time.process_time() - start < 10
    assert outcome.status == (name.startswith(("bad", "scheme", "old", "depth")))
    assert len((outcome.out + outcome.err).splitlines()) < 210


# --- upgrade ---


def test_upgrade_writes_a_card_of_10_and_says_what_became_of_the_old_one(cli: Command) -> None:
    outcome = cli("card", "upgrade", written("old.json", full_03()), "-o", "new.json", "--report", "report.json")
    assert outcome.status == 0, outcome.err
    assert "dropped: /capabilities/stateTransitionHistory" in outcome.err
    report = read("report.json")["old.json"]
    assert {"carried", "derived", "dropped", "supplied"} == report.keys()
    assert cli("card", "check", "new.json").status == 0
    schemes = read("new.json")["securitySchemes"]
    assert sorted(schemes) == ["bearer", "key", "mtls", "oauthAuthorizationCode", "oauthClientCredentials", "openid"]


def test_upgrade_refuses_to_drop_when_told_so(cli: Command) -> None:
    written("old.json", full_03())
    assert cli("card", "upgrade", "old.json", "-o", "new.json", "--strict").status == 1
    assert not Path("new.json").exists()


def test_upgrade_names_what_10_requires(cli: Command) -> None:
    written("old.json", changed(card_03(), {"/skills/0/tags": []}))
    outcome = cli("card", "upgrade", "old.json", "-o", "new.json")
    assert outcome.status == 1
    assert "/skills/0/tags" in outcome.err
    assert not Path("new.json").exists()


def test_upgrade_says_what_the_server_speaks(cli: Command) -> None:
    written("old.json", card_03())
    for version in ("1.0", "0.3"):
        assert (
            cli("card", "upgrade", "old.json", "-o", "new.json", "--protocol-version", version, "--force").status == 0
        )
        assert read("new.json")["supportedInterfaces"][0]["protocolVersion"] == version


# --- sign and verify ---


@pytest.mark.usefixtures("keys")
def test_sign_and_verify(cli: Command) -> None:
    assert cli("card", "sign", "card.json", "--key", "key.pem", "--kid", "k1", "-o", "signed.json").status == 0
    assert {**read("signed.json"), "signatures": None} == {**card_10(), "signatures": None}
    outcome = cli("card", "verify", "signed.json", "--key", "public.pem")
    assert (outcome.status, outcome.out) == (0, "signed.json: signed by this key\n")
    assert cli("card", "check", "signed.json").status == 0
    for key, card in (("other.pem", "signed.json"), ("public.pem", "card.json"), ("key.pem", "signed.json")):
        outcome = cli("card", "verify", card, "--key", key)
        assert outcome.status == 1
        assert "A2A-SIGN-001" in outcome.err


@pytest.mark.usefixtures("keys")
def test_one_changed_byte_does_not_verify(cli: Command) -> None:
    assert cli("card", "sign", "card.json", "--key", "key.pem", "-o", "signed.json").status == 0
    text = Path("signed.json").read_text()
    Path("signed.json").write_text(text.replace("Harbour Guide", "Harbour guide"))
    assert cli("card", "verify", "signed.json", "--key", "public.pem").status == 1


@pytest.mark.usefixtures("keys")
def test_a_card_may_be_signed_in_place_and_twice(cli: Command) -> None:
    for count in (1, 2):
        assert cli("card", "sign", "card.json", "--key", "key.pem", "-o", "card.json").status == 0
        assert len(read("card.json")["signatures"]) == count
    written("else.json", {})
    outcome = cli("card", "sign", "card.json", "--key", "key.pem", "-o", "else.json")
    assert outcome.status == 1
    assert "--force" in outcome.err
    assert read("else.json") == {}


@pytest.mark.usefixtures("keys")
def test_an_encrypted_key_asks_for_its_passphrase(cli: Command) -> None:
    """The passphrase is typed unseen, and is in no message; a wrong one writes nothing."""
    given = ("card", "sign", "card.json", "--key", "locked.pem", "-o", "signed.json")
    wrong = cli(*given, stdin="battery staple\n")
    assert wrong.status == 1
    assert "battery" not in wrong.out + wrong.err
    assert not Path("signed.json").exists()
    right = cli(*given, stdin=f"{PASSPHRASE}\n")
    assert right.status == 0, right.err
    assert "Passphrase" in right.err
    assert PASSPHRASE not in right.out + right.err
    assert cli("card", "verify", "signed.json", "--key", "public.pem").status == 0


@pytest.mark.usefixtures("keys")
def test_a_key_is_in_no_message(cli: Command) -> None:
    body = Path("key.pem").read_text().splitlines()[1]
    Path("broken.pem").write_text(f"-----BEGIN PRIVATE KEY-----\n{body}\n")
    for key in ("broken.pem", "public.pem", "card.json"):
        for command in (("sign", "-o", "signed.json"), ("verify",)):
            outcome = cli("card", *command, "card.json", "--key", key)
            assert outcome.status == 1
            assert body not in outcome.out + outcome.err


@pytest.mark.usefixtures("keys")
def test_cards_of_03_are_not_signed(cli: Command) -> None:
    written("old.json", card_03())
    outcome = cli("card", "sign", "old.json", "--key", "key.pem", "-o", "signed.json")
    assert outcome.status == 1
    assert "card upgrade" in outcome.err
    assert cli("card", "verify", "old.json", "--key", "public.pem").status == 1
