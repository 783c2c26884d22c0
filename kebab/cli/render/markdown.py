"""Lays out Markdown with rich: the answers of a model, excerpts of documents, pages of help.

The text is not trusted: HTML stays text, an address is shown and is no clickable link, and numbers
in brackets stay citation markers even when the text defines them as links. Excerpts have the
characters `MATCH_START` and `MATCH_END` around each match of the query. This module is imported
only to draw Markdown, because it imports rich.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import markdown
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kebab.cli.render.canvas import (
    GLUE,
    MATCH_END,
    MATCH_START,
    Canvas,
    clean,
    clean_lines,
    emphasise_matches,
)
from kebab.core.files import decode_percent

_INDENT = 4
_BEFORE_A_MARKER = re.compile(r" (?=\[(?:\d{1,3}|unsupported)\])")
_MATCHED = re.compile(rf"{MATCH_START}(?P<match>[^{MATCH_END}]*){MATCH_END}?")
_STYLED = re.compile(
    rf"(?P<marker>\[\d{{1,3}}\])|(?P<unsupported>\[unsupported\])|{_MATCHED.pattern}"
)
"""What has a style of its own, the name of the group: markers of an answer, and matches."""


def render_markdown(text: str, canvas: Canvas, width: int | None = None) -> list[str]:
    """Return Markdown as lines; `width` is by default the width of the canvas."""
    drawn = "\n".join(canvas.draw(_Markdown(clean_lines(text)), width)).strip("\n")
    return drawn.split("\n") if drawn else []


@cache
def _create_parser() -> MarkdownIt:
    plain = MarkdownIt("commonmark", {"html": False})
    return plain.enable(["table", "strikethrough"]).disable("reference")


class _Heading(markdown.Heading):
    """A heading at the margin."""

    LEVEL_ALIGN: ClassVar = {}


class _Code(markdown.CodeBlock):
    """Indented code, with colours if its language is known."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = self.text.plain.removesuffix("\n")
        text = Text(code)
        if self.lexer_name != "text":
            from rich.syntax import Syntax

            text = Syntax("", self.lexer_name, theme="ansi_dark", word_wrap=True).highlight(code)
            text.remove_suffix("\n")  # which the lexer adds
        yield Padding(emphasise_matches(text), (0, 0, 0, _INDENT))


class _Table(markdown.TableElement):
    """A table at the margin; no text of its cells is left out."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            assert isinstance(table, Table)
            for column in table.columns:
                column.overflow = "fold"
            table.show_edge = False
            table.show_header = any(str(column.header) for column in table.columns)
            yield table


class _Markdown(markdown.Markdown):
    """Markdown whose links are text, and whose markers and matches have styles."""

    elements: ClassVar = {
        **markdown.Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "table_open": _Table,
    }

    def __init__(self, text: str) -> None:
        super().__init__("")
        self.inlines = {*self.inlines, *_STYLED.groupindex}
        self.parsed = _create_parser().parse(text)
        for token in self.parsed:
            if token.type == "inline":
                token.children = [*_list_plain_tokens(token.children or [])]


def _list_plain_tokens(tokens: list[Token]) -> Iterator[Token]:
    """Yield the tokens of a line: links, images and inline code as text, styles as tags."""
    addresses: list[str] = []
    for token in tokens:
        if token.type == "link_open":
            addresses.append(str(token.attrs.get("href", "")))
        elif token.type == "link_close":
            yield from _list_styled_tokens(_format_address(addresses.pop()))
        elif token.type == "image":
            address = _format_address(str(token.attrs.get("src", "")))
            yield from _list_styled_tokens(token.content + address)
        elif token.type == "code_inline":
            yield from _list_styled_tokens(f"`{token.content}`", _MATCHED)
        elif token.type == "text":
            content = token.content
            # A citation marker in link form stays a marker, and an address alone is shown once.
            content = f"[{content}]" if addresses and content.isdecimal() else content
            addresses = ["" if one == content else one for one in addresses]
            yield from _list_styled_tokens(_BEFORE_A_MARKER.sub(GLUE, content))
        else:
            yield token


def _list_styled_tokens(content: str, styled: re.Pattern[str] = _STYLED) -> Iterator[Token]:
    """Yield text with tags around what has a style of its own."""
    last = 0
    for match in styled.finditer(content):
        tag = match.lastgroup or ""
        yield _create_text(content[last : match.start()])
        yield Token(f"{tag}_open", tag, 1)
        yield _create_text(match[tag])
        yield Token(f"{tag}_close", tag, -1)
        last = match.end()
    yield _create_text(content[last:])


def _create_text(content: str) -> Token:
    # The end of a match that begins in another element. Entities may be control characters.
    return Token("text", "", 0, content=clean(content.replace(MATCH_END, "")))


def _format_address(address: str) -> str:
    return f" ({decode_percent(address)})" if address else ""
