"""Looking documents and passages up by id, by the beginning of one, or by path."""

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kebab.app.compose import Workshop
from kebab.core.ids import ChunkId, DocId
from kebab.core.library import Ambiguous
from kebab.text.normalize import escape_undecodable
from kebab.wire.library import LookupFault, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kebab.store.sqlite.catalogue import Catalogue


@contextmanager
def opened(shop: Workshop) -> "Iterator[Catalogue]":
    """Yield what looks things up in one snapshot."""
    with shop.reader() as reader:
        yield shop.catalogue(reader)


def document_id(catalogue: "Catalogue", name: str) -> DocId | NotFound:
    """Return the document meant by an id, a path within a source, or a path from here."""
    name = escape_undecodable(name)
    found = catalogue.resolve_document(name) or catalogue.resolve_document(_absolute(name))
    if isinstance(found, str):
        return found
    return not_found(name, "document", found)


def chunk_id(catalogue: "Catalogue", name: str) -> ChunkId | NotFound:
    """Return the passage meant by an id."""
    name = escape_undecodable(name)
    found = catalogue.resolve_chunk(name)
    if isinstance(found, str):
        return found
    return not_found(name, "passage", found)


def not_found(name: str, what: str, ambiguous: Ambiguous | None = None) -> NotFound:
    """Return that nothing, or more than one thing, goes by this name."""
    candidates = list(ambiguous.candidates) if ambiguous else []
    message = f"several {what}s go by this name" if ambiguous else f"no such {what}: {name}"
    fault = LookupFault(
        kind="ambiguous" if ambiguous else "not_found",
        message=message,
        retryable=False,
        candidates=candidates,
    )
    return NotFound(name=name, found=False, error=fault)


def _absolute(name: str) -> str:
    if "\0" in name:
        return name
    return os.path.realpath(os.path.expanduser(name))  # noqa: PTH111 - a name, perhaps no path
