"""Defines the canvas of text output: width, colour, links, labelled values, styled text and tables.

Names of formats and placeholders of links are those of ripgrep's `--hyperlink-format`.
"""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partialmethod
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import click
from msgspec import Struct, field
from msgspec.structs import replace

from kebab.cli.channels import OutputChannel
from kebab.cli.options import ColorChoice
from kebab.core.files import find_container
from kebab.errors.hints import limit_hint
from kebab.platform import get_host_name

_ELLIPSIS = "…"
_CLOSING = frozenset("、。，．！？：；）］｝」』】〉》〕ー～…")
"""Wide characters that never begin a line."""


def measure_width(text: str) -> int:
    """Return the number of terminal cells of a line of text."""
    return len(text) if text.isascii() else sum(map(measure_character, text))


def measure_character(character: str) -> int:
    """Return the number of terminal cells of one code point."""
    if character < "\u0300":
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def truncate(text: str, width: int) -> str:
    """Return text of at most `width` cells; an ellipsis replaces a cut end."""
    if measure_width(text) <= width:
        return text
    return text[: _count_fitting(text, width - 1)].rstrip() + _ELLIPSIS


def truncate_left(text: str, width: int) -> str:
    """Return text of at most `width` cells; an ellipsis replaces a cut beginning.

    This is for paths, whose end is the informative part.
    """
    if measure_width(text) <= width:
        return text
    return _ELLIPSIS + text[len(text) - _count_fitting(text[::-1], width - 1) :]


def truncate_path(path: str, width: int) -> str:
    """Return a path of at most `width` cells; an ellipsis replaces folders in its middle.

    The file name stays whole if it fits, because it is the informative part.
    """
    if measure_width(path) <= width:
        return path
    folders, _, name = path.rpartition("/")
    room = width - measure_width(name) - measure_width(f"{_ELLIPSIS}/")
    if not folders or room < 0:
        if measure_width(name) <= width:
            return name
        # The beginning and the end of a long name tell most.
        last = max(0, width - 1) // 2
        tail = name[len(name) - _count_fitting(name[::-1], last) :] if last else ""
        return name[: _count_fitting(name, width - 1 - measure_width(tail))] + _ELLIPSIS + tail
    head = folders[: _count_fitting(folders, room)]
    whole = head[: head.rfind("/") + 1]
    return f"{whole or head}{_ELLIPSIS}/{name}"


def _count_fitting(text: str, width: int) -> int:
    """Return how many characters at the beginning of a text fit in `width` cells."""
    used = 0
    for position, character in enumerate(text):
        used += measure_character(character)
        if used > width:
            return position
    return len(text)


def pad(text: str, width: int) -> str:
    """Return text padded with spaces to `width` cells."""
    return text + " " * (width - measure_width(text))


def wrap_text(text: str, width: int) -> list[tuple[int, int]]:
    """Return the [start, end) of each line when text is wrapped to `width` cells.

    Lines break at spaces, and before a wide letter of a script without spaces.
    """
    lines: list[tuple[int, int]] = []
    start = used = break_at = 0
    for position, character in enumerate(text):
        if character == " " or _can_start_line(character):
            break_at = position
        used += measure_character(character)
        while used > width and position > start:
            end = break_at if break_at > start else position
            lines.append((start, end))
            start = end + (text[end] == " ")
            used = measure_width(text[start : position + 1])
            break_at = start
    lines.append((start, len(text)))
    return [(first, last) for first, last in lines if last > first]


def _can_start_line(character: str) -> bool:
    """Return whether a line may begin with a letter that no space precedes."""
    wide = measure_character(character) == 2  # noqa: PLR2004 - two cells
    return wide and not "가" <= character <= "힣" and character not in _CLOSING


_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
_CONTROLS = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_BLANK = dict.fromkeys(map(ord, _BLANKS), " ")


def clean(text: str) -> str:
    """Return text as one line: every blank is a space, and `U+FFFD` replaces control characters."""
    return _CONTROLS.sub("\ufffd", text.translate(_BLANK))


