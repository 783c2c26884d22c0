"""Builds an extractive answer from quoted sentences."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from kebab.core.answers import (
    AnswerMode,
    Evidence,
    LanguageModel,
    Quote,
    Refusal,
    SupportingQuote,
    Turn,
)
from kebab.core.ports import Embedder
from kebab.core.queries import Page
from kebab.rag.engine import AnswerListener, DraftAnswer
from kebab.rag.evidence import escape_text
from kebab.rag.sentence_ranking import ScoredSentence, rank_sentences

_QUOTED = re.compile(r"\n[ \t]*(?:>[ \t]?)+")
_BETWEEN = re.compile(r"[ \t]*(?:\n[ \t]*(?:>[ \t]?)*)?")
_BORDERS = re.compile(r"\s*(?<!\\)\|\s*")
_MARKERS = re.compile(r"[\[\u3010]([#^]?\d{1,3})[\]\u3011]")


def format_quotes(picked: Sequence[ScoredSentence]) -> tuple[str, tuple[SupportingQuote, ...]]:
    """Return the answer in Markdown, and the citation of every marker in it.

    The best document comes first, in a document its sentences stand in their order, and those
    that follow each other directly are one quotation. Markers count from 1.
    """
    quotes = [quote for group in _by_document(picked) for quote in _joined(group)]
    sign = "- " if len(quotes) > 1 else ""
    text, supports = "", []
    for marker, quote in enumerate(quotes, start=1):
        text += ("\n" if text else "") + sign
        start = len(text)
        text += f"{_in_marks(_shown(quote.text))} [{marker}]"
        supports.append(SupportingQuote(marker=marker, quote=quote, spans=((start, len(text)),)))
    return text, tuple(supports)


def _by_document(picked: Sequence[ScoredSentence]) -> list[list[ScoredSentence]]:
    """Return what was picked by document, that of the best sentence first, each in its order."""
    places: dict[str, int] = {}
    for one in sorted(picked, key=lambda one: -one.score):
        places.setdefault(one.passage.chunk.doc_id, len(places))

    def place(one: ScoredSentence) -> tuple[int, int, int]:
        return places[one.passage.chunk.doc_id], one.passage.chunk.ordinal, one.start

    ordered = sorted(picked, key=place)
    return [list(group) for _, group in groupby(ordered, lambda one: one.passage.chunk.doc_id)]


def _joined(group: Sequence[ScoredSentence]) -> Iterable[Quote]:
    """Return the quotes of one document; what goes on in the same paragraph is one."""
    quotes = [_quote(one) for one in group[:1]]
    for before, one in pairwise(group):
        if _follows(before, one):
            last = quotes.pop()
            quotes.append(Quote(chunk=last.chunk, start=last.start, end=one.end))
        else:
            quotes.append(_quote(one))
    return quotes


def _quote(one: ScoredSentence) -> Quote:
    return Quote(chunk=one.passage.chunk, start=one.start, end=one.end)


def _follows(before: ScoredSentence, one: ScoredSentence) -> bool:
    chunk = one.passage.chunk
    if before.passage.chunk.chunk_id != chunk.chunk_id or before.text.startswith("|"):
        return False
    return bool(_BETWEEN.fullmatch(chunk.text[before.end : one.start]))


def _shown(words: str) -> str:
    """Return quoted words on one line; signs of tables, quotations and citations are left out."""
    line = " ".join(escape_text(_QUOTED.sub(" ", words)).split())
    if line.startswith("|"):
        cells = filter(None, _BORDERS.split(line))
        line = " \u00b7 ".join(cell.replace("\\|", "|") for cell in cells)
    return _MARKERS.sub(r"(\1)", line).replace("![", "[")


def _in_marks(line: str) -> str:
    """Return a line in quotation marks that it does not hold itself."""
    return f"\u201c{line}\u201d" if '"' in line else f'"{line}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractiveWriter:
    """Answers in the words of the notes.

    Args:
        embedder: Gives the embedding model, or None where there is none. Called only when needed.
        sentences: The most sentences of an answer.
    """

    embedder: Callable[[], Embedder | None]
    sentences: int

    @property
    def mode(self) -> AnswerMode:
        """The notes word it."""
        return AnswerMode.EXTRACTIVE

    @property
    def model(self) -> LanguageModel | None:
        """There is none."""
        return None

    def write(
        self, question: str, page: Page, history: Sequence[Turn], listener: AnswerListener
    ) -> DraftAnswer:
        """Return the sentences that answer best."""
        del history
        passages = [
            Evidence(marker=hit.rank, chunk=hit.chunk, text=hit.chunk.text, score=hit.score)
            for hit in page.hits
        ]
        picked = rank_sentences(question, passages, page.asked, self.embedder(), self.sentences)
        if not picked:
            return DraftAnswer(refusal=Refusal.SCORE_GATE)
        text, citations = format_quotes(picked)
        listener.on_token(text)
        used = len({one.quote.chunk.key for one in citations})
        return DraftAnswer(text=text, citations=citations, used=used)
