"""Declares the operations of a knowledge base, each with its request and its replies.

`kebab.app.facade.Kebab` has one method for each operation, of the same name. It takes the request
and returns one of the replies. Interfaces are derived from this table or tested against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kebab.wire import (
    ask,
    error,
    fetch,
    health,
    ingest,
    library,
    related,
    review,
    search,
    sources,
    stream,
)
from kebab.wire.record import Reply, Request

Effect: TypeAlias = Literal["reads", "writes", "deletes"]
"""What an operation does to the knowledge base and its models.

An operation that `writes` or `deletes` is refused under `--read-only`, except a dry run of
`reset`, `source_rm` or `review_apply`.
`review` and `translate` read: they store only their run, in a database of its own, and nothing
under `--read-only`.
`ask` reads: it writes only the turn of a named session, which `--read-only` refuses. With
`refresh`, `search` and `ask` also index documents again, unless writing is switched off.
"""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a knowledge base."""

    request: type[Request]
    reply: type[Reply]
    effect: Effect = "reads"
    may_miss: bool = False
    """Whether the reply may be `not_found.v1`, because the request names an object."""
    events: type[Reply] | None = None
    """The events that it reports; None when it reports none."""
    cancellable: bool = False
    """Whether the caller can cancel it between two steps."""

    @property
    def replies(self) -> tuple[type[Reply], ...]:
        """The records that it may return."""
        return (self.reply, library.NotFound) if self.may_miss else (self.reply,)


def _build_job(request: type[Request], reply: type[Reply]) -> Operation:
    """Return a long operation that writes, reports its progress and can be cancelled."""
    return Operation(request, reply, "writes", events=ingest.IngestProgress, cancellable=True)


OPERATIONS: Mapping[str, Operation] = {
    "search": Operation(search.SearchRequest, search.SearchResponse),
    "grep": Operation(fetch.GrepRequest, fetch.GrepResponse),
    "ask": Operation(ask.AskRequest, ask.Answer, events=ask.AnswerEvent),
    "related": Operation(related.RelatedRequest, related.RelatedDocs, may_miss=True),
    "why": Operation(related.WhyRequest, related.Explanation, may_miss=True),
    "dupes": Operation(related.DupesRequest, related.Duplicates, events=ingest.IngestProgress),
    "rank": Operation(related.RankRequest, related.RankResult),
    "list": Operation(library.ListRequest, library.DocList),
    "inspect_doc": Operation(library.InspectDocRequest, library.DocInspection, may_miss=True),
    "inspect_chunk": Operation(library.InspectChunkRequest, library.ChunkInspection, may_miss=True),
    "outline": Operation(fetch.OutlineRequest, fetch.Outline, may_miss=True),
    "fetch": Operation(fetch.FetchRequest, fetch.FetchList),
    "fetch_chunk": Operation(library.FetchChunkRequest, library.FetchResult, may_miss=True),
    "fetch_doc": Operation(library.FetchDocRequest, library.FetchResult, may_miss=True),
    "fetch_span": Operation(library.FetchSpanRequest, library.FetchResult, may_miss=True),
    "session_list": Operation(ask.SessionListRequest, ask.SessionList),
    "session_show": Operation(ask.SessionShowRequest, ask.SessionTranscript, may_miss=True),
    "session_rm": Operation(ask.SessionRmRequest, ask.SessionRemoved, "deletes", may_miss=True),
    "ingest": _build_job(ingest.IngestRequest, ingest.IngestReport),
    "ingest_text": _build_job(ingest.IngestTextRequest, ingest.IngestReport),
    "explain_paths": Operation(sources.ExplainPathsRequest, sources.PathExplanations),
    "rm": Operation(library.RmRequest, library.RemoveReport, "deletes", may_miss=True),
    "source_list": Operation(sources.SourceListRequest, sources.SourceList),
    "source_rm": Operation(
        sources.SourceRmRequest, sources.SourceRemoved, "deletes", may_miss=True
    ),
    "reset": Operation(health.ResetRequest, health.ResetReport, "deletes"),
    "init": Operation(health.InitRequest, health.InitReport, "writes"),
    "model_list": Operation(health.ModelListRequest, health.ModelList),
    "model_pull": _build_job(health.ModelPullRequest, health.ModelReport),
    "model_use": _build_job(health.ModelUseRequest, health.ModelReport),
    "doctor": Operation(health.DoctorRequest, health.Doctor),
    "schema": Operation(health.SchemaRequest, health.Introspection),
    "stats": Operation(review.StatsRequest, review.ReviewStats),
    "errors": Operation(error.ErrorsRequest, error.ErrorStats),
    "inspect_error": Operation(error.InspectErrorRequest, error.ErrorAudit, may_miss=True),
    "explain": Operation(error.ExplainRequest, error.ErrorCatalog, may_miss=True),
    "review": Operation(
        review.ReviewRequest,
        review.AgentItems,
        may_miss=True,
        events=stream.ReviewEvent,
        cancellable=True,
    ),
    "translate": Operation(
        review.TranslateRequest,
        review.AgentItems,
        may_miss=True,
        events=stream.ReviewEvent,
        cancellable=True,
    ),
    "review_runs": Operation(review.ReviewRunsRequest, review.ReviewRuns),
    "review_rm": Operation(review.ReviewRmRequest, review.ReviewRemoved, "deletes", may_miss=True),
    "review_apply": Operation(
        review.ReviewApplyRequest, review.ReviewApplied, "writes", may_miss=True
    ),
    "review_rules": Operation(review.ReviewRulesRequest, review.ReviewRules, may_miss=True),
}
"""Every operation by its name: the command in the shell, with `_` for each space."""
