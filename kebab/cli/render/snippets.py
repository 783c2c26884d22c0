"""A stretch of a person's text on a canvas, with its matches marked."""

from collections.abc import Iterator, Sequence

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.measure import wrapped

INDENT = "    "
_NARROWEST = 20


def marked_lines(
    snippet: str, highlights: Sequence[tuple[int, int]], canvas: Canvas, indent: str = INDENT
) -> Iterator[str]:
    """Yield the lines of a snippet, broken to the canvas's width."""
    text = clean(snippet)
    marked = {place for start, end in highlights for place in range(start, end)}
    marks = [place in marked for place in range(len(text))]
    text, marks = _squeezed(text, marks)
    room = max(_NARROWEST, canvas.width - len(indent)) if canvas.width else None
    for start, end in wrapped(text, room) if room else [(0, len(text))]:
        yield indent + _marked(text[start:end], marks[start:end], canvas)


def _squeezed(text: str, marks: list[bool]) -> tuple[str, list[bool]]:
    """Return text and marks with each run of blanks as one space, and none at the ends."""
    kept = [
        place
        for place, character in enumerate(text)
        if character != " " or (place + 1 < len(text) and text[place + 1] != " ")
    ]
    if kept and text[kept[0]] == " ":
        kept = kept[1:]
    return "".join(text[place] for place in kept), [marks[place] for place in kept]


def _marked(text: str, marks: list[bool], canvas: Canvas) -> str:
    if not canvas.color:
        return text
    parts, start = [], 0
    for end in range(1, len(text) + 1):
        if end == len(text) or marks[end] != marks[start]:
            piece = text[start:end]
            parts.append(canvas.match(piece) if marks[start] else piece)
            start = end
    return "".join(parts)
