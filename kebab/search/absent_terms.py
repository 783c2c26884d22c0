"""Finds the words and phrases of a query that occur nowhere in what is searched.

`find_unheld_words` finds the rare words that occur, but in no passage of a page.

A word counts as present when its stem is. A compound counts as present when it occurs as a whole
or when all of its parts do. In scripts without blanks the bigrams decide: a word of Katakana is
present when all of its characters are, a word of Hangul when more than half of them are, because
the others may be endings. Of Han and other scripts the runs of characters that occur nowhere are
reported. Hiragana inside a sentence is grammar and is never reported. Function words are neither.

The index has the stems of few languages. So in a language other than English a word also counts as
present when a word with another ending occurs, when it is a part of a longer word, or when it is
made of two words. Where query and first passage are in different languages, a word is absent only
when it is written alike in both: an identifier, a number, or, without a convincing hit, a name.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from kebab.core.media import is_code
from kebab.core.queries import StoredChunk
from kebab.search.lexical import (
    CAPITALISES_NOUNS,
    is_cased_name,
    list_forms,
    quote_phrase,
    quote_term,
)
from kebab.search.query_parser import ParsedQuery, is_question, list_words
from kebab.search.retrieval import RankedCandidates
from kebab.search.snippet import PassageCache, cut_ending
from kebab.text.language import (
    QUESTION_BIGRAMS,
    WrittenForm,
    detect_question_language,
    detect_script,
    detect_written_form,
    is_dense,
    is_function_word,
    is_listed_stop_word,
    iter_unit_matches,
    may_share_words,
    reads_as_another_language,
    split_clusters,
)
from kebab.text.normalize import load_words, normalize_for_index
from kebab.text.tokenizer import (
    Term,
    collect_all_tokens,
    holds_unit,
    stem_word,
    tokenize,
    tokenize_unit,
)

if TYPE_CHECKING:
    from kebab.store.sqlite.reader import SqliteReader

_MAX_LOOKUPS = 64
"""How many tokens of a filtered search are looked up; those beyond count as present."""

_ENOUGH = 0.5
_SHORTEST_RUN = 2
_LONG_VOWEL = "ー"
"""The last sign of Katakana words that are also written without it."""

_SCRIPT_RUNS = load_words("patterns")["script_runs"]

_SHORTEST_PART = 4
"""The least letters of a part of a compound, and of a word with other forms."""

_COMPOUNDING = frozenset({"de", "nl", "sv", "da"})
"""The languages, of those that are detected, that write compounds as one word."""

_is_inflected = re.compile("[가-힣]{2}[되하했됐된될한할함됨합됩해돼]").match
"""A Korean verb: two syllables of its stem, and the beginning of its ending."""

_OPENING = " \t\n\u00bf\u00a1\"'„“«"

_is_code = re.compile(r".*(?:[a-z][A-Z]|_|\w[.:/@]\w|[^\W\d]\d|[+#]$).*").fullmatch
_is_plain_number = re.compile(r"\d{3,}").fullmatch

Lookup = Callable[[str], bool]


def find_absent_terms(
    library: "SqliteReader",
    candidates: RankedCandidates,
    first: Sequence[StoredChunk],
    held: Collection[str],
    *,
    convincing: bool,
) -> tuple[str, ...]:
    """Return the words and phrases that no searched passage holds, as they are written.

    `first` are the first passages of the ranking and `held` their tokens.
    """
    parsed = candidates.parsed
    known_tokens: dict[str, bool] = {}

    def is_present(token: str) -> bool:
        """Return whether a searched passage holds a token."""
        if token in candidates.named.tokens:
            return True
        if token in candidates.weighted.absent:
            return False
        if not parsed.filters.is_active or token in held:
            return True
        if token not in known_tokens and len(known_tokens) < _MAX_LOOKUPS:
            match = quote_term(Term(token))
            known_tokens[token] = bool(library.search_lexical(match, parsed.filters, 1))
        return known_tokens.get(token, True)

    known = _KnownWords(library, parsed, is_present, first, held, convincing=convincing)
    unheld = candidates.dropped or (() if candidates.ranked else parsed.required)
    phrases = [
        phrase.format()
        for phrase in unheld
        if not bool(library.search_lexical(quote_phrase(phrase), parsed.filters, 1))
    ]
    names = _find_absent_names(library, candidates)
    return tuple(dict.fromkeys((*known.list_absent(parsed.words), *names, *phrases)))


_LONGEST_PART = 5
"""A longer part of a name may stand for it, as `Postgres` for `PostgreSQL`."""


def _find_absent_names(library: "SqliteReader", candidates: RankedCandidates) -> Iterator[str]:
    """Yield the names for which other words were searched, unless these stand side by side."""
    parsed = candidates.parsed
    known = candidates.named.tokens.union(term.text for term in parsed.terms)
    for name in filter(is_cased_name, parsed.words):
        *parts, whole = tokenize(name[:-1] if name.endswith("s") and name[:-1].isupper() else name)
        if whole in known or any(len(part) > _LONGEST_PART for part in parts):
            continue
        match = " OR ".join(quote_term(Term(one)) for one in (whole, " ".join(parts)) if one)
        if not library.search_lexical(match, parsed.filters, 1):
            yield name


_RARE_NAME, _RARE_WORD = 4.6, 5.5
"""Words in at most 1 % and in at most .4 % of the passages are so rare. In a few notes no word is.

