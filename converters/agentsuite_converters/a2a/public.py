"""The public part of an agent profile: named members and nothing else, so that a new private member stays private."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentsuite_converters.members import objects
from agentsuite_converters.places import leaves, value_at

if TYPE_CHECKING:
    from hatch_agentsuite.documents import JSONObject

MEMBERS = (
    "name",
    "description",
    "version",
    "publisher",
    "tags",
    "categories",
    "languages",
    "endpoint",
    "interfaces",
    "authentication",
    "security",
    "features",
    "inputModes",
    "outputModes",
    "documentationUrl",
    "iconUrl",
)
"""Members of a profile that may be published."""

CAPABILITY_MEMBERS = ("id", "name", "description", "tags", "examples", "inputModes", "outputModes")
"""Members of a public capability that may be published."""

_NAMES = ("name", "publisher", "tags", "categories", "endpoint", "interfaces", "documentationUrl", "iconUrl")


def public_part(value: JSONObject) -> JSONObject:
    """Return what of a profile's value may be published; capabilities only where their visibility is ``public``."""
    found: JSONObject = {name: value[name] for name in MEMBERS if name in value}
    found["capabilities"] = [
        {name: item[name] for name in CAPABILITY_MEMBERS if name in item}
        for _, item in objects(value, "capabilities")
        if item.get("visibility") == "public"
    ]
    return found


def public_names(part: JSONObject) -> frozenset[str]:
    """Return the names and addresses that are public by what they are: they disclose nothing wherever they stand."""
    named: list[JSONObject] = [{name: part[name] for name in _NAMES if name in part}]
    named += [{"id": item.get("id"), "name": item.get("name")} for _, item in objects(part, "capabilities")]
    return frozenset(found for root in named for leaf in leaves(root) if isinstance(found := value_at(root, leaf), str))
