"""The words of a sentence that a person would search for, in any script.

What is left out is grammar: words that are in every other passage, particles, and the letters that
bind words in scripts without blanks.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_HAN, _KANA, _HANGUL = "\u4e00-\u9fff\u3005", "\u30a1-\u30fa\u30fc", "\uac00-\ud7a3"
_HIRAGANA = "\u3041-\u3096"
_LETTER = rf"[^\W_{_HAN}{_KANA}{_HANGUL}{_HIRAGANA}]"
_TERM = re.compile(
    rf"[{_HAN}]+|[{_KANA}]{{2,}}|[{_HANGUL}]{{2,}}|{_LETTER}{{2,}}(?:['\u2019_.-]{_LETTER}+)*"
)
_BINDING = re.compile("[的了和是在与及而对为就都也有这那其被把从到等之所以并或]")
_PARTICLE = re.compile(
    "(?<=..)(?:에서는|에서|에게|까지|부터|으로|이며|하고|하는|합니다|은|는|이|가|을|를|에|의|로|과|와|도|만)$"
)
_LONGEST_HAN = 6
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
about after all also an and any are as at be been before being but by can could did do does during
each for from had has have he her his how if in into is it its may more most must no not of on one
only or other our out over she should so some such than that the their them then there these they
this those through to under until up was we were what when where which while who why will with
would you your
""",
    )
)


def terms(sentence: str) -> list[str]:
    """Return the words of a sentence that may mean something, in order, each once."""
    found = (piece for match in _TERM.finditer(sentence) for piece in _pieces(match[0]))
    return list(dict.fromkeys(one for one in found if one.lower() not in _COMMON))


def _pieces(word: str) -> Iterable[str]:
    if re.match(f"[{_HAN}]", word):
        return [run[:_LONGEST_HAN] for run in _BINDING.split(word) if len(run) > 1]
    return [_PARTICLE.sub("", word)]


class Rarity:
    """How rare words are among the passages that were looked at."""

    _FREQUENT = 0.2
    _ENOUGH = 20
    """Fewer passages cannot tell which words are in every other one."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._size = len(passages)
        self._count = Counter(
            word for text in passages for word in {one.lower() for one in terms(text)}
        )

    def telling(self, sentence: str) -> list[str]:
        """Return the words of a sentence without those that are nearly everywhere."""
        few = self._size < self._ENOUGH
        limit = self._size * self._FREQUENT
        return [one for one in terms(sentence) if few or self._count[one.lower()] <= limit]

    def rarest(self, words: Sequence[str], count: int) -> list[str]:
        """Return the rarest words, in the order in which they stand; of equals the longer."""
        ranked = sorted(words, key=lambda one: (self._count[one.lower()], -len(one)))
        kept = set(ranked[:count])
        return [one for one in words if one in kept]

    def knows(self, word: str) -> bool:
        """Return whether a word occurs."""
        return word.lower() in self._count

    def frequent(self) -> list[str]:
        """Return the words that are in several passages, the commonest first."""
        return [word for word, count in self._count.most_common() if count > 1]
