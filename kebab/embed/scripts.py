"""Tells whether a text is written in a script that a model knows."""

import re

_LETTER = re.compile(r"[^\W\d_]")
_LETTERS_OF = {
    "latin": re.compile(
        "[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
        "\u2c60-\u2c7f\ua722-\ua7ff\uff21-\uff3a\uff41-\uff5a]"
    ),
}
_ENOUGH = 0.5


def known(text: str, scripts: frozenset[str] | None) -> bool:
    """Return whether at least half of the letters belong to these scripts; None means all.

    A text without letters is known to every model: digits and signs are everyone's.
    """
    if scripts is None or (text.isascii() and "latin" in scripts):
        return True
    letters = len(_LETTER.findall(text))
    ours = sum(len(_LETTERS_OF[script].findall(text)) for script in scripts)
    return ours >= letters * _ENOUGH
