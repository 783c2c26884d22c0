"""Graphemes: where a text may be cut without parting what a reader sees as one sign."""

_VIRAMA = 9
"""The combining class of signs that join two consonants of an Indic script."""


def whole(text: str, place: int) -> int:
    """Return the last place up to `place` that does not part a grapheme."""
    while 0 < place < len(text) and _joined(text, place):
        place -= 1
    return place


def _joined(text: str, place: int) -> bool:
    """Return whether the characters around a place belong together."""
    before, after = text[place - 1], text[place]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return _extends(after) or _holds(before, after) or _is_flag(text, place)


def _extends(after: str) -> bool:
    """Return whether a character only goes with the one before: marks, joiners, later jamo."""
    import unicodedata

    return (
        unicodedata.category(after).startswith("M")
        or after == "\u200d"
        or "\u1160" <= after <= "\u11ff"
        or "\ud7b0" <= after <= "\ud7fb"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
    )


def _holds(before: str, after: str) -> bool:
    """Return whether a character holds on to the one that follows."""
    import unicodedata

    joins = unicodedata.combining(before) == _VIRAMA and unicodedata.category(after) == "Lo"
    return before == "\u200d" or joins


def _is_flag(text: str, place: int) -> bool:
    """Return whether a place parts two regional indicators that make a flag."""
    start = place
    while start > 0 and _regional(text[start - 1]):
        start -= 1
    return _regional(text[place]) and (place - start) % 2 == 1


def _regional(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"
