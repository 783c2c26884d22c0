"""Columns of whole tables as arrays.

A row that becomes Python objects costs several times what reading it costs. Numbers are therefore
joined to one text inside SQLite and parsed from it at once.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import apsw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.int64]

_LAST_OF_VARINT = 0x80
"""Bytes of a variable-length number that are below it end the number."""


def numbers(database: apsw.Connection, sql: str, values: Sequence[str] = ()) -> "list[Numbers]":
    """Return the columns of integers that a query joins with `group_concat`."""
    row = database.execute(sql, values).fetchone() or ()
    return [_parsed(text) for text in row]


def places(keys: "Numbers", wanted: Collection[int]) -> "tuple[Numbers, Numbers]":
    """Return those of the wanted keys that rising keys hold, and their places among them."""
    import numpy as np

    asked = np.fromiter(wanted, np.int64, len(wanted))
    at = np.searchsorted(keys, asked)
    inside = at < len(keys)
    at, asked = at[inside], asked[inside]
    there = keys[at] == asked
    return asked[there], at[there]


def _parsed(text: str | None) -> "Numbers":
    import numpy as np

    return np.fromstring(text, np.int64, sep=",") if text else np.empty(0, np.int64)


def varint_sums(blobs: Iterable[bytes]) -> "Numbers":
    """Return, for each blob of SQLite's variable-length integers, the sum of what it holds.

    Such an integer is written in groups of seven bits, the highest first; all bytes but the last
    have their high bit set (SQLite file format, section 1.6). No blob may be empty.
    """
    import numpy as np

    rows = list(blobs)
    if not rows:
        return np.empty(0, np.int64)
    raw = np.frombuffer(b"".join(rows), np.uint8)
    ends = np.flatnonzero(raw < _LAST_OF_VARINT)
    places = np.arange(len(raw))
    behind = ends[np.searchsorted(ends, places)] - places
    worth = (raw & (_LAST_OF_VARINT - 1)).astype(np.int64) << (7 * behind)
    starts = np.cumsum([0, *map(len, rows[:-1])])
    sums: Numbers = np.add.reduceat(worth, starts)
    return sums
