"""Reads notes that Evernote exports (`.enex`): each note is a section."""

from collections.abc import Iterator
from functools import partial
from xml.etree.ElementTree import Element

from kebab.core.documents import Metadata, ParsedDocument
from kebab.limits.deadline import build_failure
from kebab.parse.archive import find_child, get_local_tag, list_children, read_children
from kebab.parse.blocks import TextBuilder
from kebab.parse.metadata import list_unique
from kebab.parse.web.html import add_fragment
from kebab.text.dates import parse_date

_CONTAINERS = frozenset({"en-export"})
_MAX_CHARS = 100_000_000
_MAX_TAGS = 100


class EnexParser:
    """Parses an export of Evernote."""

    version = "enex-v4"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; an export of one note has its title, date and author.

        Raises:
            ParseFailed: The file is no export, or is damaged.
            DependencyMissing: The HTML parser is not installed.
        """
        refuse = partial(build_failure, path, self.version)
        builder = TextBuilder()
        warnings: list[str] = []
        tags: list[str] = []
        metadata = Metadata()
        count = 0
        for element in read_children(data, "en-export", refuse, _CONTAINERS):
            if get_local_tag(element.tag) != "note":
                continue
            if builder.length > _MAX_CHARS:
                warnings.append(f"only the first {_MAX_CHARS:,} characters are searched")
                break
            count += 1
            title = _read_text(element, "title")
            builder.add_heading(1, title or "(untitled)")
            warnings += _add_content(builder, element, title)
            tags += (" ".join((one.text or "").split()) for one in list_children(element, "tag"))
            metadata = Metadata()
            if count == 1:
                attributes = find_child(element, "note-attributes")
                author = _read_text(attributes, "author")
                date = parse_date(_read_text(element, "created"))
                metadata = Metadata(title or None, authors=(author,) if author else (), date=date)
        if not count:
            raise refuse("not an Evernote export: it has no notes")
        metadata = metadata._replace(tags=list_unique(tags)[:_MAX_TAGS])
        return builder.build(path, metadata, warnings=warnings[:20])


def _add_content(builder: TextBuilder, note: Element, title: str) -> Iterator[str]:
    """Add the text of a note and the names of its files; yield warnings."""
    try:
        add_fragment(builder, _find_text(note, "content"), 1)
    except ValueError:
        yield f"a note is unreadable: {title}"
    if files := _list_files(note):
        builder.add_paragraph("Attachments:")
        builder.add_list((0, name) for name in files)


def _list_files(note: Element) -> list[str]:
    """Return the names of the files of a note."""
    attributes = (find_child(one, "resource-attributes") for one in list_children(note, "resource"))
    return [name for one in attributes if (name := _read_text(one, "file-name"))]


def _find_text(element: Element | None, tag: str) -> str:
    child = find_child(element, tag)
    return "" if child is None else child.text or ""


def _read_text(element: Element | None, tag: str) -> str:
    return " ".join(_find_text(element, tag).split())
