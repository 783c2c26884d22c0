"""Reads the text of an argument, or of stdin when the argument is `-`."""

import sys

_STDIN = ("-",)


def read_argument(words: tuple[str, ...], limit: int) -> str:
    """Return the words of an argument as one text; `-` alone stands for the text on stdin.

    At most one byte more than `limit` is read, so that a longer text can be refused.
    """
    if words != _STDIN:
        return " ".join(words)
    raw = sys.stdin.buffer.read(limit + 1) if sys.stdin else b""
    return raw.decode("utf-8-sig", "surrogateescape").strip()
