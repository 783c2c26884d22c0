"""The query language: phrases, words to leave out, and fields; everything else is plain text.

Nothing that a person types is a syntax error. What looks like an operator but is none (`a:b`,
`-5`, an open quote, `*`) is read as words.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from kebab.core.query import Filters
from kebab.search.questions import matter
from kebab.text.tokenizer import Term, build_phrase_terms, build_query_terms

Column: TypeAlias = Literal["title", "headings", "body"]

_COLUMNS: dict[str, Column] = {
    "title": "title",
    "heading": "headings",
    "headings": "headings",
    "body": "body",
}
_LISTS = frozenset({"tag", "lang", "media", "source"})
_PIECE = re.compile(
    r"""(?<!\S)(?P<minus>-)?(?:(?P<field>[a-z]+):)?"(?P<quoted>[^"]*)"(?=\s|$|[,.;:!?)])"""
    r"""|(?<!\S)-(?P<left_out>[^\W\d_][^\s"]*)|(?<!\S)(?P<name>[a-z]+):(?P<value>[^\s":]+)(?!\S)""",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'(?<!\S)"(?P<quoted>[^"]*)"(?=\s|$|[,.;:!?)])')
"""All that a question in prose means by its signs: `tar -x` and `note: this` are words there."""

_MOST_PHRASES = 32
"""What a pasted page holds beyond these is read as words: each costs the index a look."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Tokens that stand side by side, in one column when it is named; `text` is as it was typed."""

    terms: tuple[Term, ...]
    column: Column | None = None
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query, understood.

    `plain` is what is asked in words; `terms` are its tokens and those of the phrases, without
    those of words that only ask, which are the `fillers`. Every phrase of `required` has to occur
    and none of `excluded` may.
    """

    plain: str
    terms: tuple[Term, ...]
    fillers: tuple[Term, ...] = ()
    required: tuple[Phrase, ...] = ()
    excluded: tuple[Phrase, ...] = ()
    filters: Filters


class _Reader:
    """Takes the pieces of one query; what it does not take stays plain text."""

    def __init__(self, filters: Filters) -> None:
        self.given = self.filters = filters
        self.required: list[Phrase] = []
        self.excluded: list[Phrase] = []

    def quote(self, match: re.Match[str]) -> str:
        """Return the plain text of what is quoted in prose."""
        _add(self.required, match["quoted"], None)
        return match["quoted"]

    def take(self, match: re.Match[str]) -> str:
        """Return the plain text that stands for a piece."""
        piece = match.groupdict()
        if piece["quoted"] is not None:
            return self._quoted(match[0], piece)
        if piece["left_out"] is not None:
            return self._leave_out(match[0], piece["left_out"], None)
        return self._field(match[0], piece["name"].lower(), piece["value"])

    def _quoted(self, whole: str, piece: dict[str, str | None]) -> str:
        name, text = (piece["field"] or "").lower(), piece["quoted"] or ""
        if name and name not in _COLUMNS:
            return whole if piece["minus"] else self._field(whole, name, text)
        if piece["minus"]:
            return self._leave_out(whole, text, _COLUMNS.get(name))
        _add(self.required, text, _COLUMNS.get(name))
        return text

    def _leave_out(self, whole: str, text: str, column: Column | None) -> str:
        return "" if _add(self.excluded, text, column) else whole

    def _field(self, whole: str, name: str, value: str) -> str:
        if column := _COLUMNS.get(name):
            return value if _add(self.required, value, column) else whole
        return "" if value and self._filter(name, value) else whole

    def _filter(self, name: str, value: str) -> bool:
        """Add a filter, unless the request sets it already."""
        if name == "path" and self.given.path_glob is None and self.filters.path_glob is None:
            self.filters = replace(self.filters, path_glob=_glob(value))
            return True
        if name not in _LISTS or getattr(self.given, name):
            return False
        changed: dict[str, Any] = {name: (*getattr(self.filters, name), value)}
        self.filters = replace(self.filters, **changed)
        return True


def parse(text: str, filters: Filters, *, prose: bool = False) -> Question:
    """Return what a query asks for; its filters join those that the request sets.

    In prose words may be quoted, and nothing else is an operator.
    """
    reader = _Reader(filters)
    pieces, take = (_QUOTED, reader.quote) if prose else (_PIECE, reader.take)
    plain = " ".join(pieces.sub(lambda piece: f" {take(piece)} ", text).split())
    terms, fillers = _terms(plain)
    if not terms and reader.filters == filters:
        # Only things to leave out: there is nothing to leave them out of.
        terms, fillers = _terms(text)
        return Question(plain=text, terms=terms, fillers=fillers, filters=filters)
    return Question(
        plain=plain,
        terms=terms,
        fillers=fillers,
        required=tuple(reader.required),
        excluded=tuple(reader.excluded),
        filters=reader.filters,
    )


def _add(phrases: list[Phrase], text: str, column: Column | None) -> bool:
    """Add a phrase once, unless it has no token or there are too many; return whether it is in."""
    phrase = Phrase(tuple(build_phrase_terms(text)), column, text)
    if phrase.terms and phrase not in phrases and len(phrases) < _MOST_PHRASES:
        phrases.append(phrase)
    return phrase in phrases


def _terms(plain: str) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Return the terms that matter, and the others."""
    terms = dict.fromkeys(build_query_terms(matter(plain)))
    return tuple(terms), tuple(term for term in build_query_terms(plain) if term not in terms)


def _glob(value: str) -> str:
    """Return a path filter as a pattern; without wildcards it means any path that has the name."""
    return value if re.search(r"[*?\[]|/$", value) else f"**/*{value}*"
