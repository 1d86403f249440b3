"""What the suite of these tests holds: three agents, five ToolProviders, evaluations, two build profiles."""

from __future__ import annotations

from typing import Any

from hatch_agentsuite.jsondoc import digest_bytes

Json = dict[str, Any]

AMD64: Json = {"os": "linux", "architecture": "amd64"}
ARM64: Json = {"os": "linux", "architecture": "arm64"}
ZERO = "sha256:" + "0" * 64
SBOM, PROVENANCE = b'{"spdxVersion":"SPDX-2.3"}', b'{"_type":"https://in-toto.io/Statement/v1"}'
EVIDENCE = (SBOM, PROVENANCE)
EXTENSIONS = {
    "hatch-agentsuite.files.v1": "metadata/files.json",
    "hatch-agentsuite.profile.v1": "metadata/profiles/writer.json",
}

CLOCK = "tool-providers/clock/1.0.0/tool-provider.json"
NOTES = "tool-providers/notes/1.10.0/tool-provider.json"
OPA = "tool-providers/opa/1.0.0/tool-provider.json"
SEARCH = "tool-providers/search/1.0.0/tool-provider.json"
ZONES = "tool-providers/zones/2026.1.0/tool-provider.json"
CATALOG = "tool-providers/catalog.json"
WRITER, REVIEWER, COORDINATOR = "agents/writer.json", "agents/reviewer.json", "agents/coordinator.json"
WRITER_AMD64 = "compositions/writer-linux-amd64.json"
OPA_AMD64 = "tool-provider-compositions/opa-linux-amd64.json"
DEFAULT, SMALL = "build-profiles/default.json", "build-profiles/small.json"
EVALS, LEAD, TAIL = "evals/writer/index.json", "evals/writer/cases/Lead-1.json", "evals/writer/cases/tail.json"

_PAYLOAD = "tool-providers/clock/1.0.0/linux-amd64"
FOLDERS = ("agents", "evals", "evals/writer", "evals/writer/cases", _PAYLOAD, f"{_PAYLOAD}/bin", f"{_PAYLOAD}/var")
SYMLINKS = {f"{_PAYLOAD}/bin/now": "clock"}
HARDLINKS = {f"{_PAYLOAD}/bin/then": f"{_PAYLOAD}/bin/clock"}
EXECUTABLES = (
    f"{_PAYLOAD}/bin/clock",
    "tool-providers/clock/1.0.0/linux-arm64/bin/clock",
    "tool-providers/notes/1.10.0/linux-amd64/bin/notes",
    "tool-providers/notes/1.10.0/linux-arm64/bin/notes",
    "tool-providers/opa/1.0.0/linux-amd64/bin/opa",
    "tool-providers/zones/2026.1.0/linux-amd64/bin/zones",
    "tool-providers/zones/2026.1.0/linux-arm64/bin/zones",
)


def files() -> dict[str, bytes]:
    """Return every regular file that is no manifest."""
    found = {path: b"#!/bin/sh\n# " + path.encode() + b"\n" for path in EXECUTABLES}
    found |= {f"instructions/{name}.md": f"You are the {name}.\n".encode() for name in ("writer", "reviewer")}
    found |= {f"schemas/{name}.json": b'{"type": "object"}\n' for name in ("input", "output")}
    found[f"{_PAYLOAD}/share/zone.txt"] = b"UTC\n"
    found["metadata/NOTICE.txt"] = b"Notice.\n"
    return found


def documents() -> dict[str, Any]:
    """Return every manifest; digests are still zero."""
    found: dict[str, Any] = {
        "agentsuite.json": _suite(),
        WRITER: _writer(),
        REVIEWER: _agent("reviewer", toolProviders=_requirements()),
        COORDINATOR: _agent("coordinator", "writer", invokes=[_edge("reviewer"), _edge("writer")]),
        EVALS: {
            **header("eval.index"),
            "agent": "writer",
            "cases": [ref(LEAD), ref(TAIL)],
            "limits": {"maxCases": 2, "maxCaseBytes": 16_384},
        },
        LEAD: {**header("eval.case"), "id": "Lead-1", "input": "Write.", "assertions": _assertions(), "runs": 3,
               "minPasses": 2},
        TAIL: {**header("eval.case"), "id": "tail", "input": "End.", "assertions": _assertions()[:1]},
        CATALOG: {
            **header("tool.provider.catalog"),
            "toolProviders": [
                ref(path, id=path.split("/")[1], version=path.split("/")[2])
                for path in (CLOCK, NOTES, OPA, SEARCH, ZONES)
            ],
        },
        CLOCK: _clock(),
        NOTES: _provider("notes", "1.10.0", [_variant("notes", "1.10.0", arch) for arch in ("amd64", "arm64")]),
        OPA: _provider("opa", "1.0.0", [_variant("opa", "1.0.0", "amd64")]),
        ZONES: _provider("zones", "2026.1.0", [_variant("zones", "2026.1.0", arch) for arch in ("amd64", "arm64")]),
        SEARCH: _search(),
        OPA_AMD64: {
            **header("tool.provider.composition"), "id": "opa", "version": "1.0.0", "manifestDigest": ZERO,
            "platform": dict(AMD64), "variantDigest": ZERO, "buildProfile": "small",
        },
        DEFAULT: _profile("default", ("amd64", "arm64")),
        SMALL: _profile("small", ("amd64",)),
        "metadata/files.json": {
            "schemaVersion": "1",
            "mediaType": "application/vnd.hatch-agentsuite.metadata.files.v1+json",
            "files": [ref("metadata/NOTICE.txt")],
        },
        "metadata/profiles/writer.json": profile({"temperature": 0.5}),
    }  # fmt: skip
    for agent, arch in (("writer", "amd64"), ("writer", "arm64"), ("reviewer", "amd64"), ("coordinator", "amd64")):
        found[f"compositions/{agent}-linux-{arch}.json"] = _composition(agent, arch)
    return found


