"""What each requirement is about, in words for people: one text for terminal, SARIF and documentation.

``AS-*`` are those of section 15.1 of the AgentSuite specification; ``SOURCE-*`` are this project's own, for authoring
trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Requirement:
    """One requirement: what it ``checks`` and how to ``mend`` what it finds, in a sentence each.

    ``section`` names the specification's sections, and is empty for what the specification does not know.
    """

    id: str
    title: str
    checks: str
    mend: str
    section: str = ""


_AGENTSUITE = (
    Requirement(
        "AS-OCI-001",
        "OCI envelope",
        "The image layout, its index, the one manifest, every descriptor, the empty config, the one content layer and "
        "the SBOM and provenance blobs are there and are what their descriptors say.",
        "Copy the artifact again, into a new and empty layout, from where it was whole, or build it again.",
        "4",
    ),
    Requirement(
        "AS-JSON-001",
        "Strict JSON",
        "Every document is strict JSON within the limits, without duplicate, unknown, missing or null members, and "
        "fits its schema.",
        "Correct the member that the finding names; nothing is ignored and nothing is defaulted.",
        "5.2, 5.3",
    ),
    Requirement(
        "AS-PATH-001",
        "Safe paths and archive",
        "Paths, links, entry types, modes, times and sizes are safe to extract, and no two paths collide.",
        "Rename the entry or mend its mode or link, then pack again with a tool that writes plain tar and gzip.",
        "5.2",
    ),
    Requirement(
        "AS-ID-001",
        "Content-addressed identity",
        "Every digest is the one that its algorithm gives: JCS for manifests, exact bytes for files, and the rule for "
        "variants.",
        "Leave digests out of the authoring tree so that packing computes them, or write the one that is shown.",
        "6, 11",
    ),
    Requirement(
        "AS-GRAPH-001",
        "Closed graph",
        "Every reference and invocation leads to what it names, every identity stands once, and dependencies have no "
        "cycle; content that nothing reaches is a warning.",
        "Add what is missing, or remove the reference to it; refer to what nothing reaches, or leave it out.",
        "7, 8, 8.1, 9.1, 9.4",
    ),
    Requirement(
        "AS-EVAL-001",
        "Evaluations",
        "Evaluation indexes and cases have the right shape, owner, paths and bounds, patterns are RE2, and `evals/` "
        "holds nothing else.",
        "Let `agentsuite pack` write the index, and keep only cases that it lists.",
        "8.2",
    ),
    Requirement(
        "AS-COMPOSE-001",
        "Agent compositions",
        "The composition of an agent for a platform resolves exactly the ToolProviders that the agent requires, and "
        "no ambient ones.",
        "Remove the written composition so that packing derives it, or bring it in line with the agent.",
        "10",
    ),
    Requirement(
        "AS-PROVIDER-COMPOSE-001",
        "ToolProvider compositions",
        "The composition of a ToolProvider resolves one variant of exactly its platform, all dependencies, and one "
        "runtime base.",
        "List the ToolProvider under `provider-images` so that packing derives it, or correct what is written.",
        "10.1",
    ),
    Requirement(
        "AS-PROVIDER-001",
        "ToolProviders and tools",
        "Payloads are what their inventories say, entrypoints and environment are sound, remote declarations hold "
        "references only, and tool schemas are self-contained JSON Schemas.",
        "Leave inventories to packing, and correct the member or the schema file that the finding names.",
        "9.2, 9.4, 9.5",
    ),
    Requirement(
        "AS-SECRET-001",
        "No credentials",
        "No text holds a literal that is shaped like a credential; suites hold references to secrets and their names.",
        "Revoke the credential, remove it, and name a secret that the runtime supplies.",
        "15.1, 17",
    ),
    Requirement(
        "AS-CAP-001",
        "Capabilities",
        "The capabilities that a suite declares are those that follow from its content.",
        "Leave `capabilities` out so that packing computes them.",
        "7",
    ),
    Requirement(
        "AS-DRAFT-001",
        "Deferred features",
        "No execution mode, protocol, transport, platform or critical extension is used that this draft defers, and no "
        "agent rests on a remote ToolProvider.",
        "Use what this draft defines; there is no way to opt in to more.",
        "7, 8, 9.3, Appendix A",
    ),
)

_SOURCE = (
    Requirement(
        "SOURCE-TREE-001",
        "Readable tree",
        "The authoring tree has files where files are needed and folders where folders are, and one spelling of each "
        "document.",
        "Move, rename or remove the file that the finding names.",
    ),
    Requirement(
        "SOURCE-MATCH-001",
        "Written and computed agree",
        "What is written in a document is what follows from the rest of the tree.",
        "Remove the member so that it is computed, or change the side that is wrong.",
    ),
    Requirement(
        "SOURCE-GIVE-001",
        "Nothing is missing",
        "Whatever cannot be computed is written.",
        "Write the member, file or option that the finding names.",
    ),
    Requirement(
        "SOURCE-CONFIG-001",
        "Configuration",
        "The configuration names what is in the tree.",
        "Correct the option, or add what it names.",
    ),
    Requirement(
        "SOURCE-REACH-001",
        "Nothing is left behind",
        "Something refers to every file of the tree; what nothing refers to is not packed.",
        "Refer to the file, list it in `metadata/files.yaml`, or remove it.",
    ),
    Requirement(
        "SOURCE-PLACEHOLDER-001",
        "Placeholders",
        "Build profiles pin real images.",
        "Write registry, repository and digest of the images that you use.",
    ),
    Requirement(
        "SOURCE-CHANGE-001",
        "Stable files",
        "No file changes while it is packed.",
        "Build again when nothing else writes to the tree.",
    ),
    Requirement(
        "SOURCE-CODEC-001",
        "Reproducible compression",
        "The compressed bytes are those that other machines make.",
        "Use the codec `store` where the layer's bytes must be the same everywhere.",
    ),
)

REQUIREMENTS: Mapping[str, Requirement] = MappingProxyType({item.id: item for item in (*_AGENTSUITE, *_SOURCE)})
"""Every requirement by its id, those of the specification first and in its order."""

SUITE_REQUIREMENTS: tuple[str, ...] = tuple(item.id for item in _AGENTSUITE)
"""What a suite validator judges (15.1)."""
