"""Single changes of the valid samples that a schema refuses, each with the keyword that must refuse it and where.

``at`` is the path of the error where it is not the path of the change. A dropped member is missed by its object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.schemas.samples import SAMPLES, digest

Path = tuple["str | int", ...]


class _Drop:
    def __repr__(self) -> str:
        return "DROP"


DROP = _Drop()


@dataclass(frozen=True)
class Mutation:
    schema: str
    where: Path
    value: Any
    keyword: str
    at: Path

    @property
    def label(self) -> str:
        place = "/".join(str(step) for step in self.where)
        return f"{self.schema}#{place}={ascii(self.value)[:30]}"

    def document(self) -> Any:
        return changed(SAMPLES[self.schema](), self.where, self.value)


def changed(document: Any, where: Path, value: Any) -> Any:
    """Change the document at one place, in place, and return it."""
    if not where:
        return value
    holder = document
    for step in where[:-1]:
        holder = holder[step]
    if value is DROP:
        del holder[where[-1]]
    else:
        holder[where[-1]] = value
    return document


def places(value: Any, where: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every place of a document and the value there."""
    yield where, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        yield from places(member, (*where, step))


def of_another_type(
    build: Callable[[], Any], others: tuple[Any, ...] = (None, True, 7, "x", [], {})
) -> Iterator[tuple[Path, Any]]:
    """Yield a document for every place of a sample and every value of a JSON type that does not belong there."""
    for where, value in places(build()):
        for other in others:
            if type(other) is not type(value):
                yield where, changed(build(), where, other)


def _path(text: str) -> Path:
    return tuple(int(step) if step.isdigit() else step for step in text.split("/")) if text else ()


def refused(schema: str, where: str, value: Any, keyword: str, at: str | None = None) -> Mutation:
    return Mutation(schema, _path(where), value, keyword, _path(where if at is None else at))


def missing(schema: str, holder: str, *members: str) -> list[Mutation]:
    return [Mutation(schema, (*_path(holder), member), DROP, "required", _path(holder)) for member in members]


def each(schema: str, where: str, keyword: str, *values: Any) -> list[Mutation]:
    return [refused(schema, where, value, keyword) for value in values]


def unknown(schema: str, *holders: str) -> list[Mutation]:
    return [
        refused(schema, f"{holder}/surprise" if holder else "surprise", 1, "additionalProperties") for holder in holders
    ]


IDENTIFIERS = ("", "A", "-a", ".a", "a b", "a/b", "é", "a" * 129, "a\n", "\na")
NOT_IDENTIFIERS: tuple[Any, ...] = (None, 1, True, [], {})
VERSIONS = ("", "1", "1.0", "1.0.0.0", "v1.0.0", "01.0.0", "1.02.0", "1.0.03", "1.0.0-", "1.0.0+", "1.0.0-a..b")
MORE_VERSIONS = ("1.0.0-01", "1.0.0-a.00", "^1.0.0", ">=1.0.0", "latest", "1.0.x", "1.0.0 ", "1.0.0\n", "1.0.0+a+b")
DIGESTS = ("", "a" * 64, digest("A"), digest("g"), digest("a") + "a", digest("a")[:-1], "sha512:" + "a" * 128)
PATHS = ("", "/a", "a/", "a//b", ".", "..", "./a", "a/.", "a/../b", "a/..", "a\\b", "a\0b", "a" * 1025)
ABSOLUTE_PATHS = ("", "a", "//", "//a", "/a/", "/a//b", "/.", "/..", "/a/.", "/a/./b", "/a/../b", "/a\0")
BLANK = ("", " ", "\n\t", "\u00a0", "\u2003\u3000", "\u2028\u2029", "\x85", "\x1c")

