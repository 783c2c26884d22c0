"""Lists the names that a shell can complete: tags, documents, sources, models, sessions, codes."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from kebab.app.context import AppContext
from kebab.config.settings import Settings
from kebab.core.queries import Filters
from kebab.text.names import join_name, read_names

NameKind: TypeAlias = Literal[
    "authors",
    "codes",
    "documents",
    "languages",
    "media",
    "models",
    "schemas",
    "sessions",
    "sources",
    "tags",
]

MAX_NAMES = 500
"""The most names that are returned; a shell shows no more at once."""


def list_names(settings: Settings, config_path: Path, kind: NameKind, prefix: str) -> list[str]:
    """Return the names of a kind that begin with a prefix, sorted.

    Raises:
        NotIndexed: The names are in the knowledge base, and there is none.
    """
    context = AppContext(settings, config_path=config_path, read_only=True)
    try:
        names = {name for name in _SOURCES[kind](context) if name.startswith(prefix)}
        if kind == "documents" and not names:
            names = set(_list_named(context, join_name(prefix)))
    finally:
        context.close()
    return sorted(names)[:MAX_NAMES]


def list_bases(settings: Settings, config_path: Path) -> list[str]:
    """Return the names of the published bases that are searched too."""
    context = AppContext(settings, config_path=config_path, read_only=True)
    return [base.name for base in context.bases.load().bases] if context.has_bases else []


def _list_document_values(field: str) -> Callable[[AppContext], Iterable[str]]:
    """Return a function that lists the values of a field, which may be lists, of every document."""

    def list_values(context: AppContext) -> list[str]:
        with context.open_catalogue() as catalogue:
            documents = catalogue.list_documents(Filters(), limit=-1).documents
        values = [getattr(document, field) for document in documents]
        lists = ([value] if isinstance(value, str) else value or () for value in values)
        return list(filter(None, chain.from_iterable(lists)))

    return list_values


def _list_named(context: AppContext, start: str) -> Iterator[str]:
    """Yield the paths of the documents of which a file name, title or alias begins with letters."""
    with context.open_catalogue() as catalogue:
        targets = catalogue.list_link_targets()
    for _, _, path, title, aliases in targets if start else ():
        names = read_names(path, title, aliases).weights
        if any(join_name(name).startswith(start) for name in names):
            yield path


def _list_models(_: AppContext) -> list[str]:
    from kebab.embed.registry import MODELS

    return ["auto", *(model.key for model in MODELS)]


def _list_codes(_: AppContext) -> list[str]:
    from kebab.errors.catalog import build_catalog

    return list(build_catalog())


def _list_schemas(_: AppContext) -> list[str]:
    from kebab.wire.json_schema import list_schema_names

    return list_schema_names()


_SOURCES: dict[NameKind, Callable[[AppContext], Iterable[str]]] = {
    "authors": _list_document_values("authors"),
    "codes": _list_codes,
    "documents": _list_document_values("path"),
    "languages": _list_document_values("lang"),
    "media": _list_document_values("media"),
    "models": _list_models,
    "schemas": _list_schemas,
    "sessions": lambda context: [one.name for one in context.session_store.list_sessions()],
    "sources": _list_document_values("source"),
    "tags": _list_document_values("tags"),
}
