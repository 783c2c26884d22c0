"""What is telling in a question: its terms by weight, and how much of it a text holds.

Scripts without blanks are asked for in bigrams, and those of the words that only ask (`what`,
`how many`) and of endings stand in no answer. Search need not mind: they cost every passage the
same. A share of the question does.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from kebab.text.scripts import is_dense
from kebab.text.tokenizer import tokenize

_BY_LANGUAGE = {
    "Korean": (
        "얼마 마나 무엇 엇을 엇이 엇인 어디 디서 디에 언제 제인 누가 누구 구인 어떻 떻게 어떤 며칠"
        " 나요 까요 니까 인가 가요 뭐야 은가 는가 였나 했나 한가 느냐 을까 일까"
    ),
    "Japanese": (
        "何で 何が 何を 何と 何年 は何 誰が 誰で は誰 です すか ます どこ いつ だれ なに なぜ どの"
        " どん はど のか たか たの るか はい のは"
    ),
    "Chinese": (
        "什么 什麼 多少 哪里 哪裡 哪个 哪個 哪些 怎么 怎麼 怎样 为什 為什 是谁 是誰 谁是 几个 幾個"
        " 何时 何時 是什 么是 如何"
    ),
}
_ASKING = frozenset(gram for grams in _BY_LANGUAGE.values() for gram in grams.split())
_hiragana = re.compile("[\u3041-\u309f]+").fullmatch
_ENDING = 0.3
"""What a bigram of Hiragana alone counts for: particles and endings, seldom a name."""

_DENSE_DISCOUNT = 0.3
"""The share of a question in bigrams that no passage repeats: they overlap word borders."""


def telling(asked: Mapping[str, float]) -> dict[str, float]:
    """Return the terms of a question with what they weigh; all of them when they only ask."""
    weights = {
        term: weight * (_ENDING if _hiragana(term) else 1.0)
        for term, weight in asked.items()
        if term not in _ASKING
    }
    return weights or dict(asked)


def share(weights: Mapping[str, float], tokens: Collection[str]) -> float:
    """Return how much of a question some tokens hold, from 0 to 1."""
    held = sum(weight for term, weight in weights.items() if term in tokens)
    return min(1.0, held / (_wanted(weights) or 1.0))


@lru_cache(maxsize=256)
def tokens_of(text: str) -> frozenset[str]:
    """Return the tokens of a text."""
    return frozenset(tokenize(text))


def together(texts: Iterable[str]) -> frozenset[str]:
    """Return the tokens of several texts."""
    return frozenset().union(*map(tokens_of, texts))


def _wanted(weights: Mapping[str, float]) -> float:
    """Return the weight that a good passage holds."""
    dense = sum(weight for term, weight in weights.items() if is_dense(term))
    return sum(weights.values()) - _DENSE_DISCOUNT * dense
