"""What a runtime must give and enforce, as a label of the image: the OCI config has no members for it (12, 15.2).

    {"capabilities": [], "noNewPrivileges": true, "writablePaths": ["/var/cache/demo"],
     "environment": [{"name": "TOKEN", "required": true, "secret": true, "delivery": "file"}],
     "network": [{"scheme": "https", "host": "example.org", "port": 443}], "secretRefs": ["model-key"]}

Names of variables and secrets only, never a value.
"""

from __future__ import annotations

from typing import Any, Final

from hatch_agentsuite.jsondoc import canonical
from hatch_agentsuite.sandbox.sources import Sources

LABEL: Final = "dev.hatch-agentsuite.runtime-contract"


def contract(sources: Sources) -> dict[str, Any]:
    """Return the contract of an image: the union of what its agent and its bundles declare (9.3)."""
    environment: dict[str, dict[str, Any]] = {}
    model = (sources.agent or {}).get("model", {})
    if "endpointEnv" in model:
        environment[model["endpointEnv"]] = {"name": model["endpointEnv"], "required": True, "secret": False}
    network: dict[bytes, dict[str, Any]] = {}
    for _, variant in sources.bundles():
        for item in variant.get("environment", []):
            known = environment.setdefault(item["name"], {"name": item["name"], "required": False, "secret": False})
            known["required"] = known["required"] or item.get("required", False)
            known["secret"] = known["secret"] or item.get("secret", False)
            if "delivery" in item:
                deliveries = {item["delivery"], known.get("delivery", item["delivery"])}
                known["delivery"] = "env" if "env" in deliveries else "file"
        for item in variant.get("network", []):
            network[canonical(item)] = item
    return {
        "capabilities": [],
        "noNewPrivileges": True,
        "writablePaths": sources.writable_paths,
        "environment": [environment[name] for name in sorted(environment)],
        "network": [network[key] for key in sorted(network)],
        "secretRefs": sorted(model.get("secretRefs", [])),
    }


def label(sources: Sources) -> str:
    """Return the label's text: the contract in canonical JSON."""
    return canonical(contract(sources)).decode()
