"""``agentsuite import``: documents of other formats become agents of an authoring tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hatch_agentsuite.cli.console import fail, output_format, reports_failures, show_findings, show_json
from hatch_agentsuite.cli.conversion import foreign_format, public_names, writes_too
from hatch_agentsuite.findings import printable

if TYPE_CHECKING:
    from agentsuite_converters.importing import Imported

_MOST_KEPT = 8
_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command("import")
@click.argument("name", metavar="FORMAT")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="TREE",
    type=click.Path(path_type=Path),
    help="The authoring tree to write into, new or not.",
)
@click.option("--model-protocol", default="", metavar="TEXT", help="The protocol of the model, such as openai-chat.")
@click.option("--model", default="", metavar="TEXT", help="The model, for documents that name none.")
@click.option("--instructions", type=_FILE, help="The instructions, for documents that have none.")
@click.option(
    "--id",
    "ids",
    multiple=True,
    metavar="[ORIGINAL=]ID",
    help="The agent's id in the suite. ORIGINAL is its id in the document, or the document's file name.",
)
@click.option(
    "--public",
    multiple=True,
    metavar="NAME",
    help="A method of AIB blueprints that is public besides `run`.  Repeat for several.",
)
@click.option(
    "--invoke-relation",
    "relations",
    multiple=True,
    metavar="KIND",
    help="A kind of AIB relationship that permits to invoke.  Repeat for several.",
)
@click.option(
    "--tool-schemas",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Input schemas of tools of BRICK servers: DIRECTORY/SERVER/TOOL.json.",
)
@click.option(
    "--bindings",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the URLs of tool servers.  [default: TREE.bindings.json]",
)
@click.option("--force", is_flag=True, help="Overwrite files whose content changes.")
@output_format
@reports_failures
def command(
    name: str,
    sources: tuple[Path, ...],
    output: Path,
    model_protocol: str,
    model: str,
    instructions: Path | None,
    ids: tuple[str, ...],
    public: tuple[str, ...],
    relations: tuple[str, ...],
    tool_schemas: Path | None,
    bindings: Path | None,
    force: bool,
    form: str,
) -> None:
    """Make agents of SOURCE..., documents of another FORMAT (aib, aidip, brick), in the authoring tree TREE.

    The tree then builds with `hatch build -t agentsuite` or `agentsuite pack`. Every member is kept: what a suite has
    no place for goes to the agent's profile, and `agentsuite export` takes it out again. Nothing is written unless all
    of it can be, and no file that exists is changed without --force.
    """
    from agentsuite_converters.importing import ImportOptions, import_documents

    source_format = foreign_format(name)
    tree = output.resolve()
    place = bindings or tree.parent / f"{tree.name}.bindings.json"
    if place.resolve().is_relative_to(tree):
        raise click.BadParameter("URLs of tool servers stay outside of the tree", param_hint="--bindings")
    chosen = ImportOptions(
        model_protocol,
        model,
        _text(instructions),
        _ids(ids, sources),
        public_names(source_format, public),
        frozenset(relations),
        tool_schemas,
    )
    imported = import_documents(source_format, sources, tree, chosen)
    written = _write(imported, tree, place, force=force)
    if form == "json":
        show_json(_machine(imported, written, place))
    else:
        _show(imported, written, output, place)
    show_findings(imported.warnings)


def _text(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeError:
        fail(f"{printable(str(file))}: the instructions are not UTF-8 text")


def _ids(texts: tuple[str, ...], sources: tuple[Path, ...]) -> dict[str, str]:
    found = {}
    for text in texts:
        original, separator, identifier = text.rpartition("=")
        if not separator and len(sources) > 1:
            raise click.BadParameter("with several sources, write ORIGINAL=ID", param_hint="--id")
        found[original] = identifier
    return found


def _write(imported: Imported, tree: Path, bindings: Path, *, force: bool) -> list[str]:
    """Write the tree, and the endpoints outside of it; those that the file of bindings had stay."""
    from agentsuite_converters.writing import write_files

    if not imported.endpoints:
        return write_files(tree, imported.files, force=force, own=imported.changed)
    merged = {"endpoints": {**_bindings(bindings), **imported.endpoints}}
    with writes_too(bindings, (json.dumps(merged, indent=2, sort_keys=True) + "\n").encode()):
        return write_files(tree, imported.files, force=force, own=imported.changed)


def _bindings(path: Path) -> dict[str, str]:
    from hatch_agentsuite.jsondoc import JSONDocumentError, loads

    if not path.exists():
        return {}
    try:
        value = loads(path.read_bytes())
    except JSONDocumentError as error:
        fail(f"{printable(str(path))}: {error.message}")
    endpoints = value.get("endpoints") if isinstance(value, dict) else None
    if not isinstance(endpoints, dict):
        fail(f"{printable(str(path))}: this is no file of bindings: it has no object `endpoints`")
    return {str(key): str(url) for key, url in endpoints.items()}


def _machine(imported: Imported, written: list[str], bindings: Path) -> dict[str, object]:
    return {
        "agents": [
            {
                "id": agent.id,
                "source": agent.source,
                "keptAsIs": list(agent.kept),
                "notes": [{"place": note.place, "message": note.reason} for note in agent.notes],
            }
            for agent in imported.agents
        ],
        "written": written,
        **({"bindings": str(bindings)} if imported.endpoints else {}),
    }


def _show(imported: Imported, written: list[str], output: Path, bindings: Path) -> None:
    for agent in imported.agents:
        click.echo(f"{agent.source} -> {agent.id}")
        if agent.kept:
            more = len(agent.kept) - _MOST_KEPT
            shown = ", ".join(map(printable, agent.kept[:_MOST_KEPT]))
            click.echo(f"  kept as it is, in the profile: {shown}{f' and {more} more' if more > 0 else ''}", err=True)
        for note in agent.notes:
            click.echo(f"  {printable(note.place)}: {printable(note.reason)}", err=True)
    click.echo(f"{len(written)} file{'' if len(written) == 1 else 's'} written in {printable(str(output))}")
    if imported.endpoints:
        click.echo(f"URLs of tool servers: {printable(_near(bindings))}, to be kept out of the suite")


def _near(path: Path) -> str:
    """Return a path as a person would write it here."""
    resolved = path.resolve()
    return str(resolved.relative_to(Path.cwd())) if resolved.is_relative_to(Path.cwd()) else str(path)