_ROOTS = {
    "agent": ("id", "instructions", "model"),
    "build-profile": ("id", "runtimeBase", "harness", "sourceEpoch"),
    "composition": ("agent", "platform", "buildProfile", "toolProviders"),
    "eval-case": ("id", "input", "assertions"),
    "eval-index": ("agent", "cases", "limits"),
    "sandbox-binding": ("suiteDigest", "agent", "platform", "buildProfile", "composition", "inventory"),
    "suite": ("name", "agents", "toolProviderCatalog", "compositions", "buildProfiles"),
    "tool-provider": ("id", "version", "protocol", "revision", "tools"),
    "tool-provider-catalog": ("toolProviders",),
    "tool-provider-composition": (
        "id", "version", "manifestDigest", "platform", "variantDigest", "buildProfile",
    ),
}  # fmt: skip


def envelope() -> list[Mutation]:
    """What holds for every AgentSuite document: version, media type, required members, nothing unknown, no null."""
    cases: list[Mutation] = []
    for kind, members in _ROOTS.items():
        name = f"agentsuite/{kind}"
        cases += each(name, "", "type", None, [], "text", 1, True)
        cases += each(name, "schemaVersion", "const", "1.0.0", "1.0.0-draft\n", "", None, 1)
        cases += each(name, "mediaType", "const", "application/json", SAMPLES[name]()["mediaType"] + "\n", None)
        cases += missing(name, "", "schemaVersion", "mediaType", *members)
        cases += unknown(name, "")
        cases += [
            refused(name, member, None, "const" if member == "retained" else "type")
            for member in SAMPLES[name]()
            if member not in {"schemaVersion", "mediaType", "protocol"}
        ]
    return cases


def suite() -> list[Mutation]:
    name = "agentsuite/suite"
    first = ("agents/0", "toolProviderCatalog", "compositions/0", "toolProviderCompositions/0", "buildProfiles/0")
    return [
        *each(name, "name", "pattern", *IDENTIFIERS),
        *each(name, "name", "type", *NOT_IDENTIFIERS),
        *each(name, "agents", "minItems", []),
        *each(name, "agents", "type", {}, "writer"),
        *each(name, "agents/0/id", "pattern", "Writer", "writer\n"),
        *each(name, "agents/0/version", "pattern", "latest"),
        *each(name, "toolProviderCatalog/id", "pattern", "Catalog"),
        *each(name, "compositions", "minItems", []),
        *each(name, "buildProfiles", "minItems", []),
        *each(name, "toolProviderCompositions/0/version", "pattern", "1.0"),
        *each(name, "agents/0/path", "pattern", *(path for path in PATHS if len(path) < 1025)),
        *each(name, "agents/0/path", "maxLength", "a" * 1025),
        *each(name, "agents/0/digest", "pattern", *DIGESTS, digest("a") + "\n"),
        *each(name, "capabilities", "uniqueItems", ["bundled-stdio-mcp", "bundled-stdio-mcp"]),
        *each(name, "capabilities/0", "pattern", "a_b", "A", "", "a\n", "a" * 129),
        *each(name, "extensions/0/name", "pattern", "a_b", "A", "", "a\n"),
        *each(name, "extensions/0/critical", "type", "false", 0, None),
        *each(name, "extensions/0/digest", "pattern", "sha256:"),
        *(case for holder in first for case in missing(name, holder, "path", "digest")),
        *missing(name, "agents/0", "id"),
        *missing(name, "compositions/0", "agent", "platform"),
        *missing(name, "toolProviderCompositions/0", "id", "version", "platform"),
        *missing(name, "buildProfiles/0", "id"),
        *missing(name, "extensions/0", "name", "critical"),
        *unknown(name, *first, "compositions/0/platform", "extensions/0"),
        *each(name, "compositions/0/platform/os", "const", "windows", "Linux", "linux\n", None),
        *each(name, "compositions/0/platform/architecture", "enum", "s390x", "x86_64", "amd64\n", 64),
        *missing(name, "compositions/0/platform", "os", "architecture"),
        refused(name, "compositions/0/platform/variant", "v8", "additionalProperties"),
        refused(name, "policy", {}, "additionalProperties"),
        refused(name, "Name", "newsroom", "additionalProperties"),
    ]