def profile(parameters: Any) -> Json:
    """Return an agent profile that holds a value of any shape, as the parameters of a model."""
    return {
        "schemaVersion": "1",
        "mediaType": "application/vnd.hatch-agentsuite.profile.v1+json",
        "model": {"parameters": parameters},
    }


def header(kind: str) -> Json:
    """Return what every document says about itself."""
    return {"schemaVersion": "1.0.0-draft", "mediaType": f"application/vnd.agentsuite.{kind}.v1+json"}


def ref(path: str, **more: Any) -> Json:
    """Return a reference with a digest to be computed."""
    return {**more, "path": path, "digest": ZERO}


def platform(arch: str) -> Json:
    """Return a platform."""
    return {"os": "linux", "architecture": arch}


def _suite() -> Json:
    pairs = (("writer", "amd64"), ("writer", "arm64"), ("reviewer", "amd64"), ("coordinator", "amd64"))
    return {
        **header("manifest"),
        "name": "newsroom",
        "agents": [ref(f"agents/{name}.json", id=name) for name in ("coordinator", "reviewer", "writer")],
        "toolProviderCatalog": ref(CATALOG, id="catalog"),
        "compositions": [
            ref(f"compositions/{agent}-linux-{arch}.json", agent=agent, platform=platform(arch))
            for agent, arch in pairs
        ],
        "toolProviderCompositions": [ref(OPA_AMD64, id="opa", version="1.0.0", platform=dict(AMD64))],
        "buildProfiles": [ref(DEFAULT, id="default"), ref(SMALL, id="small")],
        "capabilities": ["bundled-stdio-mcp"],
        "extensions": [
            {"name": "hatch-agentsuite.files.v1", "critical": False, "digest": ZERO},
            {"name": "example.notes", "critical": False},
        ],
    }


def _agent(name: str, instructions: str = "", **more: Any) -> Json:
    return {
        **header("agent"),
        "id": name,
        "description": f"The {name}.",
        "instructions": ref(f"instructions/{instructions or name}.md"),
        "model": {"protocol": "openai-responses", "model": "any-large"},
        **more,
    }


def _writer() -> Json:
    agent = _agent("writer", toolProviders=_requirements(), evals=[ref(EVALS)])
    agent["model"] |= {"endpointEnv": "MODEL_ENDPOINT", "secretRefs": ["model-key"]}
    agent["extensions"] = [
        {"name": "hatch-agentsuite.profile.v1", "critical": False, "digest": ZERO},
        {"name": "example.agent", "critical": False},
    ]
    return agent


def _edge(agent: str) -> Json:
    return {"agent": agent, "maxConcurrent": 2, "maxDepth": 1}


def _requirements() -> list[Json]:
    return [
        {"id": name, "version": version, "executionMode": "shared-sandbox"}
        for name, version in (("clock", "1.0.0"), ("notes", "1.10.0"))
    ]


def _assertions() -> list[Json]:
    return [
        {"id": "a", "type": "contains", "value": "operand-one"},
        {"id": "b", "type": "notContains", "value": "operand-two", "critical": True},
        {"id": "c", "type": "regex", "pattern": "^operand[A-Z]"},
        {"id": "d", "type": "toolCalled", "tool": "operand_tool", "critical": False},
        {"id": "e", "type": "toolNotCalled", "tool": "operand_other"},
        {"id": "f", "type": "llmJudge", "rubric": "Is operand calm?\n\tSay why.", "minScore": 70,
         "judgeModel": "operand judge", "judgeVersion": "2026-01"},
        {"id": "g", "type": "example.tone", "critical": False, "value": "operand\nlines"},
    ]  # fmt: skip


def _provider(name: str, version: str, variants: list[Json]) -> Json:
    return {
        **header("tool.provider"),
        "id": name,
        "version": version,
        "protocol": "mcp",
        "revision": "2025-06-18",
        "tools": [{"name": f"use_{name}", "inputSchema": ref("schemas/input.json")}],
        "variants": variants,
    }


