"""Command lines that hints give: a search as a person would type it."""

import shlex

from kebab.wire.search import SearchRequest

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


def search_line(request: SearchRequest) -> str:
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
