"""Measures packing against tar, gzip and pigz, and against Python's `tarfile`; asserts nothing.

    python benchmarks/pack.py [--tree A,B,C] [--rounds N] [--work DIR] [--json FILE]

Every contestant is a whole process, started anew for each run; the rounds are interleaved, so that what else the
machine does meets all of them. Ratios are taken within a round and are medians, too.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import time
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent
TREES = {
    "A": "2,000 small text files, 19 MB",
    "B": "60,000 small text files of six ToolProviders, 440 MB",
    "C": "50 binaries, 1.1 GB",
}
OURS = {
    "ours": "pack:zlib",
    "ours, write only": "write:zlib",
    "ours, write only, store": "write:store",
    "ours, write only, zlib-ng": "write:zlib-ng",
    "ours, files only": "layer:zlib",
    "ours, files only, store": "layer:store",
}
PEERS = ("tar | pigz -6", "tar | gzip -6", "Python tarfile, gzip 6")

_TAR = "tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --format=pax -C {tree} -cf - ."
_GNU = (
    "set -o pipefail; find {tree} -type f -print0 | xargs -0 openssl dgst -sha256 > {output}.digests && "
    + _TAR
    + " | {compress} | tee {output}/blob | openssl dgst -sha256"
)


@dataclass(frozen=True)
class Run:
    """What one process and its children took: seconds, seconds of all cores, bytes of the largest process, bytes."""

    wall: float
    cpu: float
    peak: int
    size: int


def main() -> None:
    """Make the trees, run everybody, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", default="A,B,C", help="which trees, A, B and C by default")
    parser.add_argument("--rounds", type=int, default=3, help="how often everybody runs on each tree")
    parser.add_argument("--work", type=Path, help="a folder to keep the trees in (2 GB, and as much again for output)")
    parser.add_argument("--json", type=Path, help="a file for every single measurement")
    options = parser.parse_args()
    names = options.tree.split(",")
    if not set(names) <= set(TREES) or options.rounds < 1:
        parser.error("trees are A, B and C; rounds are at least 1")
    with tempfile.TemporaryDirectory(prefix="agentsuite-bench-") as temporary:
        work = (options.work or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        print(machine())
        results = {}
        for name in names:
            results[name] = measure(prepared(name, work, TREES[name]), work / "output", options.rounds)
            print(table(name, results[name]), flush=True)
        floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nPeak memory is that of a contestant's largest process; none can be seen below {floor:.0f} MB.")
    if options.json:
        runs = {
            tree: {who: [asdict(run) for run in found] for who, found in all_.items()} for tree, all_ in results.items()
        }
        options.json.write_text(json.dumps({"machine": machine(), "trees": runs}, indent=1) + "\n", encoding="utf-8")


def machine() -> str:
    """Return what the numbers depend on besides the code."""
    return (
        f"{cores()} cores, Python {platform.python_version()}, zlib {zlib.ZLIB_RUNTIME_VERSION}, {platform.machine()}"
    )


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def prepared(name: str, work: Path, what: str) -> Path:
    """Return a tree's folder, made if it is not there, with its files in the page cache."""
    tree = work / f"tree-{name}"
    if not tree.exists():
        print(f"making tree {name}: {what}", flush=True)
        # A process of its own: what a parent holds counts as its children's peak memory.
        run([sys.executable, str(HERE / "trees.py"), name, str(tree)])
    run(["/bin/sh", "-c", f"find {shlex.quote(str(tree))} -type f -print0 | xargs -0 cat > /dev/null"])
    return tree


def contestants(tree: Path, output: Path) -> dict[str, list[str]]:
    """Return the commands of all contestants that can run here, and name those that cannot."""
    found = {
        who: [sys.executable, str(HERE / "contestants.py"), job, str(tree), str(output)] for who, job in OURS.items()
    }
    if importlib.util.find_spec("zlib_ng") is None:
        missing(found, "ours, write only, zlib-ng", "the package zlib-ng")
    places = {"tree": shlex.quote(str(tree)), "output": shlex.quote(str(output))}
    for who, compress in (("tar | pigz -6", f"pigz -6 -p {cores()}"), ("tar | gzip -6", "gzip -6")):
        found[who] = ["bash", "-c", _GNU.format(compress=compress, **places)]
        for tool in ("bash", "tar", "openssl", compress.split()[0]):
            if shutil.which(tool) is None:
                missing(found, who, tool)
    found[PEERS[2]] = [sys.executable, str(HERE / "contestants.py"), "tarfile", str(tree), str(output)]
    return found


def missing(found: dict[str, list[str]], who: str, what: str) -> None:
    """Leave a contestant out and say why."""
    if found.pop(who, None):
        print(f"left out: {who} ({what} is not installed)")


def measure(tree: Path, output: Path, rounds: int) -> dict[str, list[Run]]:
    """Run everybody as often as asked, one after the other, each round starting with another one."""
    commands = list(contestants(tree, output).items())
    results: dict[str, list[Run]] = {who: [] for who, _ in commands}
    for number in range(rounds):
        start = number % len(commands)
        for who, command in commands[start:] + commands[:start]:
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir()
            print(f"\rround {number + 1} of {rounds}: {who:30}", end="", file=sys.stderr, flush=True)
            wall, usage = run(command)
            size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
            results[who].append(Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, size))
    print("\r" + " " * 50 + "\r", end="", file=sys.stderr, flush=True)
    shutil.rmtree(output, ignore_errors=True)
    output.with_name(f"{output.name}.digests").unlink(missing_ok=True)
    return results


