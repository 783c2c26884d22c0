"""Reads HTML files: web pages, documentation, and what other programs export as HTML."""

import re
from typing import NamedTuple

from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.html.bookmarks import add_bookmarks, is_bookmark_file
from kebab.parse.html.charset import decode_html
from kebab.parse.html.links import find_heading_classes
from kebab.parse.html.metadata import read_metadata, shorten_title
from kebab.parse.html.page import MAX_DEPTH, Page, is_too_deep
from kebab.parse.html.walk import Walker
from kebab.parse.html.words import unescape
from kebab.parse.text_builder import TextBuilder

_FEW_CHARS = 200
_CONTENT_SHARE = 0.2
"""Content that is no longer than both is not believed, and the whole body is read."""

_NO_TEXT = re.compile(r"<(script|style)\b.*?(?:</\1|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile("<[^<>]*>")


class PageParts(NamedTuple):
    """The parts of a page, what its head says, its links, and what was lost."""

    builder: TextBuilder
    metadata: Metadata = Metadata()
    links: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class HtmlParser:
    """Parses HTML: the main content of a page as structured text."""

    version = "html-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The bytes are not text.
            DependencyMissing: The HTML parser is not installed.
        """
        decoded = decode_html(data, path, self.version)
        try:
            parts = read_parts(decoded.text)
        except ValueError as fault:
            raise ParseFailed(path=path, parser=self.version, cause=f"damaged: {fault}") from fault
        document = parts.builder.build(
            path,
            parts.metadata,
            warnings=(*decoded.warnings, *parts.warnings),
            links=parts.links,
        )
        return document._replace(encoding=decoded.encoding)


def read_parts(text: str) -> PageParts:
    """Return the main content of a page, and what its head says.

    Raises:
        DependencyMissing: The HTML parser is not installed.
        ValueError: The HTML parser refuses the page.
    """
    builder = TextBuilder()
    if is_bookmark_file(text):
        add_bookmarks(builder, text)
        return PageParts(builder)
    if is_too_deep(text):
        return PageParts(builder, warnings=(add_without_structure(builder, text),))
    page = Page(text)
    styles = find_heading_classes(text) if "style-name" in text else {}
    metadata = read_metadata(page.tree)
    walker = Walker(builder, styles)
    walker.walk(page.extract_content())
    if builder.length <= min(_FEW_CHARS, _CONTENT_SHARE * page.size):
        builder = TextBuilder()
        walker = Walker(builder, styles)
        walker.walk(page.extract_body())
    if metadata.title:
        title = shorten_title(metadata.title, [walker.first_heading])
        metadata = metadata._replace(title=title)
    return PageParts(builder, metadata, walker.links)


def add_fragment(
    builder: TextBuilder, text: str, level: int = 0, *, hidden: bool = False
) -> str | None:
    """Add all content of a piece of HTML; return a warning when it is too deep.

    Its headings are put `level` levels lower. With `hidden` elements that a browser does not show
    are added as well.

    Raises:
        DependencyMissing: The HTML parser is not installed.
        ValueError: The HTML parser refuses the piece.
    """
    if is_too_deep(text):
        return add_without_structure(builder, text)
    page = Page(text)
    content = page.extract_body() if hidden else page.extract_whole()
    Walker(builder, level=level).walk(content)
    return None


def list_anchors(text: str) -> list[tuple[str, str]]:
    """Return the targets and the texts of the links in the first table of contents of a page.

    Raises:
        DependencyMissing: The HTML parser is not installed.
        ValueError: The HTML parser refuses the page.
    """
    if is_too_deep(text):
        return []
    nav = Page(text).tree.css_first("nav")
    links = nav.css("a[href]") if nav is not None else []
    return [(node.attributes["href"] or "", " ".join(node.text().split())) for node in links]


def add_without_structure(builder: TextBuilder, text: str) -> str:
    """Add the text between the tags as paragraphs, and return a warning that says so."""
    for paragraph in re.split(r"\n\s*\n", _TAG.sub("\n", _NO_TEXT.sub("", text))):
        builder.add_paragraph(" ".join(unescape(paragraph).split()))
    return f"elements are nested more than {MAX_DEPTH:,} levels deep: read without structure"
