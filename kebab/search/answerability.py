"""Estimates the answerability of a query: how likely the first hit answers it.

The signals of the first hits are read, and the estimate has two parts:
- the probability that one of the first hits answers. It is a logistic curve of the share of the
  keywords that a passage holds, its place by words, its cosine, and the distance of that cosine
  from the usual ones. One passage has to have both the words and the meaning. Words that occur
  nowhere count against it, twice in a topic, so that a handful of notes needs no statistics, and
  so does a name or a number of the query that it lacks.
- the probability that it is the first one. It falls as the score of the next hit comes near, and
  for described needs, which many passages are about.

Their product is the answerability. The curves with vectors belong to the model (`Answerability`).
`python -m tools.quality calibration` fits all of them; see `docs/notes/search-quality.md`.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from kebab.core.chunks import Answerability, AnswerabilityCurve, CosineBackground
from kebab.core.queries import Query, StoredChunk
from kebab.search.lexical import CAPITALISES_NOUNS, QueryLanguage
from kebab.search.query_parser import QueryIntent, classify_intent
from kebab.search.reordering import DOCUMENTS, has_mostly_code
from kebab.search.retrieval import RankedCandidates
from kebab.search.snippet import PassageCache, compute_coverage, select_held, weigh_keywords
from kebab.text.language import is_dense, split_units
from kebab.text.normalize import normalize_for_index
from kebab.text.tokenizer import tokenize, tokenize_unit
from kebab.wire.search import ConfidenceName

READ_LIMIT = 5
"""How many of the first hits are read."""

_LEADING = 2
"""How many of the first hits tell whether a search goes across languages."""

_BIGRAM = 0.5
"""The words that a bigram counts."""

_LAST_RANK = 21
"""From this rank on the place of a passage among the words tells nothing more."""

_find_katakana = re.compile("[ァ-ヺー]{2,}").findall
_FEW = 20
"""So many passages tell half of what a large index tells about the usual cosine."""


class PassageSignals(NamedTuple):
    """The share of the keywords that a passage holds, and its cosine on the scale of the model.

    `foreign` tells whether it is in another language than the query, as far as can be told. `place`
    is the logarithm of its rank by words, less 1, and `lacks` is 1 when it has not all names and
    numbers of the query. Both are 0 for topics: the few words of one say little about its answer.
    """

    words: float
    cosine: float
    foreign: bool = False
    place: float = 0.0
    lacks: float = 0.0


class AnswerSignals(Struct, frozen=True, kw_only=True):
    """What the first hits of a search tell about the query.

    Of `passages` one without a vector has the highest cosine of the others. `margin` is the
    distance of the highest cosine from the mean of all, in deviations, less what the best of so
    many random ones reaches. `evidence` is the score of the first hit, and `rival` that of the next
    one with another text as a share of it. `length` is the logarithm of the number of words.
    """

    passages: tuple[PassageSignals, ...]
    margin: float
    evidence: float
    rival: float
    length: float
    intent: QueryIntent
    by_words: bool
    """Whether the query and some passage share a word."""
    by_vectors: bool
    """Whether some passage was compared by its vector."""
    match: float | None = None
    """How far the tokens of the first passages match; None when they were not compared."""
    absent: bool = False
    """Whether every term of the query occurs nowhere."""
    code: bool = False
    """Whether most of the first hits are code."""
    named: bool = False
    """Whether the query is the name of the document of the first hit, perhaps mistyped."""


def read_signals(candidates: RankedCandidates, passages: PassageCache) -> AnswerSignals:
    """Return the signals of a search with at least one candidate."""
    first = read_first_passages(candidates, passages)
    absent = candidates.weighted.absent - candidates.named.tokens
    cosines, model = candidates.vector.scores, candidates.model
    ranks = candidates.lexical.ranks
    intent = classify_intent(candidates.parsed)
    asks = 1 - intent.topic
    keywords = weigh_keywords(candidates.weighted.rarities)
    plain = normalize_for_index(candidates.parsed.plain)
    for unit in split_units(plain):
        if unit.isalpha() and not unit.isascii() and not is_dense(unit):
            folded, *accented = tokenize_unit(unit)
            for other in accented if folded in keywords else ():
                keywords.pop(other, None)
    # Words of Katakana share bigrams by chance, so that one counts as a whole.
    runs = [keywords.keys() & set(tokenize(run)) for run in _find_katakana(plain)]
    # A word of a topic that occurs nowhere counts twice: the others are often common ones.
    missed = absent & keywords.keys()
    keywords |= {term: keywords[term] * (1 + intent.topic) for term in missed}
    highest = max((cosines[chunk.key] for chunk in first if chunk.key in cosines), default=None)
    language = QueryLanguage(candidates.parsed.plain)
    names = keywords.keys() & list_name_tokens(candidates.parsed.plain, language.code)
    evidence: list[PassageSignals] = []
    for chunk in first:
        cosine = cosines.get(chunk.key, highest)
        near = 0.0 if model is None or cosine is None else model.cosine_scale.normalise(cosine)
        foreign = highest is not None and language.differs_from(chunk)
        held = select_held(keywords, passages.tokenize_passage(chunk))
        held = held.difference(*(run for run in runs if not run <= held))
        rank = min(ranks.get(chunk.key, _LAST_RANK), _LAST_RANK)
        place, lacks = asks * (math.log(rank) - 1), asks * (not names <= held)
        # A guessed form counts as half of the word.
        known = compute_coverage(keywords, held - candidates.parsed.guesses, asks)
        share = (known + compute_coverage(keywords, held, asks)) / 2
        evidence.append(PassageSignals(share, near, foreign, place, lacks))
    scores, rival = dict(candidates.ranked[:READ_LIMIT]), 1.0
    if first and scores[first[0].key] > 0:
        others = (scores[chunk.key] for chunk in first[1:] if chunk.text != first[0].text)
        rival = min(1.0, max(0.0, next(others, 0.0) / scores[first[0].key]))
    return AnswerSignals(
        passages=tuple(evidence),
        margin=0.0 if highest is None else compute_margin(highest, candidates.background),
        evidence=candidates.ranked[0][1],
        rival=rival,
        length=math.log(
            sum(_BIGRAM if is_dense(term) else 1.0 for term in candidates.weighted.rarities) or 1.0
        ),
        intent=intent,
        by_words=any(chunk.key in candidates.lexical.scores for chunk in first),
        by_vectors=highest is not None,
        match=candidates.match,
        absent=candidates.weighted.rarities.keys() <= absent,
        code=has_mostly_code(first),
        named=candidates.named.names_owner(candidates.ranked[0][0], passages),
    )


def list_name_tokens(text: str, language: str | None) -> set[str]:
    """Return the tokens of the words with a digit, and of those with a capital but the first one.

    In a language that writes every noun with a capital, only digits tell.
    """
    has_names = language != CAPITALISES_NOUNS
    named = (
        unit
        for place, unit in enumerate(split_units(text))
        if any(map(str.isdigit, unit)) or (has_names and place and unit[0].isupper())
    )
    return {token for unit in named for token in tokenize(unit)}


def read_first_passages(candidates: RankedCandidates, passages: PassageCache) -> list[StoredChunk]:
    """Return the passages that are read."""
    return passages.load_chunks([key for key, _ in candidates.ranked[:READ_LIMIT]])


def is_across_languages(candidates: RankedCandidates, passages: PassageCache) -> bool:
    """Return whether a leading passage is in another language than the query.

    The model has to compare languages. In notes of several languages, other passages of the first
    ones are often in the language of the query.
    """
    model = candidates.model
    if model is None or model.answerability.matched is None or not candidates.ranked:
        return False
    language = QueryLanguage(candidates.parsed.plain)
    leading = read_first_passages(candidates, passages)[:_LEADING]
    return any(
        one.key in candidates.vector.scores and language.differs_from(one) for one in leading
    )


_LEAST_LIKELY = 0.1
"""Questions with a lower answerability are not reranked; a third of what `ask` needs."""


def should_rerank(query: Query, candidates: RankedCandidates, passages: PassageCache) -> bool:
    """Return whether the first passages are compared with the query token by token.

    `ask` asks for it by default. Other searches where `rerank` is None do it across languages, and
    for questions. Code keeps its order, which rests on files. Unasked, the order decides little
    where an answer in one language is very unlikely.
    """
    first = read_first_passages(candidates, passages)
    if query.rerank is False or has_mostly_code(first):
        return False
    if query.rerank and not (query.prose and candidates.model):
        return True
    if is_across_languages(candidates, passages):
        return True
    if query.rerank is None:
        asks = classify_intent(candidates.parsed).asks
        foreign = all(map(QueryLanguage(candidates.parsed.plain).differs_from, first))
        if candidates.model is None or not asks or foreign or DOCUMENTS in candidates.boosts:
            return False
    return estimate_answerability(candidates, passages) >= _LEAST_LIKELY


def compute_margin(highest: float, background: CosineBackground) -> float:
    """Return how far the highest cosine is above what chance gives; 0 when nothing is known.

    The best of n independent normal values is about the square root of 2 ln n deviations above
    their mean. A few passages tell little about the usual cosine, so their margin counts less.
    """
    count = background.size
    if not count or not background.deviation:
        return 0.0
    distance = (highest - background.mean) / background.deviation
    return count / (count + _FEW) * (distance - math.sqrt(2 * math.log(count)))


FAIR = 0.3
LEAST_SCORES: dict[ConfidenceName, float] = {"strong": 0.8, "fair": FAIR, "weak": 0.0}
"""The least calibrated scores of each confidence."""

_MOSTLY = 0.5
"""From this on a query describes a need."""

EXPONENT = 4
"""Scores fall with this power of the evidence."""

LEXICAL = AnswerabilityCurve(words=7.7, evidence=6.7, length=1.5, start=-8.2)
"""The curve for the lexical channel alone."""


class PrecisionCurve(Struct, frozen=True):
    """The weights of the logistic curve of the probability that the first hit is the right one.

    `rival` weighs the score of the next hit as a share of the first, `need` how far the query
    describes a need.
    """

    rival: float
    need: float
    start: float


PRECISION = PrecisionCurve(rival=-6.2, need=-1.9, start=6.4)


class Calibration(Struct, frozen=True):
    """Turns evidence into scores: the best evidence of a search scores its answerability."""

    answerability: float
    best: float

    def score(self, evidence: float) -> float:
        """Return the calibrated score of fused evidence, between 0 and 1, rising with it."""
        if evidence >= self.best:
            return self.answerability
        if self.best <= 0:
            return 0.0
        return self.answerability * max(0.0, evidence / self.best) ** EXPONENT


def classify_confidence(score: float) -> ConfidenceName:
    """Return the confidence of a calibrated score."""
    return next((name for name, least in LEAST_SCORES.items() if score >= least), "weak")


def calibrate(candidates: RankedCandidates, passages: PassageCache) -> Calibration:
    """Return the calibration of a search."""
    best = candidates.ranked[0][1] if candidates.ranked else 0.0
    return Calibration(estimate_answerability(candidates, passages), best)


def estimate_answerability(candidates: RankedCandidates, passages: PassageCache) -> float:
    """Return the probability that the first hit answers the query, between 0 and 1.

    It is 1 when the query holds nothing but filters.
    """
    if not candidates.ranked:
        return 0.0
    if not candidates.weighted.rarities:
        return 1.0
    signals = read_signals(candidates, passages)
    if not signals.passages:  # a damaged store may have lost them
        return 0.0
    found = compute_found(signals, candidates.model.answerability if candidates.model else None)
    answerability = combine(found, compute_precision(PRECISION, signals), signals)
    is_number = all(any(map(str.isdigit, term)) for term in candidates.weighted.rarities)
    if is_number and candidates.weighted.absent - candidates.named.tokens:
        answerability = min(_OTHER_NUMBER, answerability)
    return max(FAIR, answerability) if signals.named else answerability


_OTHER_NUMBER = 0.2
"""The most that the first hit scores for a query of numbers of which one occurs nowhere."""


def combine(found: float, precision: float, signals: AnswerSignals) -> float:
    """Return the answerability; among equals it is fair where one of the first hits is.

    Across languages, for topics and needs, and in code several hits are right.
    """
    intent = signals.intent
    has_equals = not signals.absent and (not intent.asks or intent.need > _MOSTLY)
    has_equals = has_equals or signals.code
    if found >= FAIR and (signals.passages[0].foreign or has_equals):
        return max(FAIR, found * precision)
    return found * precision


_CODE_GAIN = 1.0
"""What code adds to the logit where vectors tell, too: it shares fewer words with a question."""


def compute_found(
    signals: AnswerSignals, model: Answerability | None, lexical: AnswerabilityCurve = LEXICAL
) -> float:
    """Return the probability that one of the first hits answers, by the best passage.

    Of a first passage in another language than the query, vectors alone may tell enough; those of
    its tokens tell more.
    """
    if model is None or not signals.by_vectors:
        return compute_probability(lexical, signals)
    same = model.hybrid if signals.by_words else model.vector
    own = [one for one in signals.passages if not one.foreign]
    foreign = [one for one in signals.passages if one.foreign]
    by_tokens = model.matched if signals.match is not None else None
    chosen = [
        (same, own),
        (same if signals.by_words or not by_tokens else None, foreign),
        (by_tokens or (model.foreign if signals.passages[0].foreign else None), foreign),
    ]
    return max(
        compute_probability(curve, signals, passages)
        for curve, passages in chosen
        if curve and passages
    )


def compute_probability(
    curve: AnswerabilityCurve,
    signals: AnswerSignals,
    passages: Sequence[PassageSignals] | None = None,
) -> float:
    """Return the probability that one of the passages answers, or of some of them, by the best."""
    read = signals.passages if passages is None else passages
    best = max(weigh_passage(curve, one) for one in read)
    rest = curve.margin * signals.margin + curve.evidence * signals.evidence
    rest += _CODE_GAIN * (signals.code and signals.by_vectors)
    if signals.match is not None:
        rest += curve.match * signals.match
    return _compute_logistic(curve.start + best + rest + curve.length * signals.length)


def weigh_passage(curve: AnswerabilityCurve, one: PassageSignals) -> float:
    """Return what the signals of one passage add to the logit of a curve."""
    words = curve.words * one.words + curve.place * one.place + curve.lacks * one.lacks
    return words + curve.cosine * one.cosine


def compute_precision(curve: PrecisionCurve, signals: AnswerSignals) -> float:
    """Return the probability that the first hit is the one that answers, if any does."""
    terms = curve.rival * signals.rival + curve.need * signals.intent.need
    return _compute_logistic(curve.start + terms)


def _compute_logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-min(40.0, max(-40.0, logit))))
