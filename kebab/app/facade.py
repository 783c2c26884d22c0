"""The facade: one method for each operation, which returns the object that `--json` prints."""

from pathlib import Path
from typing import TYPE_CHECKING, Self

from kebab.app.context import AppContext
from kebab.config.settings import Settings
from kebab.core.progress import Cancel, ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from kebab.app.ask import AnswerCallback
    from kebab.app.model_adapters import Embedders
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
    from kebab.wire.error import (
        ErrorAudit,
        ErrorCatalog,
        ErrorsRequest,
        ErrorStats,
        ExplainRequest,
        InspectErrorRequest,
    )
    from kebab.wire.fetch import (
        FetchList,
        FetchRequest,
        GrepRequest,
        GrepResponse,
        Outline,
        OutlineRequest,
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
    from kebab.wire.related import (
        DupesRequest,
        Duplicates,
        Explanation,
        RankRequest,
        RankResult,
        RelatedDocs,
        RelatedRequest,
        WhyRequest,
    )
    from kebab.wire.review import ReviewStats, StatsRequest
    from kebab.wire.search import SearchRequest, SearchResponse
    from kebab.wire.sources import (
        ExplainPathsRequest,
        PathExplanations,
        SourceList,
        SourceListRequest,
        SourceRemoved,
        SourceRmRequest,
    )


class MaintenanceOperations:
    """Ingest, removal, models, health and errors; `Kebab` adds the operations that read."""

    _context: "AppContext"

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

    def source_list(self, _request: "SourceListRequest") -> "SourceList":
        """Return every source."""
        from kebab.app.library import list_sources

        return list_sources(self._context)

    def source_rm(self, request: "SourceRmRequest") -> "SourceRemoved | NotFound":
        """Remove a source with its documents from the index."""
        from kebab.app.library import remove_source

        return remove_source(self._context, request)

    def reset(self, request: "ResetRequest") -> "ResetReport":
        """Delete everything that kebab created."""
        from kebab.app.own_files import reset

        return reset(self._context, request)

    def init(self, request: "InitRequest") -> "InitReport":
        """Write the settings file and create the data directory."""
        from kebab.app.own_files import init

        return init(self._context, request)

    def model_list(self, request: "ModelListRequest") -> "ModelList":
        """Return every embedding model."""
        from kebab.app.models import list_models

        return list_models(self._context, request)

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

    def stats(self, request: "StatsRequest") -> "ReviewStats":
        """Count the work of reviews and translations."""
        from kebab.app.review import count_review_work

        return count_review_work(self._context, request)

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


if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.wire.library import NotFound
    from kebab.wire.review import (
        AgentItems,
        ReviewApplied,
        ReviewApplyRequest,
        ReviewRemoved,
        ReviewRequest,
        ReviewRmRequest,
        ReviewRules,
        ReviewRulesRequest,
        ReviewRuns,
        ReviewRunsRequest,
        TranslateRequest,
    )
    from kebab.wire.stream import ReviewEvent

    ReviewCallback = Callable[[ReviewEvent], None]


class ReviewOperations:
    """What can be done with reviews."""

    _context: "AppContext"

    def review(
        self,
        request: "ReviewRequest",
        *,
        report: "ReviewCallback" = lambda _: None,
        cancel: Cancel | None = None,
    ) -> "AgentItems | NotFound":
        """Return a page of findings, after the work that it needs."""
        from kebab.app.review import review

        return review(self._context, request, report, cancel or Cancel())

    def translate(
        self,
        request: "TranslateRequest",
        *,
        report: "ReviewCallback" = lambda _: None,
        cancel: Cancel | None = None,
    ) -> "AgentItems | NotFound":
        """Return a page of translated segments, after the work that it needs."""
        from kebab.app.translate import translate

        return translate(self._context, request, report, cancel or Cancel())

    def review_runs(self, _request: "ReviewRunsRequest") -> "ReviewRuns":
        """Return the stored runs."""
        from kebab.app.review import list_runs

        return list_runs(self._context)

    def review_rm(self, request: "ReviewRmRequest") -> "ReviewRemoved | NotFound":
        """Delete stored runs."""
        from kebab.app.review import remove_runs

        return remove_runs(self._context, request)

    def review_apply(self, request: "ReviewApplyRequest") -> "ReviewApplied | NotFound":
        """Write the fixes of a run into the files that were reviewed."""
        from kebab.app.review import apply_fixes

        return apply_fixes(self._context, request)

    def review_rules(self, request: "ReviewRulesRequest") -> "ReviewRules | NotFound":
        """Describe a rule, or all."""
        from kebab.app.review import list_rules

        return list_rules(self._context, request)


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
        from kebab.app.related import find_duplicates

        return find_duplicates(self._context, request, report)

    def rank(self, request: "RankRequest") -> "RankResult":
        """Return lines, the one that fits the query best first."""
        from kebab.app.related import rank_lines

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
        from kebab.app.ask import list_sessions

        return list_sessions(self._context)

    def session_show(self, request: "SessionShowRequest") -> "SessionTranscript | NotFound":
        """Return a session with its turns."""
        from kebab.app.ask import show_session

        return show_session(self._context, request)

    def session_rm(self, request: "SessionRmRequest") -> "SessionRemoved | NotFound":
        """Delete sessions; when one does not exist, none is deleted."""
        from kebab.app.ask import remove_sessions

        return remove_sessions(self._context, request)
