"""Labelled values, one below the other."""

from collections.abc import Iterable, Iterator

from kebab.cli.render.canvas import Canvas


def labelled(pairs: Iterable[tuple[str, str]], canvas: Canvas, indent: str = "") -> Iterator[str]:
    """Yield one line per pair with the values in one column; empty values are left out."""
    kept = [(label, value) for label, value in pairs if value]
    width = max((len(label) for label, _ in kept), default=0)
    for label, value in kept:
        yield f"{indent}{canvas.faint(f'{label:<{width}}')}  {value}"


def sized(count: int) -> str:
    """Return a number of bytes as a person reads it."""
    size, units = float(count), ["kB", "MB", "GB", "TB"]
    if size < 1000:  # noqa: PLR2004 - below the first unit
        return f"{count} B"
    unit = ""
    while size >= 1000 and units:  # noqa: PLR2004 - from one unit to the next
        size, unit = size / 1000, units.pop(0)
    return f"{size:.1f} {unit}"


def plural(count: int, one: str) -> str:
    """Return a count with its noun."""
    return f"{count} {one}" if count == 1 else f"{count} {one}s"
