"""Measures how much of a text is written in which language."""

import re
from collections import Counter

from kebab.text.language import detect_language

_PIECE = 800
"""The letters of a piece: enough stop words to tell a language, and few enough to see two."""

_NOISE = re.compile(
    r"^(?P<fence>```+|~~~+).*?(?:^(?P=fence)|\Z)|https?://\S+|`[^`\n]*`|<[^<>\n]*>",
    re.MULTILINE | re.DOTALL,
)


def measure_languages(text: str) -> Counter[str]:
    """Return the bytes of text by ISO 639 code, under an empty string where it is unsure.

    Code, addresses and markup do not count.
    """
    found: Counter[str] = Counter()
    prose = _NOISE.sub(" ", text)
    for start in range(0, len(prose), _PIECE):
        piece = prose[start : start + _PIECE]
        if any(map(str.isalpha, piece)):
            found[detect_language(piece) or ""] += len(piece.encode("utf-8", "replace"))
    return found
