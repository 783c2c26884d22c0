"""Draws the output of a terminal as an SVG picture."""

import re
from collections.abc import Iterable, Iterator
from html import escape

from kebab.cli.render.canvas import measure_width

_COLUMNS = 80
_CELL, _LINE, _MARGIN = 8.4, 18, 16
_CODES = {"1": "bold", "2": "dim", "3": "italic"}
_NAMES = ("red", "green", "yellow", "blue", "magenta", "cyan")
_COLORS = {f"{shade}{digit}": name for shade in "39" for digit, name in enumerate(_NAMES, 1)}
"""The normal and the bright colours."""
_STYLE = """\
text{font:14px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre}
text{fill:#d8dee9}.bold{font-weight:bold}.dim{fill:#8a93a3}.italic{font-style:italic}.red{fill:#ff7b72}
.green{fill:#7ee787}.yellow{fill:#e3b341}.blue{fill:#79c0ff}.magenta{fill:#d2a8ff}.cyan{fill:#76e3ea}"""
_ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


def draw_terminal(command: str, lines: Iterable[str]) -> str:
    """Return an SVG picture of a command and its coloured output."""
    rows = [f"\x1b[32m$\x1b[0m {command}", "", *lines]
    columns = max(_COLUMNS, *(measure_width(_ESCAPE.sub("", row)) for row in rows))
    width = round(columns * _CELL + 2 * _MARGIN)
    height = len(rows) * _LINE + 2 * _MARGIN
    body = "\n".join(
        text
        for number, row in enumerate(rows)
        if (text := _draw_line(row, _MARGIN + (number + 1) * _LINE - 5))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}">\n<style>{_STYLE}</style>\n'
        f'<rect width="100%" height="100%" rx="8" fill="#161b22"/>\n{body}\n</svg>\n'
    )


def _draw_line(row: str, y: int) -> str:
    """Return one line as text whose parts begin at their columns."""
    parts, column = [], 0
    for style, text in split_styles(row):
        if text.strip():
            shown = text.lstrip(" ")
            x = _MARGIN + (column + len(text) - len(shown)) * _CELL
            name = f' class="{style}"' if style else ""
            parts.append(f'<tspan x="{x:.1f}"{name}>{escape(shown.rstrip())}</tspan>')
        column += measure_width(text)
    return f'<text y="{y}">{"".join(parts)}</text>' if parts else ""


def split_styles(row: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a coloured line, each with the names of its styles."""
    active: list[str] = []
    pieces = _ESCAPE.split(row)
    yield "", pieces[0]
    for codes, text in zip(pieces[1::2], pieces[2::2], strict=True):
        for code in codes.split(";"):
            name = _CODES.get(code) or _COLORS.get(code)
            active = [*active, name] if name else []
        yield " ".join(active), text
