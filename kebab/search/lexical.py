"""Retrieves passages by words: weighs the terms of a query and searches the full-text index.

The index has whole words and their stems. A person also types a part of a word or number, or
writes it with other blanks and signs: `filesystem` for `file system`, `GB29 NWBK 6016` for a number
without blanks, `mitoch` for the first letters, `Tür` for `Tuer`, Cyrillic for Latin letters. Only a
word that no passage holds is looked up, and it is replaced by words that some passage holds.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kebab.core.chunks import Key, KeyedScore
from kebab.core.queries import Filters, StoredChunk
from kebab.search.query_parser import ParsedQuery, Phrase, is_identifier, is_question, list_words
from kebab.search.snippet import PassageCache, cut_ending
from kebab.text.dates import find_written_dates
from kebab.text.language import (
    detect_question_language,
    detect_script,
    is_dense,
    is_function_word,
    iter_unit_matches,
    reads_as_another_language,
    split_units,
)
from kebab.text.normalize import count_alike, load_words, normalize_for_index
from kebab.text.tokenizer import (
    Term,
    holds_unit,
    join_parts,
    read_number,
    share_stem,
    tokenize_unit,
)

if TYPE_CHECKING:
    from kebab.store.sqlite.reader import SqliteReader

TERM_LIMIT = 64
"""The most terms of one query; the rarest terms of a pasted page are searched for."""

COMMON_SHARE = 0.5
"""A term in more than this share of the chunks adds nothing to bm25: its idf is not positive."""

_SATURATION = 2.2
"""k1 + 1 of FTS5's bm25: the highest score of one term is its idf times this."""

_MIN_IDF = 1e-6
"""The idf that FTS5 gives a term in more than half of the rows."""

_DENSE_DISCOUNT = 0.4
"""Right passages reach .48 of the highest score on SQuAD 2 (words), .29 on JaQuAD (bigrams)."""

NO_LIMIT = 1 << 31


class WeightedTerms(Struct, frozen=True, kw_only=True):
    """The terms of a query that are searched for, with their weights in this library."""

    terms: tuple[Term, ...]
    weights: Mapping[str, float]
    """Inverse document frequency, by token."""
    max_score: float
    """The score of a chunk that holds everything the query asks for."""
    rarities: Mapping[str, float]
    """The rarity of every term of the query, also of terms that occur nowhere."""
    absent: frozenset[str] = frozenset()
    """The tokens of the query that no passage holds."""


class TokenCounts(dict[str, int]):
    """In how many chunks of one snapshot each token occurs; each is looked up once."""

    def __init__(self, library: "SqliteReader") -> None:
        super().__init__()
        self._library = library

    def look_up(self, tokens: Iterable[str]) -> None:
        """Add the counts of tokens."""
        if missing := {token for token in tokens if token not in self}:
            self.update(self._library.get_document_frequencies(missing))


def weigh_terms(library: "SqliteReader", parsed: ParsedQuery, counts: TokenCounts) -> WeightedTerms:
    """Weigh the terms of a query, and drop those that do not separate passages.

    Stop words are searched for when the index holds none of the other terms.
    """
    total = library.count_chunks()
    used = [*parsed.terms, *parsed.others]
    counts.look_up(term.text for term in used)
    indexed = [term for term in parsed.terms if term.prefix or counts[term.text]]
    if not indexed:
        # Half of all passages hold a stop word: counting them costs more than all the rest.
        counts.look_up(term.text for term in parsed.stop_terms)
        used += parsed.stop_terms
        indexed = [term for term in parsed.stop_terms if term.prefix or counts[term.text]]
    held = {term.text: min(counts[term.text], total) for term in used}
    idf = {one: math.log((total - n + 0.5) / (n + 0.5)) for one, n in held.items()}
    weights = {one: max(_MIN_IDF, value) for one, value in idf.items()}
    rarities = {term.text: compute_rarity(counts[term.text], total) for term in used}
    rare = [term for term in indexed if term.prefix or counts[term.text] <= total * COMMON_SHARE]
    searched = sorted(rare or indexed, key=lambda term: -weights[term.text])[:TERM_LIMIT]
    found = set(indexed)
    absent = [term for term in parsed.terms if term not in found][:TERM_LIMIT]
    counted = searched or parsed.others
    best = _SATURATION * sum(weights[term.text] for term in counted)
    return WeightedTerms(
        terms=(*searched, *parsed.others),
        weights={term.text: weights[term.text] for term in (*searched, *parsed.others)},
        max_score=best * _compute_demand(counted, absent, rarities),
        rarities={term.text: rarities[term.text] for term in parsed.terms},
        absent=frozenset(
            term.text for term in parsed.terms if not term.prefix and not counts[term.text]
        ),
    )