def agent() -> list[Mutation]:
    name = "agentsuite/agent"
    environment = ("a", "A-B", "1A", "", "A\n", "É")
    injecting = ("LD_PRELOAD", "LD_", "LD_LIBRARY_PATH", "PYTHONPATH", "NODE_OPTIONS", "BASH_ENV")
    return [
        *each(name, "description", "maxLength", "x" * 4097),
        *each(name, "instructions/path", "pattern", "../writer.md"),
        *missing(name, "instructions", "path", "digest"),
        *each(name, "model/protocol", "minLength", ""),
        *each(name, "model/model", "minLength", ""),
        *each(name, "model/endpointEnv", "pattern", *environment),
        *each(name, "model/endpointEnv", "not", *injecting),
        *each(name, "model/secretRefs", "uniqueItems", ["a", "a"]),
        *each(name, "model/secretRefs/0", "pattern", "Key", "https://x"),
        *missing(name, "model", "protocol", "model"),
        *each(name, "toolProviders/0/id", "pattern", "Clock"),
        *each(name, "toolProviders/0/version", "pattern", *VERSIONS, *MORE_VERSIONS),
        *each(name, "toolProviders/0/executionMode", "const", "isolated", "", "shared-sandbox\n", None),
        *missing(name, "toolProviders/0", "id", "version", "executionMode"),
        *each(name, "invokes/0/agent", "pattern", "Editor"),
        *each(name, "invokes/0/maxConcurrent", "minimum", 0, -1),
        *each(name, "invokes/0/maxDepth", "minimum", 0),
        *each(name, "invokes/0/maxDepth", "type", True, "1", 1.0, 1.5, None),
        *missing(name, "invokes/0", "agent", "maxConcurrent", "maxDepth"),
        *each(name, "evals", "maxItems", [{"path": f"evals/{a}/index.json", "digest": digest("a")} for a in "ab"]),
        *each(name, "evals/0/path", "pattern", "evals/index.json", "evals/writer/index.json\n", "evals/W/index.json"),
        *missing(name, "evals/0", "path", "digest"),
        *unknown(name, "instructions", "model", "toolProviders/0", "invokes/0", "evals/0", "extensions/0"),
    ]


def evaluations() -> list[Mutation]:
    index, case = "agentsuite/eval-index", "agentsuite/eval-case"
    reference = {"path": "evals/writer/cases/a.json", "digest": digest("a")}
    return [
        *each(index, "agent", "pattern", "Writer"),
        *each(index, "cases", "minItems", []),
        *each(index, "cases", "maxItems", [reference] * 129),
        *each(index, "cases/0/path", "pattern", "evals/writer/a.json", "evals/writer/cases/.a.json", "a.json"),
        *each(index, "cases/0/path", "pattern", "evals/writer/cases/" + "a" * 64 + ".json"),
        *missing(index, "cases/0", "path", "digest"),
        *each(index, "limits/maxCases", "minimum", 0),
        *each(index, "limits/maxCases", "maximum", 129),
        *each(index, "limits/maxCaseBytes", "minimum", 0),
        *each(index, "limits/maxCaseBytes", "maximum", 4194305),
        *each(index, "limits/maxCases", "type", 1.0, "1", True),
        *missing(index, "limits", "maxCases", "maxCaseBytes"),
        *unknown(index, "cases/0", "limits"),
        *each(case, "id", "pattern", "", "-a", "a b", "a" * 64, "a\n"),
        *each(case, "input", "pattern", *BLANK),
        *each(case, "input", "type", None, 1, ["x"]),
        *each(case, "assertions", "minItems", []),
        *each(case, "assertions", "maxItems", [{"id": "a", "type": "contains", "value": "x"}] * 1001),
        *each(case, "runs", "minimum", 0),
        *each(case, "minPasses", "minimum", 0),
        *each(case, "runs", "type", None, 2.0, "2"),
        refused(case, "runs", DROP, "dependentRequired", ""),
    ]


