"""Translates wire requests into queries and filters of the core."""

import json

from kebab.app.timestamps import parse_time
from kebab.core.query import Filters, Mode, Query
from kebab.errors.catalog import InvalidInput
from kebab.wire.record import Request
from kebab.wire.search import FilteredRequest, SearchRequest


def require_utf8(request: Request, form: type[Request] | None = None) -> None:
    """Refuse a request that holds undecodable bytes: nothing stored can equal them.

    With `form`, a base of the request, only the fields of that base are checked.

    Raises:
        InvalidInput: The first field that does.
    """
    for name in (form or type(request)).__struct_fields__:
        value = getattr(request, name)
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as fault:
            raise InvalidInput(field=f"$.{name}", cause="not valid UTF-8") from fault


def build_query(request: SearchRequest, now: float) -> Query:
    """Return the query that a request means.

    Raises:
        InvalidInput: A date cannot be read, or a text is not valid UTF-8.
    """
    require_utf8(request)
    return Query(
        text=request.query,
        mode=Mode(request.mode),
        limit=request.limit,
        filters=build_filters(request, now),
        per_doc=request.per_doc,
        snippet_chars=request.snippet_chars,
        max_tokens=request.max_tokens,
        trace=request.trace,
    )


def build_filters(request: FilteredRequest, now: float) -> Filters:
    """Return the filters that a request sets.

    Raises:
        InvalidInput: A date cannot be read, or a filter is not valid UTF-8.
    """
    require_utf8(request, FilteredRequest)
    return Filters(
        tag=tuple(request.tag),
        lang=tuple(request.lang),
        media=tuple(request.media),
        path_glob=request.path_glob,
        source=tuple(request.source),
        doc_id=request.doc_id,
        since=None if request.since is None else parse_time(request.since, "$.since", now),
        until=None if request.until is None else parse_time(request.until, "$.until", now),
    )
