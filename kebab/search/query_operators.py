"""Reads the operators of a query: phrases, exclusions, and fields."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from kebab.core.queries import Filters
from kebab.search.query_form import is_command_line, reads_as_question
from kebab.text.scripts import is_dense
from kebab.text.tokenizer import Term, build_phrase_terms

Column: TypeAlias = Literal["title", "headings", "body"]

_COLUMNS: dict[str, Column] = {
    "title": "title",
    "heading": "headings",
    "headings": "headings",
    "body": "body",
}
_LISTS = frozenset({"tag", "lang", "media", "source", "author"})
_ALIASES = {"type": "media"}
_OPERATOR_PATTERN = (
    r"""(?<!\S)(?P<minus>-)?(?:(?P<field>[a-z]+):)?"(?P<quoted>[^"]*)"(?=\s|$|[,.;:!?)])"""
    r"""|(?<!\S)-(?P<excluded>[^\W\d_][^\s"]*)|(?<!\S)(?P<name>[a-z]+):(?P<value>[^\s":]+)(?!\S)"""
)
_QUOTED_PATTERN = r'(?<!\S)"(?P<quoted>[^"]*)"(?=\s|$|[,.;:!?)])'
"""The only operator of a question in prose: `tar -x` and `note: this` are words there."""

_OPERATOR_SIGNS = frozenset('-":')
"""Every operator has one of these characters."""

_MAX_PHRASES = 32
"""More phrases of a pasted page are read as words: each phrase costs a look-up in the index."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Adjacent tokens, in one column when it is named; `text` is as it was typed."""

    terms: tuple[Term, ...]
    column: Column | None = None
    text: str = field(default="", compare=False)

    def format(self) -> str:
        """Return the phrase as text, with its column if it has one."""
        return f"{self.column}:{self.text}" if self.column else self.text


class _Piece(NamedTuple):
    """The words that an operator adds to the query, and whether they are a required phrase."""

    text: str
    is_phrase: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """The operators of a query, and its text without them.

    `plain` includes the words of the required phrases, `unquoted` does not.
    """

    plain: str
    unquoted: str
    required: tuple[Phrase, ...]
    excluded: tuple[Phrase, ...]
    filters: Filters


def read_operators(text: str, filters: Filters, *, prose: bool) -> Operators:
    """Return the operators of a query; its filters are added to those that are given.

    A word behind a minus excludes passages, unless the query asks or is a command line: in
    `how do I use git -C` it is what the person looks for. A quotation behind a minus always does.
    """
    excludes = not (prose or reads_as_question(text) or is_command_line(text))
    reader = _OperatorReader(filters, excludes=excludes)
    read = reader.read_quote if prose else reader.read_operator
    plain: list[str] = []
    unquoted: list[str] = []
    position = 0
    for match in _find_operators(text, prose=prose):
        piece, before = read(match), text[position : match.start()]
        plain += (before, piece.text)
        unquoted += (before, "" if piece.is_phrase else piece.text)
        position = match.end()
    rest = text[position:]
    return Operators(
        plain=_join_words((*plain, rest)),
        unquoted=_join_words((*unquoted, rest)),
        required=tuple(reader.required),
        excluded=tuple(reader.excluded),
        filters=reader.filters,
    )


def _find_operators(text: str, *, prose: bool) -> Iterator[re.Match[str]]:
    """Yield the operators of a query; most queries have none, and need no pattern."""
    if _OPERATOR_SIGNS.isdisjoint(text):
        return iter(())
    return re.compile(_QUOTED_PATTERN if prose else _OPERATOR_PATTERN, re.IGNORECASE).finditer(text)


def _join_words(parts: tuple[str, ...]) -> str:
    return " ".join(" ".join(parts).split())


_SHORTEST_EXCLUSION = 3
_SHORTEST_DENSE_EXCLUSION = 2
"""The least letters of an excluded word, and of one in a script without blanks."""


def _is_long_enough(word: str) -> bool:
    """Return whether a word behind a minus is long enough for an exclusion, and no option."""
    least = _SHORTEST_DENSE_EXCLUSION if is_dense(word) else _SHORTEST_EXCLUSION
    return sum(map(str.isalpha, word)) >= least


class _OperatorReader:
    """Collects the operators of one query; each method returns the words of its operator.

    A word behind a minus is an exclusion with `excludes`, and otherwise a word.
    """

    def __init__(self, filters: Filters, *, excludes: bool) -> None:
        self.given = self.filters = filters
        self.excludes = excludes
        self.required: list[Phrase] = []
        self.excluded: list[Phrase] = []

    def read_quote(self, match: re.Match[str]) -> _Piece:
        """Return the words of a quotation in prose."""
        return _Piece(match["quoted"], _add_phrase(self.required, match["quoted"], None))

    def read_operator(self, match: re.Match[str]) -> _Piece:
        """Return the words of an operator."""
        parts = match.groupdict()
        if parts["quoted"] is not None:
            return self._read_phrase(match[0], parts)
        if parts["excluded"] is not None:
            if self.excludes and _is_long_enough(parts["excluded"]):
                return self._exclude(match[0], parts["excluded"], None)
            return _Piece(match[0])
        return self._read_field(match[0], parts["name"].lower(), parts["value"])

    def _read_phrase(self, whole: str, parts: dict[str, str | None]) -> _Piece:
        name, text = (parts["field"] or "").lower(), parts["quoted"] or ""
        if name and name not in _COLUMNS:
            return _Piece(whole) if parts["minus"] else self._read_field(whole, name, text)
        if parts["minus"]:
            return self._exclude(whole, text, _COLUMNS.get(name))
        return _Piece(text, _add_phrase(self.required, text, _COLUMNS.get(name)))

    def _exclude(self, whole: str, text: str, column: Column | None) -> _Piece:
        return _Piece("" if _add_phrase(self.excluded, text, column) else whole)

    def _read_field(self, whole: str, name: str, value: str) -> _Piece:
        if column := _COLUMNS.get(name):
            added = _add_phrase(self.required, value, column)
            return _Piece(value if added else whole, added)
        return _Piece("" if value and self._add_filter(name, value) else whole)

    def _add_filter(self, name: str, value: str) -> bool:
        """Add a filter, unless the request sets it already."""
        if name == "path" and self.given.path_glob is None and self.filters.path_glob is None:
            glob = value if re.search(r"[*?\[]|/$", value) else f"**/*{value}*"
            self.filters = replace(self.filters, path_glob=glob)
            return True
        name = _ALIASES.get(name, name)
        if name not in _LISTS or getattr(self.given, name):
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
