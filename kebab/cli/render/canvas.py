"""Defines the canvas of text output: width, colour, links, labelled values, styled text and tables.

The placeholders of links are those of ripgrep's `--hyperlink-format`.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partialmethod
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from msgspec import UNSET, Struct
from msgspec.structs import asdict

from kebab.cli.channels import OutputChannel
from kebab.cli.options import ColorChoice
from kebab.core.files import find_container
from kebab.errors.hints import limit_hint

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

_ELLIPSIS = "…"


def measure_width(text: str) -> int:
    """Return the number of terminal cells of a line of text."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _crop(text: str, width: int) -> str:
    """Return the beginning of a text that fits in `width` cells."""
    if text.isascii():
        return text[: max(0, width)]
    from rich.cells import set_cell_size

    return set_cell_size(text, width).rstrip()  # half of a wide letter is a blank


def truncate(text: str, width: int) -> str:
    """Return text of at most `width` cells; an ellipsis replaces a cut end."""
    if measure_width(text) <= width:
        return text
    return _crop(text, width - 1).rstrip() + _ELLIPSIS


def truncate_around(text: str, position: int, width: int) -> tuple[str, int]:
    """Return the part of a line that has at most `width` cells and shows a position.

    The second value is how many letters further the position is.
    """
    start = 0
    if measure_width(text) > width and measure_width(text[:position]) > width * 2 // 3:
        start = position - len(_crop(text[:position][::-1], width // 3))
    lead = _ELLIPSIS if start else ""
    return truncate(lead + text[start:], width), len(lead) - start


def pad(text: str, width: int) -> str:
    """Return text padded with spaces to `width` cells."""
    return text + " " * (width - measure_width(text))


_CONTROLS = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_BLANKS = dict.fromkeys(map(ord, "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"), " ")


def clean(text: str) -> str:
    """Return text as one line: every blank is a space, and `U+FFFD` replaces control characters."""
    return _CONTROLS.sub("\ufffd", text.translate(_BLANKS))


def clean_lines(text: str) -> str:
    """Return text with its lines and tabs; `U+FFFD` replaces other control characters."""
    return "\n".join(
        "\t".join(clean(cell) for cell in line.split("\t")) for line in text.split("\n")
    )


_FORMATS = {"none": "", "default": "file://{path}", "vscode": "vscode://file{path}:{line}"}


def build_link(file: str | None, line: int | None, form: str, page: int | None = None) -> str:
    """Return the link to a line of a file, empty without an absolute path.

    `form` is the name of a format, or a text with the placeholders `{path}` and `{line}`. A link to
    the file itself gets the page.
    """
    template = _FORMATS.get(form, form)
    if file is None or not template:
        return ""
    container = find_container(file)
    if container != file:  # a program opens the file that holds the document
        file, line, page = container, None, None
    try:
        path = Path(file).as_uri().removeprefix("file://")
    except (ValueError, UnicodeEncodeError):
        return ""
    link = template.replace("{path}", path).replace("{line}", str(line or 1))
    return f"{link}#page={page}" if page and link == f"file://{path}" else link


_LINK = "\x1b]8;;{uri}\x1b\\{text}\x1b]8;;\x1b\\"
_NARROWEST, _WIDEST = 40, 100
_LITERAL = re.compile("`[^`\n]*`")
GLUE = "\ufdd2"
"""Stands for a space where no line ends, until text is laid out; rich breaks no-break spaces."""
_STYLES = re.compile(r"\x1b(?:\[[\d;]*m|\]8;[^\x1b]*\x1b\\)")
_BLANK_END = re.compile(rf" +(?=(?:{_STYLES.pattern}| )*$)")
_MINUTE = 60


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
        self, text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False
    ) -> str:
        """Return text in a style if the canvas has colour."""
        if not self.color or not text or not (fg or bold or dim):
            return text
        return click.style(text, fg=fg, bold=bold or None, dim=dim or None)

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

    def wrap(self, text: str, label: str = "") -> list[str]:
        """Return text, which may be painted and have several lines, as lines that fit.

        The label, which may be painted, stands before the first line, and blanks before the others.
        Text in backticks is not wrapped.
        """
        margin = measure_width(_STYLES.sub("", label))
        room = None if self.width is None else self.width - margin
        lines = text.split("\n")
        if room and ("\t" in text or any(measure_width(_STYLES.sub("", x)) > room for x in lines)):
            from rich.text import Text

            glued = _LITERAL.sub(lambda match: match[0].replace(" ", GLUE), text)
            lines = self.draw(Text.from_ansi(glued), room)
        starts = chain([label], repeat(" " * margin))
        return [(start + line).rstrip() for start, line in zip(starts, lines, strict=False)]

    def draw(self, content: "RenderableType", width: int | None = None) -> list[str]:
        """Return what rich lays out as painted lines of at most `width` cells.

        Texts of others come as `rich.text.Text`, because rich reads a `str` as markup.
        """
        console = _create_console(color=self.color)
        console.width = width or self.width or _WIDEST
        with console.capture() as capture:
            console.print(content)
        lines = capture.get().replace(GLUE, " ").removesuffix("\n").split("\n")
        return [_BLANK_END.sub("", line) for line in lines]

    def note(self, text: str, hint: str | None = None) -> list[str]:
        """Return a note with its hint as lines that fit; an empty text has none."""
        lines = self.wrap(clean(text), f"{self.warning('note:')} ") if text else []
        return [*lines, *self.hint(hint or "")]

    def hint(self, text: str) -> list[str]:
        """Return a hint as lines that fit; a hint that is only a command is not wrapped.

        A hint that the flags of this call make too long is left out.
        """
        text = limit_hint(self.complete(clean(text))) or ""
        if not text:
            return []
        label = f"{self.success('hint:')} "
        is_command = text.startswith("kebab ") or "`" not in text
        return [label + text] if is_command else self.wrap(text, label)

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
    """Return the width of text on a terminal; long lines are hard to read, short ones too."""
    return max(_NARROWEST, min(columns, _WIDEST))


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
        yield from canvas.wrap(value, f"{indent}{canvas.dim(f'{label:<{width}}')}  ")


_SIZES = "index_bytes"
_MOST_COUNTS = 10


def list_fields(record: Struct, *omit: str) -> list[tuple[str, str]]:
    """Return the fields of a record as labels and values, of records in it only sizes in bytes."""
    values = {name: getattr(record, name) for name in record.__struct_fields__ if name not in omit}
    return [
        (name, clean(_format_value(name, value)))
        for name, value in values.items()
        if name == _SIZES
        or not isinstance(value[0] if isinstance(value, list) and value else value, Struct)
    ]


def _format_value(name: str, value: Any) -> str:
    if name == _SIZES:
        value = [f"{key} {format_bytes(count)}" for key, count in asdict(value).items()]
    if isinstance(value, dict):
        counts, left = Counter(value).most_common(_MOST_COUNTS), len(value) - _MOST_COUNTS
        value = [f"{key} {count:,}" for key, count in counts]
        value += [f"and {left:,} more with `--json`"] if left > 0 else []
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else "" if value in (None, UNSET) else str(value)


def render_difference(lines: Iterable[str], canvas: Canvas) -> Iterator[str]:
    """Yield the lines of a unified diff in colour."""
    colors = {"-": "red", "+": "green", "@": "cyan"}
    yield from (canvas.paint(clean(line), fg=colors.get(line[:1])) for line in lines)


class Column(NamedTuple):
    """A column of a table: its head, its style, and whether its cells may take several lines."""

    head: str = ""
    paint: Callable[[str], str] = str
    wraps: bool = False
    right: bool = False


_MOST_ALIGNED = 500


def render_columns(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], canvas: Canvas, indent: str = ""
) -> Iterator[str]:
    """Yield the heads, if there are any, and the rows in columns; cells may be styled.

    Tabs are between the cells in a pipe, and where rich would take long to align the rows.
    """
    if not rows:
        return
    heads = any(column.head for column in columns)
    painted = [
        [column.paint(cell) for column, cell in zip(columns, row, strict=True)] for row in rows
    ]
    if canvas.width is None or len(rows) > _MOST_ALIGNED:
        names = [[column.head for column in columns]] * heads
        yield from ("\t".join(cells) for cells in names + painted)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=None, show_header=heads, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in columns:
        table.add_column(
            Text(column.head),
            justify="right" if column.right else "left",
            no_wrap=not column.wraps,
            overflow="fold",
        )
    for cells in painted:
        table.add_row(*map(Text.from_ansi, cells))
    yield from (indent + line for line in canvas.draw(table, canvas.width - len(indent)))


