"""Signatures of Agent Cards (A2A 1.0 section 8.4): made by us, verified by the SDK, and refused after any change."""

from __future__ import annotations

import base64
import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("a2a", reason="a2a-sdk (extra `a2a`) is not installed")
pytest.importorskip("jwt", reason="PyJWT (extra `a2a`) is not installed")

from agentsuite_converters.a2a.signing import PassphraseNeededError, private_key, public_key, sign, uncovered, verify
from hatch_agentsuite.findings import RefusedError
from tests.converters.a2a.cards import card, minimal, old
from tests.converters.a2a.keys import KINDS, private, private_pem, public_pem
from tests.converters.mutations import DROP, changed

PASSPHRASE = "-".join(reversed(["sesame", "open"]))  # so that no line of this test holds it
by_kind = pytest.mark.parametrize("kind", KINDS)


def unsigned() -> Any:
    """A card with everything, non-ASCII text among it."""
    return changed(card(), "/signatures", DROP)


def signed(kind: str = "EdDSA", document: Any = None, **header: str) -> Any:
    return sign(document or unsigned(), private_key(private_pem(kind)), **header)


def header_of(signature: Any) -> Any:
    text = signature["protected"]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def sdk_accepts(document: Any, kind: str) -> bool:
    """Whether the SDK's own verifier accepts a card."""
    from a2a.types import AgentCard
    from a2a.utils.signing import SignatureVerificationError, create_signature_verifier
    from google.protobuf.json_format import ParseDict

    verifier = create_signature_verifier(lambda _kid, _jku: public_pem(kind).decode(), [kind])
    try:
        verifier(ParseDict(document, AgentCard()))
    except SignatureVerificationError:
        return False
    return True


@by_kind
def test_the_sdk_accepts_what_we_sign(kind: str) -> None:
    document = unsigned()
    made = signed(kind, document, kid="key-1", jku="https://tides.example.org/jwks.json")
    assert document == unsigned(), "the card that was given is left alone"
    assert {name: value for name, value in made.items() if name != "signatures"} == unsigned()
    [signature] = made["signatures"]
    assert header_of(signature) == {
        "alg": kind,
        "typ": "JOSE",
        "kid": "key-1",
        "jku": "https://tides.example.org/jwks.json",
    }
    assert sdk_accepts(made, kind)
    assert verify(made, public_key(public_pem(kind))) is None


@by_kind
def test_without_kid_and_jku_neither_is_written(kind: str) -> None:
    """A `jku` of null would be part of what is signed."""
    assert header_of(signed(kind)["signatures"][0]) == {"alg": kind, "typ": "JOSE"}


@by_kind
def test_what_the_sdk_signs_we_accept(kind: str) -> None:
    from a2a.types import AgentCard
    from a2a.utils.signing import create_agent_card_signer
    from google.protobuf.json_format import MessageToDict, ParseDict

    message = ParseDict(unsigned(), AgentCard())
    create_agent_card_signer(private_pem(kind).decode(), {"alg": kind, "kid": "k", "jku": None, "typ": "JOSE"})(message)
    assert verify(MessageToDict(message), public_key(public_pem(kind))) is None


CHANGES = [
    ("/name", "Tides."),
    ("/version", "1.0.1"),
    ("/supportedInterfaces/0/url", "https://evil.example.org/a2a"),
    ("/supportedInterfaces/1", DROP),
    ("/capabilities/streaming", True),
    ("/capabilities/extensions/0/params/n", 0.25),
    ("/skills/0/description", "The next tide at a harbour: Hohe und Zeit"),
    ("/skills/0/tags/1", "湖"),
    ("/securitySchemes/key/apiKeySecurityScheme/name", "X-Kez"),
    ("/securityRequirements/1", DROP),
    ("/iconUrl", DROP),
]


@by_kind
@pytest.mark.parametrize(("where", "value"), CHANGES)
def test_any_change_ends_a_signature(kind: str, where: str, value: Any) -> None:
    made = changed(signed(kind), where, value)
    assert not sdk_accepts(made, kind)
    fault = verify(made, public_key(public_pem(kind)))
    assert fault is not None
    assert (fault.requirement, fault.location) == ("A2A-SIGN-001", "#/signatures")


