"""Suggests commands: a search as a command line, and what would bring a lost document."""

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kebab.search.explain_matches import active_filters, remove_conditions
from kebab.wire.search import MAX_LIMIT, SearchRequest

if TYPE_CHECKING:
    from kebab.core.ids import DocId
    from kebab.core.queries import Filters
    from kebab.search.explain import DocumentExplanation, Remedy
    from kebab.search.query_parser import ParsedQuery, Phrase


_MANY = {"tag": "--tag", "lang": "--lang", "media": "--media", "source": "--source"}
_ONE = {
    "mode": "--mode",
    "limit": "--limit",
    "path_glob": "--path",
    "doc_id": "--doc-id",
    "since": "--since",
    "until": "--until",
    "per_doc": "--per-doc",
}


def format_search_command(request: SearchRequest) -> str:
    """Return the command that makes a request; flags that change nothing are left out."""
    plain = SearchRequest(query="")
    words = ["kebab", "search"]
    for field, flag in _ONE.items():
        value = getattr(request, field)
        if value != getattr(plain, field):
            words += [flag, str(value)]
    for field, flag in _MANY.items():
        words += [word for value in getattr(request, field) for word in (flag, value)]
    return shlex.join([*words, *(["--"] if request.query.startswith("-") else []), request.query])


def suggest_command(
    kind: "Remedy | None", explained: "DocumentExplanation", request: SearchRequest, doc: "DocId"
) -> str | None:
    """Return the command that would bring a document, None when there is none."""
    if kind is None:
        return None
    if kind == "mend":
        otherwise = "hybrid" if request.mode == "vector" else "within"
        hints = [one.hint for one in explained.degraded if one.hint]
        return hints[0] if hints else _COMMANDS[otherwise](explained, request, doc)
    return _COMMANDS[kind](explained, request, doc)


def _further(explained: "DocumentExplanation", request: SearchRequest, _: "DocId") -> str:
    best = explained.best
    return _changed(request, limit=min(MAX_LIMIT, best.hit_rank or 1 if best else 1))


def _loosened(explained: "DocumentExplanation", request: SearchRequest, _: "DocId") -> str:
    """Return the search without what keeps a document out, flags and text."""
    flags = {one.filter for one in explained.removed if one.filter}
    fields: dict[str, Any] = {name: _UNSET[name] for name in flags if getattr(request, name)}
    left = remove_conditions(explained.parsed, explained.removed)
    if len(fields) < len(explained.removed):
        fields["query"] = _spelled(left) or request.query
        fields |= _stated(left.filters, request)
    place = explained.best.hit_rank if explained.best else None
    fields["limit"] = min(MAX_LIMIT, max(request.limit, place or 1))
    return _changed(request, **fields)


def _spelled(question: "ParsedQuery") -> str:
    """Return a question as a person would type it, filters left out."""
    must = [one for one in map(_quoted, question.required) if one not in question.plain]
    out = [f"-{_quoted(one)}" for one in question.excluded]
    return " ".join(filter(None, (question.plain, *must, *out)))


def _quoted(phrase: "Phrase") -> str:
    return f'{phrase.column}:"{phrase.text}"' if phrase.column else f'"{phrase.text}"'


def _stated(filters: "Filters", request: SearchRequest) -> dict[str, Any]:
    """Return as fields the filters that only the text of a query set."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in active_filters(filters).items()
        if not getattr(request, name)
    }


def _within(_: "DocumentExplanation", request: SearchRequest, doc: "DocId") -> str:
    return _changed(request, doc_id=doc)


def _changed(request: SearchRequest, **fields: Any) -> str:
    return format_search_command(msgspec.structs.replace(request, **fields))


_UNSET: Mapping[str, Any] = {
    **{key: [] for key in ("tag", "lang", "media", "source")},
    **dict.fromkeys(("path_glob", "doc_id", "since", "until")),
}
_COMMANDS: Mapping[str, "Callable[[DocumentExplanation, SearchRequest, DocId], str]"] = {
    "limit": _further,
    "loosen": _loosened,
    "within": _within,
    "per_doc": lambda _, request, __: _changed(request, per_doc=None),
    "hybrid": lambda _, request, __: _changed(request, mode="hybrid"),
    "copies": lambda *_: "kebab dupes --exact",
    "ingest": lambda *_: "kebab ingest",
    "inspect": lambda _, __, doc: shlex.join(["kebab", "inspect", "doc", doc]),
}
