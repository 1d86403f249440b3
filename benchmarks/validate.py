"""Measures validating one large suite against inflating it and against Python's `tarfile`; asserts nothing.

    python benchmarks/validate.py [--rounds N] [--work DIR]

The suite has 200 agents, 50 ToolProviders, 60,000 inventory entries and about 1 GiB of payload. `gzip -t` inflates the
layer and checks its CRC, no more; the Python peer opens it with `tarfile` and hashes the blob and every file.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from pack import Run, machine, median, prepared, run

HERE = Path(__file__).parent

_TARFILE = """\
import hashlib, sys, tarfile
with open(sys.argv[1], "rb") as blob:
    hashlib.file_digest(blob, "sha256") if hasattr(hashlib, "file_digest") else hashlib.sha256(blob.read())
with tarfile.open(sys.argv[1], "r:gz") as archive:
    for member in archive:
        if member.isreg():
            stream, hasher = archive.extractfile(member), hashlib.sha256()
            while piece := stream.read(1 << 20):
                hasher.update(piece)
"""


def main() -> None:
    """Pack the suite once, run everybody, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often everybody runs")
    parser.add_argument("--work", type=Path, help="a folder to keep the tree and the suite in (2 GB)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agentsuite-bench-") as temporary:
        work = (options.work or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        print(machine())
        suite = packed(work)
        blobs = suite / "blobs" / "sha256"
        layer = max(blobs.iterdir(), key=lambda path: path.stat().st_size)
        commands = {
            "ours": [sys.executable, "-m", "hatch_agentsuite", "validate", str(suite)],
            "ours, without the extra `fast`": [sys.executable, str(HERE / "contestants.py"), "plain", str(suite), "-"],
            "gzip -t": ["/bin/sh", "-c", f"gzip -t < {shlex.quote(str(layer))}"],
            "Python tarfile, hashlib": [sys.executable, "-c", _TARFILE, str(layer)],
        }
        print(table(measure(commands, options.rounds)))


def packed(work: Path) -> Path:
    """Return the suite, packed from its tree if it is not there yet."""
    suite = work / "suite-D"
    if not suite.exists():
        tree = prepared("D", work, "200 agents, 50 ToolProviders, 60,000 files, 1 GB")
        suite.mkdir()
        run([sys.executable, str(HERE / "contestants.py"), "pack:zlib", str(tree), str(suite)])
    return suite / "suite"


def measure(commands: dict[str, list[str]], rounds: int) -> dict[str, list[Run]]:
    """Run everybody as often as asked, one after the other."""
    results: dict[str, list[Run]] = {who: [] for who in commands}
    for _ in range(rounds):
        for who, command in commands.items():
            wall, usage = run(command)
            results[who].append(Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, 0))
    return results


def table(results: dict[str, list[Run]]) -> str:
    """Return the results as text; the ratio is what ours takes of the peer's time."""
    ours = results["ours"]
    lines = [f"{'':32}{'wall s':>8}{'CPU s':>8}{'peak MB':>9}{'ours / this: wall':>19}"]
    for who, runs in results.items():
        wall, cpu = median([found.wall for found in runs]), median([found.cpu for found in runs])
        peak = median([found.peak for found in runs]) / 2**20
        ratio = median([mine.wall / theirs.wall for mine, theirs in zip(ours, runs, strict=True)])
        lines.append(f"{who:32}{wall:8.2f}{cpu:8.2f}{peak:9.0f}{ratio:19.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    if shutil.which("gzip") is None:
        sys.exit("gzip is not installed")
    main()
