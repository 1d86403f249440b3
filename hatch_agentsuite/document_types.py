"""The members of AgentSuite documents, for a type checker.

The schemas are the definition, and a test holds the two against each other. In each pair, the class with a leading
underscore has the members that are always there.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

# --- parts that several documents share ---------------------------------------------------------------------------

ExecutionMode: TypeAlias = Literal["shared-sandbox"]


class Platform(TypedDict):
    """What a composition, variant or image is for."""

    os: Literal["linux"]
    architecture: Literal["amd64", "arm64"]


class Reference(TypedDict):
    """A file of the content, bound by its digest."""

    path: str
    digest: str


class Descriptor(TypedDict):
    """A blob, bound by its digest and size."""

    mediaType: str
    digest: str
    size: int


class _Extension(TypedDict):
    name: str
    critical: bool


class Extension(_Extension, total=False):
    """A record that the specification does not define."""

    digest: str


class Document(TypedDict):
    """What every document says about itself."""

    schemaVersion: str
    mediaType: str


# --- suite manifest (7) -------------------------------------------------------------------------------------------


class _AgentReference(TypedDict):
    id: str
    path: str
    digest: str


class AgentReference(_AgentReference, total=False):
    """Where a suite keeps an agent manifest."""

    version: str


class CatalogReference(Reference, total=False):
    """Where a suite keeps its tool provider catalog."""

    id: str


class CompositionReference(TypedDict):
    """Where a suite keeps the composition of an agent for a platform."""

    agent: str
    platform: Platform
    path: str
    digest: str


class ToolProviderCompositionReference(TypedDict):
    """Where a suite keeps the composition of a tool provider for a platform."""

    id: str
    version: str
    platform: Platform
    path: str
    digest: str


class BuildProfileReference(TypedDict):
    """Where a suite keeps a build profile."""

    id: str
    path: str
    digest: str


class _Suite(Document):
    name: str
    agents: list[AgentReference]
    toolProviderCatalog: CatalogReference
    compositions: list[CompositionReference]
    buildProfiles: list[BuildProfileReference]


class Suite(_Suite, total=False):
    """The root of the content graph (``agentsuite.json``)."""

    toolProviderCompositions: list[ToolProviderCompositionReference]
    capabilities: list[str]
    extensions: list[Extension]


# --- agents (8) ---------------------------------------------------------------------------------------------------


class _Model(TypedDict):
    protocol: str
    model: str


class Model(_Model, total=False):
    """The model of an agent: names of an endpoint variable and of secrets, never their values."""

    endpointEnv: str
    secretRefs: list[str]


class Requirement(TypedDict):
    """A tool provider that an agent needs."""

    id: str
    version: str
    executionMode: ExecutionMode


class Invocation(TypedDict):
    """Another agent that an agent may invoke, and how much of it."""

    agent: str
    maxConcurrent: int
    maxDepth: int


class _Agent(Document):
    id: str
    instructions: Reference
    model: Model


class Agent(_Agent, total=False):
    """An agent manifest."""

    description: str
    toolProviders: list[Requirement]
    invokes: list[Invocation]
    evals: list[Reference]
    extensions: list[Extension]


# --- evaluations (8.2) --------------------------------------------------------------------------------------------


class EvalLimits(TypedDict):
    """The bounds an evaluation index declares for itself."""

    maxCases: int
    maxCaseBytes: int


class EvalIndex(Document):
    """The evaluation cases of one agent, in order."""

    agent: str
    cases: list[Reference]
    limits: EvalLimits


class _Assertion(TypedDict):
    id: str
    type: str


class Assertion(_Assertion, total=False):
    """One assertion of a case; which operands it has depends on its type."""

    critical: bool
    value: str
    pattern: str
    tool: str
    rubric: str
    minScore: int
    judgeModel: str
    judgeVersion: str


class _EvalCase(Document):
    id: str
    input: str
    assertions: list[Assertion]


class EvalCase(_EvalCase, total=False):
    """One evaluation case."""

    runs: int
    minPasses: int


# --- tool providers (9) -------------------------------------------------------------------------------------------


class ToolProviderReference(TypedDict):
    """Where a catalog keeps a tool provider manifest."""

    id: str
    version: str
    path: str
    digest: str


class ToolProviderCatalog(Document):
    """Every tool provider of a suite."""

    toolProviders: list[ToolProviderReference]


class Credential(TypedDict):
    """How a runtime finds a person's credential; never the credential."""

    resolution: Literal["runtime-brokered"]
    bindingRef: str


