"""The steps of an upgrade: where every member of an old card goes in a card of 1.0, and what happens on the way."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from agentsuite_converters.a2a.versions import scheme_in_10
from agentsuite_converters.members import items, member, text
from agentsuite_converters.places import leaves
from agentsuite_converters.report import Derived, Note, Report
from hatch_agentsuite.findings import Finding, pointer

if TYPE_CHECKING:
    from agentsuite_converters.places import Path
    from hatch_agentsuite.documents import JSONObject, JSONValue

_KEPT = ("name", "description", "version", "documentationUrl", "iconUrl", "defaultInputModes", "defaultOutputModes")
_PROVIDER = ("organization", "url")
_CAPABILITIES = ("streaming", "pushNotifications", "extendedAgentCard", "extensions")
_SKILL = ("id", "name", "description", "tags", "examples", "inputModes", "outputModes")
_VERSION = re.compile(r"([0-9]+\.[0-9]+)(?:\.[0-9]+)?")
_MOST_CHOICES = 64
_FOR_EACH_FLOW = "1.0 has one flow a scheme, so there is one for each flow"


class Upgrade:
    """One old card on its way; ``moved``, ``dropped`` and ``supplied`` say what became of it, ``problems`` what cannot.

    ``version`` is that of interfaces of which the card does not say it as 1.0 does; empty to keep what it says.
    """

    def __init__(self, old: JSONObject, version: str) -> None:
        self.old = old
        self.version = version
        self.moved: dict[Path, tuple[Path, str]] = {}
        self.dropped: dict[Path, str] = {}
        self.supplied: list[Note] = []
        self.problems: list[Finding] = []
        self._split: dict[str, list[str]] = {}

    def card(self) -> JSONObject:
        """Return the card of 1.0."""
        old = self.old
        card: dict[str, Any] = self._chosen(old, (), _KEPT)
        if "provider" in old:
            card["provider"] = self._chosen(member(old, "provider"), ("provider",), _PROVIDER)
        card["supportedInterfaces"] = self._interfaces()
        capabilities = self._capabilities()
        if capabilities is not None:
            card["capabilities"] = capabilities
        schemes = self._schemes()
        if schemes:
            card["securitySchemes"] = schemes
        card |= self._requirements(old, ())
        if "skills" in old:
            card["skills"] = [self._skill(number, skill) for number, skill in enumerate(items(old, "skills"))]
        if "signatures" in old:
            self.dropped[("signatures",)] = "a signature of the old card says nothing of the new one: sign it again"
        return card

    def account(self, old: JSONObject) -> Report:
        """Return what became of every leaf."""
        carried, derived, dropped = [], [], []
        for leaf in leaves(old):
            prefixes = [leaf[:end] for end in range(len(leaf), 0, -1)]
            known = next((prefix for prefix in prefixes if prefix in self.moved or prefix in self.dropped), ())
            if known not in self.moved:
                dropped.append(Note(pointer(*leaf), self.dropped.get(known, "1.0 has no member for it")))
                continue
            target, reason = self.moved[known]
            if reason:
                derived.append(Derived(pointer(*leaf), pointer(*target), reason))
            else:
                carried.append((pointer(*leaf), pointer(*target, *leaf[len(known) :])))
        return Report(tuple(carried), tuple(derived), tuple(dropped), tuple(self.supplied))

    def _keep(self, place: Path, value: JSONValue, target: Path | None = None, reason: str = "") -> JSONValue:
        self.moved[place] = (target or place, reason)
        return value

    def _chosen(self, holder: JSONObject, base: Path, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: self._keep((*base, name), holder[name]) for name in names if name in holder}

    # --- interfaces ------------------------------------------------------------------------------------------------

    def _interfaces(self) -> list[Any]:
        made: list[Any] = []
        for number, item in enumerate(items(self.old, "supportedInterfaces")):
            home: Path = ("supportedInterfaces", number)
            interface = dict(item) if isinstance(item, dict) else item
            if isinstance(interface, dict):
                if "transport" in interface and "protocolBinding" not in interface:
                    interface["protocolBinding"] = interface.pop("transport")
                if self.version and "protocolVersion" not in interface:
                    interface["protocolVersion"] = self.version
            if interface not in made:
                made.append(interface)
            target: Path = ("supportedInterfaces", made.index(interface))
            self.moved[home] = (target, "" if target == home else "the interface is listed once")
            if isinstance(item, dict) and "transport" in item:
                self.moved[(*home, "transport")] = ((*target, "protocolBinding"), "")
            if isinstance(item, dict) and self.version and "protocolVersion" not in item:
                self._say((*target, "protocolVersion"), "--protocol-version")
        self._older_interfaces(made)
        return made

    def _older_interfaces(self, made: list[Any]) -> None:
        """Add the interfaces that 0.3 names, but those that are there already."""
        version, why = self._older_version()
        added = [self._older(made, item, homes, version) for item, homes in self._named_interfaces()]
        places = sorted({place for place, is_new in added if is_new})
        for place in places:
            if why:
                self._say(("supportedInterfaces", place, "protocolVersion"), why)
        if "protocolVersion" in self.old and not why and places:
            target: Path = ("supportedInterfaces", places[0], "protocolVersion")
            reason = "" if version == text(self.old, "protocolVersion") else "the version is Major.Minor"
            self.moved["protocolVersion",] = (target, reason or "each interface says it")
        elif "protocolVersion" in self.old:
            self.dropped["protocolVersion",] = "replaced by --protocol-version" if places else "each interface says it"

    def _named_interfaces(self) -> Iterator[tuple[dict[str, JSONValue], dict[str, Path]]]:
        """Yield interfaces as 1.0 writes them, each with the homes of its members; the main one has no transport."""
        names = {"url": "url", "preferredTransport": "protocolBinding"}
        main = {new: self.old[name] for name, new in names.items() if name in self.old}
        if "url" in main or "supportedInterfaces" not in self.old:
            yield main, {new: (name,) for name, new in names.items() if name in self.old}
        else:
            self.dropped["preferredTransport",] = "without `url` it says nothing"
        names = {"url": "url", "transport": "protocolBinding"}
        for number, item in enumerate(items(self.old, "additionalInterfaces")):
            if isinstance(item, dict):
                found = {new: item[name] for name, new in names.items() if name in item}
                home: Path = ("additionalInterfaces", number)
                yield found, {new: (*home, name) for name, new in names.items() if name in item} or {"": home}

    def _older(
        self, made: list[Any], item: dict[str, JSONValue], homes: dict[str, Path], version: str
    ) -> tuple[int, bool]:
        """Put one interface of 0.3 into the list; return where it is, and whether it was not there before."""
        is_main = all(len(home) == 1 for home in homes.values())
        known = next((number for number, other in enumerate(made) if _is_said(item, other, is_main)), None)
        place = len(made) if known is None else known
        if known is None:
            if is_main and "protocolBinding" not in item:
                item["protocolBinding"] = "JSONRPC"
                self._say(("supportedInterfaces", place, "protocolBinding"), "the default of 0.3")
            made.append({**item, "protocolVersion": version})
        for name, home in homes.items():
            self.moved[home] = (("supportedInterfaces", place, name), "" if known is None else "it is listed already")
        return place, known is None

    def _older_version(self) -> tuple[str, str]:
        """Return the version of A2A that the interfaces of 0.3 have, and who says so if not the card."""
        if self.version:
            return self.version, "--protocol-version"
        written = text(self.old, "protocolVersion")
        if not written:
            return "0.3", "readers take a card without `protocolVersion` for 0.3"
        match = _VERSION.fullmatch(written)
        if match is None or (match[1].startswith("0.") and match[1] != "0.3"):
            message = "no client of today speaks this version of A2A"
            self._refuse(("protocolVersion",), "json", message, "say by --protocol-version which one the server speaks")
        return match[1] if match else written, ""

    def _say(self, place: Path, reason: str) -> None:
        self.supplied.append(Note(pointer(*place), reason))

    # --- capabilities and skills -----------------------------------------------------------------------------------

    def _capabilities(self) -> JSONValue:
        name = "supportsAuthenticatedExtendedCard"
        if "capabilities" not in self.old and name not in self.old:
            return None
        made = self._chosen(member(self.old, "capabilities"), ("capabilities",), _CAPABILITIES)
        if not self.old.get("capabilities", True):
            self.moved["capabilities",] = (("capabilities",), "")
        self.dropped["capabilities", "stateTransitionHistory"] = "1.0 has no such capability"
        if name in self.old:
            said = made.setdefault("extendedAgentCard", self.old[name])
            self.moved[name,] = (("capabilities", "extendedAgentCard"), "")
            if said is not self.old[name]:
                message = "this and `capabilities.extendedAgentCard` contradict each other"
                self._refuse((name,), "json", message, "remove one of the two")
        return made

    def _skill(self, number: int, skill: JSONValue) -> JSONValue:
        if not isinstance(skill, dict):
            return skill
        place: Path = ("skills", number)
        return {**self._chosen(skill, place, _SKILL), **self._requirements(skill, place)}

    # --- security --------------------------------------------------------------------------------------------------

    def _schemes(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        taken = set(member(self.old, "securitySchemes"))
        for name, scheme in member(self.old, "securitySchemes").items():
            place: Path = ("securitySchemes", name)
            written = scheme_in_10(text(scheme, "type")) if isinstance(scheme, dict) else ""
            if not isinstance(scheme, dict) or not written:
                made[name] = self._keep(place, scheme)
                continue
            value = {key: item for key, item in scheme.items() if key != "type"}
            self.moved[(*place, "type")] = ((*place, written), "the member that the scheme is in")
            for key in value:
                self.moved[(*place, key)] = ((*place, written, "location" if key == "in" else key), "")
            if "in" in value:
                value["location"] = value.pop("in")
            if len(member(value, "flows")) > 1:
                made |= self._flows(name, value, taken)
            else:
                made[name] = {written: value}
        return made

    def _flows(self, name: str, value: dict[str, Any], taken: set[str]) -> dict[str, Any]:
        """Return one scheme for each flow: 1.0 allows a scheme a single one."""
        made = {}
        self._split[name] = []
        for flow, described in value["flows"].items():
            new = f"{name}{flow[:1].upper()}{flow[1:]}"
            while new in taken:
                new += "_"
            taken.add(new)
            self._split[name].append(new)
            made[new] = {"oauth2SecurityScheme": {**value, "flows": {flow: described}}}
            target: Path = ("securitySchemes", new, "oauth2SecurityScheme", "flows", flow)
            self.moved["securitySchemes", name, "flows", flow] = (target, "")
        first = ("securitySchemes", self._split[name][0], "oauth2SecurityScheme")
        for key in value.keys() - {"flows"}:
            self.moved["securitySchemes", name, key] = ((*first, key), _FOR_EACH_FLOW)
        self.moved["securitySchemes", name, "type"] = (first, _FOR_EACH_FLOW)
        return made

    def _requirements(self, holder: JSONObject, base: Path) -> dict[str, Any]:
        """Return the requirements of a card or skill as 1.0 writes them, as a member; nothing if there are none."""
        found = {name: self._alternatives(holder, base, name) for name in ("securityRequirements", "security")}
        new, old = found["securityRequirements"], found["security"]
        if new and old:
            if _meaning(new) != _meaning(old):
                message = "`security` and `securityRequirements` ask for different things"
                self._refuse((*base, "security"), "security", message, "remove the one that is wrong")
            self._forget((*base, "security"), "`securityRequirements` says it already")
        return {"securityRequirements": new or old} if new or old else {}

    def _alternatives(self, holder: JSONObject, base: Path, name: str) -> list[Any]:
        """Return requirements in the form of 1.0; one that names a scheme of several flows becomes one a flow."""
        made: list[Any] = []
        for number, requirement in enumerate(items(holder, name)):
            place: Path = (*base, name, number)
            target: Path = (*base, "securityRequirements", len(made))
            is_new = isinstance(requirement, dict) and isinstance(requirement.get("schemes"), dict)
            named = member(requirement, "schemes") if is_new and isinstance(requirement, dict) else requirement
            if not isinstance(named, dict) or (is_new and self._split.keys().isdisjoint(named)):
                made.append(self._keep(place, requirement, target))
                continue
            choices = list(islice(self._choices(named, is_new=is_new), _MOST_CHOICES + 1))
            if len(choices) > _MOST_CHOICES:
                message = f"this becomes more than {_MOST_CHOICES} requirements, one for each choice of flows"
                self._refuse(place, "security", message, "name schemes of one flow")
                continue
            made += choices
            inside = (*place, "schemes") if is_new else place
            self.moved[inside] = (target, "")
            for scheme in named:
                self._scopes_moved((*inside, scheme), (*target, "schemes"), scheme, is_new=is_new)
        return made

    def _scopes_moved(self, home: Path, target: Path, scheme: str, *, is_new: bool) -> None:
        new = self._split.get(scheme, [scheme])[0]
        reason = "one requirement for each flow: a client meets one of them" if scheme in self._split else ""
        self.moved[home] = ((*target, new, *([] if is_new else ["list"])), reason)

    def _choices(self, named: JSONObject, *, is_new: bool) -> Iterator[JSONObject]:
        options = [self._split.get(scheme, [scheme]) for scheme in named]
        scopes = [value if is_new else {"list": value} for value in named.values()]
        for choice in product(*options):
            yield {"schemes": dict(zip(choice, scopes, strict=True))}

    def _forget(self, place: Path, reason: str) -> None:
        for moved in [moved for moved in self.moved if moved[: len(place)] == place]:
            del self.moved[moved]
        self.dropped[place] = reason

    def _refuse(self, place: Path, category: Any, message: str, hint: str) -> None:
        self.problems.append(Finding("A2A-CHANGE-001", category, f"#{pointer(*place)}", message, hint))


def _is_said(item: dict[str, JSONValue], other: Any, is_main: bool) -> bool:
    """Whether an interface is in the list; a main one without a transport is, where its URL is."""
    if not isinstance(other, dict) or "url" not in item or item["url"] != other.get("url"):
        return False
    binding = item.get("protocolBinding")
    return binding == other.get("protocolBinding") or (is_main and binding is None)


def _meaning(requirements: list[Any]) -> set[str]:
    """Return alternatives without their order, and of each the scopes of every scheme without theirs."""
    return {json.dumps(_scopes(requirement), sort_keys=True) for requirement in requirements}


def _scopes(requirement: Any) -> Any:
    schemes = requirement.get("schemes") if isinstance(requirement, dict) else None
    if not isinstance(schemes, dict):
        return requirement
    return {
        name: sorted(map(str, items(value, "list"))) if isinstance(value, dict) else value
        for name, value in schemes.items()
    }
