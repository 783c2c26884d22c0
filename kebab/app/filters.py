"""Converts filters to those of a snapshot, and explains filters that nothing passes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.app.document_names import make_absolute
from kebab.app.links import find_backlinks, find_link_target
from kebab.app.references import ReferenceFinder
from kebab.core.media import list_media_types, list_type_names
from kebab.core.queries import Filters
from kebab.search.explain_matches import list_active_filters
from kebab.search.nearest import MAX_NEAREST, find_nearest, find_nearest_globs
from kebab.text.globs import list_readings
from kebab.wire.filters import FilteredRequest, UnmatchedFilter
from kebab.wire.library import NotFound

if TYPE_CHECKING:
    from kebab.app.context import AppContext
    from kebab.core.documents import Source
    from kebab.store.sqlite.filter_values import FilterValues
    from kebab.store.sqlite.reader import SqliteReader

_LISTS = ("tag", "lang", "media", "source", "author")


def resolve_filters(context: "AppContext", reader: "SqliteReader", filters: Filters) -> Filters:
    """Return filters that name sources, paths, types and documents as the snapshot does.

    A path filter means the first of its readings that any document passes; a value that names
    nothing stays as it is. Every channel gets the result, so that all agree.
    """
    if filters.media:
        types = tuple(name for value in filters.media for name in list_media_types(value))
        filters = replace(filters, media=types)
    if not (filters.path_glob or filters.source or filters.doc_id or filters.links_to):
        return filters
    values = context.build_filter_values(reader)
    if filters.source:
        sources = values.list_sources()
        names = [name for value in filters.source for name in resolve_source_names(value, sources)]
        filters = replace(filters, source=tuple(dict.fromkeys(names)))
    if filters.doc_id:
        found = context.build_catalogue(reader).resolve_document(filters.doc_id)
        if isinstance(found, str):
            filters = replace(filters, doc_id=found)
    if filters.links_to:
        filters = _resolve_links(context, reader, filters)
    if filters.path_glob:
        filters = replace(filters, path_glob=_resolve_path(filters, values))
    return filters


def _resolve_links(context: "AppContext", reader: "SqliteReader", filters: Filters) -> Filters:
    """Return the filters with the documents that link to the one that `links_to` names."""
    catalogue = context.build_catalogue(reader)
    target = ReferenceFinder(catalogue, chunks=False).find(str(filters.links_to))
    if isinstance(target, NotFound) or not target.doc_id:
        doc_id = find_link_target(catalogue, str(filters.links_to))
    else:
        doc_id = target.doc_id
    if doc_id is None:
        return filters
    linking = find_backlinks(catalogue, doc_id)
    return replace(filters, links_to=doc_id, linking=tuple(linking))


def _resolve_path(filters: Filters, values: "FilterValues") -> str:
    pattern = filters.path_glob or ""
    readings = list_readings(pattern, get_working_folder())
    for reading in readings:
        if values.has_documents(Filters(path_glob=reading, source=filters.source)):
            return reading
    return pattern


def get_working_folder() -> str:
    """Return the working folder; the root when it was deleted."""
    try:
        return str(Path.cwd())
    except OSError:
        return "/"


def resolve_source_names(value: str, sources: "Sequence[Source]") -> list[str]:
    """Return the names of the sources that a name, a path or the end of a path means."""
    if any(source.name == value for source in sources):
        return [value]
    path = make_absolute(value)
    end = f"/{value.strip('/')}"
    at_path = [source.name for source in sources if source.root == path]
    below = [source.name for source in sources if source.root.endswith(end)]
    folded = [one.name for one in sources if one.root.casefold().endswith(end.casefold())]
    return at_path or below or folded or [value]


def explain_filters(
    context: "AppContext", reader: "SqliteReader", filters: Filters, request: FilteredRequest
) -> list[UnmatchedFilter]:
    """Return the filters that no document passes, with the nearest values that exist.

    When a document passes each filter alone, the result is the smallest combination that none
    passes. `filters` are those that were searched with, `request` has them as they were given.
    """
    values = context.build_filter_values(reader)
    active = list_active_filters(filters)
    base = Filters(linking=filters.linking)
    counts = {
        name: values.count_documents(replace(base, **{name: active[name]})) for name in active
    }
    if not any(counts.values()) and not values.has_documents(Filters()):
        return []
    if alone := [name for name, count in counts.items() if not count]:
        return [
            one for name in alone for one in _explain_alone(name, active[name], values, request)
        ]
    return [
        UnmatchedFilter(
            filter=name,
            value=_format_value(name, active[name], request),
            documents=counts[name],
            nearest=[],
        )
        for name in _find_empty_combination(base, active, values)
    ]


def _find_empty_combination(
    base: Filters, active: Mapping[str, Any], values: "FilterValues"
) -> tuple[str, ...]:
    """Return the first of the smallest combinations of filters that no document passes."""
    for size in range(2, len(active) + 1):
        for names in combinations(active, size):
            if not values.has_documents(replace(base, **{name: active[name] for name in names})):
                return names
    return ()


def _format_value(name: str, value: Any, request: FilteredRequest) -> str:
    given = getattr(request, name) or value
    return given if isinstance(given, str) else ", ".join(map(str, given))


def _explain_alone(
    name: str, value: Any, values: "FilterValues", request: FilteredRequest
) -> Iterator[UnmatchedFilter]:
    """Yield an entry for each value of a filter that no document passes."""
    for one in value if name in _LISTS else [_format_value(name, value, request)]:
        yield UnmatchedFilter(
            filter=name, value=one, documents=0, nearest=_find_nearest_values(name, one, values)
        )


def _find_nearest_values(name: str, value: str, values: "FilterValues") -> list[str]:
    match name:
        case "path_glob":
            return find_nearest_globs(value, values.list_values(name))
        case "source":
            names = [source.name for source in values.list_sources()]
            return _find_nearest_sources(value, names) or names[:MAX_NEAREST]
        case "since" | "until":
            return _find_nearest_date(name, values)
        case "folder":
            return _find_nearest_sources(value, [one.name for one in values.list_sources()])
        case "doc_id" | "links_to":
            return find_nearest(value, values.list_values("path_glob"))
        case _:
            return _find_nearest_words(name, value, values.list_values(name))


def _find_nearest_words(name: str, value: str, existing: "Sequence[str]") -> list[str]:
    """Return existing values that are most like a value; media types by their short names."""
    words = list_type_names(existing) if name == "media" else {one: one for one in existing}
    near = [words[word] for word in find_nearest(value, words)]
    return list(dict.fromkeys(near or words.values()))[:MAX_NEAREST]


def _find_nearest_sources(value: str, names: "Sequence[str]") -> list[str]:
    """Return the sources whose folders are most like a value, or are above it."""
    path = make_absolute(value)
    above = [name for name in names if path.startswith(f"{name.rstrip('/')}/")]
    by_end = {Path(name).name: name for name in names}
    near = [by_end[end] for end in find_nearest(Path(value).name, by_end)]
    return list(dict.fromkeys((*above, *near)))[:MAX_NEAREST]


def _find_nearest_date(name: str, values: "FilterValues") -> list[str]:
    """Return the day of the newest file for `since`, the day after the oldest for `until`."""
    found = values.get_time_range()
    if found is None:
        return []
    oldest, newest = (datetime.fromtimestamp(seconds).date() for seconds in found)  # noqa: DTZ006 - days are local, as in filters
    return [str(newest if name == "since" else oldest + timedelta(days=1))]
