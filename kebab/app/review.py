"""Reviews documents: starts a run or continues one, returns a page of findings, applies fixes.

Creates and continues runs, those of translations too.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.model_adapters import build_language_model, require_language_model
from kebab.app.references import build_not_found
from kebab.app.review_files import ReviewLibrary, find_targets, load_document, read_anchors
from kebab.core.documents import LinkTarget
from kebab.core.files import resolve_links
from kebab.core.progress import Cancel
from kebab.core.queries import StoredChunk
from kebab.core.review import RunKind, SimilarParagraph, Span, StoredRun
from kebab.errors.catalog import InvalidInput, NotIndexed, ReadOnly
from kebab.errors.signal import Signal
from kebab.errors.system import escape_undecodable
from kebab.llm.endpoint import resolve_endpoint
from kebab.review.document import ReviewDocument, ReviewText
from kebab.review.items import fix_file, is_safe, list_fixes, refuse_unwritable, write_files
from kebab.review.linters import Report
from kebab.review.model_worker import ModelWorker
from kebab.review.pages import RunPages
from kebab.review.requests import (
    check_review_request,
    choose_model,
    create_run,
    keep_name,
    load_run,
    requires_model,
)
from kebab.review.rules import Surroundings
from kebab.review.run import RunPorts, UnitWorker
from kebab.review.selection import RulesWorker, SelectingWorker, select_rules
from kebab.search.related import find_similar_passage
from kebab.source.changes import ChangedFiles, find_changes
from kebab.store.sqlite.reviews import SqliteReviewStore
from kebab.wire.record import NotFound, decode_request
from kebab.wire.review import (
    AgentItems,
    ReviewApplied,
    ReviewApplyRequest,
    ReviewRequest,
    TranslateRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.wire.search import DegradedChannel
    from kebab.wire.stream import ReviewEvent


def build_worker(
    context: AppContext,
    run: StoredRun,
    first: ReviewRequest,
    changes: ChangedFiles | None,
    report: Report,
) -> UnitWorker:
    """Return the worker for the units of a run.

    `first` is the request that began the run. Nothing is sent to the language model. Linters report
    what they do not check while they work.

    Raises:
        InvalidInput: A rule does not exist.
        ConfigInvalid: The settings name a rule that does not exist, or an invalid server.
    """

    def list_changed(document: ReviewDocument) -> Sequence[Span] | None:
        """Return the changed lines of a document; None when all count."""
        return changes.lines.get(resolve_links(str(document.source.file)), ()) if changes else None

    disabled = context.settings.review.disable
    rules = select_rules(first.rules, disabled, run.files, report)
    worker: UnitWorker = RulesWorker(rules, _build_surroundings(context))
    if run.model is not None:
        llm = build_language_model(context.settings, run.model, operation="review")
        worker = ModelWorker(llm=llm, tier=first.tier, rules=worker)
    return SelectingWorker(
        inner=worker,
        list_changed=list_changed,
        keep_doubtful=first.rules is not None,
    )


def _build_surroundings(context: AppContext) -> Surroundings:
    """Return the surroundings of the documents of one run."""
    find: Callable[[ReviewText, str], SimilarParagraph | None] | None
    find = partial(find_similar, context)
    try:
        with context.open_reader():
            pass
    except NotIndexed:
        find = None
    except Signal:
        pass  # the rule that asks reports it

    def load_documents() -> list[LinkTarget]:
        with suppress(NotIndexed), context.open_catalogue() as catalogue:
            return catalogue.list_link_targets()
        return []

    return Surroundings(
        today=datetime.fromtimestamp(context.clock.now(), UTC).astimezone().date(),
        stale_days=context.settings.review.stale_days,
        load_documents=load_documents,
        read_anchors=read_anchors,
        find_similar=find,
    )


def find_similar(
    context: AppContext, document: ReviewText, paragraph: str
) -> SimilarParagraph | None:
    """Return the most similar passage of another note when it is nearly the same.

    Without an index there is none.
    """

    def is_own(chunk: StoredChunk) -> bool:
        return chunk.doc_id == document.doc_id or Path(chunk.root, chunk.path) == document.file

    with suppress(NotIndexed), context.open_reader() as reader:
        copies = 0 if document.doc_id is None else 1
        return find_similar_passage(reader, paragraph, is_own, copies=copies)
    return None


def build_unusable_failure(context: AppContext, operation: str, count: int) -> Signal:
    """Return the failure of a model without a usable answer to so many parts of a text."""
    from kebab.llm.http_stream import Call

    asked = "the text" if count == 1 else f"{count} parts of the text in a row"
    cause = f"the model gave no usable answer to {asked}"
    call = Call(endpoint=resolve_endpoint(context.settings.models.llm), operation=operation)
    return call.build_protocol_error(cause)


@contextmanager
def open_run_store(context: AppContext) -> Iterator[SqliteReviewStore]:
    """Yield the store of runs; under `--read-only` one that lasts as long as the call."""
    if context.read_only:
        with SqliteReviewStore(None) as store:
            yield store
        return
    with context.open_review_store() as store:
        yield store


def continue_run(
    context: AppContext,
    store: SqliteReviewStore,
    kind: RunKind,
    request: ReviewRequest | TranslateRequest,
) -> StoredRun | NotFound:
    """Return the stored run that a request continues."""
    if context.read_only:
        raise ReadOnly(operation=f"{kind} --run-id")
    shown = escape_undecodable(request.run_id or "")
    return load_run(store, kind, request) or build_not_found(shown, "run")


class _Started(NamedTuple):
    """A run with its first request, and the changes that it is about."""

    run: StoredRun
    first: ReviewRequest
    changes: ChangedFiles | None


def review(
    context: AppContext,
    request: ReviewRequest,
    report: "Callable[[ReviewEvent], None]",
    cancel: Cancel,
) -> AgentItems | NotFound:
    """Return a page of findings; with `all_pages` the last one, after all have been reported.

    Under `--read-only` nothing is stored, and all findings of a document are on one page.

    Raises:
        InvalidInput: The request names no document, or contradicts its run.
        ReadOnly: Several pages would be needed, and nothing can be stored.
        UnsupportedMedia: A file that is named is no prose.
        IoError: A file cannot be read.
        InvalidCursor: The cursor belongs to another run, or to none.
        StaleCursor: The document of the page changed since it was reviewed.
        ModelUnreachable: The language model is required and cannot be reached; other failures of it
            before its first usable answer are raised too.
        Cancelled: The work was stopped before anything was done.
    """
    check_review_request(request)
    with open_run_store(context) as store:
        library = ReviewLibrary(context)
        if request.run_id is None:
            started = _create_run(context, library, request)
        else:
            started = _continue_run(context, store, request)
        if isinstance(started, NotFound):
            return started
        run, first, changes = started
        missing: dict[str, DegradedChannel] = {}
        worker = build_worker(
            context, run, first, changes, lambda one: missing.setdefault(one.reason, one)
        )
        asks_model = run.model is not None and not request.no_llm
        is_required = asks_model and (requires_model(request) or requires_model(first))
        if request.run_id is None:
            if is_required and run.model is not None and run.files:
                # An error leaves stdout empty, so it comes before the findings of the rules.
                require_language_model(context.settings, run.model, "review")
            store.add_run(run)
        ports = RunPorts(
            store=store,
            worker=worker,
            asks_model=asks_model,
            load=partial(load_document, context, library, run, first.names),
            report=report,
            cancel=cancel,
            build_failure=partial(build_unusable_failure, context, "review"),
            fail_on=request.fail_on,
            required=is_required,
            is_stored=not context.read_only,
            missing=missing.values(),
        )
        return RunPages(run, ports).build(request.cursor, all_pages=request.all_pages)


def _continue_run(
    context: AppContext, store: SqliteReviewStore, request: ReviewRequest
) -> _Started | NotFound:
    """Return the stored run that a request continues."""
    run = continue_run(context, store, "review", request)
    if isinstance(run, NotFound):
        return run
    first = decode_request(run.request.encode(), ReviewRequest)
    changes = None if first.changed is None else find_changes(run.files, first.changed)
    return _Started(run, first, changes)


def _create_run(
    context: AppContext, library: ReviewLibrary, request: ReviewRequest
) -> _Started | NotFound:
    """Return a new run of the documents that the request names; it is not stored yet."""
    files = find_targets(context, library, request.names)
    if isinstance(files, NotFound):
        return files
    request = replace(request, names=[keep_name(name) for name in request.names])
    changes = None
    if request.changed is not None:
        changes = find_changes(files, request.changed, request.names)
        files = [file for file in files if resolve_links(file) in changes.lines]
        request = replace(request, changed=changes.revision)
    if context.read_only and len(files) > 1 and not request.all_pages:
        raise ReadOnly(operation="review of several documents")
    run = create_run(
        request,
        files,
        choose_model(request, context.settings.models.llm),
        is_stored=not context.read_only,
        now=context.clock.now(),
    )
    return _Started(run, request, changes)


def apply_fixes(context: AppContext, request: ReviewApplyRequest) -> ReviewApplied | NotFound:
    """Apply the fixes of a run, or return what they would change.

    Every file is checked before the first fix is written. When a file cannot be written,
    those before it are put back.

    Raises:
        InvalidInput: A file is not the one that was reviewed, or the run has no such item.
        IoError: A file cannot be read or written.
        ReadOnly: Writing is switched off.
    """
    if not request.dry_run:
        context.refuse_when_read_only("review --apply")
    with context.open_review_store() as store:
        run = store.load_run(request.run_id)
        if run is None:
            return build_not_found(request.run_id, "run")
        if run.kind != "review":
            cause = "the run is a translation, which has no fixes"
            raise InvalidInput(field="$.run_id", cause=cause)
        listed = list(list_fixes(store, run, request.uids))
    is_any = request.unsafe or request.uids is not None
    fixed, waiting = [], 0
    for path, content_hash, items in listed:
        chosen = [item for item in items if is_any or is_safe(item)]
        waiting += len(items) - len(chosen)
        if chosen:
            fixed.append(fix_file(path, content_hash, chosen))
    files = [file for file in fixed if file.reply.applied]
    applied = [file.reply for file in files]
    if not request.dry_run:
        for file in files:
            refuse_unwritable(file.path)
        applied = write_files(files)
    return ReviewApplied(
        run_id=request.run_id,
        dry_run=request.dry_run,
        files=applied,
        waiting=waiting,
        refused=sum(file.refused for file in fixed),
    )