def clean_lines(text: str) -> str:
    """Return text with its lines and tabs; `U+FFFD` replaces other control characters."""
    return "\n".join(
        "\t".join(clean(cell) for cell in line.split("\t")) for line in text.split("\n")
    )


_FORMATS = {
    "none": "",
    "default": "file://{path}",
    "file": "file://{path}",
    "cursor": "cursor://file{path}:{line}:{column}",
    "kitty": "file://{path}#{line}",
    "macvim": "mvim://open?url=file://{path}&line={line}&column={column}",
    "textmate": "txmt://open?url=file://{path}&line={line}&column={column}",
    "vscode": "vscode://file{path}:{line}:{column}",
    "vscode-insiders": "vscode-insiders://file{path}:{line}:{column}",
    "vscodium": "vscodium://file{path}:{line}:{column}",
}
"""The formats by name. Only editors and kitty read a line; elsewhere it would break the link."""

_SCHEME = "file://"


def build_link(file: str | None, line: int | None, form: str, page: int | None = None) -> str:
    """Return the link to a line of a file, empty without an absolute path.

    Args:
        file: The path of the file.
        line: The line, None for the first one.
        form: The name of a format, or a text with the placeholders `{path}`, `{host}`, `{line}`
            and `{column}`.
        page: The page of a document with pages; a link to the file itself gets it.
    """
    template = _FORMATS.get(form, form)
    if file is None or not template:
        return ""
    container = find_container(file)
    if container != file:  # a program opens the file that holds the document
        file, line, page = container, None, None
    try:
        path = Path(file).as_uri().removeprefix(_SCHEME)
    except (ValueError, UnicodeEncodeError):
        return ""
    values = {"path": path, "line": str(line or 1), "column": "1"}
    if "{host}" in template:
        values["host"] = get_host_name()
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return f"{template}#page={page}" if page and template == _SCHEME + path else template


_LINK = "\x1b]8;;{uri}\x1b\\{text}\x1b]8;;\x1b\\"
_WIDEST = 100
_GAP = "  "
_LITERAL = re.compile("`[^`]*`")
NO_BREAK_SPACE = "\xa0"
_ESCAPE = "\x1b"
_MINUTE = 60
_MANY = 20


class Canvas(Struct, frozen=True):
    """A text output. Without a terminal, `width` is None and lines are never wrapped or cut."""

    width: int | None = None
    color: bool = False
    links: bool = False
    live: bool = False
    """Whether lines can change after they were written."""
    link_format: str = "default"
    height: int | None = None
    """The number of lines of the screen; None without one."""
    complete: Callable[[str], str] = str
    """Completes the commands of a hint for this call; of an empty one nothing is shown."""
    name_flag: Callable[[str], str] = str
    """Returns how the reader calls a flag; a model knows the fields of its tools only."""

    @property
    def is_terminal(self) -> bool:
        """Whether it is a terminal."""
        return self.width is not None

    def paint(
        self,
        text: str,
        *,
        fg: str | None = None,
        bold: bool = False,
        dim: bool = False,
        italic: bool = False,
    ) -> str:
        """Return text in a style if the canvas has colour."""
        if not self.color or not text or not (fg or bold or dim or italic):
            return text
        return click.style(text, fg=fg, bold=bold or None, dim=dim or None, italic=italic or None)

    strong = partialmethod(paint, bold=True)
    dim = partialmethod(paint, dim=True)
    match = partialmethod(paint, fg="yellow", bold=True)
    success = partialmethod(paint, fg="green")
    warning = partialmethod(paint, fg="yellow")
    error = partialmethod(paint, fg="red", bold=True)
    location = partialmethod(paint, fg="cyan")

    def link(
        self, text: str, file: str | None, line: int | None = None, page: int | None = None
    ) -> str:
        """Return text that opens a file on a click if the canvas has links."""
        uri = build_link(file, line, self.link_format, page) if self.links else ""
        return _LINK.format(uri=uri, text=text) if uri else text

    def fit(self, text: str, margin: int) -> str:
        """Return text cut to the width without a margin."""
        return text if self.width is None else truncate(text, self.width - margin)

    def wrap(self, text: str, indent: str = "") -> list[str]:
        """Return text as lines that fit."""
        if self.width is None:
            return [indent + text]
        spans = wrap_text(text, max(20, self.width - len(indent)))
        return [indent + text[start:end] for start, end in spans]

    def hang(self, text: str, label: str, margin: int) -> list[str]:
        """Return text as lines that fit: a label before the first, `margin` blanks before others.

        The label may be styled.
        """
        first, *rest = self.wrap(text, " " * margin) or [" " * margin]
        return [label + first[margin:], *rest]

    def wrap_with_label(self, label: str, text: str, paint: Callable[[str], str]) -> list[str]:
        """Return text as lines that fit, with a label before the first and blanks before others.

        Text in backticks is not wrapped.
        """
        glued = _LITERAL.sub(lambda match: glue(match[0]), text)
        lines = self.hang(glued, f"{paint(label)} ", len(label) + 1)
        return [line.replace(NO_BREAK_SPACE, " ") for line in lines]

    def note(self, text: str) -> list[str]:
        """Return a note as lines that fit."""
        return self.wrap_with_label("note:", text, self.warning)

    def hint(self, text: str) -> list[str]:
        """Return a hint as lines that fit; a hint that is only a command is not wrapped.

        A hint that the flags of this call make too long is left out.
        """
        text = limit_hint(self.complete(text)) or ""
        if not text:
            return []
        if "`" in text and not text.startswith("kebab "):
            return self.wrap_with_label("hint:", text, self.success)
        return [f"{self.success('hint:')} {text}"]

    def step(self, label: str, command: str) -> str:
        """Return a line that names a possible next command."""
        return self.dim(f"{label}: {self.complete(command)}")


