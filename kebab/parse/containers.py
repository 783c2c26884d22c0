"""Reads the members of containers: attachments, messages of mailboxes, archives, Evernote notes.

The path of a member is `mail.eml!/plan.pdf`, `box.mbox!/12.eml!/plan.pdf`, `export.zip!/a/b.md`,
`report.pdf!/data.csv` or `notes.enex!/A note.enex!/plan.pdf`.
An ingest lists members and reads them one at a time; `fetch`, `grep` and others read one. Members
are never written anywhere. A damaged member costs itself.
"""

import base64
import hashlib
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from email.errors import MessageError
from functools import lru_cache, partial
from html import unescape
from mimetypes import guess_extension
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast
from zipfile import ZipInfo

from kebab.core.documents import ParsedDocument
from kebab.core.files import ENEX, MBOX, MEMBER_MARK, ZIP, find_container
from kebab.core.media import EMAIL, ENEX_NOTE, MSG, PDF, PLAIN
from kebab.errors.catalog import DependencyMissing, ParseFailed, TimedOut
from kebab.limits.deadline import build_refusal
from kebab.parse.archive import (
    MAX_MEMBER_BYTES,
    MAX_RATIO,
    MIN_SUSPICIOUS_BYTES,
    find_child,
    get_local_tag,
    join_text,
    read_children,
    read_packed,
)
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import decode
from kebab.parse.registry import convert_exceptions
from kebab.source.content import HEAD_BYTES, detect_media
from kebab.source.members import Member, clean_name, make_unique, read_directory

Span: TypeAlias = tuple[int, int]
_OpenSource: TypeAlias = Callable[[], BinaryIO]

_VERSION = "container-v2"
_WHOLE = (0, 0)


class ContainerParser:
    """Parses a mailbox or an archive to a document without text: its members have it."""

    version = _VERSION

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; the first bytes of the file are enough."""
        is_known = data.startswith(b"PK") or _EXPORT in data
        if not is_known and next(find_messages(io.BytesIO(data)), None) is None:
            raise build_refusal("not a mailbox, a zip archive or an export of Evernote")
        return TextBuilder().build(path, title=path.rpartition("/")[2].rpartition(".")[0])


class _Attachments:
    """The files that are attached to a mail, a PDF or a note, read when they are asked for."""

    def __init__(self, files: Iterable[tuple[str, Callable[[], bytes]]]) -> None:
        taken: dict[str, int] = {}
        self._files: dict[str, Callable[[], bytes]] = {}
        for number, (name, read) in enumerate(files, 1):
            self._files[make_unique(clean_name(name) or f"attachment-{number}", taken)] = read

    def list_members(self) -> Iterator[Member]:
        for name, read in self._files.items():
            try:
                data = read()
            except (ParseFailed, TimedOut):
                yield Member(name, 1, PLAIN)  # reading it tells why it cannot be read
                continue
            media = detect_media(name, len(data), lambda data=data: data[:HEAD_BYTES])  # type: ignore[misc]
            yield Member(name, len(data), media or "")

    def read(self, name: str) -> bytes:
        return self._files[name]()


def _open_attachments(data: bytes, media: str, path: str) -> _Attachments:
    if media == PDF:
        return _Attachments(_list_attached_files(data, path))
    if media == ENEX:
        return _Attachments(_list_note_files(data))
    if media == MSG:
        from kebab.parse.mail.outlook import convert_message

        data, _ = convert_message(data)
    from kebab.parse.mail.message import (
        list_attachments,
        load_message,
        may_have_attachments,
        read_attachment,
    )

    if not may_have_attachments(data):
        return _Attachments(())
    found = list_attachments(load_message(data))
    return _Attachments((name, partial(read_attachment, part)) for name, part in found.items())


def _list_note_files(data: bytes) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the files of a note of Evernote with their names."""
    for element in read_children(data, "en-export", {"en-export", "note"}):
        content = find_child(element, "data")
        if get_local_tag(element.tag) != "resource" or content is None:
            continue
        name = find_child(find_child(element, "resource-attributes"), "file-name")
        packed = "".join((content.text or "").split())
        suffix = guess_extension(getattr(find_child(element, "mime"), "text", None) or "") or ""
        title = join_text(name)
        number = hashlib.blake2s(packed.encode(), digest_size=4).hexdigest()
        yield title or f"{number}{suffix}", partial(base64.b64decode, packed)


