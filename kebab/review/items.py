"""Locates the items of a page in their file, and applies their fixes to it.

Every file is checked before the first fix is written, and fixes that would break a page are left
out. A file is replaced in one step; a copy of it stays beside it.
"""

import difflib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from errno import EACCES
from io import StringIO
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from kebab.core.chunks import hash_content
from kebab.core.media import MARKDOWN, detect_media_type
from kebab.errors.catalog import InvalidInput, IoError
from kebab.errors.system import translate_os_errors
from kebab.parse.encoding import decode_raw, encode_raw
from kebab.platform import copy_owner, create_copy, replace_file
from kebab.review.document import ReviewDocument, ReviewText, unify_line_ends
from kebab.review.segments import PageStructure, keep_harmless, read_structure
from kebab.wire.review import AgentItem, AgentItems, AppliedFile, ItemFix, ReviewedDocument

if TYPE_CHECKING:
    from kebab.core.review import StoredRun
    from kebab.store.sqlite.reviews import SqliteReviewStore

FileState = Literal["same", "changed", "unreadable"]


class Place(NamedTuple):
    """A position in a file, all from 1: the column counts code points, `utf16` UTF-16 units."""

    line: int
    column: int
    utf16: int


FIRST_PLACE = Place(1, 1, 1)


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
        if self._file != (page.document.file, page.document.content_hash):
            self._open(page.document)
        document, items = self._document, sorted(page.items, key=lambda item: item.o)
        if document is None:
            return LocatedPage(self._state, tuple(LocatedItem(item=item) for item in items))
        return LocatedPage("same", tuple(_locate(document, item) for item in items))

    def _open(self, reviewed: ReviewedDocument) -> None:
        self._file, self._document = (reviewed.file, reviewed.content_hash), None
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
            text=unify_line_ends(raw),
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
    utf16 = len(before.encode("utf-16-le", "surrogatepass")) // 2
    return Place(line, column, utf16 + 1)


_RUN = "$.run_id"
_UNIT = 2
"""The bytes of a UTF-16 code unit."""
_CODEC = "utf-16-le"
_MOST_COPIES = 1000
_PAGE_SUFFIXES = ("", ".md", ".mdx", ".markdown")
"""What the target of a link may leave out."""


class FixedFile(Struct, frozen=True, kw_only=True):
    """A file before and after its fixes, what a reply says of it, and how many were refused."""

    path: Path
    before: bytes
    after: bytes
    reply: AppliedFile
    refused: int


def is_safe(item: AgentItem) -> bool:
    """Return whether the fix of an item is certain."""
    return isinstance(item.fix, ItemFix) and item.fix.safe is True


def refuse_unwritable(path: Path) -> None:
    """Refuse a file that is read-only.

    Raises:
        IoError: It is.
    """
    with translate_os_errors(path, "write"):
        is_writable = path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
        if not is_writable or not os.access(path, os.W_OK):
            raise PermissionError(EACCES, "the file is read-only", str(path))


def list_fixes(
    store: "SqliteReviewStore", run: "StoredRun", uids: Collection[str] | None
) -> Iterator[tuple[Path, str, list[AgentItem]]]:
    """Yield each file with its hash and the items whose fixes are chosen; None means all.

    Raises:
        InvalidInput: The run has no item with one of the ids.
    """
    by_document: dict[int, list[AgentItem]] = {}
    for unit in store.list_units(run.run_id, 0, len(store.list_states(run.run_id))):
        by_document.setdefault(unit.key.document, []).extend(unit.result.items)
    known = {item.uid for items in by_document.values() for item in items}
    for uid in uids or ():
        if uid not in known:
            raise InvalidInput(field="$.uids", cause=f"the run has no item `{uid}`")
    for document in store.list_documents(run.run_id):
        chosen = [
            item
            for item in by_document.get(document.number, ())
            if isinstance(item.fix, ItemFix) and (uids is None or item.uid in uids)
        ]
        if chosen:
            yield Path(run.files[document.number]), document.content_hash, chosen


def fix_file(path: Path, content_hash: str, items: Sequence[AgentItem]) -> FixedFile:
    """Return a file with its fixes applied; nothing is written.

    Fixes that overlap an earlier one or would break the page are left out.

    Raises:
        InvalidInput: The file has other bytes than those that were reviewed, or its encoding lacks
            a character of a fix.
        IoError: It cannot be read.
    """
    with translate_os_errors(path, "read"):
        before = path.read_bytes()
    if hash_content(before) != content_hash:
        raise InvalidInput(field=_RUN, cause=f"the file changed since the review: {path}")
    decoded = decode_raw(before, str(path))
    text = decoded.text
    kept = selected = select_fixes(items)
    if detect_media_type(path.name) == MARKDOWN:
        structure = read_structure(text)
        kept = keep_harmless(
            selected,
            lambda some: _keeps_page(
                structure, read_structure(replace_units(text, some)), path, some
            ),
        )
    fixed = replace_units(text, kept)
    after = encode_raw(fixed, decoded, before)
    if after is None:
        cause = f"the encoding {decoded.encoding} of {path} lacks a character of the fixes"
        raise InvalidInput(field=_RUN, cause=cause)
    # Line ends do not count.
    old, new = (StringIO(one, newline=None).readlines() for one in (text, fixed))
    lines = difflib.unified_diff(old, new, f"a/{path.name}", f"b/{path.name}")
    diff = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return FixedFile(
        path=path,
        before=before,
        after=after,
        reply=AppliedFile(
            file=str(path),
            backup=None,
            applied=len(kept),
            overlapping=len(items) - len(selected),
            diff=diff,
        ),
        refused=len(selected) - len(kept),
    )