def search_lexical(
    library: "SqliteReader", parsed: ParsedQuery, weighted: WeightedTerms, limit: int
) -> list[KeyedScore]:
    """Return the best chunks by bm25."""
    match = build_match_expression(weighted.terms, parsed.required, parsed.excluded)
    return library.search_lexical(match, parsed.filters, limit) if match else []


def search_code(
    library: "SqliteReader", parsed: ParsedQuery, found: Sequence[KeyedScore], limit: int
) -> list[KeyedScore]:
    """Return the best chunks, where words that code uses for those of a query count too.

    `found` are the best chunks without these words, whose scores stay at each rank: a chunk with
    related words only is no stronger evidence than one with those of the query.
    """
    terms = {term.text for term in parsed.terms}
    related = {one for term in terms for one in find_code_words(term)} - terms
    if not related or parsed.required or is_identifier(parsed.plain):
        return [*found]
    match = build_match_expression(map(Term, sorted(related)), (), parsed.excluded)
    scores = dict(found)
    for key, score in library.search_lexical(match, parsed.filters, limit):
        scores[key] = scores.get(key, 0.0) + score
    order = sorted(scores, key=scores.__getitem__, reverse=True)
    given = [score for _, score in found]
    return list(zip(order[:limit], chain(given, repeat(given[-1])), strict=False))


@lru_cache(maxsize=1 << 12)
def find_code_words(token: str) -> frozenset[str]:
    """Return the tokens that code uses for that of a word: `max` and `limit` for `largest`."""
    rows = (f" {word} {others}" for word, others in load_words("code_words").items())
    beginning = f" {token[:3]}"  # which a word and its stem have in common
    likely = (row.split() for row in rows if beginning in row)
    related = ({tokenize_unit(one)[0] for one in row} for row in likely)
    return frozenset().union(*(tokens for tokens in related if token in tokens))


def find_holding(
    library: "SqliteReader", filters: Filters, phrases: Iterable[Phrase], operator: str
) -> list[Key]:
    """Return the chunks that pass the filters and hold phrases joined by `AND` or `OR`."""
    match = _join_phrases(f" {operator} ", phrases)
    found = library.search_lexical(match, filters, NO_LIMIT) if match else []
    return sorted(key for key, _ in found)


def _compute_demand(
    searched: Sequence[Term], absent: Sequence[Term], rarities: Mapping[str, float]
) -> float:
    """Return the weight of the whole query as a multiple of the weight of its searched terms.

    Bigrams overlap particles and word borders, which no passage repeats. The more of the query is
    bigrams, the less of it a good passage holds.
    """
    held = sum(rarities[term.text] for term in searched)
    whole = held + sum(rarities[term.text] for term in absent)
    dense = sum(rarities[term.text] for term in (*searched, *absent) if is_dense(term.text))
    return (whole - _DENSE_DISCOUNT * dense) / (held or 1.0)


def compute_rarity(count: int, total: int) -> float:
    """Return the rarity of a term, which is positive also in a library of a few passages.

    A word that occurs nowhere counts as one that occurs once.
    """
    count = min(max(count, 1), total)
    return math.log1p((total - count + 0.5) / (count + 0.5))