def assertions() -> list[Mutation]:
    name = "agentsuite/eval-case"
    operands = {
        0: ("pattern", "tool", "rubric", "minScore", "judgeModel", "judgeVersion"),
        2: ("value", "tool", "rubric"),
        3: ("value", "pattern", "minScore"),
        5: ("value", "pattern", "tool"),
        6: ("pattern", "tool", "rubric"),
    }
    sample: dict[str, Any] = {
        "value": "x", "pattern": "x", "tool": "x", "rubric": "x", "minScore": 1, "judgeModel": "x", "judgeVersion": "x",
    }  # fmt: skip
    lines = (*BLANK, "a\nb", "a\n", "a\tb", "a\x00", "a\x7f", "a\x9f", "a\u2028b", "a\u2029")
    line_faults = [(line, "pattern" if line in BLANK and line in {"", " ", "\u00a0", "\u2003\u3000"} else "not")
                   for line in lines if line not in {"\n\t", "\u2028\u2029", "\x85", "\x1c"}]  # fmt: skip
    return [
        *(refused(name, f"assertions/0/{m}", sample[m], "propertyNames") for m in operands[0]),
        *(refused(name, f"assertions/{n}/{m}", sample[m], "propertyNames") for n in (2, 3, 5, 6) for m in operands[n]),
        *missing(name, "assertions/0", "id", "type", "value"),
        *missing(name, "assertions/1", "value"),
        *missing(name, "assertions/2", "pattern"),
        *missing(name, "assertions/3", "tool"),
        *missing(name, "assertions/4", "tool"),
        *missing(name, "assertions/5", "rubric", "minScore", "judgeModel", "judgeVersion"),
        *missing(name, "assertions/6", "critical", "value"),
        *(refused(name, "assertions/0/value", line, keyword) for line, keyword in line_faults),
        *(refused(name, "assertions/3/tool", line, keyword) for line, keyword in line_faults),
        *each(name, "assertions/0/critical", "type", "true", None, 1),
        *each(name, "assertions/2/pattern", "pattern", *BLANK),
        *each(name, "assertions/2/pattern", "maxLength", "a" * 1025),
        *each(name, "assertions/5/rubric", "pattern", "", " ", "\n\t", "\u2028"),
        *each(name, "assertions/5/rubric", "maxLength", "a" * 4097),
        *each(name, "assertions/5/rubric", "not", "a\r\n", "a\x00", "a\x0b", "a\x7f", "a\x80"),
        *each(name, "assertions/5/minScore", "minimum", -1),
        *each(name, "assertions/5/minScore", "maximum", 101),
        *each(name, "assertions/5/minScore", "type", 50.0, "50", True),
        *each(name, "assertions/5/judgeModel", "pattern", "", " ", "é", "a\n", "a\tb", "\x7f"),
        *each(name, "assertions/5/judgeVersion", "maxLength", "a" * 257),
        *each(name, "assertions/6/type", "pattern", "Tone", "", "a b", "contains\n", "a" * 129),
        *each(name, "assertions/6/critical", "const", True),
        *each(name, "assertions/6/value", "pattern", *BLANK),
        *unknown(name, "assertions/0", "assertions/6"),
    ]


