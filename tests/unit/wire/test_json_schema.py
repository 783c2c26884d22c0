import jsonschema
import msgspec

from kebab.wire.json_schema import build_schemas

_DOCUMENTS = build_schemas()


def test_every_schema_is_valid_itself():
    # Most parts are in many documents; each is looked at once.
    parts = {
        msgspec.json.encode(part): part
        for document in _DOCUMENTS.values()
        for part in ({**document, "$defs": {}}, *document.get("$defs", {}).values())
    }
    named = {str(number): part for number, part in enumerate(parts.values())}

    jsonschema.Draft202012Validator.check_schema({"$defs": named})


def _bare(schema, path="$"):
    if isinstance(schema, dict):
        typed = {"properties", "additionalProperties", "$ref", "anyOf", "allOf"} & set(schema)
        if schema.get("type") == "object" and not typed:
            yield path
        for key, value in schema.items():
            yield from _bare(value, f"{path}.{key}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from _bare(value, f"{path}[{index}]")


def test_no_object_is_bare_where_its_shape_is_known():
    allowed = (
        ".properties.details",
        "SchemaDocument.properties.document",
    )

    found = [path for name, one in _DOCUMENTS.items() for path in _bare(one, name)]
    assert [path for path in found if not path.endswith(allowed)] == []


def test_the_details_of_an_error_are_typed_by_its_code():
    validator = jsonschema.Draft202012Validator(_DOCUMENTS["error.v1"])
    error = {
        "schema_version": "error.v1",
        "code": "too_large",
        "message": "m",
        "details": {"what": "file", "size": 3, "limit": 2},
        "hint": None,
        "kind": "quota",
        "operation": "ingest",
        "target": None,
        "retryable": False,
        "retry": "permanent",
        "severity": "error",
        "correlation_id": "c",
        "command": "ingest",
        "timestamp": "t",
        "exit_code": 2,
        "output_format": "json",
    }

    assert validator.is_valid(error)
    assert not validator.is_valid(error | {"details": {"what": "file", "size": "3", "limit": 2}})
    assert not validator.is_valid(error | {"code": "made_up"})
    assert not validator.is_valid({k: v for k, v in error.items() if k != "timestamp"})
