"""Finds the words and phrases of a query that occur nowhere in what is searched.

A word counts as present when its stem is. A compound counts as present when it occurs as a whole
or when all of its parts do. In scripts without blanks the bigrams decide: a word of Katakana is
present when all of its characters are, a word of Hangul when more than half of them are, because
the others may be endings. Of Han and other scripts the runs of characters that occur nowhere are
reported. Hiragana inside a sentence is grammar and is never reported.
"""

import re
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise

from kebab.core.ports import LibraryReader
from kebab.search.coverage import QUESTION_BIGRAMS
from kebab.search.lexical import quote_phrase, quote_term
from kebab.search.query_operators import Phrase
from kebab.search.query_parser import ParsedQuery
from kebab.search.retrieval import RankedCandidates
from kebab.text.normalize import normalize_for_index
from kebab.text.scripts import is_dense, iter_unit_matches, split_clusters
from kebab.text.tokenizer import Term, tokenize_unit

_MAX_LOOKUPS = 64
"""How many tokens of a filtered search are looked up; those beyond count as present."""

_ENOUGH = 0.5
_SHORTEST_RUN = 2
_LONG_VOWEL = "\u30fc"
"""The last sign of Katakana words that are also written without it."""

_SCRIPT_RUNS = (
    "(?P<hiragana>[\u3041-\u309f]+)"
    "|(?P<katakana>[\u30a0-\u30ff]+)"
    "|(?P<hangul>[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]+)"
    "|(?P<other>[^\u3041-\u30ff\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]+)"
)
_NUMBER = r"[vV]?\d+(?:\.\d+)+"

Lookup = Callable[[str], bool]


def find_absent_terms(
    library: LibraryReader, candidates: RankedCandidates, held: Collection[str]
) -> tuple[str, ...]:
    """Return the words and phrases that no searched passage holds, as they are written.

    Args:
        library: The snapshot.
        candidates: The candidates of the query.
        held: Tokens that some searched passage holds.
    """
    parsed = candidates.parsed
    is_present = _build_lookup(library, parsed, candidates.weighted.absent, held)
    words = [absent for word in parsed.words for absent in _find_absent(word, is_present)]
    unheld = candidates.dropped or (() if candidates.ranked else parsed.required)
    phrases = [phrase.format() for phrase in unheld if not _holds_phrase(library, parsed, phrase)]
    return tuple(dict.fromkeys((*words, *phrases)))


def _build_lookup(
    library: LibraryReader, parsed: ParsedQuery, absent: Collection[str], held: Collection[str]
) -> Lookup:
    """Return a function that tells whether a searched passage holds a token."""
    known: dict[str, bool] = {}

    def is_present(token: str) -> bool:
        if token in absent:
            return False
        if not parsed.filters.is_active or token in held:
            return True
        if token not in known and len(known) < _MAX_LOOKUPS:
            known[token] = bool(library.search_lexical(quote_term(Term(token)), parsed.filters, 1))
        return known.get(token, True)

    return is_present


def _holds_phrase(library: LibraryReader, parsed: ParsedQuery, phrase: Phrase) -> bool:
    return bool(library.search_lexical(quote_phrase(phrase), parsed.filters, 1))


def _find_absent(word: str, is_present: Lookup) -> Iterator[str]:
    """Yield the parts of one written word that do not occur."""
    units = [found[0] for found in iter_unit_matches(word)]
    for unit in units:
        if is_dense(unit):
            yield from _find_absent_runs(unit, is_present, alone=len(units) == 1)
        elif not _holds_compound(unit, is_present):
            yield word if len(units) == 1 else unit


def _holds_compound(unit: str, is_present: Lookup) -> bool:
    """Return whether a unit occurs as a whole, or all of its parts do."""
    indexed = normalize_for_index(unit)
    tokens = tokenize_unit(indexed)
    if not tokens:
        return True
    if "." in indexed and re.fullmatch(_NUMBER, indexed):
        return is_present(tokens[0])
    whole = is_present(tokens[-1])
    if indexed[-1] in "+#" or len(tokens) == 1:
        return whole
    return whole or all(map(is_present, tokens[:-1]))


def _find_absent_runs(unit: str, is_present: Lookup, *, alone: bool) -> Iterator[str]:
    """Yield the parts of a run of a dense script that do not occur."""
    signs = split_clusters(unit)
    covered = [False] * len(signs)
    for index, (left, right) in enumerate(pairwise(signs)):
        gram = normalize_for_index(left + right)
        if gram in QUESTION_BIGRAMS or is_present(gram):
            covered[index] = covered[index + 1] = True
    for first, last, kind in _split_scripts(signs):
        if kind == "other":
            yield from _find_holes(signs, covered, first, last)
            continue
        is_word = kind != "hiragana" or (alone and last - first == len(signs))
        if is_word and _is_absent(signs[first:last], covered[first:last], kind):
            yield "".join(signs[first:last])


def _is_absent(signs: list[str], covered: list[bool], kind: str | None) -> bool:
    """Return whether too little of a word is covered by bigrams that occur."""
    if kind == "katakana" and signs[-1] == _LONG_VOWEL:
        covered = covered[:-1]
    holes = covered.count(False)
    if kind == "katakana":
        return len(signs) > 1 and holes > 0
    return holes >= max(_SHORTEST_RUN, len(signs) * _ENOUGH)


def _split_scripts(signs: list[str]) -> Iterator[tuple[int, int, str | None]]:
    """Yield start, end and kind of the runs of one script."""
    for run in re.finditer(_SCRIPT_RUNS, "".join(sign[0] for sign in signs)):
        yield run.start(), run.end(), run.lastgroup


def _find_holes(signs: list[str], covered: list[bool], first: int, last: int) -> Iterator[str]:
    """Yield the runs of characters between two positions that no present bigram covers."""
    hole = ""
    for sign, is_covered in zip(signs[first:last], covered[first:last], strict=True):
        if not is_covered:
            hole += sign
            continue
        if len(hole) >= _SHORTEST_RUN:
            yield hole
        hole = ""
    if len(hole) >= _SHORTEST_RUN:
        yield hole
