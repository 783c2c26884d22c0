"""Caveats: the codes of what a reader of a checked answer is warned of."""

from enum import StrEnum


class Caveat(StrEnum):
    """What is odd about a part of an answer."""

    UNKNOWN_MARKER = "unknown_marker"
    """A marker names no passage; it was taken out."""
    WRONG_MARKER = "wrong_marker"
    """A claim is carried by another passage that it cites, not by this one; it was taken out."""
    UNSUPPORTED_CLAIM = "unsupported_claim"
    """The passages that a claim cites do not carry it."""
    UNCITED_CLAIM = "uncited_claim"
    """A claim cites nothing, and no passage carries it."""
    NO_CLAIM = "no_claim"
    """The answer claims nothing, as a heading or a question does; nothing can be checked."""
