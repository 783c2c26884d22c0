"""Reads notes that Evernote exports (`.enex`): each note is a section."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.archive import find_child, get_local_tag, list_children, read_children
from kebab.parse.blocks import TextBuilder
from kebab.parse.html import add_fragment
from kebab.text.dates import parse_date

_CONTAINERS = frozenset({"en-export"})
_MAX_CHARS = 100_000_000
_MAX_TAGS = 100


class _Note(NamedTuple):
    """A note of an export."""

    title: str
    content: str
    created: str | None
    author: str
    tags: tuple[str, ...]
    files: tuple[str, ...]


class EnexParser:
    """Parses an export of Evernote."""

    version = "enex-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; an export of one note has its title, date and author.

        Raises:
            ParseFailed: The file is no export, or is damaged.
            DependencyMissing: The HTML parser is not installed.
        """

        def refuse(cause: str) -> ParseFailed:
            return ParseFailed(path=path, parser=self.version, cause=cause)

        builder = TextBuilder()
        warnings: list[str] = []
        notes: list[_Note] = []
        tags: dict[str, None] = {}
        for element in read_children(data, "en-export", refuse, _CONTAINERS):
            if get_local_tag(element.tag) != "note":
                continue
            if builder.length > _MAX_CHARS:
                warnings.append(f"only the first {_MAX_CHARS:,} characters are searched")
                break
            note = _read_note(element)
            notes = [note] if not notes else [notes[0], note]
            tags.update(dict.fromkeys(note.tags))
            warnings += _add_note(builder, note)
        if not notes:
            raise refuse("not an Evernote export: it has no notes")
        metadata = Metadata(tags=tuple(tags)[:_MAX_TAGS])
        if len(notes) == 1:
            authors = (notes[0].author,) if notes[0].author else ()
            metadata = metadata._replace(
                title=notes[0].title or None, authors=authors, date=notes[0].created
            )
        return builder.build(path, metadata, warnings=warnings[:20])


def _read_note(element: Element) -> _Note:
    attributes = find_child(element, "note-attributes")
    tags = (
        " ".join((child.text or "").split())
        for child in element
        if get_local_tag(child.tag) == "tag"
    )
    return _Note(
        title=_read_text(element, "title"),
        content=_find_text(element, "content"),
        created=parse_date(_read_text(element, "created")),
        author="" if attributes is None else _read_text(attributes, "author"),
        tags=tuple(filter(None, tags)),
        files=tuple(_list_files(element)),
    )


def _add_note(builder: TextBuilder, note: _Note) -> list[str]:
    """Add a note below its title; return warnings."""
    builder.add_heading(1, note.title or "(untitled)")
    try:
        warning = add_fragment(builder, note.content, 1)
    except ValueError:
        warning = f"a note is unreadable: {note.title}"
    if note.files:
        builder.add_paragraph("Attachments:")
        builder.add_list((0, name) for name in note.files)
    return [warning] if warning else []


def _find_text(element: Element, tag: str) -> str:
    child = find_child(element, tag)
    return "" if child is None else child.text or ""


def _read_text(element: Element, tag: str) -> str:
    return " ".join(_find_text(element, tag).split())


def _list_files(element: Element) -> Iterator[str]:
    """Yield the names of the files that are attached to a note."""
    for child in list_children(element):
        attributes = find_child(child, "resource-attributes")
        if get_local_tag(child.tag) == "resource" and attributes is not None:
            name = _read_text(attributes, "file-name")
            if name:
                yield name
