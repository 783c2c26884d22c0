"""Translates filters to SQL conditions."""

import glob
from collections.abc import Callable, Iterable
from typing import TypeAlias
from unicodedata import normalize

from kebab.core.queries import Filters
from kebab.store.sqlite.values import to_json

Condition: TypeAlias = tuple[str, list[str | int]]

_NANOSECONDS = 1_000_000_000
_ANY = "(SELECT value FROM json_each(?))"


def build_condition(filters: Filters) -> Condition:
    """Return the SQL expression for the documents that pass, and its parameters."""
    parts = [condition for build in _PARTS for condition in build(filters)]
    sql = " AND ".join(f"({expression})" for expression, _ in parts) or "1"
    return sql, [value for _, values in parts for value in values]


def build_chunk_key_query(filters: Filters) -> Condition:
    """Return the SQL query for the keys of the chunks that pass, and its parameters."""
    where, values = build_condition(filters)
    documents = f"SELECT d.doc FROM documents d WHERE {where}"  # noqa: S608 - values are bound
    return f"SELECT c.key FROM chunks c WHERE c.doc IN ({documents})", values  # noqa: S608 - as above


def _filter_tag(filters: Filters) -> Iterable[Condition]:
    """Yield the condition of tags; `work` also passes `work/kebab`, which is below it."""
    if filters.tag:
        tags = "SELECT t.doc FROM document_tags t, json_each(?) wanted"
        holds = "instr(lower_text(t.tag) || '/', wanted.value || '/') = 1"
        names = [tag.lstrip("#").rstrip("/") for tag in filters.tag]
        yield f"d.doc IN ({tags} WHERE {holds})", [_lower_values(names)]


def _filter_lang(filters: Filters) -> Iterable[Condition]:
    if filters.lang:
        yield f"lower_text(d.lang) IN {_ANY}", [_lower_values(filters.lang)]


def _filter_media(filters: Filters) -> Iterable[Condition]:
    if filters.media:
        wanted = to_json([lower_text(value).replace("/x-", "/") for value in filters.media])
        full = "replace(lower(d.media), '/x-', '/')"
        short = f"substr({full}, instr({full}, '/') + 1)"
        yield f"{full} IN {_ANY} OR {short} IN {_ANY}", [wanted, wanted]


def _filter_place(filters: Filters) -> Iterable[Condition]:
    if filters.path_glob is not None:
        yield _match_path(filters.path_glob)
    if filters.folder is not None:
        from kebab.text.globs import ALL_BELOW

        yield _match_path(glob.escape(filters.folder.rstrip("/")) + ALL_BELOW)
    if filters.source:
        names = to_json(list(filters.source))
        name = "(SELECT s.name FROM sources s WHERE s.source = d.source)"
        yield f"{name} IN {_ANY}", [names]
    if filters.doc_id is not None:
        yield "d.doc_id = ?", [filters.doc_id.lower()]


def _match_path(pattern: str) -> Condition:
    """Return the condition of a glob; one that begins with `/` is compared with absolute paths."""
    if not pattern.startswith("/"):
        return "path_matches(?, d.path)", [pattern]
    root = "(SELECT rtrim(s.root, '/') FROM sources s WHERE s.source = d.source)"
    return f"path_matches(?, {root} || '/' || d.path)", [pattern]


_MOMENT = "coalesce(d.date_ns, d.mtime_ns)"
"""The date of a document, else the time of its file."""


def _filter_time(filters: Filters) -> Iterable[Condition]:
    if filters.since is not None:
        yield f"{_MOMENT} >= ?", [round(filters.since * _NANOSECONDS)]
    if filters.until is not None:
        yield f"{_MOMENT} < ?", [round(filters.until * _NANOSECONDS)]


def _filter_author(filters: Filters) -> Iterable[Condition]:
    """Yield the condition of authors: a whole name, or whole words of one."""
    if filters.author:
        authors = "SELECT a.doc FROM document_authors a, json_each(?) wanted"
        holds = "instr(' ' || lower_text(a.author) || ' ', ' ' || wanted.value || ' ')"
        yield f"d.doc IN ({authors} WHERE {holds})", [_lower_values(filters.author)]


def _filter_links(filters: Filters) -> Iterable[Condition]:
    if filters.links_to is not None:
        yield f"d.doc_id IN {_ANY}", [to_json(list(filters.linking))]


_PARTS: tuple[Callable[[Filters], Iterable[Condition]], ...] = (
    _filter_tag,
    _filter_lang,
    _filter_media,
    _filter_place,
    _filter_author,
    _filter_links,
    _filter_time,
)


def lower_text(text: str | None) -> str:
    """Return text in the form that filters compare: composed and case-folded."""
    return normalize("NFC", text or "").casefold()


def _lower_values(values: Iterable[str]) -> str:
    return to_json([lower_text(value) for value in values])
