"""Builds pages of hits: deduplication, token budget and cursors."""

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
from kebab.core.queries import Detail, Hit, Query, Snippet, StoredChunk
from kebab.errors.catalog import InvalidCursor, StaleCursor
from kebab.search import snippet
from kebab.search.answerability import Calibration, classify_confidence
from kebab.search.retrieval import RankedCandidates

MAX_COPIES = 3
"""How often the same text is shown; further copies in other documents are left out."""

_BATCH, _LARGEST_BATCH = 12, 96

_LATIN = re.compile("[\u0000-\u024f\u2010-\u2027]")
_LATIN_PER_TOKEN = 3.0
_OTHER_TOKENS = 1.5
_PERCENT_TOKENS = 6.0
_HIT_TOKENS = 400
"""The tokens of field names, ids, numbers, versions and times of one hit in JSON."""
_HIGHLIGHT_TOKENS = 8

_SNIPPET_SHARES = (1.0, 0.6, 0.35, 0.2)
"""The shares of the wanted snippet length that are tried before hits are dropped."""

_MIN_SNIPPET_CHARS = 40
_HIGHLIGHT_SHARE = 0.25
"""The least weight of a highlighted token, as a share of the heaviest one's."""


def deduplicate_hits(
    keys: Sequence[Key],
    read: Callable[[Sequence[Key]], list[StoredChunk]],
    per_doc: int | None,
) -> Iterator[StoredChunk]:
    """Yield chunks in order, at most `per_doc` of one document and few copies of one text.

    They are read in growing batches, as far as the caller iterates.
    """
    documents: Counter[DocId] = Counter()
    texts: Counter[str] = Counter()
    start, size = 0, _BATCH
    while start < len(keys):
        for chunk in read(keys[start : start + size]):
            if per_doc is not None and documents[chunk.doc_id] >= per_doc:
                continue
            if texts[chunk.text] >= MAX_COPIES:
                continue
            documents[chunk.doc_id] += 1
            texts[chunk.text] += 1
            yield chunk
        start, size = start + size, min(2 * size, _LARGEST_BATCH)


def estimate_text_tokens(text: str) -> float:
    """Return the estimated tokens of a text inside a JSON string."""
    latin = len(_LATIN.findall(text))
    escapes = text.count("\n") + text.count('"') + text.count("\\") + text.count("\t")
    return (latin + escapes) / _LATIN_PER_TOKEN + (len(text) - latin) * _OTHER_TOKENS


