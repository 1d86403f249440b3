"""A key of each kind that signs cards, made once in a run of the tests."""

from __future__ import annotations

from functools import cache
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

PASSPHRASE = "correct horse"


@cache
def key_of(kind: str) -> Any:
    if kind == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return ed25519.Ed25519PrivateKey.generate() if kind == "EdDSA" else rsa.generate_private_key(65537, 2048)


def secret(kind: str, passphrase: str = "") -> bytes:
    """Return a private key in PEM, encrypted with a passphrase if there is one."""
    how: Any = serialization.NoEncryption()
    if passphrase:
        how = serialization.BestAvailableEncryption(passphrase.encode())
    form = serialization.PrivateFormat.PKCS8
    return bytes(key_of(kind).private_bytes(serialization.Encoding.PEM, form, how))


def known(kind: str) -> bytes:
    """Return the public key in PEM."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return bytes(key_of(kind).public_key().public_bytes(serialization.Encoding.PEM, form))
