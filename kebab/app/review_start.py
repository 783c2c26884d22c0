"""Creates and continues the runs of reviews and translations, and loads their documents."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kebab.app.context import AppContext
from kebab.app.references import build_lookup_fault
from kebab.app.review_library import ReviewLibrary
from kebab.app.review_text import build_review_text
from kebab.core.own_process import require_own_process
from kebab.core.review_store import ReviewStore, RunKind, StoredRun
from kebab.errors.catalog import InvalidInput, ParseFailed, ReadOnly, UnsupportedMedia
from kebab.review.document import ReviewDocument
from kebab.review.memory_store import MemoryReviewStore
from kebab.text.normalize import escape_undecodable
from kebab.wire.library import NotFound
from kebab.wire.record import encode_json
from kebab.wire.review import ReviewRequest, TranslateRequest

_UNLIMITED = 2**31
_ID_BYTES, _SALT_BYTES = 8, 16


@contextmanager
def open_run_store(context: AppContext) -> Iterator[ReviewStore]:
    """Yield the store of runs; under `--read-only` one that lasts as long as the call."""
    if context.read_only:
        yield MemoryReviewStore()
        return
    require_own_process()
    with context.open_review_store() as store:
        yield store


def create_run(
    context: AppContext,
    request: ReviewRequest | TranslateRequest,
    files: Sequence[str],
    *,
    model: str | None,
    page_items: int,
) -> StoredRun:
    """Return a new run that is not stored yet; without storage all items are on one page."""
    now = context.clock.now()
    return StoredRun(
        run_id=secrets.token_hex(_ID_BYTES),
        kind="review" if isinstance(request, ReviewRequest) else "translate",
        tier=request.tier,
        model=model,
        request=encode_json(request).decode(),
        files=tuple(files),
        salt=secrets.token_hex(_SALT_BYTES),
        page_items=_UNLIMITED if context.read_only else page_items,
        created=now,
        updated=now,
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


def load_document(
    context: AppContext, library: ReviewLibrary, run: StoredRun, names: Sequence[str], file: int
) -> ReviewDocument:
    """Return a document of a run as it is now.

    Raises:
        UnsupportedMedia: It is not text, or no prose.
        IoError: It cannot be read.
    """
    path = run.files[file]
    named = (name for name in names if path.startswith(f"{name.rstrip('/')}/"))
    root = library.find_root(path) or max(named, key=len, default=str(Path(path).parent))
    try:
        text = build_review_text(
            Path(path),
            Path(root),
            max_bytes=context.settings.ingest.max_file_bytes,
            doc_path=_show_path(path),
            stored=library.find_document(path),
        )
    except ParseFailed as fault:
        raise UnsupportedMedia(path=path, media=fault.cause) from fault
    return ReviewDocument(text)


def _show_path(path: str) -> str:
    """Return a path as a person would write it: below the working folder without that."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (OSError, ValueError):
        return path
