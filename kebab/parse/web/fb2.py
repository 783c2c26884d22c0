"""Reads books in the format FictionBook, also in a zip archive: sections with their notes."""

from functools import partial
from xml.etree.ElementTree import Element

from kebab.core.documents import Metadata, ParsedDocument
from kebab.limits.deadline import build_failure
from kebab.parse.archive import (
    Archive,
    find_all,
    find_child,
    get_local_tag,
    list_children,
    read_events,
)
from kebab.parse.blocks import TextBuilder
from kebab.parse.formulas import END, SUBSCRIPT, SUPERSCRIPT, write_scripts
from kebab.parse.metadata import list_unique, read_language, split_keywords
from kebab.text.dates import parse_date

_QUOTES = frozenset({"epigraph", "cite", "annotation", "poem"})
_BLOCKS = _QUOTES | {"title", "subtitle", "p", "table", "text-author", "description", "binary"}
_LINES = frozenset({"p", "v", "subtitle", "text-author", "th", "td"})
_NAMES = ("first-name", "middle-name", "last-name")
_SCRIPTS = {"sup": SUPERSCRIPT, "sub": SUBSCRIPT}
_HEADINGS = {"title": 0, "subtitle": 1}


class Fb2Parser:
    """Parses a book."""

    version = "fictionbook-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with the title, authors, language and date of the book.

        Raises:
            ParseFailed: The file is no book, is damaged, or has no text.
        """
        refuse = partial(build_failure, path, self.version)
        if data.startswith(b"PK"):
            archive = Archive(data, path, self.version)
            books = [name for name in archive.names if name.lower().endswith(".fb2")]
            if len(books) != 1:
                raise refuse(f"not a book: the archive has {len(books)} `.fb2` files")
            data = archive.read(books[0])
        builder = TextBuilder()
        metadata = Metadata()
        level = 0
        open_blocks = 0
        for kind, element in read_events(data, "FictionBook", refuse):
            tag = get_local_tag(element.tag)
            step = 1 if kind == "start" else -1
            level += step * (tag in {"body", "section"})
            open_blocks += step * (tag in _BLOCKS)
            if kind == "end" and not open_blocks:
                if tag == "description":
                    metadata = _read_metadata(element)
                    about = find_child(find_child(element, "title-info"), "annotation")
                    _add_block(builder, about, 1)
                elif tag in _BLOCKS - {"binary"}:
                    _add_block(builder, element, level)
                element.clear()
        if not builder.length:
            raise refuse("no text in the book")
        return builder.build(path, metadata)


def _add_block(builder: TextBuilder, element: Element | None, level: int) -> None:
    """Add a title, a paragraph, a table, or verses and quotations by their lines."""
    if element is None:
        return
    tag = get_local_tag(element.tag)
    if tag in _HEADINGS:
        builder.add_heading(level + _HEADINGS[tag], _join_text(element))
    elif tag == "table":
        builder.add_table([[_join_text(cell) for cell in row] for row in element])
    elif tag in _QUOTES:
        lines = map(_join_text, find_all(element, *_LINES))
        builder.add_quote("\n".join(filter(None, lines)))
    else:
        builder.add_paragraph(_join_text(element))


def _join_text(element: Element | None) -> str:
    """Return the text of an element on one line; the lines of a title are divided."""
    if element is None:
        return ""
    lines = list_children(element, *_LINES)
    text = " ".join(map(_join_text, lines)) if lines else write_scripts(_mark_scripts(element))
    return " ".join(text.split())


def _mark_scripts(element: Element) -> str:
    """Return the text of an element with marks around what is raised or lowered."""
    parts = [element.text or ""]
    for child in element:
        mark = _SCRIPTS.get(get_local_tag(child.tag), "")
        parts += [mark, _mark_scripts(child), END if mark else "", child.tail or ""]
    return "".join(parts)


def _read_metadata(description: Element) -> Metadata:
    """Return what the description of a book says of its text."""
    info = find_child(description, "title-info")
    dates = list_children(info, "date")
    values = (text for one in dates for text in (one.get("value", ""), _join_text(one)))
    authors = (
        " ".join(filter(None, (_join_text(find_child(one, name)) for name in _NAMES)))
        or _join_text(find_child(one, "nickname"))
        for one in list_children(info, "author")
    )
    return Metadata(
        title=_join_text(find_child(info, "book-title")) or None,
        tags=list_unique(split_keywords(_join_text(find_child(info, "keywords")))),
        lang=read_language(_join_text(find_child(info, "lang"))),
        authors=list_unique(authors),
        date=next(filter(None, map(parse_date, values)), None),
    )
