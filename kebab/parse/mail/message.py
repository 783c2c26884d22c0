"""Reads e-mail: single messages, their attachments, and web pages that are saved as messages."""

import binascii
import quopri
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from itertools import islice, repeat
from mimetypes import MimeTypes

from kebab.core.documents import Metadata, Omission, ParsedDocument
from kebab.core.files import get_suffix
from kebab.core.media import EMAIL as _MESSAGE
from kebab.core.media import detect_media_type, get_media_type
from kebab.errors.catalog import ParseFailed
from kebab.limits.deadline import build_refusal
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import decode
from kebab.parse.mail.outlook import UNPACKERS, convert_message, has_headers, parse_message
from kebab.parse.web.html import add_fragment, read_parts
from kebab.parse.web.html_page import decode_as, decode_html
from kebab.source.content import describe_unsupported
from kebab.source.members import clean_name, make_unique

_BROKEN = (ValueError, LookupError, TypeError, AttributeError, MessageError, binascii.Error)
"""What the standard library raises for broken headers and encodings."""


def read_header(message: Message, name: str) -> str:
    """Return a header as text on one line, empty when it is missing."""
    for key, value in message.raw_items():
        if key.lower() == name:
            return " ".join(_decode_header(str(value)).split())[:2_000]
    return ""


def _decode_header(value: str) -> str:
    """Return the text of a header with encoded words, or with bytes of an unknown encoding."""
    if not value.isascii():
        value = _decode_text(value.encode("utf-8", "surrogateescape"), "")
    try:
        parts = decode_header(value)
    except (HeaderParseError, *_BROKEN):
        return value
    return "".join(
        _decode_text(part, charset or "") if isinstance(part, bytes) else part
        for part, charset in parts
    )


def _decode_text(data: bytes, charset: str) -> str:
    try:
        return decode_as(data, charset).text
    except ParseFailed:
        return data.decode("latin-1")


def list_names(message: Message, header: str) -> list[str]:
    """Return the people in a header, each by name or else by address."""
    try:
        people = getaddresses([read_header(message, header)])
    except _BROKEN:
        return []
    return [name.strip() or address for name, address in people if name.strip() or address]


def read_date(message: Message) -> str | None:
    """Return the date of a message as a time in UTC, None when there is none."""
    try:
        moment = parsedate_to_datetime(read_header(message, "date"))
        if moment.tzinfo is None:
            return moment.date().isoformat()
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (*_BROKEN, OverflowError):
        return None


def read_payload(part: Message) -> bytes:
    """Return the decoded bytes of a part without parts of its own."""
    try:
        payload = part.get_payload(decode=True)
    except _BROKEN:
        payload = None
    return payload if isinstance(payload, bytes) else b""


def read_text(part: Message, *, html: bool) -> str:
    """Return the text of a part in its declared encoding, else in that of its bytes."""
    data, charset = read_payload(part), ""
    if "content-transfer-encoding" not in part and _SOFT_BREAK.search(data):
        data = quopri.decodestring(data)  # a program forgot to say so
    with suppress(*_BROKEN):
        charset = part.get_content_charset() or ""
    return decode_as(data, charset, decode_html if html else decode).text


def find_file_name(part: Message) -> str:
    """Return the name of an attached file, empty when it has none."""
    try:
        name = part.get_filename() or ""
    except _BROKEN:
        return ""
    return " ".join(_decode_header(name).split())[:200]


_HEADERS = ("From", "To", "Cc", "Subject", "Date")
_UNREAD_HEADERS = (
    *("reply-to", "sender", "bcc", "keywords", "organization", "comments", "list-id"),
    *("message-id", "in-reply-to", "references"),
)
_MAX_DEPTH = 10
_MAX_MESSAGE_PARTS = 500
_KB = 1_000
_SOFT_BREAK = re.compile(rb"^[^\n]{60,75}=\r?$", re.MULTILINE)
"""The end of a line that goes on, in quoted-printable."""
_BYTES = "application/octet-stream"
"""What programs say of any file: its bytes tell more."""
_TEXTS = frozenset({"text/plain", "text/html", "text/enriched", "text/rfc822-headers"})


def _walk_parts(message: Message) -> Iterator[tuple[str, Message, int]]:
    """Yield what the parts of a message are, in order, with their numbers.

    They are a `text`, another `form` of it, a `report` of delivery, a `file`, also beside a text
    that is not shown, or the `rest`, which is too much. A message within the message is a file.
    """
    waiting: list[tuple[Message, int, str]] = [(message, 0, "text")]
    for number in range(_MAX_MESSAGE_PARTS):
        if not waiting:
            return
        part, depth, role = waiting.pop()
        kind, inner = part.get_content_type(), _list_parts(part)
        is_named = bool(find_file_name(part))
        is_form = role == "form" and kind.startswith("text/") and kind != _INVITATION
        is_form = is_form and not is_named
        if depth > _MAX_DEPTH:
            yield "rest", part, number
        elif kind == "message/delivery-status":
            yield "report", part, number
        elif inner and (kind != _MESSAGE or not number):
            chosen = _choose_alternative(inner) if kind == "multipart/alternative" else None
            roles = (role if chosen in {None, one} else "form" for one in reversed(inner))
            waiting += zip(reversed(inner), repeat(depth + 1), roles, strict=False)
        elif (kind in _TEXTS and not _is_attached(part)) or is_form:
            yield role, part, number
        elif kind == _MESSAGE or is_named or read_payload(part):
            yield "file", part, number
    if waiting:
        yield "rest", message, number


