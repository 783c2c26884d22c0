"""Quoting: the answer is the best sentences of the notes as they stand, without any model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kebab.core.answer import AnswerMode, Passage, Refusal, Turn
from kebab.core.dialogue import LanguageModel
from kebab.core.hit import Page
from kebab.core.ports import Embedder
from kebab.rag.extract import extract
from kebab.rag.recite import recite
from kebab.rag.worded import Listener, Worded


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceWriter:
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
        self, question: str, page: Page, history: Sequence[Turn], listener: Listener
    ) -> Worded:
        """Return the sentences that answer best."""
        del history
        passages = [
            Passage(marker=hit.rank, chunk=hit.chunk, text=hit.chunk.text, score=hit.score)
            for hit in page.hits
        ]
        picked = extract(question, passages, page.asked, self.embedder(), self.sentences)
        if not picked:
            return Worded(refusal=Refusal.SCORE_GATE)
        text, citations = recite(picked)
        listener.token(text)
        used = len({one.quote.chunk.key for one in citations})
        return Worded(text=text, citations=citations, used=used)
