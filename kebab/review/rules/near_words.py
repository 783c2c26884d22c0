"""Finds the frequent word that is meant by an unknown one.

The dictionaries are those of `pyspellchecker`. `words.z` adds what they lack for documentation:
words that are frequent there, and right words that would be taken for a slip.
"""

import gzip
import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

_LANGUAGES = frozenset({"de", "en", "es", "fr", "it", "nl", "pt"})
"""The languages with Latin letters that `pyspellchecker` has a list of words for."""

SHORTEST, LONGEST = 6, 20
_SHORTEST_PART, _USUAL_PART = 3, 4
_LEAST_PART, _LEAST_SHORT_PART = 200, 50_000
_LEAST_STEM, _LONG_STEM = 1_000, 6
"""How often parts and stems of words occur in the corpus of a dictionary."""

_LEAST_FREQUENCY = 2_000
_LEAST_BY_LENGTH = {8: 1_000, **dict.fromkeys(range(9, LONGEST + 1), 200)}
"""How often a word has to occur to be what was meant; long words are hardly one by chance."""

_IN_DOCUMENTATION = 5_000
_CLEAR = 3
"""How many times as likely as the next word the meant one is, unless the word is long."""

_BRITISH = re.compile(r"our|ll(?=ed|ing|er|ation)|ae|oe")
"""What British English writes with one letter more."""

_VOWELS = "aeiouy"
_ASCII = "abcdefghijklmnopqrstuvwxyz"
_ALPHABET = _ASCII + "ßàáâãäçèéêëìíîïñòóôõöùúûü"
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: {one for line in _ROWS[max(0, row - 1) : row + 2] for one in line[max(0, at - 1) : at + 2]}
    for row, keys in enumerate(_ROWS)
    for at, key in enumerate(keys)
}
"""The keys around each key."""

_PREFIXES = (  # noqa: SIM905 - one list of words
    "un re non pre sub multi super inter de dis over under mis auto anti co micro mini meta out up"
    " en bi semi pseudo post cross cyber hyper intra mid mono poly tele trans ultra"
).split()
_SUFFIXES = (  # noqa: SIM905 - one list of words
    "s es ed d ing ings able ables ible er ers or ors ly ness less y ize ise ized ised izes izing"
    " ising ization isation like wise ful ment ments ity ities al ally ic ism ist ists ified ify"
    " ifies ifier ish ability ibility ened en ion ions ive ives ation ations js db fs ably ee ees"
    " est ier iest ster hood ship dom ian ans ese id ids dict"
).split()


class Dictionary(NamedTuple):
    """The words of a language with their frequencies, as texts and in UTF-8."""

    frequencies: Mapping[str, int]
    words: Collection[bytes]


@cache
def load_dictionary(lang: str) -> Dictionary | None:
    """Return the dictionary of a language; None without one, or without `pyspellchecker`."""
    if lang not in _LANGUAGES:
        return None
    try:
        import spellchecker  # only its lists are used; reading them is four times as fast
    except ImportError:
        return None
    data = Path(spellchecker.__file__).with_name("resources") / f"{lang}.json.gz"
    frequencies = msgspec.json.decode(gzip.decompress(data.read_bytes()), type=dict[str, int])
    words = frozenset(word.encode() for word in frequencies)
    if lang == "en":
        frequent, right = read_words()
        words = words.union(frequent, right)
        usual = (word.decode() for word in frequent)
        frequencies |= {one: max(frequencies.get(one, 0), _IN_DOCUMENTATION) for one in usual}
    return Dictionary(frequencies, words)


def read_words() -> tuple[list[bytes], list[bytes]]:
    """Return the words that are frequent in documentation, and those that are just right."""
    file = Path(__file__).with_name("words.z")
    frequent, right = zlib.decompress(file.read_bytes()).split(b"\n")
    return frequent.split(), right.split()


@lru_cache(maxsize=1 << 16)
def find_meant(word: str, lang: str) -> str:
    """Return the word that one edit inside makes of an unknown one; empty when it is not clear.

    Forms and compounds of known words are right. Other languages than English have more endings,
    and their lists lack forms of verbs, so their words are compared more strictly.
    """
    dictionary = load_dictionary(lang)
    is_word = SHORTEST <= len(word) <= LONGEST and word.isalpha()
    if dictionary is None or not is_word or word.encode() in dictionary.words:
        return ""
    known = dictionary.frequencies
    if lang != "en":
        return _find_inflected(word, known)
    american = word.replace("is", "iz").replace("our", "or")
    if any(_is_compound(one, known) or _is_derived(one, known) for one in {word, american}):
        return ""
    likely: dict[str, int] = {}
    for one, weight in _iter_slips(word):
        if one in known:
            likely[one] = max(likely.get(one, 0), weight * known[one])
    order = sorted(likely, key=likely.__getitem__, reverse=True)
    if not order or known[order[0]] < _LEAST_BY_LENGTH.get(len(word), _LEAST_FREQUENCY):
        return ""
    is_long = len(word) > min(_LEAST_BY_LENGTH)
    if len(order) > 1 and not is_long and likely[order[0]] < _CLEAR * likely[order[1]]:
        return ""
    is_british = _BRITISH.sub(lambda one: one[0][:1] + one[0][2:], word) == order[0]
    return "" if is_british else order[0]


