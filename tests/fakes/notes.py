"""A knowledge base of given texts, one passage for each document or for each text of a list."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kebab.config.settings import Settings
from kebab.wire.library import (
    DocInspection,
    DocList,
    FetchChunkRequest,
    FetchResult,
    InspectDocRequest,
    ListRequest,
)
from kebab.wire.record import NotFound
from tests.fakes import replies
from tests.fakes.facade import FakeKebab

Texts = Mapping[str, Sequence[str]]


class NotesKebab(FakeKebab):
    """Holds passages by document; a path that begins with a language and a slash has it."""

    def __init__(self, texts: Texts, **changes: Any) -> None:
        super().__init__(Settings(), config_path=Path("none"))
        self._texts = texts
        self._changes = changes

    def list(self, request: ListRequest) -> DocList:
        """List every document."""
        assert request.limit is None
        return replies.doc_list(*(self._summary(path) for path in self._texts))

    def inspect_doc(self, request: InspectDocRequest) -> DocInspection | NotFound:
        """Show a document with its passages."""
        name = request.name
        chunks = [
            replies.brief(
                chunk_id=f"{name}#{place}",
                ordinal=place,
                heading_path=["Handbook", "Restoring data"],
            )
            for place in range(len(self._texts[name]))
        ]
        return replies.doc_inspection(document=self._summary(name), chunks=chunks)

    def fetch_chunk(self, request: FetchChunkRequest) -> FetchResult | NotFound:
        """Fetch a passage; each begins at line 1."""
        path, _, place = request.name.rpartition("#")
        text = self._texts[path][int(place)]
        end = text.count("\n") + 1
        return replies.fetch_result(doc_path=path, text=text, start_line=1, end_line=end)

    def _summary(self, path: str) -> Any:
        lang, slash, _ = path.partition("/")
        count = len(self._texts[path])
        return replies.summary(
            **{
                "doc_id": path,
                "doc_path": path,
                "chunk_count": count,
                "lang": lang if slash else "en",
                **self._changes,
            }
        )
