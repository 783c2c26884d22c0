"""Translates a document: starts a run or continues one, and returns a page of segments."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.model_adapters import build_language_model
from kebab.app.review import build_unusable_failure, continue_run, open_run_store
from kebab.app.review_files import ReviewLibrary, find_targets, load_document
from kebab.core.media import MARKDOWN, PLAIN
from kebab.core.progress import Cancel
from kebab.core.review import StoredRun
from kebab.errors.catalog import InvalidInput, UnsupportedMedia
from kebab.review.pages import RunPages
from kebab.review.requests import check_translate_request, choose_model, create_run, keep_name
from kebab.review.run import RunPorts
from kebab.review.translation import TranslateWorker, build_translation, collect_targets
from kebab.text.language import get_language_name
from kebab.wire.record import NotFound, decode_request
from kebab.wire.review import AgentItems, TranslateRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.store.sqlite.reviews import SqliteReviewStore
    from kebab.wire.stream import ReviewEvent

_MEDIA = (MARKDOWN, PLAIN)


def translate(
    context: AppContext,
    request: TranslateRequest,
    report: "Callable[[ReviewEvent], None]",
    cancel: Cancel,
) -> AgentItems | NotFound:
    """Return a page of translated segments; with `all_pages` the last one, after the others.

    Raises:
        InvalidInput: The request names no document or no language, or contradicts its run.
        UnsupportedMedia: The document is neither Markdown nor plain text.
        IoError: The file cannot be read.
        InvalidCursor: The cursor belongs to another run, or to none.
        StaleCursor: The document changed since its translation began.
        ModelUnreachable: The language model cannot be reached; other failures of it before its
            first usable answer are raised too.
        Cancelled: The work was stopped before anything was done.
    """
    check_translate_request(request)
    with open_run_store(context) as store:
        library = ReviewLibrary(context)
        if request.run_id is None:
            run = _start_run(context, library, store, request)
        else:
            run = continue_run(context, store, "translate", request)
        if isinstance(run, NotFound):
            return run
        first = decode_request(run.request.encode(), TranslateRequest)
        llm = build_language_model(context.settings, run.model, operation="translate")
        load = partial(load_document, context, library, run, [first.name or ""])

        def complete(page: AgentItems) -> AgentItems:
            """Return a page; the last one with the translated text."""
            if page.has_more or not request.with_text:
                return page
            units = store.list_units(run.run_id, 0, len(store.list_states(run.run_id)))
            items = [item for unit in units for item in unit.result.items]
            named = {str(item.cid) for item in items}
            text = build_translation(load(0), collect_targets(items), named)
            return replace(page, translation=text)

        def report_complete(event: "ReviewEvent") -> None:
            if isinstance(event.data, AgentItems):
                event = replace(event, data=complete(event.data))
            report(event)

        ports = RunPorts(
            store=store,
            worker=TranslateWorker(llm, to=first.to or ""),
            asks_model=True,
            load=load,
            report=report_complete,
            cancel=cancel,
            build_failure=partial(build_unusable_failure, context, "translate"),
            fail_on=request.fail_on,
            required=True,
            is_stored=not context.read_only,
        )
        return complete(RunPages(run, ports).build(request.cursor, all_pages=request.all_pages))


def _start_run(
    context: AppContext,
    library: ReviewLibrary,
    store: "SqliteReviewStore",
    request: TranslateRequest,
) -> StoredRun | NotFound:
    """Store a new run of the document that the request names."""
    name = request.name or ""
    if context.is_owner and Path(name).is_dir():
        raise InvalidInput(field="$.name", cause="it is a folder, and one document is translated")
    files = find_targets(context, library, [name])
    if isinstance(files, NotFound):
        return files
    if len(files) != 1:
        cause = f"one document is translated, and {len(files):,} are named"
        raise InvalidInput(field="$.name", cause=cause)
    run = create_run(
        replace(request, name=keep_name(name)),
        files,
        choose_model(request, context.settings.models.llm),
        is_stored=not context.read_only,
        now=context.clock.now(),
    )
    document = load_document(context, library, run, [name], 0)
    source = document.source
    if source.media not in _MEDIA:
        raise UnsupportedMedia(path=str(source.file), media=source.media)
    if document.lang is not None and document.lang.lower() == (request.to or "").lower():
        reason = f"the document is in {get_language_name(document.lang)} already"
        raise InvalidInput(field="$.to", cause=reason)
    store.add_run(run)
    return run
