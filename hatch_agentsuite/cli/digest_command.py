"""``agentsuite digest``: the identities of documents and files (specification 6.1, 6.2)."""

from __future__ import annotations

from pathlib import Path

import click

from hatch_agentsuite.cli.console import FINDINGS, fail, reports_failures, show_findings
from hatch_agentsuite.findings import Finding, printable


@click.command("digest")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--jcs", "mode", flag_value="jcs", help="Take the JCS digest of JSON and YAML documents.")
@click.option("--exact", "mode", flag_value="exact", help="Take the digest of the exact bytes.")
@reports_failures
def command(files: tuple[Path, ...], mode: str | None) -> None:
    """Print the digest of FILES, each with the rule it follows.

    By default manifests (JSON with an AgentSuite media type, and YAML) get their JCS digest, and all other files the
    digest of their exact bytes, which is how suites refer to them.
    """
    shown = [_show(file, mode) for file in files]
    if not all(shown):
        raise SystemExit(FINDINGS)


def _show(file: Path, mode: str | None) -> bool:
    """Print one digest, or what keeps the file from having one; return whether it has."""
    try:
        rule, digest = _digest(file, mode)
    except ValueError as error:
        show_findings([Finding("AS-JSON-001", "json", str(file), getattr(error, "message", str(error)))])
        return False
    click.echo(f"{digest}  {rule:5}  {printable(str(file))}")
    return True


def _digest(file: Path, mode: str | None) -> tuple[str, str]:
    from hatch_agentsuite import jsondoc, yamldoc
    from hatch_agentsuite.documents import SCHEMAS
    from hatch_agentsuite.regular import hash_file

    if not file.is_file():
        fail(f"{printable(str(file))}: there is no such file", 2)
    is_yaml = file.suffix in {".yaml", ".yml"}
    if mode != "exact" and (mode == "jcs" or is_yaml or file.suffix == ".json"):
        data = file.read_bytes()
        if is_yaml:
            return "jcs", jsondoc.digest(yamldoc.loads(data).value)
        try:
            value = jsondoc.loads(data)
        except jsondoc.JSONDocumentError:
            if mode == "jcs":
                raise
            value = None
        if mode == "jcs" or (isinstance(value, dict) and value.get("mediaType") in SCHEMAS):
            return "jcs", jsondoc.digest(value)
    return "exact", hash_file(file)[1]
