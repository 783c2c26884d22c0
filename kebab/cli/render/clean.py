"""Making text from files and names safe to print: nothing in it can steer the terminal.

Every code point is replaced by exactly one, so offsets into the text stay true.
"""

import re

_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
_DANGERS = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_BLANK = dict.fromkeys(map(ord, _BLANKS), " ")


def clean(text: str) -> str:
    """Return text for one line: blanks are spaces, what could steer a terminal is `U+FFFD`."""
    return _DANGERS.sub("\ufffd", text.translate(_BLANK))


def clean_lines(text: str) -> str:
    """Return text whose lines and tabs stay, and nothing else that could steer a terminal."""
    return "\n".join(
        "\t".join(clean(cell) for cell in line.split("\t")) for line in text.split("\n")
    )