def run(command: list[str]) -> tuple[float, resource.struct_rusage]:
    """Run a command to its end, its output unseen; return seconds and what it and its children used."""
    nowhere = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    started = time.perf_counter()
    # Python code that was installed is compiled once; so is ours, then.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = os.posix_spawnp(command[0], command, environment, file_actions=[nowhere])
    try:
        _, status, usage = os.wait4(process, 0)
    except BaseException:
        os.kill(process, signal.SIGTERM)
        raise
    wall = time.perf_counter() - started
    if status:
        raise SystemExit(f"failed with status {os.waitstatus_to_exitcode(status)}: {shlex.join(command)}")
    return wall, usage


def median(values: list[float]) -> float:
    """Return the middle value; `statistics` would double this process."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def table(name: str, results: dict[str, list[Run]]) -> str:
    """Return one tree's results as text."""
    rounds = len(next(iter(results.values())))
    columns = f"{'':27}{'wall s':>8}{'CPU s':>8}{'peak MB':>9}{'out MB':>8}"
    columns += "".join(f"{peer + ': wall':>12}{'CPU':>7}{'memory':>8}" for peer in ("pigz", "gzip"))
    title = f"\n{name}: {TREES[name]}; medians of {rounds}; a ratio above 1 means less time or memory than the peer's"
    lines = [title, columns]
    for who, runs in results.items():
        wall, cpu = median([run.wall for run in runs]), median([run.cpu for run in runs])
        peak, size = median([run.peak for run in runs]) / 2**20, runs[0].size / 1e6
        ratios = "".join(against(results.get(peer), runs) for peer in PEERS[:2])
        lines.append(f"{who:27}{wall:8.2f}{cpu:8.2f}{peak:9.0f}{size:8.1f}{ratios}")
    return "\n".join(lines)


def against(peer: list[Run] | None, runs: list[Run]) -> str:
    """Return three columns: how many times less a contestant takes than a peer did in the same round."""
    if peer is None:
        return f"{'-':>12}{'-':>7}{'-':>8}"
    pairs = list(zip(peer, runs, strict=True))
    wall = median([theirs.wall / ours.wall for theirs, ours in pairs])
    cpu = median([theirs.cpu / ours.cpu for theirs, ours in pairs])
    peak = median([theirs.peak / ours.peak for theirs, ours in pairs])
    return f"{wall:12.2f}{cpu:7.2f}{peak:8.2f}"


if __name__ == "__main__":
    main()