@by_kind
def test_one_changed_byte_of_the_signature(kind: str) -> None:
    made = signed(kind)
    text = made["signatures"][0]["signature"]
    for position in (0, len(text) // 2):
        other = "A" if text[position] != "A" else "B"
        broken = changed(made, "/signatures/0/signature", text[:position] + other + text[position + 1 :])
        assert verify(broken, public_key(public_pem(kind))) is not None


def test_another_key_of_any_kind_is_refused() -> None:
    for kind in KINDS:
        for other in KINDS:
            assert (verify(signed(kind), public_key(public_pem(other))) is None) is (kind == other)
    assert verify(signed("ES256"), public_key(public_pem("another P-256"))) is not None


def test_order_of_members_and_floats_change_nothing() -> None:
    """RFC 8785: a card is signed as a value, not as text."""
    document = unsigned()
    document["capabilities"]["extensions"][0]["params"]["n"] = 2
    made = signed(document=document)
    turned = json.loads(json.dumps(dict(reversed(made.items()))).replace('"n": 2', '"n": 2.0'))
    assert verify(turned, public_key(public_pem("EdDSA"))) is None
    assert signed(document=document) == made, "EdDSA is deterministic"


def test_a_second_signature_keeps_the_first() -> None:
    first = signed("ES256", changed(unsigned(), "/name", "Gezeiten ≈ 潮"))
    first["signatures"][0]["header"] = {"number": 1, "none": None, "list": []}
    both = sign(first, private_key(private_pem("RS256")))
    assert both["signatures"][0] == first["signatures"][0]  # type: ignore[index]
    for kind in ("ES256", "RS256"):
        assert verify(both, public_key(public_pem(kind))) is None
    assert verify(both, public_key(public_pem("EdDSA"))) is not None


def test_a_card_without_a_signature() -> None:
    for document in (unsigned(), {**unsigned(), "signatures": []}):
        fault = verify(document, public_key(public_pem("EdDSA")))
        assert fault is not None
        assert "has no signature" in fault.message


@pytest.mark.parametrize(
    "protected", ["***", "W10", "bnVsbA", "eyJhbGciOiJub25lIn0", "eyJhbGciOltdfQ", "gICA", "e30", "W1tb" * 50_000]
)
def test_headers_that_are_none_are_refused(protected: str) -> None:
    made = changed(signed(), "/signatures/0/protected", protected)
    assert verify(made, public_key(public_pem("EdDSA"))) is not None


# --- which cards are signed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "requirement"),
    [
        (old(), "A2A-VERSION-001"),
        ({**old(), **minimal()}, "A2A-VERSION-001"),
        ({}, "A2A-VERSION-001"),
        ([], "A2A-VERSION-001"),
        (changed(minimal(), "/skills/0/tags", []), "A2A-SCHEMA-001"),
        (changed(minimal(), "/defaultInputModes/0", "text"), "A2A-MODE-001"),
        ({**minimal(), "iconUrl": None}, "A2A-SCHEMA-001"),
    ],
)
def test_only_valid_cards_of_1_0_are_signed(document: Any, requirement: str) -> None:
    with pytest.raises(RefusedError) as refused:
        sign(document, private_key(private_pem("EdDSA")))
    assert [finding.requirement for finding in refused.value.findings] == [requirement]


@pytest.mark.parametrize(
    ("change", "requirement"),
    [
        (lambda made: {**made, "icon_url": made["iconUrl"]}, "A2A-SCHEMA-001"),
        (lambda made: {**made, "provider": None}, "A2A-SCHEMA-001"),
        (lambda made: {**made, "surprise": 1}, "A2A-SCHEMA-001"),
        (lambda made: {**made, "url": "https://evil.example.org"}, "A2A-VERSION-001"),
    ],
)
def test_members_that_a_reader_may_see_otherwise_are_refused(change: Callable[[Any], Any], requirement: str) -> None:
    """ProtoJSON reads snake_case and nulls too, and lenient readers pass over what they do not know."""
    with pytest.raises(RefusedError) as refused:
        verify(change(signed()), public_key(public_pem("EdDSA")))
    assert {finding.requirement for finding in refused.value.findings} == {requirement}


