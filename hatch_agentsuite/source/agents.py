"""Agents and what belongs to one: instructions, evaluations, the profile (specification 8)."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from hatch_agentsuite.documents import PROFILE_EXTENSION, PROFILE_MEDIA_TYPE, profile_path
from hatch_agentsuite.paths import sort_key
from hatch_agentsuite.source.draft import Draft, Path, Problems, bind_extension, read_draft
from hatch_agentsuite.source.files import Files
from hatch_agentsuite.source.tree import SourceTree


@dataclass
class Agents:
    """The agents of a source tree, and the further documents that they bring along."""

    tree: SourceTree
    files: Files
    problems: Problems
    drafts: dict[str, Draft] = field(default_factory=dict)
    companions: list[Draft] = field(default_factory=list)

    def add(self, name: str, draft: Draft) -> None:
        """Take an agent in and fill in everything it may leave out."""
        self.drafts[name] = draft
        draft.settle_constants()
        draft.settle(("id",), name, "the file's name, or the reference to it")
        draft.value.setdefault("instructions", {"path": f"instructions/{name}.md"})
        hint = f"write the agent's instructions to `instructions/{name}.md`, or name another file"
        self.files.settle_reference(draft, ("instructions",), hint)
        self._evals(name, draft)
        self._profile(name, draft)

    def _evals(self, name: str, draft: Draft) -> None:
        folder = f"evals/{name}"
        if "evals" not in draft.value:
            if self.tree.kind(folder) != "directory" or not any(
                entry.kind != "directory" for entry in self.tree.below(folder)
            ):
                return
            draft.value["evals"] = [{"path": f"{folder}/index.json"}]
        for number in range(len(draft.value["evals"])):
            self._eval_index(name, folder, draft, ("evals", number))

    def _eval_index(self, name: str, folder: str, draft: Draft, where: Path) -> None:
        draft.settle((*where, "path"), f"{folder}/index.json", "section 8.2")
        stem = f"{folder}/index"
        index = read_draft(self.tree, self.problems, stem, "agentsuite/eval-index")
        if index is None:
            index = Draft(f"{stem}.json", "agentsuite/eval-index", self.problems)
        elif not index.is_readable:
            return
        self.companions.append(index)
        index.settle_constants()
        index.settle(("agent",), name, "the folder")
        if "cases" not in index.value:
            stems = sorted(self.tree.documents(f"{folder}/cases"))
            index.value["cases"] = [{"path": f"{stem}.json"} for stem in stems]
        sizes = [self._case(index, ("cases", number)) for number in range(len(index.value["cases"]))]
        limits = index.value.setdefault("limits", {})
        limits.setdefault("maxCases", max(1, len(sizes)))
        limits.setdefault("maxCaseBytes", max(1, *sizes) if sizes else 1)
        draft.settle((*where, "digest"), index.digest(), f"`{index.name}`")

    def _case(self, index: Draft, where: Path) -> int:
        """Fill in one case and the digest of it in its index; return the size of the packed bytes."""
        path = str(index.at(where).get("path", ""))
        stem, suffix = posixpath.splitext(path)
        case = read_draft(self.tree, self.problems, stem, "agentsuite/eval-case") if suffix == ".json" else None
        if case is None:
            hint = "paths name the packed file, which ends in `.json`" if suffix in {".yaml", ".yml"} else ""
            index.report("AS-GRAPH-001", "graph", (*where, "path"), f"there is no case at `{path}`", hint)
            return 0
        if not case.is_readable:
            return 0
        self.companions.append(case)
        case.settle_constants()
        case.settle(("id",), posixpath.basename(stem), "the file's name")
        index.settle((*where, "digest"), case.digest(), f"`{case.name}`")
        return len(case.packed())

    def _profile(self, name: str, draft: Draft) -> None:
        """Bind the agent's profile by a non-critical extension; the files that it lists are packed as they are."""
        path = profile_path(name)
        profile = read_draft(self.tree, self.problems, posixpath.splitext(path)[0], "hatch/profile")
        if profile is None:
            for index, item in enumerate(draft.value.get("extensions", [])):
                if item.get("name") == PROFILE_EXTENSION:
                    message = f"there is no profile at `{path}`"
                    hint = "remove the extension, or add the profile"
                    draft.report("AS-GRAPH-001", "graph", ("extensions", index), message, hint)
            return
        if not profile.is_readable:
            return
        self.companions.append(profile)
        profile.settle(("schemaVersion",), "1", "this version of the profile")
        profile.settle(("mediaType",), PROFILE_MEDIA_TYPE, "the kind of document")
        self._profile_files(name, profile)
        bind_extension(draft, PROFILE_EXTENSION, profile)

    def _profile_files(self, name: str, profile: Draft) -> None:
        """Fill in the files of a profile: the written list, or all that are below the profile's folder."""
        if "files" not in profile.value:
            entries = self.tree.below(f"metadata/profiles/{name}/files")
            listed = [{"path": entry.path} for entry in entries if entry.kind != "directory"]
            if listed:
                profile.value["files"] = sorted(listed, key=lambda item: sort_key(item["path"]))
        for index in range(len(profile.value.get("files", []))):
            self.files.settle_reference(profile, ("files", index))