def create_canvas(
    channel: OutputChannel, choice: ColorChoice, link_format: str = "default"
) -> Canvas:
    """Return the canvas of a channel; its links have the format of the settings."""
    terminal = channel.is_terminal and os.environ.get("TERM") != "dumb"
    return Canvas(
        width=limit_text_width(channel.columns) if channel.is_terminal else None,
        color=uses_color(choice, os.environ, is_terminal=terminal),
        links=terminal and choice != "never",
        live=terminal,
        link_format=link_format,
        height=channel.rows if terminal else None,
    )


def limit_text_width(columns: int) -> int:
    """Return the width of text on a terminal, limited because long lines are hard to read."""
    return min(columns, _WIDEST)


def uses_color(choice: ColorChoice, environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Return whether to use colour: the flag decides, then `NO_COLOR`, then `FORCE_COLOR`."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    return is_terminal or environ.get("FORCE_COLOR", "0") not in ("", "0")


def render_fields(
    pairs: Iterable[tuple[str, str]], canvas: Canvas, indent: str = ""
) -> Iterator[str]:
    """Yield one line per label and value with the values in one column; omit empty values."""
    filled = [(label, value) for label, value in pairs if value]
    width = max((len(label) for label, _ in filled), default=0)
    for label, value in filled:
        start = f"{indent}{canvas.dim(f'{label:<{width}}')}  "
        # A styled value is short, and cannot be measured.
        styled = _ESCAPE in value
        yield from [start + value] if styled else canvas.hang(value, start, len(indent) + width + 2)


class Column(NamedTuple):
    """A column of a table: its head, its style, its width (None: that of its widest cell)."""

    head: str = ""
    paint: Callable[[str], str] = str
    width: int | None = None
    right: bool = False
    cut: Callable[[str, int], str] = truncate


def render_columns(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], canvas: Canvas, indent: str = ""
) -> Iterator[str]:
    """Yield the heads, if there are any, and the rows; each cell is cut to its column.

    The last cell of a row may be longer and styled, unless its column has a width.
    """
    heads = [column.head for column in columns]
    widths = [
        max(map(measure_width, texts)) if column.width is None else column.width
        for column, texts in zip(columns, zip(heads, *rows, strict=True), strict=True)
    ]
    for row in [heads, *rows] if any(heads) else rows:
        line: list[str] = []
        for column, text, width in zip(columns, row, widths, strict=True):
            cell = text if column.width is None else column.cut(text, width)
            if column.right:
                cell = " " * (width - measure_width(cell)) + cell
            elif len(line) < len(columns) - 1:
                cell = pad(cell, width)
            line.append(cell if row is heads else column.paint(cell))
        shown = _GAP.join(line).rstrip()
        yield indent + (canvas.dim(shown) if row is heads else shown)


