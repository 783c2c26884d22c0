"""Builds pages of hits: deduplication, budget and cursors."""

import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import islice
from struct import Struct

from kebab.core.ids import DocId, Key
from kebab.core.queries import Hit, Query, StoredChunk
from kebab.errors.catalog import InvalidCursor, StaleCursor
from kebab.search import snippet
from kebab.search.fusion import Calibration, classify_confidence
from kebab.search.retrieval import RankedCandidates

MAX_COPIES = 3
"""How often the very same text is shown; further copies, in other documents, are left out."""

_BATCH, _LARGEST_BATCH = 12, 96


def deduplicate_hits(
    keys: Sequence[Key],
    read: Callable[[Sequence[Key]], list[StoredChunk]],
    per_doc: int | None,
) -> Iterator[StoredChunk]:
    """Yield chunks in their order, at most `per_doc` of one document and few copies of one text.

    They are read in growing batches, as far as the caller goes.
    """
    documents: Counter[DocId] = Counter()
    texts: Counter[str] = Counter()
    for batch in _batches(keys):
        for chunk in read(batch):
            if per_doc is not None and documents[chunk.doc_id] >= per_doc:
                continue
            if texts[chunk.text] >= MAX_COPIES:
                continue
            documents[chunk.doc_id] += 1
            texts[chunk.text] += 1
            yield chunk