class DelegatedAuthorization(TypedDict):
    """The authorization of a person that a call of a tool needs."""

    service: str
    scope: str
    credential: Credential


class _Tool(TypedDict):
    name: str
    inputSchema: Reference


class Tool(_Tool, total=False):
    """A function that a model can call."""

    description: str
    outputSchema: Reference
    effects: list[str]
    effect: Literal["read-only", "mutating"]
    approval: Literal["required", "policy-controlled"]
    delegatedAuthorization: DelegatedAuthorization


class _EnvironmentInput(TypedDict):
    name: str


class EnvironmentInput(_EnvironmentInput, total=False):
    """An environment variable of a variant, by name."""

    required: bool
    secret: bool
    delivery: Literal["env", "file"]


class Destination(TypedDict):
    """Where a variant connects to."""

    scheme: str
    host: str
    port: int


class _Runtime(TypedDict):
    abi: Literal["static", "gnu", "musl"]
    cpuBaseline: str


class Runtime(_Runtime, total=False):
    """What a variant needs of the base image."""

    abiVersion: str
    requiredBasePaths: list[str]


class _InventoryEntry(TypedDict):
    path: str
    type: Literal["file", "directory", "symlink", "hardlink"]
    mode: int
    uid: int
    gid: int


class InventoryEntry(_InventoryEntry, total=False):
    """One entry of a payload; which of size, digest and link target it has depends on its type."""

    size: int
    digest: str
    linkTarget: str
    component: str


class Dependency(TypedDict):
    """The variant of another provider that a variant needs."""

    id: str
    version: str
    variantDigest: str


class _Variant(TypedDict):
    platform: Platform
    variantDigest: str
    installRoot: str
    payloadRoot: str
    entrypoint: str
    runtime: Runtime
    files: list[InventoryEntry]


class Variant(_Variant, total=False):
    """The bundle of a tool provider for one platform."""

    relocatable: bool
    arguments: list[str]
    searchPath: list[str]
    environment: list[EnvironmentInput]
    writablePaths: list[str]
    network: list[Destination]
    dependencies: list[Dependency]
    sbom: Descriptor
    provenance: Descriptor


class SecretRef(TypedDict):
    """A key of a named secret."""

    name: str
    key: str


class Header(TypedDict):
    """An HTTP header whose value a secret holds."""

    name: str
    secretRef: SecretRef


class DestinationReference(TypedDict):
    """A network destination that a deployment resolves."""

    destinationRef: str


class Timeouts(TypedDict):
    """How long to wait for a remote provider."""

    connectMilliseconds: int
    requestMilliseconds: int


class _Remote(TypedDict):
    transport: Literal["streamable-http"]
    endpointRef: str
    network: list[DestinationReference]
    timeouts: Timeouts
    cancellation: Literal["propagate"]
    connection: Literal["session-aware"]


class Remote(_Remote, total=False):
    """How to reach a deployed provider, by references only."""

    headers: list[Header]


class _ToolProvider(Document):
    id: str
    version: str
    protocol: Literal["mcp"]
    revision: str
    tools: list[Tool]


class ToolProvider(_ToolProvider, total=False):
    """A tool provider manifest."""

    retained: Literal[True]
    variants: list[Variant]
    remote: Remote
    extensions: list[Extension]


# --- compositions (10), build profiles (11), sandbox binding (13) -------------------------------------------------


class ResolvedToolProvider(TypedDict):
    """The exact manifest and variant that a composition selects."""

    id: str
    version: str
    manifestDigest: str
    variantDigest: str
    executionMode: ExecutionMode


class Composition(Document):
    """An agent, resolved for one platform and one build profile."""

    agent: str
    platform: Platform
    buildProfile: str
    toolProviders: list[ResolvedToolProvider]


class ToolProviderComposition(Document):
    """A tool provider, resolved for one platform and one build profile."""

    id: str
    version: str
    manifestDigest: str
    platform: Platform
    variantDigest: str
    buildProfile: str


class PlatformImage(TypedDict):
    """The image of a build profile for one platform."""

    platform: Platform
    imageRef: str
    image: Descriptor


class BuildProfile(Document):
    """The pinned images that sandboxes are made from."""

    id: str
    runtimeBase: list[PlatformImage]
    harness: list[PlatformImage]
    sourceEpoch: int


class SandboxBinding(Document):
    """What an agent sandbox image says it was made from."""

    suiteDigest: str
    agent: str
    platform: Platform
    buildProfile: str
    composition: Descriptor
    inventory: Descriptor


class MetadataFiles(Document):
    """The list of further files under ``metadata/`` (of this project)."""

    files: list[Reference]
