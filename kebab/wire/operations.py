"""The registry of operations: what a knowledge base can do, declared once.

`kebab.app.facade.Kebab` has one method for each operation, of the same name. It takes the request
and returns one of the replies. Surfaces are derived from this table or tested against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kebab.wire.ask import (
    Answer,
    AnswerEvent,
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
from kebab.wire.ingest import IngestProgress, IngestReport, IngestRequest, IngestTextRequest
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
from kebab.wire.record import Reply, Request
from kebab.wire.related import DupesRequest, Duplicates, RelatedDocs, RelatedRequest
from kebab.wire.search import SearchRequest, SearchResponse
from kebab.wire.why import Explanation, WhyRequest

Effect: TypeAlias = Literal["reads", "writes", "deletes"]
"""What an operation does to the knowledge base and its models.

One that `writes` or `deletes` is refused under `--read-only`, except a dry run of `reset`. `ask`
reads: the only thing that it writes is the turn of a named session, which `--read-only` refuses.
"""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a knowledge base can do."""

    request: type[Request]
    reply: type[Reply]
    effect: Effect = "reads"
    may_miss: bool = False
    """Whether the reply is `not_found.v1` when the request names something that does not exist."""
    events: type[Reply] | None = None
    """What is reported while it runs."""
    cancellable: bool = False
    """Whether it takes a flag that stops it between two steps."""

    @property
    def replies(self) -> tuple[type[Reply], ...]:
        """Every record that it may return."""
        return (self.reply, NotFound) if self.may_miss else (self.reply,)


OPERATIONS: Mapping[str, Operation] = {
    "search": Operation(SearchRequest, SearchResponse),
    "ask": Operation(AskRequest, Answer, events=AnswerEvent),
    "related": Operation(RelatedRequest, RelatedDocs, may_miss=True),
    "why": Operation(WhyRequest, Explanation, may_miss=True),
    "dupes": Operation(DupesRequest, Duplicates, events=IngestProgress),
    "list": Operation(ListRequest, DocList),
    "inspect_doc": Operation(InspectDocRequest, DocInspection, may_miss=True),
    "inspect_chunk": Operation(InspectChunkRequest, ChunkInspection, may_miss=True),
    "fetch_chunk": Operation(FetchChunkRequest, FetchResult, may_miss=True),
    "fetch_doc": Operation(FetchDocRequest, FetchResult, may_miss=True),
    "fetch_span": Operation(FetchSpanRequest, FetchResult, may_miss=True),
    "session_list": Operation(SessionListRequest, SessionList),
    "session_show": Operation(SessionShowRequest, SessionTranscript, may_miss=True),
    "session_rm": Operation(SessionRmRequest, SessionRemoved, "deletes", may_miss=True),
    "ingest": Operation(
        IngestRequest, IngestReport, "writes", events=IngestProgress, cancellable=True
    ),
    "ingest_text": Operation(
        IngestTextRequest, IngestReport, "writes", events=IngestProgress, cancellable=True
    ),
    "rm": Operation(RmRequest, RemoveReport, "deletes", may_miss=True),
    "reset": Operation(ResetRequest, ResetReport, "deletes"),
    "init": Operation(InitRequest, InitReport, "writes"),
    "model_list": Operation(ModelListRequest, ModelList),
    "model_pull": Operation(
        ModelPullRequest, ModelReport, "writes", events=IngestProgress, cancellable=True
    ),
    "model_use": Operation(
        ModelUseRequest, ModelReport, "writes", events=IngestProgress, cancellable=True
    ),
    "doctor": Operation(DoctorRequest, Doctor),
    "schema": Operation(SchemaRequest, Introspection),
    "errors": Operation(ErrorsRequest, ErrorStats),
    "inspect_error": Operation(InspectErrorRequest, ErrorAudit, may_miss=True),
    "explain": Operation(ExplainRequest, ErrorCatalog, may_miss=True),
}
"""Every operation by its name: that of the command in the shell, blanks written as `_`."""