def _batches(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    start, size = 0, _BATCH
    while start < len(keys):
        yield keys[start : start + size]
        start, size = start + size, min(2 * size, _LARGEST_BATCH)


_LATIN = re.compile("[\u0000-\u024f\u2010-\u2027]")
_LATIN_PER_TOKEN = 3.0
_OTHER_TOKENS = 1.5
_PERCENT_TOKENS = 6.0
_FRAME = 400
"""Names of fields, ids, numbers, versions and times of one hit in JSON."""
_HIGHLIGHT = 8


def estimate_text_tokens(text: str) -> float:
    """Return the estimated tokens of a text inside a JSON string."""
    latin = len(_LATIN.findall(text))
    escapes = text.count("\n") + text.count('"') + text.count("\\") + text.count("\t")
    return (latin + escapes) / _LATIN_PER_TOKEN + (len(text) - latin) * _OTHER_TOKENS


def estimate_hit_tokens(hit: Hit) -> int:
    """Return the estimated tokens of a hit in its JSON form."""
    chunk = hit.chunk
    other = len(chunk.path) - len(_LATIN.findall(chunk.path))
    said = (chunk.title, *chunk.heading_path, *chunk.tags, chunk.source, chunk.lang or "")
    # The path is there as it is, in the citation, and percent-quoted in the citation's address.
    cost = 3 * estimate_text_tokens(chunk.path) + other * _PERCENT_TOKENS
    cost += sum(estimate_text_tokens(text) + 1 for text in said) + estimate_text_tokens(
        hit.snippet.text
    )
    return round(_FRAME + cost + _HIGHLIGHT * len(hit.snippet.highlights)) + 1


_SHORTER = (1.0, 0.6, 0.35, 0.2)
"""The shares of the wished length that snippets are tried at before hits are dropped."""

_SHORTEST = 40
_MARKED = 0.25
"""The least weight of a word that is marked, as a share of the heaviest one's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The hits of a page; `more` when others follow, `truncated` when the budget cut something."""

    hits: tuple[Hit, ...]
    more: bool
    truncated: bool = False


def select_hits(
    ranking: RankedCandidates,
    scale: Calibration,
    query: Query,
    read: Callable[[Sequence[Key]], list[StoredChunk]],
) -> Selection:
    """Return the hits of one page, never above its budget of tokens."""
    keys = [key for key, _ in ranking.order]
    shown = deduplicate_hits(keys, read, query.per_doc)
    found = list(islice(shown, query.offset, query.offset + query.limit + 1))
    chunks, more = found[: query.limit], len(found) > query.limit
    if query.max_tokens is None:
        hits = _hits(ranking, scale, chunks, query, query.snippet_chars)
        return Selection(hits=hits, more=more)
    return _within(ranking, scale, chunks, query, more=more)


def _within(
    ranking: RankedCandidates,
    scale: Calibration,
    chunks: Sequence[StoredChunk],
    query: Query,
    *,
    more: bool,
) -> Selection:
    """Return the longest page that fits: snippets get shorter first, then hits are dropped."""
    budget = query.max_tokens or 0
    hits: tuple[Hit, ...] = ()
    for share in _SHORTER:
        chars = min(query.snippet_chars, max(_SHORTEST, int(query.snippet_chars * share)))
        hits = _hits(ranking, scale, chunks, query, chars)
        if sum(map(estimate_hit_tokens, hits)) <= budget:
            return Selection(hits=hits, more=more, truncated=chars < query.snippet_chars)
    kept = _affordable(hits, budget)
    return Selection(hits=kept, more=more or len(kept) < len(hits), truncated=True)


def _affordable(hits: tuple[Hit, ...], budget: int) -> tuple[Hit, ...]:
    """Return the first hits that fit together."""
    spent = 0
    for count, hit in enumerate(hits):
        spent += estimate_hit_tokens(hit)
        if spent > budget:
            return hits[:count]
    return hits


def _hits(
    ranking: RankedCandidates,
    scale: Calibration,
    chunks: Sequence[StoredChunk],
    query: Query,
    chars: int,
) -> tuple[Hit, ...]:
    fused = dict(ranking.order)
    weights = _telling(ranking.words.weights)
    hits = []
    for rank, chunk in enumerate(chunks, start=query.offset + 1):
        score = scale.score(fused[chunk.key])
        hits.append(
            Hit(
                rank=rank,
                score=score,
                confidence=classify_confidence(score),
                chunk=chunk,
                snippet=snippet.cut_snippet(chunk.text, weights, chars),
                retrieval=ranking.retrieval(chunk.key, fused[chunk.key], trace=query.trace),
            )
        )
    return tuple(hits)


def _telling(weights: Mapping[str, float]) -> Mapping[str, float]:
    """Return the tokens worth marking: beside a rare word, frequent ones only disturb."""
    floor = max(weights.values(), default=0.0) * _MARKED
    return {token: weight for token, weight in weights.items() if weight >= floor}


_VERSION = 1
_BODY = Struct(">BQQ16s")
_SIGNATURE = 16
_FREE = frozenset({"limit", "offset", "snippet_chars", "max_tokens", "trace"})


def encode_cursor(query: Query, offset: int, revision: int, salt: str) -> str:
    """Return the cursor of the page that begins at an offset."""
    body = _BODY.pack(_VERSION, offset, revision, _fingerprint(query))
    return urlsafe_b64encode(body + _sign(body, salt)).decode().rstrip("=")


def decode_cursor(cursor: str, query: Query, revision: int, salt: str) -> int:
    """Return the offset that a cursor stands for.

    Raises:
        InvalidCursor: The cursor is not one of this knowledge base, or is for another query.
        StaleCursor: The index has changed since.
    """
    raw = _raw(cursor)
    body, signature = raw[: _BODY.size], raw[_BODY.size :]
    if len(raw) != _BODY.size + _SIGNATURE or not hmac.compare_digest(_sign(body, salt), signature):
        raise InvalidCursor(cause="it was not issued by this knowledge base")
    version, offset, issued, fingerprint = _BODY.unpack(body)
    if version != _VERSION:
        raise InvalidCursor(cause="it was issued by another version of kebab")
    if fingerprint != _fingerprint(query):
        raise InvalidCursor(cause="it belongs to another query")
    if issued != revision:
        raise StaleCursor(issued_revision=issued, current_revision=revision)
    return int(offset)


def _raw(cursor: str) -> bytes:
    """Return the bytes of a cursor; only the spelling that `encode_cursor` gives is taken."""
    try:
        raw = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
    except ValueError as error:
        raise InvalidCursor(cause="it is not a cursor") from error
    if urlsafe_b64encode(raw).decode().rstrip("=") != cursor:
        raise InvalidCursor(cause="it is not a cursor")
    return raw


def _sign(body: bytes, salt: str) -> bytes:
    return hmac.digest(salt.encode("utf-8", "surrogatepass"), body, "sha256")[:_SIGNATURE]


def _fingerprint(query: Query) -> bytes:
    """Return a digest of what decides the order of hits."""
    bound = {name: value for name, value in asdict(query).items() if name not in _FREE}
    return blake2b(
        repr(sorted(bound.items())).encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()
