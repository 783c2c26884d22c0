"""How many tokens a text has at most, when no tokenizer is at hand.

The figures are an upper bound of the WordPiece tokenizer of MiniLM, whose words are English: for
chunks of English, Spanish or French prose near the limit the bound holds always, for code and
tables of figures in 98 of 100. It overshoots by 20 to 40 %.

Letters beyond ASCII count one token each, which holds for European languages. Hangul, Kana and
Chinese characters count half a token: a multilingual model needs about that many, and for a model
that does not know the script the figure only decides how much text stands in one chunk. On the
Korean Kubernetes pages and JaQuAD words find as much as with a whole token, in fewer chunks.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from kebab.chunk.words import Count, WordCounter

_WORD = re.compile(r"[A-Za-z]+|[0-9]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
_SIGN = re.compile(r"[^\sA-Za-z0-9]")
_CAPITALISED = re.compile(r"[A-Z]+[a-z]*")
_ENGLISH = re.compile(r"\b(?:the|of|and|to|in|is|that|for|it|with|a|are|be|this)\b")
_ENGLISH_SHARE = 0.12
_NAME = 0.8  # names are rarely in the vocabulary
_WIDE_DISCOUNT = 0.5
_LONGEST = 64

_COST_ENGLISH = [1.0] * 4 + [1.25] * 4 + [1.7] * 3 + [length / 4.5 for length in range(11, 16)]
_COST_OTHER = [1.0, 1.0, 1.4] + [max(1.7, length / 1.9) for length in range(3, 16)]
_PER_LETTER_ENGLISH = 1 / 2
_PER_LETTER_OTHER = 1 / 1.5


def _table(short: list[float], per_letter: float) -> list[float]:
    """Return the cost of a word by its length."""
    return short + [length * per_letter for length in range(len(short), _LONGEST + 1)]


_ENGLISH_WORDS = _table(_COST_ENGLISH, _PER_LETTER_ENGLISH)
_OTHER_WORDS = _table(_COST_OTHER, _PER_LETTER_OTHER)


def estimate(texts: Sequence[str]) -> list[int]:
    """Return how many tokens each text has at most."""
    return [_bound(text) for text in texts]


def mixed_counter(tokenizer_count: Count, supports: Callable[[str], bool]) -> Count:
    """Return a counter that asks the tokenizer, and estimates what its model does not know."""
    counter = WordCounter(tokenizer_count)

    def count(texts: Sequence[str]) -> list[int]:
        known = [number for number, text in enumerate(texts) if supports(text)]
        counted = dict(zip(known, counter([texts[at] for at in known]), strict=True))
        return [
            counted[number] if number in counted else _bound(text)
            for number, text in enumerate(texts)
        ]

    return count


def _bound(text: str) -> int:
    """Return the upper bound for one text."""
    lengths = Counter(map(len, _WORD.findall(text)))
    english = len(_ENGLISH.findall(text)) >= _ENGLISH_SHARE * lengths.total()
    table = _ENGLISH_WORDS if english else _OTHER_WORDS
    words = sum(
        table[length] * times if length <= _LONGEST else table[_LONGEST] * times * length / _LONGEST
        for length, times in lengths.items()
    )
    names = _NAME * len(_CAPITALISED.findall(text))
    signs = len(_SIGN.findall(text)) - _WIDE_DISCOUNT * len(_WIDE.findall(text))
    return int(words + names + signs + 0.999)
