"""Builds an extractive answer: ranks the sentences of the evidence, and quotes the best ones.

The score of a sentence combines three features: the share of the question's keywords in it (half
of it counted without its headings, half with them), its cosine to the question (embedded with title
and headings, like passages), and the score of its passage relative to the best passage. The weights
are rounded from a fit on SQuAD 2. Share of questions whose gold answer is in one of three quoted
sentences, in the right file and lines, with refusals counted as failures:

- SQuAD 2, 1,000 questions: .896 with MiniLM, .866 by words alone
- JaQuAD, by words: .841 (the fit used no Japanese)

Features that gained .003 or less over three folds of articles are left out: cues of the kind of
question (names for `who`, numbers for `how many`), the words of neighbouring sentences, the length,
and more than 24 sentences to embed.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from kebab.core.answers import AnswerMode, Evidence, Refusal, Turn
from kebab.core.chunks import build_embed_text
from kebab.core.ports import Embedder
from kebab.core.queries import Page
from kebab.errors.catalog import DependencyMissing, EmbeddingUnavailable, TimedOut
from kebab.rag.engine import AnswerListener, DraftAnswer
from kebab.rag.quotation import ScoredSentence, format_quotes
from kebab.search.answerability import compute_relative_evidence
from kebab.search.coverage import compute_coverage, weigh_keywords
from kebab.text.layout import LayoutKind
from kebab.text.sentences import Sentence, find_sentences
from kebab.text.tokenizer import collect_all_tokens, collect_tokens

_WORD_WEIGHT, _COSINE_WEIGHT, _PASSAGE_WEIGHT = 0.25, 0.40, 0.25

MAX_EMBEDDED = 24
"""The most sentences that are compared by cosine; they take 50 ms on two cores."""

_MIN_RELATIVE_SCORE = 0.5
"""A sentence below this share of the best score is not quoted.

The limit loses nothing on SQuAD 2 and .002 on JaQuAD; .6 loses .012 there.
"""

_DUPLICATE_OVERLAP = 0.8
"""Two sentences are duplicates when they share this part of their tokens."""

_HEADING_QUALITY, _POOR_QUALITY = 0.3, 0.8
"""Factors for a heading, and for a question, an announcement or a list of links."""

_OPEN_ENDS = ("?", "\uff1f", "\u061f", ":", "\uff1a")
_LINK = re.compile(r"!?\[[^\]\n]*\]\([^)\n]*\)|<?https?://\S+")
_MIN_LETTERS = 12
"""A sentence with links and fewer other letters and digits is a list of links."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence with its features; `cosine` is None when the sentence cannot be embedded."""

    passage: Evidence
    sentence: Sentence
    text: str
    passage_score: float
    word_share: float
    quality: float
    cosine: float | None = None

    @property
    def score(self) -> float:
        lexical = _WORD_WEIGHT * self.word_share + _PASSAGE_WEIGHT * self.passage_score
        if self.cosine is None:
            return lexical / (_WORD_WEIGHT + _PASSAGE_WEIGHT) * self.quality
        return (lexical + _COSINE_WEIGHT * self.cosine) * self.quality


def rank_sentences(
    question: str,
    passages: Sequence[Evidence],
    asked: Mapping[str, float],
    embedder: Embedder | None,
    limit: int,
) -> list[ScoredSentence]:
    """Return the best sentences without duplicates, best first.

    Args:
        question: The question.
        passages: The evidence, best first.
        asked: The weight of each term of the question.
        embedder: The embedding model of the index; without it only words count.
        limit: The most sentences.
    """
    weights = weigh_keywords(asked)
    best = max((passage.score for passage in passages), default=0.0)
    candidates = [
        one
        for passage in passages
        for one in _find_candidates(
            passage, compute_relative_evidence(passage.score, best), weights
        )
    ]
    candidates.sort(key=lambda one: -one.score)
    if embedder is not None and embedder.supports(question):
        candidates = _add_cosines(question, candidates[:MAX_EMBEDDED], embedder)
        candidates.sort(key=lambda one: -one.score)
    return list(_select_distinct(candidates, limit))


