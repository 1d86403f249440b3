"""Measures building a sandbox image against skopeo and umoci that put the same image together; asserts nothing.

    python benchmarks/image.py [--rounds N] [--size MB] [--work DIR]

The base is cut from this machine's own /usr (1 GiB by default) and compressed by gzip, the suite is `examples/clock`.
The peers copy the base's layers and add the payload as one more; they verify blobs by their digest and look at no file.
Ours reads every file in every layer, hashes it, judges the result and writes its inventory.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import shlex
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from pack import Run, machine, median, run

HERE = Path(__file__).parent
CLOCK = HERE.parent / "examples" / "clock" / "suite"
PAYLOAD = "tool-providers/clock/1.0.0/linux-amd64"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
FIRST = (
    "usr/bin/awk",
    "usr/bin/date",
    "usr/bin/sh",
    "usr/lib64/ld-linux-x86-64.so.2",
    f"{LIBRARIES}/libc.so.6",
    f"{LIBRARIES}/libm.so.6",
)
LINKS = ("bin", "lib", "lib64")
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def main() -> None:
    """Make images and suite once, run everybody, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often everybody runs")
    parser.add_argument("--size", type=int, default=1024, help="how many MiB of files the base has")
    parser.add_argument("--work", type=Path, help="a folder to keep images and suite in (2 GB)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agentsuite-bench-") as temporary:
        work = (options.work or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        print(machine())
        prepare(work, options.size)
        print(table(measure(contestants(work), work, options.rounds)))


def prepare(work: Path, size: int) -> None:
    """Write the images and pack the suite, unless they are there."""
    if (work / "suite").exists():
        return
    print(f"making a base of {size} MiB and a suite", flush=True)
    base = image(work / "images", "base", [base_files(size << 20)], {"Env": ["PATH=/usr/bin"]})
    settings = {"Env": ["PATH=/usr/bin"], "Entrypoint": ["/app/harness"]}
    harness = image(work / "images", "harness", [(("app/harness", HERE / "../examples/clock/README.md"),)], settings)
    source = Path(shutil.copytree(CLOCK, work / "tree"))
    profile = {"runtimeBase": [base], "harness": [harness], "sourceEpoch": 1}
    (source / "build-profiles/default.yaml").write_text(json.dumps(profile))
    code = (
        "import sys; from pathlib import Path; from hatch_agentsuite import Options, pack;"
        "pack(Path(sys.argv[1]), Path(sys.argv[2]), Options(default_name='clock', platforms=('linux/amd64',)))"
    )
    run([sys.executable, "-c", code, str(source), str(work / "suite")])


def base_files(most: int) -> Iterator[tuple[str, Path]]:
    """Yield names and files of /usr, what the example needs first, up to a number of bytes."""
    for name in LINKS:
        yield name, Path("/") / name
    for name in FIRST:
        yield name, Path(f"/{name}").resolve()
    seen = {f"/{name}" for name in FIRST}
    for top in ("bin", "lib", "share", "libexec", "sbin"):
        for folder, folders, files in os.walk(f"/usr/{top}"):
            folders.sort()
            for name in (*folders, *sorted(files)):
                path = Path(folder, name)
                key = str(path)
                if key in seen or not (path.is_symlink() or path.is_file()) or not key.isascii():
                    continue
                seen.add(key)
                if not path.is_symlink():
                    most -= path.stat().st_size
                if most < 0:
                    return
                yield key[1:], path


def image(root: Path, name: str, layers: list[object], settings: Mapping[str, object]) -> dict[str, object]:
    """Write an image, tagged, into a layout of its own below ``root``; return its pin."""
    folder = root / name
    (folder / "blobs/sha256").mkdir(parents=True)
    descriptors, diff_ids = [], []
    for files in layers:
        tar = folder / "layer.tar"
        with tarfile.open(tar, "w", format=tarfile.PAX_FORMAT) as archive:
            for inside, path in files:  # type: ignore[attr-defined]
                info = archive.gettarinfo(path, inside)
                if inside == "app/harness":
                    info.size, info.mode = len(SCRIPT), 0o755
                    archive.addfile(info, __import__("io").BytesIO(SCRIPT))
                elif info.isreg() or info.islnk():
                    info.type, info.size = tarfile.REGTYPE, path.stat().st_size
                    info.mode &= 0o755
                    with path.open("rb") as stream:
                        archive.addfile(info, stream)
                else:
                    archive.addfile(info)
        with tar.open("rb") as stream:
            diff_ids.append(digest(stream))
        with tar.open("rb") as stream, gzip.GzipFile(folder / "layer.gz", "wb", 6, mtime=0) as packed:
            shutil.copyfileobj(stream, packed, 1 << 20)
        tar.unlink()
        descriptors.append(blob(folder, LAYER, folder / "layer.gz"))
    config = {"os": "linux", "architecture": "amd64", "config": settings}
    config["rootfs"] = {"type": "layers", "diff_ids": diff_ids}
    described = document(folder, CONFIG, config)
    manifest = document(
        folder,
        MANIFEST,
        {"schemaVersion": 2, "mediaType": MANIFEST, "config": described, "layers": descriptors},
    )
    tagged = {**manifest, "annotations": {"org.opencontainers.image.ref.name": "v1"}}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [tagged]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    reference = f"registry.example.org/{name}@{manifest['digest']}"
    return {"platform": {"os": "linux", "architecture": "amd64"}, "imageRef": reference, "image": manifest}


SCRIPT = b"#!/bin/sh\nexec /opt/agentsuite/tool-providers/clock/1.0.0/bin/clock\n"


def document(folder: Path, media_type: str, value: object) -> dict[str, object]:
    """Write a document as a blob and return its descriptor."""
    path = folder / "document"
    path.write_text(json.dumps(value))
    return blob(folder, media_type, path)


def blob(folder: Path, media_type: str, path: Path) -> dict[str, object]:
    """Move a file among the blobs and return its descriptor."""
    with path.open("rb") as stream:
        name = digest(stream)
    size = path.stat().st_size
    path.replace(folder / "blobs/sha256" / name.removeprefix("sha256:"))
    return {"mediaType": media_type, "digest": name, "size": size}


def digest(stream: object) -> str:
    """Return the digest of what is left of a stream."""
    hasher = hashlib.sha256()
    while piece := stream.read(1 << 20):  # type: ignore[attr-defined]
        hasher.update(piece)
    return f"sha256:{hasher.hexdigest()}"


def contestants(work: Path) -> dict[str, list[str]]:
    """Return everybody's command; what is not installed is left out."""
    out, images, suite = work / "output", work / "images", work / "suite"
    ours = [sys.executable, "-m", "hatch_agentsuite", "image"]
    build = [*ours, "build", str(suite), "--agent", "timekeeper", "--platform", "linux/amd64", "--images", str(images)]
    found = {
        "ours, build": [*build, "-o", str(out / "image")],
        "ours, validate": [*ours, "validate", str(work / "kept")],
    }
    if not (work / "kept").exists():
        run([*build, "-o", str(work / "kept")])
    copy = f"skopeo --insecure-policy copy -q oci:{images}/base:v1 oci:{out}/image:v1"
    payload = f"{work}/tree/{PAYLOAD} /opt/agentsuite/tool-providers/clock/1.0.0"
    insert = f"umoci insert --rootless --image {out}/image:v1 {payload}"
    unpack = f"umoci unpack --rootless --image {work}/kept:timekeeper {out}/bundle"
    peers = {"skopeo copy": copy, "skopeo copy, umoci insert": f"{copy} && {insert}", "umoci unpack": unpack}
    for who, command in peers.items():
        if all(shutil.which(part.split()[0]) for part in command.split(" && ")):
            found[who] = ["/bin/sh", "-c", command]
        else:
            print(f"left out: {who}")
    found["gzip -t of the base"] = ["/bin/sh", "-c", f"gzip -t < {shlex.quote(str(largest(images)))}"]
    return found


def largest(folder: Path) -> Path:
    """Return the base's layer."""
    return max(folder.rglob("blobs/sha256/*"), key=lambda path: path.stat().st_size)


def measure(commands: dict[str, list[str]], work: Path, rounds: int) -> dict[str, list[Run]]:
    """Run everybody as often as asked, one after the other, each into an empty folder."""
    results: dict[str, list[Run]] = {who: [] for who in commands}
    for _ in range(rounds):
        for who, command in commands.items():
            shutil.rmtree(work / "output", ignore_errors=True)
            (work / "output").mkdir()
            wall, usage = run(command)
            results[who].append(Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, 0))
    shutil.rmtree(work / "output", ignore_errors=True)
    return results


def table(results: dict[str, list[Run]]) -> str:
    """Return the results as text; the ratio is what building takes of the peer's time."""
    ours = results["ours, build"]
    lines = [f"{'':28}{'wall s':>8}{'CPU s':>8}{'peak MB':>9}{'build / this: wall':>20}"]
    for who, runs in results.items():
        wall, cpu = median([found.wall for found in runs]), median([found.cpu for found in runs])
        peak = median([found.peak for found in runs]) / 2**20
        ratio = median([mine.wall / theirs.wall for mine, theirs in zip(ours, runs, strict=True)])
        lines.append(f"{who:28}{wall:8.2f}{cpu:8.2f}{peak:9.0f}{ratio:20.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