def _keeps_page(
    before: PageStructure, after: PageStructure, path: Path, items: Sequence[AgentItem]
) -> bool:
    """Return whether a page has what it had.

    Only findings about links change targets, and to those of files that exist.
    """
    is_same = (len(before.blocks), before.code, before.inline) == (
        len(after.blocks),
        after.code,
        after.inline,
    )
    if (
        not is_same
        or after.emphasis < before.emphasis
        or after.links.total() < before.links.total()
    ):
        return False
    if before.links - after.links and not any(item.k == "link" for item in items):
        return False
    for target in after.links - before.links:
        name = unquote(target.partition("#")[0].partition("?")[0])
        is_path = name and not name.startswith("/") and ":" not in name.partition("/")[0]
        if is_path and not any(lexists(f"{path.parent}/{name}{end}") for end in _PAGE_SUFFIXES):
            return False
    return True


def select_fixes(items: Sequence[AgentItem]) -> list[AgentItem]:
    """Return the items in the order of the text, without those that overlap an earlier one."""
    chosen: list[AgentItem] = []
    for item in sorted(items, key=lambda item: item.o[0]):
        last = chosen[-1].o if chosen else None
        if last is None or (item.o[0] >= last[1] and item.o != last):
            chosen.append(item)
    return chosen


def replace_units(text: str, items: Sequence[AgentItem]) -> str:
    """Return a text with the fixes of items, which do not overlap and are in order."""
    units = text.encode(_CODEC, "surrogatepass")
    parts, done = [], 0
    for item in items:
        start, end = (offset * _UNIT for offset in item.o)
        assert isinstance(item.fix, ItemFix)
        parts += [units[done:start], item.fix.text.encode(_CODEC, "surrogatepass")]
        done = end
    return b"".join([*parts, units[done:]]).decode(_CODEC, "surrogatepass")


def write_files(files: Sequence[FixedFile]) -> list[AppliedFile]:
    """Replace files, and return what was applied. When one fails, those before it are put back.

    Raises:
        InvalidInput: A file changed meanwhile.
        IoError: A file cannot be written.
    """
    copies = dict[Path, Path]()
    try:
        for file in files:
            copies[file.path] = write_file(file)
    except BaseException:
        for path, copy in copies.items():
            with suppress(OSError):
                copy.replace(path.resolve())
        raise
    return [replace(file.reply, backup=str(copies[file.path])) for file in files]


def write_file(file: FixedFile) -> Path:
    """Replace a file, and return the path of the copy of the original beside it.

    The file that a symbolic link names is replaced. Permissions and owner stay. After an exception
    it is as it was.
    """
    with translate_os_errors(file.path, "write"):
        target = file.path.resolve(strict=True)
        if target.read_bytes() != file.before:
            raise InvalidInput(field=_RUN, cause=f"the file changed since the review: {file.path}")
        status = target.stat()
        # A cut must not leave the new text without the copy.
        backup = create_copy(_list_copies(target), file.before, status)
        try:
            with replace_file(target) as draft:
                draft.write(file.after)
                copy_owner(draft.fileno(), status)
        except OSError:
            backup.unlink()
            raise
    return backup


def swap_copy(file: Path, name: str) -> bool:
    """Exchange a file and the copy of its original that has this name; return whether it is there.

    Both texts stay, so what was written since the fix is not lost.

    Raises:
        IoError: The system refuses.
    """
    with translate_os_errors(file, "write"):
        target = file.resolve(strict=True)
        copy = next((path for path in _list_copies(target) if path.name == name), None)
        if copy is None or copy.is_symlink() or not copy.is_file():
            return False
        refuse_unwritable(target)
        kept = copy.with_name(f"{copy.name}.undo")
        target.rename(kept)
        copy.rename(target)
        kept.rename(copy)
    return True


def _list_copies(target: Path) -> Iterator[Path]:
    """Yield the paths that a copy of the original may have."""
    ends = (".orig", *(f".orig.{number}" for number in range(2, _MOST_COPIES)))
    return (target.with_name(target.name + end) for end in ends)
