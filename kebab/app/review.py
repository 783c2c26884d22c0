"""Reviews documents: starts a run or continues one, returns a page of findings, applies fixes.

Finds the files that names mean, loads documents, and creates and continues runs, those of
translations too. The index is asked for what it knows about these files; a review needs no index.
"""

import glob
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.model_adapters import (
    build_language_model,
    require_language_model,
    resolve_endpoint,
)
from kebab.app.references import (
    build_lookup_fault,
    build_not_found,
    join_path,
    make_absolute,
    require_path,
    resolve_folder_of,
)
from kebab.app.review_files import (
    RunChanges,
    build_review_text,
    find_changes,
    fix_file,
    is_safe,
    list_fixes,
    read_anchors,
    read_reviewed_file,
    refuse_unwritable,
    write_file,
)
from kebab.core.documents import LinkTarget, StoredDocument
from kebab.core.files import cut_root, is_below, resolve_links
from kebab.core.ids import DocId
from kebab.core.media import is_prose
from kebab.core.progress import Cancel
from kebab.core.queries import StoredChunk
from kebab.core.review import ReviewText, RunKind, SimilarParagraph, StoredRun
from kebab.errors.catalog import (
    InvalidInput,
    IoError,
    Locked,
    NotIndexed,
    ParseFailed,
    ReadOnly,
    StoreCorrupt,
    UnsupportedMedia,
)
from kebab.errors.hints import NOT_UTF8
from kebab.errors.signal import Signal
from kebab.errors.system import build_read_error, translate_os_errors
from kebab.review.document import ReviewDocument
from kebab.review.linters import Report
from kebab.review.model_worker import ModelWorker
from kebab.review.pages import RunPages
from kebab.review.rules import Surroundings
from kebab.review.run import RunPorts, UnitWorker, name_document
from kebab.review.selection import RulesWorker, SelectingWorker, select_rules
from kebab.search.related import find_similar_passage
from kebab.store.sqlite.reviews import SqliteReviewStore
from kebab.text.filters import matches_glob
from kebab.text.normalize import escape_undecodable
from kebab.wire.record import NotFound, decode_request, encode_json
from kebab.wire.review import (
    AgentItems,
    ReviewApplied,
    ReviewApplyRequest,
    ReviewRequest,
    ReviewTierName,
    TranslateRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.wire.search import DegradedChannel
    from kebab.wire.stream import ReviewEvent

_LICENCE = re.compile(r"(?:UN)?LICEN[CS]ES?(?:[-._].*)?|COPYING(?:[-._].*)?")
"""The name of a file with a licence, whose words nobody changes."""
_UNUSABLE = (IoError, Locked, NotIndexed, StoreCorrupt)


class ReviewLibrary:
    """The documents and the sources of the index by their paths on disk."""

    def __init__(self, context: AppContext) -> None:
        self._context = context

    def find_document(self, path: str) -> StoredDocument | None:
        """Return the document of a file; None when it is unknown or the index is damaged."""
        try:
            doc_id = self._doc_ids.get(path)
            if doc_id is None:
                return None
            with self._context.open_catalogue() as catalogue:
                return catalogue.load_summary(doc_id)
        except _UNUSABLE:
            return None

    def may_read(self, path: str) -> bool:
        """Return whether the caller may learn anything about a path outside of the index.

        Both the path and what its links lead to have to be in an indexed folder.
        """
        if self._context.is_owner:
            return True
        try:
            return all(
                self.find_root(one) is not None or self.find_document(one) is not None
                for one in (path, resolve_links(path))
            )
        except _UNUSABLE:
            return False

    def find_root(self, path: str) -> str | None:
        """Return the folder of the source that contains a file or a folder, the nearest one."""
        above = [root for root in self._roots if root == path or is_below(path, root)]
        return max(above, key=len, default=None)

    @cached_property
    def _doc_ids(self) -> Mapping[str, DocId]:
        with self._context.open_catalogue() as catalogue:
            return {join_path(one): one.doc_id for one in catalogue.list_names()}

    @cached_property
    def _roots(self) -> list[str]:
        return self._context.list_folders()


def find_targets(
    context: AppContext, library: ReviewLibrary, names: Sequence[str]
) -> list[str] | NotFound:
    """Return the absolute paths of the files in order, each once, or which name means none.

    A name is a path or a pattern of paths. Files of other formats and licences are left out of
    folders and patterns.

    Raises:
        UnsupportedMedia: A file is named that is no prose.
        IoError: A name is no path, or its file cannot be read.
    """
    finder = _TargetFinder(context, library)
    files: dict[str, None] = {}
    for name in names:
        found = finder.find(name)
        if isinstance(found, NotFound):
            return found
        files |= dict.fromkeys(found)
    return list(files)


class _TargetFinder:
    """Finds the files of names, one after another."""

    def __init__(self, context: AppContext, library: ReviewLibrary) -> None:
        self._library = library
        self._rules = context.build_scan_rules()

    def find(self, name: str) -> list[str] | NotFound:
        require_path(name)
        if escape_undecodable(name) != name:
            raise build_read_error(escape_undecodable(name), NOT_UTF8)
        path = resolve_folder_of(name)
        if not self._library.may_read(path):
            return build_lookup_fault(name, f"no such document: {name}")
        if os.path.isdir(path):  # noqa: PTH112 - a plain string
            return list(self._scan(resolve_links(path)))
        if os.path.lexists(path):  # a broken link is an error, too
            stored = self._library.find_document(path)
            media = stored.media if stored else None
            read_reviewed_file(Path(path), self._rules.max_file_bytes, media)
            return [path]
        found = list(self._match(name)) if glob.has_magic(name) else []
        return found or build_lookup_fault(name, f"no such document: {name}")

    def _scan(self, folder: str, pattern: str = "**") -> Iterator[str]:
        """Yield the prose of a folder that matches, by the ignore rules of its source."""
        from kebab.source.walk import FolderScanner

        root = self._library.find_root(folder) or folder
        below = "" if folder == root else cut_root(folder, root)
        with translate_os_errors(folder, "read"):
            found = FolderScanner().scan(root, self._rules, below=below)
        top = f"{folder.rstrip('/')}/"
        counts = Counter(one.inode for one in found.entries)
        for one in found.entries:
            if counts[one.inode] > 1:
                real = resolve_links(one.absolute)
                if real != one.absolute and real.startswith(top):
                    continue  # the file that it leads to is one of these
            is_licence = _LICENCE.fullmatch(one.absolute.rpartition("/")[2])
            if is_prose(one.media) and not is_licence and matches_glob(pattern, one.absolute):
                yield one.absolute

    def _match(self, pattern: str) -> Iterator[str]:
        """Yield the files that match a pattern, by the ignore rules."""
        parts = pattern.split("/")
        first = next(index for index, part in enumerate(parts) if glob.has_magic(part))
        fixed, rest = "/".join(parts[:first]), "/".join(parts[first:])
        folder = make_absolute(fixed or ("/" if pattern.startswith("/") else "."))
        if os.path.isdir(folder):  # noqa: PTH112 - a plain string
            yield from self._scan(folder, f"{glob.escape(folder.rstrip('/'))}/{rest}")


def build_worker(
    context: AppContext,
    run: StoredRun,
    first: ReviewRequest,
    changes: RunChanges | None,
    report: Report,
) -> UnitWorker:
    """Return the worker for the units of a run.

    `first` is the request that began the run. Nothing is sent to the language model. Linters report
    what they do not check while they work.

    Raises:
        InvalidInput: A rule does not exist.
        ConfigInvalid: The settings name a rule that does not exist, or an invalid server.
    """
    disabled = context.settings.review.disable
    rules = select_rules(first.rules, disabled, run.files, report)
    worker: UnitWorker = RulesWorker(rules, _build_surroundings(context))
    if run.model is not None:
        llm = build_language_model(context.settings, run.model, operation="review")
        worker = ModelWorker(llm=llm, tier=first.tier, rules=worker)
    return SelectingWorker(
        inner=worker,
        list_changed=changes.list_lines if changes else lambda _: None,
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


UNLIMITED = 2**31
"""The items of a page when nothing is stored, so that there is no further page."""
_ID_BYTES, _SALT_BYTES = 8, 16


@contextmanager
def open_run_store(context: AppContext) -> Iterator[SqliteReviewStore]:
    """Yield the store of runs; under `--read-only` one that lasts as long as the call."""
    if context.read_only:
        with SqliteReviewStore(None) as store:
            yield store
        return
    with context.open_review_store() as store:
        yield store


def create_run(
    context: AppContext,
    request: ReviewRequest | TranslateRequest,
    files: Sequence[str],
    model: str | None,
    page_items: int,
) -> StoredRun:
    """Return a new run that is not stored yet; without storage all items are on one page."""
    return StoredRun(
        run_id=secrets.token_hex(_ID_BYTES),
        kind="review" if isinstance(request, ReviewRequest) else "translate",
        tier=request.tier if isinstance(request, ReviewRequest) else "draft",
        model=model,
        request=encode_json(request).decode(),
        files=tuple(files),
        salt=secrets.token_hex(_SALT_BYTES),
        page_items=UNLIMITED if context.read_only else page_items,
        created=context.clock.now(),
    )


def keep_name(name: str) -> str:
    """Return a name that means the same in another working folder."""
    path = Path(name).expanduser()
    return str(path.absolute()) if path.exists() else name


def continue_run(
    context: AppContext, store: SqliteReviewStore, kind: RunKind, run_id: str, limit: int | None
) -> StoredRun | NotFound:
    """Return the stored run that a request continues."""
    if context.read_only:
        raise ReadOnly(operation=f"{kind} --run-id")
    run = store.load_run(run_id)
    if run is None or run.kind != kind:
        shown = escape_undecodable(run_id)
        return build_lookup_fault(shown, f"no such run: {shown}")
    if limit not in {None, run.page_items}:
        cause = f"the pages of this run have up to {run.page_items} items"
        raise InvalidInput(field="$.limit", cause=cause)
    return run


def load_document(
    context: AppContext, library: ReviewLibrary, run: StoredRun, names: Sequence[str], file: int
) -> ReviewDocument:
    """Return a document of a run as it is now.

    Its root is the folder of its source, else that which was named, else its own.

    Raises:
        UnsupportedMedia: It is not text, or no prose.
        IoError: It cannot be read.
    """
    path = run.files[file]
    if not library.may_read(path):
        raise build_read_error(path, "it is in no folder of the index")
    above = (name for name in names if path.startswith(f"{name.rstrip('/')}/"))
    root = library.find_root(path) or max(above, key=len, default=str(Path(path).parent))
    try:
        read = build_review_text(
            Path(path),
            Path(root),
            max_bytes=context.settings.ingest.max_file_bytes,
            doc_path=name_document(path),
            stored=library.find_document(path),
        )
    except ParseFailed as fault:
        raise UnsupportedMedia(path=path, media=fault.cause) from fault
    return ReviewDocument(read)


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
    with open_run_store(context) as store:
        library = ReviewLibrary(context)
        if request.run_id is None:
            started = _create_run(context, library, request)
        else:
            started = _continue_run(context, store, request, request.run_id)
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


def _check_request(request: ReviewRequest) -> None:
    """Refuse a request whose fields contradict each other."""
    if request.run_id is not None:
        for field in ("names", "rules", "changed"):
            if getattr(request, field):
                raise InvalidInput(field=f"$.{field}", cause="a run keeps its documents and rules")
        return
    if request.cursor is not None:
        raise InvalidInput(field="$.cursor", cause="a cursor needs the `run_id` of its page")
    if not request.names:
        raise InvalidInput(field="$.names", cause="no document is named")


def _requires_model(request: ReviewRequest) -> bool:
    """Return whether a failure of the model is an error: it is named, or the tier needs one."""
    return request.model is not None or request.tier == "deep"


def _continue_run(
    context: AppContext, store: SqliteReviewStore, request: ReviewRequest, run_id: str
) -> _Started | NotFound:
    """Return the stored run that a request continues."""
    run = continue_run(context, store, "review", run_id, request.limit)
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
    limit = request.limit or _PAGE_ITEMS[request.tier]
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


def apply_fixes(context: AppContext, request: ReviewApplyRequest) -> ReviewApplied | NotFound:
    """Apply the fixes of a run, or return what they would change.

    Every file is checked before the first fix is written.

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
        applied = [replace(file.reply, backup=str(write_file(file))) for file in files]
    return ReviewApplied(
        run_id=request.run_id,
        dry_run=request.dry_run,
        files=applied,
        waiting=waiting,
        refused=sum(file.refused for file in fixed),
    )
