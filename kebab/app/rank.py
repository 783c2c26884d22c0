"""Orders lines by a query, without an index."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kebab.app.context import AppContext
from kebab.app.coverage import measure_stored_coverage
from kebab.app.search import require_utf8
from kebab.core.ids import Key
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import (
    DependencyMissing,
    EmbeddingMismatch,
    EmbeddingUnavailable,
    InvalidInput,
    IoError,
    NotIndexed,
    StoreCorrupt,
    TimedOut,
)
from kebab.search.fusion import rank_by_score
from kebab.search.line_items import LineItem, read_items
from kebab.search.rank_lines import (
    EMBED_LIMIT,
    merge_scores,
    score_meaning,
    score_words,
    select_for_embedding,
)
from kebab.search.vector import build_degraded
from kebab.wire.rank import RankedItem, RankRequest, RankResult
from kebab.wire.search import DegradedChannel

if TYPE_CHECKING:
    from kebab.embed.onnx_embedder import OnnxEmbedder

MAX_LINES = 100_000

_DEGRADING = (DependencyMissing, EmbeddingMismatch, EmbeddingUnavailable, IoError, TimedOut)
"""Errors without which words are compared all the same."""


def rank_lines(context: AppContext, request: RankRequest) -> RankResult:
    """Return the lines, the one that fits best first; equal ones keep their order.

    Without a model on this machine only words are compared; nothing is downloaded.

    Raises:
        InvalidInput: The query is empty or not valid UTF-8, or there are too many lines.
    """
    require_utf8(request)
    if not request.query.strip():
        raise InvalidInput(field="$.query", cause="it is empty")
    if len(request.lines) > MAX_LINES:
        raise InvalidInput(field="$.lines", cause=f"more than {MAX_LINES:,} lines")
    started = context.clock.monotonic()
    items = read_items(request.lines)
    texts = [item.text for item in items]
    words = score_words(request.query, texts)
    compared = _Comparison(words)
    if request.mode == "hybrid" and items:
        compared = _compare_meanings(context, request.query, texts, words)
    ranked = rank_by_score(compared.scores)[: request.limit]
    return RankResult(
        query=request.query,
        mode=request.mode,
        items=[
            _to_ranked_item(rank, items[key], score)
            for rank, (key, score) in enumerate(ranked, start=1)
        ],
        total=len(items),
        has_more=len(ranked) < len(items),
        embedding_version=compared.version,
        degraded=list(compared.degraded),
        timing_ms=(context.clock.monotonic() - started) * 1000,
        coverage=measure_stored_coverage(context) if context.database.exists() else None,
    )


class _Comparison(NamedTuple):
    """The scores of all lines, the model that compared meanings, and why it did not."""

    scores: Mapping[Key, float]
    version: str | None = None
    degraded: tuple[DegradedChannel, ...] = ()


def _compare_meanings(
    context: AppContext, query: str, texts: Sequence[str], words: Mapping[Key, float]
) -> _Comparison:
    """Return the scores by words and meaning, or by words alone when no model works."""
    try:
        embedder = _load_embedder(context)
        if not embedder.supports(query):
            reason = f"{embedder.version} does not know the script of this query"
            return _Comparison(words, None, (build_degraded(reason),))
        meaning = score_meaning(query, texts, select_for_embedding(words, texts), embedder)
    except _DEGRADING as signal:
        told = build_degraded(signal.format_message(), signal.format_hint())
        return _Comparison(words, None, (told,))
    scores = merge_scores(query, words, meaning, texts, embedder)
    return _Comparison(scores, embedder.version, _note_limit(texts))


def _load_embedder(context: AppContext) -> "OnnxEmbedder":
    """Return the embedder of the index, or another one on this machine.

    Raises:
        EmbeddingUnavailable: There is none.
        EmbeddingMismatch: The settings name another model than the index has.
    """
    try:
        stored = context.get_stored_version() if context.database.exists() else None
    except (NotIndexed, StoreCorrupt):
        stored = None
    return context.embedders.obtain(stored, ignore_progress, Cancel(), offline=True)


def _note_limit(texts: Sequence[str]) -> tuple[DegradedChannel, ...]:
    count = len(set(texts))
    if count <= EMBED_LIMIT:
        return ()
    reason = (
        f"meanings compared only for the {EMBED_LIMIT:,} of {count:,} lines with the best words"
    )
    return (build_degraded(reason),)


def _to_ranked_item(rank: int, item: LineItem, score: float) -> RankedItem:
    return RankedItem(
        rank=rank,
        score=min(1.0, max(0.0, score)),
        index=item.number,
        text=item.text,
        path=item.path,
        line=item.line,
        item=item.item,
    )
