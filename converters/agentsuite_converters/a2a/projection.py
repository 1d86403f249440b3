"""An agent on a public Agent Card (BRICK sections 8 and 9; A2A 1.0 section 4.4.1, or 0.3).

A card is made from the public part of a profile alone. What a card must have and the profile lacks is asked for by
name; what is derived is listed; nothing is invented.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agentsuite_converters.a2a.public import public_part
from agentsuite_converters.a2a.security import Authentication, in_03
from agentsuite_converters.members import member, objects, text, texts
from agentsuite_converters.report import Note
from hatch_agentsuite.findings import Finding, RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsuite_converters.profile import AgentProfile
    from hatch_agentsuite.documents import JSONObject, JSONValue

Version = Literal["1.0", "0.3"]

BINDINGS = ("JSONRPC", "GRPC", "HTTP+JSON")
PROVENANCE = "https://hatch-agentsuite.dev/a2a/suite/v1"
"""The URI of the extension that names the suite a card was made from, by its digest."""

_FEATURES = ("streaming", "pushNotifications")
_WITH_BINDING = re.compile(r"([A-Za-z+_-]+)=(.+)")
_VERSION = re.compile(r"(1\.0|0\.3)(?:\.[0-9]+)?")


@dataclass(frozen=True)
class CardOptions:
    """What a card needs besides the profile.

    ``urls`` are where the agent is called, each a URL or ``BINDING=URL``, the preferred one first; ``{agent}`` stands
    for the agent's id. ``binding`` is that of URLs that come without one. ``protocol_version`` is ``1.0`` or ``0.3``,
    or empty for what the profile says, else 1.0. ``api_key_header`` and ``token_url`` complete how a client
    authenticates; ``has_provider`` false leaves the provider out. ``suite_digest`` is named on the card where known.
    """

    urls: tuple[str, ...] = ()
    binding: str = ""
    protocol_version: str = ""
    api_key_header: str = ""
    token_url: str = ""
    has_provider: bool = True
    suite_digest: str = ""


@dataclass(frozen=True)
class Projected:
    """A card as a JSON value, its version, and what of it was derived."""

    card: JSONObject
    version: Version
    derived: tuple[Note, ...]


def project(agent: AgentProfile, options: CardOptions) -> Projected:
    """Return the Agent Card of an agent; raises :class:`RefusedError` with everything that it lacks."""
    made = _Projection(agent, options)
    card = made.card()
    if made.problems:
        raise RefusedError(*made.problems)
    return Projected(card, made.version, tuple(made.derived))


def serialize(card: JSONObject) -> bytes:
    """Return a card as it is published: UTF-8 JSON, two spaces, sorted members, so that equal cards are equal bytes."""
    return (json.dumps(card, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


class _Projection:
    def __init__(self, agent: AgentProfile, options: CardOptions) -> None:
        self.agent = agent.id
        self.part = public_part(agent.value)
        self.options = options
        self.problems: list[Finding] = []
        self.derived: list[Note] = []
        self.version = self._version()

    def card(self) -> JSONObject:
        authentication = Authentication(self.part, self.options.api_key_header, self.options.token_url)
        schemes, requirements = authentication.security()
        common: dict[str, Any] = {
            "name": self._name(),
            "description": self._required("description", "--description TEXT"),
            "version": self._required("version", "--card-version VERSION"),
            "defaultInputModes": self._modes("inputModes", "defaultInputModes", "--input-mode MEDIA/TYPE"),
            "defaultOutputModes": self._modes("outputModes", "defaultOutputModes", "--output-mode MEDIA/TYPE"),
            "skills": list(self._skills()),
            "capabilities": self._features(),
            **self._provider(),
            **{name: self.part[name] for name in ("documentationUrl", "iconUrl") if name in self.part},
        }
        interfaces = self._interfaces()
        if self.version == "1.0":
            common["supportedInterfaces"] = [{**item, "protocolVersion": "1.0"} for item in interfaces]
            if schemes:
                common["securitySchemes"] = schemes
            if requirements:
                common["securityRequirements"] = [
                    {"schemes": {name: {"list": scopes} for name, scopes in item.items()}} for item in requirements
                ]
        else:
            self._finish_03(common, interfaces, schemes, requirements)
        self.problems += authentication.problems
        self.derived += authentication.derived
        return common

    def _finish_03(
        self, card: dict[str, Any], interfaces: list[dict[str, str]], schemes: dict[str, Any], requirements: list[Any]
    ) -> None:
        card["protocolVersion"] = "0.3.0"
        listed = [{"url": item["url"], "transport": item["protocolBinding"]} for item in interfaces]
        if listed:
            card["url"], card["preferredTransport"] = listed[0]["url"], listed[0]["transport"]
        if listed[1:]:
            card["additionalInterfaces"] = listed
        if any("tenant" in item for item in interfaces):
            self._lacks("additionalInterfaces", "A2A 0.3 has no place for the tenant of an interface", "--url URL")
        if schemes:
            card["securitySchemes"], problems = in_03(schemes)
            self.problems += problems
        if requirements:
            card["security"] = requirements

    def _version(self) -> Version:
        said = self.options.protocol_version or text(member(member(self.part, "endpoint"), "a2a"), "protocolVersion")
        if not said:
            return "1.0"
        match = _VERSION.fullmatch(said)
        if match is None:
            self._lacks(
                "protocolVersion", f"there are no cards of version `{said[:40]}`", "--protocol-version 1.0 or 0.3"
            )
            return "1.0"
        return "1.0" if match[1] == "1.0" else "0.3"

    def _lacks(self, place: str, message: str, option: str) -> None:
        self.problems.append(Finding("A2A-SUPPLY-001", "graph", f"#/{place}", message, f"give {option}"))

    def _required(self, name: str, option: str) -> str:
        found = text(self.part, name)
        if not found.strip():
            self._lacks(name, f"a card requires `{name}`, and the agent has none", option)
        return found

    def _name(self) -> str:
        if not text(self.part, "name"):
            self.derived.append(Note("/name", "the agent's id in the suite"))
        return text(self.part, "name") or self.agent

    def _modes(self, member_name: str, place: str, option: str) -> list[str]:
        modes = [mode for _, mode in texts(self.part, member_name)]
        if not modes:
            self._lacks(place, f"a card requires `{place}`, and the agent has none", option)
        return modes

    def _features(self) -> dict[str, bool]:
        features = member(self.part, "features")
        found: dict[str, Any] = {name: features.get(name) is True for name in _FEATURES}
        for name in (name for name in _FEATURES if name not in features):
            self.derived.append(Note(f"/capabilities/{name}", "false, since the agent does not say it"))
        if self.options.suite_digest:
            params = {"agent": self.agent, "suiteDigest": self.options.suite_digest}
            described = "The AgentSuite that this card was made from."
            found["extensions"] = [{"uri": PROVENANCE, "description": described, "required": False, "params": params}]
        return found

    def _provider(self) -> dict[str, Any]:
        publisher = member(self.part, "publisher")
        if not publisher or not self.options.has_provider:
            return {}
        organization, url = text(publisher, "name"), text(publisher, "url")
        if not url:
            message = "a provider has a URL, and that of the publisher is not known"
            self._lacks("provider/url", message, "--provider-url URL, or --no-provider")
        if not organization:
            self._lacks("provider/organization", "a provider has a name, and the publisher has none", "--provider NAME")
        return {"provider": {"organization": organization, "url": url}}

    def _interfaces(self) -> list[dict[str, str]]:
        found = [self._given(url) for url in self.options.urls]
        endpoint = member(self.part, "endpoint")
        offered = member(endpoint, "a2a")
        if not found and offered.get("enabled") is not False:
            found = [
                self._interface(text(item, "url"), text(item, "binding"), text(item, "tenant"))
                for _, item in objects(self.part, "interfaces")
            ]
            if not found and text(endpoint, "url") and (offered or self.options.binding):
                found = [self._interface(text(endpoint, "url"), "", "")]
            elif not found and text(endpoint, "url"):
                message = "the agent has an endpoint, and does not say that it speaks A2A"
                self._lacks(self._interfaces_at, message, "--binding if it does, or --url URL")
                return []
        if not found:
            message = "a card says where the agent is called, and this agent offers no A2A endpoint"
            self._lacks(self._interfaces_at, message, "--url URL")
        return found

    @property
    def _interfaces_at(self) -> str:
        return "supportedInterfaces" if self.version == "1.0" else "url"

    def _given(self, written: str) -> dict[str, str]:
        match = _WITH_BINDING.fullmatch(written)
        binding, url = (match[1], match[2]) if match else ("", written)
        return self._interface(url.replace("{agent}", self.agent), binding, "")

    def _interface(self, url: str, binding: str, tenant: str) -> dict[str, str]:
        if not binding and not self.options.binding:
            self.derived.append(Note(f"/{self._interfaces_at}", f"`{BINDINGS[0]}`, since no binding is given"))
        found = {"url": url, "protocolBinding": binding or self.options.binding or BINDINGS[0]}
        return {**found, "tenant": tenant} if tenant else found

    def _skills(self) -> Iterator[dict[str, Any]]:
        capabilities = list(objects(self.part, "capabilities"))
        if not capabilities:
            message = "a card lists skills, and no capability of the agent is public"
            hint = "`visibility: public` in the profile, `advertise: true` in a BRICK manifest"
            self._lacks("skills", message, hint)
        for number, capability in capabilities:
            identifier = text(capability, "id")
            if not text(capability, "name"):
                self.derived.append(Note(f"/skills/{number}/name", "the capability's id"))
            if not text(capability, "description"):
                self._lacks(
                    f"skills/{number}/description", f"the capability `{identifier}` has none", "one in the profile"
                )
            skill: dict[str, Any] = {
                "id": identifier,
                "name": text(capability, "name") or identifier,
                "description": text(capability, "description"),
                "tags": self._tags(number, capability),
            }
            examples = self._examples(number, capability)
            skill |= {"examples": examples} if examples else {}
            skill |= {name: capability[name] for name in ("inputModes", "outputModes") if capability.get(name)}
            yield skill

    def _tags(self, number: int, capability: JSONObject) -> list[str]:
        own = [tag for _, tag in texts(capability, "tags")]
        if own:
            return own
        shared = [tag for name in ("categories", "tags") for _, tag in texts(self.part, name)]
        shared += [f"language:{language}" for _, language in texts(self.part, "languages")]
        if not shared:
            self._lacks(f"skills/{number}/tags", "a skill has a tag, and neither it nor the agent has any", "--tag TAG")
        else:
            reason = "the agent's tags, categories and languages (`language:<tag>`)"
            self.derived.append(Note(f"/skills/{number}/tags", reason))
        return list(dict.fromkeys(shared))

    def _examples(self, number: int, capability: JSONObject) -> list[str]:
        found = [item for _, item in texts(capability, "examples")]
        pairs = [item["input"] for _, item in objects(capability, "examples") if "input" in item]
        if pairs:
            self.derived.append(Note(f"/skills/{number}/examples", "the inputs of the examples, as JSON where no text"))
        return found + [item if isinstance(item, str) else _as_text(item) for item in pairs]


def _as_text(value: JSONValue) -> str:
    """Return a value as JSON text, the same for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
