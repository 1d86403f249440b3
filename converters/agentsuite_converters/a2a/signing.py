"""Signatures of Agent Cards: a JWS over the canonical card, made and verified as a2a-sdk does (A2A 1.0 section 8.4).

The SDK's canonical form leaves out what is empty at every depth, so a signature does not cover a requirement without
scopes or an mTLS scheme without a description; ``uncovered`` says which parts of a card these are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import agentsuite_schemas
from agentsuite_converters.a2a.check import UPGRADE, check_card
from agentsuite_converters.a2a.extra import MISSING, protocol_buffers
from agentsuite_converters.a2a.versions import style_of
from agentsuite_converters.members import items, listed
from agentsuite_converters.places import leaves, value_at
from hatch_agentsuite.findings import Finding, RefusedError, pointer, printable

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject, JSONValue


@dataclass(frozen=True)
class Key:
    """A key and the algorithm that it is for; it is never shown."""

    algorithm: str
    material: Any

    def __repr__(self) -> str:
        return f"Key({self.algorithm!r})"


class PassphraseNeededError(Exception):
    """The private key is encrypted, and no passphrase was given."""


def private_key(data: bytes, passphrase: str | None = None) -> Key:
    """Return a private key in PEM; raises :class:`PassphraseNeededError`, or :class:`RefusedError` without the key."""
    serialization = _serialization()
    try:
        key = serialization.load_pem_private_key(data, passphrase.encode() if passphrase is not None else None)
    except TypeError:
        if passphrase is None:
            raise PassphraseNeededError from None
        what = "the key is not encrypted, and a passphrase was given" if passphrase else "the passphrase is empty"
        raise _refused(what) from None
    except ValueError:
        raise _refused("the file is no private key in PEM, or the passphrase is wrong") from None
    except Exception:  # an algorithm that cryptography does not know
        raise _refused("the key cannot be used") from None
    return Key(_algorithm(key), key)


def public_key(data: bytes) -> Key:
    """Return a public key in PEM; raises :class:`RefusedError`."""
    serialization = _serialization()
    try:
        key = serialization.load_pem_public_key(data)
    except Exception:
        raise _refused("the file is no public key in PEM") from None
    return Key(_algorithm(key), key)


def sign(card: JSONValue, key: Key, *, kid: str = "", jku: str = "") -> JSONObject:
    """Return the card with a further signature; nothing else of it changes, earlier signatures included.

    ``kid`` names the key, ``jku`` is where verifiers find it. Raises :class:`RefusedError` for a card that is not valid
    or is none of version 1.0.
    """
    valid = _of_10(card)
    errors = [finding for finding in check_card(valid) if finding.is_error]
    if errors:
        raise RefusedError(*errors)
    header = {"alg": key.algorithm, "typ": "JOSE", **({"kid": kid} if kid else {}), **({"jku": jku} if jku else {})}
    signing, message = _signing(), _message(valid)
    try:
        signing.create_agent_card_signer(key.material, header)(message)
    except ValueError:  # too deep, or a number that canonical JSON would change
        raise _refused("the card has no canonical form") from None
    made = protocol_buffers().to_json(message.signatures[-1])
    return {**valid, "signatures": [*items(valid, "signatures"), made]}


def verify(card: JSONValue, key: Key) -> Finding | None:
    """Return what is wrong, None where one signature of the card is the key's.

    Raises :class:`RefusedError` for what the schema of 1.0 refuses: a reader would see another card than was signed.
    """
    valid = _of_10(card)
    errors = list(agentsuite_schemas.validator("a2a/card-1.0").errors(valid))
    if errors:
        raise RefusedError(
            *(Finding("A2A-SCHEMA-001", "json", f"#{pointer(*error.path)}", error.message) for error in errors)
        )
    signing, message = _signing(), _message(valid)
    verifier = signing.create_signature_verifier(lambda _kid, _jku: key.material, [key.algorithm])
    try:
        verifier(message)
    except signing.NoSignatureError:
        return Finding("A2A-SIGN-001", "security", "#/signatures", "the card has no signature", "sign it")
    except (signing.InvalidSignaturesError, RecursionError):
        what = "no signature of the card was made with this key over this card"
        return Finding("A2A-SIGN-001", "security", "#/signatures", what, "the card was changed, or the key is another")
    return None


def uncovered(card: JSONObject) -> list[Finding]:
    """Return a warning about the parts that can be changed under a signature, since canonical form leaves them out."""
    content = {name: value for name, value in card.items() if name != "signatures"}
    empty = [pointer(*leaf) for leaf in leaves(content) if value_at(content, leaf) in ("", [], {})]
    if not empty:
        return []
    message = (
        f"signatures of A2A do not cover what is empty, so it can be removed or renamed unnoticed: {listed(empty)}"
    )
    return [Finding("A2A-SIGN-001", "security", "#", message).as_warning()]


def _of_10(card: JSONValue) -> JSONObject:
    if not isinstance(card, dict) or style_of(card) != "1.0":
        message = "only cards of A2A 1.0 are signed and verified, and this is none"
        raise RefusedError(Finding("A2A-VERSION-001", "json", "#", message, UPGRADE))
    return card


def _message(card: JSONObject) -> Any:
    sdk = protocol_buffers()
    try:
        return sdk.parse(card)
    except sdk.parse_error as error:
        raise _refused(f"a2a-sdk cannot read the card: {printable(str(error))}") from None


def _algorithm(key: Any) -> str:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    curve = key.curve if isinstance(key, (ec.EllipticCurvePrivateKey, ec.EllipticCurvePublicKey)) else None
    if isinstance(curve, ec.SECP256R1):
        return "ES256"
    if isinstance(key, (ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey)):
        return "EdDSA"
    if isinstance(key, (rsa.RSAPrivateKey, rsa.RSAPublicKey)) and key.key_size >= 2048:
        return "RS256"
    raise _refused(
        "the key is for none of the algorithms ES256 (P-256), EdDSA (Ed25519) and RS256 (2,048 bits or more)"
    )


def _serialization() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise _missing() from None
    return serialization


def _signing() -> Any:
    try:
        from a2a.utils import signing
    except ImportError:
        raise _missing() from None
    return signing


def _missing() -> RefusedError:
    message = "signatures are made by a2a-sdk, which is not installed"
    return RefusedError(Finding("A2A-EXTRA-001", "build", "", message, MISSING))


def _refused(message: str) -> RefusedError:
    return RefusedError(Finding("A2A-SIGN-001", "security", "", message))
