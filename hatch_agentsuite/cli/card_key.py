"""Keys of the commands that sign Agent Cards: read from a file, the passphrase asked for, neither ever shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject, JSONValue


def signer(key: Path, kid: str, jku: str) -> Callable[[JSONValue], JSONObject]:
    """Return what signs a card with a private key; ends the command where that cannot be used."""
    from agentsuite_converters.a2a.signing import PassphraseNeededError, private_key, sign
    from agentsuite_converters.urls import endpoint_fault

    if jku and endpoint_fault(jku):
        raise click.UsageError("--jku is an https URL at which everybody can read the key set")
    data = key.read_bytes()
    try:
        secret = private_key(data)
    except PassphraseNeededError:
        secret = private_key(data, click.prompt("Passphrase", hide_input=True, err=True))
    return lambda card: sign(card, secret, kid=kid, jku=jku)
