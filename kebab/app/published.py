"""The published bases of a knowledge base: lists, describes, removes and asks them."""

from contextlib import suppress

from msgspec.structs import asdict

from kebab.app.context import AppContext
from kebab.config.load import replace_setting
from kebab.config.settings import AUTO, find_copy_folder
from kebab.core.progress import Cancel, ProgressCallback
from kebab.core.queries import COLUMN_WEIGHTS, Mode, Query
from kebab.errors.catalog import EmbeddingMismatch, EmbeddingUnavailable, InvalidInput
from kebab.errors.system import translate_os_errors
from kebab.platform import delete_path
from kebab.search.query_parser import parse_query
from kebab.store.objects import resolve_address
from kebab.store.published_copy import PublishedCopy, read_state
from kebab.wire.library import SourceRemoved, SourceSummary
from kebab.wire.published import PublishedBase, Registration, SourceAdded, SourceAddRequest
from kebab.wire.record import format_timestamp


def describe_base(base: Registration) -> PublishedBase:
    """Return what is known of a base, without a look at its store."""
    state = read_state(base.url, base.mode)
    found = state and state.manifest
    return PublishedBase(
        **asdict(base),
        documents=found.documents if found else 0,
        chunks=found.chunks if found else 0,
        created_at=found.created_at if found else None,
        checked_at=format_timestamp(state.checked_at) if state else None,
        problem=state.problem if state else "there is no copy yet",
        coverage=found.coverage if found else None,
    )


def choose_candidates(context: AppContext, query: Query) -> None:
    """Let the store of a base that is not copied choose the passages that are compared."""
    parsed = [parse_query(text, query.filters) for text in (query.text, *query.more)]
    words = [term.text for one in parsed for term in one.terms or one.stop_terms]
    _ = context.paths
    assert context.published is not None, "the base is published"
    state, vector = context.published.state, None
    version = state.manifest.embedding_version if state else None
    if version and query.mode is not Mode.LEXICAL:
        embedder = context.embedders.load_installed(version)
        if embedder is not None and embedder.supports(query.text):
            vector = embedder.embed_query(query.text)
    context.use_index(context.published.find_candidates(words, vector, COLUMN_WEIGHTS))


def add_source(
    context: AppContext, request: SourceAddRequest, report: ProgressCallback
) -> SourceAdded:
    """List a published base, and pull its first copy.

    Raises:
        InvalidInput: The address cannot be used, or the name is taken.
        IoError: The store cannot be read, or nothing is published there.
        StoreCorrupt: What is published is damaged.
        NotIndexed: A newer kebab published it.
        ReadOnly: Writing is switched off.
    """
    context.refuse_when_read_only("source add")
    started = context.clock.monotonic()
    url, name = resolve_address(request.url, "$.url"), request.name
    if not name:
        last = url.rpartition("/")[2]
        name = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in last)
        if not name.isascii() or not name[:1].isalnum():
            cause = f"the address gives no name; choose one: {url}"
            raise InvalidInput(field="$.name", cause=cause)
    same = [one for one in context.bases.load().values() if one.name == name or one.url == url]
    if any(one.url != url for one in same):
        raise InvalidInput(field="$.name", cause=f"another base has this name: {name}")
    settings = replace_setting(context.settings, "data_dir", url)
    if request.mode != AUTO:
        settings = replace_setting(settings, "published.mode", request.mode)
    copy = PublishedCopy(settings)
    base = Registration(name=name, url=url, mode=copy.mode)
    copy.refresh(context.clock.now(), at_once=True)
    context.bases.save(base)
    for other in {one.name for one in same} - {name}:
        context.bases.remove(other)
    opened = context.bases.open(base)
    if version := opened.get_stored_version():
        # Words are searched, and every reply says so.
        with suppress(EmbeddingMismatch, EmbeddingUnavailable):
            opened.embedders.obtain(version, report, Cancel())
    return SourceAdded(
        base=describe_base(base),
        pulled_bytes=copy.pulled_bytes,
        duration_ms=(context.clock.monotonic() - started) * 1000,
    )


def remove_base(context: AppContext, base: Registration, *, dry_run: bool) -> SourceRemoved:
    """Remove a published base and its copy; a dry run only says what would be removed."""
    found = describe_base(base)
    summary = SourceSummary(
        name=found.name,
        folder=found.url,
        kind="published",
        state="present",
        documents=found.documents,
        chunks=found.chunks,
        last_ingest_at=found.created_at,
    )
    if not dry_run:
        context.bases.remove(base.name)
        folder = find_copy_folder(base.url)
        if folder.exists():
            with translate_os_errors(folder, "write"):
                delete_path(folder)
    return SourceRemoved(source=summary, dry_run=dry_run, returns=False)
