"""Recognizes the form of a query: a question."""

import re

_QUESTION_WORDS_BY_LANGUAGE = {
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
    word for words in _QUESTION_WORDS_BY_LANGUAGE.values() for word in words.split()
)
_EARLY = 3
"""A question word is among the first words; a later one may open a clause of a topic."""

_find_question_form = re.compile(
    "[?\uff1f\u061f]\\s*$"
    "|何|誰|どこ|いつ|なぜ|どの|どう|どん|か[\u3002\uff0e]?\\s*$"
    "|무엇|누가|누구|언제|어디|어떻게|왜\\s|얼마|몇\\s|나요|까요|니까"
    "|什么|什麼|哪|谁|多少|怎么|怎麼|为什|為什|吗\\s*$"
).search
"""A question mark at the end, or a question word of Japanese, Korean or Chinese."""


def is_question(text: str) -> bool:
    """Return whether a text asks, by its first words, a question mark or a question ending."""
    early = text.lower().split(maxsplit=_EARLY)[:_EARLY]
    return bool(_find_question_form(text)) or not _QUESTION_WORDS.isdisjoint(early)
