"""Signatures (A2A 1.0 section 8.4, RFC 7515): made as the SDK does, verified by it, and never a word about the key."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from agentsuite_converters.a2a.check import check_card
from agentsuite_converters.a2a.projection import CardOptions
from agentsuite_converters.a2a.publishing import publish_card
from agentsuite_converters.a2a.signing import (
    PassphraseNeededError,
    private_key,
    public_key,
    sign,
    uncovered,
    verify,
)
from hatch_agentsuite.findings import RefusedError
from tests.a2a.cards import GONE, Json, agent, card_03, card_10, changed, full_10
from tests.a2a.keys import PASSPHRASE, key_of, known, secret

KINDS = ("ES256", "EdDSA", "RS256")


def sdk_accepts(card: Json, kind: str) -> bool:
    """Whether the SDK's own verifier accepts a card that its own client has parsed."""
    from a2a.client.card_resolver import parse_agent_card
    from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier

    verifier = create_signature_verifier(lambda _kid, _jku: key_of(kind).public_key(), [kind])
    try:
        verifier(parse_agent_card(copy.deepcopy(card)))
    except InvalidSignaturesError:
        return False
    return True


def protected(card: Json) -> Any:
    text = card["signatures"][-1]["protected"]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("card", [card_10(), full_10(), changed(full_10(), {"/name": "Häfen 港 😀"})])
def test_the_sdk_accepts_our_signature(card: Json, kind: str) -> None:
    """Section 8.4.2; for every key that we take, and text beyond ASCII and the BMP."""
    signed = sign(card, private_key(secret(kind)), kid="k1", jku="https://port.example.com/keys.json")
    assert sdk_accepts(signed, kind)
    assert verify(signed, public_key(known(kind))) is None
    header = {"alg": kind, "typ": "JOSE", "kid": "k1", "jku": "https://port.example.com/keys.json"}
    assert protected(signed) == header
    assert [finding for finding in check_card(signed) if finding.is_error] == []


def test_a_published_card_is_signed_and_accepted() -> None:
    card: Json = json.loads(publish_card(agent(), CardOptions(), {}).data)
    assert sdk_accepts(sign(card, private_key(secret("ES256"))), "ES256")


def test_what_is_not_given_is_not_in_the_header() -> None:
    assert protected(sign(card_10(), private_key(secret("EdDSA")))) == {"alg": "EdDSA", "typ": "JOSE"}


