"""Parses a query into terms, phrases and filters, and classifies its intent."""

import re
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from kebab.core.queries import Filters
from kebab.text.scripts import is_dense
from kebab.text.tokenizer import Term, build_phrase_terms, build_query_terms

_STOP_WORDS_BY_LANGUAGE = {
    "English": (
        "how what when where which who whom whose why do does did is are was were be been am"
        " the a an of to in on for i my me we you your our should can could would shall might must"
        " its and or that this these those with from by at as has have had there their they he she"
        " his her not than then into if so"
    ),
    "German": (
        " wie warum wieso welche welcher welches welchen welchem wer wem wen wann wo woher wohin"
        " wieviel der das dem ein eine einen einem einer und ist sind wird werden wurde wurden"
        " ich auf f\u00fcr mit von zu im"
    ),
    "French": (
        " quel quelle quels quelles qui que quoi o\u00f9 quand combien pourquoi le la les une du"
        " des et est sont dans aux"
    ),
    "Spanish, Italian, Portuguese": (
        " qu\u00e9 cu\u00e1l cu\u00e1les cu\u00e1ndo d\u00f3nde qui\u00e9n qui\u00e9nes c\u00f3mo"
        " cu\u00e1nto cu\u00e1ntos cu\u00e1nta cu\u00e1ntas cual cuando donde quien el los las una"
        " unas del en es al che chi quale quali quando dove perch\u00e9 quanto quanti il gli di"
        " sono nel nella qual quais onde quem uma da das em s\u00e3o"
    ),
    "Russian": (
        " что кто где когда как почему какой какая какое какие каких каким сколько чем и в на по"
        " из \u0443 за от до для это был была было были"
    ),
    "Greek": (
        " ποιος ποια ποιο ποιοι ποιες τι πού πώς πότε γιατί πόσο πόσα πόσες το \u03bf\u03b9 τα του"
        " της των και είναι στο στη"
    ),
    "Turkish, Vietnamese": (
        " ne nedir nerede nas\u0131l neden ka\u00e7 hangi hangisi bir g\u00ec n\u00e0o"
        " \u0111\u00e2u sao nhi\u00eau l\u00e0 c\u1ee7a"
    ),
    "Arabic": (" ما ماذا متى أين كيف لماذا كم هل هو هي في على من"),
    "Hindi": (" क्या कौन कब कहाँ कहां कैसे क्यों कितने कितनी कितना किस का के की में है हैं था थे थी"),
}
_STOP_WORDS = frozenset(
    word for words in _STOP_WORDS_BY_LANGUAGE.values() for word in words.split()
)
_PUNCTUATION = ".,;:!?\"'()[]\u00bf\u00a1\u061f\u2026\u0964"


def strip_stop_words(text: str) -> str:
    """Return a query without stop words and question words, or all of it if nothing is left."""
    words = text.split()
    left = [word for word in words if word.strip(_PUNCTUATION).lower() not in _STOP_WORDS]
    return " ".join(left) if any(any(map(str.isalnum, word)) for word in left) else text


Column: TypeAlias = Literal["title", "headings", "body"]

_COLUMNS: dict[str, Column] = {
    "title": "title",
    "heading": "headings",
    "headings": "headings",
    "body": "body",
}
_LISTS = frozenset({"tag", "lang", "media", "source"})
_OPERATOR = re.compile(
    r"""(?<!\S)(?P<minus>-)?(?:(?P<field>[a-z]+):)?"(?P<quoted>[^"]*)"(?=\s|$|[,.;:!?)])"""
    r"""|(?<!\S)-(?P<excluded>[^\W\d_][^\s"]*)|(?<!\S)(?P<name>[a-z]+):(?P<value>[^\s":]+)(?!\S)""",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'(?<!\S)"(?P<quoted>[^"]*)"(?=\s|$|[,.;:!?)])')
"""The only operator of a question in prose: `tar -x` and `note: this` are words there."""

