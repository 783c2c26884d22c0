"""Every declared wire object, by its name."""

from types import ModuleType

from msgspec import Struct

from kebab.wire import (
    ask,
    bench,
    error,
    evals,
    golden,
    health,
    ingest,
    library,
    related,
    search,
    why,
)
from kebab.wire.record import Record, Request

_HOMES: tuple[ModuleType, ...] = (
    ask,
    error,
    bench,
    related,
    error,
    evals,
    golden,
    health,
    ingest,
    health,
    library,
    health,
    related,
    search,
    ask,
    why,
)
"""The modules that declare wire objects; one that is missing here is found by its tests."""


def list_records() -> list[type[Struct]]:
    """Return each declared wire object that has a `schema_version`, by its name."""
    found = {form for home in _HOMES for form in vars(home).values() if _is_form(form)}
    return sorted(found, key=lambda form: get_schema_name(form) or "")


def get_schema_name(form: type[Struct]) -> str | None:
    """Return the `schema_version` of a form, or None when it is only a part of others."""
    tag = form.__struct_config__.tag
    return tag if isinstance(tag, str) and "." in tag else None


def _is_form(thing: object) -> bool:
    return (
        isinstance(thing, type)
        and issubclass(thing, Record | Request)
        and get_schema_name(thing) is not None
    )