def tools() -> list[Mutation]:
    name = "agentsuite/tool-provider"
    delegated = "tools/1/delegatedAuthorization"
    return [
        *each(name, "version", "pattern", "latest", "1.0"),
        *each(name, "retained", "const", False, 1, "true"),
        *each(name, "protocol", "const", "http", "MCP", "mcp\n", None),
        *each(name, "revision", "minLength", ""),
        *each(name, "tools", "minItems", []),
        *each(name, "tools/0/name", "pattern", "getTime", "", "a b", "a\n"),
        *each(name, "tools/0/effects", "uniqueItems", ["a", "a"]),
        *each(name, "tools/0/effects/0", "minLength", ""),
        *each(name, "tools/1/effect", "enum", "consequential", "", None, True),
        *each(name, "tools/1/approval", "enum", True, "never", "required\n"),
        refused(name, "tools/1/effect", DROP, "dependentRequired", "tools/1"),
        refused(name, "tools/1/approval", DROP, "dependentRequired", "tools/1"),
        *missing(name, "tools/0", "name", "inputSchema"),
        *missing(name, "tools/0/inputSchema", "path", "digest"),
        *missing(name, delegated, "service", "scope", "credential"),
        *missing(name, f"{delegated}/credential", "resolution", "bindingRef"),
        *each(name, f"{delegated}/service", "pattern", "https://graph.example"),
        *each(name, f"{delegated}/scope", "minLength", ""),
        *each(name, f"{delegated}/credential/resolution", "const", "embedded"),
        *each(name, f"{delegated}/credential/bindingRef", "pattern", "Me"),
        *unknown(name, "tools/0", "tools/0/inputSchema", "tools/0/outputSchema", delegated, f"{delegated}/credential"),
        refused(name, f"{delegated}/credential/token", "x", "additionalProperties"),
        *each(name, "variants", "minItems", []),
    ]


def variants() -> list[Mutation]:
    name = "agentsuite/tool-provider"
    holder = "variants/0"
    return [
        *missing(name, holder, "platform", "variantDigest", "installRoot", "payloadRoot", "entrypoint", "runtime"),
        *missing(name, holder, "files"),
        *each(name, f"{holder}/installRoot", "pattern", *ABSOLUTE_PATHS),
        *each(name, f"{holder}/entrypoint", "pattern", "bin/clock"),
        *each(name, f"{holder}/payloadRoot", "pattern", "/payload"),
        *each(name, f"{holder}/relocatable", "type", "no", 0),
        *each(name, f"{holder}/arguments/0", "not", "${HOME}", "a$(date)", "$$(x)"),
        *each(name, f"{holder}/searchPath", "uniqueItems", ["/a", "/a"]),
        *each(name, f"{holder}/searchPath/0", "pattern", "bin"),
        *each(name, f"{holder}/writablePaths", "uniqueItems", ["/a", "/a"]),
        *each(name, f"{holder}/environment/0/name", "pattern", "zone", "A\n"),
        *each(name, f"{holder}/environment/0/name", "not", "LD_AUDIT", "PYTHONPATH"),
        refused(name, f"{holder}/environment/0/delivery", "env", "propertyNames"),
        refused(name, f"{holder}/environment/2/delivery", "env", "propertyNames"),
        refused(name, f"{holder}/environment/1/secret", False, "propertyNames", f"{holder}/environment/1/delivery"),
        *missing(name, f"{holder}/environment/1", "delivery", "name"),
        *each(name, f"{holder}/environment/1/delivery", "enum", "stdin", "file\n"),
        *each(name, f"{holder}/network", "uniqueItems", [{"scheme": "a", "host": "b", "port": 1}] * 2),
        *each(name, f"{holder}/network/0/scheme", "pattern", "HTTPS", "", "1a", "https\n", "https:"),
        *each(name, f"{holder}/network/0/host", "minLength", ""),
        *each(name, f"{holder}/network/0/port", "minimum", 0),
        *each(name, f"{holder}/network/0/port", "maximum", 65536),
        *each(name, f"{holder}/network/0/port", "type", "443", 443.0),
        *missing(name, f"{holder}/network/0", "scheme", "host", "port"),
        *each(name, f"{holder}/runtime/abi", "enum", "uclibc", "gnu\n"),
        *each(name, f"{holder}/runtime/cpuBaseline", "minLength", ""),
        *each(name, f"{holder}/runtime/requiredBasePaths", "uniqueItems", ["/a", "/a"]),
        *missing(name, f"{holder}/runtime", "abi", "cpuBaseline"),
        *each(name, f"{holder}/dependencies/0/version", "pattern", ">=1.0.0"),
        *missing(name, f"{holder}/dependencies/0", "id", "version", "variantDigest"),
        *each(name, f"{holder}/sbom/digest", "pattern", "sha256:1"),
        *each(name, f"{holder}/sbom/size", "minimum", -1),
        *each(name, f"{holder}/sbom/mediaType", "minLength", ""),
        *missing(name, f"{holder}/provenance", "mediaType", "digest", "size"),
        *each(name, f"{holder}/sbom", "type", "sbom.json"),
        *unknown(name, holder, *(f"{holder}/{part}" for part in ("platform", "runtime", "sbom", "provenance"))),
        *unknown(name, *(f"{holder}/{part}/0" for part in ("environment", "network", "files", "dependencies"))),
    ]


