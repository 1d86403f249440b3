"""An authoring tree resolved into the content that is packed (specification 6 to 11).

    resolved = resolve(Path("suite"), Options(default_name="newsroom"))

Stages, each ended by its problems: find the documents, fill them in bottom-up (build profiles, ToolProviders, agents,
compositions, the suite manifest), hold every finished document against its schema, assemble the sorted content.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hatch_agentsuite.archive.layer import Member, Progress
from hatch_agentsuite.collection import collection_paused
from hatch_agentsuite.content import Entry
from hatch_agentsuite.documents import FILES_EXTENSION, FILES_MEDIA_TYPE, FILES_PATH, PLACEHOLDER_REGISTRY
from hatch_agentsuite.findings import Finding, RefusedError, printable
from hatch_agentsuite.limits import DEFAULT_LIMITS
from hatch_agentsuite.source.agents import Agents
from hatch_agentsuite.source.compositions import Compositions
from hatch_agentsuite.source.draft import Draft, Problems, bind_extension, read_draft
from hatch_agentsuite.source.files import Files
from hatch_agentsuite.source.members import Members
from hatch_agentsuite.source.options import Options
from hatch_agentsuite.source.providers import ProviderKey, Providers, provider_folders, settle_catalog
from hatch_agentsuite.source.tree import SourceTree
from hatch_agentsuite.validation.capabilities import derived_capabilities

_ZERO_DIGEST = f"sha256:{'0' * 64}"


@dataclass(frozen=True)
class Resolved:
    """What a source tree amounts to.

    ``members`` are the entries of the content layer in order, ``blobs`` further files of the layout by digest,
    ``origins`` the file that each document was written in, where somebody did, ``warnings`` what is worth saying.
    """

    name: str
    members: Members
    blobs: dict[str, Path]
    origins: dict[str, str]
    warnings: tuple[Finding, ...]

    def origin(self, member: Member) -> str | None:
        """Return the source file or folder of a member, or None where nobody wrote it."""
        path = member.entry.path
        return self.origins.get(path) if isinstance(member.source, bytes) else path

    @property
    def payload_bytes(self) -> int:
        """The number of bytes that packing will read."""
        return self.members.size


@collection_paused()
def resolve(
    root: Path,
    options: Options,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Resolved:
    """Return the resolved content of the authoring tree at ``root``.

    Reads and hashes every file that is going to be packed; ``progress`` is called with the bytes hashed. Raises
    :class:`RefusedError` with all independent problems that were found.
    """
    if not root.is_dir():
        what = "is not a directory" if root.exists() else "does not exist"
        message = f"the source folder `{printable(str(root))}` {what}"
        raise RefusedError(Finding("SOURCE-TREE-001", "path", "", message, "the option `source` names it"))
    try:
        resolution = _Resolution(SourceTree(root), options, workers, progress)
    except OSError as error:
        message = f"the source tree cannot be read: {error.filename}: {error.strerror or error}"
        raise RefusedError(Finding("SOURCE-TREE-001", "path", "", message)) from None
    return resolution.run()


class _Resolution:
    """One walk through the rooms; state is what the stages hand on."""

    def __init__(self, tree: SourceTree, options: Options, workers: int | None, progress: Progress | None) -> None:
        self.tree = tree
        self.options = options
        self.problems = Problems()
        self.files = Files(tree)
        self.agents = Agents(tree, self.files, self.problems)
        self.providers = Providers(tree, self.files, workers, progress)
        self.profiles: dict[str, Draft] = {}
        self.manifest = self._read("agentsuite", "agentsuite/suite")
        self.catalog = self._read("tool-providers/catalog", "agentsuite/tool-provider-catalog")
        self.further: list[Draft] = []

    def run(self) -> Resolved:
        self.problems.stop()
        self._name()
        self._read_profiles()
        self._read_providers()
        agents = self._listed("agents", "agents", "agentsuite/agent")
        if not self.manifest.value["agents"]:
            message = "the suite has no agent"
            self.problems.add("SOURCE-GIVE-001", "graph", "agents", message, "write one to `agents/<id>.yaml`")
        self._check_build_profile_names(agents)
        self.problems.stop()
        self.providers.finish()
        settle_catalog(self.catalog, self.providers)
        for name, draft in agents.items():
            self.agents.add(name, draft)
        self.problems.stop()
        compositions = self._compose()
        self._settle_manifest(compositions)
        drafts = [
            self.manifest,
            self.catalog,
            *self.profiles.values(),
            *self.providers.drafts.values(),
            *self.agents.drafts.values(),
            *self.agents.companions,
            *compositions.drafts,
            *compositions.provider_drafts,
            *self.further,
        ]
        for draft in drafts:
            draft.check()
        self._warn_placeholders()
        self._warn_unreached()
        self.problems.stop()
        return self._assemble(drafts)

    def _read(self, stem: str, kind: str) -> Draft:
        return read_draft(self.tree, self.problems, stem, kind) or Draft(f"{stem}.json", kind, self.problems)

    def _name(self) -> None:
        draft, options = self.manifest, self.options
        draft.settle_constants()
        if options.name is not None:
            draft.settle(("name",), options.name, "the option `name`")
        elif "name" not in draft.value and options.default_name:
            draft.value["name"] = options.default_name

    def _listed(self, member: str, folder: str, kind: str) -> dict[str, Draft]:
        """Return the documents of a list of the manifest, by id: the written list, or what the folder holds."""
        items = self.manifest.value.get(member)
        if items is None:
            stems = sorted(self.tree.documents(folder))
            items = [{"id": posixpath.basename(stem), "path": f"{stem}.json"} for stem in stems]
            self.manifest.value[member] = items
        found: dict[str, Draft] = {}
        for index, item in enumerate(items):
            if "id" not in item and "path" not in item:
                message = "an item needs an `id` or a `path`"
                self.manifest.report("SOURCE-GIVE-001", "graph", (member, index), message)
                continue
            item.setdefault("id", posixpath.splitext(posixpath.basename(item.get("path", "")))[0])
            item.setdefault("path", f"{folder}/{item['id']}.json")
            draft = self._referenced(item["path"], kind, (member, index, "path"))
            if draft is not None:
                found.setdefault(item["id"], draft)
        return found

    def _referenced(
        self, path: str, kind: str, where: tuple[str | int, ...], owner: Draft | None = None
    ) -> Draft | None:
        owner = owner or self.manifest
        stem, suffix = posixpath.splitext(path)
        if suffix != ".json":
            hint = f"write `{stem}.json`: paths name the packed file, whatever it was written in"
            owner.report("AS-GRAPH-001", "graph", where, f"`{path}` does not name a JSON document", hint)
            return None
        draft = read_draft(self.tree, self.problems, stem, kind)
        if draft is None:
            message = f"there is no document at `{path}`"
            owner.report("AS-GRAPH-001", "graph", where, message, f"write `{stem}.yaml` or `{path}`")
        return draft if draft is not None and draft.is_readable else None

    def _read_profiles(self) -> None:
        self.profiles = self._listed("buildProfiles", "build-profiles", "agentsuite/build-profile")
        for name, draft in self.profiles.items():
            draft.settle_constants()
            draft.settle(("id",), name, "the file's name, or the reference to it")
        if not self.manifest.value["buildProfiles"]:
            message = "the suite has no build profile"
            self.problems.add(
                "SOURCE-GIVE-001", "build", "build-profiles", message, "write one to `build-profiles/default.yaml`"
            )

    def _read_providers(self) -> None:
        items = self.catalog.value.get("toolProviders")
        if items is None:
            for key, folder in provider_folders(self.tree):
                self._add_provider(key, f"{folder}/tool-provider.json", self.catalog, ())
            return
        for index, item in enumerate(items):
            if "id" not in item or "version" not in item:
                message = "an item needs an `id` and a `version`"
                self.catalog.report("SOURCE-GIVE-001", "graph", ("toolProviders", index), message)
                continue
            key = (item["id"], item["version"])
            item.setdefault("path", f"tool-providers/{key[0]}/{key[1]}/tool-provider.json")
            if key not in self.providers.drafts:
                self._add_provider(key, item["path"], self.catalog, ("toolProviders", index, "path"))

    def _add_provider(self, key: ProviderKey, path: str, owner: Draft, where: tuple[str | int, ...]) -> None:
        draft = self._referenced(path, "agentsuite/tool-provider", where, owner)
        if draft is not None:
            self.providers.add(key, draft)

    def _check_build_profile_names(self, agents: dict[str, Draft]) -> None:
        """Report names in a table of build profiles that are no agent and no ToolProvider."""
        known = {*agents, *(name for name, _ in self.providers.drafts)}
        for name in self.options.profile_names():
            if name not in known:
                message = f"`build-profile` names `{name}`, which is no agent and no ToolProvider of this suite"
                self.problems.add("SOURCE-CONFIG-001", "build", "", message, f"known: {', '.join(sorted(known))}")

    def _compose(self) -> Compositions:
        made = Compositions(self.problems, self.options, self.agents.drafts, self.providers, self.profiles)
        for draft in self._written("compositions", "compositions", "agentsuite/composition"):
            made.add_written(draft)
        if "compositions" not in self.manifest.value:
            made.derive()
        kind = "agentsuite/tool-provider-composition"
        for draft in self._written("toolProviderCompositions", "tool-provider-compositions", kind):
            made.add_written_provider(draft)
        if "toolProviderCompositions" not in self.manifest.value:
            made.derive_providers()
        elif self.options.provider_images:
            message = "the list is complete as written, so `provider-images` has nothing to add"
            hint = "leave `toolProviderCompositions` out, or `provider-images`"
            self.manifest.report("SOURCE-MATCH-001", "graph", ("toolProviderCompositions",), message, hint)
        self.problems.stop()
        return made

    def _written(self, member: str, folder: str, kind: str) -> list[Draft]:
        """Return the written compositions: those that a list of the manifest names, or all in the folder."""
        items = self.manifest.value.get(member)
        if items is None:
            items = [{"path": f"{stem}.json"} for stem in sorted(self.tree.documents(folder))]
        found = []
        for index, item in enumerate(items):
            if "path" not in item:
                self.manifest.report("SOURCE-GIVE-001", "graph", (member, index), "an item needs a `path`")
                continue
            draft = self._referenced(item["path"], kind, (member, index, "path"))
            if draft is not None:
                found.append(draft)
        return found

    def _settle_manifest(self, made: Compositions) -> None:
        manifest = self.manifest
        for member, drafts in (("agents", self.agents.drafts), ("buildProfiles", self.profiles)):
            for index, item in enumerate(manifest.value[member]):
                draft = drafts.get(item.get("id", ""))
                if draft:
                    manifest.settle((member, index, "digest"), draft.digest(), f"`{draft.name}`")
        catalog = manifest.value.setdefault("toolProviderCatalog", {"id": "catalog"})
        catalog.setdefault("path", self.catalog.path)
        manifest.settle(("toolProviderCatalog", "digest"), self.catalog.digest(), f"`{self.catalog.name}`")
        self._settle_compositions("compositions", made.drafts, ("agent", "platform"))
        if made.provider_drafts or "toolProviderCompositions" in manifest.value:
            self._settle_compositions("toolProviderCompositions", made.provider_drafts, ("id", "version", "platform"))
        bundled = any("variants" in draft.value for draft in self.providers.drafts.values())
        capabilities = derived_capabilities(bundled)
        if capabilities or "capabilities" in manifest.value:
            manifest.settle(("capabilities",), capabilities, "the ToolProviders (section 7)")
        self._settle_further_files()

    def _settle_compositions(self, member: str, drafts: list[Draft], keys: tuple[str, ...]) -> None:
        manifest = self.manifest
        by_path = {draft.path: draft for draft in drafts}
        items: list[dict[str, Any]] = manifest.value.setdefault(member, [{"path": path} for path in by_path])
        for index, item in enumerate(items):
            draft = by_path.get(item.get("path", ""))
            if draft is None:
                continue
            for key in keys:
                manifest.settle((member, index, key), draft.value[key], f"`{draft.name}`")
            manifest.settle((member, index, "digest"), draft.digest(), f"`{draft.name}`")

    def _settle_further_files(self) -> None:
        """Bind the list of further files, ``metadata/files.json``, by a non-critical extension of the suite."""
        listing = read_draft(self.tree, self.problems, posixpath.splitext(FILES_PATH)[0], "hatch/metadata-files")
        if listing is None:
            return
        self.further.append(listing)
        listing.settle(("schemaVersion",), "1", "this version of the list")
        listing.settle(("mediaType",), FILES_MEDIA_TYPE, "the kind of document")
        for index in range(len(listing.value.get("files", []))):
            self.files.settle_reference(listing, ("files", index))
        bind_extension(self.manifest, FILES_EXTENSION, listing)

    def _warn_placeholders(self) -> None:
        for draft in self.profiles.values():
            places = [
                (member, index)
                for member in ("runtimeBase", "harness")
                for index, image in enumerate(draft.value.get(member, []))
                if _is_placeholder(image)
            ]
            if places:
                draft.report(
                    "SOURCE-PLACEHOLDER-001",
                    "build",
                    places[0],
                    f"{len(places)} of the images are placeholders; no sandbox image can be built from them",
                    "pin the images you use by registry, repository and digest",
                    warning=not self.options.strict,
                )

    def _warn_unreached(self) -> None:
        for path, count in self.tree.unreached():
            files = "file" if count == 1 else f"{count} files"
            what = f"nothing refers to the {files} in this folder" if path.endswith("/") else "nothing refers to it"
            finding = Finding(
                "SOURCE-REACH-001",
                "graph",
                printable(path),
                f"{what}, so it is not packed",
                "refer to it, list it in `metadata/files.yaml`, or remove it",
                "error" if self.options.strict else "warning",
            )
            self.problems.findings.append(finding)

    def _assemble(self, drafts: list[Draft]) -> Resolved:
        members = dict(self.files.members)
        origins = {}
        for draft in drafts:
            if draft.path in members:
                message = "the file is both a document of the suite and a file packed verbatim"
                self.problems.add("AS-GRAPH-001", "graph", draft.path, message)
            data = draft.packed()
            entry = Entry(draft.path, "file", 0o644, size=len(data), digest=draft.digest())
            members[draft.path] = Member(entry, data)
            if draft.file:
                origins[draft.path] = draft.file
        ordered = Members(members, self.providers.members)
        if len(ordered) > DEFAULT_LIMITS.entries:
            message = f"the suite has {len(ordered):,} entries; at most {DEFAULT_LIMITS.entries:,} are allowed"
            self.problems.add("AS-PATH-001", "path", "", message)
        self.problems.stop()
        warnings = tuple(finding for finding in self.problems.findings if not finding.is_error)
        return Resolved(str(self.manifest.value["name"]), ordered, dict(self.files.blobs), origins, warnings)


def _is_placeholder(image: dict[str, Any]) -> bool:
    reference = str(image.get("imageRef", ""))
    pinned = image.get("image")
    return reference.startswith(f"{PLACEHOLDER_REGISTRY}/") or (
        isinstance(pinned, dict) and pinned.get("digest") == _ZERO_DIGEST
    )
