"""Renders Markdown (the answers of a model, and excerpts of documents), and highlights its code.

The text is not trusted: HTML stays text, an address is shown and is no clickable link, and numbers
in brackets stay citation markers even when the text defines them as links. Excerpts have the
characters `MATCH_START` and `MATCH_END` around each match of the query; `StyledText` emphasises the
text between them and drops them. Pygments is imported only for code whose language is named.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from msgspec.structs import replace

from kebab.cli.render.canvas import (
    MATCH_END,
    MATCH_START,
    PLAIN,
    Canvas,
    Cell,
    Style,
    StyledText,
    clean_lines,
    lay_out_table,
)
from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode
    from pygments.lexer import Lexer


_STYLES = {
    "Comment": Style(dim=True, literal=True),
    "Keyword": Style(fg="magenta", literal=True),
    "Literal": Style(fg="green", literal=True),
    "Name.Attribute": Style(fg="cyan", literal=True),
    "Name.Builtin": Style(fg="cyan", literal=True),
    "Name.Class": Style(fg="cyan", literal=True),
    "Name.Function": Style(fg="cyan", literal=True),
    "Name.Tag": Style(fg="cyan", literal=True),
    "Name.Variable": Style(fg="cyan", literal=True),
    "Operator.Word": Style(fg="magenta", literal=True),
}
"""The style of a kind of token and of the kinds below it; other text is plain."""

_PLAIN = Style(literal=True)
"""The style of plain code: in `literal` text, numbers in brackets are no citation markers."""
_SIGNS = re.compile(f"[{MATCH_START}{MATCH_END}]")
_LONGEST = 20_000
"""Longer code is not highlighted, because a lexer may be slow."""


def split_code(code: str, language: str) -> list[StyledText]:
    """Return code as styled lines; without a known language they have no colours."""
    bare = _SIGNS.sub("", code)
    styles = _choose_styles(bare, _SIGNS.sub("", language)) or [_PLAIN] * len(bare)
    lines = [StyledText()]
    position = 0
    for character in code:
        if character in (MATCH_START, MATCH_END):
            lines[-1].add(character)
            continue
        if character == "\n":
            lines.append(StyledText(in_match=lines[-1].in_match))
        else:
            lines[-1].add(character, styles[position])
        position += 1
    return lines


def _choose_styles(code: str, language: str) -> list[Style]:
    """Return the style of each letter; nothing for an unknown language or long code."""
    lexer = _find_lexer(language) if language and len(code) <= _LONGEST else None
    if lexer is None:
        return []
    styles: list[Style] = []
    for kind, text in lexer.get_tokens(code):
        styles += [_find_style(str(kind).removeprefix("Token."))] * len(text)
    return styles if len(styles) >= len(code) else []


def _find_style(kind: str) -> Style:
    """Return the style of a kind of token, such as `Name.Function.Magic`, or of one above it."""
    while kind and kind not in _STYLES:
        kind = kind.rpartition(".")[0]
    return _STYLES.get(kind, _PLAIN)


def _find_lexer(language: str) -> Lexer | None:
    with translate_import_errors("highlighting code", "pygments"):
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


_NARROWEST = 16
_INDENT = "    "
_TAB = 4
_BAR = "│ "
_FOREIGN = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
"""Letters beyond ASCII in an address, which Markdown encodes."""
_INLINE: dict[str, dict[str, Any]] = {
    "strong": {"bold": True},
    "em": {"italic": True},
    "s": {"dim": True},
}


def render_markdown(text: str, canvas: Canvas, width: int | None = None) -> list[str]:
    """Return Markdown as lines; `width` is by default the width of the canvas."""
    with translate_import_errors("drawing Markdown", "markdown-it-py"):
        from markdown_it.tree import SyntaxTreeNode

    tree = SyntaxTreeNode(_create_parser().parse(clean_lines(text)))
    return _render_blocks(tree.children, max(_NARROWEST, width or canvas.width or 80), canvas)


@cache
def _create_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    plain = MarkdownIt("commonmark", {"html": False})
    return plain.enable(["table", "strikethrough"]).disable("reference")


def _render_blocks(nodes: list[SyntaxTreeNode], width: int, canvas: Canvas) -> list[str]:
    """Return blocks as lines, with a blank line between blocks that are not tight."""
    lines: list[str] = []
    for node in nodes:
        if lines and not _is_tight(node):
            lines.append("")
        lines += _BLOCKS[node.type](node, max(_NARROWEST, width), canvas)
    return lines


def _is_tight(node: SyntaxTreeNode) -> bool:
    """Return whether a block follows without a blank line, as in a list without blank lines."""
    parent = node.parent
    first = parent.children[0] if parent and parent.type == "list_item" else node
    return first.type == "paragraph" and first.hidden  # markdown-it hides those of a tight list


def _render_paragraph(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    style = Style(bold=True) if node.type == "heading" else PLAIN
    return list(_build_text(node, style).lines(width, canvas))


def _render_code(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    code = node.content.removesuffix("\n").expandtabs(_TAB)
    lines = split_code(code, node.info.partition(" ")[0] if canvas.color else "")
    return [_INDENT + part for line in lines for part in line.fold(width - _TAB, canvas)]


def _render_quote(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    bar = canvas.dim(_BAR)
    return [bar + line for line in _render_blocks(node.children, width - len(_BAR), canvas)]


def _render_list(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    signs = ["•"] * len(node.children)
    if node.type != "bullet_list":
        start = int(node.attrs.get("start", 1))
        signs = [f"{number}." for number in range(start, start + len(node.children))]
    margin = max(map(len, signs)) + 1
    lines: list[str] = []
    for sign, item in zip(signs, node.children, strict=True):
        if lines and item.children and not item.children[0].hidden:
            lines.append("")
        inner = _render_blocks(item.children, width - margin, canvas) or [""]
        lines.append(f"{sign:>{margin - 1}} {inner[0]}".rstrip())
        lines += [" " * margin + line if line else "" for line in inner[1:]]
    return lines


def _render_table(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    rows = []
    for row in (row for part in node.children for row in part.children):
        texts = [_build_text(cell, Style(bold=cell.type == "th")) for cell in row.children]
        sides = ["right" in str(cell.attrs.get("style", "")) for cell in row.children]
        rows.append(list(map(Cell, texts, sides)))
    return lay_out_table(rows, width, canvas)


def _render_rule(node: SyntaxTreeNode, width: int, canvas: Canvas) -> list[str]:
    return [canvas.dim("─" * width)]


_BLOCKS: dict[str, Callable[[Any, int, Canvas], list[str]]] = {
    "paragraph": _render_paragraph,
    "heading": _render_paragraph,
    "fence": _render_code,
    "code_block": _render_code,
    "blockquote": _render_quote,
    "bullet_list": _render_list,
    "ordered_list": _render_list,
    "table": _render_table,
    "hr": _render_rule,
}


def _build_text(node: SyntaxTreeNode, style: Style = PLAIN) -> StyledText:
    styled = StyledText()
    for inline in node.children:
        for child in inline.children:
            _add_inline(child, style, styled)
    return styled


def _add_inline(node: SyntaxTreeNode, style: Style, styled: StyledText) -> None:
    if node.type == "hardbreak":
        styled.end_line()
    elif node.type == "softbreak":
        styled.add(" ", style)
    elif node.type == "code_inline":
        styled.add(f"`{node.content}`", Style(bold=style.bold, literal=True))
    elif node.type == "image":
        styled.add(node.content, style)
        _add_address(str(node.attrs.get("src", "")), styled)
    elif node.type == "link":
        _add_link(node, style, styled)
    else:
        styled.add(node.content, style)
        for child in node.children:
            _add_inline(child, replace(style, **_INLINE.get(node.type, {})), styled)


def _add_link(node: SyntaxTreeNode, style: Style, styled: StyledText) -> None:
    """Append the text of a link and its address; a citation marker in link form stays a marker."""
    inner = StyledText()
    for child in node.children:
        _add_inline(child, style, inner)
    address = str(node.attrs.get("href", ""))
    if inner.text.isdecimal():
        styled.add(f"[{inner.text}]", style)
    else:
        styled.join(inner)
    if address != inner.text:
        _add_address(address, styled)


def _add_address(address: str, styled: StyledText) -> None:
    shown = _FOREIGN.sub(lambda match: unquote(match[0]), address)
    if shown:
        styled.add(f" ({shown})", Style(dim=True, literal=True))
