"""Parses a query into terms, phrases and filters, and classifies its intent."""

import re
from dataclasses import dataclass, replace
from itertools import islice

from kebab.core.queries import Filters
from kebab.errors.catalog import InvalidInput
from kebab.search.query_form import is_question
from kebab.search.query_operators import Phrase, read_operators
from kebab.text.scripts import is_dense, split_units
from kebab.text.tokenizer import Term, build_query_terms

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
_EDGES = f"{_PUNCTUATION}`<>{{}}|&\u00ab\u00bb\u2018\u2019\u201a\u201c\u201d\u201e"
_LEFT_EDGES = _EDGES.replace(".", "")
_CLAUSE_END = re.compile("[\u3001\u3002\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]")
"""Punctuation between words that no blank separates."""

_is_contraction = re.compile(
    r"\w+(?:n['\u2019]t|['\u2019](?:ll|ve|re|d|m))", re.IGNORECASE
).fullmatch
"""`wouldn't` and `they'll` are grammar, though the index has them as words."""

_MAX_TERMS = 4096
"""How many terms of a pasted page are looked up: each costs a look-up in the index."""

_MAX_WORDS = 256
"""How many words of a pasted page are listed."""


def strip_stop_words(text: str) -> str:
    """Return a query without stop words and question words, or all of it if nothing is left."""
    words = text.split()
    left = [word for word in words if not is_stop_word(word)]
    return " ".join(left) if any(any(map(str.isalnum, word)) for word in left) else text


def is_stop_word(word: str) -> bool:
    """Return whether a word of a query is a stop word or a question word of any language."""
    return word.strip(_PUNCTUATION).lower() in _STOP_WORDS


def list_words(text: str) -> tuple[str, ...]:
    """Return the first words of a text as they are written, each once, without punctuation."""
    words = (word for word in _CLAUSE_END.sub(" ", text).split() if split_units(word))
    bare = (word.rstrip(_EDGES).lstrip(_LEFT_EDGES) or word for word in words)
    return tuple(dict.fromkeys(islice(bare, _MAX_WORDS)))


def _list_words(unquoted: str, required: tuple[Phrase, ...]) -> tuple[str, ...]:
    """Return the words of a query outside its phrases, without stop words if others are left."""
    words = list_words(unquoted)
    kept = (word for word in words if not is_stop_word(word) and not _is_contraction(word))
    return tuple(kept) or (() if required else words)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """A query after parsing.

    `plain` is the text without operators. `terms` are its tokens and those of the phrases, without
    the `stop_terms`. `words` are the words outside phrases as they are written, without stop words.
    Every phrase of `required` must occur and none of `excluded` may.
    """

    plain: str
    terms: tuple[Term, ...]
    words: tuple[str, ...] = ()
    stop_terms: tuple[Term, ...] = ()
    required: tuple[Phrase, ...] = ()
    excluded: tuple[Phrase, ...] = ()
    filters: Filters


def parse_query(text: str, filters: Filters, *, prose: bool = False) -> ParsedQuery:
    """Return a parsed query; filters in its text are added to those that the request sets.

    In prose a quotation is the only operator.

    Raises:
        InvalidInput: The query only excludes.
    """
    found = read_operators(text, filters, prose=prose)
    terms, stop_terms = _split_terms(found.plain)
    if found.excluded and not terms and found.filters == filters:
        raise InvalidInput(field="$.query", cause="it only excludes, and searches for no word")
    return ParsedQuery(
        plain=found.plain,
        words=_list_words(found.unquoted, found.required),
        terms=terms,
        stop_terms=stop_terms,
        required=found.required,
        excluded=found.excluded,
        filters=found.filters,
    )


def _split_terms(plain: str) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Return the terms of a text without its stop words, and the terms of its stop words."""
    terms = dict.fromkeys(islice(build_query_terms(strip_stop_words(plain)), _MAX_TERMS))
    stop_words = dict.fromkeys(filter(is_stop_word, plain.split()))
    stop_terms = build_query_terms(" ".join(stop_words))
    return tuple(terms), tuple(term for term in stop_terms if term not in terms)


_BIGRAM = 0.2
"""The word count of a bigram: with overlaps, particles and endings, five make a word."""

_TOPIC = (3.0, 6.0)
_NEED = (3.0, 8.0)
_LONG_QUESTION = (6.0, 12.0)
"""The numbers of keywords between which one intent fades into the next."""


@dataclass(frozen=True, slots=True)
class QueryIntent:
    """How far a query names a topic or describes a need, each 0 to 1, and whether it asks.

    `strength` is how much its words say in the notes that are searched, from 0 to 1.
    """

    topic: float
    need: float
    asks: bool
    strength: float = 1.0

    @property
    def question(self) -> float:
        """How far the query is a question for a passage that holds its words."""
        return (1 - self.topic) * (1 - self.need) * self.strength

    def weaken(self, strength: float) -> "QueryIntent":
        """Return the intent where the words of the query say little.

        Feedback, proximity and diversity rest on the words.
        """
        return replace(self, need=self.need * strength, strength=strength)


def classify_intent(parsed: ParsedQuery) -> QueryIntent:
    """Return the intent of a query, by its question words and the number of its keywords."""
    words = sum(_BIGRAM if is_dense(term.text) else 1.0 for term in parsed.terms)
    if is_question(parsed.plain):
        return QueryIntent(topic=0.0, need=_ramp(words, *_LONG_QUESTION), asks=True)
    return QueryIntent(topic=1 - _ramp(words, *_TOPIC), need=_ramp(words, *_NEED), asks=False)


def _ramp(value: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high`, and a linear rise between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))