def quote_term(term: Term) -> str:
    """Return a token as an FTS5 string, with a star when it is a prefix."""
    doubled = term.text.replace('"', '""')
    return f'"{doubled}" *' if term.prefix else f'"{doubled}"'


def quote_phrase(phrase: Phrase) -> str:
    """Return adjacent tokens as an FTS5 string, within the column of the phrase if it has one."""
    tokens = " ".join(term.text for term in phrase.terms)
    text = quote_term(Term(tokens, prefix=phrase.terms[-1].prefix))
    return f"{phrase.column} : {text}" if phrase.column else text


def build_match_expression(
    terms: Iterable[Term], required: Iterable[Phrase], excluded: Iterable[Phrase]
) -> str:
    """Return an FTS5 expression: all required phrases, any of the terms, no excluded phrase.

    The required phrases are in both branches, because every branch that matches adds to bm25.
    """
    words = " OR ".join(map(quote_term, terms))
    must, must_not = _join_phrases(" AND ", required), _join_phrases(" OR ", excluded)
    wanted = f"(({must}) AND ({words})) OR ({must})" if must and words else must or words
    return f"({wanted}) NOT ({must_not})" if must_not and wanted else wanted


def _join_phrases(operator: str, phrases: Iterable[Phrase]) -> str:
    return operator.join(f"({quote_phrase(phrase)})" for phrase in phrases)


CAPITALISES_NOUNS = "de"
"""The language in which a capital does not tell a name."""

_SAMPLE = 200
"""How much of a passage in an unknown language shows its script."""


