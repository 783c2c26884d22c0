"""Extraction: the sentences of the passages that answer best, without any model that writes.

A sentence is judged by the share of the question's telling terms that it holds (by itself, and with
its headings, half each), by its cosine to the question (embedded with title and headings, as
passages are), and by how its passage stands beside the best one. Weights are round numbers near the
fit on SQuAD 2 by the place of the right sentence. The gold answer stands in one of three quoted
sentences, in the right file and lines, with refusals counted as failures:

- SQuAD 2, 1,000 questions: .896 with MiniLM, .866 by words alone
- JaQuAD, by words, whose language had no part in the fit: .841

What did not pay (.003 or less, over three folds of articles): cues of the kind of question (names
for `who`, numbers for `how many`), the words of the sentences around, the length, and more than 24
sentences to embed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kebab.core.answers import Evidence
from kebab.core.chunks import build_embed_text
from kebab.core.ports import Embedder
from kebab.errors.catalog import DependencyMissing, EmbeddingUnavailable, TimedOut
from kebab.search.fusion import compute_relative_evidence
from kebab.search.query_intent import compute_coverage, token_set, token_set_of_all, weigh_keywords
from kebab.text.layout import LayoutKind
from kebab.text.sentences import Sentence, find_sentences

WORDS, MEANING, PASSAGE = 0.25, 0.40, 0.25

MAX_EMBEDDED = 24
"""How many sentences are compared by meaning: 50 ms on two cores."""

_FLOOR = 0.5
"""What is worth less than this share of the best sentence is not quoted.

Costs nothing on SQuAD 2 and .002 on JaQuAD; .6 costs .012 there.
"""

_ALIKE = 0.8
"""The share of their tokens that makes two sentences one."""

_BARE, _POOR = 0.3, 0.8
"""What a heading is worth as an answer, and a question, an announcement or a mere link."""

_OPEN_ENDS = ("?", "\uff1f", "\u061f", ":", "\uff1a")
_LINK = re.compile(r"!?\[[^\]\n]*\]\([^)\n]*\)|<?https?://\S+")
_LETTERS = 12
"""Fewer letters and digits beside its links make a sentence a mere list of links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSentence:
    """A sentence at [start, end) of its chunk's text, and its evidence from 0 to 1."""

    passage: Evidence
    start: int
    end: int
    score: float

    @property
    def text(self) -> str:
        """The words as they stand."""
        return self.passage.chunk.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence and what speaks for it; `meaning` is None where nothing can be said."""

    passage: Evidence
    sentence: Sentence
    text: str
    standing: float
    """That of its passage among the others."""
    words: float
    quality: float
    """What it is worth as an answer by its form."""
    meaning: float | None = None

    @property
    def score(self) -> float:
        """How much speaks for it, all in all."""
        known = WORDS * self.words + PASSAGE * self.standing
        if self.meaning is None:
            return known / (WORDS + PASSAGE) * self.quality
        return (known + MEANING * self.meaning) * self.quality


def rank_sentences(
    question: str,
    passages: Sequence[Evidence],
    asked: Mapping[str, float],
    embedder: Embedder | None,
    limit: int,
) -> list[ScoredSentence]:
    """Return the best sentences, best first, each said once.

    Args:
        question: What is asked.
        passages: What was found, best first.
        asked: How telling each term of the question is.
        embedder: The model that the passages were embedded with; without it words decide.
        limit: The most sentences.
    """
    weights = weigh_keywords(asked)
    best = max((passage.score for passage in passages), default=0.0)
    found = [
        one
        for passage in passages
        for one in _candidates(passage, compute_relative_evidence(passage.score, best), weights)
    ]
    found.sort(key=lambda one: -one.score)
    if embedder is not None and embedder.supports(question):
        found = _compared(question, found[:MAX_EMBEDDED], embedder)
        found.sort(key=lambda one: -one.score)
    return list(_apart(found, limit))


def _candidates(
    passage: Evidence, place: float, weights: Mapping[str, float]
) -> Iterator[_Candidate]:
    """Yield the sentences that a passage shows whole."""
    chunk = passage.chunk
    context = token_set_of_all((chunk.title, *chunk.heading_path))
    for one in find_sentences(chunk.text):
        if passage.start <= one.start and one.end <= passage.start + len(passage.text):
            text = chunk.text[one.start : one.end]
            own = token_set(text)
            words = (compute_coverage(weights, own) + compute_coverage(weights, own | context)) / 2
            yield _Candidate(passage, one, text, place, words, _quality(one.kind, text))


def _quality(kind: LayoutKind, text: str) -> float:
    """Return what a sentence is worth as an answer by its form."""
    if kind is LayoutKind.HEADING:
        return _BARE
    beside = sum(map(str.isalnum, _LINK.sub("", text)))
    linked = beside < _LETTERS and _LINK.search(text)
    return _POOR if linked or text.endswith(_OPEN_ENDS) else 1.0


def _compared(question: str, found: Sequence[_Candidate], embedder: Embedder) -> list[_Candidate]:
    """Return candidates with what their meaning says; as they are when the model fails."""
    places = [place for place, one in enumerate(found) if embedder.supports(one.text)]
    texts = [_in_context(found[place]) for place in places]
    scale = embedder.profile.cosine_scale
    compared = list(found)
    try:
        query = embedder.embed_query(question)
        for indexes, vectors in embedder.embed_passages(texts):
            for index, cosine in zip(indexes, vectors @ query, strict=True):
                meant = replace(compared[places[index]], meaning=scale.share(float(cosine)))
                compared[places[index]] = meant
    except (DependencyMissing, EmbeddingUnavailable, TimedOut):
        return list(found)
    return compared


def _in_context(one: _Candidate) -> str:
    chunk = one.passage.chunk
    return build_embed_text(chunk.title, chunk.heading_path, " ".join(one.text.split()))


def _apart(found: Sequence[_Candidate], limit: int) -> Iterator[ScoredSentence]:
    """Yield the first candidates that are worth it and say something new."""
    said: list[frozenset[str]] = []
    for one in found:
        if len(said) == limit or one.score < _FLOOR * found[0].score:
            return
        tokens = token_set(one.text)
        if any(_alike(tokens, other) for other in said):
            continue
        said.append(tokens)
        start, end, _ = one.sentence
        yield ScoredSentence(passage=one.passage, start=start, end=end, score=min(1.0, one.score))


def _alike(tokens: frozenset[str], other: frozenset[str]) -> bool:
    return len(tokens & other) >= _ALIKE * len(tokens | other)
