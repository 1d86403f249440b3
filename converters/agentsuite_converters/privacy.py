"""Whether public text discloses what is private: the leak check of everything that is published about an agent.

    private = Private(urls=("https://billing.example.org/mcp",), tools=(("billing", "lookup_subscription"),))
    for leak in leaks({"/description": "Asks billing:lookup_subscription."}, private):
        print(leak.place, leak.message)

Names match as whole values and whole words only. A plain word (``billing``) says nothing where it stands in prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import urlsplit

from agentsuite_converters.urls import host
from hatch_agentsuite.validation.credentials import find as find_credentials

WORDS = 8
"""So many words in a row make a quotation."""

_FEWEST_WORDS = 4
_MOST_LEAKS = 20
_TOKEN = re.compile(r"[^\s\"'`<>()\[\]{},;|*]+")
_NAME = re.compile(r"[\w.-]+")
_WORD = re.compile(r"\w+")
_PLAIN = re.compile(r"[^\W\d_]+")
_PUNCTUATION = ".:!?"


@dataclass(frozen=True)
class Private:
    """What must not be published.

    ``urls`` are endpoints, whose hosts count too unless they are among ``public_hosts``; ``names`` are ids of servers;
    ``tools`` are pairs of server and tool; ``references`` are URIs of files; ``texts`` are instructions by what they
    are called; ``words`` are further names by what they are, such as ``the name of the model``. ``public_names`` are
    names that disclose nothing.
    """

    urls: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    tools: tuple[tuple[str, str], ...] = ()
    references: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    public_hosts: frozenset[str] = frozenset()
    words: Mapping[str, str] = field(default_factory=dict)
    public_names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Leak:
    """Private text at one place of what is public; not an error where it may be chance."""

    place: str
    message: str
    is_error: bool = True


def leaks(public: Mapping[str, str], private: Private) -> Iterator[Leak]:
    """Yield what public text, by place, discloses: credentials, and what is private; each thing once for a place."""
    index = _Index(private)
    for place, text in public.items():
        if any(find_credentials(text, 1)):
            yield Leak(place, "the text is credential-shaped")
        for message, is_error in islice(_ordered(index.found(text)), _MOST_LEAKS):
            yield Leak(place, message, is_error)
    yield from _quotations(public, private.texts)


class _Index:
    """What is private, by the form in which text would hold it; everything without regard to letter case."""

    def __init__(self, private: Private) -> None:
        self.urls = {_url_key(url) for url in private.urls}
        self.hosts = {name for name in map(host, private.urls) if _is_address(name)} - private.public_hosts
        self.pairs = {f"{server}:{tool}".casefold() for server, tool in private.tools}
        self.tools = {tool.casefold() for _, tool in private.tools}
        self.servers = {name.casefold() for name in private.names}
        self.references = {name.casefold() for name in private.references if not _PLAIN.fullmatch(name)}
        self.words = {name.casefold(): what for name, what in private.words.items()}
        for name in map(str.casefold, private.public_names):
            for known in (self.urls, self.pairs, self.tools, self.servers, self.references):
                known.discard(name)
            self.urls.discard(_url_key(name))
            self.words.pop(name, None)

    def found(self, text: str) -> Iterator[tuple[str, bool]]:
        whole = text.strip().casefold()
        known = self._name(whole)
        if known:
            yield f"this is {known}", not _PLAIN.fullmatch(whole)
            return
        for token in _TOKEN.findall(text):
            word = token.rstrip(_PUNCTUATION)
            strong = self._token(word.casefold(), word)
            if strong:
                yield f"the text holds {strong}", True
                continue
            for name in _NAME.findall(word.casefold()):
                known = self._name(name.strip(".-"))
                if known and not _PLAIN.fullmatch(name.strip(".-")):
                    yield f"the text holds {known}", False

    def _name(self, name: str) -> str:
        if name in self.tools:
            return f"the name of a tool (`{name[:80]}`)"
        if name in self.servers:
            return f"the id of an MCP server (`{name[:80]}`)"
        return self.words.get(name, "")

    def _token(self, folded: str, token: str) -> str:
        if folded in self.pairs:
            return f"a tool reference (`{folded[:80]}`)"
        if folded in self.references:
            return "the reference to a private file"
        if "://" in token and _url_key(token) in self.urls:
            return "the endpoint of an MCP server"
        named = host(token if "://" in token else f"//{token}")
        return "the host of an MCP server" if named and named in self.hosts else ""


def _ordered(found: Iterable[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Return each message once, errors first."""
    return sorted(dict(found).items(), key=lambda pair: not pair[1])


def _url_key(url: str) -> str:
    """Return what two spellings of a URL have in common: scheme and host in lower case, no slash or fragment behind."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.scheme}://{parts.netloc.casefold()}{parts.path.rstrip('/')}?{parts.query}"


def _is_address(name: str) -> bool:
    """Whether a host's name is one that prose does not hold by chance."""
    return "." in name or ":" in name


def _quotations(public: Mapping[str, str], texts: Mapping[str, str]) -> Iterator[Leak]:
    """Yield public text that holds eight words in a row of a private one, or the whole of a shorter one."""
    words = {place: _WORD.findall(text.casefold()) for place, text in public.items()}
    grams: dict[int, dict[tuple[str, ...], list[str]]] = {}
    told: set[tuple[str, str]] = set()
    for name, text in texts.items():
        private = _WORD.findall(text.casefold())
        length = min(WORDS, len(private))
        if length < _FEWEST_WORDS:
            continue
        if length not in grams:
            grams[length] = _grams(words, length)
        for gram in _windows(private, length):
            for place in grams[length].get(gram, ()):
                if (place, name) not in told:
                    told.add((place, name))
                    yield Leak(place, f"the text quotes {length} or more words in a row of {name}")


def _grams(words: Mapping[str, list[str]], length: int) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for place, spoken in words.items():
        for gram in dict.fromkeys(_windows(spoken, length)):
            found.setdefault(gram, []).append(place)
    return found


def _windows(words: list[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(islice(words, start, None) for start in range(length)), strict=False)
