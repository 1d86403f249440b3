"""Law 5: the id of an agent or server in a suite depends on its own id alone, and is always an identifier."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsuite_converters.identifiers import agent_slug, server_slug
from hatch_agentsuite.configuration import is_identifier

RUN = settings(max_examples=150, deadline=None)
TEXT = st.text(st.characters(codec="utf-8"), max_size=80) | st.from_regex(r"[a-z]+:[A-Za-z/:?#.~_-]*", fullmatch=True)


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


AGENTS = [
    ("https://agents.example.org/customer-support", "customer-support"),
    ("https://agents.example.org/customer-support/", "customer-support"),
    ("https://agents.example.org/a?b=/c#/d", "a"),
    ("https://agents.example.org", "agents.example.org"),
    ("urn:example:Harbour Guide", "harbour-guide"),
    ("urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66", "6e8bc430-9c3a-11d9-9669-0800200c9a66"),
    ("harbour_7", "harbour_7"),
    ("Harbour  Guide!", "harbour-guide"),
    ("a/b", "a-b"),
    ("--a.b_c--", "a.b_c"),
    (".hidden", "hidden"),
    ("é", f"agent-{hashed('é')}"),
    ("größe", "gr-e"),
    ("日本", f"agent-{hashed('日本')}"),
    ("", f"agent-{hashed('')}"),
    ("a" * 64, "a" * 64),
    ("a" * 65, f"agent-{hashed('a' * 65)}"),
    ("a\nb", "a-b"),
]


@pytest.mark.parametrize(("identifier", "slug"), AGENTS)
def test_slug_of_an_agent(identifier: str, slug: str) -> None:
    assert agent_slug(identifier) == slug


@RUN
@given(TEXT)
def test_a_slug_is_an_identifier_whatever_the_id(identifier: str) -> None:
    slug = agent_slug(identifier)
    assert is_identifier(slug)
    assert len(slug) <= 64
    assert agent_slug(identifier) == slug


@RUN
@given(TEXT)
def test_a_slug_is_its_own_slug(identifier: str) -> None:
    """What was exported under its id in the suite gets the same one when it is imported again."""
    assert agent_slug(agent_slug(identifier)) == agent_slug(identifier)


@RUN
@given(st.lists(TEXT, min_size=2, max_size=4, unique=True))
def test_what_has_no_letters_of_its_own_is_told_apart_by_a_hash(identifiers: list[str]) -> None:
    hashes = [slug for slug in map(agent_slug, identifiers) if slug.startswith("agent-") and len(slug) == 14]
    assert len(hashes) == len(set(hashes))


SERVERS = [
    ("billing", "billing"),
    ("a.b_c-1", "a.b_c-1"),
    ("Billing", f"billing-{hashed('Billing')}"),
    ("my server", f"my-server-{hashed('my server')}"),
    ("-", f"server-{hashed('-')}"),
    ("日本", f"server-{hashed('日本')}"),
    ("x" * 65, f"{'x' * 55}-{hashed('x' * 65)}"),
]


@pytest.mark.parametrize(("identifier", "slug"), SERVERS)
def test_slug_of_a_server(identifier: str, slug: str) -> None:
    assert server_slug(identifier) == slug


@RUN
@given(st.lists(TEXT, min_size=2, max_size=4, unique=True))
def test_servers_of_one_agent_do_not_share_a_slug(identifiers: list[str]) -> None:
    slugs = [server_slug(identifier) for identifier in identifiers]
    assert all(is_identifier(slug) and len(slug) <= 64 for slug in slugs)
    assert len(set(slugs)) == len(slugs)
