"""Reads e-mail: single messages (`.eml`, `.emlx`) and mailboxes (`.mbox`)."""

import re
from collections.abc import Iterator

from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.mail.body import MessageWriter
from kebab.parse.mail.message import list_names, parse_message, read_date, read_header
from kebab.parse.text_builder import TextBuilder

_HEADER = re.compile(rb"[!-9;-~]{1,76}:")
_KNOWN_HEADER = re.compile(
    rb"^(?:from|to|subject|date|message-id|received|return-path|mime-version|content-type"
    rb"|delivered-to|reply-to|x-[\w-]+):",
    re.IGNORECASE | re.MULTILINE,
)
_APPLE_LENGTH = re.compile(rb"\s{0,20}(\d{1,12})[ \t]*\r?\n")
_HEAD_BYTES = 65_536
_BEGIN = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]{0,1000}\r?\n")
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
MAX_MESSAGES = 50_000
MAX_CHARS = 200_000_000
_NOT_MAIL = "no e-mail: it has no headers"


class EmailParser:
    """Parses one message: its headers, its text, and the names of its attachments."""

    version = "email-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The bytes are no message.
        """
        body = _cut_apple_frame(data)
        if not _has_headers(body):
            raise ParseFailed(path=path, parser=self.version, cause=_NOT_MAIL)
        message = parse_message(body)
        builder = TextBuilder()
        writer = MessageWriter(builder, path, self.version)
        writer.write(message)
        metadata = Metadata(
            title=read_header(message, "subject") or None,
            authors=tuple(list_names(message, "from")),
            date=read_date(message),
        )
        return builder.build(path, metadata, warnings=writer.warnings)


class MboxParser:
    """Parses a mailbox: each message is a section whose heading is its subject."""

    version = "mbox-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The bytes are no mailbox.
        """
        if not _BEGIN.match(data) or not _has_headers(data.partition(b"\n")[2]):
            raise ParseFailed(path=path, parser=self.version, cause="not a mailbox in mbox format")
        builder = TextBuilder()
        warnings: list[str] = []
        for number, message in enumerate(split_mailbox(data)):
            if number >= MAX_MESSAGES or builder.length > MAX_CHARS:
                warnings.append(f"only the first {number:,} messages are searched")
                break
            writer = MessageWriter(builder, path, self.version)
            writer.write(parse_message(message))
            warnings += [text for text in writer.warnings if text not in warnings]
        return builder.build(path, warnings=warnings, title=_get_stem(path))


def split_mailbox(data: bytes) -> Iterator[bytes]:
    """Yield the messages of a mailbox without the lines that separate them."""
    start: int | None = None
    for begin in _BEGIN.finditer(data):
        if start is not None:
            yield _ESCAPED.sub(rb"\1", data[start : begin.start()])
        start = begin.end()
    if start is not None:
        yield _ESCAPED.sub(rb"\1", data[start:])


def _get_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _has_headers(data: bytes) -> bool:
    """Return whether the bytes begin with the headers of a message."""
    head = data[:_HEAD_BYTES].lstrip(b"\r\n \t\xef\xbb\xbf")
    first = head.partition(b"\n")[0]
    block = re.split(rb"\r?\n\r?\n", head, maxsplit=1)[0]
    begins = _HEADER.match(first) is not None or first.startswith(b"From ")
    return begins and _KNOWN_HEADER.search(block) is not None


def _cut_apple_frame(data: bytes) -> bytes:
    """Return the message of a file of Apple Mail, which begins with the length of the message."""
    found = _APPLE_LENGTH.match(data)
    if not found:
        return data.lstrip(b"\xef\xbb\xbf\r\n")
    return data[found.end() : found.end() + int(found[1])]
