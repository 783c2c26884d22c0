"""Builds an extractive answer from quoted sentences."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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

_QUOTE_PREFIX = re.compile(r"\n[ \t]*(?:>[ \t]?)+")
_LINE_BREAK = re.compile(r"[ \t]*(?:\n[ \t]*(?:>[ \t]?)*)?")
_CELL_BORDER = re.compile(r"\s*(?<!\\)\|\s*")
_MARKERS = re.compile(r"[\[\u3010]([#^]?\d{1,3})[\]\u3011]")


def format_quotes(
    sentences: Sequence[ScoredSentence],
) -> tuple[str, tuple[SupportingQuote, ...]]:
    """Return the answer in Markdown, and the citation of every marker in it.

    The document of the best sentence comes first. The sentences of a document keep their order,
    and adjacent ones become one quote. Markers count from 1.
    """
    quotes = _join_adjacent(_sort_by_document(sentences))
    bullet = "- " if len(quotes) > 1 else ""
    text, supports = "", []
    for marker, quote in enumerate(quotes, start=1):
        text += ("\n" if text else "") + bullet
        start = len(text)
        text += f"{_add_quotation_marks(_flatten(quote.text))} [{marker}]"
        supports.append(SupportingQuote(marker=marker, quote=quote, spans=((start, len(text)),)))
    return text, tuple(supports)


def _sort_by_document(sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    places: dict[str, int] = {}
    for one in sorted(sentences, key=lambda one: -one.score):
        places.setdefault(one.passage.chunk.doc_id, len(places))

    def sort_key(one: ScoredSentence) -> tuple[int, int, int]:
        return places[one.passage.chunk.doc_id], one.passage.chunk.ordinal, one.start

    return sorted(sentences, key=sort_key)


def _join_adjacent(sentences: Sequence[ScoredSentence]) -> list[Quote]:
    quotes: list[Quote] = []
    for before, one in zip([None, *sentences], sentences, strict=False):
        is_next = before is not None and _is_adjacent(before, one)
        start = quotes.pop().start if is_next else one.start
        quotes.append(Quote(chunk=one.passage.chunk, start=start, end=one.end))
    return quotes


def _is_adjacent(before: ScoredSentence, one: ScoredSentence) -> bool:
    """Return whether two sentences stand side by side in a paragraph, and not in a table."""
    chunk = one.passage.chunk
    if before.passage.chunk.chunk_id != chunk.chunk_id or before.text.startswith("|"):
        return False
    return _LINE_BREAK.fullmatch(chunk.text[before.end : one.start]) is not None


def _flatten(text: str) -> str:
    """Return text on one line without the syntax of tables, quotations and citations."""
    line = " ".join(escape_text(_QUOTE_PREFIX.sub(" ", text)).split())
    if line.startswith("|"):
        cells = filter(None, _CELL_BORDER.split(line))
        line = " \u00b7 ".join(cell.replace("\\|", "|") for cell in cells)
    return _MARKERS.sub(r"(\1)", line).replace("![", "[")


def _add_quotation_marks(line: str) -> str:
    return f"\u201c{line}\u201d" if '"' in line else f'"{line}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractiveWriter:
    """Answers with sentences quoted from the notes.

    Args:
        embedder: Returns the embedding model, or None when there is none. Called once per answer.
        sentences: The most sentences of an answer.
    """

    embedder: Callable[[], Embedder | None]
    sentences: int

    @property
    def mode(self) -> AnswerMode:
        """No model writes the answer."""
        return AnswerMode.EXTRACTIVE

    @property
    def model(self) -> LanguageModel | None:
        """There is no model."""
        return None

    def write(
        self, question: str, page: Page, history: Sequence[Turn], listener: AnswerListener
    ) -> DraftAnswer:
        """Return the best sentences as quotes."""
        del history
        passages = [
            Evidence(marker=hit.rank, chunk=hit.chunk, text=hit.chunk.text, score=hit.score)
            for hit in page.hits
        ]
        found = rank_sentences(question, passages, page.asked, self.embedder(), self.sentences)
        if not found:
            return DraftAnswer(refusal=Refusal.SCORE_GATE)
        text, citations = format_quotes(found)
        listener.on_token(text)
        used = len({one.quote.chunk.key for one in citations})
        return DraftAnswer(text=text, citations=citations, used=used)
