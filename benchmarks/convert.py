"""Measures importing many BRICK manifests into one suite, and exporting them again; asserts nothing.

    python benchmarks/convert.py [--sizes 125,250,500,1000] [--rounds N] [--json FILE]

The peer is a loop in plain Python that reads each manifest with `json.loads`, validates it with `jsonschema` (or
`jsonschema-rs`, which ours uses where it is installed) against the same JSON Schema, and writes it with `json.dumps`:
what any conversion has to do, and nothing else. Ours also judges the rules that a schema cannot say, reads and hashes
the files that manifests refer to, and writes six or seven files an agent.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import resource
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from pack import Run, machine, median, run

OURS = "import"
PEERS = ("json, jsonschema", "json, jsonschema-rs")

_PEER = """\
import json, sys
from pathlib import Path
import agentsuite_schemas
schemas = Path(agentsuite_schemas.__file__).parent
found = {schema["$id"]: schema for file in schemas.glob("*/*.json") for schema in [json.loads(file.read_bytes())]}
wanted = next(schema for name, schema in found.items() if name.endswith("/brick/manifest.json"))
if sys.argv[1] == "jsonschema":
    import jsonschema, referencing
    resources = [(name, referencing.Resource.from_contents(schema)) for name, schema in found.items()]
    registry = referencing.Registry().with_resources(resources)
    validate = jsonschema.Draft202012Validator(wanted, registry=registry).validate
else:
    import jsonschema_rs
    registry = jsonschema_rs.Registry(list(found.items()))
    validate = jsonschema_rs.validator_for(wanted, registry=registry).validate
output = Path(sys.argv[2])
for path in sys.argv[3:]:
    document = json.loads(Path(path).read_bytes())
    validate(document)
    (output / Path(path).name).write_text(json.dumps(document, indent=2))
"""

_PLAIN = """\
import sys
for module in ("isal", "zlib_ng", "jsonschema_rs"):
    sys.modules[module] = None
from hatch_agentsuite.cli import main
main()
"""


@dataclass(frozen=True)
class Measured:
    """All runs of a contestant for one number of documents."""

    who: str
    documents: int
    runs: list[Run]


def main() -> None:
    """Make the manifests, run everybody, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="125,250,500,1000", help="how many documents, several numbers by comma")
    parser.add_argument("--rounds", type=int, default=3, help="how often everybody runs for each number")
    parser.add_argument("--json", type=Path, help="a file for every single measurement")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    if min(sizes) < 1 or options.rounds < 1:
        parser.error("documents and rounds are at least 1")
    with tempfile.TemporaryDirectory(prefix="agentsuite-bench-") as temporary:
        work = Path(temporary).resolve()
        print(machine())
        paths = manifests(work / "manifests", max(sizes))
        results = [found for size in sizes for found in measure(paths[:size], work, options.rounds)]
        floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(table(results, options.rounds))
    print(f"\nPeak memory is that of a process; none can be seen below {floor:.0f} MB.")
    if options.json:
        options.json.write_text(json.dumps([asdict(found) for found in results], indent=1) + "\n", encoding="utf-8")


def manifests(folder: Path, number: int) -> list[Path]:
    """Write manifests with instructions and a skill, two servers and three capabilities each; return their paths."""
    (folder / "skills/weigh").mkdir(parents=True)
    guide = b"Weigh every parcel before you name a price. Say the price in the currency of the sender.\n" * 20
    skill = b"---\nname: weigh\n---\nPut the parcel on the scales and wait until the number stands still.\n"
    (folder / "GUIDE.md").write_bytes(guide)
    (folder / "skills/weigh/SKILL.md").write_bytes(skill)
    (folder / "skills/weigh/tariffs.csv").write_text("kilograms,price\n" + "1,5\n" * 200)
    for index in range(number):
        document = manifest(index, hashlib.sha256(guide).hexdigest(), hashlib.sha256(skill).hexdigest())
        (folder / f"{index:05}.json").write_text(json.dumps(document, indent=2), encoding="utf-8")
    return sorted(folder.glob("*.json"))


