"""The top-level blocks of a Markdown body, as markdown-it sees them.

Only block structure is parsed, and of that only the top level is kept: a nested list or quote is
one block, and a file of a hundred thousand list items costs no more memory than its lines.
"""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal

from kebab.core.document import BlockKind
from kebab.errors.dependency import needed
from kebab.parse.blocks import Span
from kebab.parse.label import Labels

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_KINDS = {
    "heading_open": BlockKind.HEADING,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "blockquote_open": BlockKind.QUOTE,
    "html_block": BlockKind.HTML,
}
_DEEPEST = 100


def outline(body: str) -> Iterator[Span]:
    """Yield the top-level blocks of a body by their lines."""
    tokens = _top_level(body)
    labels = Labels(body, _reader())
    for number, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        first, last = token.map
        kind = _KINDS.get(token.type, BlockKind.PARAGRAPH)
        if kind is BlockKind.HEADING:
            label = labels.plain(tokens[number + 1].content)
            yield Span(kind, first, last, int(token.tag[1:]), label)
        else:
            yield Span(kind, first, last)


@cache
def _reader() -> "MarkdownIt":
    """Return a reader of block structure.

    Link definitions are read as the paragraphs they look like: their text stays findable, and
    the library's time for a list of them grows with its square.
    """
    with needed("reading Markdown", "markdown-it-py"):
        from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"maxNesting": _DEEPEST})
    return reader.enable("table").disable("reference")


def _top_level(body: str) -> "list[Token]":
    """Return the tokens of the top level, and the content of each that has some."""
    reader = _reader()
    tokens: list[Token] = []
    state = _state()(body, reader, {}, tokens)
    reader.block.tokenize(state, 0, state.lineMax)
    return tokens


@cache
def _state() -> "type[StateBlock]":
    """Return the state of a block parser that keeps the top level only."""
    from markdown_it.rules_block import StateBlock

    class TopLevel(StateBlock):
        """Forgets every token below the top level, but for what stands directly in it."""

        def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> "Token":
            """Return a new token, kept only at the top."""
            token = super().push(ttype, tag, nesting)
            if token.level > 0 and not (token.level == 1 and ttype == "inline"):
                self.tokens.pop()
            return token

    return TopLevel