_MAX_PHRASES = 32
"""More phrases of a pasted page are read as words: each phrase costs a look-up in the index."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Adjacent tokens, in one column when it is named; `text` is as it was typed."""

    terms: tuple[Term, ...]
    column: Column | None = None
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """A query after parsing.

    `plain` is the text without operators. `terms` are its tokens and those of the phrases, without
    the `stop_terms`. Every phrase of `required` must occur and none of `excluded` may.
    """

    plain: str
    terms: tuple[Term, ...]
    stop_terms: tuple[Term, ...] = ()
    required: tuple[Phrase, ...] = ()
    excluded: tuple[Phrase, ...] = ()
    filters: Filters


class _OperatorReader:
    """Collects the operators of one query; each method returns the plain text of its operator."""

    def __init__(self, filters: Filters) -> None:
        self.given = self.filters = filters
        self.required: list[Phrase] = []
        self.excluded: list[Phrase] = []

    def read_quote(self, match: re.Match[str]) -> str:
        """Return the plain text of a quotation in prose."""
        _add_phrase(self.required, match["quoted"], None)
        return match["quoted"]

    def read_operator(self, match: re.Match[str]) -> str:
        """Return the plain text of an operator."""
        parts = match.groupdict()
        if parts["quoted"] is not None:
            return self._read_phrase(match[0], parts)
        if parts["excluded"] is not None:
            return self._exclude(match[0], parts["excluded"], None)
        return self._read_field(match[0], parts["name"].lower(), parts["value"])

    def _read_phrase(self, whole: str, parts: dict[str, str | None]) -> str:
        name, text = (parts["field"] or "").lower(), parts["quoted"] or ""
        if name and name not in _COLUMNS:
            return whole if parts["minus"] else self._read_field(whole, name, text)
        if parts["minus"]:
            return self._exclude(whole, text, _COLUMNS.get(name))
        _add_phrase(self.required, text, _COLUMNS.get(name))
        return text

    def _exclude(self, whole: str, text: str, column: Column | None) -> str:
        return "" if _add_phrase(self.excluded, text, column) else whole

    def _read_field(self, whole: str, name: str, value: str) -> str:
        if column := _COLUMNS.get(name):
            return value if _add_phrase(self.required, value, column) else whole
        return "" if value and self._add_filter(name, value) else whole

    def _add_filter(self, name: str, value: str) -> bool:
        """Add a filter, unless the request sets it already."""
        if name == "path" and self.given.path_glob is None and self.filters.path_glob is None:
            glob = value if re.search(r"[*?\[]|/$", value) else f"**/*{value}*"
            self.filters = replace(self.filters, path_glob=glob)
            return True
        if name not in _LISTS or getattr(self.given, name):
            return False
        changed: dict[str, Any] = {name: (*getattr(self.filters, name), value)}
        self.filters = replace(self.filters, **changed)
        return True


def parse_query(text: str, filters: Filters, *, prose: bool = False) -> ParsedQuery:
    """Return a parsed query; filters in its text are added to those that the request sets.

    In prose a quotation is the only operator.
    """
    reader = _OperatorReader(filters)
    pattern, read = (_QUOTED, reader.read_quote) if prose else (_OPERATOR, reader.read_operator)
    plain = " ".join(pattern.sub(lambda match: f" {read(match)} ", text).split())
    terms, stop_terms = _split_terms(plain)
    if not terms and reader.filters == filters:
        # There is nothing to search for: exclusions alone are read as words.
        terms, stop_terms = _split_terms(text)
        return ParsedQuery(plain=text, terms=terms, stop_terms=stop_terms, filters=filters)
    return ParsedQuery(
        plain=plain,
        terms=terms,
        stop_terms=stop_terms,
        required=tuple(reader.required),
        excluded=tuple(reader.excluded),
        filters=reader.filters,
    )


def _add_phrase(phrases: list[Phrase], text: str, column: Column | None) -> bool:
    """Add a phrase once, unless it has no token or there are too many; return whether it is in."""
    phrase = Phrase(tuple(build_phrase_terms(text)), column, text)
    if phrase.terms and phrase not in phrases and len(phrases) < _MAX_PHRASES:
        phrases.append(phrase)
    return phrase in phrases


def _split_terms(plain: str) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Return the terms of a text without its stop words, and the terms of its stop words."""
    terms = dict.fromkeys(build_query_terms(strip_stop_words(plain)))
    return tuple(terms), tuple(term for term in build_query_terms(plain) if term not in terms)


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