def inventory() -> list[Mutation]:
    name, holder = "agentsuite/tool-provider", "variants/0/files"
    directory, file, symlink, hardlink = (f"{holder}/{position}" for position in range(4))
    return [
        *each(name, holder, "minItems", []),
        *missing(name, file, "path", "type", "mode", "uid", "gid", "size", "digest"),
        *missing(name, symlink, "linkTarget"),
        *missing(name, hardlink, "linkTarget"),
        refused(name, f"{file}/linkTarget", "x", "propertyNames"),
        refused(name, f"{directory}/digest", digest("a"), "propertyNames"),
        refused(name, f"{directory}/linkTarget", "x", "propertyNames"),
        refused(name, f"{symlink}/digest", digest("a"), "propertyNames"),
        refused(name, f"{hardlink}/digest", digest("a"), "propertyNames"),
        *each(name, f"{directory}/size", "const", 1),
        *each(name, f"{symlink}/size", "const", 1),
        *each(name, f"{hardlink}/size", "const", 1),
        *each(name, f"{file}/size", "minimum", -1),
        *each(name, f"{file}/path", "pattern", "/bin/clock", "../clock"),
        *each(name, f"{file}/type", "enum", "fifo", "", "file\n"),
        *each(name, f"{file}/mode", "maximum", 512, 0o4755),
        *each(name, f"{file}/mode", "minimum", -1),
        *each(name, f"{file}/mode", "type", "0755", 493.0),
        *each(name, f"{file}/uid", "const", 1000, False, "0"),
        *each(name, f"{file}/gid", "const", 1000),
        *each(name, f"{file}/component", "minLength", ""),
        *each(name, f"{symlink}/linkTarget", "minLength", ""),
        *each(name, f"{symlink}/linkTarget", "maxLength", "a" * 1025),
        *each(name, f"{symlink}/linkTarget", "pattern", "a\0b"),
        *each(name, f"{hardlink}/linkTarget", "pattern", "../clock", "/clock"),
    ]


def remote() -> list[Mutation]:
    name = "agentsuite/tool-provider"
    managed = (
        "accept", "Connection", "CONTENT-LENGTH", "Content-Type", "hOST", "last-event-id", "Mcp-Protocol-Version",
        "MCP-Session-Id", "transfer-encoding",
    )  # fmt: skip
    return [
        *missing(name, "remote", "transport", "endpointRef", "network", "timeouts", "cancellation", "connection"),
        *each(name, "remote/transport", "const", "sse", "streamable-http\n"),
        *each(name, "remote/endpointRef", "pattern", "https://clock.example/mcp"),
        *each(name, "remote/headers/0/name", "pattern", "", "a b", "a:", "a\n", "a" * 129),
        *each(name, "remote/headers/0/name", "not", *managed),
        *missing(name, "remote/headers/0", "name", "secretRef"),
        refused(name, "remote/headers/0/value", "Bearer x", "additionalProperties"),
        *each(name, "remote/headers/0/secretRef", "type", "Bearer x"),
        *each(name, "remote/headers/0/secretRef/name", "pattern", "Auth"),
        *each(name, "remote/headers/0/secretRef/key", "pattern", "", "a b", "a" * 254, "a\n"),
        *missing(name, "remote/headers/0/secretRef", "name", "key"),
        *each(name, "remote/network", "minItems", []),
        *each(name, "remote/network", "uniqueItems", [{"destinationRef": "a"}] * 2),
        *missing(name, "remote/network/0", "destinationRef"),
        *missing(name, "remote/timeouts", "connectMilliseconds", "requestMilliseconds"),
        *each(name, "remote/timeouts/connectMilliseconds", "minimum", 0),
        *each(name, "remote/timeouts/connectMilliseconds", "maximum", 3600001),
        *each(name, "remote/timeouts/requestMilliseconds", "minimum", 0),
        *each(name, "remote/timeouts/requestMilliseconds", "maximum", 86400001),
        *each(name, "remote/cancellation", "const", "ignore"),
        *each(name, "remote/connection", "const", "stateless"),
        *unknown(name, "remote", "remote/headers/0", "remote/headers/0/secretRef", "remote/network/0"),
        *unknown(name, "remote/timeouts"),
    ]


