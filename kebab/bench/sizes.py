"""Sizes of a corpus as people write them: `1k`, `100k`, `1m`."""

import re

_SIZE = re.compile(r"(\d+)([km]?)", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def parse_sizes(text: str) -> tuple[int, ...]:
    """Return different sizes, smallest first.

    Raises:
        ValueError: The text is not a list of sizes of at least 10.
    """
    found = sorted({_size(part.strip()) for part in text.split(",")})
    if found[0] < 10:  # noqa: PLR2004 - below it there is nothing to ask for
        raise ValueError(text)
    return tuple(found)


def short_size(chunks: int) -> str:
    """Return a size as people write it."""
    for unit, worth in (("m", 1_000_000), ("k", 1_000)):
        if chunks >= worth:
            return f"{chunks / worth:.3g}{unit}"
    return str(chunks)


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return int(found[1]) * _UNITS[found[2].lower()]