def format_bytes(count: int) -> str:
    """Return a number of bytes in a readable unit."""
    size, units = float(count), ["kB", "MB", "GB", "TB"]
    if size < 1000:  # noqa: PLR2004 - below the first unit
        return f"{count} B"
    unit = ""
    while size >= 1000 and units:  # noqa: PLR2004 - from one unit to the next
        size, unit = size / 1000, units.pop(0)
    return f"{size:.1f} {unit}"


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def format_duration(seconds: float) -> str:
    """Return a duration in readable units: `38 ms`, `1.2 s`, `3 min 20 s`, `1 h 5 min`."""
    if seconds < 0.1:  # noqa: PLR2004 - shorter than the first digit of seconds
        return f"{seconds * 1000:.0f} ms"
    if round(seconds, 1) < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    if minutes < _MINUTE:
        return f"{minutes} min {rest} s"
    return f"{minutes // _MINUTE} h {minutes % _MINUTE} min"


def format_rate(amount: float, unit: str | None) -> str:
    """Return an amount per second in its unit; few of them have a decimal."""
    if unit == "bytes":
        return f"{format_bytes(int(amount))}/s"
    figure = f"{amount:.1f}" if amount < _MANY else f"{amount:,.0f}"
    return f"{figure} {unit}/s" if unit else f"{figure}/s"


def format_tabs(*fields: str) -> str:
    """Return fields as one line with tabs between them, for a pipe."""
    return "\t".join(map(clean, fields))


def format_minute(timestamp: str) -> str:
    """Return the date and the minute of a timestamp."""
    return clean(timestamp[: len("2025-01-31T12:00")]).replace("T", " ")


def glue(text: str) -> str:
    """Return text that is not wrapped; its spaces are no-break spaces."""
    return text.replace(" ", NO_BREAK_SPACE)


def format_number(value: float) -> str:
    """Return a number with three significant digits."""
    if value >= 100:  # noqa: PLR2004 - three digits before the point
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}" if value < 1 else f"{value:.2f}"  # noqa: PLR2004 - three digits in total as make three


MATCH_START, MATCH_END = "\ufdd0", "\ufdd1"
"""Surround a match of the query in a text; Unicode gives these two no other meaning."""

_LINE = "\n"
_MATCH_SIGNS = re.compile(f"([{MATCH_START}{MATCH_END}])")

_MARKERS = re.compile(r"\[\d{1,3}\]|\[unsupported\]")
_BEFORE_A_MARKER = re.compile(r" (?=\[(?:\d{1,3}|unsupported)\])")


class Style(Struct, frozen=True):
    """The style of a letter; `literal` text is code and contains no citation markers."""

    fg: str | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    literal: bool = False


PLAIN = Style()
MATCH_COLOR = "yellow"
_CITED = Style(fg="cyan")
_UNSUPPORTED = Style(fg="yellow")


