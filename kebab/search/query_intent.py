"""Classifies the intent of a query: it names a topic, asks a question, or describes a need."""

import re
from dataclasses import dataclass

from kebab.search.query_parser import ParsedQuery
from kebab.text.scripts import is_dense

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
_QUESTION_WORDS = frozenset(
    word for words in _OPENERS_BY_LANGUAGE.values() for word in words.split()
)
_EARLY = 3
"""A question word stands among the first words; a later one may open a clause of a topic."""

_find_question_form = re.compile(
    "[?\uff1f\u061f]\\s*$"
    "|何|誰|どこ|いつ|なぜ|どの|どう|どん|か[\u3002\uff0e]?\\s*$"
    "|무엇|누가|누구|언제|어디|어떻게|왜\\s|얼마|몇\\s|나요|까요|니까"
    "|什么|什麼|哪|谁|多少|怎么|怎麼|为什|為什|吗\\s*$"
).search
"""A question mark at the end, or a question word of Japanese, Korean or Chinese."""

_BIGRAM = 0.2
"""The word count of a bigram: with overlaps, particles and endings, five make a word."""

_TOPIC = (3.0, 6.0)
_NEED = (3.0, 8.0)
_LONG_QUESTION = (6.0, 12.0)
"""The numbers of keywords between which one intent fades into the next."""


@dataclass(frozen=True, slots=True)
class QueryIntent:
    """How far a query names a topic or describes a need, each 0 to 1, and whether it asks."""

    topic: float
    need: float
    asks: bool

    @property
    def question(self) -> float:
        """How far the query is a question for one passage."""
        return (1 - self.topic) * (1 - self.need)


def classify_intent(parsed: ParsedQuery) -> QueryIntent:
    """Return the intent of a query, by its question words and the number of its keywords."""
    words = sum(_BIGRAM if is_dense(term.text) else 1.0 for term in parsed.terms)
    early = parsed.plain.lower().split(maxsplit=_EARLY)[:_EARLY]
    if _find_question_form(parsed.plain) or not _QUESTION_WORDS.isdisjoint(early):
        return QueryIntent(topic=0.0, need=_ramp(words, *_LONG_QUESTION), asks=True)
    return QueryIntent(topic=1 - _ramp(words, *_TOPIC), need=_ramp(words, *_NEED), asks=False)


def _ramp(value: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high`, and a linear rise between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))