def manifest(index: int, guide: str, skill: str) -> dict[str, object]:
    """Return one manifest; all are of one shape, and no two are equal."""
    servers = [
        {
            "id": name,
            "transport": "streamable-http",
            "endpoint": f"https://{name}.internal.example.net/{index}/mcp",
            "allowedTools": [f"{name}-{tool}" for tool in ("find", "change")],
        }
        for name in ("parcels", "prices")
    ]
    capabilities = [
        {
            "id": f"capability-{number}",
            "description": f"Do the work of number {number} at counter {index}",
            "inputs": ["parcel", "destination"],
            "outputs": ["price"],
            "skillRefs": ["weigh"],
            "toolRefs": ["parcels:parcels-find", "prices:prices-find"],
            "advertise": number == 0,
        }
        for number in range(3)
    ]
    return {
        "brickVersion": "0.5",
        "agent": {
            "id": f"https://agents.example.net/counter-{index}",
            "name": f"Counter {index}",
            "description": f"Takes parcels in at counter {index}",
            "version": "1.0.0",
        },
        "goals": ["Send every parcel on the day it comes in"],
        "instructions": [{"id": "guide", "uri": "./GUIDE.md", "sha256": guide}],
        "skills": [{"id": "weigh", "uri": "./skills/weigh/SKILL.md", "sha256": skill}],
        "mcpServers": servers,
        "capabilities": capabilities,
        "a2a": {"enabled": True, "endpoint": f"https://agents.example.net/a2a/{index}", "protocolVersion": "1.0"},
    }


def contestants(paths: list[Path], suite: Path, output: Path) -> dict[str, list[str]]:
    """Return the commands of all contestants that can run here."""
    documents = [str(path) for path in paths]
    options = ["--model-protocol", "openai-chat", "--model", "example-model", "-o"]
    ours = [sys.executable, "-m", "hatch_agentsuite"]
    importing = ["import", "brick", *documents, *options, str(output / "suite")]
    found = {
        OURS: [*ours, *importing],
        "import, without the extra `fast`": [sys.executable, "-c", _PLAIN, *importing],
        "export": [*ours, "export", "brick", str(suite), "-o", str(output / "exported")],
    }
    for peer in PEERS:
        module = peer.rpartition(" ")[2]
        if importlib.util.find_spec(module.replace("-", "_")):
            found[peer] = [sys.executable, "-c", _PEER, module, str(output), *documents]
        else:
            print(f"left out: {peer} ({module} is not installed)")
    return found


def measure(paths: list[Path], work: Path, rounds: int) -> list[Measured]:
    """Run everybody as often as asked, one after the other."""
    suite, output = work / f"suite-{len(paths)}", work / "output"
    commands = contestants(paths, suite, output)
    output.mkdir()
    run(quiet(commands[OURS]))
    (output / "suite").rename(suite)
    results: dict[str, list[Run]] = {who: [] for who in commands}
    for number in range(rounds):
        for who, command in commands.items():
            shutil.rmtree(output)
            output.mkdir()
            print(f"\rround {number + 1} of {rounds}: {who:40}", end="", file=sys.stderr, flush=True)
            wall, usage = run(quiet(command))
            size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
            results[who].append(Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, size))
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr, flush=True)
    shutil.rmtree(output)
    return [Measured(who, len(paths), runs) for who, runs in results.items()]


def quiet(command: list[str]) -> list[str]:
    """Return a command of which nobody reads what it says on standard error."""
    return ["/bin/sh", "-c", 'exec "$@" 2>/dev/null', "sh", *command]


def table(results: list[Measured], rounds: int) -> str:
    """Return the results as text; a ratio is how many times the peer's time a contestant takes in the same round."""
    peers = [peer for peer in PEERS if any(found.who == peer for found in results)]
    title = f"\nBRICK manifests, whole processes with their start; medians of {rounds}"
    head = f"{'':34}{'documents':>10}{'wall s':>8}{'CPU s':>8}{'ms each':>9}{'peak MB':>9}"
    lines = [title, head + "".join(f"{'/ ' + peer:>23}" for peer in peers)]
    for who in dict.fromkeys(found.who for found in results):
        for found in (item for item in results if item.who == who):
            wall, cpu = median([one.wall for one in found.runs]), median([one.cpu for one in found.runs])
            peak = median([one.peak for one in found.runs]) / 2**20
            line = f"{who:34}{found.documents:10}{wall:8.2f}{cpu:8.2f}{wall / found.documents * 1000:9.2f}{peak:9.0f}"
            lines.append(line + "".join(f"{against(results, peer, found):23.2f}" for peer in peers))
    return "\n".join(lines)


def against(results: list[Measured], peer: str, found: Measured) -> float:
    """Return how many times the peer's wall time a contestant took."""
    [theirs] = [other for other in results if other.who == peer and other.documents == found.documents]
    return median([one.wall / other.wall for one, other in zip(found.runs, theirs.runs, strict=True)])


if __name__ == "__main__":
    main()