class StyledText(Struct):
    """Text with a style for each letter; it contains no control characters but line ends."""

    text: str = ""
    styles: list[Style] = field(default_factory=list)
    in_match: bool = False

    def add(self, text: str, style: Style = PLAIN) -> None:
        """Append text of one style; matches of the query in it are emphasised."""
        for part in _MATCH_SIGNS.split(clean(text)):
            if part in (MATCH_START, MATCH_END):
                self.in_match = part == MATCH_START
            elif part:
                look = replace(style, fg=MATCH_COLOR, bold=True) if self.in_match else style
                self.text += part
                self.styles += [look] * len(part)

    def join(self, other: "StyledText") -> None:
        """Append other text with its styles."""
        self.text += other.text
        self.styles += other.styles

    def end_line(self) -> None:
        """Begin a new line."""
        self.text += _LINE
        self.styles.append(PLAIN)

    def lines(self, width: int, canvas: Canvas) -> Iterator[str]:
        """Yield the text as painted lines of at most `width` cells, with coloured markers."""
        styles = list(self.styles)
        for match in _MARKERS.finditer(self.text):
            first, last = match.span()
            if not styles[first].literal:
                cited = match[0][1].isdecimal()
                styles[first:last] = [_CITED if cited else _UNSUPPORTED] * (last - first)
        # A marker stays on the line of the word before it.
        glued = _BEFORE_A_MARKER.sub(NO_BREAK_SPACE, self.text)
        start = 0
        for line in glued.split(_LINE):
            for first, last in wrap_text(line, width):
                yield self._paint(start + first, start + last, styles, canvas)
            start += len(line) + 1

    def fold(self, width: int, canvas: Canvas) -> Iterator[str]:
        """Yield one line of code in painted parts of `width` cells.

        A part ends after a space if one is in its second half; otherwise a word is split.
        """
        start = used = space = 0
        for position, character in enumerate(self.text):
            used += measure_character(character)
            if used > width:
                end = space if space > start + width // 2 else position
                yield self._paint(start, end, self.styles, canvas)
                start, used = end, measure_width(self.text[end : position + 1])
            if character == " ":
                space = position + 1
        yield self._paint(start, len(self.text), self.styles, canvas)

    def _paint(self, start: int, end: int, styles: list[Style], canvas: Canvas) -> str:
        return "".join(
            canvas.paint(
                self.text[first:last], fg=look.fg, bold=look.bold, dim=look.dim, italic=look.italic
            )
            for first, last in find_runs(styles, start, end)
            for look in [styles[first]]
        )


def find_runs(values: Sequence[object], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield each [first, last) between two positions in which the value stays the same."""
    first = start
    for position in range(start + 1, end + 1):
        if position == end or values[position] != values[first]:
            yield first, position
            first = position


_MIN_WIDTH = 6


class Cell(Struct, frozen=True):
    """The text of one field and its alignment."""

    content: StyledText
    right: bool = False

    @property
    def width(self) -> int:
        """The number of terminal cells of its longest line."""
        return max(map(measure_width, self.content.text.split("\n")))


def lay_out_table(rows: list[list[Cell]], width: int, canvas: Canvas) -> list[str]:
    """Return rows as lines; the first row is the head, with a rule below it unless it is empty."""
    wanted = [max(cell.width for cell in column) for column in zip(*rows, strict=True)]
    columns = compute_column_widths(wanted, width)
    head, *body = [list(_render_row(row, columns, canvas)) for row in rows]
    rule = canvas.dim(_GAP.join("─" * column for column in columns))
    is_spaced = any(len(lines) > 1 for lines in body)
    lines = [*head, rule] if any(cell.content.text for cell in rows[0]) else []
    for number, row in enumerate(body):
        lines += ["", *row] if is_spaced and number else row
    return lines


def compute_column_widths(wanted: list[int], width: int) -> list[int]:
    """Return the width of each column; the widest ones shrink until all fit or are minimal."""
    room = width - len(_GAP) * (len(wanted) - 1)
    widths = [min(column, max(room, _MIN_WIDTH)) for column in wanted]
    while sum(widths) > room and max(widths) > _MIN_WIDTH:
        widths[widths.index(max(widths))] -= 1
    return [max(1, column) for column in widths]


def _render_row(row: list[Cell], columns: list[int], canvas: Canvas) -> Iterator[str]:
    bare = Canvas()
    fields = [
        list(zip(cell.content.lines(column, canvas), cell.content.lines(column, bare), strict=True))
        for cell, column in zip(row, columns, strict=True)
    ]
    for parts in zip_longest(*fields, fillvalue=("", "")):
        line = []
        for (painted, plain), cell, column in zip(parts, row, columns, strict=True):
            blank = " " * (column - measure_width(plain))
            line.append(blank + painted if cell.right else painted + blank)
        yield _GAP.join(line).rstrip()
