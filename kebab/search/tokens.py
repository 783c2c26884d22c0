"""The one tokenizer: what is indexed and what is asked go through the same functions.

Words are folded to lower case (NFKC) and stemmed. Written compounds give their parts and, once
more, the whole without its joints, so that `e-mail`, `email`, `snakeCase` and `snake_case` meet.
Scripts without blanks between words give overlapping bigrams. The last character of such a run is
indexed once more by itself, so that a single character is found wherever it stands by a prefix
term: as the beginning of a bigram or as that last character. No token holds white space.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from kebab.search.alphabet import INVISIBLE, clusters, is_dense, unit_spans, units
from kebab.search.stems import stem

_TOKEN_LIMIT = 96
_CACHED_RUN = 12

_number = re.compile(r"[vV]?(\d+(?:\.\d+)+)").fullmatch
_grouped = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?").fullmatch
_parts = re.compile(r"[-._',+#]+").split
_humps = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])").split
_elided = re.compile(r"([^\W\d_]{1,2})'(\w{3,})").fullmatch
_accents = re.compile(r"[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]")
_SPECIAL = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "\u0131": "i"}
)
_APOSTROPHES = str.maketrans("\u2019\u2010", "'-")


@dataclass(frozen=True, slots=True)
class Term:
    """A token that a query asks for; a prefix also stands for every longer token."""

    text: str
    prefix: bool = False


def normalize(text: str) -> str:
    """Return the text in NFKC, without characters that nobody sees."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return INVISIBLE.sub("", text)


def _folded(word: str) -> str:
    """Return a lower-case word without accents."""
    plain = _accents.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", plain).translate(_SPECIAL)


def _simple(word: str) -> tuple[str, ...]:
    """Return the tokens of one plain word: its stem, and its accented form beside the folded."""
    lower = word.lower()[:_TOKEN_LIMIT]
    if lower.isascii():
        return (stem(lower),)
    folded = _folded(lower)
    return tuple(dict.fromkeys((stem(folded), stem(lower))))


def _compound(unit: str) -> Iterator[str]:
    """Yield the tokens of a unit that is more than one plain word."""
    if number := _number(unit):
        yield from _version(number[1])
        return
    if _grouped(unit):
        unit = unit.replace(",", "")
        yield from _version(unit) if "." in unit else (unit,)
        return
    parts = [hump for word in _parts(unit) for hump in _humps(word) if hump]
    for part in parts:
        yield from _simple(part)
    if unit[-1] in "+#" or unit[0] == ".":
        yield unit.lower()[-_TOKEN_LIMIT:]
    if len(parts) > 1:
        yield from _simple("".join(parts))


def _version(number: str) -> Iterator[str]:
    """Yield a dotted number whole, its first two places, and each place."""
    places = number.split(".")
    yield number[:_TOKEN_LIMIT]
    if len(places) > 2:  # noqa: PLR2004 - a third place makes the first two worth a token
        yield ".".join(places[:2])
    yield from places


def _word(unit: str) -> tuple[str, ...]:
    """Return the tokens of a unit of a script with blanks."""
    if "'" in (unit := unit.translate(_APOSTROPHES)):
        if elided := _elided(unit):
            return (*_simple(elided[1]), *_simple(elided[2]))
        unit = unit.removesuffix("'s")
        if unit.replace("'", "").isalpha() and unit[1:].islower():
            return _simple(unit)
    if unit.isalnum() and (unit.islower() or unit[1:].islower() or unit.isupper()):
        return _simple(unit)
    return tuple(_compound(unit))


def _bigrams(run: str) -> list[str]:
    """Return the overlapping bigrams of a run; a single character stands alone."""
    signs = clusters(run)
    return [left + right for left, right in pairwise(signs)] if len(signs) > 1 else signs


def _run(run: str) -> tuple[str, ...]:
    """Return the tokens of a dense run: its bigrams and its last character."""
    signs = clusters(run)
    if len(signs) < 2:  # noqa: PLR2004 - one character has no bigram
        return tuple(signs)
    return (*map("".join, pairwise(signs)), signs[-1])


@lru_cache(maxsize=1 << 16)
def _short(unit: str) -> tuple[str, ...]:
    """Return the index tokens of a unit; those of short units are worth remembering."""
    return _run(unit) if is_dense(unit) else _word(unit)


def unit_tokens(unit: str) -> tuple[str, ...]:
    """Return what the index holds of one unit."""
    return _short(unit) if len(unit) <= _CACHED_RUN or not is_dense(unit) else _run(unit)


def index_tokens(text: str) -> list[str]:
    """Return the tokens that the index holds of a text, in order."""
    # No unit of ASCII is dense; what is remembered of units is then looked up without Python code.
    cut = _short if text.isascii() else unit_tokens
    return list(chain.from_iterable(map(cut, units(normalize(text)))))


def query_terms(text: str) -> list[Term]:
    """Return what a plain query asks for, in order, each term once.

    A single character that stands by itself is asked for wherever it occurs in a run.
    """
    text = normalize(text)
    terms: dict[Term, None] = {}
    for start, end in unit_spans(text):
        unit = text[start:end]
        if not is_dense(unit):
            terms.update(dict.fromkeys(map(Term, unit_tokens(unit))))
            continue
        alone = len(clusters(unit)) == 1 and not _touches(text, start, end)
        terms.update((Term(gram, prefix=alone), None) for gram in _bigrams(unit))
    return list(terms)


def _touches(text: str, start: int, end: int) -> bool:
    """Return whether a letter or digit stands beside a stretch of a text."""
    return text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()


def phrase_terms(text: str) -> list[Term]:
    """Return the tokens of a phrase as they stand side by side in the index.

    The last run of a dense script may go on in the text, so its last character is not asked for.
    """
    found = units(normalize(text))
    terms = [Term(token) for unit in found[:-1] for token in unit_tokens(unit)]
    if not found:
        return terms
    if not is_dense(found[-1]):
        return [*terms, *map(Term, unit_tokens(found[-1]))]
    grams = _bigrams(found[-1])
    single = len(clusters(found[-1])) == 1
    return [*terms, *(Term(gram, prefix=single) for gram in grams)]