class _PdfAttachments:
    """Reads the files that are attached to a PDF in a worker process, as other native code."""

    version = _VERSION
    isolated = True

    def parse(self, data: bytes, path: str) -> list[tuple[str, bytes]]:
        """Return the names and the bytes of the files."""
        del path
        from kebab.parse.pdf.document import list_attachments
        from kebab.parse.pdf.grids import load_pdfium

        found = []
        with suppress(RuntimeError):  # a damaged or protected file has none
            for name, file in list_attachments(load_pdfium().PdfDocument(data), data):
                with suppress(RuntimeError):
                    found.append((name, bytes(file.get_data())))
        return found


def _list_attached_files(data: bytes, path: str) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the files that are attached to a PDF; one stands for those that took too much."""
    if b"/EmbeddedFile" not in data:
        return
    from kebab.parse.isolation import parse_guarded

    try:
        for name, content in parse_guarded(_PdfAttachments(), data, path):
            yield name, partial(bytes, content)
    except (ParseFailed, TimedOut) as error:
        yield "attachments", partial(_raise, error)
    except DependencyMissing:  # reading the PDF tells it
        return


def _raise(error: Exception) -> bytes:
    raise error


_LINE_BYTES = 1 << 16
_BEGIN = re.compile(rb">?[!-9;-~]{1,76}:|>From ")
"""The line after the one that separates messages: a header."""

_SEPARATOR = re.compile(rb"From \S+ +\w{3} \w{3} +\d+ \d\d:\d\d")

_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)


class _Mailbox:
    def __init__(self, open_source: _OpenSource, *, is_nested: bool) -> None:
        self._open = open_source
        self._is_nested = is_nested
        self._spans: dict[str, Span] | None = None

    def list_members(self) -> Iterator[Member]:
        number = 0
        with self._open() as file:
            for number, span in enumerate(find_messages(file), start=1):
                shown = _WHOLE if self._is_nested else span
                yield Member(f"{number}.eml", span[1] - span[0], EMAIL, shown)
            if not number:
                raise ValueError(
                    "not a mailbox in mbox format" if file.tell() else "the file is empty"
                )

    def read(self, name: str) -> bytes:
        if self._spans is None:
            with self._open() as file:
                self._spans = {
                    f"{number}.eml": span
                    for number, span in enumerate(find_messages(file), start=1)
                }
        with self._open() as file:
            return read_message(file, self._spans[name])


def find_messages(file: BinaryIO) -> Iterator[Span]:
    """Yield the bytes of each message of a mailbox, without the lines that separate them."""
    start = candidate = None
    offset, is_blank = 0, True
    for line in iter(partial(file.readline, _LINE_BYTES), b""):
        if candidate is not None and _BEGIN.match(line):
            if start is not None:
                yield start, candidate
            start = offset
        begins = line.startswith(b"From ") and (is_blank or _SEPARATOR.match(line))
        candidate = offset if begins else None
        is_blank = line in {b"\n", b"\r\n"}
        offset += len(line)
    if start is not None:
        yield start, offset


def read_message(file: BinaryIO, span: Span) -> bytes:
    """Return a message of a mailbox; it moves the file."""
    file.seek(span[0])
    return _ESCAPED.sub(rb"\1", file.read(span[1] - span[0]))


_EXPORT = b"<en-export"
_NOTE = re.compile(rb"<note(?:\s[^<>]*)?>.*?</note\s*>", re.DOTALL)
_NOTE_TITLE = re.compile(rb"<title>\s*([^<]{1,400})", re.DOTALL)
_EXPORT_FORM = b"<?xml version='1.0' encoding='UTF-8'?>\n<en-export>%s</en-export>"


class _Evernote:
    """The notes of an export; each member is an export of one note."""

    def __init__(self, open_source: _OpenSource) -> None:
        self._open = open_source
        with open_source() as file:
            data = file.read()
        if _EXPORT not in data[:HEAD_BYTES]:
            raise ValueError("not an Evernote export: it has no notes")
        taken: dict[str, int] = {}
        self._spans: dict[str, Span] = {}
        for note in _NOTE.finditer(data):
            title = _NOTE_TITLE.search(data, *note.span())
            text = unescape(title[1].decode("utf-8", "replace")) if title else ""
            name = clean_name(" ".join(text.replace("/", "_").split())) or "untitled"
            self._spans[make_unique(f"{name}.enex", taken)] = note.span()
        if not self._spans:
            raise ValueError("not an Evernote export: it has no notes")

    def list_members(self) -> Iterator[Member]:
        for name, (start, end) in self._spans.items():
            yield Member(name, end - start, ENEX_NOTE)

    def read(self, name: str) -> bytes:
        start, end = self._spans[name]
        with self._open() as file:
            file.seek(start)
            return _EXPORT_FORM % file.read(end - start)


_UTF8_FLAG = 0x800


class _Zip:
    def __init__(self, open_source: _OpenSource) -> None:
        self._open = open_source
        with open_source() as file:
            infos = read_directory(file)
        taken: dict[str, int] = {}
        names = zip(map(clean_name, _decode_names(infos)), infos, strict=True)
        self._infos = {make_unique(name, taken): info for name, info in names if name}

    def list_members(self) -> Iterator[Member]:
        for name, info in self._infos.items():
            try:
                media = detect_media(name, info.file_size, partial(self.read, name, HEAD_BYTES))
            except (ValueError, OverflowError):
                media = PLAIN  # reading it tells why it cannot be read
            yield Member(name, info.file_size, media or "")

    def read(self, name: str, most: int | None = None) -> bytes:
        info = self._infos[name]
        size = info.file_size if most is None else min(most, info.file_size)
        if size > MAX_MEMBER_BYTES:
            raise ValueError(f"expands to more than {MAX_MEMBER_BYTES // 1_000_000} MB")
        if size > max(info.compress_size * MAX_RATIO, MIN_SUSPICIOUS_BYTES):
            raise ValueError(f"expands to more than {MAX_RATIO} times its size")
        with self._open() as file:
            return read_packed(file, info, most)


def _decode_names(infos: list[ZipInfo]) -> list[str]:
    """Return the names of members; those of no declared encoding are decoded together."""
    names = [info.filename for info in infos]
    undeclared = [number for number, info in enumerate(infos) if not info.flag_bits & _UTF8_FLAG]
    raw = b"\n".join(infos[number].filename.encode("cp437", "replace") for number in undeclared)
    if not raw.isascii():
        try:
            decoded = decode(raw).text.split("\n")
        except ParseFailed:
            return names
        if len(decoded) == len(undeclared):
            for number, name in zip(undeclared, decoded, strict=True):
                names[number] = name
    return names


class ContainerFiles:
    """Is used for files on disk."""

    def list_members(self, absolute: str, span: Span = _WHOLE) -> Iterator[Member]:
        """Yield the members of a container, which may be a member itself.

        Raises:
            OSError: The file cannot be read.
            ParseFailed: It is damaged, or no container.
        """
        with _translate(absolute):
            yield from _open(absolute, span).list_members()

    def read(self, absolute: str, span: Span = _WHOLE) -> bytes:
        """Return the bytes of a member.

        Raises:
            FileNotFoundError: There is no such member.
            OSError: The file cannot be read.
            ParseFailed: The member is damaged, encrypted, or expands beyond the limits.
        """
        outer, _, name = absolute.rpartition(MEMBER_MARK)
        if span != _WHOLE and outer == find_container(absolute):
            with open(outer, "rb") as file:  # noqa: PTH123 - a plain string
                return read_message(file, span)
        with _translate(absolute):
            container = _open(outer, span)
            try:
                return container.read(name)
            except LookupError as fault:
                raise FileNotFoundError(absolute) from fault


@contextmanager
def _translate(path: str) -> Iterator[None]:
    with convert_exceptions(path, _VERSION):
        try:
            yield
        except (ValueError, MessageError) as fault:
            raise build_refusal(str(fault)) from fault


def _open(path: str, span: Span) -> "_Attachments | _Mailbox | _Zip | _Evernote":
    status = os.stat(find_container(path))  # noqa: PTH116 - a plain string
    return _load(path, span, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=2)
def _load(path: str, span: Span, *_state: int) -> "_Attachments | _Mailbox | _Zip | _Evernote":
    """Return a container; the last ones stay open for their next members."""
    if is_nested := find_container(path) != path:
        source: _OpenSource = partial(io.BytesIO, ContainerFiles().read(path, span))
    else:
        source = cast("_OpenSource", partial(open, path, "rb"))
    with source() as file:
        media = detect_media(path.rpartition("/")[2], 1, partial(file.read, HEAD_BYTES))
    if media == ZIP:
        return _Zip(source)
    is_note = path.rpartition(MEMBER_MARK)[0].lower().endswith(".enex")
    if media == ENEX and not is_note:
        return _Evernote(source)
    if media == MBOX:
        return _Mailbox(source, is_nested=is_nested)
    if media not in {EMAIL, MSG, PDF, ENEX}:
        raise ValueError("it has no files within it")
    with source() as file:
        return _open_attachments(file.read(), media, path)


def read_document(absolute: str) -> bytes:
    """Return the bytes of a document: of a file, or of a member of a container.

    Raises:
        OSError: The file cannot be read.
        ParseFailed: The member cannot be read.
    """
    if find_container(absolute) != absolute:
        return ContainerFiles().read(absolute)
    return Path(absolute).read_bytes()
