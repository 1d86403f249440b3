"""A valid document of every kind, built anew at each call, with every optional member present."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

AMD64: Json = {"os": "linux", "architecture": "amd64"}
ARM64: Json = {"os": "linux", "architecture": "arm64"}


def digest(digit: str) -> str:
    return "sha256:" + digit * 64


def header(kind: str) -> Json:
    return {"schemaVersion": "1.0.0-draft", "mediaType": f"application/vnd.agentsuite.{kind}.v1+json"}


def reference(path: str, **more: Any) -> Json:
    return {"path": path, "digest": digest("a"), **more}


def suite() -> Json:
    return {
        **header("manifest"),
        "name": "newsroom",
        "agents": [
            reference("agents/writer.json", id="writer", version="1.2.0"),
            reference("agents/editor.json", id="editor"),
        ],
        "toolProviderCatalog": reference("tool-providers/catalog.json", id="catalog"),
        "compositions": [
            reference("compositions/writer-linux-amd64.json", agent="writer", platform=dict(AMD64)),
            reference("compositions/editor-linux-arm64.json", agent="editor", platform=dict(ARM64)),
        ],
        "toolProviderCompositions": [
            reference(
                "tool-provider-compositions/clock-linux-amd64.json", id="clock", version="1.0.0", platform=dict(AMD64)
            )
        ],
        "buildProfiles": [reference("build-profiles/default.json", id="default")],
        "capabilities": ["bundled-stdio-mcp"],
        "extensions": [
            {"name": "example.notes", "critical": False, "digest": digest("b")},
            {"name": "example.must", "critical": True},
        ],
    }


def agent() -> Json:
    return {
        **header("agent"),
        "id": "writer",
        "description": "Writes the first draft.",
        "instructions": reference("instructions/writer.md"),
        "model": {
            "protocol": "openai-responses",
            "model": "any-large",
            "endpointEnv": "MODEL_ENDPOINT",
            "secretRefs": ["model-key", "proxy-key"],
        },
        "toolProviders": [{"id": "clock", "version": "1.0.0", "executionMode": "shared-sandbox"}],
        "invokes": [{"agent": "editor", "maxConcurrent": 2, "maxDepth": 1}],
        "evals": [reference("evals/writer/index.json")],
        "extensions": [{"name": "example.notes", "critical": False}],
    }


def eval_index() -> Json:
    return {
        **header("eval.index"),
        "agent": "writer",
        "cases": [reference("evals/writer/cases/Lead-1.json"), reference("evals/writer/cases/tail.json")],
        "limits": {"maxCases": 128, "maxCaseBytes": 4194304},
    }


def eval_case() -> Json:
    return {
        **header("eval.case"),
        "id": "Lead-1",
        "input": "Write one line\nabout rain.",
        "assertions": [
            {"id": "a", "type": "contains", "value": "rain"},
            {"id": "b", "type": "notContains", "value": "snow", "critical": True},
            {"id": "c", "type": "regex", "pattern": "^[A-Z]"},
            {"id": "d", "type": "toolCalled", "tool": "current_time", "critical": False},
            {"id": "e", "type": "toolNotCalled", "tool": "publish"},
            {
                "id": "f",
                "type": "llmJudge",
                "rubric": "Is it calm?\n\tSay why.",
                "minScore": 70,
                "judgeModel": "judge large",
                "judgeVersion": "2026-01",
            },
            {"id": "g", "type": "example.tone", "critical": False, "value": "calm\nand short"},
        ],
        "runs": 3,
        "minPasses": 2,
    }


def catalog() -> Json:
    return {
        **header("tool.provider.catalog"),
        "toolProviders": [reference("tool-providers/clock/1.0.0/tool-provider.json", id="clock", version="1.0.0")],
    }


def variant() -> Json:
    owner = {"uid": 0, "gid": 0}
    return {
        "platform": dict(AMD64),
        "variantDigest": digest("c"),
        "installRoot": "/opt/clock",
        "relocatable": False,
        "payloadRoot": "tool-providers/clock/1.0.0/linux-amd64",
        "entrypoint": "/opt/clock/bin/clock",
        "arguments": ["--zone", "UTC", "$HOME", "100$", ""],
        "searchPath": ["/opt/clock/bin"],
        "environment": [
            {"name": "CLOCK_ZONE", "required": True},
            {"name": "CLOCK_KEY", "secret": True, "delivery": "file"},
            {"name": "CLOCK_MODE", "secret": False},
        ],
        "writablePaths": ["/tmp", "/"],
        "network": [{"scheme": "https", "host": "time.example", "port": 443}],
        "runtime": {
            "abi": "gnu",
            "abiVersion": "2.36",
            "cpuBaseline": "x86-64-v2",
            "requiredBasePaths": ["/etc/ssl/certs"],
        },
        "files": [
            {"path": "bin", "type": "directory", "mode": 493, "size": 0, **owner},
            {
                "path": "bin/clock",
                "type": "file",
                "mode": 493,
                **owner,
                "size": 5,
                "digest": digest("d"),
                "component": "clock",
            },
            {"path": "bin/now", "type": "symlink", "mode": 511, **owner, "linkTarget": "../bin/clock"},
            {
                "path": "bin/then",
                "type": "hardlink",
                "mode": 493,
                **owner,
                "size": 0,
                "linkTarget": "payload/bin/clock",
            },
        ],
        "dependencies": [{"id": "zones", "version": "2026.1.0", "variantDigest": digest("e")}],
        "sbom": {"mediaType": "application/spdx+json", "digest": digest("f"), "size": 10},
        "provenance": {"mediaType": "application/vnd.in-toto+json", "digest": digest("0"), "size": 0},
    }


def remote() -> Json:
    return {
        "transport": "streamable-http",
        "endpointRef": "clock-endpoint",
        "headers": [{"name": "Authorization", "secretRef": {"name": "clock-auth", "key": "Token.1"}}],
        "network": [{"destinationRef": "clock-egress"}],
        "timeouts": {"connectMilliseconds": 3600000, "requestMilliseconds": 86400000},
        "cancellation": "propagate",
        "connection": "session-aware",
    }


def tool_provider() -> Json:
    return {
        **header("tool.provider"),
        "id": "clock",
        "version": "1.0.0",
        "retained": True,
        "protocol": "mcp",
        "revision": "2025-06-18",
        "tools": [
            {
                "name": "current_time",
                "description": "Tells the time.",
                "inputSchema": reference("schemas/clock/input.json"),
                "outputSchema": reference("schemas/clock/output.json"),
                "effects": ["reads-system-clock"],
            },
            {
                "name": "set_alarm",
                "inputSchema": reference("schemas/clock/alarm.json"),
                "effect": "mutating",
                "approval": "required",
                "delegatedAuthorization": {
                    "service": "alarms",
                    "scope": "alarms.write",
                    "credential": {"resolution": "runtime-brokered", "bindingRef": "alarm-connection"},
                },
            },
        ],
        "variants": [variant()],
        "remote": remote(),
        "extensions": [],
    }


def composition() -> Json:
    return {
        **header("composition"),
        "agent": "writer",
        "platform": dict(AMD64),
        "buildProfile": "default",
        "toolProviders": [
            {
                "id": "clock",
                "version": "1.0.0",
                "manifestDigest": digest("a"),
                "variantDigest": digest("b"),
                "executionMode": "shared-sandbox",
            }
        ],
    }


def tool_provider_composition() -> Json:
    return {
        **header("tool.provider.composition"),
        "id": "clock",
        "version": "1.0.0",
        "manifestDigest": digest("a"),
        "platform": dict(ARM64),
        "variantDigest": digest("b"),
        "buildProfile": "default",
    }


def image(name: str, platform: Json) -> Json:
    return {
        "platform": dict(platform),
        "imageRef": f"registry.example/base/{name}@{digest('a')}",
        "image": {
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": digest("a"),
            "size": 1234,
        },
    }


def build_profile() -> Json:
    return {
        **header("build.profile"),
        "id": "default",
        "runtimeBase": [image("runtime", AMD64), image("runtime", ARM64)],
        "harness": [image("harness", AMD64)],
        "sourceEpoch": 1,
    }


def sandbox_binding() -> Json:
    return {
        **header("sandbox.binding"),
        "suiteDigest": digest("a"),
        "agent": "writer",
        "platform": dict(AMD64),
        "buildProfile": "default",
        "composition": {
            "mediaType": "application/vnd.agentsuite.composition.v1+json",
            "digest": digest("b"),
            "size": 300,
        },
        "inventory": {"mediaType": "application/json", "digest": digest("c"), "size": 4000},
    }


def metadata_files() -> Json:
    return {
        "schemaVersion": "1",
        "mediaType": "application/vnd.hatch-agentsuite.metadata.files.v1+json",
        "files": [reference("metadata/notes.txt")],
    }


def oci_layout() -> Json:
    return {"imageLayoutVersion": "1.0.0"}


def image_index() -> Json:
    return {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [
            {
                "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "artifactType": "application/vnd.agentsuite.suite.v1",
                "digest": digest("a"),
                "size": 600,
                "annotations": {"org.opencontainers.image.ref.name": "1.0.0"},
                "data": "e30=",
                "platform": {"os": "linux", "architecture": "amd64", "os.features": ["x"], "variant": "v8"},
            }
        ],
        "annotations": {"example": "value"},
    }


def image_manifest() -> Json:
    return {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/vnd.agentsuite.suite.v1",
        "config": {
            "mediaType": "application/vnd.oci.empty.v1+json",
            "digest": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
            "size": 2,
            "data": "e30=",
        },
        "layers": [
            {"mediaType": "application/vnd.agentsuite.content.v1.tar+gzip", "digest": digest("b"), "size": 5000}
        ],
        "annotations": {},
    }


SAMPLES = {
    "agentsuite/agent": agent,
    "agentsuite/build-profile": build_profile,
    "agentsuite/composition": composition,
    "agentsuite/eval-case": eval_case,
    "agentsuite/eval-index": eval_index,
    "agentsuite/sandbox-binding": sandbox_binding,
    "agentsuite/suite": suite,
    "agentsuite/tool-provider": tool_provider,
    "agentsuite/tool-provider-catalog": catalog,
    "agentsuite/tool-provider-composition": tool_provider_composition,
    "hatch/metadata-files": metadata_files,
    "oci/image-index": image_index,
    "oci/image-manifest": image_manifest,
    "oci/oci-layout": oci_layout,
}
