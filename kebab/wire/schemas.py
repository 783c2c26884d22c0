"""Every declared wire object, by its name."""

from types import ModuleType

from msgspec import Struct

from kebab.wire import (
    ask,
    bench,
    command_help,
    error,
    evals,
    fetch,
    golden,
    grep,
    health,
    ingest,
    install,
    library,
    opened,
    outline,
    path_explanation,
    rank,
    related,
    review,
    review_runs,
    review_stream,
    search,
    search_stream,
    serve,
    sources,
    watch,
    why,
)
from kebab.wire.record import Record, Request

_MODULES: tuple[ModuleType, ...] = (
    ask,
    bench,
    command_help,
    error,
    evals,
    fetch,
    golden,
    grep,
    health,
    ingest,
    install,
    library,
    opened,
    outline,
    path_explanation,
    rank,
    related,
    review,
    review_runs,
    review_stream,
    search,
    search_stream,
    serve,
    sources,
    watch,
    why,
)
"""The modules that declare wire records; a test finds a module that is missing here."""


def list_records() -> list[type[Struct]]:
    """Return each wire record that has a `schema_version`, ordered by it."""
    found = {
        item for module in _MODULES for item in vars(module).values() if _is_named_record(item)
    }
    return sorted(found, key=lambda record_type: get_schema_name(record_type) or "")


def list_schema_names() -> list[str]:
    """Return the name of every schema, sorted."""
    return sorted({*map(str, map(get_schema_name, list_records())), "citation.v1"})


def get_schema_name(record_type: type[Struct]) -> str | None:
    """Return the `schema_version` of a record, None when it has no schema of its own."""
    tag = record_type.__struct_config__.tag
    return tag if isinstance(tag, str) and "." in tag else None


def _is_named_record(item: object) -> bool:
    return (
        isinstance(item, type)
        and issubclass(item, Record | Request)
        and get_schema_name(item) is not None
    )
