"""Finds the lines and columns of the items of a page, in the file that was reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from kebab.core.ids import hash_content
from kebab.core.review import ReviewText
from kebab.errors.catalog import IoError
from kebab.errors.system import translate_os_errors
from kebab.parse.encoding import decode_raw
from kebab.review.document import ReviewDocument

if TYPE_CHECKING:
    from kebab.wire.review import AgentItem, AgentItems, ReviewedDocument

FileState = Literal["same", "changed", "unreadable"]


class Place(NamedTuple):
    """A position in a file, all from 1.

    The column counts code points, `byte` bytes of UTF-8 and `utf16` UTF-16 code units.
    """

    line: int
    column: int
    byte: int
    utf16: int


FIRST_PLACE = Place(1, 1, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedItem:
    r"""An item with its place.

    Attributes:
        start: Where its text begins; the first place when the file is no longer the same.
        end: The place behind its text.
        lines: The lines of its text without their ends; empty when the file is not the same.
    """

    item: AgentItem
    start: Place = FIRST_PLACE
    end: Place = FIRST_PLACE
    lines: tuple[str, ...] = ()


class LocatedPage(NamedTuple):
    """The items of a page in the order of the text, and whether the file is the same."""

    state: FileState
    items: tuple[LocatedItem, ...]


class ItemLocator:
    """Locates the items of pages; the last file is kept, because its pages follow one another."""

    def __init__(self) -> None:
        self._file: tuple[str, str] | None = None
        self._document: ReviewDocument | None = None
        self._state: FileState = "same"

    def locate(self, page: AgentItems) -> LocatedPage:
        """Return the items of a page with their places, sorted by them."""
        if page.document is None:
            return LocatedPage("same", ())
        self._open(page.document)
        items = sorted(page.items, key=lambda item: item.o)
        if self._document is None:
            return LocatedPage(self._state, tuple(LocatedItem(item=item) for item in items))
        document = self._document
        return LocatedPage("same", tuple(_locate(document, item) for item in items))

    def _open(self, reviewed: ReviewedDocument) -> None:
        file = reviewed.file, reviewed.content_hash
        if file == self._file:
            return
        self._file, self._document = file, None
        try:
            with translate_os_errors(Path(reviewed.file), "read"):
                data = Path(reviewed.file).read_bytes()
        except IoError:
            self._state = "unreadable"
            return
        self._state = "same" if hash_content(data) == reviewed.content_hash else "changed"
        if self._state == "same":
            self._document = build_document(reviewed, decode_raw(data, reviewed.file).text)


def build_document(reviewed: ReviewedDocument, raw: str) -> ReviewDocument:
    """Return a document with this text and without its markup."""
    file = Path(reviewed.file)
    return ReviewDocument(
        ReviewText(
            doc_path=reviewed.doc_path,
            file=file,
            root=file.parent,
            media=reviewed.media,
            raw=raw,
            text=raw.replace("\r\n", "\n").replace("\r", "\n"),
            content_hash=reviewed.content_hash,
        )
    )


def _locate(document: ReviewDocument, item: AgentItem) -> LocatedItem:
    start, end = document.from_utf16(*item.o)
    first, last = _find_place(document, start), _find_place(document, end)
    top = document.line_starts[first.line - 1]
    bottom = document.text.find("\n", max(start, end))
    text = document.text[top : bottom if bottom >= 0 else None]
    return LocatedItem(item=item, start=first, end=last, lines=tuple(text.split("\n")))


def _find_place(document: ReviewDocument, offset: int) -> Place:
    line, column = document.find_line(offset)
    before = document.text[offset - column + 1 : offset]
    byte = len(before.encode("utf-8", "surrogatepass"))
    utf16 = len(before.encode("utf-16-le", "surrogatepass")) // 2
    return Place(line, column, byte + 1, utf16 + 1)
