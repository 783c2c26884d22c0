"""Words that nobody wrote, for questions that nothing answers."""

import re

from kebab.evals.lots import lot

_SYLLABLES = re.findall(
    r"\w+",
    "bra ce di fo gu ka lem mor ni pla qui ra sto tu vex wi xor yan zel trop nim dag fel hov",
)
_RARE = {"ko": (0xAC00, 11_172), "ja": (0x30A1, 80), "zh": (0x4E00, 20_900)}
"""By language, where its letters begin and how many there are."""


def word(language: str | None, seed: int, number: int) -> str:
    """Return a word that looks like one of a language; the same lots give the same word."""
    letters = range(4)
    if language in _RARE:
        start, count = _RARE[language]
        return "".join(chr(start + lot(seed, number, at) % count) for at in letters)
    return "".join(_SYLLABLES[lot(seed, number, at) % len(_SYLLABLES)] for at in letters)
