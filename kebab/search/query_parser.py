"""Parses a query into terms, phrases and filters, and classifies its form and its intent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from kebab.core.queries import FILTERS, Filters
from kebab.errors.catalog import InvalidInput
from kebab.text.language import (
    AUXILIARIES,
    is_dense,
    is_question_word,
    is_stop_word,
    split_units,
    strip_stop_words,
)
from kebab.text.normalize import load_words, split_names
from kebab.text.tokenizer import Term, build_phrase_terms, build_query_terms

_PUNCTUATION = ".,;:!?\"'()[]\u00bf\u00a1\u061f…\u0964"
_EDGES = f"{_PUNCTUATION}`<>{{}}|&«»‘’‚“”„"
_LEFT_EDGES = _EDGES.replace(".", "")
_CLAUSE_END = re.compile("[、。\u3008-\u3011！（），：；？]")
"""Punctuation between words that no blank separates."""

_is_contraction = re.compile(r"\w+(?:n['’]t|['’](?:ll|ve|re|d|m))", re.IGNORECASE).fullmatch
"""`wouldn't` and `they'll` are grammar, though the index has them as words."""

_MAX_TERMS = 4096
"""How many terms of a pasted page are looked up: each costs a look-up in the index."""

_MAX_WORDS = 256
"""How many words of a pasted page are listed."""


def list_words(text: str) -> tuple[str, ...]:
    """Return the first words of a text as they are written, each once, without punctuation."""
    words = (word for word in _CLAUSE_END.sub(" ", text).split() if split_units(word))
    bare = (word.rstrip(_EDGES).lstrip(_LEFT_EDGES) or word for word in words)
    return tuple(dict.fromkeys(islice(bare, _MAX_WORDS)))


Column: TypeAlias = Literal["title", "headings", "body"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Adjacent tokens, in one column when it is named; `text` is as it was typed."""

    terms: tuple[Term, ...]
    column: Column | None = None
    text: str = field(default="", compare=False)

    def format(self) -> str:
        """Return the phrase as text, with its column if it has one."""
        return f"{self.column}:{self.text}" if self.column else self.text


class ParsedQuery(Struct, frozen=True, kw_only=True):
    """A query after parsing.

    `plain` is the text without operators. `terms` are its tokens and those of the phrases, without
    the `stop_terms`. `others` are further forms of terms, which passages need not hold. `guesses`
    are terms that were found in place of a word, and may mean something else. `words` are the words
    outside phrases as they are written, without stop words. Every phrase of `required` must occur
    and none of `excluded` may.
    """

    plain: str
    terms: tuple[Term, ...]
    words: tuple[str, ...] = ()
    others: tuple[Term, ...] = ()
    guesses: frozenset[str] = frozenset()
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
    looked_up = islice(build_query_terms(strip_stop_words(found.plain)), _MAX_TERMS)
    terms = tuple(dict.fromkeys(looked_up))
    if found.excluded and not terms and found.filters == filters:
        raise InvalidInput(field="$.query", cause="it only excludes, and searches for no word")
    stop_words = " ".join(dict.fromkeys(filter(is_stop_word, found.plain.split())))
    # Stop words are listed only if there are no other words and no phrases.
    words = list_words(found.unquoted)
    kept = tuple(one for one in words if not is_stop_word(one) and not _is_contraction(one))
    return ParsedQuery(
        plain=found.plain,
        words=kept or (() if found.required else words),
        terms=terms,
        stop_terms=tuple(term for term in build_query_terms(stop_words) if term not in terms),
        required=tuple(found.required),
        excluded=tuple(found.excluded),
        filters=found.filters,
    )


EARLY = 3
"""A question word is among the first words; a later one may open a clause of a topic."""

_QUESTION_FORMS = load_words("patterns")["question_forms"]
"""A question mark at the end, or a question word of Japanese, Korean or Chinese."""


def is_question(text: str) -> bool:
    """Return whether a text asks, by its first words, a question mark or a question ending."""
    early = text.lower().split(maxsplit=EARLY)[:EARLY]
    if any(map(is_question_word, early)):
        return True
    return text.rstrip().endswith("?") or (
        not text.isascii() and (re.search(_QUESTION_FORMS, text) is not None)
    )


_IDENTIFIER = r"\w*[a-z0-9][A-Z]\w*|\w*_\w*[^\W_]\w*|\w+(?:(?:\.|::|#|->)\w+)+"
_LONGEST_IDENTIFIER = 100


def is_identifier(word: str) -> bool:
    """Return whether a word is written as a name in code: `parse_markdown`, `Router.get`."""
    return len(word) <= _LONGEST_IDENTIFIER and re.fullmatch(_IDENTIFIER, word) is not None


_PROGRAMS, _WORDS_BEFORE = map(split_names, load_words("command_lines").values())
"""Programs whose names are seldom words of other topics, and words before the name of a program."""

