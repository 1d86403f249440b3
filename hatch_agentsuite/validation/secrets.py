"""AS-SECRET-001: content holds references and names, not credential-shaped literals (specification 9.5, 9.9, 15.1).

Documents are judged by their values, so that an escape hides nothing; every other text by its bytes, while they are
read to be hashed. Outside payloads a credential refuses the suite. Inside one it is a warning: software ships test keys
and samples, and whoever packs it did not write it. No message repeats what it is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Any

from hatch_agentsuite.content import Entry
from hatch_agentsuite.findings import Finding, Severity, pointer, printable
from hatch_agentsuite.jsondoc import JSONDocumentError, loads
from hatch_agentsuite.layout import blob_path
from hatch_agentsuite.paths import parents
from hatch_agentsuite.validation.credentials import (
    MAX_MATCHES,
    Match,
    Stream,
    find,
    is_binary,
    may_hold,
    redact,
    suspects,
)
from hatch_agentsuite.validation.evidence import evidence
from hatch_agentsuite.validation.suite import Suite

REQUIREMENT = "AS-SECRET-001"

PAYLOAD_TEXT_BYTES = 1 << 20
"""A larger file of a payload is taken for data and not looked at."""

_BATCH_BYTES = 1 << 20
_PER_FILE = 10
_IN_ALL = 1_000
_HINT = "name the secret and let the deployment deliver its value; revoke this one if it is real"
_PAYLOAD_HINT = "whoever has the suite has this file; leave it out of the payload if it is real, and revoke it"


class Scan:
    """What the text files of a content tree hold, looked for in a second thread while they are read.

    Small files are judged many at a time, so that the two threads seldom wait for each other. All is found when the
    context ends.
    """

    def __init__(self) -> None:
        self.found: dict[str, list[Match]] = {}
        self.passed_over: list[str] = []
        self._count = 0
        self._batch: list[tuple[str, bytes]] = []
        self._batch_bytes = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="secrets")
        self._judged: Future[None] | None = None

    def __enter__(self) -> Scan:  # noqa: PYI034 -- typing.Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._judge_batch()
            self._wait()
        finally:
            self._thread.shutdown()

    def observe(self, entry: Entry, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Pass a file's bytes on."""
        if entry.size > PAYLOAD_TEXT_BYTES and entry.path.startswith("tool-providers/"):
            self.passed_over.append(entry.path)
            yield from chunks
            return
        if entry.size <= _BATCH_BYTES:
            pieces = []
            for chunk in chunks:
                pieces.append(chunk)
                yield chunk
            self._add(entry.path, b"".join(pieces))
            return
        self._judge_batch()
        self._wait()
        stream = self._stream()
        for chunk in chunks:
            stream.feed(chunk)
            yield chunk
        self._close(entry.path, stream)

    def _add(self, path: str, data: bytes) -> None:
        if is_binary(data):
            return
        self._batch.append((path, data))
        self._batch_bytes += len(data) + 1
        if self._batch_bytes >= _BATCH_BYTES:
            self._judge_batch()

    def _judge_batch(self) -> None:
        """Hand what has come together to the thread, once it is done with what it had."""
        self._wait()
        batch, self._batch, self._batch_bytes = self._batch, [], 0
        self._judged = self._thread.submit(self._judge, batch) if batch else None

    def _wait(self) -> None:
        if self._judged:
            self._judged.result()

    def _judge(self, batch: list[tuple[str, bytes]]) -> None:
        for index in suspects([data for _, data in batch]):
            path, data = batch[index]
            stream = self._stream()
            stream.feed(data)
            self._close(path, stream)

    def _stream(self) -> Stream:
        return Stream(_PER_FILE if self._count < _IN_ALL else 1)

    def _close(self, path: str, stream: Stream) -> None:
        stream.close()
        if stream.matches:
            self.found[path] = stream.matches
            self._count += len(stream.matches)


def check(suite: Suite, scan: Scan, envelope: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield where content, or a document of the image layout (``envelope``, by file), is credential-shaped."""
    payload = set(_payload_files(suite))
    for path, data in suite.tree.documents.items():
        if path not in payload:
            yield from _document(suite, scan, path, data)
    for path, matches in scan.found.items():
        if path in payload:
            yield from _text(path, matches, "warning")
        elif path not in suite.tree.documents:
            yield from _text(path, matches)
    for path in scan.passed_over:
        if path not in payload and path not in suite.tree.documents:
            message = (
                f"the file is outside all payloads and has more than {PAYLOAD_TEXT_BYTES:,} bytes; it is not judged"
            )
            hint = "keep large files out of `tool-providers/`, or in the payload that they belong to"
            yield Finding(REQUIREMENT, "security", printable(path), message, hint)
    for name, value in envelope.items():
        yield from _value(name, value)


def redacted(finding: Finding) -> Finding:
    """Return a finding, of whatever requirement, that repeats no credential from a name, a path or a value."""
    location, message, hint = redact(finding.location), redact(finding.message), redact(finding.hint)
    if (location, message, hint) == (finding.location, finding.message, finding.hint):
        return finding
    return replace(finding, location=location, message=message, hint=hint)


def _payload_files(suite: Suite) -> Iterator[str]:
    """Yield the files of payloads, and of evidence where it lies beside the content.

    What a reference names is no payload wherever it lies. The whole folder of a ToolProvider that cannot be read counts
    as one: where its payloads are is not known, and the suite is refused for it.
    """
    reached = suite.reached()
    roots = {variant["payloadRoot"] for _, _, variant in suite.variants()}
    roots |= {document.path.rpartition("/")[0] for document in suite.providers.values() if document.value is None}
    roots |= {blob_path(descriptor["digest"]) for _, descriptor in evidence(suite)}
    for path in suite.tree.entries:
        if path not in reached and not roots.isdisjoint((path, *parents(path))):
            yield path


def _document(suite: Suite, scan: Scan, path: str, data: bytes) -> Iterator[Finding]:
    if not may_hold(data):
        return
    known = suite.documents.get(path)
    if known and known.value is not None:
        yield from _value(path, known.value)
        return
    try:
        value = loads(data, suite.tree.limits.json)
    except JSONDocumentError:
        yield from _text(path, scan.found.get(path, []))
        return
    yield from _value(path, value)


def _value(name: str, value: Any) -> Iterator[Finding]:
    if any(find("\0".join(text for _, text in _strings(value)), 1)):
        found = ((where, match) for where, text in _strings(value) for match in find(text))
        for where, match in islice(found, MAX_MATCHES):
            yield _finding(f"{printable(name)}#{pointer(*where)}", match)


def _strings(value: Any, where: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every string with the way to it, and every member name with the way to its object.

    The way does not go through a name that is credential-shaped itself.
    """
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, (*where, index))
    elif isinstance(value, dict):
        for name, member in value.items():
            yield where, name
            yield from _strings(member, where if any(find(name, 1)) else (*where, name))


def _text(path: str, matches: list[Match], severity: Severity = "error") -> Iterator[Finding]:
    for match in matches:
        finding = _finding(printable(path), match, severity)
        yield replace(finding, line=match.line, column=match.column)


def _finding(location: str, match: Match, severity: Severity = "error") -> Finding:
    hint = _HINT if severity == "error" else _PAYLOAD_HINT
    return Finding(
        REQUIREMENT, "security", location, f"this looks like a credential ({match.shape})", hint, severity=severity
    )