def compositions() -> list[Mutation]:
    agents, providers, catalog = (
        f"agentsuite/{kind}" for kind in ("composition", "tool-provider-composition", "tool-provider-catalog")
    )
    members = ("id", "version", "manifestDigest", "variantDigest", "executionMode")
    return [
        *each(agents, "agent", "pattern", "Writer"),
        *each(agents, "buildProfile", "pattern", "Default"),
        *missing(agents, "toolProviders/0", *members),
        *each(agents, "toolProviders/0/executionMode", "const", "remote"),
        *each(agents, "toolProviders/0/manifestDigest", "pattern", "sha256:"),
        *each(agents, "platform/os", "const", "darwin"),
        *unknown(agents, "toolProviders/0", "platform"),
        *each(providers, "manifestDigest", "pattern", "sha256:"),
        *each(providers, "variantDigest", "pattern", ""),
        *each(providers, "version", "pattern", "1"),
        *each(providers, "platform/architecture", "enum", "riscv64"),
        *unknown(providers, "platform"),
        *each(catalog, "toolProviders/0/version", "pattern", "1"),
        *missing(catalog, "toolProviders/0", "id", "version", "path", "digest"),
        *unknown(catalog, "toolProviders/0"),
        refused(catalog, "tools", [], "additionalProperties"),
    ]


def images() -> list[Mutation]:
    profile, binding = "agentsuite/build-profile", "agentsuite/sandbox-binding"
    at = "@" + digest("a")
    references = (
        "", "base/runtime" + at, "runtime" + at, "registry.example" + at, "registry.example/" + at, "host/a" + at,
        "registry..example/a" + at, ".example/a" + at, "-a.example/a" + at, "a_b.example/a" + at,
        "registry.example:70000/a" + at, "registry.example:0/a" + at, "registry.example:/a" + at, "[]/a" + at,
        "registry.example/A" + at, "registry.example/a//b" + at, "registry.example/a/" + at,
        "registry.example/a:1.0" + at, "registry.example/a:1.0", "registry.example/a", "registry.example/a@sha256:zz",
        "https://registry.example/a" + at, "registry.example/a" + at + "\n", "registry.example/a___b" + at,
    )  # fmt: skip
    return [
        *each(profile, "runtimeBase", "minItems", []),
        *each(profile, "harness", "minItems", []),
        *missing(profile, "harness/0", "platform", "imageRef", "image"),
        *each(profile, "harness/0/imageRef", "pattern", *references),
        *each(profile, "harness/0/image/mediaType", "const", "application/vnd.oci.image.index.v1+json"),
        *each(profile, "harness/0/image/size", "minimum", 0),
        *missing(profile, "harness/0/image", "mediaType", "digest", "size"),
        *each(profile, "sourceEpoch", "minimum", 0),
        *each(profile, "sourceEpoch", "type", 1.0, "1"),
        *unknown(profile, "harness/0", "harness/0/image", "harness/0/platform"),
        *each(binding, "suiteDigest", "pattern", "latest"),
        *each(binding, "composition/mediaType", "const", "application/json"),
        *each(binding, "inventory/mediaType", "minLength", ""),
        *missing(binding, "composition", "mediaType", "digest", "size"),
        *missing(binding, "inventory", "mediaType", "digest", "size"),
        *unknown(binding, "composition", "inventory", "platform"),
    ]


