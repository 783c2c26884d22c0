"""The facade implements the registry, opens stores late, and refuses writes when read only."""

import inspect
import typing
from collections.abc import Callable

import pytest

from kebab.app.ask import AnswerCallback
from kebab.app.facade import Kebab
from kebab.config.load import load_settings
from kebab.core.progress import ProgressCallback
from kebab.embed.registry import MINILM
from kebab.errors.catalog import NotIndexed, ReadOnly
from kebab.wire.ask import (
    AnswerEvent,
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
    ResetRequest,
    SchemaRequest,
)
from kebab.wire.ingest import IngestProgress, IngestRequest, IngestTextRequest
from kebab.wire.library import (
    ChunkInspection,
    DocInspection,
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
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import Request
from kebab.wire.related import DupesRequest, RankRequest, RelatedRequest, WhyRequest
from kebab.wire.review import (
    ReviewApplyRequest,
    ReviewRequest,
    ReviewRmRequest,
    ReviewRulesRequest,
    ReviewRunsRequest,
    StatsRequest,
    TranslateRequest,
)
from kebab.wire.search import SearchRequest
from kebab.wire.sources import ExplainPathsRequest, SourceListRequest, SourceRmRequest
from kebab.wire.stream import ReviewEvent
from tests.fakes.facade import FakeKebab

REQUESTS: dict[str, Request] = {
    "search": SearchRequest(query="cat"),
    "grep": GrepRequest(pattern="cat"),
    "ask": AskRequest(question="cat", extractive=True),
    "related": RelatedRequest(name="a.md"),
    "why": WhyRequest(name="a.md", search=SearchRequest(query="cat")),
    "dupes": DupesRequest(),
    "rank": RankRequest(query="cat", lines=["a dog", "the cat"]),
    "list": ListRequest(),
    "inspect_doc": InspectDocRequest(name="a.md"),
    "inspect_chunk": InspectChunkRequest(name="a"),
    "outline": OutlineRequest(name="a.md"),
    "fetch": FetchRequest(refs=["a.md"]),
    "fetch_chunk": FetchChunkRequest(name="a.md"),
    "fetch_doc": FetchDocRequest(name="a.md"),
    "fetch_span": FetchSpanRequest(name="a.md", start=1),
    "session_list": SessionListRequest(),
    "session_show": SessionShowRequest(name="talk"),
    "session_rm": SessionRmRequest(names=["talk"]),
    "review": ReviewRequest(names=["a.md"], no_llm=True),
    "translate": TranslateRequest(name="missing.md", to="ko"),
    "review_runs": ReviewRunsRequest(),
    "review_rm": ReviewRmRequest(runs=["r1"]),
    "review_apply": ReviewApplyRequest(run_id="r1"),
    "review_rules": ReviewRulesRequest(),
    "ingest": IngestRequest(),
    "ingest_text": IngestTextRequest(text=b"x", title="t"),
    "explain_paths": ExplainPathsRequest(paths=["a.md"]),
    "rm": RmRequest(names=["a.md"]),
    "source_list": SourceListRequest(),
    "source_rm": SourceRmRequest(name="notes"),
    "reset": ResetRequest(models=True),
    "init": InitRequest(force=True),
    "model_list": ModelListRequest(),
    "model_pull": ModelPullRequest(),
    "model_use": ModelUseRequest(name="auto"),
    "doctor": DoctorRequest(),
    "schema": SchemaRequest(),
    "stats": StatsRequest(),
    "errors": ErrorsRequest(),
    "inspect_error": InspectErrorRequest(name="3f2a91"),
    "explain": ExplainRequest(),
}
"""One request for each operation."""

READS = [name for name, one in OPERATIONS.items() if one.effect == "reads"]
WRITES = [name for name in OPERATIONS if name not in READS]
NEEDS_NOTHING = {
    "rank",
    "doctor",
    "schema",
    "model_list",
    "stats",
    "review",
    "review_runs",
    "review_rules",
    "translate",
    "errors",
    "inspect_error",
    "explain",
    "explain_paths",
}
"""What works without a knowledge base."""

NEEDS_SERVER = {"translate"}
SEARCHES = [name for name in READS if name not in NEEDS_NOTHING]


def call(kebab, name):
    return getattr(kebab, name)(REQUESTS[name])


def methods(form):
    """Return the public methods of a class, by name."""
    found = inspect.getmembers(form, inspect.isfunction)
    return {name: one for name, one in found if not name.startswith("_") and name != "close"}


def hints(method):
    """Return the annotations of a method, resolved with the records of the registry."""
    records = {
        one.__name__: one
        for known in OPERATIONS.values()
        for one in (known.request, *known.replies)
    }
    lazy = {
        "AnswerCallback": AnswerCallback,
        "AnswerEvent": AnswerEvent,
        "Callable": Callable,
        "ReviewCallback": Callable[[ReviewEvent], None],
    }
    return typing.get_type_hints(method, localns={**records, **lazy})


@pytest.mark.parametrize("form", [Kebab, FakeKebab])
def test_every_operation_is_a_method_and_every_method_an_operation(form):
    assert methods(form).keys() == OPERATIONS.keys()


@pytest.mark.parametrize("form", [Kebab, FakeKebab])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_method_takes_and_returns_what_its_operation_declares(form, name):
    known, found = OPERATIONS[name], hints(methods(form)[name])
    parameters = list(inspect.signature(methods(form)[name]).parameters.values())[1:]
    request, *rest = parameters
    options = {one.name: one.kind for one in rest}

    assert found[request.name] is known.request
    assert set(typing.get_args(found["return"]) or (found["return"],)) == set(known.replies)
    assert set(options) == ({"report"} if known.events else set()) | (
        {"cancel"} if known.cancellable else set()
    )
    assert set(options.values()) <= {inspect.Parameter.KEYWORD_ONLY}
    if known.events in (AnswerEvent, ReviewEvent):
        assert found["report"] == Callable[[known.events], None]
    elif known.events:
        assert (known.events, found["report"]) == (IngestProgress, ProgressCallback)


def test_every_operation_has_a_test_request():
    assert {name: type(one) for name, one in REQUESTS.items()} == {
        name: one.request for name, one in OPERATIONS.items()
    }


@pytest.fixture
def opened(lab):
    """What opens a knowledge base of the desk."""

    def build(*, read_only=False):
        settings = load_settings(environ={}, flags=lab.flags)
        return Kebab(settings, config_path=lab.config, read_only=read_only)

    return build


@pytest.fixture
def filled(lab, opened):
    lab.write("a.md", "# Cat\n\nthe cat sleeps\n")
    with opened() as kebab:
        kebab.ingest(IngestRequest(paths=[str(lab.notes)]))
    return lab


def test_a_whole_session(lab, opened):
    lab.write("a.md", "# Cat\n\nthe cat sleeps\n")
    kinds: list[str] = []
    with opened() as kebab:
        assert kebab.init(InitRequest(workspace=str(lab.notes))).written
        request = IngestRequest(paths=[str(lab.notes)])
        report = kebab.ingest(request, report=lambda event: kinds.append(event.kind))
        text = kebab.ingest_text(IngestTextRequest(text=b"the dog runs", title="Dog"))
        (hit,) = kebab.search(SearchRequest(query="cat", mode="lexical")).hits
        assert (report.new, text.new, kinds[-1]) == (1, 1, "completed")
        assert kebab.list(ListRequest()).total == 2
        assert isinstance(kebab.inspect_doc(InspectDocRequest(name=hit.doc_id)), DocInspection)
        passage = kebab.inspect_chunk(InspectChunkRequest(name=hit.chunk_id))
        assert isinstance(passage, ChunkInspection)
        for fetched in (
            kebab.fetch_chunk(FetchChunkRequest(name=hit.chunk_id)),
            kebab.fetch_doc(FetchDocRequest(name="a.md")),
            kebab.fetch_span(FetchSpanRequest(name="a.md", start=3)),
        ):
            assert isinstance(fetched, FetchResult)
            assert "the cat sleeps" in fetched.text
        assert kebab.model_pull(ModelPullRequest(name=MINILM.key)).fetched is False
        assert kebab.model_use(ModelUseRequest(name=MINILM.key)).embedded == 2
        assert kebab.model_list(ModelListRequest()).models[1].active
        assert kebab.doctor(DoctorRequest()).ok
        assert kebab.schema(SchemaRequest()).stats.doc_count == 2
        assert isinstance(kebab.rm(RmRequest(names=["a.md"])), RemoveReport)
        planned = kebab.reset(ResetRequest(dry_run=True))
        assert planned.removed == kebab.reset(ResetRequest()).removed
    assert not lab.data.exists()


def test_constructing_the_facade_opens_and_creates_nothing(lab, opened):
    before = lab.tree()
    with opened():
        pass

    assert lab.tree() == before


@pytest.mark.parametrize("name", WRITES)
def test_read_only_refuses_every_write_and_creates_nothing(lab, opened, name):
    before = lab.tree()
    with opened(read_only=True) as kebab, pytest.raises(ReadOnly):
        call(kebab, name)

    assert lab.tree() == before


@pytest.mark.parametrize("name", WRITES)
def test_read_only_refuses_every_write_to_what_is_there(filled, opened, name):
    before = filled.tree()
    with opened(read_only=True) as kebab, pytest.raises(ReadOnly):
        call(kebab, name)

    assert filled.tree() == before


@pytest.mark.parametrize("name", [name for name in READS if name not in NEEDS_SERVER])
def test_read_only_reads_and_changes_nothing(filled, opened, name):
    before = filled.tree()
    with opened(read_only=True) as kebab:
        call(kebab, name)

    assert filled.tree() == before


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("read_only", [False, True])
def test_reading_needs_a_knowledge_base(lab, opened, name, read_only):
    before = lab.tree()
    with opened(read_only=read_only) as kebab, pytest.raises(NotIndexed) as caught:
        call(kebab, name)

    assert (caught.value.data_dir, caught.value.found) == (str(lab.data), None)
    assert lab.tree() == before


@pytest.mark.parametrize("name", sorted(NEEDS_NOTHING))
def test_some_operations_need_no_knowledge_base(lab, opened, name):
    before = lab.tree()
    with opened() as kebab:
        call(kebab, name)

    assert lab.tree() == before


@pytest.mark.parametrize("name", SEARCHES)
def test_a_newer_database_is_not_read(desk, newer, name):
    kebab = Kebab(load_settings(environ={}, flags=desk.flags), config_path=desk.config)
    with kebab, pytest.raises(NotIndexed) as caught:
        call(kebab, name)

    assert (caught.value.expected, caught.value.found) == newer


def test_not_found_is_a_reply(filled, opened):
    with opened() as kebab:
        replies = [
            kebab.inspect_doc(InspectDocRequest(name="no")),
            kebab.rm(RmRequest(names=["no"])),
            kebab.fetch_doc(FetchDocRequest(name="no")),
        ]

    assert all(isinstance(reply, NotFound) for reply in replies)


def test_a_dry_run_of_a_reset_is_no_write(filled, opened):
    before = filled.tree()
    with opened(read_only=True) as kebab:
        planned = kebab.reset(ResetRequest(models=True, dry_run=True))

    assert planned.removed
    assert filled.tree() == before