_SHELL = split_names("| || && ; >> 2>&1 2> . ..")
_is_option = re.compile(r"--[^\W_]\S*|-[A-Za-z]{1,2}\d*|-[A-Za-z][^\s=]*=\S*").fullmatch
"""`--all`, `-p`, `-it`, `-p22`, `-o=x`: never meant as exclusions."""


def is_command_line(text: str) -> bool:
    """Return whether a text is a command line, or has an option of one."""
    words = text.lower().split()
    if any(map(_is_option, words)) or not _SHELL.isdisjoint(words):
        return True
    named = (word for word in words if not (word in _WORDS_BEFORE or "=" in word))
    program = next(named, "")
    return program in _PROGRAMS or program.startswith(("./", "../", "~/"))


_COLUMNS: dict[str, Column] = {
    "title": "title",
    "heading": "headings",
    "headings": "headings",
    "body": "body",
}
_ALIASES = {"type": "media"}


def is_filter(name: str) -> bool:
    """Return whether a query may have a filter or a column of this name."""
    return name == "path" or name in _COLUMNS or _ALIASES.get(name, name) in FILTERS


_OPERATOR_PATTERN = (
    r"""(?<!\S)(?P<minus>-)?(?:(?P<field>[a-z]+):)?"(?P<quoted>[^"]*)"(?![^\s,.;:!?)]|, line \d)"""
    r"""|(?<!\S)-?(?P<name>[a-z]+):(?P<value>[^\s":]+)(?!\S)"""
    r"""|(?<!\S)-#(?P<tag>[^\s"]+)|(?<!\S)-(?P<excluded>[^\W\d_][^\s"]*)"""
    r"""|(?<!\S)-?\[(?P<key>"[^"]+"|[^\W\d_][^\[\]":]*):(?P<wanted>[^\[\]]*)\](?!\S)"""
)
_NOT = re.compile(
    r'((?<!\S)"[^"]*")'
    r'|(?<=\S )(?:AND )?NOT (?=[\w#\[]|[a-z]*:?")|^\s*NOT (?=[#\[]|[a-z]+:[^\s:/])'
)
"""A quoted phrase, or the operator; at the beginning it is one before a filter only."""

_QUOTED_PATTERN = r'(?<!\S)"(?P<quoted>[^"]*)"(?![^\s,.;:!?)]|, line \d)'
"""The only operator in prose, where `tar -x` is words; that of `File "a.py", line 3` is none."""

_OPERATOR_SIGNS = frozenset('-":')
"""Every operator has one of these characters."""

_MAX_PHRASES = 32
"""More phrases of a pasted page are read as words: each phrase costs a look-up in the index."""


class _Piece(NamedTuple):
    """The words that an operator adds to the query, and whether they are a required phrase."""

    text: str
    is_phrase: bool = False


_HASHTAG = re.compile(r"(?<!\S)(?<!NOT )#([\d/_-]*[^\W\d_][\w/-]*)(?!\S)")