def others() -> list[Mutation]:
    files, layout, index, manifest = (
        "hatch/metadata-files", "oci/oci-layout", "oci/image-index", "oci/image-manifest",
    )  # fmt: skip
    listed = {"path": "metadata/a", "digest": digest("a")}
    empty = {"mediaType": "application/vnd.oci.empty.v1+json", "digest": digest("a"), "size": 2}
    descriptors = ((index, "manifests/0"), (manifest, "config"), (manifest, "layers/0"))
    return [
        *each(files, "schemaVersion", "const", 1, "2"),
        *each(files, "files", "minItems", []),
        *each(files, "files", "uniqueItems", [listed, dict(listed)]),
        *each(files, "files/0/path", "pattern", "../a"),
        *missing(files, "", "schemaVersion", "mediaType", "files"),
        *unknown(files, "", "files/0"),
        *each(layout, "imageLayoutVersion", "const", "1.0.1", "1.0.0\n", 1),
        *missing(layout, "", "imageLayoutVersion"),
        *each(index, "schemaVersion", "const", 1, 3),
        *each(index, "schemaVersion", "type", "2", 2.0, True),
        *each(index, "mediaType", "const", "application/json", None),
        *each(index, "manifests", "minItems", []),
        *each(index, "manifests", "maxItems", [SAMPLES[index]()["manifests"][0]] * 2),
        *each(index, "manifests/0/mediaType", "const", "application/vnd.oci.image.index.v1+json"),
        *each(index, "manifests/0/artifactType", "const", "application/json"),
        *each(index, "manifests/0/platform/os.features", "type", "x"),
        *missing(index, "manifests/0/platform", "os", "architecture"),
        *missing(index, "", "schemaVersion", "manifests"),
        *each(manifest, "schemaVersion", "const", 1),
        *each(manifest, "artifactType", "const", "application/json"),
        *each(manifest, "config/mediaType", "const", "application/vnd.oci.image.config.v1+json"),
        *each(manifest, "layers", "minItems", []),
        *each(manifest, "layers", "maxItems", [SAMPLES[manifest]()["layers"][0]] * 2),
        *each(manifest, "layers/0/mediaType", "const", "application/vnd.oci.image.layer.v1.tar+gzip"),
        *missing(manifest, "", "schemaVersion", "artifactType", "config", "layers"),
        *(refused(name, "subject", value, "not") for name in (index, manifest) for value in (empty, None)),
        *(refused(name, "annotations", {"a": 1}, "type", "annotations/a") for name in (index, manifest)),
        *(refused(name, f"{at}/urls", value, "not") for name, at in descriptors for value in ([], None, ["x"])),
        *(refused(name, f"{at}/data", value, "type") for name, at in descriptors for value in (None, 1)),
        *(refused(name, f"{at}/digest", "sha512:" + "a" * 128, "pattern") for name, at in descriptors),
        *(refused(name, f"{at}/size", -1, "minimum") for name, at in descriptors),
        *(refused(name, f"{at}/size", 2.0, "type") for name, at in descriptors),
        *(case for name, at in descriptors for case in missing(name, at, "mediaType", "digest", "size")),
    ]


MUTATIONS: list[Mutation] = [
    *envelope(),
    *suite(),
    *agent(),
    *evaluations(),
    *assertions(),
    *tools(),
    *variants(),
    *inventory(),
    *remote(),
    *compositions(),
    *images(),
    *others(),
]