def _find_inflected(word: str, known: Mapping[str, int]) -> str:
    """Return the only word that a slip makes of a word of a language with many endings."""
    english = load_dictionary("en")
    if len(word) <= min(_LEAST_BY_LENGTH):
        return ""  # it may be a form that the list lacks
    is_part = any(word[:at] in known and word[at:] in known for at in range(3, len(word) - 2))
    if is_part or (english and word in english.frequencies):
        return ""  # a compound or a foreign word
    found = {one for one in _iter_inside(word) if one in known}
    meant = found.pop() if len(found) == 1 else ""
    return meant if known.get(meant, 0) >= _LEAST_FREQUENCY else ""


def _is_compound(word: str, known: Mapping[str, int]) -> bool:
    """Return whether a word consists of two known words."""
    return any(
        all(
            known.get(part, 0) >= (_LEAST_PART if len(part) >= _USUAL_PART else _LEAST_SHORT_PART)
            for part in (word[:at], word[at:])
        )
        for at in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1)
    )


def _is_derived(word: str, known: Mapping[str, int]) -> bool:
    """Return whether a word is a known one with a prefix or an ending that may form words."""
    for prefix in _PREFIXES:
        stem = word.removeprefix(prefix)
        least = _LEAST_STEM if len(stem) < _LONG_STEM else 1
        if stem != word and len(stem) >= _USUAL_PART and known.get(stem, 0) >= least:
            return True
    for suffix in _SUFFIXES:
        stem = word.removesuffix(suffix)
        if stem == word or len(stem) < _SHORTEST_PART:
            continue
        least = _LEAST_STEM if len(stem) >= _USUAL_PART else 5 * _LEAST_STEM
        if any(known.get(one, 0) >= least for one in _list_stems(stem, suffix)):
            return True
    return False


def _list_stems(stem: str, suffix: str) -> Iterator[str]:
    """Yield the words that may have a stem before an ending."""
    yield stem
    if suffix[0] in _VOWELS:
        yield stem + "e"
        is_short = stem[-3:-2] in tuple(_VOWELS) and stem[-4:-3] not in tuple(_VOWELS)
        if stem[-1] == stem[-2] and is_short:
            yield stem[:-1]
    if stem[-1] == "i" and suffix[0] != "i":
        yield stem[:-1] + "y"


def _iter_slips(word: str) -> Iterator[tuple[str, int]]:
    """Yield the words that one slip makes of a word, and how usual the slip is.

    The first letter is right unless it was swapped, because names have another one in front. A
    last letter too many makes a form.
    """
    last = len(word) - 1
    for at, letter in enumerate(word):
        start, rest = word[:at], word[at + 1 :]
        is_double = letter in (word[at - 1 : at], word[at + 1 : at + 2])
        is_first = at == 0 or (at == 1 and is_double and letter == word[0])
        if not is_first and (at < last or (is_double and last > SHORTEST)):
            yield start + rest, 5 if is_double else 2
        if at < last:
            yield start + rest[0] + letter + rest[1:], 10
        if at == 0:
            continue
        near = _NEIGHBOURS.get(letter, "")
        for other in _ASCII:
            yield start + other + letter + rest, 5 if other in (word[at - 1], letter) else 3
            if at < last:
                is_near = other in near or (letter in _VOWELS and other in _VOWELS)
                if is_near or last > SHORTEST:
                    yield start + other + rest, 2 if is_near else 1


def _iter_inside(word: str) -> Iterator[str]:
    """Yield the words that one edit makes, but for those at the first and the last letters.

    A letter too many is doubled, and only letters of another script are written for each other.
    """
    for at in range(1, len(word) - 3):
        start, letter, rest = word[:at], word[at], word[at + 1 :]
        if at > 1 and letter in (word[at - 1], word[at + 1]):
            yield start + rest
        yield start + rest[0] + letter + rest[1:]
        for other in _ALPHABET:
            yield start + other + letter + rest
            if letter not in _ALPHABET:
                yield start + other + rest