Names, codes and numbers are rare from the first on, other words, which a passage may paraphrase,
from the second on.
"""

_LEAST_SHARE = 0.5
"""A rare word has this share of the rarity of the rarest word of the query."""


def find_unheld_words(
    library: "SqliteReader",
    candidates: RankedCandidates,
    shown: Sequence[StoredChunk],
    passages: PassageCache,
    *,
    convincing: bool,
) -> tuple[str, ...]:
    """Return the rare words of a query that none of the shown passages holds, as they are written.

    Words that occur nowhere are among them. Of scripts without blanks nothing is said.
    """
    parsed, rarities = candidates.parsed, candidates.weighted.rarities
    share = _LEAST_SHARE * max(rarities.values(), default=0.0)

    def is_rare(word: str) -> bool:
        if is_dense(word[0]) or (word.isdecimal() and not _is_plain_number(word)):
            return False
        is_name = bool(word != word.lower() or _is_code(word) or _is_plain_number(word))
        least = max(_RARE_NAME if is_name else _RARE_WORD, share)
        return any(rarities.get(token, 0.0) >= least for token in tokenize(word))

    rare = [word for word in parsed.words if is_rare(word)]
    if not rare or not shown:
        return ()
    beside = collect_all_tokens(text for one in shown for text in (one.path, one.context))
    held = beside.union(*map(passages.tokenize_passage, shown))
    known = _KnownWords(library, parsed, held.__contains__, shown, held, convincing=convincing)
    return tuple(filter(is_rare, dict.fromkeys(known.list_absent(rare))))


class _KnownWords(Struct, frozen=True, dict=True):
    """Knows the words of a query that are not absent although the index does not hold them."""

    library: "SqliteReader"
    parsed: ParsedQuery
    is_present: Lookup
    first: Sequence[StoredChunk]
    held: Collection[str]
    convincing: bool

    @cached_property
    def passage(self) -> WrittenForm:
        """The script and the language of the first passage."""
        return _detect_form(self.first[0]) if self.first else WrittenForm(None, None)

    @cached_property
    def query(self) -> WrittenForm:
        """The script of the query, and its language as far as its first words or most tell it."""
        plain = self.parsed.plain
        return WrittenForm(detect_script(plain), detect_question_language(plain).code)

    @cached_property
    def reads_foreign(self) -> bool:
        """Whether the words of a query in an unknown language are not in that of the passage."""
        if self.query.language or self.passage.language is None:
            return False
        words, asks = list_words(self.parsed.plain), is_question(self.parsed.plain)
        return reads_as_another_language(words, self.passage.language, asks=asks)

    @cached_property
    def language(self) -> str | None:
        """The language of the query; that of the passage if nothing tells another."""
        return self.query.language or (None if self.reads_foreign else self.passage.language)

    @cached_property
    def is_foreign(self) -> bool:
        """Whether the query is in another language than the first passage.

        Words of an unknown language, such as names, are when the passage is in another script and
        answers without any of them. Where nothing answers, the notes in another language may say
        the same in other words, so that one of them is enough.
        """
        if self.reads_foreign:
            return True
        forms = map(_detect_form, self.first)
        if not self.convincing and not all(may_share_words(self.query, one) for one in forms):
            return True
        if may_share_words(self.query, self.passage):
            return False
        holds_term = any(term.text in self.held for term in self.parsed.terms)
        return self.query.language is not None or (self.convincing and not holds_term)

    def list_absent(self, words: Sequence[str]) -> list[str]:
        """Return the words, or their parts, that do not occur and of which nothing is known."""
        absent = (part for word in words for part in _find_absent(word, self.is_present))
        return [part for part in absent if not self.contains(part)]

    def contains(self, word: str) -> bool:
        """Return whether a word is a function word, or something is known of it otherwise."""
        is_english = self.language == "en"
        is_hiragana = "ぁ" <= word[0] <= "ゟ"
        if is_function_word(word) and not is_hiragana:
            return True
        if not is_english and is_listed_stop_word(word):
            return True
        if self.is_foreign:
            return not self._is_written_alike(word)
        if is_english or is_dense(word[0]):
            return False
        # A word may occur with another ending, or as or with parts of a compound.
        unit = normalize_for_index(word).replace("\u2019", "'")
        if "'" in unit:
            return self._is_known(max(tokenize_unit(unit)[:2], key=len))
        return holds_unit(unit, self._is_known)

    def _is_written_alike(self, word: str) -> bool:
        """Return whether a word is written alike in the languages of query and first passage."""
        if _is_code(word) or _is_plain_number(word):
            return True
        script = detect_script(word)
        if script != self.query.script:
            return script == "latin"
        is_name = word[:1].isupper() and not self.parsed.plain.lstrip(_OPENING).startswith(word)
        has_capitals = self.query.language not in {None, CAPITALISES_NOUNS}
        shares_script = script == self.passage.script
        return is_name and has_capitals and shares_script and not self.convincing

    def _is_known(self, token: str) -> bool:
        if self.is_present(token):
            return True
        if len(token) < _SHORTEST_PART or any(map(str.isdigit, token)):
            return False
        if any(map(self.is_present, list_forms(self.library, token))):
            return True
        joins = self.language in _COMPOUNDING
        part = cut_ending(token) if joins else token
        if any(part in one for one in self.held):
            return True
        if not joins and self.language is not None:
            return False
        root = token.removeprefix("ge")  # of participles in German and Dutch
        has_root = root != token and any(map(self.is_present, list_forms(self.library, root)))
        # It may also be made of two words that occur.
        pairs = [
            (stem_word(token[:at]), stem_word(token[at:]))
            for at in range(_SHORTEST_PART, len(token) - _SHORTEST_PART + 1)
        ]
        parts = {part for pair in pairs for part in pair}
        counts = {} if has_root else self.library.get_document_frequencies(parts)
        return has_root or any(counts[left] and counts[right] for left, right in pairs)


def _detect_form(chunk: StoredChunk) -> WrittenForm:
    """Return the script and the language of a passage."""
    found, of_code = detect_written_form(chunk.text), "en" if is_code(chunk.media) else None
    return WrittenForm(found.script, chunk.lang or found.language or of_code)


def _find_absent(word: str, is_present: Lookup) -> Iterator[str]:
    """Yield the parts of one written word that do not occur."""
    units = [found[0] for found in iter_unit_matches(word)]
    for unit in units:
        if is_dense(unit):
            alone = len(units) == 1
            signs = split_clusters(unit)
            covered = [False] * len(signs)
            for index, (left, right) in enumerate(pairwise(signs)):
                gram = normalize_for_index(left + right)
                if gram in QUESTION_BIGRAMS or is_present(gram):
                    covered[index] = covered[index + 1] = True
            for run in re.finditer(_SCRIPT_RUNS, "".join(sign[0] for sign in signs)):
                first, last, kind = run.start(), run.end(), run.lastgroup
                if kind == "other":
                    yield from _find_holes(signs, covered, first, last)
                    continue
                is_word = kind != "hiragana" or (alone and last - first == len(signs))
                if is_word and _is_absent(signs[first:last], covered[first:last], kind):
                    yield "".join(signs[first:last])
        elif not holds_unit(normalize_for_index(unit), is_present):
            yield word if len(units) == 1 else unit


def _is_absent(signs: list[str], covered: list[bool], kind: str | None) -> bool:
    """Return whether too little of a word is covered by bigrams that occur."""
    if kind == "katakana" and signs[-1] == _LONG_VOWEL:
        covered = covered[:-1]
    if kind == "hangul" and all(covered[:2]) and _is_inflected("".join(signs)):
        return False
    holes = covered.count(False)
    if kind == "katakana":
        return len(signs) > 1 and holes > 0
    return holes >= max(_SHORTEST_RUN, len(signs) * _ENOUGH)


def _find_holes(signs: list[str], covered: list[bool], first: int, last: int) -> Iterator[str]:
    """Yield the runs of characters between two positions that no present bigram covers."""
    for is_covered, places in groupby(range(first, last), covered.__getitem__):
        hole = [signs[place] for place in places]
        if not is_covered and len(hole) >= _SHORTEST_RUN:
            yield "".join(hole)
