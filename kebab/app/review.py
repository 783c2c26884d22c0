"""Reviews documents: starts a run or continues one, and returns a page of findings."""

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.language_models import require_language_model
from kebab.app.review_library import ReviewLibrary
from kebab.app.review_start import (
    continue_run,
    create_run,
    keep_name,
    load_document,
    open_run_store,
)
from kebab.app.review_targets import find_targets
from kebab.app.review_workers import (
    build_unusable_failure,
    build_workers,
    describe_failure,
    describe_unanswered,
    list_missing,
)
from kebab.core.progress import Cancel
from kebab.core.review_store import ReviewStore, StoredRun
from kebab.errors.catalog import InvalidInput, ReadOnly
from kebab.review.pages import PageOptions, RunPages
from kebab.review.worker import RunPorts
from kebab.wire.library import NotFound
from kebab.wire.record import decode_request
from kebab.wire.review import AgentItems, ReviewRequest, ReviewTierName

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.wire.review_stream import ReviewEvent

_PAGE_ITEMS: dict[ReviewTierName, int] = {"quick": 32, "deep": 48}


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
    _check_request(request)
    with open_run_store(context) as store:
        return _review(context, store, request, report, cancel)


def _check_request(request: ReviewRequest) -> None:
    """Refuse a request whose fields contradict each other."""
    if request.run_id is not None:
        given = {"names": request.names, "imported": request.imported, "rules": request.rules}
        for field in (name for name, value in given.items() if value):
            raise InvalidInput(field=f"$.{field}", cause="a run keeps its documents and rules")
        return
    if request.cursor is not None:
        raise InvalidInput(field="$.cursor", cause="a cursor needs the `run_id` of its page")
    if not request.names:
        raise InvalidInput(field="$.names", cause="no document is named")


def _requires_model(request: ReviewRequest) -> bool:
    """Return whether a failure of the model is an error: it is named, or the tier needs one."""
    return request.require_llm or request.model is not None or request.tier == "deep"


def _check_run(request: ReviewRequest, run: StoredRun) -> None:
    """Refuse a tier or a model that is not that of the run."""
    if request.tier == "deep" and run.tier != "deep":
        raise InvalidInput(field="$.tier", cause=f"the tier of this run is `{run.tier}`")
    if request.model not in {None, run.model}:
        cause = f"the model of this run is `{run.model}`" if run.model else "this run has no model"
        raise InvalidInput(field="$.model", cause=cause)


def _review(
    context: AppContext,
    store: ReviewStore,
    request: ReviewRequest,
    report: "Callable[[ReviewEvent], None]",
    cancel: Cancel,
) -> AgentItems | NotFound:
    library = ReviewLibrary(context)
    if request.run_id is None:
        found = _start_run(context, library, store, request)
    else:
        found = continue_run(context, store, "review", request.run_id, request.limit)
    if isinstance(found, NotFound):
        return found
    run = found
    _check_run(request, run)
    first = decode_request(run.request.encode(), ReviewRequest)
    base, full = build_workers(context, run, first)
    if request.no_llm:
        full = None
    ports = RunPorts(
        store=store,
        base=base,
        full=full,
        load=lambda file: load_document(context, library, run, first.names, file),
        report=report,
        cancel=cancel,
        build_failure=partial(build_unusable_failure, context, "review"),
        required="first"
        if full and (_requires_model(request) or _requires_model(first))
        else "never",
    )
    stored_id = None if context.read_only else run.run_id
    options = PageOptions(
        fail_on=request.fail_on,
        is_stored=not context.read_only,
        describe_failure=lambda failure: describe_failure(failure, stored_id),
        describe_unanswered=lambda count: describe_unanswered(count, "review", stored_id),
        missing=list_missing(full),
    )
    pages = RunPages(run, ports, options)
    return pages.build(pages.find_start(request.cursor), all_pages=request.all_pages)


def _start_run(
    context: AppContext, library: ReviewLibrary, store: ReviewStore, request: ReviewRequest
) -> StoredRun | NotFound:
    """Store a new run of the documents that the request names."""
    files = find_targets(context, library, request.names)
    if isinstance(files, NotFound):
        return files
    if request.imported and len(files) != 1:
        cause = f"they are about one document, and {len(files):,} are named"
        raise InvalidInput(field="$.imported", cause=cause)
    if context.read_only and len(files) > 1 and not request.all_pages:
        raise ReadOnly(operation="review of several documents")
    llm = context.settings.models.llm
    asks_model = not request.no_llm and llm.provider != "extractive"
    if not asks_model and not request.no_llm and _requires_model(request):
        cause = "a language model is needed, and `models.llm.provider` is `extractive`"
        raise InvalidInput(field="$.model" if request.model else "$.tier", cause=cause)
    names = [keep_name(name) for name in request.names]
    run = create_run(
        context,
        replace(request, names=names),
        files,
        model=(request.model or llm.model) if asks_model else None,
        page_items=request.limit or _PAGE_ITEMS[request.tier],
    )
    build_workers(context, run, request)
    if run.model is not None and (request.require_llm or request.model is not None):
        # An error leaves stdout empty, so it comes before the findings of the rules.
        require_language_model(context.settings, run.model, "review")
    store.add_run(run)
    return run
