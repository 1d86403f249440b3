"""Strategies for valid Agent Cards of 1.0 and of 0.3.

Cards of 1.0 are written as ProtoJSON writes them: a member that has its default value is left out.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Strategy = st.SearchStrategy[Any]

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8).map(lambda text: f"{text}x")
NAMES = st.sampled_from(["a", "b.c", "Ä", "d e", "~1/", "潮"])
URLS = st.sampled_from(["https://a.example.org", "https://b.example.org:8443/x?y=1", "https://[2001:db8::1]/"])
MODES = st.sampled_from(["text/plain", "image/*", "application/vnd.a.b+json; version=1"])
SWITCHES = st.booleans()
VERSIONS = st.sampled_from(["1.0.0", "0.1.0-rc.1+build.5", "12.0.3"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats(-1e9, 1e9) | TEXTS | st.just(""),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
STRUCTS = st.dictionaries(TEXTS, ANYTHING, max_size=3)
SCOPES = st.dictionaries(NAMES, st.just("") | TEXTS, min_size=1, max_size=2)


def some(items: Strategy) -> Strategy:
    """Return lists of one or two items."""
    return st.lists(items, min_size=1, max_size=2)


def record(required: dict[str, Strategy], /, **optional: Strategy) -> Strategy:
    """Return objects with all of the required and some of the optional members."""
    return st.fixed_dictionaries(required, optional=optional)


_BINDINGS: Strategy = st.sampled_from(["JSONRPC", "HTTP+JSON", "GRPC", "urn:example:mqtt"])
_INTERFACES = st.one_of(
    record(
        {"url": URLS, "protocolBinding": _BINDINGS, "protocolVersion": st.sampled_from(["1.0", "0.3"])}, tenant=TEXTS
    ),
    st.just({"url": "grpc.example.org:443", "protocolBinding": "GRPC", "protocolVersion": "1.0"}),
)
_PROVIDERS = record({"organization": TEXTS, "url": URLS})
_SIGNATURES = record({"protected": st.just("eyJhbGciOiJFUzI1NiJ9"), "signature": st.just("c2ln")}, header=STRUCTS)
_FLOWS = {
    "authorizationCode": record(
        {"authorizationUrl": URLS, "tokenUrl": URLS, "scopes": SCOPES}, refreshUrl=URLS, pkceRequired=st.just(True)
    ),
    "clientCredentials": record({"tokenUrl": URLS, "scopes": SCOPES}, refreshUrl=URLS),
    "deviceCode": record({"deviceAuthorizationUrl": URLS, "tokenUrl": URLS, "scopes": SCOPES}, refreshUrl=URLS),
    "implicit": record({}, authorizationUrl=URLS, refreshUrl=URLS, scopes=SCOPES),
    "password": record({}, tokenUrl=URLS, refreshUrl=URLS, scopes=SCOPES),
}
_SCHEMES = {
    "apiKeySecurityScheme": record(
        {"location": st.sampled_from(["query", "header", "cookie"]), "name": TEXTS}, description=TEXTS
    ),
    "httpAuthSecurityScheme": record({"scheme": TEXTS}, bearerFormat=TEXTS, description=TEXTS),
    "oauth2SecurityScheme": record(
        {"flows": st.one_of(*(record({name: flow}) for name, flow in _FLOWS.items()))},
        oauth2MetadataUrl=URLS,
        description=TEXTS,
    ),
    "openIdConnectSecurityScheme": record({"openIdConnectUrl": URLS}, description=TEXTS),
    "mtlsSecurityScheme": record({}, description=TEXTS),
}


def _skills(**more: Strategy) -> Strategy:
    skill = record(
        {"id": TEXTS, "name": TEXTS, "description": TEXTS, "tags": some(TEXTS)},
        examples=some(TEXTS),
        inputModes=some(MODES),
        outputModes=some(MODES),
        **more,
    )
    return st.lists(skill, min_size=1, max_size=2, unique_by=lambda item: item["id"])


_COMMON = {
    "name": TEXTS,
    "description": TEXTS,
    "version": VERSIONS,
    "defaultInputModes": some(MODES),
    "defaultOutputModes": some(MODES),
}
_LINKS = {"documentationUrl": URLS, "iconUrl": URLS, "provider": _PROVIDERS}


@st.composite
def cards(draw: st.DrawFn) -> Any:
    """Draw a valid card of 1.0."""
    scheme = st.one_of(*(record({name: value}) for name, value in _SCHEMES.items()))
    schemes = draw(st.dictionaries(NAMES, scheme, max_size=3))
    more: dict[str, Strategy] = {}
    if schemes:
        scopes = st.fixed_dictionaries({}, optional={"list": some(TEXTS)})
        named = st.dictionaries(st.sampled_from(sorted(schemes)), scopes, min_size=1)
        more["securityRequirements"] = some(record({"schemes": named}))
    extension = record({"uri": URLS}, description=TEXTS, required=st.just(True), params=STRUCTS)
    capabilities = record(
        {}, streaming=SWITCHES, pushNotifications=SWITCHES, extendedAgentCard=SWITCHES, extensions=some(extension)
    )
    interfaces = st.lists(_INTERFACES, min_size=1, max_size=3, unique_by=lambda item: repr(sorted(item.items())))
    card = draw(
        record(
            {**_COMMON, "supportedInterfaces": interfaces, "capabilities": capabilities, "skills": _skills(**more)},
            **_LINKS,
            **more,
            signatures=some(_SIGNATURES),
        )
    )
    return {**card, "securitySchemes": schemes} if schemes else card


_OLD_FLOWS = {
    "authorizationCode": record({"authorizationUrl": URLS, "tokenUrl": URLS, "scopes": SCOPES}, refreshUrl=URLS),
    "clientCredentials": _FLOWS["clientCredentials"],
    "implicit": record({"authorizationUrl": URLS, "scopes": SCOPES}, refreshUrl=URLS),
    "password": record({"tokenUrl": URLS, "scopes": SCOPES}, refreshUrl=URLS),
}
_OLD_SCHEMES = st.one_of(
    record(
        {"type": st.just("apiKey"), "in": st.sampled_from(["query", "header", "cookie"]), "name": TEXTS},
        description=TEXTS,
    ),
    record({"type": st.just("http"), "scheme": TEXTS}, bearerFormat=TEXTS),
    record(
        {"type": st.just("oauth2"), "flows": record({}, **_OLD_FLOWS).filter(bool)},
        oauth2MetadataUrl=URLS,
        description=TEXTS,
    ),
    record({"type": st.just("openIdConnect"), "openIdConnectUrl": URLS}),
    record({"type": st.just("mutualTLS")}, description=TEXTS),
)


@st.composite
def old_cards(draw: st.DrawFn) -> Any:
    """Draw a valid card of 0.3."""
    schemes = draw(st.dictionaries(NAMES, _OLD_SCHEMES, max_size=3))
    more: dict[str, Strategy] = {}
    if schemes:
        named = st.dictionaries(st.sampled_from(sorted(schemes)), st.lists(TEXTS, max_size=2), min_size=1)
        more["security"] = some(named)
    extension = record({"uri": URLS}, description=TEXTS, required=SWITCHES, params=STRUCTS)
    capabilities = record(
        {},
        streaming=SWITCHES,
        pushNotifications=SWITCHES,
        stateTransitionHistory=SWITCHES,
        extensions=st.lists(extension, max_size=2),
    )
    transports = st.sampled_from(["JSONRPC", "HTTP+JSON", "GRPC"])
    card = draw(
        record(
            {
                **_COMMON,
                "url": URLS,
                "protocolVersion": st.sampled_from(["0.3.0", "0.3"]),
                "capabilities": capabilities,
                "skills": _skills(**({"security": more["security"]} if more else {})),
            },
            **_LINKS,
            **more,
            preferredTransport=transports,
            additionalInterfaces=st.lists(record({"url": URLS, "transport": transports}), max_size=2),
            supportsAuthenticatedExtendedCard=SWITCHES,
            signatures=some(_SIGNATURES),
        )
    )
    return {**card, "securitySchemes": schemes} if schemes else card
