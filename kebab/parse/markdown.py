"""Reads Markdown: CommonMark with tables and front matter."""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal

from kebab.core.documents import BlockKind, ParsedDocument
from kebab.errors.system import translate_import_errors
from kebab.parse.blocks import Span, build_blocks, choose_title, shift_spans
from kebab.parse.encoding import decode
from kebab.parse.frontmatter import FrontMatter, read_front_matter
from kebab.text.language import detect_document_language

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_MAX_HEADING_CHARS = 1000
_MARKUP = re.compile(r"[\\`*_\[\]<>&!{]")
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")
_SHORTCODE = re.compile(r"\{\{[<%]\s*\w*\s*\"?([^\"{}]*?)\"?\s*[%>]\}\}")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]]{1,200})\]:[ \t]*\S", re.MULTILINE)


class HeadingLabels:
    """Plain labels of headings; their links may be defined anywhere in the body."""

    def __init__(self, body: str, reader: "MarkdownIt") -> None:
        self._body = body
        self._reader = reader

    def to_plain(self, source: str) -> str:
        """Return the text of a heading on one line."""
        source = source[:_MAX_HEADING_CHARS]
        if _MARKUP.search(source):
            source = _SHORTCODE.sub(r"\1", _ATTRIBUTES.sub("", source))
            source = _WIKI_LINK.sub(r"\1", source)
            source = _join_visible_text(self._parse_inline(source))
        return " ".join(source.split())

    def _parse_inline(self, source: str) -> "list[Token]":
        """Return the inline tokens of a heading."""
        links = self._links if "[" in source else {}
        tokens: list[Token] = []
        self._reader.inline.parse(source, self._reader, {"references": links}, tokens)
        return tokens

    @cached_property
    def _links(self) -> dict[str, dict[str, str]]:
        """Return the names of link definitions, in the form of markdown-it."""
        from markdown_it.common.utils import normalizeReference

        names = _DEFINITION.findall(self._body)
        return {normalizeReference(name): {"href": "#", "title": ""} for name in names}


def _join_visible_text(tokens: "list[Token]") -> str:
    """Return the visible text of inline tokens."""
    parts = []
    for token in tokens:
        if token.type in {"text", "code_inline", "text_special"}:
            parts.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        elif token.children:
            parts.append(_join_visible_text(token.children))
    return "".join(parts)


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
_MAX_NESTING = 100


def find_blocks(body: str) -> Iterator[Span]:
    """Yield the top-level blocks of a body by their lines."""
    tokens = _tokenize_top_level(body)
    labels = HeadingLabels(body, _get_reader())
    for number, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        first, last = token.map
        kind = _KINDS.get(token.type, BlockKind.PARAGRAPH)
        if kind is BlockKind.HEADING:
            label = labels.to_plain(tokens[number + 1].content)
            yield Span(kind, first, last, int(token.tag[1:]), label)
        else:
            yield Span(kind, first, last)


@cache
def _get_reader() -> "MarkdownIt":
    """Return a parser of block structure.

    Link definitions are read as paragraphs: their text stays searchable, and the library needs
    quadratic time for a list of them.
    """
    with translate_import_errors("reading Markdown", "markdown-it-py"):
        from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    return reader.enable("table").disable("reference")


def _tokenize_top_level(body: str) -> "list[Token]":
    """Return the tokens of the top level, and the content of each that has some."""
    reader = _get_reader()
    tokens: list[Token] = []
    state = _get_state_class()(body, reader, {}, tokens)
    reader.block.tokenize(state, 0, state.lineMax)
    return tokens


@cache
def _get_state_class() -> "type[StateBlock]":
    """Return the class of a block parser state that keeps the top level only."""
    from markdown_it.rules_block import StateBlock

    class TopLevel(StateBlock):
        """Drops every token below the top level, except its inline content."""

        def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> "Token":
            """Return a new token, and keep it only at the top level."""
            token = super().push(ttype, tag, nesting)
            if token.level > 0 and not (token.level == 1 and ttype == "inline"):
                self.tokens.pop()
            return token

    return TopLevel


class MarkdownParser:
    """Parses any note that is not binary data."""

    version = "markdown-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with its front matter as metadata.

        Raises:
            ParseFailed: The bytes are not text.
        """
        decoded = decode(data, path, self.version)
        text = decoded.text
        front = read_front_matter(text)
        blocks = build_blocks(text, front.searched, _find_spans(text, front))
        if not blocks and front.metadata.title:
            blocks = build_blocks(text, 0, ())  # all text of such a note is in its front matter
        return ParsedDocument(
            text=text,
            title=choose_title(front.metadata, blocks, path),
            blocks=blocks,
            metadata=front.metadata,
            lang=front.metadata.lang or detect_document_language(text, blocks),
            encoding=decoded.encoding,
            warnings=decoded.warnings + front.warnings,
        )


def _find_spans(text: str, front: FrontMatter) -> Iterator[Span]:
    """Return the spans of the body, by lines counted from the start of the searched text."""
    lines = text.count("\n", front.searched, front.body)
    return shift_spans(find_blocks(text[front.body :]), lines)
