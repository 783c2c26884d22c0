"""A knowledge base that answers from a script: public twin of `kebab.app.facade.Kebab`.

Run as a program it is the whole command line over that twin, for tests of real processes. The
query, question or path then says what is to happen: `nothing` finds nothing, `slow` work takes its
time, `stuck` work never ends, `deaf` work not even when it is told to, and a name in `FAULTS` is
that fault. A file of `tests/cases/answers` is an answer, by its name.
"""

import os
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from keyword import iskeyword
from pathlib import Path
from typing import Any, Self, TypeVar

from msgspec import UNSET

from kebab.app import facade
from kebab.app.facade import Kebab
from kebab.app.filters import build_filters
from kebab.config.load import SettingsReport
from kebab.config.settings import Settings
from kebab.core.progress import Cancel, Progress, ProgressKind
from kebab.errors.catalog import InvalidInput, NotIndexed, StoreCorrupt
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
    RepairReport,
    RepairRequest,
    ResetReport,
    ResetRequest,
    SchemaRequest,
)
from kebab.wire.ingest import IngestReport, IngestRequest, IngestTextRequest
from kebab.wire.library import (
    ChunkInspection,
    DocInspection,
    DocList,
    DupesRequest,
    Duplicates,
    InspectChunkRequest,
    InspectDocRequest,
    ListRequest,
    RelatedDocs,
    RelatedRequest,
    RemoveReport,
    RmRequest,
    SourceList,
    SourceListRequest,
    SourceRemoved,
    SourceRmRequest,
)
from kebab.wire.operations import find_operation
from kebab.wire.published import (
    ExportReport,
    ExportRequest,
    ImportReport,
    ImportRequest,
    PublishReport,
    PublishRequest,
    SourceAdded,
    SourceAddRequest,
)
from kebab.wire.record import NotFound, Reply, Request
from kebab.wire.review import (
    AgentItems,
    ReviewApplied,
    ReviewApplyRequest,
    ReviewRequest,
    TranslatedText,
    TranslateRequest,
)
from kebab.wire.search import SearchRequest, SearchResponse, UnmatchedFilter
from kebab.wire.stream import ReviewEvent, ReviewEventData
from tests.fakes import replies, review_pages, script

R = TypeVar("R", bound=Reply)
Report = Callable[[Any], None]

FAULTS: dict[str, Exception] = {
    "broken": StoreCorrupt(path="kebab.db", cause="malformed page"),
    "unindexed": NotIndexed(data_dir="/nowhere", expected="1", found=None),
    "surprise": RuntimeError("nobody expected this"),
}


