"""Translates filters and glob patterns to SQL conditions."""

import fnmatch
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
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
    if filters.tag:
        tags = "SELECT t.doc FROM document_tags t WHERE lower_text(t.tag) IN"
        yield f"d.doc IN ({tags} {_ANY})", [_lower_values(filters.tag)]


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
        yield "path_matches(?, d.path)", [filters.path_glob]
    if filters.source:
        names = to_json(list(filters.source))
        name = "(SELECT s.name FROM sources s WHERE s.source = d.source)"
        yield f"{name} IN {_ANY}", [names]
    if filters.doc_id is not None:
        yield "d.doc_id = ?", [filters.doc_id.lower()]


def _filter_time(filters: Filters) -> Iterable[Condition]:
    if filters.since is not None:
        yield "d.mtime_ns >= ?", [round(filters.since * _NANOSECONDS)]
    if filters.until is not None:
        yield "d.mtime_ns < ?", [round(filters.until * _NANOSECONDS)]


_PARTS: tuple[Callable[[Filters], Iterable[Condition]], ...] = (
    _filter_tag,
    _filter_lang,
    _filter_media,
    _filter_place,
    _filter_time,
)


def lower_text(text: str | None) -> str:
    """Return text in the form that filters compare: composed and case-folded."""
    return normalize("NFC", text or "").casefold()


def _lower_values(values: Iterable[str]) -> str:
    return to_json([lower_text(value) for value in values])


Segments: TypeAlias = tuple[re.Pattern[str] | None, ...]
"""One pattern for each path segment; None matches any number of segments."""


def matches_glob(pattern: str, path: str) -> bool:
    """Return whether the whole path matches the pattern; case matters, Unicode forms do not.

    A pattern that ends in `/` means everything below that folder.
    """
    return _matches_segments(_compile(pattern), normalize("NFC", path).split("/"))


@lru_cache(maxsize=16)
def _compile(pattern: str) -> Segments:
    plain = normalize("NFC", pattern).removeprefix("./")
    if plain.endswith("/"):
        plain += "**"
    parts = plain.split("/")
    if parts[-1] == "**":
        parts.append("*")  # a folder is not below itself
    return tuple(None if part == "**" else re.compile(fnmatch.translate(part)) for part in parts)


def _matches_segments(pattern: Segments, names: list[str]) -> bool:
    """Match name by name; on a mismatch the last `**` takes one more name."""
    part_index = name_index = 0
    star_part, star_name = -1, 0
    while name_index < len(names):
        if part_index < len(pattern) and _matches_name(pattern[part_index], names[name_index]):
            part_index, name_index = part_index + 1, name_index + 1
        elif part_index < len(pattern) and pattern[part_index] is None:
            star_part, star_name = part_index, name_index
            part_index += 1
        elif star_part >= 0:
            star_name += 1
            part_index, name_index = star_part + 1, star_name
        else:
            return False
    return all(part is None for part in pattern[part_index:])


def _matches_name(part: re.Pattern[str] | None, name: str) -> bool:
    return part is not None and part.match(name) is not None
