"""Finds passages of other notes that a part of a document may contradict."""

import math
from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.core.queries import Confidence, Hit, Query, StoredChunk
from kebab.errors.catalog import InvalidInput, NotIndexed
from kebab.search.citations import build_file_path
from kebab.wire.search import DegradedChannel

if TYPE_CHECKING:
    from kebab.review.detection import FindRelated
    from kebab.review.document import ReviewDocument

NO_INDEX = DegradedChannel(
    channel="related",
    reason="there is no index, so contradictions with other notes are not looked for",
    hint="kebab ingest FOLDER",
)
"""What a deep review goes without when there is no index."""

_HITS = 8
_PASSAGES = 3
"""The most passages that a part of a document is compared with."""
_LEAST_SHARE = 0.35
"""The least share of the score of a complete match, which the document itself has in the index.

The confidence tells little then, because the document leaves none for other notes. Over the
samples, passages about the same had .44 to .54 and others at most .22.
"""


def build_passage_finder(context: AppContext) -> "FindRelated | None":
    """Return what finds passages of other notes for a text; None when there is no index."""
    try:
        with context.open_reader():
            return lambda document, text: _find_passages(context, document, text)
    except NotIndexed:
        return None


def _find_passages(
    context: AppContext, document: "ReviewDocument", text: str
) -> tuple[StoredChunk, ...]:
    """Return the passages of other notes that are about the same as a text, the best first."""
    from kebab.app.search import build_engine

    query = Query(text=text, prose=True, limit=_HITS, per_doc=2, rerank=False)
    try:
        with context.open_reader() as reader:
            hits = build_engine(context, reader).search(query).hits
    except (InvalidInput, NotIndexed):
        return ()  # a text without words, or an index that was deleted meanwhile
    own = [hit for hit in hits if _is_from(document, hit.chunk)]
    complete = max(map(_get_word_score, own), default=math.inf)
    others = [
        hit.chunk
        for hit in hits
        if hit not in own
        and (
            hit.confidence is not Confidence.WEAK or _get_word_score(hit) >= _LEAST_SHARE * complete
        )
    ]
    return tuple(others[:_PASSAGES])


def _get_word_score(hit: Hit) -> float:
    return hit.retrieval.lexical_score or 0.0


def _is_from(document: "ReviewDocument", chunk: StoredChunk) -> bool:
    """Return whether a passage is from the document under review."""
    source = document.source
    is_same = source.doc_id is not None and chunk.doc_id == source.doc_id
    return is_same or build_file_path(chunk) == str(source.file)
