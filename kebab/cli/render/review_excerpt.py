"""Draws the words that an item is about in their lines, and its fix as a difference."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kebab.app.review_lines import LocatedItem
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.width import clean, measure_width, truncate
from kebab.wire.review import ItemFix, SeverityName

_ELLIPSIS = "…"
_INDENT = "    "
_TAB = 4
_NARROWEST = 20
_MOST_LINES = 4
_OLD, _NEW, _SAME = "-", "+", "│"

PAINTS: Mapping[SeverityName, Callable[[Canvas, str], str]] = {
    "error": Canvas.error,
    "warning": Canvas.warning,
    "suggestion": Canvas.location,
}
"""The style of each severity."""


class _Line(NamedTuple):
    """A line as it is shown; the words are [first, last)."""

    text: str
    first: int
    last: int


def render_excerpt(located: LocatedItem, canvas: Canvas) -> Iterator[str]:
    """Yield the lines of an item with its words underlined; a fix shows what changes."""
    old = _list_lines(located)
    if not old:
        return
    fix = located.item.fix
    new = _list_fixed_lines(located, fix) if isinstance(fix, ItemFix) else []
    number = located.start.line
    gutter = len(str(number + len(old) - 1))
    room = max(_NARROWEST, (canvas.width or 0) - len(_INDENT) - gutter - 3)
    drawer = _Drawer(canvas, gutter, room, located.item.s)
    is_insertion = located.start == located.end
    sign = _OLD if isinstance(fix, ItemFix) else _SAME
    yield from drawer.draw(old, number, sign, marks=not (new and is_insertion))
    yield from drawer.draw(new, number, _NEW, marks=is_insertion)


class _Drawer(NamedTuple):
    """Draws lines behind their numbers, with a sign between both."""

    canvas: Canvas
    gutter: int
    room: int
    severity: SeverityName

    def draw(self, lines: Sequence[_Line], number: int, sign: str, *, marks: bool) -> Iterator[str]:
        """Yield lines, with `marks` below their words; the middle of many lines is omitted."""
        for index, line in enumerate(lines):
            if _MOST_LINES - 1 <= index < len(lines) - 1:
                if index == _MOST_LINES - 1:
                    yield self._begin("", sign) + self.canvas.dim(_ELLIPSIS)
                continue
            shown = _cut(line, self.room)
            yield self._begin(str(number + index), sign) + self._paint(shown, sign)
            if marks and line.text:
                yield self._begin("", sign if sign == _SAME else " ") + self._underline(shown)

    def _begin(self, label: str, sign: str) -> str:
        colors = {_OLD: "red", _NEW: "green"}
        painted = self.canvas.paint(sign, fg=colors.get(sign), dim=sign == _SAME)
        return f"{_INDENT}{self.canvas.dim(f'{label:>{self.gutter}}')} {painted} "

    def _paint(self, line: _Line, sign: str) -> str:
        color = {_OLD: "red", _NEW: "green"}.get(sign)
        words = self.canvas.paint(line.text[line.first : line.last], fg=color, bold=True)
        return f"{line.text[: line.first]}{words}{line.text[line.last :]}"

    def _underline(self, line: _Line) -> str:
        blank = " " * measure_width(line.text[: line.first])
        marks = "^" * max(1, measure_width(line.text[line.first : line.last]))
        return blank + PAINTS[self.severity](self.canvas, marks)


def _list_lines(located: LocatedItem) -> list[_Line]:
    """Return the lines of an item; one that only its last line end reaches is omitted."""
    lines = located.lines
    if len(lines) > 1 and located.end.column == 1:
        lines = lines[:-1]
    first, last = located.start.column - 1, located.end.column - 1
    found = []
    for index, line in enumerate(lines):
        is_last = index == len(located.lines) - 1
        begin = 0 if index else first
        begin = max(begin, len(line) - len(line.lstrip())) if index else begin
        found.append(_show(line, begin, last if is_last else len(line)))
    return found


def _list_fixed_lines(located: LocatedItem, fix: ItemFix) -> list[_Line]:
    """Return the lines of an item after its fix; none when the fix removes them."""
    before = located.lines[0][: located.start.column - 1]
    after = located.lines[-1][located.end.column - 1 :]
    text = fix.text.replace("\r\n", "\n").replace("\r", "\n")
    if not (before or after or text):
        return []
    changed = f"{before}{text}{after}".split("\n")
    final = len(changed) - 1
    return [
        _show(line, 0 if index else len(before), len(line) - (len(after) if index == final else 0))
        for index, line in enumerate(changed)
    ]


def _show(line: str, first: int, last: int) -> _Line:
    """Return a line without tabs and control characters."""
    parts, cells, offsets = [], 0, [0]
    for character in line:
        part = " " * (_TAB - cells % _TAB) if character == "\t" else clean(character)
        cells += measure_width(part)
        parts.append(part)
        offsets.append(offsets[-1] + len(part))
    return _Line("".join(parts), offsets[first], offsets[max(first, last)])


def _cut(line: _Line, room: int) -> _Line:
    """Return a line of at most `room` cells around its words; ellipses replace what is cut."""
    text, first, last = line
    if measure_width(text) <= room:
        return line
    lead, start = "", 0
    if measure_width(text[:last]) >= room:
        start = first
        while start and measure_width(text[start - 1 : first]) <= room // 3:
            start -= 1
        lead = _ELLIPSIS if start else ""
    shift = len(lead) - start
    text = lead + truncate(text[start:], room - len(lead))
    return _Line(text, first + shift, min(last + shift, len(text)))