@pytest.mark.parametrize("kind", KINDS)
def test_signing_changes_nothing_but_signatures(kind: str) -> None:
    """Earlier signatures stay as they are, to the digit of a number in their headers; the given card is untouched."""
    earlier = {"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "c2ln", "header": {"n": 1, "id": 2**53 - 1}}
    card = {**full_10(), "signatures": [earlier]}
    before = json.dumps(card)
    signed: Json = sign(card, private_key(secret(kind)))
    assert json.dumps(card) == before
    assert signed["signatures"][:1] == [earlier]
    assert json.dumps(signed["signatures"][0]) == json.dumps(earlier)
    assert len(signed["signatures"]) == 2
    assert {**signed, "signatures": [earlier]} == card


CHANGES: list[Json] = [
    {"/name": "Harbour guide"},
    {"/description": "Tells skippers about berths and tides!"},
    {"/version": "2.1.1"},
    {"/supportedInterfaces/0/url": "https://agents.example.com/harbouR"},
    {"/supportedInterfaces/0/tenant": GONE},
    {"/skills/0/tags/0": "boat"},
    {"/skills/1": GONE},
    {"/capabilities/streaming": False},
    {"/capabilities/pushNotifications": GONE},
    {"/securitySchemes/bearer/httpAuthSecurityScheme/scheme": "bearer"},
    {"/securitySchemes/key": GONE, "/securityRequirements/0/schemes/key": GONE},
    {"/provider": GONE},
    {"/signatures/0/protected": "eyJhbGciOiJFUzI1NiJ9"},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_one_changed_byte_is_refused(change: Json) -> None:
    signed = sign(full_10(), private_key(secret("ES256")))
    other = changed(signed, change)
    assert not sdk_accepts(other, "ES256")
    fault = verify(other, public_key(known("ES256")))
    assert fault
    assert (fault.requirement, fault.location) == ("A2A-SIGN-001", "#/signatures")


def test_every_byte_of_a_signature_counts() -> None:
    signed: Json = sign(card_10(), private_key(secret("EdDSA")))
    text = signed["signatures"][0]["signature"]
    for position in range(0, len(text) - 1, 7):
        flipped = text[:position] + ("A" if text[position] != "A" else "B") + text[position + 1 :]
        assert verify(changed(signed, {"/signatures/0/signature": flipped}), public_key(known("EdDSA")))


def test_a_wrong_key_or_algorithm_is_refused() -> None:
    signed = sign(card_10(), private_key(secret("ES256")))
    for kind in ("EdDSA", "RS256"):
        assert verify(signed, public_key(known(kind)))
    other = ec.generate_private_key(ec.SECP256R1()).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    assert verify(signed, public_key(other.public_bytes(serialization.Encoding.PEM, form)))


def test_one_good_signature_among_several_is_enough() -> None:
    """Section 8.4.3."""
    twice = sign(sign(card_10(), private_key(secret("RS256"))), private_key(secret("ES256")))
    for kind in ("RS256", "ES256"):
        assert verify(twice, public_key(known(kind))) is None
        assert sdk_accepts(twice, kind)
    assert verify(twice, public_key(known("EdDSA")))


def test_a_card_without_a_signature_is_not_verified() -> None:
    fault = verify(card_10(), public_key(known("ES256")))
    assert fault
    assert "no signature" in fault.message


def test_what_signatures_do_not_cover_is_said() -> None:
    """The SDK's canonical form leaves out what is empty: an honest limit, and named."""
    signed = sign(full_10(), private_key(secret("ES256")))
    renamed = changed(signed, {"/securityRequirements/1": {"schemes": {"mtls": {"list": []}}}})
    assert verify(renamed, public_key(known("ES256"))) is None
    [warning] = uncovered(signed)
    assert not warning.is_error
    assert "/securityRequirements/1/schemes/openid/list" in warning.message
    assert uncovered(card_10()) == []


@pytest.mark.parametrize(
    "card",
    [
        card_03(),
        {**card_10(), "url": "https://agents.example.com"},
        changed(card_10(), {"/skills": GONE}),
        changed(card_10(), {"/name": None}),
        [],
        "x",
        {},
    ],
    ids=str,
)
def test_only_valid_cards_of_10_are_signed(card: Any) -> None:
    with pytest.raises(RefusedError):
        sign(card, private_key(secret("EdDSA")))
    with pytest.raises(RefusedError):
        assert not verify(card, public_key(known("EdDSA")))


@pytest.mark.parametrize(
    "signature",
    [
        {"protected": "x", "signature": "y"},
        {"protected": "W10", "signature": "eA"},
        {"protected": "eyJhbGciOiJub25lIn0", "signature": "eA"},
        {"protected": "eyJhbGciOiJIUzI1NiJ9", "signature": "eA"},
        {"protected": "\u00e9", "signature": "\u20ac"},
        {"protected": "e30" * 10_000, "signature": "x" * 10_000},
        {"protected": "eyJhbGciOiAiRVMyNTYiLCAiY3JpdCI6IFsieCJdLCAieCI6IDF9", "signature": "eA"},
        {"protected": "eyJhbGciOiAiRVMyNTYiLCAiYjY0IjogZmFsc2V9", "signature": "eA"},
    ],
    ids=lambda signature: signature["protected"][:20],
)
def test_hostile_signatures_are_only_wrong(signature: Json) -> None:
    """No exception of the SDK or of PyJWT reaches the user, and `none` or a symmetric algorithm is nothing."""
    assert verify({**card_10(), "signatures": [signature]}, public_key(known("ES256")))


# --- keys ---


@pytest.mark.parametrize("kind", KINDS)
def test_an_encrypted_key_asks_for_its_passphrase(kind: str) -> None:
    data = secret(kind, PASSPHRASE)
    with pytest.raises(PassphraseNeededError):
        private_key(data)
    signed = sign(card_10(), private_key(data, PASSPHRASE))
    assert verify(signed, public_key(known(kind))) is None


def _pem(label: str, body: bytes) -> bytes:
    return b"-----BEGIN %s-----\n%s\n-----END %s-----\n" % (label.encode(), body, label.encode())


def _of(key: Any) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))


BAD = {
    "empty": b"",
    "no PEM": b"MIIBVQIBADANBgkqhkiG9w0BAQEF-private",
    "public": known("ES256"),
    "certificate": _pem("CERTIFICATE", base64.b64encode(b"x" * 40)),
    "garbage": _pem("PRIVATE KEY", base64.b64encode(b"secret" * 20)),
    "cut off": secret("RS256")[:-300],
    "P-384": _of(ec.generate_private_key(ec.SECP384R1())),
    "secp256k1": _of(ec.generate_private_key(ec.SECP256K1())),
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("name", BAD)
def test_a_key_that_is_none_is_refused_without_a_word_of_it(name: str) -> None:
    for load in (private_key, lambda data: private_key(data, PASSPHRASE)):
        with pytest.raises(RefusedError) as caught:
            load(BAD[name])
        [finding] = caught.value.findings
        assert finding.requirement == "A2A-SIGN-001"
        told = f"{caught.value}{finding!r}"
        assert PASSPHRASE not in told
        for line in BAD[name].splitlines():
            assert len(line) < 20 or line.startswith(b"-----") or line.decode("latin-1") not in told
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("data", [b"", b"x", secret("ES256"), _pem("PUBLIC KEY", b"eHg=")])
def test_a_public_key_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError):
        public_key(data)


@pytest.mark.parametrize("passphrase", ["wrong", "", PASSPHRASE + " "])
def test_a_wrong_passphrase_is_refused(passphrase: str) -> None:
    with pytest.raises(RefusedError) as caught:
        private_key(secret("ES256", PASSPHRASE), passphrase)
    assert not passphrase or passphrase not in str(caught.value).replace("the passphrase is wrong", "")


def test_a_short_rsa_key_is_refused() -> None:
    with pytest.raises(RefusedError) as caught:
        private_key(_of(rsa.generate_private_key(65537, 1024)))
    assert "2,048" in str(caught.value)


def test_a_key_is_not_shown() -> None:
    key = private_key(secret("ES256"))
    assert repr(key) == str(key) == "Key('ES256')"
