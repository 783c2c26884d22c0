"""The facade: one method for each operation, which returns the object that `--json` prints."""

from pathlib import Path
from typing import TYPE_CHECKING, Self

from kebab.app.context import AppContext
from kebab.app.maintenance import MaintenanceOperations
from kebab.app.review_operations import ReviewOperations
from kebab.config.settings import Settings
from kebab.core.progress import ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from kebab.app.ask import AnswerCallback
    from kebab.app.embedders import Embedders
    from kebab.config.load import SettingsReport
    from kebab.wire.ask import (
        Answer,
        AskRequest,
        SessionList,
        SessionListRequest,
        SessionRemoved,
        SessionRmRequest,
        SessionShowRequest,
        SessionTranscript,
    )
    from kebab.wire.fetch import FetchList, FetchRequest
    from kebab.wire.grep import GrepRequest, GrepResponse
    from kebab.wire.library import (
        ChunkInspection,
        DocInspection,
        DocList,
        FetchChunkRequest,
        FetchDocRequest,
        FetchResult,
        FetchSpanRequest,
        InspectChunkRequest,
        InspectDocRequest,
        ListRequest,
        NotFound,
    )
    from kebab.wire.outline import Outline, OutlineRequest
    from kebab.wire.path_explanation import ExplainPathsRequest, PathExplanations
    from kebab.wire.rank import RankRequest, RankResult
    from kebab.wire.related import DupesRequest, Duplicates, RelatedDocs, RelatedRequest
    from kebab.wire.search import SearchRequest, SearchResponse
    from kebab.wire.why import Explanation, WhyRequest


class Kebab(MaintenanceOperations, ReviewOperations):
    """One knowledge base. Stores and models are opened when a method first needs them.

    Use it as a context manager, or call `close`. Each method takes the request record of its
    operation, as `kebab.wire.operations` declares it, and returns a reply record. Long operations
    also take `report`, which receives events, and `cancel`, which stops them. Every method raises
    the signals of `kebab.errors.catalog`, and imports the module that does its work on first use.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        config_path: Path,
        read_only: bool = False,
        report: "SettingsReport | None" = None,
        embedders: "Embedders | None" = None,
    ) -> None:
        """Open nothing yet.

        With `report` invalid settings are findings instead of errors; `embedders` are the models
        of another knowledge base with the same settings.
        """
        self._context = AppContext(
            settings,
            config_path=config_path,
            read_only=read_only,
            report=report,
            embedders=embedders,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the stores that stay open between calls."""
        self._context.close()

    def search(self, request: "SearchRequest") -> "SearchResponse":
        """Return one page of hits."""
        from kebab.app.search import search

        return search(self._context, request)

    def grep(self, request: "GrepRequest") -> "GrepResponse":
        """Return the lines of the indexed files that match a pattern."""
        from kebab.app.grep import grep

        return grep(self._context, request)

    def ask(self, request: "AskRequest", *, report: "AnswerCallback" = lambda _: None) -> "Answer":
        """Return an answer with its citations, or a refusal.

        `report` receives every event except `final` and `error`. After the first token a
        `KeyboardInterrupt` stops the server and returns the answer so far as a refusal,
        `llm_stream_aborted`.
        """
        from kebab.app.ask import ask

        return ask(self._context, request, report)

    def related(self, request: "RelatedRequest") -> "RelatedDocs | NotFound":
        """Return the most similar documents."""
        from kebab.app.related import find_related

        return find_related(self._context, request)

    def why(self, request: "WhyRequest") -> "Explanation | NotFound":
        """Explain why a search finds a document, or at which stage it loses it."""
        from kebab.app.why import explain_search

        return explain_search(self._context, request)

    def dupes(
        self, request: "DupesRequest", *, report: ProgressCallback = ignore_progress
    ) -> "Duplicates":
        """Return a page of groups of copies."""
        from kebab.app.dupes import find_duplicates

        return find_duplicates(self._context, request, report)

    def rank(self, request: "RankRequest") -> "RankResult":
        """Return lines, the one that fits the query best first."""
        from kebab.app.rank import rank_lines

        return rank_lines(self._context, request)

    def list(self, request: "ListRequest") -> "DocList":
        """Return a part of the list of documents."""
        from kebab.app.library import list_documents

        return list_documents(self._context, request)

    def inspect_doc(self, request: "InspectDocRequest") -> "DocInspection | NotFound":
        """Return everything that the library holds about a document."""
        from kebab.app.library import inspect_doc

        return inspect_doc(self._context, request)

    def inspect_chunk(self, request: "InspectChunkRequest") -> "ChunkInspection | NotFound":
        """Return everything that the library holds about a passage."""
        from kebab.app.library import inspect_chunk

        return inspect_chunk(self._context, request)

    def outline(self, request: "OutlineRequest") -> "Outline | NotFound":
        """Return the headings of a document, or the tree of a folder."""
        from kebab.app.outline import outline

        return outline(self._context, request)

    def fetch(self, request: "FetchRequest") -> "FetchList":
        """Return the lines that references name."""
        from kebab.app.fetch_references import fetch_references

        return fetch_references(self._context, request)

    def fetch_chunk(self, request: "FetchChunkRequest") -> "FetchResult | NotFound":
        """Return the lines of a passage."""
        from kebab.app.fetch import fetch_chunk

        return fetch_chunk(self._context, request)

    def fetch_doc(self, request: "FetchDocRequest") -> "FetchResult | NotFound":
        """Return a whole file."""
        from kebab.app.fetch import fetch_doc

        return fetch_doc(self._context, request)

    def fetch_span(self, request: "FetchSpanRequest") -> "FetchResult | NotFound":
        """Return lines of a file."""
        from kebab.app.fetch import fetch_span

        return fetch_span(self._context, request)

    def explain_paths(self, request: "ExplainPathsRequest") -> "PathExplanations":
        """Explain why files are in the index or not."""
        from kebab.app.explain_paths import explain_paths

        return explain_paths(self._context, request)

    def session_list(self, _request: "SessionListRequest") -> "SessionList":
        """Return every session."""
        from kebab.app.sessions import list_sessions

        return list_sessions(self._context)

    def session_show(self, request: "SessionShowRequest") -> "SessionTranscript | NotFound":
        """Return a session with its turns."""
        from kebab.app.sessions import show_session

        return show_session(self._context, request)

    def session_rm(self, request: "SessionRmRequest") -> "SessionRemoved | NotFound":
        """Delete sessions; when one does not exist, none is deleted."""
        from kebab.app.sessions import remove_sessions

        return remove_sessions(self._context, request)