def estimate_hit_tokens(hit: Hit) -> int:
    """Return the estimated tokens of a hit in its JSON form."""
    chunk = hit.chunk
    other = len(chunk.path) - len(_LATIN.findall(chunk.path))
    texts = (chunk.title, *chunk.heading_path, *chunk.tags, chunk.source, chunk.lang or "")
    # The path occurs plain, in the citation, and percent-quoted in the address of the citation.
    cost = 3 * estimate_text_tokens(chunk.path) + other * _PERCENT_TOKENS
    cost += sum(estimate_text_tokens(text) + 1 for text in texts)
    cost += estimate_text_tokens(hit.snippet.text)
    return round(_HIT_TOKENS + cost + _HIGHLIGHT_TOKENS * len(hit.snippet.highlights)) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The hits of a page, whether others follow, and whether the budget cut something."""

    hits: tuple[Hit, ...]
    has_more: bool
    truncated: bool = False


def select_hits(
    candidates: RankedCandidates,
    calibration: Calibration,
    query: Query,
    read: Callable[[Sequence[Key]], list[StoredChunk]],
) -> Selection:
    """Return the hits of one page within its token budget.

    Snippets get shorter first; then hits are dropped.
    """
    keys = [key for key, _ in candidates.ranked]
    shown = deduplicate_hits(keys, read, query.per_doc)
    found = list(islice(shown, query.offset, query.offset + query.limit + 1))
    chunks, more = found[: query.limit], len(found) > query.limit
    hits: tuple[Hit, ...] = ()
    for share in _SNIPPET_SHARES:
        wanted = query.snippet_chars
        chars = min(wanted, max(_MIN_SNIPPET_CHARS, int(wanted * share)))
        hits = _build_hits(candidates, calibration, chunks, query, chars)
        if query.max_tokens is None:
            return Selection(hits=hits, has_more=more)
        if sum(map(estimate_hit_tokens, hits)) <= query.max_tokens:
            return Selection(hits=hits, has_more=more, truncated=chars < wanted)
    first = _fit_budget(hits, query.max_tokens or 0)
    return Selection(hits=first, has_more=more or len(first) < len(hits), truncated=True)


def _fit_budget(hits: tuple[Hit, ...], budget: int) -> tuple[Hit, ...]:
    """Return the first hits that fit into the budget together."""
    spent = 0
    for count, hit in enumerate(hits):
        spent += estimate_hit_tokens(hit)
        if spent > budget:
            return hits[:count]
    return hits


def _build_hits(
    candidates: RankedCandidates,
    calibration: Calibration,
    chunks: Sequence[StoredChunk],
    query: Query,
    chars: int,
) -> tuple[Hit, ...]:
    scores, weights = dict(candidates.ranked), candidates.weighted.weights
    # Beside a rare word, highlights of frequent words only distract.
    least = max(weights.values(), default=0.0) * _HIGHLIGHT_SHARE
    highlighted = {token: weight for token, weight in weights.items() if weight >= least}
    hits = []
    for rank, chunk in enumerate(chunks, start=query.offset + 1):
        evidence = scores[chunk.key]
        score = calibration.score(evidence)
        hits.append(
            Hit(
                rank=rank,
                score=score,
                confidence=classify_confidence(score),
                chunk=chunk,
                snippet=_select_text(chunk.text, highlighted, query.detail, chars),
                retrieval=candidates.build_retrieval(chunk.key, evidence, trace=query.trace),
            )
        )
    return tuple(hits)


def _select_text(text: str, weights: Mapping[str, float], detail: Detail, chars: int) -> Snippet:
    match detail:
        case Detail.IDS:
            return Snippet("")
        case Detail.PASSAGES:
            return snippet.highlight_text(text, weights)
        case Detail.SNIPPETS:
            return snippet.cut_snippet(text, weights, chars)


_VERSION = 1
_BODY = Struct(">BQQ16s")
_SIGNATURE = 16
_UNBOUND_FIELDS = frozenset({"limit", "offset", "detail", "snippet_chars", "max_tokens", "trace"})


def encode_cursor(query: Query, offset: int, revision: int, salt: str) -> str:
    """Return the cursor of the page that starts at an offset."""
    body = _BODY.pack(_VERSION, offset, revision, _compute_fingerprint(query))
    return urlsafe_b64encode(body + _compute_signature(body, salt)).decode().rstrip("=")


def decode_cursor(cursor: str, query: Query, revision: int, salt: str) -> int:
    """Return the offset of a cursor.

    Raises:
        InvalidCursor: The cursor is not of this library, or belongs to another query.
        StaleCursor: The index has changed since the cursor was issued.
    """
    raw = _decode_bytes(cursor)
    body, signature = raw[: _BODY.size], raw[_BODY.size :]
    if len(raw) != _BODY.size + _SIGNATURE or not hmac.compare_digest(
        _compute_signature(body, salt), signature
    ):
        raise InvalidCursor(cause="it was not issued by this knowledge base")
    version, offset, issued, fingerprint = _BODY.unpack(body)
    if version != _VERSION:
        raise InvalidCursor(cause="it was issued by another version of kebab")
    if fingerprint != _compute_fingerprint(query):
        raise InvalidCursor(cause="it belongs to another query")
    if issued != revision:
        raise StaleCursor(issued_revision=issued, current_revision=revision)
    return int(offset)


def _decode_bytes(cursor: str) -> bytes:
    """Return the bytes of a cursor that is spelled exactly as `encode_cursor` spells it."""
    try:
        raw = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
    except ValueError as error:
        raise InvalidCursor(cause="it is not a cursor") from error
    if urlsafe_b64encode(raw).decode().rstrip("=") != cursor:
        raise InvalidCursor(cause="it is not a cursor")
    return raw


def _compute_signature(body: bytes, salt: str) -> bytes:
    return hmac.digest(salt.encode("utf-8", "surrogatepass"), body, "sha256")[:_SIGNATURE]


def _compute_fingerprint(query: Query) -> bytes:
    """Return a digest of the fields that determine the order of hits."""
    bound = {name: value for name, value in asdict(query).items() if name not in _UNBOUND_FIELDS}
    return blake2b(
        repr(sorted(bound.items())).encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()
