"""Looks up the key terms of a question in passages, also misspelt, inflected or as initials."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property

from kebab.rag.question_terms import QuestionTerm, TermKind
from kebab.rag.word_forms import MIN_STEM, has_same_root, list_near_spellings
from kebab.text.normalize import fold_text
from kebab.text.tokenizer import collect_all_tokens

_LETTERS = re.compile(r"[^\W\d_]+")
_CAPITALS = re.compile(r"\b[A-Z][\w'-]*(?:(?: (?:of|the|and|for|de))* [A-Z][\w'-]*)+")
_INITIALS = re.compile(r"\b[A-Z]")
_ACRONYM = re.compile(r"[A-Z](?:\.?[A-Z])+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_DIGITS = re.compile(r"\d[\d,.]*\d|\d")
_NAMES = (
    "one/first two/second three/third four/fourth five/fifth six/sixth seven/seventh eight/eighth"
    " nine/ninth ten/tenth eleven/eleventh twelve/twelfth"
)
_NUMBER_NAMES = tuple(pair.split("/") for pair in _NAMES.split())
_MIN_MISSPELT, _MAX_MISSPELT = 4, 40
"""Shorter and longer words are not compared with similar ones."""


class EvidenceWords:
    """The words of some passages with their titles and headings.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = tuple(dict.fromkeys(texts))
        self.tokens = collect_all_tokens(self._texts)

    def contains(self, term: QuestionTerm) -> bool:
        """Return whether the passages contain a term or something that may mean it.

        All words of a name have to occur, not necessarily together.
        """
        if term.kind is TermKind.NUMBER:
            return self._contains_number(term)
        if term.kind is TermKind.CODE:
            return self._contains_code(term)
        return all(map(self._contains_word, term.parts, term.words))

    def _contains_word(self, word: str, tokens: Sequence[str]) -> bool:
        if not self.tokens.isdisjoint(tokens):
            return True
        return any(map(self._contains_variant, _LETTERS.findall(word)))

    def _contains_number(self, term: QuestionTerm) -> bool:
        digits = _DIGITS.search(term.text)
        number = digits[0].replace(",", "") if digits else term.text
        if not self.tokens.isdisjoint({number, term.words[0][0]}):
            return True
        place = int(number) - 1 if number.isdecimal() and len(number) < _MIN_MISSPELT else -1
        names = _NUMBER_NAMES[place] if 0 <= place < len(_NUMBER_NAMES) else ()
        return not self._spellings.isdisjoint(names) or any(
            token.startswith(number) and token[len(number) :] in {"st", "nd", "rd", "th", "s"}
            for token in self.tokens
        )

    def _contains_code(self, term: QuestionTerm) -> bool:
        """Return whether a code occurs as it stands, or with other separators."""
        whole = max(term.words[0], key=len)
        return whole in self.tokens or fold_text(term.text) in self._folded

    def _contains_variant(self, word: str) -> bool:
        """Return whether a word occurs misspelt, as an adjective, or as initials."""
        if _ACRONYM.fullmatch(word) and word in self._initials:
            return True
        plain = _strip_accents(word.lower())
        if not _MIN_MISSPELT <= len(plain) <= _MAX_MISSPELT:
            return False
        near = list_near_spellings(plain)
        return any(
            (other[:MIN_STEM] == plain[:MIN_STEM] and has_same_root(plain, other))
            or (
                abs(len(other) - len(plain)) <= 1
                and not near.isdisjoint(list_near_spellings(other))
            )
            for other in self._spellings
        )

    @cached_property
    def _folded(self) -> str:
        return fold_text("\n".join(self._texts))

    @cached_property
    def _spellings(self) -> frozenset[str]:
        """The words in lower case without accents."""
        return frozenset(_LETTERS.findall(_strip_accents("\n".join(self._texts).lower())))

    @cached_property
    def _initials(self) -> str:
        runs = _CAPITALS.findall("\n".join(self._texts))
        return " ".join("".join(_INITIALS.findall(run)) for run in runs)


def _strip_accents(text: str) -> str:
    return text if text.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFD", text))
