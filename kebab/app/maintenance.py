"""Operations of the facade that change the knowledge base or describe its health."""

from typing import TYPE_CHECKING

from kebab.core.progress import Cancel, ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from kebab.app.context import AppContext
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
    from kebab.wire.library import NotFound, RemoveReport, RmRequest
    from kebab.wire.review_runs import ReviewStats, StatsRequest
    from kebab.wire.sources import SourceList, SourceListRequest, SourceRemoved, SourceRmRequest


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
        from kebab.app.sources import list_sources

        return list_sources(self._context)

    def source_rm(self, request: "SourceRmRequest") -> "SourceRemoved | NotFound":
        """Remove a source with its documents from the index."""
        from kebab.app.sources import remove_source

        return remove_source(self._context, request)

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

    def stats(self, request: "StatsRequest") -> "ReviewStats":
        """Count the work of reviews and translations."""
        from kebab.app.stats import count_review_work

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
