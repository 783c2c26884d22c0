"""Filters as SQL: a condition on the table `documents`, under the name `d`."""

from collections.abc import Callable, Iterable
from typing import TypeAlias
from unicodedata import normalize

from kebab.core.query import Filters
from kebab.store.sqlite.values import as_json

Condition: TypeAlias = tuple[str, list[str | int]]

_NANOSECONDS = 1_000_000_000
_ANY = "(SELECT value FROM json_each(?))"


def condition(filters: Filters) -> Condition:
    """Return the SQL expression that holds for the documents that pass, and its parameters."""
    found = [part for build in _PARTS for part in build(filters)]
    sql = " AND ".join(f"({expression})" for expression, _ in found) or "1"
    return sql, [value for _, values in found for value in values]


def chunk_keys(filters: Filters) -> Condition:
    """Return the SQL query for the keys of the chunks that pass, and its parameters."""
    where, values = condition(filters)
    documents = f"SELECT d.doc FROM documents d WHERE {where}"  # noqa: S608 - values are bound
    return f"SELECT c.key FROM chunks c WHERE c.doc IN ({documents})", values  # noqa: S608 - as above


def _tag(filters: Filters) -> Iterable[Condition]:
    if filters.tag:
        tags = "SELECT t.doc FROM document_tags t WHERE lower_text(t.tag) IN"
        yield f"d.doc IN ({tags} {_ANY})", [_lowered(filters.tag)]


def _lang(filters: Filters) -> Iterable[Condition]:
    if filters.lang:
        yield f"lower_text(d.lang) IN {_ANY}", [_lowered(filters.lang)]


def _media(filters: Filters) -> Iterable[Condition]:
    if filters.media:
        wanted = as_json([lower_text(value).replace("/x-", "/") for value in filters.media])
        full = "replace(lower(d.media), '/x-', '/')"
        short = f"substr({full}, instr({full}, '/') + 1)"
        yield f"{full} IN {_ANY} OR {short} IN {_ANY}", [wanted, wanted]


def _place(filters: Filters) -> Iterable[Condition]:
    if filters.path_glob is not None:
        yield "path_matches(?, d.path)", [filters.path_glob]
    if filters.source:
        names = as_json(list(filters.source))
        name = "(SELECT s.name FROM sources s WHERE s.source = d.source)"
        yield f"{name} IN {_ANY}", [names]
    if filters.doc_id is not None:
        yield "d.doc_id = ?", [filters.doc_id.lower()]


def _time(filters: Filters) -> Iterable[Condition]:
    if filters.since is not None:
        yield "d.mtime_ns >= ?", [round(filters.since * _NANOSECONDS)]
    if filters.until is not None:
        yield "d.mtime_ns < ?", [round(filters.until * _NANOSECONDS)]


_PARTS: tuple[Callable[[Filters], Iterable[Condition]], ...] = (_tag, _lang, _media, _place, _time)


def lower_text(text: str | None) -> str:
    """Return text as filters compare it: composed and without case."""
    return normalize("NFC", text or "").casefold()


def _lowered(values: Iterable[str]) -> str:
    return as_json([lower_text(value) for value in values])
