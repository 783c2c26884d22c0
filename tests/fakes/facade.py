"""A knowledge base that answers from a script: public twin of `kebab.app.facade.Kebab`.

Run as a program it is the whole command line over that twin, for tests of real processes. The
query, question or path then says what is to happen: `nothing` finds nothing, `slow` work takes its
time, `stuck` work never ends, `deaf` work not even when it is told to, `mute` work is long silent,
and a name in `FAULTS` is that fault. A file of `tests/cases/answers` is an answer, by its name.
"""

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from kebab.app.classify import classify
from kebab.app.requests import (
    DupesOptions,
    FetchOptions,
    IngestOptions,
    ListOptions,
    RelatedOptions,
    TextOptions,
    WhyOptions,
)
from kebab.config.model import Settings
from kebab.core.cancel import Cancel
from kebab.core.progress import Progress, ProgressKind, Report, silent
from kebab.errors.catalog import InvalidInput, NotIndexed, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.wire.ask import Answer, AnswerEvent, AskRequest
from kebab.wire.dupes import Duplicates
from kebab.wire.health import Doctor, InitReport, ResetReport
from kebab.wire.ingest import IngestReport
from kebab.wire.introspect import Introspection
from kebab.wire.library import (
    ChunkInspection,
    DocInspection,
    DocList,
    FetchResult,
    NotFound,
    RemoveReport,
)
from kebab.wire.model import ModelList, ModelReport
from kebab.wire.record import decode_request
from kebab.wire.related import RelatedDocs
from kebab.wire.search import BulkSearchItem, SearchRequest, SearchResponse
from kebab.wire.session import SessionList, SessionRemoved, SessionTranscript
from kebab.wire.why import Explanation
from tests.fakes import replies, script

FAULTS: dict[str, Exception] = {
    "broken": StoreCorrupt(path="kebab.db", cause="malformed page"),
    "unindexed": NotIndexed(data_dir="/nowhere", expected=1, found=None),
    "surprise": RuntimeError("nobody expected this"),
}


