"""The words of texts as the word index holds them, looked up and not cut again each time."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kebab.store.sqlite.fts import Tokens

_MOST_WORDS = 1 << 16
_LONGEST = 64


class Vocabulary(dict[str, str]):
    """Cuts texts as a tokenizer does that never joins what blanks divide.

    A few thousand words are nearly all of what is written, so what each was cut into is kept, as
    tokens joined by blanks. Of words that are seen for the first time too many are forgotten.
    """

    def __init__(self, tokens: "Tokens") -> None:
        super().__init__()
        self._tokens = tokens

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_WORDS:
            self.clear()
        cut = " ".join(self._tokens(word))
        if len(word) <= _LONGEST:
            self[word] = cut
        return cut

    def cut(self, text: str) -> list[str]:
        """Return the tokens of a text in order, those of one word joined by blanks."""
        words = text.replace("\n", " ").split(" ")
        return list(filter(None, map(self.__getitem__, words)))
