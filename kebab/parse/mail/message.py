"""Decodes the headers and the parts of messages, however broken they are."""

import binascii
from datetime import UTC
from email import policy
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime

from kebab.errors.catalog import ParseFailed
from kebab.parse.encoding import decode
from kebab.parse.html.charset import decode_declared, decode_html, find_codec

_BROKEN = (ValueError, LookupError, TypeError, AttributeError, MessageError, binascii.Error)
"""What the standard library raises for broken headers and encodings."""

_MAX_HEADER_CHARS = 2_000


def parse_message(data: bytes) -> Message:
    """Return a message; the standard library accepts any bytes."""
    return BytesParser(policy=policy.compat32).parsebytes(data)


def read_header(message: Message, name: str) -> str:
    """Return a header as text on one line, empty when it is missing."""
    for key, value in message.raw_items():
        if key.lower() == name:
            return " ".join(_decode_header(str(value)).split())[:_MAX_HEADER_CHARS]
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
    codec = find_codec(charset)
    decoded = decode_declared(data, codec) if codec else None
    if decoded is not None:
        return decoded.text
    try:
        return decode(data).text
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


def read_text(part: Message, path: str, parser: str, *, html: bool) -> str:
    """Return the text of a part in its declared encoding, else in that of its bytes.

    Raises:
        ParseFailed: The bytes are not text.
    """
    data = read_payload(part)
    codec = find_codec(_find_charset(part))
    decoded = decode_declared(data, codec) if codec else None
    if decoded is not None:
        return decoded.text
    return (decode_html if html else decode)(data, path, parser).text


def _find_charset(part: Message) -> str:
    try:
        return part.get_content_charset() or ""
    except _BROKEN:
        return ""


def find_file_name(part: Message) -> str:
    """Return the name of an attached file, empty when it has none."""
    try:
        name = part.get_filename() or ""
    except _BROKEN:
        return ""
    return " ".join(_decode_header(name).split())[:200]
