"""Lists the declared wire objects by name, and builds JSON Schema 2020-12 documents of them."""

import difflib
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import msgspec
from msgspec import Struct

from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Signal
from kebab.wire.health import SchemaDocument
from kebab.wire.record import LookupFault, NotFound, Record, Reply, Request, read_field_docstrings


@cache
def _list_structs() -> dict[str, type[Struct]]:
    """Return every declared structure by the name of its class."""
    names = (module.name for module in iter_modules([str(Path(__file__).parent)]))
    return {
        item.__name__: item
        for name in names
        for item in vars(import_module(f"kebab.wire.{name}")).values()
        if isinstance(item, type) and issubclass(item, Struct)
    }


def list_records() -> list[type[Struct]]:
    """Return each wire record that has a `schema_version`, ordered by it."""
    found = (one for one in _list_structs().values() if issubclass(one, Record | Request))
    return sorted(filter(get_schema_name, found), key=lambda one: get_schema_name(one) or "")


def list_schema_names() -> list[str]:
    """Return the name of every schema, sorted."""
    return sorted({*map(str, map(get_schema_name, list_records())), "citation.v1"})


def get_schema_name(record_type: type[Struct]) -> str | None:
    """Return the `schema_version` of a record, None when it has no schema of its own."""
    tag = record_type.__struct_config__.tag
    return tag if isinstance(tag, str) and "." in tag else None


_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_CHAIN = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Under `--verbose`: the causes, outermost first.",
}
_ENVELOPE = ["command", "timestamp", "exit_code", "output_format"]

Schema = dict[str, Any]


def build_schemas() -> dict[str, Schema]:
    """Return every schema by its name, `citation.v1` included."""
    from kebab.wire.record import Citation

    schemas = {str(get_schema_name(form)): build_schema(form) for form in list_records()}
    schemas["citation.v1"] = _build_document("citation.v1", Citation)
    return dict(sorted(schemas.items()))


def find_schema(name: str) -> SchemaDocument | NotFound:
    """Return the schema with a name; its version can be left out."""
    known = list_schema_names()
    wanted = next((one for one in known if name in (one, one.rpartition(".")[0])), None)
    if wanted is None:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        message = f"no such schema: {name}"
        fault = LookupFault(kind="not_found", message=message, retryable=False, candidates=near)
        return NotFound(name=name, found=False, error=fault)
    return SchemaDocument(name=wanted, document=build_schemas()[wanted])


def build_schema(form: type[Struct]) -> Schema:
    """Return the schema of one wire object; a reply requires its envelope."""
    schema = _build_document(str(get_schema_name(form)), form)
    if issubclass(form, Reply):
        schema["required"] = _ENVELOPE
    return schema


def build_detail_schema(signal: type[Signal]) -> Schema:
    """Return the schema of a code's details; one that has a default may be left out.

    `--verbose` adds `chain` to those of any code. Of a code whose message is not public any detail
    may be held back.
    """
    ((_, schema),) = msgspec.json.schema_components([signal])[1].items()
    required = {"required": schema["required"] if signal.public else []}
    properties = {**schema["properties"], "chain": _CHAIN}
    title = f"{signal.__name__}Details"
    kept = {key: value for key, value in schema.items() if key != "description"}
    return {**kept, **required, "title": title, "properties": properties}


def _build_document(name: str, form: Any) -> Schema:
    (root,), components = msgspec.json.schema_components([form], ref_template="#/$defs/{name}")
    for part, schema in components.items():
        _describe(schema, _list_structs()[part])
    referenced = components.get(str(root.get("$ref", "")).rpartition("/")[2], {})
    title = referenced.get("description") if components else name
    return {
        "$schema": _DIALECT,
        "$id": f"{name}.schema.json",
        "title": name,
        **({"description": title} if title else {}),
        **root,
        "$defs": dict(sorted(components.items())),
    }


def _describe(schema: Schema, form: type[Struct]) -> None:
    texts = read_field_docstrings(form)
    for name, prop in schema["properties"].items():
        if name in texts:
            prop["description"] = texts[name]
    tag = form.__struct_config__
    if tag.tag_field and not issubclass(form, Request):
        schema["required"] = sorted({*schema.get("required", []), tag.tag_field})
    if get_schema_name(form) == "error.v1":
        schema["properties"]["code"]["enum"] = list(build_catalog())
        schema["allOf"] = [
            {
                "if": {"properties": {"code": {"const": code}}, "required": ["code"]},
                "then": {"properties": {"details": build_detail_schema(signal)}},
            }
            for code, signal in build_catalog().items()
        ]