class FakeKebab:
    """Answers from a script and remembers what it was asked."""

    asked: list[tuple[str, Any]]

    def __init__(
        self,
        settings: Settings,
        *,
        config_path: Path,
        read_only: bool = False,
        report: SettingsReport | None = None,
    ) -> None:
        self.settings = settings
        self.report = report
        self.config_path = config_path
        self.read_only = read_only
        self.asked = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close nothing."""

    def run(
        self, request: Request[R], *, report: Report | None = None, cancel: Cancel | None = None
    ) -> R:
        """Answer with the method of the operation; where there is none, as the real one does."""
        operation = find_operation(request)
        name = f"{operation.name}_" if iskeyword(operation.name) else operation.name
        script: Any = getattr(self, name, None)
        if script is None:
            with Kebab(self.settings, config_path=self.config_path) as kebab:
                return kebab.run(request, report=report, cancel=cancel)
        options: list[object] = []
        if operation.events is not None:
            options.append(report or (lambda _: None))
        if operation.cancellable:
            options.append(cancel or Cancel())
        reply: R = script(request, *options)
        return reply

    def search(self, request: SearchRequest) -> SearchResponse:
        """Find as many hits as the limit says; none of `doubt` is convincing."""
        self._note("search", request)
        if not request.query.strip() and not request.queries:
            raise InvalidInput(field="$.query", cause="empty")
        _fail(request.query)
        _hang(request.query)
        count = 0 if request.query == "nothing" else request.limit
        hits = [replies.hit(rank) for rank in range(1, count + 1)]
        more = count > 0
        return replies.response(
            *hits,
            query=request.query,
            mode=request.mode,
            has_more=more,
            next_cursor="CURSOR" if more else None,
            convincing=more and request.query != "doubt",
        )

    def grep(self, request: GrepRequest) -> GrepResponse:
        """Find one line, none for `nothing`."""
        self._note("grep", request)
        _fail(request.pattern)
        hits = [] if request.pattern == "nothing" else [replies.grep_hit()]
        return replies.grep_response(*hits, pattern=request.pattern)

    def session_list(self, _request: SessionListRequest) -> SessionList:
        """List two sessions, none when the data directory is called `fresh`."""
        if Path(self.settings.data_dir).name == "fresh":
            return replies.session_list()
        other = replies.session_summary(name="garden", turns=1)
        return replies.session_list(replies.session_summary(), other)

    def session_show(self, request: SessionShowRequest) -> SessionTranscript | NotFound:
        """Show a session of two turns; of those that name themselves there is none yet."""
        none = _absent(request.name) or request.name.startswith("chat-")
        return replies.not_found() if none else replies.session_transcript(request.name)

    def session_rm(self, request: SessionRmRequest) -> SessionRemoved | NotFound:
        """Forget sessions of two turns each."""
        self._note("session_rm", request)
        if any(map(_absent, request.names)):
            return replies.not_found()
        return replies.session_removed(*request.names)

    def ask(self, request: AskRequest, report: Report) -> Answer:
        """Say a scripted answer word by word; an interruption after the first word keeps them."""
        self._note("ask", request)
        if not request.question.strip():
            raise InvalidInput(field="$.question", cause="it is empty")
        _fail(request.question)
        whole = script.answer_to(request)
        report(AnswerEvent(type="retrieval_done", hits=whole.suggestions or [replies.hit()]))
        _hang(request.question)
        said: list[str] = []
        try:
            script.say(request.question, whole.answer, report, said)
        except KeyboardInterrupt:
            if not said:
                raise
            return replies.refusal("llm_stream_aborted", "".join(said), question=request.question)
        return whole

    def ingest(self, request: IngestRequest, report: Report, cancel: Cancel) -> IngestReport:
        """Read four files."""
        self._note("ingest", request)
        _fail(*request.paths)
        report(Progress(kind=ProgressKind.SCAN_STARTED, path="/home/ada/notes"))
        report(Progress(kind=ProgressKind.SCAN_COMPLETED, done=4, total=4, unit="files"))
        for done in range(5000 if "slow" in request.paths else 4):
            if cancel.requested:
                report(Progress(kind=ProgressKind.ABORTED))
                return replies.ingest_report(cancelled=True, dry_run=request.dry_run)
            path = f"ops/note-{done}.md"
            started = Progress(
                kind=ProgressKind.ASSET_STARTED, path=path, done=done, total=4, unit="files"
            )
            report(started)
            _hang(*request.paths)
            time.sleep(0.01 if "slow" in request.paths else 0)
        report(Progress(kind=ProgressKind.EMBED_BATCH, done=3, total=3, unit="chunks"))
        report(Progress(kind=ProgressKind.COMPLETED))
        return replies.ingest_report(dry_run=request.dry_run)

    def ingest_text(
        self, request: IngestTextRequest, report: Report, cancel: Cancel
    ) -> IngestReport:
        """Take one text."""
        del cancel
        self._note("ingest_text", request)
        report(Progress(kind=ProgressKind.COMPLETED))
        return replies.ingest_report()

    def list(self, request: ListRequest) -> DocList:
        """List at most two documents; the tag `none` has none."""
        self._note("list", request)
        build_filters(request, time.time())
        documents = [replies.summary(), replies.summary(freshness="changed")][: request.limit]
        if "none" in request.tag:
            entry = UnmatchedFilter(filter="tag", value="none", documents=0, nearest=["ops"])
            return replies.doc_list(unmatched_filters=[entry], hint="kebab list --tag ops")
        return replies.doc_list(*documents, total=2, has_more=len(documents) < 2)

    def inspect_doc(self, request: InspectDocRequest) -> DocInspection | NotFound:
        """Show a document."""
        return replies.not_found() if _absent(request.name) else replies.doc_inspection()

    def inspect_chunk(self, request: InspectChunkRequest) -> ChunkInspection | NotFound:
        """Show a passage."""
        return replies.not_found() if _absent(request.name) else replies.chunk_inspection()

    def related(self, request: RelatedRequest) -> RelatedDocs | NotFound:
        """Find one neighbour, none of a document called `nothing`."""
        self._note("related", request)
        build_filters(request, time.time())
        if _absent(request.name):
            return replies.not_found()
        return replies.related_docs(*([] if request.name == "nothing" else [replies.related_doc()]))

    def dupes(self, request: DupesRequest, report: Report) -> Duplicates:
        """Find one group, none where only exact copies count."""
        self._note("dupes", request)
        build_filters(request, time.time())
        report(Progress(kind=ProgressKind.HEARTBEAT, phase="compare", done=1, total=2))
        groups = [] if request.exact else [replies.duplicate_group()]
        return replies.duplicates(*groups, has_more=not request.exact)

    def outline(self, request: OutlineRequest) -> Outline | NotFound:
        """Outline a document."""
        self._note("outline", request)
        none = request.name is not None and _absent(request.name)
        return replies.not_found() if none else replies.outline()

    def fetch(self, request: FetchRequest) -> FetchList:
        """Fetch the same lines for every reference."""
        self._note("fetch", request)
        results = [
            replies.not_found(ref) if _absent(ref) else replies.fetch_result(ref=ref)
            for ref in request.refs
        ]
        missing = sum(map(_absent, request.refs))
        return FetchList(results=results, missing=missing, truncated=False)

    def rm(self, request: RmRequest) -> RemoveReport | NotFound:
        """Remove documents."""
        self._note("rm", request)
        return replies.not_found() if any(map(_absent, request.names)) else replies.remove_report()

    def source_list(self, _request: SourceListRequest) -> SourceList:
        """List two sources, one without its folder."""
        return replies.source_list(
            replies.source_summary(), replies.source_summary(name="/home/ada/old", state="gone")
        )

    def source_add(self, request: SourceAddRequest, report: Report) -> SourceAdded:
        """Add the base of an address."""
        self._note("source_add", request)
        report(Progress(kind=ProgressKind.HEARTBEAT, phase="pull"))
        return replies.source_added()

    def publish(self, request: PublishRequest, report: Report) -> PublishReport:
        """Send nothing."""
        self._note("publish", request)
        report(Progress(kind=ProgressKind.HEARTBEAT, phase="publish"))
        return replies.publish_report(dest=request.dest)

    def source_rm(self, request: SourceRmRequest) -> SourceRemoved | NotFound:
        """Say which source went, or would go."""
        if not request.dry_run:
            self._note("source_rm", request)
        if _absent(request.name):
            return replies.not_found()
        return replies.source_removed(dry_run=request.dry_run)

    def review(
        self, request: ReviewRequest, report: Report, cancel: Cancel
    ) -> AgentItems | NotFound:
        """Find repeated words in files, a page for each, and stop before `late` ones."""
        self._note("review", request)
        _hang(*request.names)
        if any(map(_absent, request.names)):
            return replies.not_found()
        files = [Path(name).resolve() for name in request.names if Path(name).is_file()]
        last = review_pages.page(None, fail_on=request.fail_on)
        counts = ReviewEventData(run_id=last.run_id, emitted=0, total=len(files))
        report(ReviewEvent(type="progress", data=counts))
        for index, file in enumerate(files):
            label = ReviewEventData(stage="rules", status="in_progress", label=f"checking {file}")
            report(ReviewEvent(type="stage", data=label))
            if file.name.startswith("late"):
                cancel.request()
            if cancel.requested:
                break
            document = review_pages.reviewed(file, index=index, of=len(files))
            found = review_pages.find_repeated_words(document)
            more = index + 1 < len(files) and not request.all_pages
            last = review_pages.page(
                document,
                *found,
                fail_on=request.fail_on,
                has_more=more,
                next_cursor="CURSOR" if more else None,
            )
            report(ReviewEvent(type="items", data=last))
            if more:
                break
        return last

    def translate(
        self, request: TranslateRequest, report: Report, cancel: Cancel
    ) -> AgentItems | NotFound:
        """Translate a file on one page; one segment of two stays as it was."""
        self._note("translate", request)
        if request.name and _absent(request.name):
            return replies.not_found()
        file = Path(request.name or "a.md").resolve()
        if not file.is_file():
            page = review_pages.page(None, fail_on=request.fail_on, tier="draft")
            report(ReviewEvent(type="items", data=page))
            return page
        document = review_pages.reviewed(file)
        stays = review_pages.item(
            document, 0, 3, kind="untranslated", reason="the source text stays"
        )
        done = review_pages.item(document, 4, 6, kind="translation", severity="suggestion")
        if document.doc_path.startswith("late"):
            cancel.request()
        stopped = cancel.requested
        text = TranslatedText(text="# 문\n", segments=2, translated=1, findings=[])
        page = review_pages.page(
            document,
            done,
            stays,
            fail_on=request.fail_on,
            tier="draft",
            has_more=stopped,
            translation=text if request.with_text and not stopped else UNSET,
        )
        report(ReviewEvent(type="items", data=page))
        return page

    def review_apply(self, request: ReviewApplyRequest) -> ReviewApplied | NotFound:
        """Fix one file; the run `clean` has nothing to fix."""
        self._note("review_apply", request)
        if _absent(request.run_id):
            return replies.not_found()
        return replies.review_applied(request)

    def export(self, request: ExportRequest, report: Report) -> ExportReport:
        """Write nothing."""
        self._note("export", request)
        report(Progress(kind=ProgressKind.HEARTBEAT, phase="export"))
        return replies.export_report(path=request.path)

    def import_(self, request: ImportRequest, report: Report) -> ImportReport:
        """Replace a knowledge base of three documents, none for `fresh...`."""
        self._note("import", request)
        report(Progress(kind=ProgressKind.HEARTBEAT, phase="import"))
        return replies.import_report(
            path=request.path,
            dry_run=request.dry_run,
            replaced_documents=None if request.path.startswith("fresh") else 3,
        )

    def reset(self, request: ResetRequest) -> ResetReport:
        """Say what went, or what would go."""
        if not request.dry_run:
            self._note("reset", request)
        return replies.reset_report(models_removed=request.models)

    def doctor(self, _request: DoctorRequest) -> Doctor:
        """Be healthy, unless the data directory is called `sick`."""
        sick = Path(self.settings.data_dir).name == "sick"
        bad = replies.check(status="fail", summary="damaged", fix="kebab reset")
        checks = [replies.check(), *([bad] if sick else [])]
        return replies.doctor(*checks)

    def repair(self, request: RepairRequest, report: Report, cancel: Cancel) -> RepairReport:
        """Repair the vectors of the data directory `sick`; another one needs no repair."""
        del cancel
        self._note("repair", request)
        report(Progress(kind=ProgressKind.HEARTBEAT, phase="repair"))
        sick = Path(self.settings.data_dir).name == "sick"
        done = [] if not sick else [replies.repair("planned" if request.dry_run else "repaired")]
        return replies.repair_report(*done, dry_run=request.dry_run)

    def schema(self, _request: SchemaRequest) -> Introspection:
        """Say what an empty knowledge base says."""
        return replies.introspection()

    def init(self, request: InitRequest) -> InitReport:
        """Write nothing."""
        self._note("init", request)
        path = str(self.config_path)
        return replies.init_report(config_path=path, workspace=request.workspace)

    def model_list(self, _request: ModelListRequest) -> ModelList:
        """List one model."""
        return replies.model_list()

    def model_pull(self, request: ModelPullRequest, report: Report, cancel: Cancel) -> ModelReport:
        """Fetch a model, cancelled for `late...`, with passages left for `...waiting`."""
        self._note("model_pull", request)
        if request.name.startswith("late"):
            cancel.request()
        report(Progress(kind=ProgressKind.MODEL_FETCH, done=5, total=10, unit="bytes"))
        return replies.model_report(pending=3 if request.name.endswith("waiting") else 0)

    def model_use(self, request: ModelUseRequest, report: Report, cancel: Cancel) -> ModelReport:
        """Change the model."""
        return self.model_pull(ModelPullRequest(name=request.name), report, cancel)

    def _note(self, what: str, request: Any) -> None:
        self.asked.append((what, request))


class NoisyKebab(FakeKebab):
    """Is as noisy as the libraries below a real one."""

    def __init__(self, settings: Settings, **options: Any) -> None:
        super().__init__(settings, **options)
        make_noise()


def make_noise() -> None:
    """Write to both descriptors and warn, as libraries do."""
    os.write(1, b"noise on descriptor 1\n")
    os.write(2, b"noise on descriptor 2\n")
    print("noise on sys.stdout")  # noqa: T201 - the noise
    sys.stderr.write("noise on sys.stderr\n")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("a warning of a library", stacklevel=2)


def _fail(*names: str) -> None:
    for name in names:
        if name in FAULTS:
            raise FAULTS[name]


def _hang(*names: str) -> None:
    while "stuck" in names:
        time.sleep(0.01)
    while "deaf" in names:
        with suppress(KeyboardInterrupt):
            time.sleep(0.01)


def _absent(name: str) -> bool:
    _fail(name)
    return name == "nowhere"


def _main() -> int:
    from kebab.cli.channels import open_channels
    from kebab.cli.main import SIGNALS, main

    facade.Kebab = NoisyKebab  # type: ignore[assignment, misc]
    return main(sys.argv[1:], open_channels(), signals=SIGNALS)


if __name__ == "__main__":
    # As `kebab.cli.main.run`: a shutdown of the interpreter gives signals their default meaning.
    os._exit(_main())