def _file(path: str, data: bytes, mode: int = 0o755) -> Json:
    return {"path": path, "type": "file", "mode": mode, "uid": 0, "gid": 0, "size": len(data),
            "digest": digest_bytes(data)}  # fmt: skip


def _variant(name: str, version: str, arch: str) -> Json:
    root = f"tool-providers/{name}/{version}/linux-{arch}"
    return {
        "platform": platform(arch),
        "variantDigest": ZERO,
        "installRoot": f"/opt/agentsuite/{name}",
        "payloadRoot": root,
        "entrypoint": f"/opt/agentsuite/{name}/bin/{name}",
        "runtime": {"abi": "static", "cpuBaseline": "any"},
        "files": [_file(f"bin/{name}", files()[f"{root}/bin/{name}"])],
    }


def _clock() -> Json:
    needs = [{"id": "zones", "version": "2026.1.0", "variantDigest": ZERO}]
    amd64, arm64 = _variant("clock", "1.0.0", "amd64"), _variant("clock", "1.0.0", "arm64")
    root = {"uid": 0, "gid": 0}
    amd64["files"] += [
        {"path": "bin", "type": "directory", "mode": 0o755, "size": 0, **root},
        {"path": "bin/now", "type": "symlink", "mode": 0o777, "linkTarget": "clock", **root},
        {"path": "bin/then", "type": "hardlink", "mode": 0o755, "linkTarget": f"{_PAYLOAD}/bin/clock", **root},
        {**_file("share/zone.txt", b"UTC\n", 0o644), "component": "zone-data"},
        {"path": "share", "type": "directory", "mode": 0o755, **root},
    ]
    amd64 |= {
        "relocatable": False,
        "arguments": ["--zone", "UTC"],
        "searchPath": ["/opt/agentsuite/clock/bin"],
        "environment": [{"name": "CLOCK_ZONE"}, {"name": "CLOCK_KEY", "secret": True, "delivery": "file"}],
        "writablePaths": ["/tmp"],
        "network": [{"scheme": "https", "host": "time.example", "port": 443}],
        "sbom": {"mediaType": "application/spdx+json", "digest": digest_bytes(SBOM), "size": len(SBOM)},
        "provenance": {"mediaType": "application/vnd.in-toto+json", "digest": digest_bytes(PROVENANCE),
                       "size": len(PROVENANCE)},
    }  # fmt: skip
    amd64["dependencies"], arm64["dependencies"] = needs, [dict(needs[0])]
    provider = _provider("clock", "1.0.0", [amd64, arm64])
    provider["tools"][0] |= {"outputSchema": ref("schemas/output.json"), "effects": ["reads-clock"]}
    provider["tools"].append({"name": "set_alarm", "inputSchema": ref("schemas/input.json"), "effect": "mutating"})
    provider["extensions"] = [{"name": "example.provider", "critical": False}]
    return provider


def _search() -> Json:
    tools = [
        {
            "name": name,
            "inputSchema": ref("schemas/input.json"),
            "effect": effect,
            "approval": approval,
            "delegatedAuthorization": {
                "service": "search",
                "scope": scope,
                "credential": {"resolution": "runtime-brokered", "bindingRef": "search-connection"},
            },
        }
        for name, effect, approval, scope in (
            ("search", "read-only", "policy-controlled", "results.read"),
            ("flag_result", "mutating", "required", "results.flag"),
        )
    ]
    remote = {
        "transport": "streamable-http",
        "endpointRef": "search-endpoint",
        "headers": [
            {"name": "Authorization", "secretRef": {"name": "search-auth", "key": "token"}},
            {"name": "X-Team", "secretRef": {"name": "search-team", "key": "name"}},
        ],
        "network": [{"destinationRef": "search-egress"}],
        "timeouts": {"connectMilliseconds": 5000, "requestMilliseconds": 60000},
        "cancellation": "propagate",
        "connection": "session-aware",
    }
    return {
        **header("tool.provider"), "id": "search", "version": "1.0.0", "retained": True, "protocol": "mcp",
        "revision": "2025-06-18", "tools": tools, "remote": remote,
    }  # fmt: skip


def _composition(agent: str, arch: str) -> Json:
    records = [{**item, "manifestDigest": ZERO, "variantDigest": ZERO} for item in _requirements()]
    return {
        **header("composition"),
        "agent": agent,
        "platform": platform(arch),
        "buildProfile": "small" if agent == "coordinator" else "default",
        "toolProviders": [] if agent == "coordinator" else records,
    }


def _profile(name: str, architectures: tuple[str, ...]) -> Json:
    return {
        **header("build.profile"),
        "id": name,
        "runtimeBase": [_image("base", arch) for arch in architectures],
        "harness": [_image("harness", arch) for arch in architectures],
        "sourceEpoch": 1,
    }


def _image(name: str, arch: str) -> Json:
    digest = digest_bytes(f"{name}-{arch}".encode())
    return {
        "platform": platform(arch),
        "imageRef": f"registry.example/agentsuite/{name}@{digest}",
        "image": {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": 1234},
    }
