"""How a client authenticates: AIDIP's ``authentication`` as A2A security schemes, and these as version 0.3 has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentsuite_converters.members import listed, member, text, texts
from agentsuite_converters.report import Note
from hatch_agentsuite.findings import Finding, pointer

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject

Security = tuple[dict[str, Any], list[dict[str, list[str]]]]
"""Schemes of A2A 1.0 by name, and requirements: of each, names of schemes with their scopes."""

# A name as headers are written: in quotes, or X-..., or Every-Part-Capital, or ...-key; prose has hyphens, too.
_NAME = (
    r"(?:(?P<quote>['\"`])(?P<quoted>[A-Za-z][A-Za-z0-9_-]*)(?P=quote)"
    r"|(?<![\w-])(?P<plain>[Xx](?:-[A-Za-z0-9]+)+|[A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)+"
    r"|[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*-(?:[Kk]ey|[Tt]oken))(?![\w-]))"
)
_HEADERS = (
    re.compile(rf"{_NAME}\s+(?:(?:HTTP|http|request)\s+)?header\b"),
    re.compile(rf"\bheader:?\s+(?:(?:called|named)\s+)?{_NAME}"),
)
_NAME_OF_03 = {
    "httpAuthSecurityScheme": "http",
    "openIdConnectSecurityScheme": "openIdConnect",
    "mtlsSecurityScheme": "mutualTLS",
    "apiKeySecurityScheme": "apiKey",
    "oauth2SecurityScheme": "oauth2",
}


class Authentication:
    """The security of an agent, from what its profile says; what is derived and what lacks is written down."""

    def __init__(self, part: JSONObject, header: str, token_url: str) -> None:
        self._part = part
        self._header = header
        self._token_url = token_url
        self.derived: list[Note] = []
        self.problems: list[Finding] = []

    def security(self) -> Security:
        """Return schemes and requirements, both empty where a client need not authenticate or nothing is said."""
        written = member(self._part, "security")
        if written:
            requirements = written.get("requirements", [])
            return dict(member(written, "schemes")), list(requirements)  # type: ignore[arg-type]
        said = member(self._part, "authentication")
        kind = text(said, "type")
        if not said or kind == "none":
            return {}, []
        made = {"api_key": self._api_key, "oauth2_bearer": self._oauth2, "mtls": self._mtls}.get(kind)
        if made is None:
            message = f"the authentication type `{kind[:80]}` has no counterpart in A2A"
            if not kind:
                message = "the agent says how to authenticate, and not by which type"
            self._lacks(message, "write `security` with `schemes` and `requirements` to the profile")
            return {}, []
        return made()

    def _lacks(self, message: str, hint: str) -> None:
        self.problems.append(Finding("A2A-SUPPLY-001", "security", "#/securitySchemes", message, hint))

    def _api_key(self) -> Security:
        header = self._header
        if not header:
            header = _stated_header(text(member(self._part, "authentication"), "instructions"))
            reason = f"the header `{header}` is read from the instructions"
            self.derived += [Note("/securitySchemes/apiKey", reason)] if header else []
        if not header:
            message = "an API key is needed, and the agent does not say in which header"
            self._lacks(message, "give --api-key-header NAME")
        scheme = {"location": "header", "name": header, **self._description()}
        return {"apiKey": {"apiKeySecurityScheme": scheme}}, [{"apiKey": []}]

    def _oauth2(self) -> Security:
        scopes = [scope for _, scope in texts(member(self._part, "authentication"), "scopes")]
        if not self._token_url:
            self.derived.append(
                Note("/securitySchemes/oauth2", "a bearer token; --token-url makes it an OAuth 2.0 flow")
            )
            scheme = {"scheme": "Bearer", **self._description()}
            return {"oauth2": {"httpAuthSecurityScheme": scheme}}, [{"oauth2": scopes}]
        if not scopes:
            message = "an OAuth 2.0 flow needs scopes, and the agent names none"
            self._lacks(message, "leave --token-url out, or write the scopes to the profile")
        flow = {"tokenUrl": self._token_url, "scopes": {scope: scope for scope in scopes}}
        self.derived.append(Note("/securitySchemes/oauth2", "the flow is that of client credentials"))
        described: dict[str, Any] = {"flows": {"clientCredentials": flow}, **self._description()}
        return {"oauth2": {"oauth2SecurityScheme": described}}, [{"oauth2": scopes}]

    def _mtls(self) -> Security:
        described = self._description() or {"description": "Mutual TLS"}
        return {"mtls": {"mtlsSecurityScheme": described}}, [{"mtls": []}]

    def _description(self) -> dict[str, str]:
        said = text(member(self._part, "authentication"), "instructions")
        return {"description": said} if said.strip() else {}


def in_03(schemes: dict[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Return schemes of A2A 1.0 as version 0.3 writes them, and what it cannot say."""
    found: dict[str, Any] = {}
    problems = []
    for name, scheme in schemes.items():
        place = f"#{pointer('securitySchemes', name)}"
        kind, value = next(iter(scheme.items())) if isinstance(scheme, dict) and len(scheme) == 1 else ("", {})
        if kind not in _NAME_OF_03 or not isinstance(value, dict):
            message = f"a security scheme has exactly one of the members {listed(_NAME_OF_03)}"
            problems.append(Finding("A2A-SUPPLY-001", "security", place, message, "mend `security` in the profile"))
            continue
        made = {"type": _NAME_OF_03[kind], **value}
        if "location" in made:
            made["in"] = made.pop("location")
        flows = member(made, "flows")
        if "deviceCode" in flows:
            message = "A2A 0.3 has no device code flow"
            problems.append(Finding("A2A-SUPPLY-001", "security", place, message, "publish 1.0"))
        if "pkceRequired" in member(flows, "authorizationCode"):
            message = "A2A 0.3 cannot say that PKCE is required"
            problems.append(Finding("A2A-SUPPLY-001", "security", place, message, "publish 1.0"))
        found[name] = made
    return found, problems


def _stated_header(instructions: str) -> str:
    """Return the one header that instructions name, ``""`` where they name none or several."""
    found = {
        name.lower(): name
        for pattern in _HEADERS
        for match in pattern.finditer(instructions)
        if (name := match["quoted"] or match["plain"])
    }
    return next(iter(found.values())) if len(found) == 1 else ""
