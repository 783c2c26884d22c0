"""The aim of a query: it names a topic, asks a question, or tells of a need in many words.

The three are answered best in different ways. A topic is where a document speaks of it again and
again, and one document should not fill the page; a question is answered where its words stand
close together, wherever that is; a need finds its passages also by way of the best one.
"""

import re
from dataclasses import dataclass

from kebab.search.parse import Question
from kebab.text.scripts import is_dense

_BY_LANGUAGE = {
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
_ASKING = frozenset(word for words in _BY_LANGUAGE.values() for word in words.split())
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
class Aim:
    """How far a query names a topic or tells of a need, each 0 to 1, and whether it asks."""

    topic: float
    need: float
    asks: bool

    @property
    def question(self) -> float:
        """How far the query is a question for one passage."""
        return (1 - self.topic) * (1 - self.need)


def aim(question: Question) -> Aim:
    """Return what a query is after, by its words and how many of them tell something."""
    words = sum(_BIGRAM if is_dense(term.text) else 1.0 for term in question.terms)
    if _is_question(question.plain):
        return Aim(topic=0.0, need=_ramp(words, *_LONG_QUESTION), asks=True)
    return Aim(topic=1 - _ramp(words, *_TOPIC), need=_ramp(words, *_NEED), asks=False)


def _is_question(text: str) -> bool:
    early = text.lower().split(maxsplit=_EARLY)[:_EARLY]
    return bool(_asks(text)) or not _ASKING.isdisjoint(early)


def _ramp(value: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high`, and evenly between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))
