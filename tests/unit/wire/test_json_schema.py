import jsonschema
import msgspec

from kebab.wire.json_schema import build_schemas

_DOCUMENTS = build_schemas()


def cut_parts(schema, parts):
    """Collect each part of a schema, in which `true` stands for the parts below it."""
    own = dict(schema)
    for key, value in schema.items():
        if key in ("$defs", "properties"):
            own[key] = dict(enumerate(cut_parts(one, parts) for one in value.values()))
        elif key in ("allOf", "anyOf", "prefixItems"):
            own[key] = [cut_parts(one, parts) for one in value]
        elif key in ("additionalProperties", "if", "items", "then") and isinstance(value, dict):
            own[key] = cut_parts(value, parts)
        elif key in ("description", "title"):
            own[key] = type(value)()
    parts[msgspec.json.encode(own)] = own
    return True


def test_every_schema_is_valid_itself():
    parts: dict[bytes, object] = {}
    for document in _DOCUMENTS.values():
        cut_parts(document, parts)
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
