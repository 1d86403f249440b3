"""A hypothesis strategy for the documents that one of our schemas accepts.

It knows the keywords our schemas use and refuses any other, so that it cannot fall behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urldefrag, urljoin

from hypothesis import strategies as st

from agentsuite_schemas import load, names

Schema = dict[str, Any]
Strategy = st.SearchStrategy[Any]

ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "title", "description"})
TEXT = st.characters(codec="utf-8")
MAX_INTEGER = 2**53 - 1
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | st.text(TEXT, max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(TEXT, max_size=8), inner, max_size=2),
    max_leaves=4,
)
KEYWORDS = {
    "string": {"pattern", "minLength", "maxLength"},
    "integer": {"minimum", "maximum"},
    "array": {"items", "minItems", "maxItems", "uniqueItems"},
    "object": {"properties", "required", "additionalProperties", "propertyNames", "dependentRequired"},
    "boolean": set[str](),
}


class Generator:
    """Makes strategies from schemas; ``accepts`` judges a value by the schema at a URI, where conditions are left."""

    def __init__(self, accepts: Callable[[str, Any], bool]) -> None:
        self._documents = {load(name)["$id"]: load(name) for name in (*names(), "agentsuite/common", "oci/common")}
        self._accepts = accepts
        self._known: dict[str, Strategy] = {}

    def document(self, name: str) -> Strategy:
        root = load(name)
        return self._strategy(root, root["$id"])

    def _strategy(self, schema: Schema, base: str) -> Strategy:
        schema = {keyword: value for keyword, value in schema.items() if keyword not in ANNOTATIONS}
        if "$ref" in schema:
            return self._referenced(urljoin(base, schema.pop("$ref")))
        plain, conditions = self._split(schema)
        options = [self._plain(option, base) for option in self._alternatives(plain, conditions, base)]
        made = st.one_of(options)
        return made.filter(lambda value: self._accepts(base, value)) if conditions else made

    def _referenced(self, uri: str) -> Strategy:
        if uri not in self._known:
            definition = self._definition(uri)
            self._known[uri] = st.deferred(lambda: self._strategy(definition, uri))
        return self._known[uri]

    def _definition(self, uri: str) -> Schema:
        document, fragment = urldefrag(uri)
        definition: Schema = self._documents[document]["$defs"][fragment.removeprefix("/$defs/")]
        return definition

    @staticmethod
    def _split(schema: Schema) -> tuple[Schema, list[Schema]]:
        """Part what a value is made from and the conditions that it has to meet besides."""
        conditions = list(schema.get("allOf", []))
        conditions += [{key: schema[key] for key in ("if", "then", "else") if key in schema}] if "if" in schema else []
        conditions += [{"not": schema["not"]}] if "not" in schema else []
        plain = {key: value for key, value in schema.items() if key not in {"allOf", "if", "then", "else", "not"}}
        return plain, conditions

    def _alternatives(self, plain: Schema, conditions: list[Schema], base: str) -> list[Schema]:
        """Return the plain schema joined with each branch that a condition has to offer."""
        found = [] if any("if" in condition for condition in conditions) else [plain]
        for condition in conditions:
            extra = condition.keys() - ANNOTATIONS
            if extra == {"$ref"}:  # the open descriptors of OCI: a shared part and what is narrower here
                uri = urljoin(base, condition["$ref"])
                found = [self._joined(self._rebased(self._definition(uri), uri), option) for option in found]
            elif extra == {"anyOf"}:
                found = [self._joined(option, branch) for option in found for branch in condition["anyOf"]]
            elif "if" in condition and extra <= {"if", "then", "else"}:
                found.append(self._joined(plain, condition["if"], condition.get("then", {})))
                found += [self._joined(plain, condition["else"])] if "else" in condition else []
            elif extra != {"not"}:
                raise NotImplementedError(f"a condition of {sorted(extra)}")
        return found

    @staticmethod
    def _rebased(schema: Schema, base: str) -> Schema:
        properties = {
            name: {"$ref": urljoin(base, part["$ref"])} if "$ref" in part else part
            for name, part in schema["properties"].items()
        }
        return {**schema, "properties": properties}

    @staticmethod
    def _joined(*schemas: Schema) -> Schema:
        joined: Schema = {}
        for schema in schemas:
            properties = {**joined.get("properties", {}), **schema.get("properties", {})}
            required = [*joined.get("required", []), *schema.get("required", [])]
            joined = {**joined, **schema, "properties": properties, "required": list(dict.fromkeys(required))}
        return joined

    def _plain(self, schema: Schema, base: str) -> Strategy:
        schema = {keyword: value for keyword, value in schema.items() if keyword not in ANNOTATIONS}
        if "const" in schema or "enum" in schema:
            self._expect(schema, {"type", "const", "enum"})
            return st.sampled_from(schema.get("enum", [schema.get("const")]))
        kind = schema.pop("type", "anything")
        if kind == "anything":
            self._expect({k: v for k, v in schema.items() if v}, {"minLength"} if "minLength" in schema else set())
            return ANYTHING
        self._expect(schema, KEYWORDS[kind] | ({"properties", "required"} if kind == "object" else set()))
        made: Strategy = getattr(self, f"_{kind}")(schema, base)
        return made

    @staticmethod
    def _expect(schema: Schema, known: set[str]) -> None:
        if unknown := schema.keys() - known:
            raise NotImplementedError(f"the strategy does not know {sorted(unknown)}")

    def _boolean(self, _schema: Schema, _base: str) -> Strategy:
        return st.booleans()

    def _integer(self, schema: Schema, _base: str) -> Strategy:
        return st.integers(schema.get("minimum", -MAX_INTEGER), schema.get("maximum", MAX_INTEGER))

    def _string(self, schema: Schema, _base: str) -> Strategy:
        low, high = schema.get("minLength", 0), schema.get("maxLength")
        if "pattern" not in schema:
            return st.text(TEXT, min_size=low, max_size=min(high or 30, 30))
        made = st.from_regex(schema["pattern"], alphabet=TEXT)
        return made.filter(lambda text: low <= len(text) <= (high or len(text)))

    def _array(self, schema: Schema, base: str) -> Strategy:
        low = schema.get("minItems", 0)
        unique = repr if schema.get("uniqueItems") else None
        high = min(schema.get("maxItems", low + 2), low + 2)
        return st.lists(self._strategy(schema["items"], base), min_size=low, max_size=high, unique_by=unique)

    def _object(self, schema: Schema, base: str) -> Strategy:
        extra = schema.get("additionalProperties", {})
        if "properties" not in schema:
            return st.dictionaries(st.text(TEXT, max_size=8), self._strategy(extra, base), max_size=2)
        allowed = schema.get("propertyNames", {}).get("enum", schema["properties"])
        absent = {name for name, part in schema["properties"].items() if str(part.get("$ref")).endswith("/absent")}
        members = {
            name: self._strategy(part, base)
            for name, part in schema["properties"].items()
            if name in allowed and name not in absent
        }
        required = set(schema.get("required", []))
        optional = {name: made for name, made in members.items() if name not in required}
        whole = st.fixed_dictionaries({name: members[name] for name in sorted(required)}, optional=optional)
        if "dependentRequired" in schema:
            whole = whole.map(lambda value: self._completed(value, schema["dependentRequired"]))
        if extra is False:
            return whole
        more = st.dictionaries(
            st.text(TEXT, max_size=8).filter(lambda name: name not in schema["properties"]), ANYTHING
        )
        return st.builds(lambda known, unknown: {**unknown, **known}, whole, more)

    @staticmethod
    def _completed(value: dict[str, Any], needs: dict[str, list[str]]) -> dict[str, Any]:
        """Leave out a member that needs one which is not there."""
        return {name: part for name, part in value.items() if value.keys() >= set(needs.get(name, ()))}
