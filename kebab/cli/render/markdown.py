"""Markdown of a model, drawn for a person.

Nothing in it is trusted: HTML is text, an address is always shown and is no link to click on, and
numbers in brackets stay what they are whatever the text defines them to be.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kebab.cli.render.layout import PLAIN, Cell, Style, StyledText, lay_out_table
from kebab.cli.render.width import clean, clean_lines, measure_character
from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    from kebab.cli.render.canvas import Canvas

_NARROWEST = 16
_INDENT = "    "
_TAB = 4
_BAR = "│ "
_FOREIGN = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
"""Letters beyond ASCII in an address, which Markdown encodes."""
_INLINE = {
    "strong": Style(bold=True),
    "em": Style(italic=True),
    "s": Style(dim=True),
}


def render_markdown(text: str, canvas: Canvas, width: int | None = None) -> list[str]:
    """Return Markdown as lines for a canvas; `width` is that of the canvas unless it is given."""
    with translate_import_errors("drawing Markdown", "markdown-it-py"):
        from markdown_it.tree import SyntaxTreeNode

    tree = SyntaxTreeNode(_parser().parse(clean_lines(text)))
    return _blocks(tree.children, max(_NARROWEST, width or canvas.width or 80), canvas)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    plain = MarkdownIt("commonmark", {"html": False})
    return plain.enable(["table", "strikethrough"]).disable("reference")


def _blocks(nodes: list[SyntaxTreeNode], width: int, canvas: Canvas) -> list[str]:
    """Return blocks below each other, a blank line between those that are not tight."""
    lines: list[str] = []
    for node in nodes:
        if lines and not _tight(node):
            lines.append("")
        lines += _BLOCKS[node.type](node, max(_NARROWEST, width), canvas)
    return lines


def _tight(node: SyntaxTreeNode) -> bool:
    """Return whether a block follows without a blank line, as in a list without any."""
    parent = node.parent
    first = parent.children[0] if parent and parent.type == "list_item" else node
    return first.type == "paragraph" and first.hidden


def _paragraph(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    return list(_prose(node).lines(width, canvas))


def _heading(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    return list(_prose(node, Style(bold=True)).lines(width, canvas))


def _code(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    del canvas
    lines = node.content.removesuffix("\n").expandtabs(_TAB).split("\n")
    return [_INDENT + part for line in lines for part in _folded(clean(line), width - _TAB)]


def _folded(line: str, width: int) -> Iterator[str]:
    """Yield a line of code in parts of `width` cells, without a thought for words."""
    start = used = 0
    for place, character in enumerate(line):
        used += measure_character(character)
        if used > width:
            yield line[start:place]
            start, used = place, measure_character(character)
    yield line[start:]


def _quote(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    bar = canvas.dim(_BAR)
    return [bar + line for line in _blocks(node.children, width - len(_BAR), canvas)]


def _list(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    signs = _signs(node)
    margin = max(map(len, signs)) + 1
    lines: list[str] = []
    for sign, item in zip(signs, node.children, strict=True):
        if lines and not _tight_item(item):
            lines.append("")
        inner = _blocks(item.children, width - margin, canvas) or [""]
        lines.append(f"{sign:>{margin - 1}} {inner[0]}".rstrip())
        lines += [" " * margin + line if line else "" for line in inner[1:]]
    return lines


def _tight_item(item: SyntaxTreeNode) -> bool:
    return not item.children or item.children[0].hidden


def _signs(node: SyntaxTreeNode) -> list[str]:
    if node.type == "bullet_list":
        return ["•"] * len(node.children)
    start = int(node.attrs.get("start", 1))
    return [f"{number}." for number in range(start, start + len(node.children))]


def _table(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    rows = [row.children for part in node.children for row in part.children]
    return lay_out_table([[_cell(one) for one in row] for row in rows], width, canvas)


def _cell(node: SyntaxTreeNode) -> Cell:
    prose = _prose(node, Style(bold=node.type == "th"))
    return Cell(prose, right="right" in str(node.attrs.get("style", "")))


def _rule(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    del node
    return [canvas.dim("─" * width)]


_BLOCKS: dict[str, Callable[[Any, int, Canvas], list[str]]] = {
    "paragraph": _paragraph,
    "heading": _heading,
    "fence": _code,
    "code_block": _code,
    "blockquote": _quote,
    "bullet_list": _list,
    "ordered_list": _list,
    "table": _table,
    "hr": _rule,
}


def _prose(node: SyntaxTreeNode, style: Style = PLAIN) -> StyledText:
    """Return the running text below a block."""
    prose = StyledText()
    for inline in node.children:
        for one in inline.children:
            _write(one, style, prose)
    return prose


def _write(node: SyntaxTreeNode, style: Style, prose: StyledText) -> None:
    """Append an inline node."""
    if node.type == "hardbreak":
        prose.end_line()
    elif node.type == "softbreak":
        prose.add(" ", style)
    elif node.type == "code_inline":
        prose.add(f"`{node.content}`", Style(bold=style.bold, literal=True))
    elif node.type == "image":
        prose.add(node.content, style)
        _write_address(str(node.attrs.get("src", "")), prose)
    elif node.type == "link":
        _write_link(node, style, prose)
    else:
        prose.add(node.content, style)
        for child in node.children:
            _write(child, _both(style, _INLINE.get(node.type, PLAIN)), prose)


def _write_link(node: SyntaxTreeNode, style: Style, prose: StyledText) -> None:
    """Append the words of a link and its address; a marker that became a link is one again."""
    inner = StyledText()
    for child in node.children:
        _write(child, style, inner)
    address = str(node.attrs.get("href", ""))
    if inner.text.isdecimal():
        prose.add(f"[{inner.text}]", style)
    else:
        prose.join(inner)
    if address != inner.text:
        _write_address(address, prose)


def _write_address(address: str, prose: StyledText) -> None:
    shown = _FOREIGN.sub(lambda found: unquote(found[0]), address)
    if shown:
        prose.add(f" ({shown})", Style(dim=True, literal=True))


def _both(outer: Style, inner: Style) -> Style:
    return Style(
        bold=outer.bold or inner.bold,
        dim=outer.dim or inner.dim,
        italic=outer.italic or inner.italic,
    )
