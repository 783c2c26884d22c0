"""Reviews documents: starts a run or continues one, and returns a page of findings.

Describes the rules, too.
"""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.model_adapters import require_language_model
from kebab.app.references import build_lookup_fault
from kebab.app.review_changes import RunChanges, find_changes
from kebab.app.review_start import (
    UNLIMITED,
    ReviewLibrary,
    build_unusable_failure,
    build_worker,
    continue_run,
    create_run,
    find_given_target,
    find_targets,
    keep_name,
    load_document,
    open_run_store,
)
from kebab.core.files import resolve_links
from kebab.core.progress import Cancel
from kebab.core.review import ReviewStore, StoredRun
from kebab.core.spelling import find_likely_name
from kebab.errors.catalog import InvalidInput, ReadOnly
from kebab.review.pages import PageOptions, RunPages
from kebab.review.rules.registry import describe_rule, find_rules
from kebab.review.worker import RunPorts
from kebab.wire.record import NotFound, decode_request
from kebab.wire.review import (
    AgentItems,
    ReviewRequest,
    ReviewRules,
    ReviewRulesRequest,
    ReviewTierName,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.wire.search import DegradedChannel
    from kebab.wire.stream import ReviewEvent


def list_rules(context: AppContext, request: ReviewRulesRequest) -> ReviewRules | NotFound:
    """Return the description of a rule, or of all."""
    settings = context.settings.review
    known = find_rules(context.settings.plugins)
    rules = [describe_rule(rule, settings) for rule in known if request.rule in (None, rule.id)]
    if request.rule is not None and not rules:
        near = find_likely_name(request.rule, [rule.id for rule in known])
        message = f"no such rule: {request.rule}"
        return build_lookup_fault(request.rule, message, [near] if near else [])
    return ReviewRules(rules=rules)


_PAGE_ITEMS: dict[ReviewTierName, int] = {"quick": 32, "deep": 48}


class _Started(NamedTuple):
    """A run with its first request, and the changes that it is about."""

    run: StoredRun
    first: ReviewRequest
    changes: RunChanges | None


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
    is_stored = request.text is None and not context.read_only
    with open_run_store(context, stored=is_stored) as store:
        library = ReviewLibrary(context)
        begin = _create_run if request.run_id is None else _continue_run
        started = begin(context, library, store, request)
        if isinstance(started, NotFound):
            return started
        run, first, changes = started
        missing: dict[str, DegradedChannel] = {}
        worker = build_worker(
            context, run, first, changes, lambda one: missing.setdefault(one.reason, one)
        )
        asks_model = run.model is not None and not request.no_llm
        is_required = asks_model and (_requires_model(request) or _requires_model(first))
        if request.run_id is None:
            if is_required and run.model is not None and run.files:
                # An error leaves stdout empty, so it comes before the findings of the rules.
                require_language_model(context.settings, run.model, "review")
            store.add_run(run)
        ports = RunPorts(
            store=store,
            worker=worker,
            asks_model=asks_model,
            load=lambda file: load_document(
                context, library, run, first.names, file, text=first.text
            ),
            report=report,
            cancel=cancel,
            build_failure=partial(build_unusable_failure, context, "review"),
            required=is_required,
        )
        options = PageOptions(request.fail_on, is_stored, missing.values())
        return RunPages(run, ports, options).build(request.cursor, all_pages=request.all_pages)


def _check_request(request: ReviewRequest) -> None:
    """Refuse a request whose fields contradict each other."""
    if request.run_id is not None:
        for field in ("names", "rules", "text", "changed"):
            if getattr(request, field):
                raise InvalidInput(field=f"$.{field}", cause="a run keeps its documents and rules")
        return
    if request.cursor is not None:
        raise InvalidInput(field="$.cursor", cause="a cursor needs the `run_id` of its page")
    if not request.names:
        raise InvalidInput(field="$.names", cause="no document is named")
    if request.text is not None and len(request.names) != 1:
        raise InvalidInput(field="$.text", cause="it is that of one file, and several are named")
    if request.text is not None and request.changed is not None:
        raise InvalidInput(field="$.changed", cause="git compares files, and a text is given")


def _requires_model(request: ReviewRequest) -> bool:
    """Return whether a failure of the model is an error: it is named, or the tier needs one."""
    return request.model is not None or request.tier == "deep"


def _continue_run(
    context: AppContext, _library: ReviewLibrary, store: ReviewStore, request: ReviewRequest
) -> _Started | NotFound:
    """Return the stored run that a request continues."""
    assert request.run_id is not None, "it was checked"
    run = continue_run(context, store, "review", request.run_id, request.limit)
    if isinstance(run, NotFound):
        return run
    if request.tier == "deep" and run.tier != "deep":
        raise InvalidInput(field="$.tier", cause=f"the tier of this run is `{run.tier}`")
    if request.model not in {None, run.model}:
        cause = f"the model of this run is `{run.model}`" if run.model else "this run has no model"
        raise InvalidInput(field="$.model", cause=cause)
    first = decode_request(run.request.encode(), ReviewRequest)
    changes = None if first.changed is None else find_changes(run.files, first.changed)
    return _Started(run, first, changes)


def _create_run(
    context: AppContext, library: ReviewLibrary, _store: ReviewStore, request: ReviewRequest
) -> _Started | NotFound:
    """Return a new run of the documents that the request names; it is not stored yet."""
    if request.text is None:
        files = find_targets(context, library, request.names)
    else:
        files = find_given_target(library, request.names[0])
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
    limit = request.limit or _PAGE_ITEMS[request.tier] if request.text is None else UNLIMITED
    run = create_run(context, request, files, _choose_model(context, request), limit)
    return _Started(run, request, changes)


def _choose_model(context: AppContext, request: ReviewRequest) -> str | None:
    """Return the language model to ask; None when only the rules are applied."""
    llm = context.settings.models.llm
    asks_model = not request.no_llm and llm.provider != "extractive"
    if not asks_model and not request.no_llm and _requires_model(request):
        cause = "a language model is needed, and `models.llm.provider` is `extractive`"
        raise InvalidInput(field="$.model" if request.model else "$.tier", cause=cause)
    return (request.model or llm.model) if asks_model else None
