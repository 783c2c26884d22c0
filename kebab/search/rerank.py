"""Reranks passages by late interaction: tokens of the query against tokens of a passage.

Each token of the query looks for the token of the passage with the highest cosine; the mean of
these cosines (MaxSim: Khattab and Zaharia, "ColBERT", SIGIR 2020) is compared with that of the
other candidates. The token vectors are those of the embedding model before pooling, so that no
other model is needed. The mean token of the candidates is subtracted from all of them: it holds
what every text has in common, which is most of a vector of E5.

Across languages no words match, and the cosines of whole texts hardly tell related passages from
those that answer. The tokens tell more: those of a question that is not answered have no near
token anywhere. To compare searches with each other, not only passages, the mean token of a fixed
text in many languages is subtracted.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kebab.core.chunks import Key, TokenVectors, build_embed_text
from kebab.core.ports import Embedder
from kebab.errors.system import translate_import_errors
from kebab.search.answerability import is_across_languages
from kebab.search.query_parser import classify_intent
from kebab.search.ranking import Scores, select_best
from kebab.search.reordering import is_heading_in, list_symbols
from kebab.search.retrieval import DEGRADING, RankedCandidates, StageTimer
from kebab.search.snippet import PassageCache
from kebab.text.language import is_dense

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector

RERANKED_LIMIT = 20
"""How many of the best candidates are reranked at most."""

_REACH = 0.2
"""Candidates whose evidence is further below the best are not reranked: few would become first."""

_UNASKED_LIMIT, _UNASKED_REACH = 4, 0.06
"""The same where nobody asks for it, so that a search stays fast."""

NAME, NEAREST = "rerank", "nearest"
"""The names of the boosts and of their stages; the first is also that of a degraded channel."""

_PAGE_LIMIT, _DAMPING, _PLACE_SHARE = 15, 3, 0.5
"""How many of the best and of the nearest candidates are compared for a page that shall answer by
itself. A rank r by tokens counts 1 / (3 + r), one in the order half of that."""


def rerank_candidates(
    candidates: RankedCandidates,
    embedder: Callable[[], Embedder],
    passages: PassageCache,
    timer: StageTimer,
    *,
    asked_for: bool = True,
) -> RankedCandidates:
    """Return the candidates with the best of them in the order of late interaction.

    Across languages it is also measured how far the tokens match. A described need keeps its order,
    because no passage repeats each of so many words. When the model is not available, the order
    stays as it is, and `degraded` says why.
    """
    if candidates.model is None:
        if candidates.degraded or not candidates.parsed.terms:
            return candidates
        return candidates.add_note(
            NAME, "words alone were searched, and reranking compares vectors"
        )
    weight = 1 - classify_intent(candidates.parsed).need
    limit = RERANKED_LIMIT if asked_for else _UNASKED_LIMIT
    reach = _REACH if asked_for else _UNASKED_REACH
    close = [one for one in candidates.ranked[:limit] if weight > 0] or candidates.ranked[:1]
    keys = [key for key, score in close if score >= close[0][1] - reach]
    across = is_across_languages(candidates, passages)
    if not candidates.model.has_tokens or (not keys[1:] and not across):
        return candidates
    try:
        asked, tokens = _embed_tokens(candidates.parsed.plain, keys, embedder(), passages)
        common = candidates.model.load_prose_mean() if across else None
    except DEGRADING as signal:
        timer.record(NAME, 0, signal.format_message())
        return candidates.add_note(NAME, signal.format_message(), signal.format_hint())
    timer.record(NAME, len(tokens))
    cosines = compare_tokens(asked, tokens, common)
    if keys[1:]:
        scores = {key: weight * float(best.mean()) for key, best in cosines.items()}
        candidates = candidates.move(NAME, _order(candidates, keys, scores))
    if common is None:
        return candidates
    starts = find_word_starts(candidates.parsed.plain, asked.spans)
    compared = [cosines[key] for key in keys[:_UNASKED_LIMIT] if key in cosines]
    return replace(candidates, match=measure_word_match(compared, starts))


def order_page(
    candidates: RankedCandidates,
    embedder: Callable[[], Embedder],
    passages: PassageCache,
    timer: StageTimer,
) -> RankedCandidates:
    """Return the candidates, first the best and the nearest ones by their tokens and their places.

    Reciprocal ranks are added (Cormack et al., SIGIR 2009); of a model without tokens, those of its
    vectors. A passage without tokens is an average one. What the query names stays first.
    """
    text, evidence = candidates.parsed.plain, dict(candidates.ranked)
    near = [key for key, _ in candidates.vector.ranked[:_PAGE_LIMIT] if key in evidence]
    if candidates.model is None or not near or list_symbols(text):
        return candidates
    best = [key for key, _ in candidates.ranked[:_PAGE_LIMIT]]
    keys = [*dict.fromkeys((*best, *near))]
    if candidates.model.has_tokens:
        try:
            asked, tokens = _embed_tokens(text, keys, embedder(), passages)
        except DEGRADING as signal:
            timer.record(NEAREST, 0, signal.format_message())
            return candidates.add_note(NAME, signal.format_message(), signal.format_hint())
        timer.record(NEAREST, len(tokens))
        means = {key: float(one.mean()) for key, one in compare_tokens(asked, tokens, 0.0).items()}
        average = sum(means.values()) / max(len(means), 1)
        near = sorted(keys, key=lambda key: means.get(key, average), reverse=True)
    weights = dict.fromkeys(keys, 0.0)
    for share, places in ((_PLACE_SHARE, best), (1.0, near)):
        for rank, key in enumerate(places, start=1):
            weights[key] += share / (_DAMPING + rank)
    if any(is_heading_in(one, candidates.parsed) for one in passages.load_chunks(best[:1])):
        weights[best[0]] = 1.0
    order = dict.fromkeys((*select_best(weights), *evidence))
    return candidates.move(NEAREST, dict(zip(order, evidence.values(), strict=True)))


def measure_word_match(compared: "Sequence[Vector]", starts: Sequence[int]) -> float | None:
    """Return how far the words of a query match the best of some passages; None without any.

    `compared` has the best cosine of each token. A word, which begins at one of `starts`, matches
    as well as the best of its tokens: few endings have a counterpart.
    """
    means = []
    for cosines in compared:
        words = pairwise([*starts, len(cosines)])
        best = [max(cosines[first:last].tolist()) for first, last in words]
        means.append(sum(best) / len(best))
    return max(means, default=None)


def _order(candidates: RankedCandidates, keys: Sequence[Key], scores: Scores) -> dict[Key, float]:
    """Return the first candidates, `keys`, in the order of their evidence plus score.

    The best one gets the evidence that the best one had, and so on: the calibration of scores was
    fitted to the evidence at each rank. A passage without a score counts as an average one.
    """
    evidence = dict(candidates.ranked[: len(keys)])
    mean = sum(scores.values()) / max(len(scores), 1)
    order = sorted(keys, key=lambda key: -evidence[key] - scores.get(key, mean))
    return dict(zip(order, evidence.values(), strict=True))


def _embed_tokens(
    query: str, keys: Sequence[Key], embedder: Embedder, passages: PassageCache
) -> tuple[TokenVectors, dict[Key, TokenVectors]]:
    """Return the tokens of the query, and of each passage in a script that the model knows."""
    texts = {
        chunk.key: build_embed_text(chunk.title, chunk.heading_path, chunk.text, chunk.context)
        for chunk in passages.load_chunks(keys)
    }
    known = {key: text for key, text in texts.items() if embedder.supports(text)}
    (asked,) = embedder.embed_tokens([query], as_query=True)
    tokens = zip(known, embedder.embed_tokens(list(known.values())), strict=True)
    return asked, {key: found for key, found in tokens if len(found.spans)}


def find_word_starts(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the indexes of the tokens that begin a word; in scripts without spaces each does."""
    starts, last = [], -1
    for index, (start, end) in enumerate(spans):
        token = text[start:end]
        if start != last or token[:1].isspace() or any(map(is_dense, token)):
            starts.append(index)
        last = end
    return starts


def compare_tokens(
    query: TokenVectors,
    passages: Mapping[Key, TokenVectors],
    centre: "Vector | float | None" = None,
) -> "dict[Key, Vector]":
    """Return, for each passage, the best cosine of each token of the query.

    `centre`, by default the mean token of all passages, is subtracted from every vector.
    """
    if not passages or not len(query.spans):
        return {}
    with translate_import_errors("embedding", "numpy"):
        import numpy as np

    if centre is None:
        centre = np.concatenate([found.vectors for found in passages.values()]).mean(axis=0)

    def centre_rows(vectors: "Matrix") -> "Matrix":
        moved = vectors - centre
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        scaled: Matrix = moved / np.maximum(lengths, 1e-9)
        return scaled

    asked = centre_rows(query.vectors)
    return {
        key: (asked @ centre_rows(found.vectors).T).max(axis=1) for key, found in passages.items()
    }
