"""Prepares the runs of reviews and translations.

Finds the files that names mean, loads documents, creates and continues runs, and builds the
workers.

The index is asked for what it knows about these files; a review needs no index.
"""

import glob
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from kebab.app.context import AppContext
from kebab.app.model_adapters import build_language_model, resolve_endpoint
from kebab.app.references import (
    build_lookup_fault,
    join_path,
    make_absolute,
    require_path,
    resolve_folder_of,
)
from kebab.app.review_changes import RunChanges
from kebab.app.review_surroundings import (
    build_surroundings,
    list_terms,
)
from kebab.app.review_text import build_review_text, read_reviewed_file
from kebab.core.documents import StoredDocument
from kebab.core.files import cut_root, is_below, resolve_links
from kebab.core.ids import DocId
from kebab.core.media import is_prose
from kebab.core.queries import Filters
from kebab.core.review import ReviewStore, RunKind, StoredRun
from kebab.errors.catalog import (
    ConfigInvalid,
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
from kebab.review.model_worker import ModelWorker
from kebab.review.prompts import KINDS
from kebab.review.rules.linters import Report
from kebab.review.rules.registry import describe_unknown, find_rules, select_rules
from kebab.review.run import name_document
from kebab.review.selection import SelectingWorker
from kebab.review.worker import RulesWorker, UnitWorker
from kebab.store.sqlite.reviews import SqliteReviewStore
from kebab.text.globs import matches_glob
from kebab.text.normalize import escape_undecodable
from kebab.wire.record import NotFound, encode_json
from kebab.wire.review import ReviewRequest, TranslateRequest

_LICENCE = re.compile(r"(?:UN)?LICEN[CS]ES?(?:[-._].*)?|COPYING(?:[-._].*)?")
"""The name of a file with a licence, whose words nobody changes."""
_FEW_FILES = 20
"""Up to how many documents are looked up one by one, which reads all of their paths each time."""
_UNUSABLE = (IoError, Locked, NotIndexed, StoreCorrupt)


class ReviewLibrary:
    """The documents and the sources of the index by their paths on disk."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._lookups = 0

    def find_document(self, path: str) -> StoredDocument | None:
        """Return the document of a file; None when it is unknown or the index is damaged."""
        self._lookups += 1
        try:
            if self._lookups > _FEW_FILES:
                return self._documents.get(path)
            with self._context.open_catalogue() as catalogue:
                found = catalogue.resolve_document(path)
                return catalogue.load_summary(DocId(found)) if isinstance(found, str) else None
        except _UNUSABLE:
            return None

    def may_read(self, path: str) -> bool:
        """Return whether the caller may learn anything about a path outside of the index.

        Both the path and what its links lead to have to be in an indexed folder.
        """
        if self._context.is_owner:
            return True
        return all(self._knows(one) for one in (path, resolve_links(path)))

    def _knows(self, path: str) -> bool:
        """Return whether the index has a folder above a path, or the path itself."""
        try:
            return self.find_root(path) is not None or self.find_document(path) is not None
        except _UNUSABLE:
            return False

    def find_root(self, path: str) -> str | None:
        """Return the folder of the source that contains a file or a folder, the nearest one."""
        above = [root for root in self._roots if root == path or is_below(path, root)]
        return max(above, key=len, default=None)

    @cached_property
    def _documents(self) -> Mapping[str, StoredDocument]:
        with self._context.open_catalogue() as catalogue:
            found = catalogue.list_documents(Filters(), limit=-1).documents
        return {join_path(one): one for one in found}

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


def find_given_target(library: ReviewLibrary, name: str) -> list[str] | NotFound:
    """Return the absolute path of a file whose text is given, so that it need not exist."""
    require_path(name)
    path = resolve_folder_of(name)
    if not library.may_read(path):
        return build_lookup_fault(name, f"no such document: {name}")
    return [path]


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
            self._check_file(path)
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
            if counts[one.inode] > 1 and _is_link_within(one.absolute, top):
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

    def _check_file(self, path: str) -> None:
        """Raise what is wrong with a file that was named."""
        stored = self._library.find_document(path)
        read_reviewed_file(Path(path), self._rules.max_file_bytes, stored.media if stored else None)


def _is_link_within(path: str, top: str) -> bool:
    real = resolve_links(path)
    return real != path and real.startswith(top)


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
    settings = context.settings.review
    known = find_rules(
        context.settings.plugins,
        run.files,
        is_given=first.text is not None,
        report=report,
    )
    applied = select_rules(first.rules, settings.disable, known)
    kinds = {kind for tier in KINDS.values() for kind in tier}
    names = {*kinds, *(one.id for one in known), *(one.kind for one in known)}
    for cause in describe_unknown(settings.severity, names):
        raise ConfigInvalid(path="review.severity", cause=cause)
    surroundings = build_surroundings(context)
    worker: UnitWorker = RulesWorker(applied, surroundings)
    if run.model is not None:
        worker = ModelWorker(
            llm=build_language_model(context.settings, run.model, operation="review"),
            tier=first.tier,
            rules=worker,
            glossary=list_terms(settings.glossary),
        )
    return SelectingWorker(
        inner=worker,
        severities=settings.severity,
        list_changed=changes.list_lines if changes else lambda _: None,
        keep_doubtful=first.rules is not None,
    )


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
def open_run_store(context: AppContext, *, stored: bool = True) -> Iterator[ReviewStore]:
    """Yield the store of runs; under `--read-only` one that lasts as long as the call."""
    if context.read_only or not stored:
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
    context: AppContext, store: ReviewStore, kind: RunKind, run_id: str, limit: int | None
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


def find_review_root(library: ReviewLibrary, names: Sequence[str], path: str) -> str:
    """Return the folder of the source of a file, else that which was named, else its own."""
    named = (name for name in names if path.startswith(f"{name.rstrip('/')}/"))
    return library.find_root(path) or max(named, key=len, default=str(Path(path).parent))


def load_document(
    context: AppContext,
    library: ReviewLibrary,
    run: StoredRun,
    names: Sequence[str],
    file: int,
    *,
    text: str | None = None,
) -> ReviewDocument:
    """Return a document of a run as it is now, or with the text that was given for it.

    Raises:
        UnsupportedMedia: It is not text, or no prose.
        IoError: It cannot be read.
    """
    path = run.files[file]
    if not library.may_read(path):
        raise build_read_error(path, "it is in no folder of the index")
    root = find_review_root(library, names, path)
    try:
        read = build_review_text(
            Path(path),
            Path(root),
            max_bytes=context.settings.ingest.max_file_bytes,
            doc_path=name_document(path),
            stored=library.find_document(path),
            given=text,
        )
    except ParseFailed as fault:
        raise UnsupportedMedia(path=path, media=fault.cause) from fault
    return ReviewDocument(read)
