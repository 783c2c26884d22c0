"""Every declared row, by its code."""

from kebab.errors import catalog as declared
from kebab.errors.signal import Signal


def build_catalog() -> dict[str, type[Signal]]:
    """Return the rows of the catalogue in order of declaration."""
    rows = [row for row in vars(declared).values() if isinstance(row, type)]
    return {row.meaning.code: row for row in rows if issubclass(row, Signal) and row is not Signal}
