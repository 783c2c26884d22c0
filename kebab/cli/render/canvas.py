"""Defines the canvas of text output: width, colour, links and labelled values."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partialmethod

import click

from kebab.cli.channels import OutputChannel
from kebab.cli.options import ColorChoice
from kebab.cli.render.links import build_link
from kebab.cli.render.width import clean, truncate, wrap_text
from kebab.errors.signal import limit_hint

_LINK = "\x1b]8;;{uri}\x1b\\{text}\x1b]8;;\x1b\\"
_WIDEST = 100
_LITERAL = re.compile("`[^`]*`")
_NO_BREAK_SPACE = "\xa0"
_ESCAPE = "\x1b"
_MINUTE = 60
_MANY = 20


@dataclass(frozen=True, slots=True)
class Canvas:
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
    """Completes the commands of a hint for this call."""

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

    def hang(self, text: str, indent: str = "", more: str = "  ") -> list[str]:
        """Return text as lines that fit; the lines after the first have `more` indentation."""
        first, *rest = self.wrap(text, indent + more) or [indent + more]
        return [indent + first[len(indent + more) :], *rest]

    def wrap_with_label(self, label: str, text: str, paint: Callable[[str], str]) -> list[str]:
        """Return text as lines that fit, with a label before the first and blanks before others.

        Text in backticks is not wrapped.
        """
        indent = " " * (len(label) + 1)
        glued = _LITERAL.sub(lambda match: match[0].replace(" ", _NO_BREAK_SPACE), text)
        lines = self.wrap(glued, indent) or [indent]
        first, *rest = (line.replace(_NO_BREAK_SPACE, " ") for line in lines)
        return [f"{paint(label)} {first[len(indent) :]}", *rest]

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
    blank = " " * (len(indent) + width + 2)
    for label, value in filled:
        # A styled value is short, and cannot be measured.
        first, *rest = [blank + value] if _ESCAPE in value else canvas.wrap(value, blank)
        yield f"{indent}{canvas.dim(f'{label:<{width}}')}  {first[len(blank) :]}"
        yield from rest


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


def format_number(value: float) -> str:
    """Return a number with three significant digits."""
    if value >= 100:  # noqa: PLR2004 - three digits before the point
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}" if value < 1 else f"{value:.2f}"  # noqa: PLR2004 - three digits in total as make three
