"""Tells which passages are in another language than a query.

A word that no passage in the language of the query holds is missing there. In a passage in another
language it would be another word, so that the words say nothing for or against that passage.
"""

from collections.abc import Iterable

from kebab.core.ids import Key
from kebab.core.queries import StoredChunk
from kebab.search.lexical import reads_as_another_language
from kebab.search.query_parser import is_question, list_words
from kebab.search.snippet import PassageCache
from kebab.text.language import detect_question_language, detect_script

_SAMPLE = 200
"""How much of a passage in an unknown language shows its script."""


class QueryLanguage:
    """The language of a query, as far as its words tell it.

    Of a query in an unknown language only a question is compared, by its stop words: names and
    keywords belong to no language.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._code = detect_question_language(text).code
        self._asks = is_question(text)
        self._judged: dict[str, bool] = {}

    @property
    def is_known(self) -> bool:
        """Whether passages can be told from the query by their language."""
        return self._code is not None or self._asks

    def differs_from(self, chunk: StoredChunk) -> bool:
        """Return whether a passage is in another language, as far as that can be told."""
        if not self.is_known:
            return False
        if chunk.lang is None:
            script = detect_script(chunk.text[:_SAMPLE])
            return script is not None and script != detect_script(self._text)
        if chunk.lang not in self._judged:
            self._judged[chunk.lang] = (
                chunk.lang != self._code
                if self._code is not None
                else reads_as_another_language(list_words(self._text), chunk.lang, asks=True)
            )
        return self._judged[chunk.lang]


def find_foreign(text: str, keys: Iterable[Key], passages: PassageCache) -> set[Key]:
    """Return the passages in another language than a query, if others are in its language."""
    language = QueryLanguage(text)
    if not language.is_known:
        return set()
    chunks = passages.load_chunks(list(keys))
    foreign = {chunk.key for chunk in chunks if language.differs_from(chunk)}
    return foreign if len(foreign) < len(chunks) else set()
