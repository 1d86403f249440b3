"""The files that a BRICK manifest refers to: instructions, and skills with the folder of a package (section 6)."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from agentsuite_converters.members import objects, text
from agentsuite_converters.references import Folder, RefusedReferenceError, local_path
from hatch_agentsuite.findings import Finding, RefusedError, pointer, printable

if TYPE_CHECKING:
    from pathlib import Path

    from hatch_agentsuite.documents import JSONObject


def gather(document: JSONObject, root: Path) -> dict[str, bytes]:
    """Return the files by path below ``root``, the manifest's folder; remote and absent ones are left out.

    A skill that is the ``SKILL.md`` of a folder of its own brings that folder along. Raises :class:`RefusedError`.
    """
    folder = Folder(root)
    found: dict[str, bytes] = {}
    problems = []
    for name in ("instructions", "skills"):
        for number, resource in objects(document, name):
            problem = _take(found, folder, f"#{pointer(name, number, 'uri')}", resource, is_skill=name == "skills")
            problems += [problem] if problem else []
    if problems:
        raise RefusedError(*problems)
    return found


def _take(
    found: dict[str, bytes], folder: Folder, place: str, resource: JSONObject, *, is_skill: bool
) -> Finding | None:
    try:
        found |= _files(folder, text(resource, "uri"), is_skill=is_skill)
    except RefusedReferenceError as error:
        return None if error.missing else Finding("BRICK-FILE-001", error.category, place, error.message, error.hint)
    return None


def _files(folder: Folder, reference: str, *, is_skill: bool) -> dict[str, bytes]:
    path = local_path(reference)
    if path is None:
        return {}
    found = {path: folder.file(path).data}
    return {**found, **package(folder, path)} if is_skill else found


def package(folder: Folder, path: str) -> dict[str, bytes]:
    """Return the files of the folder that a skill has of its own, none where it has none.

    Raises :class:`RefusedReferenceError`.
    """
    home, name = posixpath.split(path)
    return {other: _part(folder, other) for other in (folder.below(home) if home and name == "SKILL.md" else ())}


def _part(folder: Folder, path: str) -> bytes:
    try:
        return folder.file(path).data
    except RefusedReferenceError as error:
        message = f"the folder of the skill holds `{printable(path)}`, which is refused: {error.message}"
        raise RefusedReferenceError(message, error.hint, category=error.category) from None
