"""Gzip as it is written: one member whose bytes depend on the input and the codec alone."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import threading
import zlib
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatch_agentsuite.archive import gzip as module
from hatch_agentsuite.archive.gzip import (
    BLOCK,
    CODECS,
    BlockGzipWriter,
    Codec,
    default_workers,
    deflater,
    zlib_is_zlib_ng,
)
from tests.core.gzip_sample import compressed, digest, sample

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
SIZES = (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 70_000)
STORED = "aadcee056a55fd2cd3009ed22c70844a600d90fd36f557916969aec5b192df37"
DEFLATED = "9c9ddce75880f06344514acc815c27635c5be5ebdb794356ca8b9369b50c7af9"


@pytest.fixture(params=CODECS)
def codec(request: pytest.FixtureRequest) -> Codec:
    name: Codec = request.param
    if name == "zlib-ng":
        pytest.importorskip("zlib_ng")
    return name


@pytest.mark.parametrize("size", SIZES)
def test_every_reader_reads_what_every_codec_writes(size: int, codec: Codec) -> None:
    data = sample(size)
    found = compressed([data], codec)
    assert gzip.decompress(found) == data
    one_member = zlib.decompressobj(31)
    assert one_member.decompress(found) == data
    assert one_member.eof
    assert one_member.unused_data == b""


@pytest.mark.parametrize("command", ["gzip", "pigz"])
@pytest.mark.parametrize("size", [0, BLOCK + 1])
def test_the_usual_programs_read_it(command: str, size: int, codec: Codec, require_tool: Callable[[str], str]) -> None:
    data = sample(size)
    done = subprocess.run(
        [require_tool(command), "-dc"], input=compressed([data], codec), capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == data


def test_the_header_tells_nothing(codec: Codec) -> None:
    """5.2: no time; no name, no level, no operating system."""
    assert compressed([b"x"], codec)[:10] == bytes.fromhex("1f8b08 00 00000000 00 ff")


@pytest.mark.parametrize("workers", [2, 3, 8])
def test_the_bytes_do_not_depend_on_the_number_of_cores(workers: int, codec: Codec) -> None:
    data = sample(5 * BLOCK + 12_345)
    assert compressed([data], codec, workers) == compressed([data], codec, 1)


@given(st.lists(st.integers(0, 3 * BLOCK), max_size=6), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=15)
def test_the_bytes_do_not_depend_on_how_they_come(cuts: list[int], workers: int) -> None:
    data = sample(2 * BLOCK + 999)
    edges = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(edges)]
    assert compressed(pieces, "store", workers) == compressed([data], "store")


def test_the_bytes_do_not_depend_on_how_they_come_when_deflated() -> None:
    data = sample(BLOCK + 5_000)
    pieces = [data[start : start + 7_777] for start in range(0, len(data), 7_777)]
    assert compressed(pieces) == compressed([data])


def test_the_stored_bytes_are_pinned() -> None:
    """The same on every machine, whatever its zlib."""
    assert digest("store") == STORED


@pytest.mark.skipif(zlib_is_zlib_ng(), reason="this Python's zlib is zlib-ng, which compresses to other bytes")
def test_the_deflated_bytes_are_pinned() -> None:
    assert digest("zlib") == DEFLATED


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_other_pythons_write_the_same_bytes(version: str) -> None:
    python = shutil.which(f"python{version}")
    if python is None:
        pytest.skip(f"python{version} is not installed")
    command = [python, "-m", "tests.core.gzip_sample"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True, timeout=60)
    if done.returncode:
        pytest.skip(f"python{version} does not run: {done.stderr.strip().splitlines()[-1]}")
    stored, deflated, other_zlib = done.stdout.split()
    assert stored == STORED
    assert deflated == DEFLATED or other_zlib == "True"


def test_blocks_that_wait_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow disk must not let memory grow with the input."""
    blocks = []

    def counting(block: bytes, dictionary: bytes, last: bool) -> bytes:
        blocks.append(last)
        return b""

    monkeypatch.setattr(module, "_deflate_zlib", counting)

    class Sink:
        written = 0

        def write(self, data: bytes) -> None:
            self.written += 1

    sink = Sink()
    writer = BlockGzipWriter(sink, "zlib", 2)
    for number in range(1, 21):
        writer.write(bytes(BLOCK))
        assert number - 1 - (sink.written - 1) <= 4
    writer.close()
    assert blocks.count(False) == 19
    assert blocks.count(True) == 1


@pytest.mark.parametrize("blocks", [1, 3, 8])
@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_in_the_sink_is_raised_and_ends_every_thread(blocks: int, workers: int) -> None:
    """By a later write where there are many blocks, else at the end."""

    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            if self.tell() > 100:
                raise OSError(28, "No space left on device")
            return super().write(data)  # type: ignore[arg-type]

    before = threading.active_count()
    with pytest.raises(OSError, match="No space"), BlockGzipWriter(Full(), "store", workers) as writer:
        writer.write(sample(blocks * BLOCK))
    assert threading.active_count() == before


def test_leaving_by_an_error_writes_no_trailer() -> None:
    sink = io.BytesIO()
    with pytest.raises(ZeroDivisionError), BlockGzipWriter(sink, "store", 1) as writer:
        writer.write(bytes(1 // 0))
    assert sink.getvalue() == module.HEADER


def test_an_unknown_codec_is_refused_before_anything_is_written() -> None:
    with pytest.raises(ValueError, match="unknown codec `zstd`; known are zlib, store, zlib-ng"):
        deflater("zstd")  # type: ignore[arg-type]


def test_a_codec_that_is_not_installed_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zlib_ng", None)
    with pytest.raises(ValueError, match=r"needs the package zlib-ng"):
        deflater("zlib-ng")


def test_the_number_of_workers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= default_workers() <= 8
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(64)), raising=False)
    assert default_workers() == 8
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert default_workers() == 1


@pytest.mark.parametrize(
    ("version", "expected"), [("1.2.13", False), ("1.3.1", False), ("1.3.1.zlib-ng", True), ("2.2.4.zlib-ng", True)]
)
def test_zlib_ng_is_noticed(version: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(zlib, "ZLIBNG_VERSION", raising=False)
    monkeypatch.setattr(zlib, "ZLIB_RUNTIME_VERSION", version)
    assert zlib_is_zlib_ng() is expected
    monkeypatch.setattr(zlib, "ZLIBNG_VERSION", "2.2.4", raising=False)
    assert zlib_is_zlib_ng() is True
