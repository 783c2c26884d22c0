"""Builds the JSON Schemas of arguments and results, as short as they can be.

Every model reads the description of all tools with each conversation. So titles, null alternatives,
and what is required inside of parts are left out.
"""

from typing import Any

import msgspec
from msgspec import Struct

from kebab.wire.record import read_field_docstrings

Schema = dict[str, Any]

_ERROR = {"required": ["code"]}
"""What is required of the result of a failed call, which is an `error.v1`."""


def build_input_schema(form: type[Struct]) -> Schema:
    """Return the closed schema of the arguments of a tool; null means left out."""
    schema = _build_object(form)
    schema["additionalProperties"] = False
    return schema


def build_output_schema(form: type[Struct]) -> Schema:
    """Return the open schema of the result of a tool; an `error.v1` matches it too.

    Some clients check the result of a failed call against it.
    """
    schema = _build_object(form)
    schema["anyOf"] = [{"required": schema.pop("required")}, _ERROR]
    return schema


def _build_object(form: type[Struct]) -> Schema:
    components = msgspec.json.schema_components([form], ref_template="{name}")[1]
    whole = components[form.__name__]
    schema = {**_shorten(whole, components), "required": whole["required"]}
    texts = read_field_docstrings(form)
    for name, prop in schema["properties"].items():
        if name in texts:
            prop["description"] = texts[name]
    return {name: schema[name] for name in ("type", "properties", "required") if schema.get(name)}


def _shorten(schema: Schema, components: dict[str, Schema]) -> Schema:
    """Return a schema with its references resolved, and without what a reader does not need."""
    if "$ref" in schema:
        return _shorten(components[schema["$ref"]], components)
    drop = ("title", "description", "maxItems", "minItems", "minimum")
    short = {key: value for key, value in schema.items() if key not in drop}
    if short.get("default", ()) in (None, False, [], {}):
        del short["default"]
    if "enum" in short:
        short = {"type": "string", **short}
    if "anyOf" in short:
        kinds = [one for one in short.pop("anyOf") if one != {"type": "null"}]
        kept = [_shorten(one, components) for one in kinds]
        short = {**(kept[0] if len(kept) == 1 else {"anyOf": kept}), **short}
    if "properties" in short:
        parts = short["properties"].items()
        short["properties"] = {name: _shorten(part, components) for name, part in parts}
        short.pop("required", None)
    for key in ("items", "additionalProperties"):
        if isinstance(short.get(key), dict):
            short[key] = _shorten(short[key], components)
    return short
