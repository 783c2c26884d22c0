"""Looks up what the index knows about files under review; a review needs no index."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.core.documents import DocumentName, StoredDocument
from kebab.core.files import is_below
from kebab.core.queries import Filters
from kebab.errors.catalog import IoError, Locked, NotIndexed, StoreCorrupt

if TYPE_CHECKING:
    from kebab.store.sqlite.catalogue import Catalogue

_UNUSABLE = (IoError, Locked, StoreCorrupt)
_FEW_FILES = 20
"""Up to how many documents are looked up one by one."""


class ReviewLibrary:
    """The documents and the sources of the index by their paths on disk."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._lookups = 0

    @contextmanager
    def open(self) -> "Iterator[Catalogue | None]":
        """Yield the catalogue of the index, or None without an index."""
        try:
            reader = self._context.open_reader()
        except NotIndexed:
            yield None
            return
        with reader:
            yield self._context.build_catalogue(reader)

    def find_document(self, path: str) -> StoredDocument | None:
        """Return the document of a file; None when it is unknown or the index is damaged."""
        self._lookups += 1
        try:
            if self._lookups > _FEW_FILES:
                return self._documents.get(path)
            with self.open() as catalogue:
                if catalogue is None:
                    return None
                found = catalogue.resolve_document(path)
                detail = catalogue.load_document(found) if isinstance(found, str) else None
                return detail.summary if detail else None
        except _UNUSABLE:
            return None

    def find_root(self, path: str) -> str | None:
        """Return the folder of the source that contains a file or a folder, the nearest one."""
        above = [root for root in self._roots if root == path or is_below(path, root)]
        return max(above, key=len, default=None)

    @cached_property
    def _documents(self) -> Mapping[str, StoredDocument]:
        with self.open() as catalogue:
            found = catalogue.list_documents(Filters(), limit=-1).documents if catalogue else ()
        return {build_path(one): one for one in found}

    @cached_property
    def _roots(self) -> list[str]:
        try:
            with self._context.open_reader() as reader:
                counted = self._context.build_filter_values(reader).count_sources()
        except (NotIndexed, *_UNUSABLE):
            return []
        return [one.source.root for one in counted if one.source.kind == "folder"]


def build_path(document: StoredDocument | DocumentName) -> str:
    """Return the path of a document on disk."""
    return os.path.join(document.root, document.path)  # noqa: PTH118 - a plain string