class FakeKebab:
    """Answers from a script and remembers what it was asked."""

    asked: list[tuple[str, Any]]

    def __init__(self, settings: Settings, *, config_path: Path, read_only: bool = False) -> None:
        self.settings = settings
        self.config_path = config_path
        self.read_only = read_only
        self.asked = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close nothing."""

    def search(self, request: SearchRequest) -> SearchResponse:
        """Find as many hits as the limit says."""
        self._note("search", request)
        if not request.query.strip():
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
        )

    def bulk(self, lines: Iterable[bytes]) -> Iterator[BulkSearchItem]:
        """Answer line by line."""
        for index, line in enumerate(line for line in lines if line.strip()):
            yield self._item(index, line)

    def sessions(self) -> SessionList:
        """List two sessions, none when the data directory is called `fresh`."""
        if Path(self.settings.data_dir).name == "fresh":
            return replies.session_list()
        other = replies.session_summary(name="garden", turns=1)
        return replies.session_list(replies.session_summary(), other)

    def session(self, name: str) -> SessionTranscript | NotFound:
        """Show a session of two turns; of those that name themselves there is none yet."""
        none = _absent(name) or name.startswith("chat-")
        return replies.not_found() if none else replies.session_transcript(name)

    def forget_sessions(self, names: Sequence[str]) -> SessionRemoved | NotFound:
        """Forget sessions of two turns each."""
        self._note("forget", names)
        return replies.not_found() if any(map(_absent, names)) else replies.session_removed(*names)

    def ask(
        self, request: AskRequest, tell: Callable[[AnswerEvent], None] = lambda _: None
    ) -> Answer:
        """Say a scripted answer word by word; an interruption after the first word keeps them."""
        self._note("ask", request)
        if not request.question.strip():
            raise InvalidInput(field="$.question", cause="it is empty")
        _fail(request.question)
        whole = script.answer_to(request)
        tell(AnswerEvent(type="retrieval_done", hits=whole.suggestions or [replies.hit()]))
        _hang(request.question)
        said: list[str] = []
        try:
            script.say(request.question, whole.answer, tell, said)
        except KeyboardInterrupt:
            if not said:
                raise
            return replies.refusal("llm_stream_aborted", "".join(said), question=request.question)
        return whole

    def ingest(
        self, options: IngestOptions, report: Report = silent, cancel: Cancel | None = None
    ) -> IngestReport:
        """Read four files."""
        self._note("ingest", options)
        _fail(*options.paths)
        time.sleep(1.6 if "mute" in options.paths else 0)
        report(Progress(kind=ProgressKind.SCAN_STARTED, path="/home/ada/notes"))
        report(Progress(kind=ProgressKind.SCAN_COMPLETED, done=4, total=4, unit="files"))
        for done in range(5000 if "slow" in options.paths else 4):
            if cancel is not None and cancel.requested:
                report(Progress(kind=ProgressKind.ABORTED))
                return replies.ingest_report(cancelled=True, dry_run=options.dry_run)
            path = f"ops/note-{done}.md"
            started = Progress(
                kind=ProgressKind.ASSET_STARTED, path=path, done=done, total=4, unit="files"
            )
            report(started)
            _hang(*options.paths)
            time.sleep(0.01 if "slow" in options.paths else 0)
        report(Progress(kind=ProgressKind.EMBED_BATCH, done=3, total=3, unit="chunks"))
        report(Progress(kind=ProgressKind.COMPLETED))
        return replies.ingest_report(dry_run=options.dry_run)

    def ingest_text(
        self, options: TextOptions, report: Report = silent, cancel: Cancel | None = None
    ) -> IngestReport:
        """Take one text."""
        del cancel
        self._note("ingest_text", options)
        report(Progress(kind=ProgressKind.COMPLETED))
        return replies.ingest_report()

    def list_documents(self, options: ListOptions) -> DocList:
        """List two documents."""
        self._note("list", options)
        return replies.doc_list(replies.summary(), replies.summary(freshness="changed"))

    def inspect_doc(self, name: str) -> DocInspection | NotFound:
        """Show a document."""
        return replies.not_found() if _absent(name) else replies.doc_inspection()

    def inspect_chunk(self, name: str) -> ChunkInspection | NotFound:
        """Show a passage."""
        return replies.not_found() if _absent(name) else replies.chunk_inspection()

    def related(self, options: RelatedOptions) -> RelatedDocs | NotFound:
        """Find one neighbour, none of a document called `nothing`."""
        self._note("related", options)
        if _absent(options.name):
            return replies.not_found()
        return replies.related_docs(*([] if options.name == "nothing" else [replies.related_doc()]))

    def why(self, options: WhyOptions) -> Explanation | NotFound:
        """Find the document at rank 1, lose one called `nothing`."""
        self._note("why", options)
        if _absent(options.name):
            return replies.not_found()
        lost = {"found": False, "rank": None, "verdict": "no_match", "message": "lost: no term"}
        return replies.explanation(**(lost if options.name == "nothing" else {}))

    def dupes(self, options: DupesOptions, report: Report = silent) -> Duplicates:
        """Find one group, none where only exact copies count."""
        self._note("dupes", options)
        report(Progress(kind=ProgressKind.HEARTBEAT, phase="compare", done=1, total=2))
        groups = [] if options.exact else [replies.duplicate_group()]
        more = None if options.exact else "CURSOR"
        return replies.duplicates(*groups, has_more=bool(more), next_cursor=more)

    def fetch_chunk(self, options: FetchOptions) -> FetchResult | NotFound:
        """Fetch lines."""
        self._note("fetch", options)
        return replies.not_found() if _absent(options.name) else replies.fetch_result()

    fetch_doc = fetch_chunk
    fetch_span = fetch_chunk

    def remove(self, names: Sequence[str]) -> RemoveReport | NotFound:
        """Remove documents."""
        self._note("remove", names)
        return replies.not_found() if any(map(_absent, names)) else replies.remove_report()

    def plan_reset(self, *, models: bool) -> ResetReport:
        """Say what would go."""
        return replies.reset_report(models_removed=models)

    def reset(self, *, models: bool) -> ResetReport:
        """Say what went."""
        self._note("reset", models)
        return replies.reset_report(models_removed=models)

    def doctor(self) -> Doctor:
        """Be healthy, unless the data directory is called `sick`."""
        sick = Path(self.settings.data_dir).name == "sick"
        bad = replies.check(status="fail", summary="damaged", fix="kebab reset")
        return replies.doctor(replies.check(), *([bad] if sick else []))

    def introspect(self) -> Introspection:
        """Say what an empty knowledge base says."""
        return replies.introspection()

    def init(self, *, workspace: str | None, force: bool) -> InitReport:
        """Write nothing."""
        self._note("init", force)
        return replies.init_report(config_path=str(self.config_path), workspace=workspace)

    def models(self) -> ModelList:
        """List one model."""
        return replies.model_list()

    def pull(self, name: str, report: Report = silent, cancel: Cancel | None = None) -> ModelReport:
        """Fetch a model, cancelled for `late...`, with passages left for `...waiting`."""
        self._note("pull", name)
        if cancel is not None and name.startswith("late"):
            cancel.request()
        fetch = Progress(kind=ProgressKind.MODEL_FETCH, done=5, total=10, unit="bytes")
        report(fetch)
        return replies.model_report(pending=3 if name.endswith("waiting") else 0)

    use = pull

    def _note(self, what: str, options: Any) -> None:
        self.asked.append((what, options))

    def _item(self, index: int, line: bytes) -> BulkSearchItem:
        try:
            request = decode_request(line, SearchRequest)
            reply = self.search(request)
        except Signal as fault:
            error = classify(fault, operation="search").reply
            return BulkSearchItem(index=index, query=None, error=error)
        return BulkSearchItem(index=index, query=request.query, response=reply)


class NoisyKebab(FakeKebab):
    """Is as noisy as the libraries below a real one."""

    def __init__(self, settings: Settings, *, config_path: Path, read_only: bool = False) -> None:
        super().__init__(settings, config_path=config_path, read_only=read_only)
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
    from kebab.cli.channels import take_over
    from kebab.cli.main import main

    opener: Any = NoisyKebab
    return main(sys.argv[1:], take_over(), signals=True, opener=opener)


if __name__ == "__main__":
    sys.exit(_main())
