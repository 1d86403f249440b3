"""The TypedDicts of the core say what the schemas say: the same members, the same ones required, all the way down."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict
from urllib.parse import urldefrag, urljoin

import pytest

from agentsuite_schemas import _store, load
from hatch_agentsuite import document_types, documents

TYPES = {
    "agentsuite/suite": document_types.Suite,
    "agentsuite/agent": document_types.Agent,
    "agentsuite/eval-index": document_types.EvalIndex,
    "agentsuite/eval-case": document_types.EvalCase,
    "agentsuite/tool-provider-catalog": document_types.ToolProviderCatalog,
    "agentsuite/tool-provider": document_types.ToolProvider,
    "agentsuite/composition": document_types.Composition,
    "agentsuite/tool-provider-composition": document_types.ToolProviderComposition,
    "agentsuite/build-profile": document_types.BuildProfile,
    "agentsuite/sandbox-binding": document_types.SandboxBinding,
    "hatch/metadata-files": document_types.MetadataFiles,
}
SCALARS = {"string": str, "integer": int, "boolean": bool}
COMPARED: set[type] = set()


def resolved(schema: dict[str, Any], base: str) -> tuple[dict[str, Any], str]:
    while "$ref" in schema:
        base, fragment = urldefrag(urljoin(base, schema["$ref"]))
        schema = _store.resources("packed")[base]["$defs"][fragment.removeprefix("/$defs/")]
    return schema, base


def compare(kind: Any, schema: dict[str, Any], base: str, at: str) -> None:
    schema, base = resolved(schema, base)
    if is_typeddict(kind):
        COMPARED.add(kind)
        hints = get_type_hints(kind)
        assert hints.keys() == schema["properties"].keys(), at
        assert kind.__required_keys__ == set(schema["required"]), at
        for name, part in schema["properties"].items():
            compare(hints[name], part, base, f"{at}/{name}")
    elif get_origin(kind) is list:
        assert schema["type"] == "array", at
        compare(get_args(kind)[0], schema["items"], base, f"{at}/*")
    elif get_origin(kind) is Literal:
        assert list(get_args(kind)) == schema.get("enum", [schema.get("const")]), at
    elif "const" in schema:
        assert kind is type(schema["const"]), at
    else:
        assert kind is SCALARS[schema["type"]], at


@pytest.mark.parametrize("name", TYPES)
def test_a_typed_dict_equals_its_schema(name: str) -> None:
    compare(TYPES[name], load(name), _store.uri(name), name)


def test_no_typed_dict_is_left_over() -> None:
    for name, kind in TYPES.items():
        compare(kind, load(name), _store.uri(name), name)
    public = {value for name, value in vars(document_types).items() if is_typeddict(value) and not name.startswith("_")}
    assert public - COMPARED == {document_types.Document}


def test_each_media_type_has_the_schema_that_fixes_it() -> None:
    for media_type, name in documents.SCHEMAS.items():
        assert load(name)["properties"]["mediaType"]["const"] == media_type
    assert set(documents.SCHEMAS.values()) == {name for name in TYPES if name.startswith("agentsuite/")}
    assert load("agentsuite/common")["$defs"]["schemaVersion"]["const"] == documents.SCHEMA_VERSION
    files = load("hatch/metadata-files")["properties"]["mediaType"]["const"]
    assert files == documents.FILES_MEDIA_TYPE
    index, manifest = load("oci/image-index"), load("oci/image-manifest")
    assert index["properties"]["mediaType"]["const"] == documents.IMAGE_INDEX_MEDIA_TYPE
    assert manifest["properties"]["mediaType"]["const"] == documents.IMAGE_MANIFEST_MEDIA_TYPE
    assert manifest["properties"]["artifactType"]["const"] == documents.ARTIFACT_TYPE
    parts = {name: part["properties"]["mediaType"]["const"] for name, part in manifest["$defs"].items()}
    assert parts == {
        "configDescriptor": documents.EMPTY_CONFIG_MEDIA_TYPE,
        "layerDescriptor": documents.CONTENT_LAYER_MEDIA_TYPE,
    }


def test_documents_import_nothing_heavy() -> None:
    code = (
        "import sys, hatch_agentsuite.documents\n"
        "heavy = {'jsonschema', 'jsonschema_rs', 'yaml', 'rfc8785', 'rich', 'click', 'agentsuite_schemas'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
