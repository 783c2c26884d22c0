"""What a reader sees of a heading: its text without markup."""

import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LONGEST = 1000
_MARKUP = re.compile(r"[\\`*_\[\]<>&!{]")
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")
_SHORTCODE = re.compile(r"\{\{[<%]\s*\w*\s*\"?([^\"{}]*?)\"?\s*[%>]\}\}")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]]{1,200})\]:[ \t]*\S", re.MULTILINE)


class Labels:
    """Labels of the headings of one body, whose links may be defined anywhere in it."""

    def __init__(self, body: str, reader: "MarkdownIt") -> None:
        self._body = body
        self._reader = reader

    def plain(self, source: str) -> str:
        """Return the text of a heading on one line."""
        source = source[:_LONGEST]
        if _MARKUP.search(source):
            source = _SHORTCODE.sub(r"\1", _ATTRIBUTES.sub("", source))
            source = _WIKI_LINK.sub(r"\1", source)
            source = _visible(self._inline(source))
        return " ".join(source.split())

    def _inline(self, source: str) -> "list[Token]":
        """Return the inline tokens of a heading."""
        links = self._links if "[" in source else {}
        tokens: list[Token] = []
        self._reader.inline.parse(source, self._reader, {"references": links}, tokens)
        return tokens

    @cached_property
    def _links(self) -> dict[str, dict[str, str]]:
        """Return the names that are links, in the form in which markdown-it looks them up."""
        from markdown_it.common.utils import normalizeReference

        names = _DEFINITION.findall(self._body)
        return {normalizeReference(name): {"href": "#", "title": ""} for name in names}


def _visible(tokens: "list[Token]") -> str:
    """Return what a reader sees of inline tokens."""
    parts = []
    for token in tokens:
        if token.type in {"text", "code_inline", "text_special"}:
            parts.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        elif token.children:
            parts.append(_visible(token.children))
    return "".join(parts)
