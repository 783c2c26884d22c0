"""Translates a document: starts a run or continues one, and returns a page of segments."""

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.model_adapters import build_language_model
from kebab.app.review_start import (
    ReviewLibrary,
    build_unusable_failure,
    continue_run,
    create_run,
    describe_failure,
    describe_unanswered,
    find_targets,
    keep_name,
    load_document,
    open_run_store,
)
from kebab.app.review_surroundings import list_terms
from kebab.app.review_text import read_text_markup
from kebab.core.media import MARKDOWN, PLAIN
from kebab.core.progress import Cancel
from kebab.core.review import ReviewStore, StoredRun, UnitResult
from kebab.errors.catalog import InvalidInput, UnsupportedMedia
from kebab.review.document import ReviewDocument
from kebab.review.items import build_items
from kebab.review.pages import PageOptions, RunPages
from kebab.review.translate_worker import TranslateWorker, collect_targets
from kebab.review.translation import TranslationBuilder
from kebab.review.worker import RunPorts
from kebab.text.language import get_language_name
from kebab.wire.record import NotFound, decode_request
from kebab.wire.review import AgentItems, TranslatedText, TranslateRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kebab.wire.stream import ReviewEvent

    ReviewCallback = Callable[[ReviewEvent], None]

_PAGE_ITEMS = 32
_MEDIA = (MARKDOWN, PLAIN)
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")


def translate(
    context: AppContext, request: TranslateRequest, report: "ReviewCallback", cancel: Cancel
) -> AgentItems | NotFound:
    """Return a page of translated segments; with `all_pages` the last one, after the others.

    Raises:
        InvalidInput: The request names no document or no language, or contradicts its run.
        UnsupportedMedia: The document is neither Markdown nor plain text.
        IoError: The file cannot be read.
        InvalidCursor: The cursor belongs to another run, or to none.
        StaleCursor: The document changed since its translation began.
        ModelUnreachable: The language model cannot be reached; other failures of it are raised too.
        Cancelled: The work was stopped before anything was done.
    """
    _check_request(request)
    with open_run_store(context) as store:
        return _translate(context, store, request, report, cancel)


def _check_request(request: TranslateRequest) -> None:
    """Refuse a request whose fields are missing or contradict each other."""
    if request.run_id is not None:
        given = {"name": request.name, "to": request.to}
        for field in (name for name, value in given.items() if value is not None):
            raise InvalidInput(field=f"$.{field}", cause="a run keeps its document and language")
        return
    if request.cursor is not None:
        raise InvalidInput(field="$.cursor", cause="a cursor needs the `run_id` of its page")
    if not request.name:
        raise InvalidInput(field="$.name", cause="no document is named")
    if request.to is None or not _TAG.fullmatch(request.to):
        cause = "it is no language tag such as `ko` or `pt-BR`"
        raise InvalidInput(field="$.to", cause="no language is named" if not request.to else cause)


def _translate(
    context: AppContext,
    store: ReviewStore,
    request: TranslateRequest,
    report: "ReviewCallback",
    cancel: Cancel,
) -> AgentItems | NotFound:
    library = ReviewLibrary(context)
    if request.run_id is None:
        found = _start_run(context, library, store, request)
    else:
        found = continue_run(context, store, "translate", request.run_id, request.limit)
    if isinstance(found, NotFound):
        return found
    first = decode_request(found.request.encode(), TranslateRequest)
    llm = build_language_model(context.settings, found.model, operation="translate")
    terms = list_terms(context.settings.review.glossary)
    worker = TranslateWorker(llm, tier=first.tier, to=first.to or "", glossary=terms)
    load = partial(load_document, context, library, found, [first.name or ""])
    completion = _PageCompletion(found, store, load, with_text=request.with_text)
    ports = RunPorts(
        store=store,
        base=worker,
        full=worker,
        load=load,
        report=lambda event: report(completion.complete_event(event)),
        cancel=cancel,
        build_failure=partial(build_unusable_failure, context, "translate"),
        required="always",
    )
    options = PageOptions(
        fail_on=request.fail_on,
        is_stored=not context.read_only,
        describe_failure=lambda failure: describe_failure(failure, None),
        describe_unanswered=lambda count: describe_unanswered(
            count, "translate", None if context.read_only else found.run_id
        ),
    )
    pages = RunPages(found, ports, options)
    page = pages.build(pages.find_start(request.cursor), all_pages=request.all_pages)
    return completion.complete(page)


def _start_run(
    context: AppContext, library: ReviewLibrary, store: ReviewStore, request: TranslateRequest
) -> StoredRun | NotFound:
    """Store a new run of the document that the request names."""
    name = request.name or ""
    if context.is_owner and Path(name).is_dir():
        raise InvalidInput(field="$.name", cause="it is a folder, and one document is translated")
    found = find_targets(context, library, [name])
    if isinstance(found, NotFound):
        return found
    files = found.files
    if len(files) != 1:
        cause = f"one document is translated, and {len(files):,} are named"
        raise InvalidInput(field="$.name", cause=cause)
    llm = context.settings.models.llm
    if llm.provider == "extractive":
        cause = "a language model is needed, and `models.llm.provider` is `extractive`"
        raise InvalidInput(field="$.model", cause=cause)
    run = create_run(
        context,
        replace(request, name=keep_name(name)),
        files,
        model=request.model or llm.model,
        page_items=request.limit or _PAGE_ITEMS,
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


class _PageCompletion(Struct):
    """Adds to the pages of a run what a translation has besides its items."""

    run: StoredRun
    store: ReviewStore
    load: "Callable[[int], ReviewDocument]"
    with_text: bool
    done: tuple[AgentItems, AgentItems] | None = None

    def complete_event(self, event: "ReviewEvent") -> "ReviewEvent":
        page = event.data.page
        if not isinstance(page, AgentItems):
            return event
        return replace(event, data=replace(event.data, page=self.complete(page)))

    def complete(self, page: AgentItems) -> AgentItems:
        """Return a page with the rating so far, and the last one with the translated text."""
        if self.done is None or self.done[0] is not page:
            self.done = page, self._build(page)
        return self.done[1]

    def _build(self, page: AgentItems) -> AgentItems:
        last = max((part.next for part in self.store.list_documents(self.run.run_id)), default=0)
        units = self.store.list_units(self.run.run_id, 0, last)
        results = [unit.result for unit in units if unit.result is not None]
        segments = page.stats.segments or ()
        if segments:
            score = _compute_score(results, max(one.cid for one in segments))
            page = replace(page, stats=replace(page.stats, score=score))
        if self.with_text and not page.has_more:
            page = replace(page, translation=_build_text(self.load(0), results))
        return page


def _compute_score(results: "Sequence[UnitResult]", last: str) -> float:
    """Return the mean rating of the segments up to one, weighted by the length of their source."""
    lengths = {str(item.cid): item.o[1] - item.o[0] for result in results for item in result.items}
    # The last rating of a segment counts, because a unit may be repeated.
    scores = {cid: score for result in results for cid, score in result.scores if cid <= last}
    weights = {cid: lengths.get(cid, 1) for cid in scores}
    return sum(scores[cid] * weights[cid] for cid in scores) / sum(weights.values())


def _build_text(document: ReviewDocument, results: "Sequence[UnitResult]") -> TranslatedText:
    targets = collect_targets(item for result in results for item in result.items)
    source = document.source
    read = partial(read_text_markup, source.file, source.media)
    built = TranslationBuilder(document, read).build(targets)
    findings, _ = build_items(document, built.findings)
    return TranslatedText(
        text=built.text, segments=built.segments, translated=built.translated, findings=findings
    )