def split_hashtags(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a query without its hashtags, and these; one of hashtags only stays as it is."""
    tags = tuple(dict.fromkeys(_HASHTAG.findall(text))) if "#" in text else ()
    rest = _join_words(_HASHTAG.sub(" ", text)) if tags else ""
    return rest or text, tags


def read_operators(text: str, filters: Filters, *, prose: bool) -> "_OperatorReader":
    """Return what has read the operators of a query; its filters are added to those given.

    A word behind a minus or `NOT` excludes passages, unless the query asks or is a command line: in
    `how do I use git -C` it is what the person looks for. A quotation behind a minus always does.
    """
    # The first word may also be a verb, as in `can I use git -C`.
    opens = not set(AUXILIARIES["en"].split()).isdisjoint(text.lower().split(maxsplit=1)[:1])
    excludes = not (prose or is_question(text) or opens)
    written = text
    if excludes and not text.isupper():
        text = _NOT.sub(lambda found: found[1] or "-", text)
    excludes = excludes and (written != text or not is_command_line(text))
    reader = _OperatorReader(filters, excludes=excludes)
    position = 0
    # Most queries have no operator, and need no pattern.
    found: list[re.Match[str]] = []
    if not _OPERATOR_SIGNS.isdisjoint(text):
        pattern = _QUOTED_PATTERN if prose else _OPERATOR_PATTERN
        found = list(re.finditer(pattern, text, re.IGNORECASE))
    for match in found:
        piece, before = reader.read_operator(match), text[position : match.start()]
        reader.plain += f"{before} {piece.text} "
        reader.unquoted += f"{before} {'' if piece.is_phrase else piece.text} "
        position = match.end()
    reader.plain = _join_words(reader.plain + text[position:])
    reader.unquoted = _join_words(reader.unquoted + text[position:])
    return reader


def _join_words(text: str) -> str:
    return " ".join(text.split())


_SHORTEST_EXCLUSION = 3
_SHORTEST_DENSE_EXCLUSION = 2
"""The least letters of an excluded word, and of one in a script without blanks."""


class _OperatorReader:
    """Collects the operators of one query; each method returns the words of its operator.

    A word behind a minus is an exclusion with `excludes`, and otherwise a word. `plain` is the text
    without operators; it includes the words of the required phrases, `unquoted` does not.
    """

    def __init__(self, filters: Filters, *, excludes: bool) -> None:
        self.given = self.filters = filters
        self.excludes = excludes
        self.plain = self.unquoted = ""
        self.required: list[Phrase] = []
        self.excluded: list[Phrase] = []

    def read_operator(self, match: re.Match[str]) -> _Piece:
        parts = match.groupdict()
        whole, name = match[0], (parts.get("name") or "").lower()
        if parts["quoted"] is not None:
            return self._read_quoted(whole, parts)
        if parts["excluded"] is not None or (whole[0] == "-" and name and not is_filter(name)):
            word = whole[1:]
            least = _SHORTEST_DENSE_EXCLUSION if is_dense(word) else _SHORTEST_EXCLUSION
            # A shorter one is an option.
            if self.excludes and sum(map(str.isalpha, word)) >= least:
                return self._exclude(whole, word, None)
            return _Piece(whole)
        if whole[0] == "-" and not self.excludes:
            return _Piece(whole)
        if parts["key"] is not None:
            key, wanted = parts["key"].strip('"'), parts["wanted"].strip(' "')
            sign = "" if wanted[:1] in {"<", ">", "="} or not wanted else "="
            return self._read_field(whole, "property", f"{key}{sign}{wanted}")
        return self._read_field(whole, name or "tag", parts["value"] or parts["tag"])

    def _read_quoted(self, whole: str, parts: Mapping[str, str | None]) -> _Piece:
        name, text = (parts.get("field") or "").lower(), parts["quoted"] or ""
        if name and name not in _COLUMNS:
            is_operator = self.excludes or not parts["minus"]
            return self._read_field(whole, name, text) if is_operator else _Piece(whole)
        if parts.get("minus"):
            return self._exclude(whole, text, _COLUMNS.get(name))
        return _Piece(text, _add_phrase(self.required, text, _COLUMNS.get(name)))

    def _exclude(self, whole: str, text: str, column: Column | None) -> _Piece:
        return _Piece("" if _add_phrase(self.excluded, text, column) else whole)

    def _read_field(self, whole: str, name: str, value: str) -> _Piece:
        if whole[0] == "-":
            if column := _COLUMNS.get(name):
                return self._exclude(whole, value, column)
            value = f"!{value}"
        if column := _COLUMNS.get(name):
            added = _add_phrase(self.required, value, column)
            return _Piece(value if added else whole, added)
        return _Piece("" if value and self._add_filter(name, value) else whole)

    def _add_filter(self, name: str, value: str) -> bool:
        """Add a filter, unless the request sets it already."""
        if name == "path" and self.given.path_glob is None and self.filters.path_glob is None:
            bare = value.removeprefix("!")
            glob = bare if re.search(r"[*?\[]|/$", bare) else f"**/*{bare}*"
            self.filters = replace(self.filters, path_glob="!" * (bare != value) + glob)
            return True
        name = _ALIASES.get(name, name)
        if name not in FILTERS or not FILTERS[name].repeats:
            return False
        if getattr(self.given, name) and not value.startswith("!"):
            return False
        changed: dict[str, Any] = {name: (*getattr(self.filters, name), value)}
        self.filters = replace(self.filters, **changed)
        return True


def _add_phrase(phrases: list[Phrase], text: str, column: Column | None) -> bool:
    """Add a phrase once, unless it has no token or there are too many; return whether it is in."""
    if len(phrases) == _MAX_PHRASES:
        return any((one.text, one.column) == (text, column) for one in phrases)
    phrase = Phrase(tuple(build_phrase_terms(text)), column, text)
    if phrase.terms and phrase not in phrases:
        phrases.append(phrase)
    return phrase in phrases


_BIGRAM = 0.2
"""The word count of a bigram: with overlaps, particles and endings, five make a word."""

_TOPIC = (3.0, 6.0)
_NEED = (3.0, 8.0)
_LONG_QUESTION = (6.0, 12.0)
"""The numbers of keywords between which one intent fades into the next."""


class QueryIntent(Struct, frozen=True):
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


def classify_intent(parsed: ParsedQuery) -> QueryIntent:
    """Return the intent of a query, by its question words and the number of its keywords."""
    words = sum(_BIGRAM if is_dense(term.text) else 1.0 for term in parsed.terms)
    if is_question(parsed.plain):
        return QueryIntent(topic=0.0, need=_ramp(words, *_LONG_QUESTION), asks=True)
    return QueryIntent(topic=1 - _ramp(words, *_TOPIC), need=_ramp(words, *_NEED), asks=False)


def _ramp(value: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high`, and a linear rise between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))
