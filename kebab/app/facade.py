"""The facade: one method for each operation, which returns the object that `--json` prints."""

from pathlib import Path
from typing import TYPE_CHECKING, Self

from kebab.app.context import AppContext
from kebab.config.settings import Settings
from kebab.core.progress import Cancel, ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from kebab.app.ask import AnswerCallback
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
    from kebab.wire.error import (
        ErrorAudit,
        ErrorCatalog,
        ErrorsRequest,
        ErrorStats,
        ExplainRequest,
        InspectErrorRequest,
    )
    from kebab.wire.health import (
        Doctor,
        DoctorRequest,
        InitReport,
        InitRequest,
        Introspection,
        ModelList,
        ModelListRequest,
        ModelPullRequest,
        ModelReport,
        ModelUseRequest,
        ResetReport,
        ResetRequest,
        SchemaRequest,
    )
    from kebab.wire.ingest import IngestReport, IngestRequest, IngestTextRequest
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
        RemoveReport,
        RmRequest,
    )
    from kebab.wire.related import DupesRequest, Duplicates, RelatedDocs, RelatedRequest
    from kebab.wire.search import SearchRequest, SearchResponse
    from kebab.wire.why import Explanation, WhyRequest


class Kebab:
    """One knowledge base. Stores and models are opened when a method first needs them.

    Use it as a context manager, or call `close`. Each method takes the request record of its
    operation, as `kebab.wire.operations` declares it, and returns a reply record. Long operations
    also take `report`, which receives events, and `cancel`, which stops them. Every method raises
    the signals of `kebab.errors.catalog`, and imports the module that does its work on first use.
    """

    def __init__(self, settings: Settings, *, config_path: Path, read_only: bool = False) -> None:
        self._context = AppContext(settings, config_path=config_path, read_only=read_only)

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

    def ingest(
        self,
        request: "IngestRequest",
        *,
        report: ProgressCallback = ignore_progress,
        cancel: Cancel | None = None,
    ) -> "IngestReport":
        """Update the index from the files."""
        from kebab.app.ingest import ingest

        return ingest(self._context, request, report, cancel or Cancel())

    def ingest_text(
        self,
        request: "IngestTextRequest",
        *,
        report: ProgressCallback = ignore_progress,
        cancel: Cancel | None = None,
    ) -> "IngestReport":
        """Index a text that is not in a file."""
        from kebab.app.ingest import ingest_text

        return ingest_text(self._context, request, report, cancel or Cancel())

    def rm(self, request: "RmRequest") -> "RemoveReport | NotFound":
        """Remove documents from the index; when one is not found, none is removed."""
        from kebab.app.library import remove_documents

        return remove_documents(self._context, request)

    def reset(self, request: "ResetRequest") -> "ResetReport":
        """Delete everything that kebab created."""
        from kebab.app.reset import reset

        return reset(self._context, request)

    def init(self, request: "InitRequest") -> "InitReport":
        """Write the settings file and create the data directory."""
        from kebab.app.init import init

        return init(self._context, request)

    def model_list(self, _request: "ModelListRequest") -> "ModelList":
        """Return every embedding model."""
        from kebab.app.models import list_models

        return list_models(self._context)

    def model_pull(
        self,
        request: "ModelPullRequest",
        *,
        report: ProgressCallback = ignore_progress,
        cancel: Cancel | None = None,
    ) -> "ModelReport":
        """Download the weights of a model."""
        from kebab.app.models import pull_model

        return pull_model(self._context, request, report, cancel or Cancel())

    def model_use(
        self,
        request: "ModelUseRequest",
        *,
        report: ProgressCallback = ignore_progress,
        cancel: Cancel | None = None,
    ) -> "ModelReport":
        """Change the model of the knowledge base."""
        from kebab.app.models import use_model

        return use_model(self._context, request, report, cancel or Cancel())

    def doctor(self, _request: "DoctorRequest") -> "Doctor":
        """Check the knowledge base and everything that it needs."""
        from kebab.app.doctor import check_health

        return check_health(self._context)

    def schema(self, _request: "SchemaRequest") -> "Introspection":
        """Describe this version and the knowledge base."""
        from kebab.app.schema import describe_build

        return describe_build(self._context)

    def errors(self, request: "ErrorsRequest") -> "ErrorStats":
        """Count the errors of the log."""
        from kebab.app.errors import count_errors

        return count_errors(self._context, request)

    def inspect_error(self, request: "InspectErrorRequest") -> "ErrorAudit | NotFound":
        """Return one error of the log."""
        from kebab.app.errors import inspect_error

        return inspect_error(self._context, request)

    def explain(self, request: "ExplainRequest") -> "ErrorCatalog | NotFound":
        """Explain error codes."""
        from kebab.app.errors import explain_codes

        return explain_codes(request)
