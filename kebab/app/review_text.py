"""Reads the files that are reviewed, with exact positions.

The text as it is in the file, and the lines and columns of the items of a page.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from kebab.core.content import HEAD_BYTES, find_mismatch
from kebab.core.files import get_suffix
from kebab.core.ids import hash_content
from kebab.core.media import MARKDOWN, PLAIN, detect_media_type, is_code, is_reviewed
from kebab.core.review import Markup, ReviewText
from kebab.errors.catalog import IoError, TooLarge, UnsupportedMedia
from kebab.errors.system import translate_os_errors
from kebab.limits.deadline import build_failure
from kebab.parse.encoding import Decoded, decode_raw
from kebab.review.document import ReviewDocument
from kebab.source.walk import detect_file_media

if TYPE_CHECKING:
    from kebab.core.documents import StoredDocument
    from kebab.wire.review import AgentItem, AgentItems, ReviewedDocument

_PARSER = "text-v1"


def build_review_text(
    path: Path,
    root: Path,
    *,
    max_bytes: int,
    doc_path: str | None = None,
    stored: StoredDocument | None = None,
    given: str | None = None,
) -> ReviewText:
    """Read a file for a review, or take the text that is given for it.

    `root` is the folder of its source, `stored` the document when it is in the index. Replies call
    another file `doc_path`, by default its path below the root.

    Raises:
        IoError: The file cannot be read.
        TooLarge: It has more bytes than the limit.
        UnsupportedMedia: It is no regular file, or its format is neither prose that is cited by
            lines nor source code.
        ParseFailed: It is not text.
    """
    known = stored.media if stored else None
    if given is None:
        media, data = read_reviewed_file(path, max_bytes, known)
        decoded = decode_raw(data, str(path), _PARSER)
    else:
        media, data = check_given_text(path, given, max_bytes, known)
        decoded = Decoded(given, "utf-8")
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    markup = read_text_markup(path, media, text)
    return ReviewText(
        doc_path=stored.path if stored else doc_path or path.relative_to(root).as_posix(),
        file=path,
        root=root,
        media=media,
        raw=decoded.text,
        text=text,
        content_hash=hash_content(data),
        encoding=decoded.encoding,
        doc_id=stored.doc_id if stored else None,
        lang=(stored.lang if stored else None) or _read_language(markup),
        markup=markup,
    )


def check_given_text(path: Path, text: str, max_bytes: int, media: str | None) -> tuple[str, bytes]:
    """Return the media type of a file and the bytes of its text; the file need not exist.

    Raises:
        TooLarge: It has more bytes than the limit.
        UnsupportedMedia: The format of the file is no prose.
    """
    media = media or detect_media_type(path.name)
    if media is None and path.is_file():
        with translate_os_errors(path, "read"):
            media = detect_file_media(str(path), path.stat().st_size)
    if not is_reviewed(media):
        raise UnsupportedMedia(
            path=str(path), media=media or get_suffix(path.name) or "no extension"
        )
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > max_bytes:
        raise TooLarge(what=str(path), size=len(data), limit=max_bytes)
    return media or PLAIN, data


def read_text_markup(path: Path, media: str, text: str) -> Markup:
    """Return the markup of a text in the format of a file."""
    from kebab.parse.registry import convert_exceptions
    from kebab.parse.text.markdown_parts import read_markup, read_plain_markup

    with convert_exceptions(str(path), _PARSER):
        if media == MARKDOWN:
            return read_markup(text, is_mdx=path.suffix.lower() == ".mdx")
        if is_code(media):  # only typos looks into code
            return Markup(code=((0, len(text)),), code_blocks=((0, len(text)),))
        return read_plain_markup(text)


def _read_language(markup: Markup) -> str | None:
    """Return the language that the front matter names."""
    from kebab.parse.metadata import read_language

    front = markup.front_matter
    fields = {name.lower(): value for name, value in front.fields} if front else {}
    return read_language(fields.get("lang") or fields.get("language"))


def read_reviewed_file(path: Path, max_bytes: int, media: str | None) -> tuple[str, bytes]:
    """Return the media type and the bytes of a file; its errors are those of `build_review_text`.

    `media` is what the index knows.
    """
    with translate_os_errors(path, "read"):
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            media = media or detect_file_media(str(path), status.st_size)
        elif not stat.S_ISDIR(status.st_mode):  # reading from a pipe waits for its writer
            media = None
        if not stat.S_ISDIR(status.st_mode) and not is_reviewed(media):
            named = media or get_suffix(path.name) or "no extension"
            raise UnsupportedMedia(path=str(path), media=named)
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise TooLarge(what=str(path), size=max(status.st_size, len(data)), limit=max_bytes)
    mismatch = find_mismatch(media or PLAIN, data[:HEAD_BYTES])
    if mismatch is not None:
        raise build_failure(str(path), _PARSER, mismatch.cause)
    return media or PLAIN, data


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
    """Locates the items of pages; the last file is kept, because its pages follow one another.

    A text that is given stands for every file.
    """

    def __init__(self, text: str | None = None) -> None:
        self._text = text
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
        if self._text is not None:
            self._state, self._document = "same", build_document(reviewed, self._text)
            return
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
