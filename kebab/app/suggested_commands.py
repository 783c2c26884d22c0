"""Builds command lines: of a search, a list or a grep, and one that finds a lost document."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kebab.search.explain_matches import list_active_filters, remove_conditions
from kebab.wire.filters import FilteredRequest, UnmatchedFilter
from kebab.wire.grep import GrepRequest
from kebab.wire.library import ListRequest
from kebab.wire.search import MAX_LIMIT, SearchRequest

if TYPE_CHECKING:
    from kebab.core.ids import DocId
    from kebab.core.queries import Filters
    from kebab.search.explain import DocumentExplanation
    from kebab.search.explain_verdict import Remedy
    from kebab.search.query_operators import Phrase
    from kebab.search.query_parser import ParsedQuery


_LIST_FLAGS = {
    "tag": "--tag",
    "lang": "--lang",
    "media": "--type",
    "source": "--source",
    "author": "--author",
}
_VALUE_FLAGS = {
    "mode": "--mode",
    "limit": "--limit",
    "path_glob": "--path",
    "doc_id": "--doc-id",
    "folder": "--in",
    "links_to": "--links-to",
    "since": "--since",
    "until": "--until",
    "per_doc": "--per-doc",
    "detail": "--detail",
    "max_tokens": "--max-tokens",
    "min_confidence": "--min-confidence",
}

_GREP_SWITCHES = {
    "fixed": "--fixed",
    "ignore_case": "--ignore-case",
    "word": "--word",
    "files_only": "--files",
    "count_only": "--count",
}
_GREP_NUMBERS = {"before": "--before", "after": "--after", "max_count": "--max-count"}


def format_search_command(request: SearchRequest) -> str:
    """Return the command line of a request, without flags that have their default value."""
    words = ["kebab", "search", *_list_flags(request, SearchRequest(query=""))]
    words += [word for query in request.queries for word in ("--query", query)]
    if request.query or not request.queries:
        words += [*(["--"] if request.query.startswith("-") else []), request.query]
    return shlex.join(words)


def _list_flags(request: FilteredRequest, default: FilteredRequest) -> list[str]:
    """Return the flags of the fields in which a request differs from another of its kind."""
    words: list[str] = []
    for field, flag in _VALUE_FLAGS.items():
        value = getattr(request, field, None)
        if value not in (None, getattr(default, field, None)):
            words += [flag, str(value)]
    if getattr(request, "rerank", None):
        words.append("--rerank")
    for field, flag in _LIST_FLAGS.items():
        words += [word for value in getattr(request, field) for word in (flag, value)]
    return words


def suggest_filters(request: FilteredRequest, unmatched: Sequence[UnmatchedFilter]) -> str | None:
    """Return the command with the nearest values that exist, or without the filter in the way.

    The result is None when the text of the query sets the filter.
    """
    fields: dict[str, Any] = {}
    for one in unmatched if unmatched and not unmatched[0].documents else unmatched[-1:]:
        given = fields.get(one.filter, getattr(request, one.filter))
        if not given:
            return None
        nearest = one.nearest[:1]
        if isinstance(given, list):
            kept = [value for value in given if value != one.value and not one.documents]
            fields[one.filter] = list(dict.fromkeys([*kept, *nearest]))
        else:
            fields[one.filter] = nearest[0] if nearest else None
    if not fields:
        return None
    changed = msgspec.structs.replace(request, **fields)
    if isinstance(changed, SearchRequest):
        return format_search_command(changed)
    if isinstance(changed, ListRequest):
        return shlex.join(["kebab", "list", *_list_flags(changed, ListRequest())])
    return _format_grep_command(changed) if isinstance(changed, GrepRequest) else None


def _format_grep_command(request: GrepRequest) -> str:
    """Return the command line of a request, without flags that have their default value."""
    words = [flag for field, flag in _GREP_SWITCHES.items() if getattr(request, field)]
    for field, flag in _GREP_NUMBERS.items():
        words += [flag, str(value)] if (value := getattr(request, field)) else []
    flags = _list_flags(request, GrepRequest(pattern=request.pattern))
    return shlex.join(["kebab", "grep", *words, *flags, "--", request.pattern, *request.paths])


def suggest_command(
    kind: "Remedy | None", explained: "DocumentExplanation", request: SearchRequest, doc: "DocId"
) -> str | None:
    """Return the command that would find a document; None when there is none."""
    if kind is None:
        return None
    if kind == "mend":
        hints = [channel.hint for channel in explained.degraded if channel.hint]
        if hints:
            return hints[0]
        kind = "hybrid" if request.mode == "vector" else "within"
    return _COMMANDS[kind](explained, request, doc)


def _raise_limit(explained: "DocumentExplanation", request: SearchRequest, _: "DocId") -> str:
    best = explained.best
    return _format_changed(request, limit=min(MAX_LIMIT, best.hit_rank or 1 if best else 1))


def _remove_conditions(explained: "DocumentExplanation", request: SearchRequest, _: "DocId") -> str:
    """Return the search without the conditions that exclude a document, in flags and text."""
    flags = {condition.filter for condition in explained.removed if condition.filter}
    fields: dict[str, Any] = {
        name: _EMPTY_FILTERS[name] for name in flags if getattr(request, name)
    }
    remaining = remove_conditions(explained.parsed, explained.removed)
    if len(fields) < len(explained.removed):
        fields["query"] = _format_query(remaining) or request.query
        fields |= _list_text_filters(remaining.filters, request)
    rank = explained.best.hit_rank if explained.best else None
    fields["limit"] = min(MAX_LIMIT, max(request.limit, rank or 1))
    return _format_changed(request, **fields)


def _format_query(parsed: "ParsedQuery") -> str:
    """Return a parsed query as text, without its filters."""
    required = [text for text in map(_quote_phrase, parsed.required) if text not in parsed.plain]
    excluded = [f"-{_quote_phrase(phrase)}" for phrase in parsed.excluded]
    return " ".join(filter(None, (parsed.plain, *required, *excluded)))


def _quote_phrase(phrase: "Phrase") -> str:
    return f'{phrase.column}:"{phrase.text}"' if phrase.column else f'"{phrase.text}"'


def _list_text_filters(filters: "Filters", request: SearchRequest) -> dict[str, Any]:
    """Return the filters that only the text of a query sets, as fields of a request."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in list_active_filters(filters).items()
        if not getattr(request, name)
    }


def _search_document(_: "DocumentExplanation", request: SearchRequest, doc: "DocId") -> str:
    return _format_changed(request, doc_id=doc)


def _format_changed(request: SearchRequest, **fields: Any) -> str:
    return format_search_command(msgspec.structs.replace(request, **fields))


_EMPTY_FILTERS: Mapping[str, Any] = {
    **{key: [] for key in ("tag", "lang", "media", "source", "author")},
    **dict.fromkeys(("path_glob", "doc_id", "folder", "links_to", "since", "until")),
}
_COMMANDS: Mapping[str, "Callable[[DocumentExplanation, SearchRequest, DocId], str]"] = {
    "limit": _raise_limit,
    "loosen": _remove_conditions,
    "within": _search_document,
    "per_doc": lambda _, request, __: _format_changed(request, per_doc=None),
    "confidence": lambda _, request, __: _format_changed(request, min_confidence="weak"),
    "hybrid": lambda _, request, __: _format_changed(request, mode="hybrid"),
    "copies": lambda *_: "kebab dupes --exact",
    "ingest": lambda *_: "kebab ingest",
    "inspect": lambda _, __, doc: shlex.join(["kebab", "inspect", "doc", doc]),
}
