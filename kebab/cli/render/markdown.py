"""Lays out Markdown with rich: the answers of a model, excerpts of documents, pages of help.

The text is not trusted: HTML stays text, an address is shown and is no clickable link, and numbers
in brackets stay citation markers even when the text defines them as links. Rich gets `Text`, never
markup. Excerpts have the characters `MATCH_START` and `MATCH_END` around each match of the query.
This module is imported only to draw Markdown, because it imports rich.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from kebab.cli.render.canvas import Canvas, clean_lines, emphasise_matches, glue

_NARROWEST = 16
_NARROWEST_CELL = 6
_INDENT = 4
_LONGEST = 20_000
"""Longer code is not highlighted, because a lexer may be slow."""
_FOREIGN = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
"""Letters beyond ASCII in an address, which Markdown encodes."""
_MARKERS = re.compile(r"(?P<cyan>\[\d{1,3}\])|(?P<yellow>\[unsupported\])")
"""The markers of an answer by their colour, which rich takes from the names of the groups."""
_BEFORE_A_MARKER = re.compile(r" (?=\[(?:\d{1,3}|unsupported)\])")
_PLAIN = Style()
_ADDRESS = Style(dim=True)
_INLINE = {"strong": Style(bold=True), "em": Style(italic=True), "s": Style(dim=True)}


def render_markdown(text: str, canvas: Canvas, width: int | None = None) -> list[str]:
    """Return Markdown as lines; `width` is by default the width of the canvas."""
    tree = SyntaxTreeNode(_create_parser().parse(clean_lines(text)))
    room = max(_NARROWEST, width or canvas.width or 80)
    return canvas.draw(_build_blocks(tree.children, room), room)


@cache
def _create_parser() -> MarkdownIt:
    plain = MarkdownIt("commonmark", {"html": False})
    return plain.enable(["table", "strikethrough"]).disable("reference")


def _build_blocks(nodes: list[SyntaxTreeNode], width: int) -> Group:
    """Return blocks with a blank line between those that are not tight."""
    blocks: list[RenderableType] = []
    for node in nodes:
        parent = node.parent
        first = parent.children[0] if parent and parent.type == "list_item" else node
        # markdown-it hides the paragraphs of a list without blank lines.
        if blocks and not (first.type == "paragraph" and first.hidden):
            blocks.append(Text())
        blocks.append(_BLOCKS[node.type](node, width))
    return Group(*blocks)


class _Prefixed:
    """A block with a text before its first line, and another one before the others.

    Both are left out where too little room is left.
    """

    def __init__(self, block: RenderableType, first: Text, rest: Text) -> None:
        self._block = block
        self._first = first
        self._rest = rest

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - self._first.cell_len
        if room < _NARROWEST:
            yield self._block
            return
        lines = console.render_lines(self._block, options.update_width(room), pad=False)
        for number, line in enumerate(lines):
            yield from (self._rest if number else self._first).render(console)
            yield from line
            yield Segment.line()


def _build_paragraph(node: SyntaxTreeNode, width: int) -> Text:
    return _build_text(node, Style(bold=True) if node.type == "heading" else _PLAIN)


def _build_code(node: SyntaxTreeNode, width: int) -> Padding:
    code = node.content.removesuffix("\n")
    return Padding(_highlight(code, node.info.partition(" ")[0]), (0, 0, 0, _INDENT))


def _highlight(code: str, language: str) -> Text:
    """Return code with colours if its language is known."""
    text = Text(code)
    if language and len(code) <= _LONGEST:
        from rich.syntax import Syntax

        text = Syntax("", language, theme="ansi_dark", word_wrap=True).highlight(code)
        text.remove_suffix("\n")  # which the lexer adds
    return emphasise_matches(text)


def _build_quote(node: SyntaxTreeNode, width: int) -> _Prefixed:
    bar = Text("│ ", Style(dim=True))
    return _Prefixed(_build_blocks(node.children, width - len(bar)), bar, bar)


def _build_list(node: SyntaxTreeNode, width: int) -> Group:
    signs = ["•"] * len(node.children)
    if node.type != "bullet_list":
        start = int(node.attrs.get("start", 1))
        signs = [f"{number}." for number in range(start, start + len(node.children))]
    margin = max(map(len, signs)) + 1
    items: list[RenderableType] = []
    for sign, item in zip(signs, node.children, strict=True):
        if items and item.children and not item.children[0].hidden:
            items.append(Text())
        blocks = _build_blocks(item.children, width - margin)
        body = blocks if item.children else Text()
        items.append(_Prefixed(body, Text(f"{sign:>{margin - 1}} "), Text(" " * margin)))
    return Group(*items)


def _build_table(node: SyntaxTreeNode, width: int) -> RenderableType:
    """Return a table, or its rows as lines if it has too many columns for the width."""
    head, *rows = (
        [_build_text(cell) for cell in row.children]
        for part in node.children
        for row in part.children
    )
    if len(head) * _NARROWEST_CELL > width:
        return Group(*(Text(" | ").join(row) for row in (head, *rows)))
    for cell, text in zip(node.children[0].children[0].children, head, strict=True):
        text.justify = "right" if "right" in str(cell.attrs.get("style", "")) else "left"
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
        border_style="dim",
        show_header=any(text.plain for text in head),
    )
    for text in head:
        table.add_column(text, justify=text.justify or "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


_BLOCKS: dict[str, Callable[[Any, int], RenderableType]] = {
    "paragraph": _build_paragraph,
    "heading": _build_paragraph,
    "fence": _build_code,
    "code_block": _build_code,
    "blockquote": _build_quote,
    "bullet_list": _build_list,
    "ordered_list": _build_list,
    "table": _build_table,
    "hr": lambda *_: Rule(style="dim"),
}


def _build_text(node: SyntaxTreeNode, style: Style = _PLAIN) -> Text:
    parts = (
        part
        for inline in node.children
        for child in inline.children
        for part in _list_parts(child, style)
    )
    return emphasise_matches(Text().join(parts))


def _list_parts(node: SyntaxTreeNode, style: Style) -> Iterator[Text]:
    """Yield the texts of a node and of those below it."""
    if node.type == "hardbreak":
        yield Text("\n")
    elif node.type == "softbreak":
        yield Text(" ", style)
    elif node.type == "code_inline":
        yield Text(f"`{node.content}`", style)
    elif node.type == "image":
        yield Text(node.content, style)
        yield _build_address(str(node.attrs.get("src", "")))
    elif node.type == "link":
        inner = Text().join(part for child in node.children for part in _list_parts(child, style))
        # A citation marker in link form stays a marker.
        yield _build_prose(f"[{inner.plain}]", style) if inner.plain.isdecimal() else inner
        if (address := str(node.attrs.get("href", ""))) != inner.plain:
            yield _build_address(address)
    else:
        yield _build_prose(node.content, style)
        for child in node.children:
            yield from _list_parts(child, style + _INLINE.get(node.type, _PLAIN))


def _build_prose(content: str, style: Style) -> Text:
    """Return text with its markers in colour; each stays on the line of the word before it."""
    text = Text(_BEFORE_A_MARKER.sub(glue(" "), content), style)
    text.highlight_regex(_MARKERS)
    return text


def _build_address(address: str) -> Text:
    shown = _FOREIGN.sub(lambda match: unquote(match[0]), address)
    return Text(f" ({shown})" if shown else "", _ADDRESS)
