"""Cuts texts into index tokens, and queries into terms with the same functions.

Words are folded to lower case (NFKC) and stemmed. A compound gives its parts and the whole word
without separators, so that `e-mail`, `email`, `snakeCase` and `snake_case` match each other.
Scripts without blanks between words give overlapping bigrams. The last character of such a run is
also indexed by itself, so that a prefix term finds a single character everywhere: at the start of a
bigram or as that last character. No token holds white space.

The script of a word chooses its Snowball stemmer. The language of the text is not used, so that a
query and a passage agree without knowing it. Latin words use the English rules, which also fit
other languages with the same endings.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache, partial
from itertools import chain, pairwise
from string import ascii_letters, digits

from msgspec import Struct

from kebab.errors.system import translate_import_errors
from kebab.text.dates import list_date_tokens
from kebab.text.language import is_dense, iter_unit_matches, split_clusters, split_units
from kebab.text.normalize import load_words, normalize_for_index

_TOKEN_LIMIT = 96
_SHORTEST_STEMMED, _LONGEST_STEMMED = 3, 40
_CACHED_RUN = 12
_INFLECTED = load_words("patterns")["stemmers"].split()

_INNER = ascii_letters + digits + "_-.',+#"
"""The signs of ASCII that may be a part of a unit."""

_match_number = re.compile(r"[vV]?(\d+(?:\.\d+)+)").fullmatch
_match_grouped = re.compile(r"\d{1,3}(?:(?:,\d{3})+|(?:'\d{3})+)(?:\.\d+)?").fullmatch
_match_decimal_comma = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,\d{1,2}").fullmatch
_match_numbered = re.compile(r"(\d+)([^\W\d_]+)|([^\W\d_]{2,})(\d+)").fullmatch
"""`512GB`, `Python3`: a number and a word, of one letter only behind the number."""

_match_release = re.compile(
    r"(?:[vV]|([^\W\d_]{2,}))?(\d+(?:\.\d+)+)(?:[-_.]?([^\W_][\w.-]*))?"
).fullmatch
"""`v2.10.3-rc1`, `1.5kg`, `Python3.11`: a dotted number with what stands before or behind it."""

_split_parts = re.compile(r"[-._',+#^]+").split
_split_humps = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])").split
_has_humps = re.compile("[a-z].*[A-Z]|[A-Z].*[a-z]").search
_find_inverted = re.compile("(?:-t|(?<=[dt]))-(?:ils?|elles?)$|-t-on$").search
"""A French pronoun behind its verb, with a `t` or `d` between: `répète-t-elle`, `vient-il`."""
_match_elided = re.compile(r"([^\W\d_]{1,2})'(\w{3,})").fullmatch
_accents = re.compile(r"[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]")
_SPECIAL = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th"}
)
_DOTS = str.maketrans({**dict(zip("ёєії", "ееии", strict=True)), "\u0131": "i", "\u0307": None})
"""Lower-case letters that many write without dots, or that the stemmer for Russian lacks."""

_APOSTROPHES = str.maketrans("’\u02bc\u2010\u00b7", "''--")

_LETTERS = str.maketrans(
    {letter: one for one, several in load_words("folded_letters").items() for letter in several}
)
"""Letters that Hebrew, Arabic and Indic scripts write in two ways, and signs that are left out."""

_ARABIC_AND = re.compile("^[وف](?=ال)")
_ARABIC_FEMININE = re.compile("(?<=...)ه$")
_HINDI_ENDING = re.compile("(?<=[\u0900-\u0963]{2})(?:िय)?[ाेीोुूि]ं?$")
_INDIC_NASAL = re.compile("ङ्(?=[क-ङ])|ञ्(?=[च-ञ])|ण्(?=[ट-ण])|न्(?=[त-न])|म्(?=[प-म])")
"""A nasal before a consonant of its class, which is also written as a dot above."""


_STEMMERS = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0b80", "\u0bff", "tamil"),
)
"""The Snowball stemmers of scripts other than Latin, by ranges of first letters."""


class Term(Struct, frozen=True):
    """A token of a query; a prefix also matches every longer token."""

    text: str
    prefix: bool = False


@cache
def _load_stemmer(name: str) -> Callable[[str], str]:
    """Return the stemming function of a language, loaded on first use."""
    with translate_import_errors("the words of a text", "py-rust-stemmers"):
        from py_rust_stemmers import SnowballStemmer

    stem_word: Callable[[str], str] = SnowballStemmer(name).stem_word
    return stem_word


_strip_signs = partial(re.compile("['\u0bbe-\u0bcd\u0bd7]").sub, "")
"""Removes apostrophes and the vowels of Tamil, which are no letters for Python."""


@lru_cache(maxsize=1 << 15)
def stem_word(word: str) -> str:
    """Return the stem of a lower-case word; short, long and numbered words stay as they are."""
    if not _SHORTEST_STEMMED <= len(word) <= _LONGEST_STEMMED or not _strip_signs(word).isalpha():
        return word
    name: str | None = "english"
    if word[0] >= "\u0250":
        name = next((name for low, high, name in _STEMMERS if low <= word[0] <= high), None)
    return (_load_stemmer(name)(word) or word) if name else word


def share_stem(one: str, other: str, *, has_capital: bool) -> bool:
    """Return whether two words are forms of one; of a name or noun with a capital in German."""
    stemmers = map(_load_stemmer, ("german",) if has_capital else _INFLECTED)
    return any(stem(one) == stem(other) for stem in stemmers)


def _fold_letters(word: str) -> str:
    """Return a word in one spelling where its script knows two; Arabic without `and` before `the`.

    The last letter of feminine words in Arabic is often written without its dots.
    """
    decomposed = unicodedata.normalize("NFD", _INDIC_NASAL.sub("ं", word).translate(_LETTERS))
    folded = unicodedata.normalize("NFC", decomposed.translate(_LETTERS)) or word
    folded = _HINDI_ENDING.sub("", folded)
    return _ARABIC_FEMININE.sub("ة", _ARABIC_AND.sub("", folded))


def _tokenize_word(word: str) -> tuple[str, ...]:
    """Return the tokens of one plain word: its stem, and its accented form beside the folded."""
    lower = word.lower()[:_TOKEN_LIMIT]
    if lower.isascii():
        return (stem_word(lower),)
    lower = lower.translate(_DOTS)
    if lower[0] > "\u0590":
        lower = _fold_letters(lower)
    plain = _accents.sub("", unicodedata.normalize("NFD", lower))
    folded = unicodedata.normalize("NFC", plain).translate(_SPECIAL)
    return tuple(dict.fromkeys((stem_word(folded), stem_word(lower))))


def _tokenize_compound(unit: str) -> Iterator[str]:
    """Yield the tokens of a unit that is more than one plain word."""
    if number := read_number(unit):
        yield from _tokenize_number(number)
        return
    if release := _match_release(unit):
        name, version, suffix = release.groups("")
        for part in filter(None, (name, suffix)):
            yield from _tokenize_linked(part)
        yield from _tokenize_number(version)
        if name:
            yield from _tokenize_word(name + version.partition(".")[0])
        yield from _tokenize_word(join_parts(name + version + suffix))
        return
    parts: list[str] = []
    for word in filter(None, _split_parts(unit)):
        parts += filter(None, _split_humps(word)) if _has_humps(word) else (word,)
    for part in parts:
        if numbered := _match_numbered(part):
            yield from chain.from_iterable(map(_tokenize_word, filter(None, numbered.groups())))
        yield from _tokenize_word(part)
    if unit[-1] in "+#" or unit[0] == ".":
        yield unit.lower()[-_TOKEN_LIMIT:]
    if len(parts) > 1:
        yield from _tokenize_word("".join(parts))


def join_parts(unit: str) -> str:
    """Return a unit without the marks between its parts, in lower case."""
    return "".join(_split_parts(unit)).lower()


def read_number(unit: str) -> str | None:
    """Return a number with points only: `1234.5` for `1,234.5` and `1.234,5`, `2.1` for `v2.1`."""
    if number := _match_number(unit):
        return number[1]
    if _match_decimal_comma(unit):
        return unit.replace(".", "").replace(",", ".")
    return unit.replace(",", "").replace("'", "") if _match_grouped(unit) else None


def _tokenize_number(number: str) -> Iterator[str]:
    """Yield each place of a number, its first two places, and the whole number."""
    places = number.split(".")
    yield from places
    if len(places) > 2:  # noqa: PLR2004 - a third place makes the first two worth a token
        yield ".".join(places[:2])
    if len(places) > 1:
        yield number[:_TOKEN_LIMIT]


def holds_unit(unit: str, is_present: Callable[[str], object]) -> bool:
    """Return whether a unit occurs as a whole, or in all of its parts if it is no number."""
    *parts, whole = tokenize_unit(unit) or ("",)
    if not whole or is_present(whole):
        return True
    has_parts = bool(parts) and unit[-1] not in "+#" and read_number(unit) is None
    return has_parts and all(map(is_present, parts))


def _tokenize_linked(unit: str) -> tuple[str, ...]:
    """Return the tokens of a unit of a script with blanks."""
    if not unit.isascii():
        unit = unit.translate(_APOSTROPHES)
    if "'" in unit:
        if elided := _match_elided(unit):
            return (*_tokenize_word(elided[1]), *_tokenize_word(elided[2]))
        unit = unit.removesuffix("'s")
        if unit.replace("'", "").isalpha() and unit[1:].islower():
            return _tokenize_word(unit)
    if "-" in unit and (inverted := _find_inverted(unit)):
        unit = unit[: inverted.start()]
    if _is_plain(unit):
        return _tokenize_word(unit)
    return tuple(_tokenize_compound(unit))


def _is_plain(unit: str) -> bool:
    """Return whether a unit is one word or number, without capitals that begin its parts."""
    if not unit.isalpha():
        return unit.isdecimal()
    return unit.islower() or unit[1:].islower() or unit.isupper()


def _tokenize_run(run: str) -> tuple[str, ...]:
    """Return the tokens of a dense run: its overlapping bigrams and its last character."""
    signs = split_clusters(run)
    return (*map("".join, pairwise(signs)), *signs[-1:])


@lru_cache(maxsize=1 << 16)
def _tokenize_cached(unit: str) -> tuple[str, ...]:
    """Return the index tokens of a unit, from a cache."""
    return _tokenize_run(unit) if is_dense(unit) else _tokenize_linked(unit)


def tokenize_unit(unit: str) -> tuple[str, ...]:
    """Return the index tokens of one unit; long dense runs are not cached."""
    if len(unit) <= _CACHED_RUN or not is_dense(unit):
        return _tokenize_cached(unit)
    return _tokenize_run(unit)


_SEPARATORS = "".join(map(chr, range(128))).translate(str.maketrans("", "", _INNER))
_SPLIT_PIECES = bytes.maketrans(_SEPARATORS.encode(), b" " * len(_SEPARATORS))
_MAX_PIECES, _MAX_PIECE_CHARS = 1 << 18, 64


class _PieceTokens(dict[str, str]):
    """Caches the tokens of pieces of normalized text, joined by blanks; it is emptied when full."""

    def __missing__(self, piece: str) -> str:
        if len(self) >= _MAX_PIECES:
            self.clear()
        # No token has these marks at its beginning or end.
        word = piece.lstrip("-',+#").rstrip("-',.")
        if word != piece:
            tokens = self[word] if word else ""
        elif _is_plain(word) and word.isascii():
            tokens = stem_word(word.lower()[:_TOKEN_LIMIT])
        else:
            tokens = " ".join(chain.from_iterable(map(tokenize_unit, split_units(word))))
        if len(piece) <= _MAX_PIECE_CHARS:
            self[piece] = tokens
        return tokens


_get_piece_tokens = _PieceTokens().__getitem__


def join_tokens(text: str) -> str:
    """Return the index tokens of a text in order, joined by blanks; those of its dates are last.

    A few thousand pieces make up nearly all text, so each is cut once. No unit reaches over one of
    the signs at which pieces are cut.
    """
    normalized = normalize_for_index(text)
    raw = normalized.encode("utf-8", "surrogatepass")
    pieces = raw.translate(_SPLIT_PIECES).decode("utf-8", "surrogatepass").split()
    numbers = _list_spaced_numbers(normalized)
    return " ".join((*map(_get_piece_tokens, pieces), *numbers, *list_date_tokens(normalized)))


_find_spaced = re.compile(
    r"(?<![\w.,])[1-9]\d{0,2}(?:(?: \d{3})+,\d{1,2}|(?: \d{3}){2,})(?![\w,.]? ?\d)(?!\w)"
).findall


def _list_spaced_numbers(text: str) -> Iterator[str]:
    """Yield the tokens of numbers such as `3 999,90`, whose parts are units of their own."""
    for number in _find_spaced(text):
        yield from _tokenize_number(number.replace(" ", "").replace(",", "."))


def tokenize(text: str) -> list[str]:
    """Return the index tokens of a text, in order."""
    return join_tokens(text).split()


@lru_cache(maxsize=256)
def collect_tokens(text: str) -> frozenset[str]:
    """Return the distinct tokens of a text."""
    return frozenset(tokenize(text))


def collect_all_tokens(texts: Iterable[str]) -> frozenset[str]:
    """Return the distinct tokens of several texts."""
    return frozenset().union(*map(collect_tokens, texts))


def build_query_terms(text: str) -> list[Term]:
    """Return the terms of a query without operators, in order, each once.

    An isolated single character becomes a prefix, which matches it anywhere in a run.
    """
    text = normalize_for_index(text)
    terms: dict[Term, None] = {}
    for found in iter_unit_matches(text):
        unit, alone = found[0], False
        tokens = tokenize_unit(unit)
        if is_dense(unit):
            tokens = tokens[:-1] or tokens
            start, end = found.span()
            beside = text[start - 1 : start] + text[end : end + 1]
            alone = len(split_clusters(unit)) == 1 and not any(map(str.isalpha, beside))
        terms.update((Term(token, prefix=alone), None) for token in tokens)
    terms.update((Term(token), None) for token in _list_spaced_numbers(text))
    return list(terms)


def build_phrase_terms(text: str) -> list[Term]:
    """Return the tokens of a phrase, which are adjacent in the index.

    The last run of a dense script may continue in the text, so its last character gives no term.
    """
    units = split_units(normalize_for_index(text))
    terms = [Term(token) for unit in units for token in tokenize_unit(unit)]
    if units and is_dense(units[-1]):
        last = terms.pop()
        if len(split_clusters(units[-1])) == 1:
            terms.append(Term(last.text, prefix=True))
    return terms
