"""Reads the filters of requests, resolves them, and explains those that no document passes."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.app.context import AppContext
from kebab.config.settings import is_object_address
from kebab.core.documents import Source
from kebab.core.media import list_type_names
from kebab.core.queries import FILTERS, Filters
from kebab.errors.catalog import InvalidInput
from kebab.text.dates import parse_moment
from kebab.wire.record import Reply, Request
from kebab.wire.search import FilteredRequest, UnmatchedFilter

if TYPE_CHECKING:
    from kebab.store.sqlite.catalogue import Catalogue
    from kebab.store.sqlite.reader import SqliteReader

_MAX_SECONDS = 9_000_000_000.0
"""The limit of file times in nanoseconds, before and after the epoch: about 285 years."""


def require_utf8(request: Request[Reply]) -> None:
    """Refuse a request with bytes that are not UTF-8, because no stored text has any.

    Raises:
        InvalidInput: A field has such bytes.
    """
    for name in request.__struct_fields__:
        try:
            json.dumps(getattr(request, name), ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as fault:
            raise InvalidInput(field=f"$.{name}", cause="not valid UTF-8") from fault


def parse_time(text: str, field: str, now: float) -> float:
    """Return seconds since the epoch for a date, a timestamp, an age, or a period of the calendar.

    An age is `7d` or `2 weeks`, a period is `2024-03` or `last month` and begins with its first
    day. What has no offset is local time. A time beyond the limits of file times is replaced by the
    limit.

    Raises:
        InvalidInput: The text has none of these forms.
    """
    try:
        seconds = parse_moment(text, now)
    except (ValueError, OverflowError) as fault:
        cause = f"not a date, a month, a year, an age such as `7d`, or `last month`: {text}"
        raise InvalidInput(field=field, cause=cause) from fault
    return max(-_MAX_SECONDS, min(_MAX_SECONDS, seconds))


def build_filters(request: FilteredRequest[Reply], now: float) -> Filters:
    """Convert the filters of a request; an empty string is a filter that is left out.

    Raises:
        InvalidInput: A date cannot be read, or a field is not valid UTF-8.
    """
    require_utf8(request)
    values: dict[str, Any] = {}
    for name in FILTERS:
        value = getattr(request, name)
        values[name] = tuple(filter(None, value)) if isinstance(value, list) else value or None
    for name in ("since", "until"):
        if values[name] is not None:
            values[name] = parse_time(values[name], f"$.{name}", now)
    if request.folder:
        values["folder"] = resolve_folder(request.folder)
    return Filters(**values)


def resolve_folder(folder: str) -> str:
    """Return the absolute path of a folder without links, as sources are named.

    Raises:
        InvalidInput: It is no path.
    """
    from kebab.app.references import is_path, make_absolute

    if not folder or not is_path(folder):
        raise InvalidInput(field="$.folder", cause="not a path")
    return make_absolute(folder)


def resolve_filters(context: AppContext, reader: "SqliteReader", filters: Filters) -> Filters:
    """Return filters that name sources, paths and documents as the snapshot does.

    A path filter means the first of its readings that any document passes; a value that names
    nothing stays as it is. Every channel gets the result, so that all agree.
    """
    if not (filters.path_glob or filters.source or filters.doc_id):
        return filters
    values = context.build_catalogue(reader)
    if filters.source:
        sources = values.list_sources()
        names = [name for value in filters.source for name in resolve_source_names(value, sources)]
        filters = replace(filters, source=tuple(dict.fromkeys(names)))
    if filters.doc_id:
        found = values.resolve_document(filters.doc_id)
        if isinstance(found, str):
            filters = replace(filters, doc_id=found)
    if filters.path_glob:
        from kebab.text.filters import list_readings

        excludes = "!" * filters.path_glob.startswith("!")
        pattern = filters.path_glob.removeprefix("!")
        for reading in list_readings(pattern, get_working_folder()):
            if values.count_documents(Filters(path_glob=reading, source=filters.source)):
                filters = replace(filters, path_glob=excludes + reading)
                break
    return filters


def get_working_folder() -> str:
    """Return the working folder; the root when it was deleted."""
    try:
        return str(Path.cwd())
    except OSError:
        return "/"


def resolve_source_names(value: str, sources: Sequence[Source]) -> list[str]:
    """Return the names of the sources that a name, an address, or an end of a path means."""
    if any(source.name == value for source in sources):
        return [value]
    if is_object_address(value):
        from kebab.app.object_sources import name_mirror

        value = name_mirror(value)
    from kebab.app.references import make_absolute

    path = make_absolute(value)
    end = f"/{value.strip('/')}"
    at_path = [source.name for source in sources if source.root == path]
    below = [source.name for source in sources if source.root.endswith(end)]
    folded = [one.name for one in sources if one.root.casefold().endswith(end.casefold())]
    return at_path or below or folded or [value]


def explain_filters(
    context: AppContext, reader: "SqliteReader", filters: Filters, request: FilteredRequest[Reply]
) -> list[UnmatchedFilter]:
    """Return the filters that no document passes, with the nearest values that exist.

    When a document passes each filter alone, the result is all of them. `filters` are those that
    were searched with, `request` has them as they were given.
    """
    values = context.build_catalogue(reader)
    active = filters.list_active()
    counts = {name: values.count_documents(Filters(**{name: active[name]})) for name in active}
    if not any(counts.values()) and not values.count_documents(Filters()):
        return []
    together = all(counts.values())
    if together and values.count_documents(filters):
        return []
    found: list[UnmatchedFilter] = []
    for name in active if together else [name for name, count in counts.items() if not count]:
        given = getattr(request, name) or active[name]
        shown = [", ".join(map(str, given if isinstance(given, list | tuple) else [given]))]
        found += [
            UnmatchedFilter(
                filter=name,
                value=one,
                documents=counts[name],
                nearest=[] if together else _find_nearest_values(name, one, values),
            )
            for one in (active[name] if FILTERS[name].repeats and not together else shown)
        ]
    return found


def _find_nearest_values(name: str, value: str, values: "Catalogue") -> list[str]:
    """Return the existing values that are most like a value; media types by their short names."""
    from kebab.app.references import make_absolute
    from kebab.core.spelling import MAX_NEAREST, find_nearest
    from kebab.text.filters import find_nearest_globs

    existing, near = list[str](), list[str]()
    match FILTERS[name].nearest:
        case "globs":
            return find_nearest_globs(value, values.list_values("path_glob"))
        case "days":
            # The day of the newest file for `since`, the day after the oldest for `until`.
            if (found := values.get_time_range()) is None:
                return []
            oldest, newest = (datetime.fromtimestamp(seconds).date() for seconds in found)  # noqa: DTZ006 - days are local, as in filters
            return [str(newest if name == "since" else oldest + timedelta(days=1))]
        case "paths":
            return find_nearest(value, values.list_values("path_glob"))
        case "sources":
            existing = [source.name for source in values.list_sources()]
            path = make_absolute(value)
            above = [one for one in existing if path.startswith(f"{one.rstrip('/')}/")]
            ends = {Path(one).name: one for one in existing}
            near = [*above, *(ends[one] for one in find_nearest(Path(value).name, ends))]
        case _:
            existing = values.list_values(name)
            words = list_type_names(existing) if name == "media" else {one: one for one in existing}
            near = [words[word] for word in find_nearest(value, words)]
            existing = list(words.values())
    return list(dict.fromkeys(near or existing))[:MAX_NEAREST]


def suggest_nearest(
    call: Sequence[str], request: FilteredRequest[Reply], unmatched: Sequence[UnmatchedFilter]
) -> str | None:
    """Return the call with the nearest value of each filter that no document passes, or without it.

    A filter whose value is like none that exists is left out; the other filters stay. None where
    each filter matches alone, or stands in the query.
    """
    if not unmatched or any(one.documents for one in unmatched):
        return None
    from kebab.core.spelling import find_nearest

    near = {one.filter: find_nearest(one.value, one.nearest, 1) for one in unmatched}
    words = [*call]
    for name, row in FILTERS.items():
        given = getattr(request, name)
        values = given if isinstance(given, list) else [given] * (given not in (None, ""))
        if name in near and not values:
            return None
        for value in near.get(name, values):
            words += [row.flag, str(value)]
    return shlex.join(words)
