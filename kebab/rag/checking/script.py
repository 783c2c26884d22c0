"""Scripts: whether the words of two texts can be compared at all."""

import re
from dataclasses import dataclass

from kebab.parse.language import guess_text

_SCRIPTS = {
    "hangul": re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]"),
    "han": re.compile("[\u3041-\u30ff\u3400-\u9fff]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "thai": re.compile("[\u0e01-\u0e4e]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
    "greek": re.compile("[\u0370-\u03ff]"),
    "hebrew": re.compile("[\u05d0-\u05ea]"),
    "latin": re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"),
}
_DENSITY = 3
"""A sign of Hangul or Han says as much as some letters, and names in their text are Latin."""

_SAMPLE = 4_000


@dataclass(frozen=True, slots=True)
class Script:
    """The script of most of a text and its language, None where it has none or is not sure."""

    name: str | None
    language: str | None


def script(text: str) -> Script:
    """Return the script and the language of a text, by its beginning."""
    sample = text[:_SAMPLE]
    weights = {
        name: len(letters.findall(sample)) * (_DENSITY if name in {"hangul", "han"} else 1)
        for name, letters in _SCRIPTS.items()
    }
    best = max(weights, key=lambda name: weights[name])
    return Script(best if weights[best] else None, guess_text(sample))


def comparable(one: Script, other: Script) -> bool:
    """Return whether two texts may share words: one script and, as far as is sure, one language."""
    if one.name is None or other.name is None:
        return True
    known = one.language is not None and other.language is not None
    return one.name == other.name and not (known and one.language != other.language)
