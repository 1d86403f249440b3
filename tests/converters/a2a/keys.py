"""Private and public keys in PEM, one pair of each kind that signs cards, made once."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

KINDS = ("ES256", "EdDSA", "RS256")


@cache
def private(kind: str) -> Any:
    """Return a private key; `small` and `P-384` are of no algorithm that signs cards."""
    pytest.importorskip("cryptography", reason="cryptography (extra `a2a`) is not installed")
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    if kind == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    if kind in {"RS256", "small"}:
        return rsa.generate_private_key(65537, 2048 if kind == "RS256" else 1024)
    return ec.generate_private_key(ec.SECP384R1() if kind == "P-384" else ec.SECP256R1())


def private_pem(kind: str, passphrase: str | None = None) -> bytes:
    from cryptography.hazmat.primitives import serialization

    key = private(kind)
    encryption: Any = serialization.NoEncryption()
    if passphrase is not None:
        encryption = serialization.BestAvailableEncryption(passphrase.encode())
    pem: bytes = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    return pem


def public_pem(kind: str) -> bytes:
    from cryptography.hazmat.primitives import serialization

    pem: bytes = (
        private(kind)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    return pem
