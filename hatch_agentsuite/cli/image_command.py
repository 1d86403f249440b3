"""``agentsuite image``: build sandbox images from a suite, and judge them, offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hatch_agentsuite.cli.console import (
    FINDINGS,
    check_tag,
    counted,
    output_format,
    progress_steps,
    reports_failures,
    show_by_requirement,
    show_findings,
    show_json,
    verdict,
)
from hatch_agentsuite.findings import printable

if TYPE_CHECKING:
    from hatch_agentsuite.sandbox.validation import ImageReport

_PATH = click.Path(path_type=Path)


@click.group("image")
def command() -> None:
    """Sandbox images: OCI images that run an agent, or a ToolProvider, of a suite."""


@command.command("build")
@click.argument("suite", type=_PATH)
@click.option("--agent", metavar="ID", help="Build the image of this agent.")
@click.option("--tool-provider", metavar="ID[@VERSION]", help="Build the image of this ToolProvider.")
@click.option(
    "--platform",
    type=click.Choice(["linux/amd64", "linux/arm64"]),
    help="For this platform only; without it the result is an index of all platforms.",
)
@click.option(
    "--images",
    multiple=True,
    required=True,
    metavar="PATH",
    type=_PATH,
    help="Where runtime base and harness are: an OCI layout, an archive of one, or a folder of such; repeatable.",
)
@click.option("-o", "--output", required=True, type=_PATH, help="The image layout to write.")
@click.option("--archive", is_flag=True, help="Write one uncompressed tar of the layout instead of a directory.")
@click.option("--tag", help="The name of the image in index.json; the agent's or ToolProvider's id by default.")
@click.option(
    "--codec",
    type=click.Choice(["zlib", "store", "zlib-ng"]),
    default="zlib",
    show_default=True,
    help="How our own layer is compressed; `store` gives the same bytes whatever zlib is installed.",
)
@click.option("--workers", type=click.IntRange(1, 64), help="Threads to use; the bytes do not depend on it.")
@reports_failures
def build(
    suite: Path,
    agent: str | None,
    tool_provider: str | None,
    platform: str | None,
    images: tuple[Path, ...],
    output: Path,
    archive: bool,
    tag: str | None,
    codec: str,
    workers: int | None,
) -> None:
    """Build the image of an agent or a ToolProvider of SUITE, an image layout or archive, and print its digest.

    Nothing is executed and nothing is fetched: the layers of the images that the build profile pins are taken as they
    are, and one layer is added. The result is judged before it takes the place of an older one.
    """
    from hatch_agentsuite.sandbox.building import build_image

    if (agent is None) == (tool_provider is None):
        raise click.UsageError("name either --agent or --tool-provider.")
    check_tag(tag)
    with progress_steps() as step:
        built = build_image(
            suite,
            output,
            agent=agent,
            tool_provider=tool_provider,
            platform=platform,
            images=images,
            form="archive" if archive else "layout",
            tag=tag,
            codec=codec,  # type: ignore[arg-type]
            workers=workers,
            step=step,
        )
    show_findings(built.warnings)
    click.echo(f"{built.digest}  {printable(str(output))}")
    if platform is None:
        for name, digest in built.platforms.items():
            click.echo(f"{digest}  {name}")


@command.command("validate")
@click.argument("image", type=_PATH)
@click.option("--suite", type=_PATH, help="The suite that the image must be made from: an image layout or archive.")
@output_format
@reports_failures
def validate(image: Path, suite: Path | None, form: str) -> None:
    """Judge the sandbox image, or the index of several, in the OCI layout or archive IMAGE.

    Offline; nothing of the image is executed. Exit status 1 if it is refused.
    """
    from hatch_agentsuite.sandbox.validation import validate_image

    with progress_steps() as step:
        report = validate_image(image, suite=suite, step=step)
    if form == "json":
        show_json(report.to_json())
    else:
        _show(report)
    if not report.ok:
        raise SystemExit(FINDINGS)


def _show(report: ImageReport) -> None:
    """Print a verdict and the findings, grouped by requirement."""
    from hatch_agentsuite.sandbox.requirements import IMAGE_REQUIREMENTS

    click.echo(f"{printable(report.path)}: {verdict(report.ok)}")
    if report.digest:
        click.echo(f"  digest   {report.digest}")
    for image in report.images:
        click.echo(f"  {image.platform}  {image.kind} {printable(image.name)}  {image.digest}")
    show_by_requirement(report.findings, {name: item.title for name, item in IMAGE_REQUIREMENTS.items()})
    if not report.ok:
        errors = sum(finding.is_error for finding in report.findings)
        click.echo(f"  {counted(errors, 'error')}")
