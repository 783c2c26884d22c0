"""Finds the forms in which a word of a query stands in the index, when it does not as it is.

The index has whole words and their stems. A person also types a part of a word or number, or
writes it with other blanks and signs: `filesystem` for `file system`, `GB29 NWBK 6016` for a number
without blanks, `mitoch` for the first letters, `Tür` for `Tuer`, Cyrillic for Latin letters. Only a
word that no passage holds is looked up, and it is replaced by words that some passage holds.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kebab.core.queries import Filters
from kebab.search.lexical import TokenCounts, quote_term
from kebab.search.query_parser import ParsedQuery, is_question
from kebab.text.dates import find_written_dates
from kebab.text.language import is_dense, iter_unit_matches, split_units
from kebab.text.normalize import normalize_for_index
from kebab.text.stop_words import is_function_word
from kebab.text.tokenizer import Term, join_parts, tokenize_unit

if TYPE_CHECKING:
    from kebab.store.sqlite.reader import SqliteReader

_LOOKED_UP_UNITS = 24
"""So many units of a query are looked up: a longer one has enough of them."""

_MOST_JOINED = 8
"""How many words of a query may be one in the index, such as the groups of an IBAN."""

_MOST_PARTS, _LONGEST_SPLIT = 8, 40
_SHORTEST_PART = 3
"""The least letters of a part of a word; the parts of a number may be shorter."""

_NEAR_PARTS = 12
"""Within so many tokens the parts of a split word stand; compounds have more tokens than words."""

_FEW_WORDS = 3
"""A query of more words is no look-up of a part of a word."""

_SHORTEST_START, _SHORTEST_INNER = 4, 5
"""The least letters with which longer words begin, or which they hold elsewhere."""

_MOST_FORMS = 16
_DIGRAPHS: tuple[dict[str, str], ...] = (
    {"ae": "ä", "oe": "ö", "ue": "ü"},
    {"ae": "æ", "oe": "ø", "aa": "å"},
    {"oe": "œ"},
    {"dj": "đ"},
    {"th": "þ"},
)
"""Two letters for one that a keyboard lacks, by group of languages."""

_SERBIAN = {
    **dict(zip("абвгдђежзијклмнопрстћуфхцчш", "abvgdđežzijklmnoprstćufhcčš", strict=True)),
    "љ": "lj",
    "њ": "nj",
    "џ": "dž",
}
"""The Latin letters of Serbian by the Cyrillic ones."""

_SPELLINGS = tuple(
    spelling
    for table in (*_DIGRAPHS, *({pair: one[pair]} for one in _DIGRAPHS for pair in one), _SERBIAN)
    for spelling in (table, {new: old for old, new in table.items()})
)
"""Tables of letters of which one is written for the other."""

_find_starts = re.compile(r"(?<!\S)(\w{2,})\*(?=\s|$)").findall
"""`auth*`: the words that begin so."""


class _Form(NamedTuple):
    """A token of the index, or several, that stand for a word; of `others` each may, too."""

    tokens: tuple[str, ...]
    others: tuple[str, ...] = ()


def use_known_forms(
    library: "SqliteReader", parsed: ParsedQuery, counts: TokenCounts
) -> ParsedQuery:
    """Return a query whose words that no passage holds have forms that some passage holds."""
    written = normalize_for_index(" ".join(parsed.words) if parsed.required else parsed.plain)
    finder = _FormFinder(library, written, counts)
    found = finder.find_all()
    if not found:
        return parsed
    kept = {unit for at, unit in enumerate(finder.units) if at not in found}
    gone = {finder.units[at] for at in found} - kept
    replaced = {token for unit in gone for token in tokenize_unit(unit)}
    replaced -= {token for unit in kept for token in tokenize_unit(unit)}
    forms = [form for form in found.values() if form]
    terms = [term for term in parsed.terms if term.text not in replaced]
    terms += [Term(token) for form in forms for token in form.tokens]
    return replace(
        parsed,
        terms=tuple(dict.fromkeys(terms)),
        others=tuple(dict.fromkeys(Term(token) for form in forms for token in form.others)),
        words=tuple(
            word
            for word in parsed.words
            if not gone.issuperset(split_units(normalize_for_index(word)))
        ),
    )


class _FormFinder:
    """Looks up the units of one query; what is found has the position of its first unit."""

    def __init__(self, library: "SqliteReader", written: str, counts: TokenCounts) -> None:
        matches = list(islice(iter_unit_matches(written), _LOOKED_UP_UNITS))
        self.units = [match[0] for match in matches]
        self._spans = [match.span() for match in matches]
        self._library = library
        self._written = written
        self._starts = set(_find_starts(written))
        self._counts = counts
        words = [unit for unit in self.units if not is_function_word(unit)]
        self._is_lookup = len(words) <= _FEW_WORDS and not is_question(written)

    def find_all(self) -> dict[int, _Form | None]:
        """Return the form of every unit that has another one, by its position.

        Several units that are one word in the index have its form at the first of them, and None at
        the others.
        """
        # Half of all passages hold a function word: counting them costs more than all the rest.
        words = (unit for unit in self.units if not is_function_word(unit))
        self._counts.look_up(token for unit in words for token in tokenize_unit(unit))
        found = self._find_dates()
        absent = [
            at
            for at, unit in enumerate(self.units)
            if at not in found and not is_dense(unit) and not self._is_present(unit)
        ]
        if absent:
            found |= self._find_joined(set(absent), found)
        for at, unit in enumerate(self.units):
            if at in found:
                continue
            if unit in self._starts:
                form = self._find_starting(unit)
            else:
                form = self._find(unit) if at in absent else None
            if form:
                found[at] = form
        return found

    def _is_present(self, unit: str) -> bool:
        """Return whether a passage holds a unit, as a whole or in its parts."""
        *parts, whole = tokenize_unit(unit) or ("",)
        if is_function_word(unit) or self._counts.get(whole, 1):
            return True
        return bool(parts) and all(self._counts[part] for part in parts)

    def _find_dates(self) -> dict[int, _Form | None]:
        """Return the tokens of dates that some passage holds, in whatever form."""
        found: dict[int, _Form | None] = {}
        dates = find_written_dates(self._written)
        self._counts.look_up(one.token for one in dates)
        for one in dates:
            inside = [
                at
                for at, (start, end) in enumerate(self._spans)
                if one.start <= start and end <= one.end
            ]
            if inside and self._counts[one.token]:
                tokens = [token for at in inside for token in tokenize_unit(self.units[at])]
                self._counts.look_up(tokens)
                names = tuple(token for token in tokens if token.isalpha() and self._counts[token])
                found |= dict.fromkeys(inside) | {inside[0]: _Form((one.token,), names)}
        return found

    def _find_joined(self, absent: set[int], taken: Collection[int]) -> dict[int, _Form | None]:
        """Return the forms of adjacent units that are one word in the index."""
        runs = {
            (start, end): _make_token("".join(self.units[start:end]))
            for start in range(len(self.units))
            for end in range(start + 2, min(start + _MOST_JOINED, len(self.units)) + 1)
            if not absent.isdisjoint(range(start, end))
        }
        self._counts.look_up(runs.values())
        found: dict[int, _Form | None] = {}
        for (start, end), token in sorted(runs.items(), key=lambda run: run[0][0] - run[0][1]):
            inside = range(start, end)
            if self._counts[token] and {*found, *taken}.isdisjoint(inside):
                found |= dict.fromkeys(inside) | {start: _Form((token,))}
        return found

    def _find(self, unit: str) -> _Form | None:
        """Return the form of a unit that no passage holds."""
        word = join_parts(unit)
        form = self._find_spelling(word) or self._find_parts(word)
        if form or not self._is_lookup:
            return form
        return self._find_starting(unit) or self._find_inner(word)

    def _find_spelling(self, word: str) -> _Form | None:
        """Return a word in other letters, or a number without leading zeros."""
        spellings = {_replace_all(word, table) for table in _SPELLINGS}
        if word.isdecimal():
            spellings.add(word.lstrip("0"))
        return self._select(map(_make_token, spellings - {word, ""}))

    def _find_parts(self, word: str) -> _Form | None:
        """Return the fewest tokens that make up a word and stand near each other."""
        if not _SHORTEST_PART < len(word) <= _LONGEST_SPLIT:
            return None
        least = 1 if any(map(str.isdigit, word)) else _SHORTEST_PART
        spans = [
            (start, end)
            for start in range(len(word))
            for end in range(start + least, len(word) + 1)
        ]
        tokens = {(start, end): _make_token(word[start:end]) for start, end in spans}
        self._counts.look_up(tokens.values())
        best: dict[int, tuple[str, ...]] = {0: ()}
        for start, end in spans:
            if start in best and self._counts[tokens[start, end]]:
                longer = (*best[start], tokens[start, end])
                if end not in best or len(longer) < len(best[end]):
                    best[end] = longer
        parts = best.get(len(word), ())
        if not 1 < len(parts) <= _MOST_PARTS:
            return None
        near = " ".join(map(quote_term, map(Term, parts)))
        match = f"NEAR({near}, {_NEAR_PARTS})"
        return _Form(parts) if self._library.search_lexical(match, Filters(), 1) else None

    def _find_starting(self, unit: str) -> _Form | None:
        """Return the words that begin with a unit."""
        if len(unit) < _SHORTEST_START and unit not in self._starts:
            return None
        return self._select(self._library.list_tokens(_make_token(unit)))

    def _find_inner(self, word: str) -> _Form | None:
        """Return the compounds that hold a word, and the numbers that hold it behind zeros."""
        token = _make_token(word)
        if word.isdecimal():
            around = self._library.list_tokens_around(word)
            return self._select(one for one in around if one.lstrip("0") == word)
        if len(word) < _SHORTEST_INNER or any(map(str.isdigit, word)):
            return None
        return self._select(self._library.list_tokens_around(token))

    def _select(self, tokens: Iterable[str]) -> _Form | None:
        """Return the token in most passages as the form, and the next ones as others."""
        tokens = set(tokens)
        self._counts.look_up(tokens)
        known = [one for one in tokens if self._counts[one]]
        known.sort(key=lambda one: (-self._counts[one], one))
        return _Form((known[0],), tuple(known[1:_MOST_FORMS])) if known else None


def _make_token(word: str) -> str:
    """Return the token of a whole word in the index."""
    return (tokenize_unit(join_parts(word)) or ("",))[-1]


def _replace_all(word: str, table: Mapping[str, str]) -> str:
    """Return a word with all keys of a table replaced, longer ones first."""
    keys = "|".join(sorted(map(re.escape, table), key=len, reverse=True))
    return re.sub(keys, lambda found: table[found[0]], word)
