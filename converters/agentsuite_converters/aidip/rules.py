"""The rules of agent metadata that a schema cannot say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agentsuite_converters.embedded import EmbeddedSchemas, NotJudgedError
from agentsuite_converters.members import listed, member, objects, repeated, text
from agentsuite_converters.urls import endpoint_fault, is_spelled, scheme
from hatch_agentsuite.findings import Finding, pointer

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject

AUTHENTICATION_TYPES = ("api_key", "mtls", "none", "oauth2_bearer")
STATUSES = ("active", "deprecated", "inactive")
_DESCRIBED = ("inputs", "outputs")


def operations(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Each agent describes what goes in and out: by ``operations``, or at the top for the one that it has."""
    written = [name for name in _DESCRIBED if name in document]
    if "operations" in document:
        if written:
            message = f"there are `operations` and also {listed(written)} at the top, where one of the two is enough"
            yield Finding("AIDIP-OPERATION-001", "json", f"#/{written[0]}", message, "keep `operations`").as_warning()
        names = ((position, text(operation, "name")) for position, operation in objects(document, "operations"))
        for position, name, first in repeated(names):
            message = f"the operation `{name[:80]}` is that of operations/{first} too"
            place = f"#{pointer('operations', position, 'name')}"
            yield Finding("AIDIP-OPERATION-001", "graph", place, message, "give each its own name")
        return
    for name in _DESCRIBED:
        if name not in written:
            message = f"there are no `operations`, and the member '{name}' is missing"
            hint = "describe inputs and outputs, in `operations` or at the top"
            yield Finding("AIDIP-OPERATION-001", "json", "#", message, hint)
            if not written:
                return


def schemas(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Operations: ``inputs`` and ``outputs`` are JSON Schemas, and examples obey them."""
    judge = EmbeddedSchemas("AIDIP")
    top: tuple[str | int, ...] = ()
    found = [(top, document), *((("operations", number), item) for number, item in objects(document, "operations"))]
    for place, operation in found:
        sound = set()
        for name in _DESCRIBED:
            value = operation.get(name)
            if isinstance(value, dict):
                findings = list(judge.findings((*place, name), value))
                yield from findings
                if not findings:
                    sound.add(name)
        for number, example in objects(operation, "examples"):
            yield from _example((*place, "examples", number), operation, example, judge, sound)


def _example(
    place: tuple[str | int, ...], operation: JSONObject, example: JSONObject, judge: EmbeddedSchemas, sound: set[str]
) -> Iterator[Finding]:
    for name, described in (("input", "inputs"), ("output", "outputs")):
        if described not in sound or name not in example:
            continue
        where = f"#{pointer(*place, name)}"
        try:
            faults = judge.example_faults(member(operation, described), example[name])
        except NotJudgedError as error:
            yield Finding("AIDIP-EXAMPLE-001", "json", where, f"the example is not judged: {error}").as_warning()
            continue
        for fault in faults:
            message = f"the example does not agree with the schema in `{described}`"
            yield Finding("AIDIP-EXAMPLE-001", "json", where + fault, message, "change one of the two").as_warning()


def endpoint(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Security Considerations: invocation is protected by TLS; a relative endpoint is a path at the gateway."""
    url = re.sub("[{}]", "", text(document, "endpoint"))
    if not is_spelled(url) or not (scheme(url) or url.startswith("//")):
        return  # the schema has refused it, or it is a path
    fault = endpoint_fault(url if scheme(url) else f"https:{url}")
    if fault:
        message = f"the endpoint {fault.message}"
        found = Finding("AIDIP-ENDPOINT-001", "security", "#/endpoint", message, fault.hint)
        yield found if fault.is_error else found.as_warning()


def authentication(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Core fields: the types that the text names; others may exist, but a client need not know them."""
    declared = member(document, "authentication")
    kind = text(declared, "type")
    place = "#/authentication/type"
    if kind and kind not in AUTHENTICATION_TYPES:
        message, hint = (
            "this type of authentication is not one the text names",
            f"it names {listed(AUTHENTICATION_TYPES)}",
        )
        yield Finding("AIDIP-AUTH-001", "security", place, message, hint).as_warning()
    elif kind and kind != "oauth2_bearer" and declared.get("scopes"):
        message = "scopes belong to OAuth 2.0, and this is another type"
        yield Finding("AIDIP-AUTH-001", "security", "#/authentication/scopes", message).as_warning()


def status(document: JSONObject, _folder: Path | None) -> Iterator[Finding]:
    """Core fields: the statuses that the text names, by which a registry may filter."""
    value = text(document, "status")
    if value.strip() and value not in STATUSES:
        message, hint = "this status is not one the text names", f"it names {listed(STATUSES)}"
        yield Finding("AIDIP-STATUS-001", "json", "#/status", message, hint).as_warning()


RULES = (operations, schemas, endpoint, authentication, status)