def _find_candidates(
    passage: Evidence, passage_score: float, weights: Mapping[str, float]
) -> Iterator[_Candidate]:
    """Yield the complete sentences of a passage."""
    chunk = passage.chunk
    context = collect_all_tokens((chunk.title, *chunk.heading_path))
    for one in find_sentences(chunk.text):
        if passage.start <= one.start and one.end <= passage.start + len(passage.text):
            text = chunk.text[one.start : one.end]
            own = collect_tokens(text)
            share = (compute_coverage(weights, own) + compute_coverage(weights, own | context)) / 2
            quality = _rate_form(one.kind, text)
            yield _Candidate(passage, one, text, passage_score, share, quality)


def _rate_form(kind: LayoutKind, text: str) -> float:
    if kind is LayoutKind.HEADING:
        return _HEADING_QUALITY
    letters = sum(map(str.isalnum, _LINK.sub("", text)))
    is_link_list = letters < _MIN_LETTERS and _LINK.search(text)
    return _POOR_QUALITY if is_link_list or text.endswith(_OPEN_ENDS) else 1.0


def _add_cosines(
    question: str, candidates: list[_Candidate], embedder: Embedder
) -> list[_Candidate]:
    """Return the candidates with their cosines, or unchanged when the model fails."""
    positions = [position for position, one in enumerate(candidates) if embedder.supports(one.text)]
    texts = [_build_embed_text(candidates[position]) for position in positions]
    scale = embedder.profile.cosine_scale
    found = list(candidates)
    try:
        query = embedder.embed_query(question)
        for indexes, vectors in embedder.embed_passages(texts):
            for index, cosine in zip(indexes, vectors @ query, strict=True):
                position = positions[index]
                found[position] = replace(found[position], cosine=scale.normalise(float(cosine)))
    except (DependencyMissing, EmbeddingUnavailable, TimedOut):
        return candidates
    return found


def _build_embed_text(one: _Candidate) -> str:
    chunk = one.passage.chunk
    return build_embed_text(chunk.title, chunk.heading_path, " ".join(one.text.split()))


def _select_distinct(candidates: Sequence[_Candidate], limit: int) -> Iterator[ScoredSentence]:
    selected: list[frozenset[str]] = []
    for one in candidates:
        if len(selected) == limit or one.score < _MIN_RELATIVE_SCORE * candidates[0].score:
            return
        tokens = collect_tokens(one.text)
        if any(
            len(tokens & other) >= _DUPLICATE_OVERLAP * len(tokens | other) for other in selected
        ):
            continue
        selected.append(tokens)
        start, end, _ = one.sentence
        yield ScoredSentence(passage=one.passage, start=start, end=end, score=min(1.0, one.score))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractiveWriter:
    """Answers with sentences quoted from the notes.

    Args:
        embedder: Returns the embedding model, or None when there is none. Called once per answer.
        sentences: The most sentences of an answer.
    """

    embedder: Callable[[], Embedder | None]
    sentences: int
    mode: ClassVar[AnswerMode] = AnswerMode.EXTRACTIVE
    model: ClassVar[None] = None

    def write(
        self, question: str, page: Page, history: Sequence[Turn], listener: AnswerListener
    ) -> DraftAnswer:
        """Return the best sentences as quotes."""
        del history
        passages = [
            Evidence(marker=hit.rank, chunk=hit.chunk, text=hit.chunk.text, score=hit.score)
            for hit in page.hits
        ]
        found = rank_sentences(
            question, passages, page.term_rarities, self.embedder(), self.sentences
        )
        if not found:
            return DraftAnswer(refusal=Refusal.SCORE_GATE)
        text, citations = format_quotes(found)
        listener.on_token(text)
        used = len({citation.quote.chunk.key for citation in citations})
        return DraftAnswer(text=text, citations=citations, used=used)