class QueryLanguage:
    """The language of a query, as far as its words tell it.

    Of a query in an unknown language only a question is compared, by its stop words: names and
    keywords belong to no language.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.code = detect_question_language(text).code
        self.is_known = self.code is not None or is_question(text)
        self._judged: dict[str, bool] = {}

    def differs_from(self, chunk: StoredChunk) -> bool:
        """Return whether a passage is in another language, as far as that can be told."""
        if not self.is_known:
            return False
        if chunk.lang is None:
            script = detect_script(chunk.text[:_SAMPLE])
            return script is not None and script != detect_script(self._text)
        if chunk.lang not in self._judged:
            self._judged[chunk.lang] = (
                chunk.lang != self.code
                if self.code is not None
                else reads_as_another_language(list_words(self._text), chunk.lang, asks=True)
            )
        return self._judged[chunk.lang]


def find_foreign(text: str, keys: Iterable[Key], passages: PassageCache) -> set[Key]:
    """Return the passages in another language than a query, if others are in its language."""
    language = QueryLanguage(text)
    if not language.is_known:
        return set()
    chunks = passages.load_chunks(list(keys))
    foreign = {chunk.key for chunk in chunks if language.differs_from(chunk)}
    return foreign if len(foreign) < len(chunks) else set()


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

_PREFIX = "baba"
"""What makes a word so long that its stem is that of a compound."""

_MOST_FORMS = 16
_LONGEST_ENDING = 4
_TABLES = [dict(one.split("=") for one in row.split()) for row in load_words("spellings").values()]
_SPELLINGS = (*_TABLES, *({new: old for old, new in table.items()} for table in _TABLES))
"""Tables of letters of which one is written for the other."""

_is_clock = re.compile(r"[012]?\d\.[0-5]\d").fullmatch
is_cased_name = re.compile(r"(?=[A-Z]{3}|[A-Za-z]+[A-Z])[A-Za-z]{3,}").fullmatch
"""A name with capitals other than the first letter: `QUIC`, `StatsD`."""

_find_starts = re.compile(r"(?<!\S)(\w{2,})\*(?=\s|$)").findall
"""`auth*`: the words that begin so."""


class _Form(NamedTuple):
    """Tokens that stand for a word, beside it unless that is sure; of `others` each may, too."""

    tokens: tuple[str, ...]
    others: tuple[str, ...] = ()
    is_sure: bool = True
    is_guess: bool = False


def use_known_forms(
    library: "SqliteReader", parsed: ParsedQuery, counts: TokenCounts
) -> ParsedQuery:
    """Return a query whose words that no passage holds have forms that some passage holds."""
    written = normalize_for_index(" ".join(parsed.words) if parsed.required else parsed.plain)
    finder = _FormFinder(library, written, counts)
    found = finder.find_all()
    if not found:
        return parsed
    sure = {at for at, form in found.items() if not form or form.is_sure}
    kept = {unit for at, unit in enumerate(finder.units) if at not in sure}
    gone = {finder.units[at] for at in sure} - kept
    replaced = {token for unit in gone for token in tokenize_unit(unit)}
    replaced -= {token for unit in kept for token in tokenize_unit(unit)}
    forms = [form for form in found.values() if form]
    terms = [term for term in parsed.terms if term.text not in replaced]
    terms += [Term(token) for form in forms for token in form.tokens]
    return replace(
        parsed,
        terms=tuple(dict.fromkeys(terms)),
        others=tuple(dict.fromkeys(Term(token) for form in forms for token in form.others)),
        guesses=frozenset(token for form in forms if form.is_guess for token in form.tokens),
        words=tuple(
            word
            for word in parsed.words
            if is_cased_name(word) or not gone.issuperset(split_units(normalize_for_index(word)))
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
        # The stems of the index are those of English.
        self._inflects = detect_question_language(written).code != "en"

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
            if not (at in found or is_dense(unit) or is_function_word(unit))
            and not holds_unit(unit, lambda token: self._counts.get(token, 1))
        ]
        if absent:
            found |= self._find_joined(set(absent), found)
        for at, unit in enumerate(self.units):
            if at in found:
                continue
            if unit in self._starts:
                form = self._find_starting(unit)
            else:
                form = self._find(unit) if at in absent else self._find_known(unit)
            if form:
                found[at] = form
        return found

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
                words = (token for token in tokens if token.isalpha() and not is_dense(token))
                # Of a day in no year, that in the same language comes first.
                names = (
                    tuple(filter(self._counts.__getitem__, words)) if one.value[0] == "-" else ()
                )
                found |= dict.fromkeys(inside) | {inside[0]: _Form((one.token,), names)}
        return found

    def _find_known(self, unit: str) -> _Form | None:
        """Return what occurs of a word that is written without accents, or as a whole."""
        tokens = () if is_dense(unit) or is_function_word(unit) else tokenize_unit(unit)
        known = tuple(filter(self._counts.__getitem__, tokens))
        if not unit.isalpha():  # parts tell less than the whole
            known = known[-1:] if len(known) < len(tokens) and tokens[-1:] == known[-1:] else ()
        return _Form(known) if known and len(known) < len(tokens) else None

    def _find_joined(self, absent: set[int], taken: Collection[int]) -> dict[int, _Form | None]:
        """Return the forms of adjacent units that are one word in the index."""
        runs = {
            (start, end): _make_token("".join(self.units[start:end]))
            for start in range(len(self.units))
            for end in range(start + 2, min(start + _MOST_JOINED, len(self.units)) + 1)
            if not absent.isdisjoint(range(start, end))
            and not any(map(is_dense, self.units[start:end]))
        }
        self._counts.look_up(runs.values())
        found: dict[int, _Form | None] = {}
        for (start, end), token in sorted(runs.items(), key=lambda run: run[0][0] - run[0][1]):
            inside = range(start, end)
            if self._counts[token] and {*found, *taken}.isdisjoint(inside):
                found |= dict.fromkeys(inside) | {start: _Form((token,))}
        return found

    def _find(self, unit: str) -> _Form | None:
        """Return the form of a unit that no passage holds.

        That of a number with a point has further places, such as those of `192.168`, or zeros.
        """
        if "." in (number := read_number(unit) or ""):
            ends = ((one, one[len(number) :]) for one in self._library.list_tokens(number))
            longer = (one for one, end in ends if end[:1] == "." or not end.strip("0"))
            form = self._select([*longer, number.rstrip("0").rstrip(".")])
            return form or (self._find_parts(join_parts(number)) if _is_clock(number) else None)
        word = join_parts(unit)
        form = self._find_spelling(word) or self._find_parts(word)
        if form:
            return form
        if self._is_lookup:
            form = self._find_starting(unit) or self._find_inner(word) or self._find_ending(unit)
        elif self._inflects and word.isalpha() and len(word) >= _SHORTEST_INNER:
            form = self._select(list_forms(self._library, _make_token(word)))
            return form and _Form((), (*form.tokens, *form.others), is_sure=False)
        return form and form._replace(is_guess=not word.isdecimal())

    def _find_spelling(self, word: str) -> _Form | None:
        """Return a word in other letters, also of two tables, or a number with other zeros."""
        if word.isdecimal():
            numbers = self._library.list_tokens_around(word) if self._is_lookup else ()
            bare = word.lstrip("0")
            return self._select((bare, *(one for one in numbers if one.lstrip("0") == bare)))
        once = {_replace_all(word, table) for table in _SPELLINGS}
        spellings = {_replace_all(one, table) for one in once for table in _SPELLINGS} - {word, ""}
        whole = (tokenize_unit(one)[0 if one.isalpha() else -1 :] for one in spellings)
        return self._select({*chain.from_iterable(whole)} - {*tokenize_unit(word)})

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
        word = join_parts(unit)
        return self._select(chain(*map(self._library.list_tokens, {word, _make_token(word)})))

    def _find_inner(self, word: str) -> _Form | None:
        """Return the compounds that hold a word, or end with it without an ending of English."""
        is_semitic = "\u0590" < word[0] < "\u0780"  # which writes few vowels
        if len(word) < _SHORTEST_INNER - is_semitic or any(map(str.isdigit, word)):
            return None
        forms = {*tokenize_unit(word)}
        if "kk" in word or not word.isascii():
            # Finnish writes a double stop once before most endings: `mökki`, `mökillä`.
            forms.add(re.sub(r"([kpt])\1(?=[aeiouyäö]$)", r"\1", word))
        end = tokenize_unit(_PREFIX + word)[0].removeprefix(_PREFIX)
        ending = self._library.list_tokens_around(end) if len(end) >= _SHORTEST_START else ()
        holding = chain.from_iterable(map(self._library.list_tokens_around, forms))
        return self._select((*holding, *(one for one in ending if one.endswith(end))))

    def _find_ending(self, unit: str) -> _Form | None:
        """Return the words that differ by an ending of some language."""
        word, has_capital = join_parts(unit), unit[0].isupper()
        if len(word) < _SHORTEST_INNER:
            return None
        words = self._library.list_tokens(word[: max(_SHORTEST_START, len(word) * 2 // 3)])
        alike = (one for one in words if share_stem(word, one, has_capital=has_capital))
        return (form := self._select(alike)) and form._replace(is_sure=has_capital)

    def _select(self, tokens: Iterable[str]) -> _Form | None:
        """Return the token in most passages as the form, and the next ones as others."""
        tokens = set(tokens)
        self._counts.look_up(tokens)
        known = [one for one in tokens if self._counts[one]]
        known.sort(key=lambda one: (-self._counts[one], one))
        return _Form((known[0],), tuple(known[1:_MOST_FORMS])) if known else None


def list_forms(library: "SqliteReader", token: str) -> Iterator[str]:
    """Yield the tokens of the index that differ from a token by the ending."""
    for one in library.list_tokens(cut_ending(token)):
        if len(one) - count_alike(one, token) <= _LONGEST_ENDING:
            yield one


def _make_token(word: str) -> str:
    """Return the token of a whole word in the index."""
    return (tokenize_unit(word) or ("",))[-1]


def _replace_all(word: str, table: Mapping[str, str]) -> str:
    """Return a word with all keys of a table replaced, longer ones first."""
    keys = "|".join(sorted(map(re.escape, table), key=len, reverse=True))
    return re.sub(keys, lambda found: table[found[0]], word)
