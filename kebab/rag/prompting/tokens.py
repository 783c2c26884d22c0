"""What a text costs in tokens of a language model, estimated from above.

Ollama has no tokenizer to ask. The figures come from the tokenizers of Qwen and of Mistral (Tekken)
on prose in twenty languages, code, JSON, tables and logs. Against the larger of the two the
estimate is up to a half above for European and East Asian languages and for code, up to 2.7 times
where the two differ widely (Arabic, Thai, Vietnamese), and a sixth below for base64 at worst.
Other ends have other estimates: `chunk.estimate` bounds an embedder's WordPieces, and
`search.budget` what hits cost as JSON.
"""

import re
from collections import Counter

_WORD = re.compile(r"[A-Z]?[a-z]+")
_SHORT_WORD = 1.1
_SHORT = 5
_LETTER = 0.25
"""What each further letter of a word costs."""
_LONG = 10
_LONG_LETTER = 0.2
"""What the letters of long words cost more: they are compounds, or no words."""

_WEIGHTS = (
    (0.8, re.compile(r"[A-Z](?![a-z])")),
    (1.0, re.compile(r"[0-9]")),
    (0.85, re.compile(r"[\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]")),
    (1.0, re.compile(r"\n+|[ \t\r\v\f]{2,}|[ \t](?=[0-9])")),
)
_ABROAD = (
    (1.0, re.compile("[\u00a0-\u036f\u2010-\u2027\u3000-\u303f\uff00-\uffef]")),
    (0.6, re.compile("[\u0400-\u052f\u1e00-\u1eff]")),
    (0.8, re.compile("[\u0590-\u06ff]")),
    (1.2, re.compile("[\u0370-\u03ff\u0900-\u097f\u0e00-\u0e7f\uac00-\ud7a3]")),
    (0.9, re.compile("[\u3040-\u30ff]")),
    (1.4, re.compile("[\u3400-\u9fff]")),
)
_OTHER = 2.5
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
"""Emoji and rare characters cost twice as much as other unknown ones."""


def text_tokens(text: str) -> int:
    """Return how many tokens a text costs, rather too many than too few."""
    lengths = Counter(map(len, _WORD.findall(text)))
    cost = sum(times * _word(length) for length, times in lengths.items())
    cost += sum(weight * len(pattern.findall(text)) for weight, pattern in _WEIGHTS)
    return int(cost + (0 if text.isascii() else _abroad(text)) + 0.999)


def _word(length: int) -> float:
    """Return what a word of ASCII letters costs."""
    return _SHORT_WORD + _LETTER * max(0, length - _SHORT) + _LONG_LETTER * max(0, length - _LONG)


def _abroad(text: str) -> float:
    """Return what the characters beyond ASCII cost."""
    counts = [(weight, len(pattern.findall(text))) for weight, pattern in _ABROAD]
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    other = beyond - sum(count for _, count in counts) + len(_ASTRAL.findall(text))
    return sum(weight * count for weight, count in counts) + _OTHER * other
