"""``agentsuite pack``: the build target without Hatch."""

from __future__ import annotations

from pathlib import Path

import click

from hatch_agentsuite.cli.console import check_tag, progress_steps, reports_failures, show_findings
from hatch_agentsuite.findings import printable


@click.command("pack")
@click.argument("source", type=click.Path(path_type=Path), default=Path("suite"))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Where to write; dist/NAME.agentsuite by default."
)
@click.option("--archive", is_flag=True, help="Write one uncompressed tar of the layout instead of a directory.")
@click.option("--name", help="The suite's name; must agree with a written one.")
@click.option(
    "--platform",
    "platforms",
    multiple=True,
    type=click.Choice(["linux/amd64", "linux/arm64"]),
    help="Compose for this platform only; repeat for several.",
)
@click.option("--build-profile", help="The build profile of derived compositions.")
@click.option(
    "--provider-image",
    "provider_images",
    multiple=True,
    metavar="ID[@VERSION]",
    help="Add ToolProvider compositions for this ToolProvider; repeat for several.",
)
@click.option("--annotation", "annotations", multiple=True, metavar="KEY=VALUE", help="An annotation of the manifest.")
@click.option("--tag", help="A tag for the manifest, in index.json alone.")
@click.option(
    "--codec",
    type=click.Choice(["zlib", "store", "zlib-ng"]),
    default="zlib",
    show_default=True,
    help="How the layer is compressed; `store` gives the same bytes whatever zlib is installed.",
)
@click.option("--strict", is_flag=True, help="Refuse files that nothing reaches, and placeholder images.")
@click.option("--workers", type=click.IntRange(1, 64), help="Threads to use; the bytes do not depend on it.")
@click.option("-v", "--verbose", is_flag=True, help="Show every packed path and the file it came from.")
@reports_failures
def command(
    source: Path,
    output: Path | None,
    archive: bool,
    name: str | None,
    platforms: tuple[str, ...],
    build_profile: str | None,
    provider_images: tuple[str, ...],
    annotations: tuple[str, ...],
    tag: str | None,
    codec: str,
    strict: bool,
    workers: int | None,
    verbose: bool,
) -> None:
    """Pack the authoring tree SOURCE (default: suite) into an AgentSuite and print its digest.

    The result is validated before it takes the place of an older one.
    """
    from hatch_agentsuite.configuration import IDENTIFIER_RULE, identifier_from, is_identifier
    from hatch_agentsuite.packing import pack
    from hatch_agentsuite.source import Options

    if name is not None and not is_identifier(name):
        raise click.BadParameter(f"must be an identifier ({IDENTIFIER_RULE})", param_hint="--name")
    check_tag(tag)
    options = Options(
        name=name,
        default_name=identifier_from(_default_name(source)),
        platforms=platforms,
        build_profile=build_profile,
        provider_images=provider_images,
        strict=strict,
        annotations=_annotations(annotations),
    )
    suffix = ".agentsuite.tar" if archive else ".agentsuite"
    target = output or Path("dist") / f"{name or _default_name(source)}{suffix}"
    with progress_steps() as step:
        packed = pack(
            source,
            target,
            options,
            form="archive" if archive else "layout",
            codec=codec,  # type: ignore[arg-type]
            tag=tag,
            workers=workers,
            step=step,
        )
    if verbose:
        for member in packed.resolved.members:
            origin = packed.resolved.origin(member)
            text = f"{member.entry.path} <- {source / origin if origin else 'computed'}"
            click.echo(printable(text), err=True)
    show_findings(packed.warnings)
    click.echo(f"{packed.digest}  {printable(str(target))}")


def _default_name(source: Path) -> str:
    """Return the name of the folder that an authoring tree belongs to."""
    folder = source.resolve()
    return folder.parent.name if folder.name == "suite" else folder.name


def _annotations(texts: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise click.BadParameter(f"`{text}` is not KEY=VALUE", param_hint="--annotation")
        found[key] = value
    return found
