"""Lists the declared wire objects by name, and builds JSON Schema 2020-12 documents of them."""

import dataclasses
import difflib
from importlib import import_module
from typing import Any

import msgspec
from msgspec import Struct

from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Signal
from kebab.wire.health import SchemaDocument
from kebab.wire.record import LookupFault, NotFound, Record, Reply, Request, read_field_docstrings

_MODULES = (
    *("ask", "error", "evals", "fetch", "health", "ingest", "library", "published", "record"),
    *("review", "search", "stream"),
)
"""The modules that declare wire records; a test finds a module that is missing here."""


def list_records() -> list[type[Struct]]:
    """Return each wire record that has a `schema_version`, ordered by it."""
    found = {
        item
        for module in _MODULES
        for item in vars(import_module(f"kebab.wire.{module}")).values()
        if (
            isinstance(item, type)
            and issubclass(item, Record | Request)
            and get_schema_name(item) is not None
        )
    }
    return sorted(found, key=lambda record_type: get_schema_name(record_type) or "")


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
    from kebab.wire.citation import Citation

    schemas = {str(get_schema_name(form)): build_schema(form) for form in list_records()}
    schemas["citation.v1"] = _build_document("citation.v1", Citation, _collect_parts(Citation))
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
    schema = _build_document(str(get_schema_name(form)), form, _collect_parts(form))
    if issubclass(form, Reply):
        schema["required"] = _ENVELOPE
    return schema


def build_detail_schema(signal: type[Signal]) -> Schema:
    """Return the schema of a code's details; one that has a default may be left out.

    `--verbose` adds `chain` to those of any code. Of a code whose message is not public any detail
    may be held back.
    """
    fields = [
        (
            field.name,
            field.type,
            msgspec.NODEFAULT if field.default is dataclasses.MISSING else field.default,
        )
        for field in dataclasses.fields(signal)  # type: ignore[arg-type]
    ]
    form = msgspec.defstruct(f"{signal.__name__}Details", fields, kw_only=True)
    ((_, schema),) = msgspec.json.schema_components([form])[1].items()
    required = {"required": schema["required"] if signal.public else []}
    properties = {**schema["properties"], "chain": _CHAIN}
    return {**schema, **required, "title": form.__name__, "properties": properties}


def _build_document(name: str, form: Any, parts: dict[str, type[Struct]]) -> Schema:
    (root,), components = msgspec.json.schema_components([form], ref_template="#/$defs/{name}")
    for part, schema in components.items():
        _describe(schema, parts[part])
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


def _collect_parts(form: Any) -> dict[str, type[Struct]]:
    """Return every struct that a form is made of, by its name."""
    found: dict[str, type[Struct]] = {}
    waiting = [msgspec.inspect.type_info(form)]
    while waiting:
        info = waiting.pop()
        if isinstance(info, msgspec.inspect.StructType):
            if info.cls.__name__ in found:
                continue
            found[info.cls.__name__] = info.cls
            waiting += [field.type for field in info.fields]
        else:
            inner = [getattr(info, name, None) for name in ("type", "item_type", "value_type")]
            several = [*getattr(info, "types", ()), *getattr(info, "item_types", ())]
            waiting += [one for one in (*inner, *several) if isinstance(one, msgspec.inspect.Type)]
    return found