def list_attachments(message: Message) -> dict[str, Message]:
    """Return the files of a message by name; a message within it keeps its own."""
    attachments: dict[str, Message] = {}
    taken: dict[str, int] = {}
    for role, part, number in _walk_parts(message):
        if role == "file":
            kind, name = part.get_content_type(), clean_name(find_file_name(part))
            name = name or f"part-{number}"
            suffix = next(iter(get_media_type(kind).suffixes), "")
            if not suffix and kind != _BYTES and not get_suffix(name):
                suffix = MimeTypes().guess_extension(kind) or ""
            if describe_unsupported(get_suffix(name)) is None and not detect_media_type(name):
                name += suffix
            attachments[make_unique(name, taken)] = part
    return attachments


def _list_parts(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [one for one in payload if isinstance(one, Message)] if isinstance(payload, list) else []


def _is_attached(part: Message) -> bool:
    disposition = str(part.get("content-disposition", "")).strip().lower()
    return disposition.startswith("attachment")


def read_attachment(part: Message) -> bytes:
    """Return the bytes of an attached file or message."""
    inner = _list_parts(part)
    if not inner:
        return read_payload(part)
    encoding = str(part.get("content-transfer-encoding", "")).strip().lower()
    with suppress(*_BROKEN):
        if encoding == "base64":  # against the standard, and common
            return binascii.a2b_base64(str(inner[0].get_payload()))
        return inner[0].as_bytes()
    return b""


def write_message(builder: TextBuilder, message: Message) -> list[str]:
    """Write a message: its headers, text, and the names of its attachments; return warnings."""
    builder.add_heading(1, read_header(message, "subject") or "(no subject)")
    headers = ((name, read_header(message, name.lower())) for name in _HEADERS)
    builder.add_paragraph("\n".join(f"{name}: {text}" for name, text in headers if text))
    warnings: dict[str, None] = {}
    forms = TextBuilder()
    for role, part, _ in _walk_parts(message):
        if role == "rest":
            warnings["parts of the message are left out: there are too many"] = None
        elif role == "report":
            text = "\n".join(one.as_string() for one in _list_parts(part))
            add_plain_text(builder, text)
        elif role != "file":
            try:
                _write_text(builder if role == "text" else forms, part)
            except (ParseFailed, ValueError):
                warnings["a part of a message is unreadable"] = None
    builder.leave_out_unknown(_FORMS, [forms.read_text()])
    unread = [read_header(message, name) for name in _UNREAD_HEADERS]
    unread += [message.preamble or "", message.epilogue or ""]
    builder.leave_out("headers of mails", " ".join(filter(None, unread)))
    if attachments := list_attachments(message):
        builder.add_paragraph("Attachments:")
        builder.add_list((0, _describe(*one)) for one in attachments.items())
    return [*warnings]


def _write_text(builder: TextBuilder, part: Message) -> None:
    html = part.get_content_type().endswith("html")
    text = read_text(part, html=html)
    if html:
        add_fragment(builder, text, 1)
    else:
        flow = " " if part.get_param("format") == "flowed" else None
        flow = "" if flow and part.get_param("delsp") == "yes" else flow
        add_plain_text(builder, text, flow)


def _describe(name: str, part: Message) -> str:
    size = len(read_attachment(part))
    shown = f"{size / _KB:.0f} kB" if size >= _KB else f"{size} bytes"
    return f"{name} ({part.get_content_type()}, {shown})"


_FORMS = "other forms of the text of mails"
_FEW_WORDS, _STUB_WORDS = 3, 60
_INVITATION = "text/calendar"
_HTML_MARKUP = re.compile(rb"<(style|script|head)\b.*?</\1>|<[^<>]*>", re.DOTALL | re.IGNORECASE)


def _choose_alternative(parts: list[Message]) -> Message:
    """Return the plain text of a message, else its last form.

    A blank plain text yields, and so does a short one that only points to a form with more words:
    with three times as many, or with others.
    """
    forms = [part for part in parts if part.get_content_type() != _INVITATION]
    for part in parts:
        if part.get_content_type() == "text/plain" and (text := read_payload(part)).strip():
            words, shown = text.split(), _list_html_words(parts)
            others = len(set(words).difference(shown))
            is_other = _FEW_WORDS < len(words) < len(shown) and 2 * others > len(set(words))
            is_stub = len(words) < _STUB_WORDS and (3 * len(words) < len(shown) or is_other)
            return forms[-1] if is_stub and forms else part
    return forms[-1] if forms else parts[-1]


def _list_html_words(parts: list[Message]) -> list[bytes]:
    """Return about the words that the HTML among some parts shows."""
    pages = (
        read_payload(one)
        for part in parts
        for one in islice(part.walk(), _MAX_MESSAGE_PARTS)
        if one.get_content_type() == "text/html"
    )
    return max((_HTML_MARKUP.sub(b" ", page).split() for page in pages), key=len, default=[])


def add_plain_text(builder: TextBuilder, text: str, flow: str | None = None) -> None:
    """Add a plain text as paragraphs, and the lines of other messages in it as quotations.

    With `flow` a blank at the end of a line means that the paragraph goes on behind `flow`
    (RFC 3676).
    """
    lines: list[str] = []
    quoted = False
    for line in [*text.split("\n"), ""]:
        is_quoted = line.startswith(">")
        if lines and (is_quoted != quoted or not line.strip()):
            add = builder.add_quote if quoted else builder.add_paragraph
            add("\n".join(lines))
            lines = []
        quoted = is_quoted
        if line.strip():
            text = line.lstrip("> ") if is_quoted else line
            if flow is None:
                lines.append(text.rstrip())
            elif lines and lines[-1].endswith(" ") and lines[-1] != "-- ":
                lines[-1] = f"{lines[-1][:-1]}{flow}{text}"
            else:
                lines.append(text)


_PAGES = frozenset({"text/html", "application/xhtml+xml"})


class MhtmlParser:
    """Parses a saved page: its first HTML part, and then its frames."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        message = parse_message(data.lstrip(b"\xef\xbb\xbf\r\n"))
        parts = islice(message.walk(), 10_000)
        pages = [one for one in parts if one.get_content_type() in _PAGES]
        if not pages:
            raise build_refusal("not a saved page: it has no HTML")
        try:
            content = read_parts(read_text(pages[0], html=True))
        except ValueError as fault:
            raise build_refusal(f"damaged: {fault}") from fault
        for frame in pages[1:]:
            try:
                add_fragment(content.builder, read_text(frame, html=True), 1)
            except (ParseFailed, ValueError):
                content.builder.leave_out_unread("frames of pages")
        return content.builder.build(
            path,
            content.metadata,
            title=read_header(message, "subject"),
            links=content.links,
        )


_APPLE_LENGTH = re.compile(rb"\s{0,20}(\d{1,12})[ \t]*\r?\n")
_NOT_MAIL = "no e-mail: it has no headers"
_MAY_HAVE_FILES = re.compile(
    rb"^content-(?:type:(?!\s*(?:text/(?:plain|html)|multipart/alternative))"
    rb"|disposition:\s*attachment)|^begin [0-7]{3}",
    re.IGNORECASE | re.MULTILINE,
)


def load_message(data: bytes) -> Message:
    """Return the message of a file: plain, or of Apple Mail."""
    # A file of Apple Mail begins with the length of the message.
    found = _APPLE_LENGTH.match(data)
    body = data[found.end() : found.end() + int(found[1])] if found else data
    body = body.lstrip(b"\xef\xbb\xbf\r\n")
    if not has_headers(body):
        raise build_refusal(_NOT_MAIL)
    message = parse_message(body)
    for part in [*islice(message.walk(), _MAX_MESSAGE_PARTS)]:
        is_file = part.get_content_maintype() == "text" and find_file_name(part)
        unpack = None if is_file else UNPACKERS.get(part.get_content_type())
        if unpack and (inner := unpack(read_payload(part))):
            if unpack is UNPACKERS["text/plain"] and "content-type" in part:
                inner[0].replace_header("Content-Type", part["content-type"])
            for name in ("content-type", "content-transfer-encoding", "content-disposition"):
                del part[name]
            part["Content-Type"] = "multipart/mixed"
            part.set_payload([*inner])
    return message


def may_have_attachments(data: bytes) -> bool:
    """Return whether a message can have an attachment, without parsing it."""
    return _MAY_HAVE_FILES.search(data) is not None


class EmailParser:
    """Parses one message: its headers, its text, and the names of its attachments."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        message = load_message(data)
        builder = TextBuilder()
        warnings = write_message(builder, message)
        metadata = Metadata(
            title=read_header(message, "subject") or None,
            authors=tuple(list_names(message, "from")),
            date=read_date(message),
        )
        return builder.build(path, metadata, warnings=warnings)


class MsgParser(EmailParser):
    """Parses a message of Outlook as the e-mail that its properties make."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        converted, warnings = convert_message(data)
        document = super().parse(converted, path)
        unread = (Omission(one, "") for one in warnings)
        return document._replace(
            warnings=(*document.warnings, *warnings), omissions=(*document.omissions, *unread)
        )