def test_what_no_signature_covers_is_told() -> None:
    """The SDK's canonical form leaves out what is empty: a requirement without scopes can be removed unnoticed."""
    document = {
        **minimal(),
        "securitySchemes": {"mtls": {"mtlsSecurityScheme": {}}},
        "securityRequirements": [{"schemes": {"mtls": {"list": []}}}],
    }
    made = signed(document=document)
    [warning] = uncovered(made)
    assert not warning.is_error
    assert "`/securityRequirements/0/schemes/mtls/list`" in warning.message
    assert "`/securitySchemes/mtls/mtlsSecurityScheme`" in warning.message
    assert verify(changed(made, "/securityRequirements", DROP), public_key(public_pem("EdDSA"))) is None
    assert uncovered(changed(minimal(), "/capabilities", {"streaming": False})) == []


# --- keys ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["small", "P-384"])
def test_other_keys_are_refused(kind: str) -> None:
    with pytest.raises(RefusedError, match=r"ES256 \(P-256\), EdDSA \(Ed25519\) and RS256"):
        private_key(private_pem(kind))
    with pytest.raises(RefusedError, match="none of the algorithms"):
        public_key(public_pem(kind))


def test_an_encrypted_key_needs_its_passphrase() -> None:
    pem = private_pem("ES256", PASSPHRASE)
    with pytest.raises(PassphraseNeededError):
        private_key(pem)
    assert private_key(pem, PASSPHRASE).algorithm == "ES256"
    with pytest.raises(RefusedError, match="the passphrase is wrong"):
        private_key(pem, "another")
    with pytest.raises(RefusedError, match="not encrypted"):
        private_key(private_pem("ES256"), PASSPHRASE)


def test_a_key_is_never_shown() -> None:
    """Neither key nor passphrase is in a message, a representation or a traceback."""
    secret = private_pem("EdDSA").decode().splitlines()[1]
    key = private_key(private_pem("EdDSA"))
    assert repr(key) == "Key('EdDSA')"
    attempts: list[Callable[[], Any]] = [
        lambda: private_key(private_pem("EdDSA")[:-40]),
        lambda: private_key(private_pem("EdDSA"), PASSPHRASE),
        lambda: private_key(private_pem("EdDSA", "another"), PASSPHRASE),
        lambda: public_key(private_pem("EdDSA")),
        lambda: sign(old(), key),
    ]
    for attempt in attempts:
        with pytest.raises(RefusedError) as refused:
            attempt()
        shown = "".join(traceback.format_exception(refused.value)) + str(refused.value)
        assert secret not in shown
        assert PASSPHRASE not in shown


EMPTY_PEM = b"-----BEGIN PRIVATE KEY-----\n\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize("pem", [b"", b"not a key", EMPTY_PEM, b"\xff"])
def test_what_is_no_key_is_refused(pem: bytes) -> None:
    with pytest.raises(RefusedError, match="no private key"):
        private_key(pem)
    with pytest.raises(RefusedError, match="no public key"):
        public_key(pem)


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    key = private_key(private_pem("ES256"))
    attempts: list[tuple[str, Callable[[], Any]]] = [
        ("a2a.utils", lambda: sign(minimal(), key)),
        ("a2a.utils", lambda: verify(minimal(), key)),
        ("cryptography.hazmat.primitives", lambda: private_key(b"")),
        ("cryptography.hazmat.primitives", lambda: public_key(b"")),
    ]
    for module, attempt in attempts:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            with pytest.raises(RefusedError) as refused:
                attempt()
        [finding] = refused.value.findings
        assert finding.requirement == "A2A-EXTRA-001"
        assert 'pip install "hatch-agentsuite[a2a]"' in finding.hint


def test_private_keys_of_each_kind_differ() -> None:
    assert len({type(private(kind)) for kind in KINDS}) == len(KINDS)
