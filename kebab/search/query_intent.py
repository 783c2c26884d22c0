"""Classifies the intent of a query, and weights its terms."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kebab.search.query_parser import ParsedQuery
from kebab.text.scripts import is_dense
from kebab.text.tokenizer import tokenize

_OPENERS_BY_LANGUAGE = {
    "English": "how what when where which who whom whose why",
    "German": "wie warum wieso was welche welcher welches welchen wer wem wen wann wo woher wohin",
    "French": "quel quelle quels quelles qui quand combien pourquoi comment o\u00f9",
    "Spanish": (
        "qu\u00e9 cu\u00e1l cu\u00e1les cu\u00e1ndo d\u00f3nde qui\u00e9n qui\u00e9nes c\u00f3mo"
        " cu\u00e1nto cu\u00e1ntos cu\u00e1nta cu\u00e1ntas"
    ),
    "Italian, Portuguese": (
        "chi quale quali quando dove perch\u00e9 quanto quanti onde quem qual quais como"
    ),
    "Russian": "что кто где когда как почему какой какая какое какие сколько",
    "Turkish": "ne nedir nerede nas\u0131l neden hangi ka\u00e7",
}
_ASKING = frozenset(word for words in _OPENERS_BY_LANGUAGE.values() for word in words.split())
_EARLY = 3
"""A question word stands among the first words; further on it may open a clause of a topic."""

_asks = re.compile(
    "[?\uff1f\u061f]\\s*$"
    "|何|誰|どこ|いつ|なぜ|どの|どう|どん|か[\u3002\uff0e]?\\s*$"
    "|무엇|누가|누구|언제|어디|어떻게|왜\\s|얼마|몇\\s|나요|까요|니까"
    "|什么|什麼|哪|谁|多少|怎么|怎麼|为什|為什|吗\\s*$"
).search
"""A question mark at the end, or what asks in Japanese, Korean and Chinese."""

_BIGRAM = 0.2
"""What a bigram counts for: overlapping, with particles and endings, five of them make a word."""

_TOPIC = (3.0, 6.0)
_NEED = (3.0, 8.0)
_LONG_QUESTION = (6.0, 12.0)
"""Between how many telling words each fades into the next."""


@dataclass(frozen=True, slots=True)
class QueryIntent:
    """How far a query names a topic or tells of a need, each 0 to 1, and whether it asks."""

    topic: float
    need: float
    asks: bool

    @property
    def question(self) -> float:
        """How far the query is a question for one passage."""
        return (1 - self.topic) * (1 - self.need)


def classify_intent(question: ParsedQuery) -> QueryIntent:
    """Return what a query is after, by its words and how many of them tell something."""
    words = sum(_BIGRAM if is_dense(term.text) else 1.0 for term in question.terms)
    if _is_question(question.plain):
        return QueryIntent(topic=0.0, need=_ramp(words, *_LONG_QUESTION), asks=True)
    return QueryIntent(topic=1 - _ramp(words, *_TOPIC), need=_ramp(words, *_NEED), asks=False)


def _is_question(text: str) -> bool:
    early = text.lower().split(maxsplit=_EARLY)[:_EARLY]
    return bool(_asks(text)) or not _ASKING.isdisjoint(early)


def _ramp(value: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high`, and evenly between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


_QUESTION_WORDS_BY_LANGUAGE = {
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
_QUESTION_WORDS = frozenset(
    gram for grams in _QUESTION_WORDS_BY_LANGUAGE.values() for gram in grams.split()
)
_hiragana = re.compile("[\u3041-\u309f]+").fullmatch
_ENDING = 0.3
"""What a bigram of Hiragana alone counts for: particles and endings, seldom a name."""

_DENSE_DISCOUNT = 0.3
"""The share of a question in bigrams that no passage repeats: they overlap word borders."""


def weigh_keywords(asked: Mapping[str, float]) -> dict[str, float]:
    """Return the terms of a question with what they weigh; all of them when they only ask."""
    weights = {
        term: weight * (_ENDING if _hiragana(term) else 1.0)
        for term, weight in asked.items()
        if term not in _QUESTION_WORDS
    }
    return weights or dict(asked)


def compute_coverage(weights: Mapping[str, float], tokens: Collection[str]) -> float:
    """Return how much of a question some tokens hold, from 0 to 1."""
    held = sum(weight for term, weight in weights.items() if term in tokens)
    return min(1.0, held / (_wanted(weights) or 1.0))


@lru_cache(maxsize=256)
def token_set(text: str) -> frozenset[str]:
    """Return the tokens of a text."""
    return frozenset(tokenize(text))


def token_set_of_all(texts: Iterable[str]) -> frozenset[str]:
    """Return the tokens of several texts."""
    return frozenset().union(*map(token_set, texts))


def _wanted(weights: Mapping[str, float]) -> float:
    """Return the weight that a good passage holds."""
    dense = sum(weight for term, weight in weights.items() if is_dense(term))
    return sum(weights.values()) - _DENSE_DISCOUNT * dense