def format_bytes(count: int) -> str:
    """Return a number of bytes in a readable unit."""
    size, units = float(count), ["kB", "MB", "GB", "TB"]
    if size < 1000:  # noqa: PLR2004 - below the first unit
        return f"{count} B"
    unit = ""
    while size >= 1000 and units:  # noqa: PLR2004 - from one unit to the next
        size, unit = size / 1000, units.pop(0)
    return f"{size:.1f} {unit}"


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


def format_tabs(*fields: str) -> str:
    """Return fields as one line with tabs between them, for a pipe."""
    return "\t".join(map(clean, fields))


def format_minute(timestamp: str) -> str:
    """Return the date and the minute of a timestamp."""
    return clean(timestamp[: len("2025-01-31T12:00")]).replace("T", " ")


MATCH_START, MATCH_END = "\ufdd0", "\ufdd1"
"""Surround a match of the query in a text; Unicode gives these two no other meaning."""

MATCH_SIGN = re.compile(f"[{MATCH_START}{MATCH_END}]")
_MATCHED = re.compile(f"{MATCH_START}([^{MATCH_START}{MATCH_END}]*)")
_MATCH = "bold not italic not underline not dim yellow"


def emphasise_matches(text: "Text") -> "Text":
    """Return text in which matches have their style instead of the signs around them."""
    from rich.text import Text

    for match in _MATCHED.finditer(text.plain):
        text.stylize(_MATCH, *match.span(1))
    signs = MATCH_SIGN.finditer(text.plain)
    pieces = text.divide(offset for sign in signs for offset in sign.span())
    return Text().join(piece for piece in pieces if not MATCH_SIGN.match(piece.plain))


@cache
def _create_console(*, color: bool) -> "Console":
    """Return the console that lays out text; nothing is written to it."""
    from rich.console import Console
    from rich.theme import Theme

    styles = {"marker": "cyan", "unsupported": "yellow", "match": _MATCH}
    theme = Theme({f"markdown.{name}": style for name, style in styles.items()})
    return Console(
        color_system="standard" if color else None,
        no_color=False,
        force_terminal=True,
        height=1,
        tab_size=4,
        legacy_windows=False,
        theme=theme,
    )
