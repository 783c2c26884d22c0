"""One example of each operation; suites that have no cases of an operation take these."""

from collections.abc import Mapping, Sequence

from kebab.wire.ask import (
    AskRequest,
    SessionListRequest,
    SessionRmRequest,
    SessionShowRequest,
)
from kebab.wire.error import ErrorsRequest, ExplainRequest, InspectErrorRequest
from kebab.wire.fetch import FetchRequest, GrepRequest, OutlineRequest
from kebab.wire.health import (
    DoctorRequest,
    InitRequest,
    ModelListRequest,
    ModelPullRequest,
    ModelUseRequest,
    RepairRequest,
    ResetRequest,
    SchemaRequest,
)
from kebab.wire.ingest import IngestRequest, IngestTextRequest
from kebab.wire.library import (
    DupesRequest,
    InspectChunkRequest,
    InspectDocRequest,
    ListRequest,
    RelatedRequest,
    RmRequest,
    SourceListRequest,
    SourceRmRequest,
)
from kebab.wire.operations import OPERATIONS
from kebab.wire.published import ExportRequest, ImportRequest, PublishRequest, SourceAddRequest
from kebab.wire.record import Reply, Request
from kebab.wire.review import (
    ReviewApplyRequest,
    ReviewRequest,
    TranslateRequest,
)
from kebab.wire.search import SearchRequest

REQUESTS: dict[str, Request[Reply]] = {
    "search": SearchRequest(query="cat"),
    "grep": GrepRequest(pattern="cat"),
    "ask": AskRequest(question="cat", extractive=True),
    "related": RelatedRequest(name="a.md"),
    "dupes": DupesRequest(),
    "list": ListRequest(),
    "inspect_doc": InspectDocRequest(name="a.md"),
    "inspect_chunk": InspectChunkRequest(name="a"),
    "outline": OutlineRequest(name="a.md"),
    "fetch": FetchRequest(refs=["a.md"]),
    "session_list": SessionListRequest(),
    "session_show": SessionShowRequest(name="talk"),
    "session_rm": SessionRmRequest(names=["talk"]),
    "review": ReviewRequest(names=["a.md"], no_llm=True),
    "translate": TranslateRequest(name="missing.md", to="ko"),
    "review_apply": ReviewApplyRequest(run_id="r1"),
    "ingest": IngestRequest(),
    "ingest_text": IngestTextRequest(text=b"x", title="t"),
    "rm": RmRequest(names=["a.md"]),
    "source_list": SourceListRequest(),
    "source_rm": SourceRmRequest(name="notes"),
    "export": ExportRequest(path="nowhere/base.zip"),
    "publish": PublishRequest(dest="https://nowhere/base"),
    "source_add": SourceAddRequest(url="nowhere/base"),
    "import": ImportRequest(path="nowhere/base.zip"),
    "reset": ResetRequest(models=True),
    "init": InitRequest(force=True),
    "model_list": ModelListRequest(),
    "model_pull": ModelPullRequest(),
    "model_use": ModelUseRequest(name="auto"),
    "doctor": DoctorRequest(),
    "repair": RepairRequest(),
    "schema": SchemaRequest(),
    "errors": ErrorsRequest(),
    "inspect_error": InspectErrorRequest(name="3f2a91"),
    "explain": ExplainRequest(),
}
"""A request for each operation, in a home with the document `a.md`."""

ARGUMENTS: Mapping[str, Sequence[str]] = {
    "search": ["search", "cat"],
    "grep": ["grep", "cat"],
    "ask": ["ask", "cat"],
    "related": ["related", "a.md"],
    "dupes": ["dupes"],
    "list": ["list"],
    "inspect_doc": ["inspect", "doc", "a.md"],
    "inspect_chunk": ["inspect", "chunk", "a"],
    "outline": ["outline", "a.md"],
    "fetch": ["fetch", "a.md"],
    "session_list": ["session", "list"],
    "session_show": ["session", "show", "talk"],
    "session_rm": ["session", "rm", "talk"],
    "review": ["review", "a.md"],
    "translate": ["translate", "a.md", "--to", "ko"],
    "review_apply": ["review", "--run-id", "r1", "--apply", "--yes"],
    "ingest": ["ingest", "a.md"],
    "ingest_text": ["ingest", "--stdin", "--title", "t"],
    "rm": ["rm", "a.md"],
    "source_list": ["source", "list"],
    "source_rm": ["source", "rm", "notes", "--yes"],
    "export": ["export", "nowhere/base.zip"],
    "publish": ["publish", "https://nowhere/base"],
    "source_add": ["source", "add", "nowhere/base"],
    "import": ["import", "nowhere/base.zip", "--yes"],
    "reset": ["reset", "--yes"],
    "init": ["init"],
    "model_list": ["model", "list"],
    "model_pull": ["model", "pull"],
    "model_use": ["model", "use", "auto"],
    "doctor": ["doctor"],
    "repair": ["doctor", "--fix", "--yes"],
    "schema": ["schema"],
    "errors": ["errors"],
    "inspect_error": ["errors", "--id", "3f2a91"],
    "explain": ["explain", "timeout"],
}
"""A command line for each operation, with the scripted knowledge base."""


def list_example_lines() -> dict[str, tuple[str, ...]]:
    """Return the command lines of the examples by their commands, without what needs a model."""
    return {
        row.command: tuple(ARGUMENTS[name])
        for name, row in OPERATIONS.items()
        if not row.flag_of and name != "translate"
    }
