"""Describes this build, its schemas and capabilities, and the knowledge base if there is one."""

from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from msgspec import UNSET

from kebab import __version__
from kebab.app.context import UNUSABLE, AppContext, format_index_version
from kebab.app.coverage import THOROUGH_S, find_indexing, measure_stored_coverage
from kebab.app.own_files import get_vectors_folder, list_index_files, measure_size
from kebab.core.documents import EMBEDDING_VERSION, check_freshness
from kebab.errors.catalog import NotIndexed
from kebab.rag import PROMPT_VERSION
from kebab.wire.health import (
    Capabilities,
    IndexBytes,
    Introspection,
    ModelInfo,
    PluginRow,
    ReviewWork,
    SchemaRequest,
    Stats,
    WireInfo,
)
from kebab.wire.json_schema import list_schema_names
from kebab.wire.record import fill_record, format_timestamp

if TYPE_CHECKING:
    from kebab.store.sqlite.reader import SqliteReader

_SAMPLE = 256
"""The most files whose state is read, in about three milliseconds."""

_SERVES = all(map(find_spec, ("mcp", "nh3", "starlette", "uvicorn")))
_CAPABILITIES = Capabilities(
    **dict.fromkeys(Capabilities.__struct_fields__, True)
    | {
        "http_daemon": _SERVES,
        "mcp_server": find_spec("mcp") is not None,
        "web_page": _SERVES,
        "watch": find_spec("watchfiles") is not None,
        "cluster_ingest": find_spec("ray") is not None,
        "published_base": find_spec("obstore") is not None,
    }
)
_EMPTY = Stats(
    doc_count=0,
    chunk_count=0,
    asset_count=0,
    pending_embeddings=0,
    last_ingest_at=None,
    media_breakdown={},
    lang_breakdown={},
    index_bytes=IndexBytes(sqlite=0, lancedb=0),
    stale_doc_count=0,
)


def describe_build(context: AppContext, _request: SchemaRequest) -> Introspection:
    """Describe this build and its knowledge base; without an index its figures are 0."""
    stats, revision, embedding, unreadable = _EMPTY, 0, None, None
    coverage = measure_stored_coverage(context, seconds=THOROUGH_S)
    try:
        with context.open_reader() as reader:
            stats = build_stats(context, reader)
            revision = reader.get_revision()
            embedding = reader.get_value(EMBEDDING_VERSION)
    except NotIndexed as signal:
        if signal.found:
            from kebab.app.classify import View, build_error_reply

            view = View(context.settings.lang)
            unreadable = build_error_reply(signal, operation="schema", view=view)
    reviews = None  # of a damaged file nothing is known
    with suppress(*UNUSABLE), context.open_review_store() as store:
        work = store.count_work()
        reviews = ReviewWork(
            asked=work.asked,
            truncated_rate=work.truncated / work.asked if work.asked else None,
            followed_up=work.followed_up,
            followup_success_rate=work.answered / work.followed_up if work.followed_up else None,
        )
    from kebab.parse.registry import PARSERS, list_parser_versions
    from kebab.plugins import find_plugins

    return Introspection(
        kebab_version=__version__,
        wire=WireInfo(schemas=list_schema_names()),
        capabilities=_CAPABILITIES,
        models=ModelInfo(
            parser_version=PARSERS["text/markdown"].version,
            chunker_version=context.chunker_version,
            embedding_version=embedding,
            prompt_template_version=PROMPT_VERSION,
            index_version=format_index_version(embedding),
            corpus_revision=revision,
            active_parsers=list(list_parser_versions()),
            active_chunkers=[context.chunker_version],
        ),
        stats=stats,
        reviews=reviews,
        unreadable=unreadable,
        indexing=find_indexing(context) or UNSET,
        coverage=coverage,
        plugins=[fill_record(PluginRow, one) for one in find_plugins(context.settings.plugins)],
    )


def build_stats(context: AppContext, reader: "SqliteReader") -> Stats:
    """Count the contents of the knowledge base."""
    catalogue = context.build_catalogue(reader)
    counts = catalogue.count_contents()
    empty = counts.last_change is None or counts.documents == 0
    # Above a number of documents a sample tells how many are stale.
    files = catalogue.sample_files(_SAMPLE)
    stale = sum(check_freshness(file) in ("changed", "gone") for file in files)
    return Stats(
        doc_count=counts.documents,
        chunk_count=counts.chunks,
        asset_count=counts.assets,
        last_ingest_at=None if empty else format_timestamp(counts.last_change or 0.0),
        pending_embeddings=counts.pending,
        media_breakdown=dict(counts.media),
        lang_breakdown={lang or "unknown": number for lang, number in counts.lang.items()},
        index_bytes=IndexBytes(
            sqlite=sum(map(measure_size, list_index_files(context))),
            lancedb=measure_size(get_vectors_folder(context)),
        ),
        stale_doc_count=-(-stale * counts.documents // len(files)) if stale else 0,
    )
