"""Tells the encodings of Latin script apart that have one byte for each character.

Any bytes are text in most of them, so the letters and words of languages decide: in the right
encoding nearly all letters beyond ASCII are those of one language, and many words are its stop
words. Two encodings that give the same text, or nearly as likely ones, are a matter of doubt.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from kebab.text.stop_words import load_stop_words

_WESTERN = {
    "de": "äöüß",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "es": "áéíñóúü",
    "it": "àèéìíîòóùú",
    "pt": "áâãàçéêíóôõúü",
    "nl": "áéèëïíóöüú",
    "sv": "åäöé",
    "da": "æøåé",
    "no": "æøåéòóô",
    "fi": "äöåšž",
    "et": "äöõüšž",
    "ca": "àçèéíïòóúü·",
    "ga": "áéíóú",
}
_CENTRAL = {
    "pl": "ąćęłńóśźż",
    "cs": "áčďéěíňóřšťúůýž",
    "sk": "áäčďéíĺľňóôŕšťúýž",
    "hu": "áéíóöőúüű",
    "ro": "ăâîşţ",
    "hr": "čćđšž",
    "sl": "čšž",
    "de": "äöüß",
}
_BALTIC = {"lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž", "et": "äöõüšž", "pl": "ąćęłńóśźż"}
_ANY_WESTERN = "".join(sorted(set("".join(_WESTERN.values()))))
_LANGUAGES = {
    "cp1252": {**_WESTERN, "is": "áðéíóúýþæö", "en": _ANY_WESTERN},
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1254": {"tr": "çğıöşüâîû"},
    "cp1257": _BALTIC,
    "iso8859_13": _BALTIC,
}
"""The letters beyond ASCII of languages, by encoding; of equal texts the first encoding wins."""

_MAX_FOREIGN_SHARE = 0.35
_LEAST_FIT = 0.9
_NEAR = 0.05
_MIXED = 0.1
"""What a text in English lacks, whose letters may be those of any Western name."""

_LEAST_SINGLE_SHARE = 0.7
_HIGH_RUNS = re.compile(rb"[\x80-\xff]+")
_COMMON = frozenset("‘’‚‛“”„–—…•·€™§©®°«»›‹²³¹½¼¾µ×÷ªº¡¿£¥¢´†‡‰\u00a0\u00ad\u00b6")
_MARKS_IN_WORDS = frozenset("’‘·´\u00ad\u00a0–—")
_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN = re.compile(r"[^\x00-\x7f]")


class LatinEncoding(NamedTuple):
    """The most likely encoding, and another one that is as likely and gives another text."""

    codec: str
    doubt: str | None = None


@lru_cache(maxsize=4)
def detect_latin_encoding(sample: bytes) -> LatinEncoding | None:
    """Return the encoding of text in Latin script; None for other bytes, and without letters."""
    found: list[tuple[float, str, str]] = []
    for codec in _LANGUAGES:
        text = sample.decode(codec, "replace")
        if codec == "cp1252" and not _list_signs(text):
            return None
        if (score := _score(text, codec)) and text not in [known for _, _, known in found]:
            found.append((score, codec, text))
    if not found:
        return None
    best = max(found, key=lambda one: one[0])
    near = [codec for score, codec, _ in found if codec != best[1] and score > best[0] - _NEAR]
    return LatinEncoding(best[1], near[0] if near else None)


def has_single_letters(sample: bytes) -> bool:
    """Return whether bytes beyond ASCII mostly stand alone, as they do in words of Latin script."""
    runs = _HIGH_RUNS.findall(sample)
    return sum(len(run) == 1 for run in runs) >= _LEAST_SINGLE_SHARE * len(runs)


def _score(text: str, codec: str) -> float:
    """Return how well a text fits the best language of an encoding; 0 where it fits none."""
    letters = sum(map(str.isalpha, text))
    signs = _list_signs(text)
    if not signs or len(signs) > _MAX_FOREIGN_SHARE * letters:
        return 0.0
    words = [word.lower() for word in _WORD.findall(text)]
    lists = load_stop_words()
    best = 0.0
    for language, alphabet in _LANGUAGES[codec].items():
        known = sum(sign in alphabet or sign.lower() in alphabet or sign == "İ" for sign in signs)
        fit = known / len(signs)
        if fit >= _LEAST_FIT:
            stops = lists.get(language, frozenset())
            share = sum(word in stops for word in words) / max(len(words), 1)
            best = max(best, fit + share - (_MIXED if language == "en" else 0.0))
    return best


def _list_signs(text: str) -> list[str]:
    """Return the letters beyond ASCII, and what stands for them in a wrong encoding."""
    places = (match.start() for match in _FOREIGN.finditer(text))
    return [text[at] for at in places if not _is_common(text, at)]


def _is_common(text: str, at: int) -> bool:
    """Return whether a sign is punctuation of any language, which is not inside of a word."""
    sign = text[at]
    if sign not in _COMMON:
        return False
    inside = text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()
    return not inside or sign in _MARKS_IN_WORDS
