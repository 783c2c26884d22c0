"""Grapheme borders: where a text may be cut without splitting a character that a reader sees."""

_VIRAMA = 9
"""The combining class of signs that join two consonants of an Indic script."""


def snap_to_grapheme(text: str, place: int) -> int:
    """Return the last place up to `place` that does not split a grapheme."""
    while 0 < place < len(text) and _splits(text, place):
        place -= 1
    return place


def _splits(text: str, place: int) -> bool:
    """Return whether the characters around a place belong to one grapheme."""
    before, after = text[place - 1], text[place]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return _extends(after) or _joins_next(before, after) or _splits_flag(text, place)


def _extends(after: str) -> bool:
    """Return whether a character extends the one before it: marks, joiners, later jamo."""
    import unicodedata

    return (
        unicodedata.category(after).startswith("M")
        or after == "\u200d"
        or "\u1160" <= after <= "\u11ff"
        or "\ud7b0" <= after <= "\ud7fb"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
    )


def _joins_next(before: str, after: str) -> bool:
    """Return whether a character joins the one that follows it."""
    import unicodedata

    joins = unicodedata.combining(before) == _VIRAMA and unicodedata.category(after) == "Lo"
    return before == "\u200d" or joins


def _splits_flag(text: str, place: int) -> bool:
    """Return whether a place splits two regional indicators that make a flag."""
    start = place
    while start > 0 and _is_regional(text[start - 1]):
        start -= 1
    return _is_regional(text[place]) and (place - start) % 2 == 1


def _is_regional(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"
