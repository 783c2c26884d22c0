"""A light guess at the language of a text: by script, and for Latin letters by stop words.

The guess feeds a filter, so it is better None than wrong.
"""

import re
from collections.abc import Iterable
from functools import cache

from kebab.core.document import Block, BlockKind

_SAMPLE = 4_000
_PROSE = frozenset({BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE})
_NOISE = re.compile(r"https?://\S+|`[^`\n]*`|<[^<>\n]*>|\{\{[^{}\n]*\}\}")
_WORD = re.compile(r"[^\W\d_]+")
_ASCII_WORD = re.compile("[A-Za-z]+")
_ASCII_LETTER = re.compile("[A-Za-z]")

_SCRIPTS = (
    ("kana", "[\u3041-\u30ff]"),
    ("ko", "[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]"),
    ("han", "[\u3400-\u9fff]"),
    ("cyrillic", "[\u0400-\u04ff]"),
    ("arabic", "[\u0600-\u06ff]"),
    ("th", "[\u0e01-\u0e4e]"),
    ("hi", "[\u0900-\u097f]"),
    ("el", "[\u0370-\u03ff]"),
    ("he", "[\u05d0-\u05ea]"),
    ("latin", "[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"),
)
_UKRAINIAN = "[\u0404\u0406\u0407\u0454\u0456\u0457\u0490\u0491]"
_PERSIAN = "[\u067e\u0686\u0698\u06a9\u06af\u06cc]"

# A letter of these scripts says about as much as three Latin ones, and technical prose in them is
# full of Latin names.
_DENSE = frozenset({"kana", "ko", "han"})
_DENSITY = 3
_KANA_SHARE = 0.1

_STOP_WORDS = {
    "en": "the of and to in is that for it with as was on be by this are from or an not you which",
    "de": "der die und das ist nicht mit den von zu ein eine auf sich dem des im wird auch als",
    "fr": "le la les des et est une dans pour que qui pas sur avec au du ce il sont plus cette",
    "es": "el la los las de que y en un una por con para es se del al como lo más pero su",
    "it": "il di che la e per un una è con non sono del della i le si da come nel anche gli",
    "pt": "o que e do da em um uma para com não os no se na por mais as dos como mas foi ao",
    "nl": "de het een van en is dat niet op te met voor zijn aan er om ook als door maar bij",
    "sv": "och att det som en på är av för med den till inte om ett har jag var men sig",
    "da": "og at det er en på af for med den til ikke der har som et jeg var men sig",
    "pl": "i w nie na się z do to jest że o jak za od po dla ale są przez oraz",
    "tr": "ve bir bu için ile da de çok ne olarak daha gibi var olan kadar ya ama en",
    "vi": "và của là có trong cho không được các một với những đã này người để khi từ",
}
_LANGS_OF: dict[str, list[str]] = {}
for _lang, _words in _STOP_WORDS.items():
    for _word in _words.split():
        _LANGS_OF.setdefault(_word, []).append(_lang)
_is_stop_word = _LANGS_OF.__contains__
_ENOUGH_SCORE = 2.0
_ENOUGH_SHARE = 0.06
_CLEAR_LEAD = 1.3


def guess(text: str, blocks: Iterable[Block]) -> str | None:
    """Return the ISO 639 code of most of a document's prose, or None when unsure."""
    return guess_text(_NOISE.sub(" ", _prose(text, blocks)))


def guess_text(sample: str) -> str | None:
    """Return the ISO 639 code of a short text, or None when unsure."""
    if sample.isascii():
        return _latin(sample) if _ASCII_LETTER.search(sample) else None
    counts = {name: len(pattern.findall(sample)) for name, pattern in _scripts().items()}
    weights = {name: n * (_DENSITY if name in _DENSE else 1) for name, n in counts.items()}
    eastern = counts["kana"] + counts["han"]
    weights["kana"] = weights["han"] = _DENSITY * eastern
    script = max(weights, key=lambda name: weights[name])
    if not weights[script]:
        return None
    if script in {"kana", "han"}:
        return "ja" if counts["kana"] >= _KANA_SHARE * eastern else "zh"
    if script == "latin":
        return _latin(sample)
    return _by_letter(script, sample)


@cache
def _scripts() -> dict[str, re.Pattern[str]]:
    """Return what finds the letters of each script; most commands never need it."""
    return {name: re.compile(letters) for name, letters in _SCRIPTS}


def _prose(text: str, blocks: Iterable[Block]) -> str:
    """Return the first characters that people wrote for people."""
    parts: list[str] = []
    size = 0
    for block in blocks:
        if block.kind in _PROSE:
            parts.append(text[block.start : min(block.end, block.start + _SAMPLE)])
            size += len(parts[-1])
            if size >= _SAMPLE:
                break
    return "\n".join(parts)[:_SAMPLE]


def _by_letter(script: str, sample: str) -> str:
    """Return the language of a script that letters of their own tell apart."""
    if script == "cyrillic":
        return "uk" if re.search(_UKRAINIAN, sample) else "ru"
    if script == "arabic":
        return "fa" if re.search(_PERSIAN, sample) else "ar"
    return script


def _latin(sample: str) -> str | None:
    """Return the language whose stop words clearly lead."""
    words = (_ASCII_WORD if sample.isascii() else _WORD).findall(sample.lower())
    scores = dict.fromkeys(_STOP_WORDS, 0.0)
    for word in filter(_is_stop_word, words):
        langs = _LANGS_OF[word]
        for lang in langs:
            scores[lang] += 1 / len(langs)
    first, second = sorted(scores, key=lambda lang: -scores[lang])[:2]
    best = scores[first]
    clear = best >= _CLEAR_LEAD * scores[second]
    return first if clear and best >= max(_ENOUGH_SCORE, _ENOUGH_SHARE * len(words)) else None
