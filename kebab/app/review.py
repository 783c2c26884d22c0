"""Reviews documents: starts a run or continues one, and returns a page of findings.

Writes their fixes; lists, deletes and counts the stored runs, and describes the rules.

Every file is checked before the first fix is written. A file is replaced in one step, so that a
failure leaves it as it was, and a copy of it stays beside it.
"""

import difflib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from errno import EACCES
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.conversions import format_timestamp, parse_time
from kebab.app.library import build_not_found
from kebab.app.model_adapters import require_language_model
from kebab.app.review_rules import RulesReader, RulesResults
from kebab.app.review_start import (
    ReviewLibrary,
    build_unusable_failure,
    build_workers,
    continue_run,
    create_run,
    describe_failure,
    describe_unanswered,
    find_targets,
    keep_name,
    list_missing,
    load_document,
    open_run_store,
)
from kebab.app.schema import build_stats, build_unreadable
from kebab.core.durable import sync_names
from kebab.core.ids import hash_content
from kebab.core.progress import Cancel
from kebab.core.review import ReviewStore, RunSummary, StoredRun, WorkCounts
from kebab.core.spelling import find_near_name
from kebab.errors.catalog import InvalidInput, NotIndexed, ReadOnly, StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.parse.encoding import decode_raw, encode_raw
from kebab.platform import copy_owner, open_descriptor, rename_over
from kebab.review.pages import PageOptions, RunPages
from kebab.review.rules.registry import describe_rule, find_rules
from kebab.review.worker import RunPorts
from kebab.wire.record import NotFound, decode_request
from kebab.wire.review import (
    AgentItem,
    AgentItems,
    AppliedFile,
    ItemFix,
    ReviewApplied,
    ReviewApplyRequest,
    ReviewRemoved,
    ReviewRequest,
    ReviewRmRequest,
    ReviewRules,
    ReviewRulesRequest,
    ReviewRun,
    ReviewRuns,
    ReviewRunsRequest,
    ReviewStats,
    ReviewTierName,
    StatsRequest,
    TierName,
    TierStats,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.wire.stream import ReviewEvent

_MOST_EDITS = 4


class _RequestNames(msgspec.Struct):
    """The documents that the first request of a run names."""

    names: list[str] = []
    name: str | None = None


_DECODER = msgspec.json.Decoder(_RequestNames)


def list_runs(context: AppContext, _request: ReviewRunsRequest) -> ReviewRuns:
    """Return every run, the newest first."""
    with context.open_review_store() as store:
        runs = list(map(_to_run, store.list_runs()))
    return ReviewRuns(runs=runs, keep_days=context.settings.review.keep_days)


def _to_run(run: RunSummary) -> ReviewRun:
    request = _DECODER.decode(run.request)
    return ReviewRun(
        run_id=run.run_id,
        kind=run.kind,
        names=request.names or [request.name or ""],
        tier=msgspec.convert(run.tier, TierName),
        model=run.model,
        created_at=format_timestamp(run.created),
        updated_at=format_timestamp(run.updated),
        documents=run.documents,
        units_done=run.units_done,
        item_count=run.items,
        completed=run.completed,
    )


def remove_runs(context: AppContext, request: ReviewRmRequest) -> ReviewRemoved | NotFound:
    """Delete runs; when one does not exist, none is deleted.

    Raises:
        ReadOnly: Writing is switched off.
    """
    context.refuse_when_read_only("review --forget")
    names = list(dict.fromkeys(request.runs))
    with context.open_review_store() as store:
        for name in names:
            if store.load_run(name) is None:
                return build_not_found(name, "run")
        for name in names:
            store.delete_run(name)
    return ReviewRemoved(runs=names, found=True)


def list_rules(context: AppContext, request: ReviewRulesRequest) -> ReviewRules | NotFound:
    """Return the description of a rule, or of all."""
    disabled = context.settings.review.disable
    known = find_rules(context.settings.plugins)
    rules = [
        describe_rule(rule, enabled=rule.id not in disabled)
        for rule in known
        if request.rule in (None, rule.id)
    ]
    if request.rule is not None and not rules:
        missing = build_not_found(request.rule, "rule")
        near = find_near_name(request.rule, [rule.id for rule in known], _MOST_EDITS)
        candidates = [near] if near else []
        return replace(missing, error=replace(missing.error, candidates=candidates))
    return ReviewRules(rules=rules)


def count_review_work(context: AppContext, request: StatsRequest) -> ReviewStats:
    """Count the contents of the index and the work by tier; there is none where nothing is stored.

    Raises:
        InvalidInput: `since` cannot be read.
    """
    since = request.since
    start = None if since is None else parse_time(since, "$.since", context.clock.now())
    with context.open_review_store() as store:
        counts = store.count_work(start)
    library = unreadable = None
    try:
        with context.open_reader() as reader:
            library = build_stats(context, reader)
    except (NotIndexed, StoreCorrupt) as signal:
        if not isinstance(signal, NotIndexed) or signal.found:
            unreadable = build_unreadable(context, signal, "stats")
    return ReviewStats(
        since=None if start is None else format_timestamp(start),
        tiers=[_build_tier_stats(one) for one in counts],
        library=library,
        unreadable=unreadable,
    )


def _build_tier_stats(counts: WorkCounts) -> TierStats:
    requests = counts.requests
    return TierStats(
        kind=counts.kind,
        tier=cast("TierName", counts.tier),
        runs=counts.runs,
        units=counts.units,
        items=counts.items,
        requests=requests,
        items_per_response=counts.answered / requests if requests else 0.0,
        prompt_tokens=counts.prompt_tokens,
        completion_tokens=counts.completion_tokens,
        latency_ms=counts.latency_ms / requests if requests else 0.0,
        downshift_count=counts.downshifts,
        forced_pagination_count=counts.forced_pages,
        cursor_retry_count=counts.cursor_retries,
        json_repair_count=counts.json_repairs,
    )


_RUN = "$.run_id"
_UNIT = 2
"""The bytes of a UTF-16 code unit."""
_CODEC = "utf-16-le"
_MOST_COPIES = 1000


class FixedFile(Struct, frozen=True):
    """A file with its bytes before and after its fixes."""

    path: Path
    before: bytes
    after: bytes
    applied: int
    overlapping: int
    diff: str


def apply_fixes(context: AppContext, request: ReviewApplyRequest) -> ReviewApplied | NotFound:
    """Apply the fixes of a run, or return what they would change.

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
            raise InvalidInput(field=_RUN, cause="the run is a translation, which has no fixes")
        chosen = list(_list_fixes(store, run, request.uids))
    files = [fix_file(path, content_hash, items) for path, content_hash, items in chosen]
    if request.dry_run:
        return _build_reply(request, [_describe(file, None) for file in files])
    for file in files:
        with translate_os_errors(file.path, "write"):
            is_writable = file.path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
            if not is_writable or not os.access(file.path, os.W_OK):
                raise PermissionError(EACCES, "the file is read-only", str(file.path))
    return _build_reply(request, [_describe(file, write_file(file)) for file in files])


def _build_reply(request: ReviewApplyRequest, files: list[AppliedFile]) -> ReviewApplied:
    return ReviewApplied(run_id=request.run_id, dry_run=request.dry_run, files=files)


def _describe(file: FixedFile, backup: Path | None) -> AppliedFile:
    return AppliedFile(
        file=str(file.path),
        backup=str(backup) if backup else None,
        applied=file.applied,
        overlapping=file.overlapping,
        diff=file.diff,
    )


def _list_fixes(
    store: ReviewStore, run: StoredRun, uids: Collection[str] | None
) -> Iterator[tuple[Path, str, list[AgentItem]]]:
    """Yield each file with its hash and the items whose fixes are chosen.

    Raises:
        InvalidInput: The run has no item with one of the ids.
    """
    by_file: dict[int, tuple[str, list[AgentItem]]] = {}
    for document in store.list_documents(run.run_id):
        _, items = by_file.setdefault(document.file, (document.content_hash, []))
        for unit in store.list_units(run.run_id, document.first, document.first + document.units):
            items += unit.result.items if unit.result else ()
    known = {item.uid for _, items in by_file.values() for item in items}
    for uid in uids or ():
        if uid not in known:
            raise InvalidInput(field="$.uids", cause=f"the run has no item `{uid}`")
    for number, (content_hash, items) in sorted(by_file.items()):
        chosen = [
            item
            for item in items
            if item.t != "note"
            and isinstance(item.fix, ItemFix)
            and (uids is None or item.uid in uids)
        ]
        if chosen:
            yield Path(run.files[number]), content_hash, chosen


def fix_file(path: Path, content_hash: str, items: Sequence[AgentItem]) -> FixedFile:
    """Return a file with its fixes applied; nothing is written.

    Raises:
        InvalidInput: The file has other bytes than those that were reviewed, or its encoding lacks
            a character of a fix.
        IoError: It cannot be read.
    """
    with translate_os_errors(path, "read"):
        data = path.read_bytes()
    if hash_content(data) != content_hash:
        raise InvalidInput(field=_RUN, cause=f"the file changed since the review: {path}")
    before = data
    decoded = decode_raw(before, str(path))
    chosen = select_fixes(items)
    text = replace_units(decoded.text, chosen)
    after = encode_raw(text, decoded, before)
    if after is None:
        cause = f"the encoding {decoded.encoding} of {path} lacks a character of the fixes"
        raise InvalidInput(field=_RUN, cause=cause)
    diff = compare_texts(decoded.text, text, path.name)
    return FixedFile(path, before, after, len(chosen), len(items) - len(chosen), diff)


def select_fixes(items: Sequence[AgentItem]) -> list[AgentItem]:
    """Return the items in the order of the text, without those that overlap an earlier one."""
    chosen: list[AgentItem] = []
    for item in sorted(items, key=lambda item: item.o[0]):
        last = chosen[-1].o if chosen else None
        if last is None or (item.o[0] >= last[1] and item.o != last):
            chosen.append(item)
    return chosen


def replace_units(text: str, items: Sequence[AgentItem]) -> str:
    """Return a text with the fixes of items, which do not overlap and are in order."""
    units = text.encode(_CODEC, "surrogatepass")
    parts, done = [], 0
    for item in items:
        start, end = (offset * _UNIT for offset in item.o)
        assert isinstance(item.fix, ItemFix)
        parts += [units[done:start], item.fix.text.encode(_CODEC, "surrogatepass")]
        done = end
    return b"".join([*parts, units[done:]]).decode(_CODEC, "surrogatepass")


def compare_texts(before: str, after: str, name: str) -> str:
    """Return the differences of two texts in the unified format; line ends do not count."""
    old, new = (StringIO(text, newline=None).readlines() for text in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def write_file(file: FixedFile) -> Path:
    """Replace a file, and return the path of the copy of the original beside it.

    The file that a symbolic link names is replaced. Permissions stay.

    Raises:
        InvalidInput: The file changed meanwhile.
        IoError: It cannot be written; it is as it was.
    """
    with translate_os_errors(file.path, "write"):
        target = file.path.resolve(strict=True)
        present = target.read_bytes()
    if present != file.before:
        raise InvalidInput(field=_RUN, cause=f"the file changed since the review: {file.path}")
    with translate_os_errors(file.path, "write"):
        status = target.stat()
        backup = _create_copy(target, file.before, status)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.kebab")
        is_replacing = False
        try:
            _create_file(temporary, file.after, status)
            sync_names(target.parent)  # a cut must not leave the new text without the copy
            is_replacing = True
            rename_over(temporary, target)
        except BaseException as failure:
            # A signal may come when the file is replaced already; then the copy is the original.
            is_kept = is_replacing and not isinstance(failure, OSError)
            for leftover in (temporary,) if is_kept else (temporary, backup):
                with suppress(OSError):
                    leftover.unlink()
            raise
        sync_names(target.parent)
    return backup


def _create_copy(target: Path, data: bytes, status: os.stat_result) -> Path:
    """Write the bytes to `FILE.orig`, or to `FILE.orig.2` and so on when that exists."""
    for number in range(1, _MOST_COPIES):
        end = ".orig" if number == 1 else f".orig.{number}"
        path = target.with_name(target.name + end)
        with suppress(FileExistsError):
            _create_file(path, data, status)
            return path
    raise FileExistsError(EACCES, "too many copies of the original", str(target))


def _create_file(path: Path, data: bytes, status: os.stat_result) -> None:
    """Write a new file with the permissions and the owner of another one to the disk."""
    handle = open_descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
            opened.flush()
            copy_owner(opened.fileno(), status)
            os.fsync(opened.fileno())
    except BaseException:
        path.unlink()
        raise


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
    with open_run_store(context) as store, ExitStack() as undo:
        library = ReviewLibrary(context)
        if request.run_id is None:
            found = _start_run(context, library, store, request)
        else:
            found = continue_run(context, store, "review", request.run_id, request.limit)
        if isinstance(found, NotFound):
            return found
        run = found
        if request.tier == "deep" and run.tier != "deep":
            raise InvalidInput(field="$.tier", cause=f"the tier of this run is `{run.tier}`")
        if request.model not in {None, run.model}:
            cause = (
                f"the model of this run is `{run.model}`" if run.model else "this run has no model"
            )
            raise InvalidInput(field="$.model", cause=cause)
        first = decode_request(run.request.encode(), ReviewRequest)
        base, full = build_workers(context, run, first)
        if request.no_llm:
            full = None
        results = None
        if run.model is None and not first.imported:
            reader = RulesReader(context, run, first)
            results = RulesResults(reader, store, run.files, cancel, is_long=request.all_pages)
            undo.callback(results.close)
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
            take_rules_result=results.take if results else lambda _: None,
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
