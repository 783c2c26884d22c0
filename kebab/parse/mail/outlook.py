"""Reads messages of Outlook (`.msg`): they are converted to e-mail and read as such."""

import re
import struct
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.parser import HeaderParser
from email.utils import format_datetime, formataddr, quote
from itertools import count
from mimetypes import guess_type
from typing import Any

from kebab.core.documents import Omission, ParsedDocument
from kebab.errors.system import translate_import_errors
from kebab.limits.deadline import build_refusal
from kebab.parse.mail.message import EmailParser, has_headers
from kebab.parse.mail.packs import build_part, read_rtf
from kebab.parse.office.old_office import FAULTS, refuse_foreign
from kebab.parse.office.rtf import find_page_codec


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


def convert_message(data: bytes) -> tuple[bytes, list[str]]:
    """Return a message of Outlook as e-mail, and what of its text is not read.

    Other programs give the name to plain e-mail, which stays as it is.
    """
    if has_headers(data):
        return data, []
    refuse_foreign(data)
    with translate_import_errors("reading Outlook messages", "dochan", "office"):
        from dochan.cfb import OleFileIO
    try:
        with OleFileIO(data) as container:
            reader = MessageReader(container, 2 * len(data))
            if _PROPERTIES not in reader.names:
                raise ValueError("it has no properties")
            return reader.build("", _TOP_HEADER_BYTES).as_bytes(), [*dict.fromkeys(reader.warnings)]
    except FAULTS as fault:
        raise build_refusal("damaged: no message of Outlook") from fault


_PROPERTIES = "__properties_version1.0"
_TOP_HEADER_BYTES, _INNER_HEADER_BYTES = 32, 24
"""The lengths of the headers of the properties of a message, and of one that is attached."""

_SUBMITTED, _DELIVERED, _CODE_PAGE, _HTML_CODE_PAGE = 0x0039, 0x0E06, 0x3FFD, 0x3FDE
_FIRST_MOMENT = datetime(1601, 1, 1, tzinfo=UTC)
_PROPERTY = struct.Struct("<HHIQ")


class MessageReader:
    """Builds e-mail from the properties of messages, which are streams of a compound file."""

    def __init__(self, container: Any, most: int) -> None:
        """Read no more than so many bytes, because streams may share those of the file."""
        self.warnings: list[str] = []
        self._left = most
        self._boundaries = map("=_{}".format, count())  # in no base64, which all parts are
        self._container = container
        self.names = {"/".join(parts) for parts in container.listdir(storages=True)}

    def build(self, folder: str, header_bytes: int) -> Message:
        """Return the message in a folder, whose properties begin behind a header."""
        properties = self._read(f"{folder}{_PROPERTIES}")[header_bytes:]
        whole = len(properties) // _PROPERTY.size * _PROPERTY.size
        fixed = {name: value for _, name, _, value in _PROPERTY.iter_unpack(properties[:whole])}
        codec = find_page_codec(fixed.get(_CODE_PAGE, 0) & 0xFFFF)

        def read(name: str) -> str:
            return self._read_text(f"{folder}__substg1.0_{name}", codec)

        sent = HeaderParser().parsestr(read("007D"))
        name = read("0C1A")
        address = next((one for one in (read("5D01"), read("0C1F")) if "@" in one), "")
        # `formataddr` refuses addresses with other letters than those of ASCII.
        other = f'"{quote(name)}" <{address}>' if name else address
        sender = formataddr((name, address)) if address.isascii() else other
        date = _format_moment(fixed.get(_SUBMITTED) or fixed.get(_DELIVERED) or 0)
        email = MIMEMultipart(boundary=next(self._boundaries))
        for header, value in (
            ("From", sent["From"] or sender),
            ("To", sent["To"] or read("0E04")),
            ("Cc", sent["Cc"] or read("0E03")),
            ("Subject", read("0037") or sent["Subject"]),
            ("Date", sent["Date"] or date),
        ):
            if value:
                email[header] = " ".join(str(value).split())
        body = MIMEMultipart("alternative", next(self._boundaries))
        if text := read("1000"):
            body.attach(MIMEText(text, "plain", "utf-8"))
        html = self._read(f"{folder}__substg1.0_10130102") or read("1013").encode()
        if html:
            page = find_page_codec(fixed.get(_HTML_CODE_PAGE, 0) & 0xFFFF)
            body.attach(
                build_part("text/html", html, charset=page if _HTML_CODE_PAGE in fixed else "")
            )
        packed = b"" if body.get_payload() else self._read(f"{folder}__substg1.0_10090102")
        if text := read_rtf(packed):
            body.attach(MIMEText(text, "plain", "utf-8"))
        elif packed:
            self.warnings.append("the text is only in damaged RTF, which is not read")
        email.attach(body)
        for name in sorted(self.names):
            if _ATTACHMENT.fullmatch(name.removeprefix(folder)) and name.startswith(folder):
                email.attach(self._build_attachment(name, codec))
        return email

    def _build_attachment(self, folder: str, codec: str) -> Message:
        prefix = f"{folder}/__substg1.0_"
        inner = f"{prefix}3701000D"
        if f"{inner}/{_PROPERTIES}" in self.names:
            message = self.build(f"{inner}/", _INNER_HEADER_BYTES)
            subject = str(message["Subject"] or "message").replace("/", "_")
            part = MIMEMessage(message)
            part.add_header("Content-Disposition", "attachment", filename=f"{subject}.eml")
            return part
        name = self._read_text(f"{prefix}3707", codec) or self._read_text(f"{prefix}3704", codec)
        kind = self._read_text(f"{prefix}370E", codec) or guess_type(name)[0] or ""
        return build_part(kind, self._read(f"{prefix}37010102"), name=" ".join(name.split()))

    def _read(self, name: str) -> bytes:
        if name not in self.names:
            return b""
        self._left -= self._container.get_size(name)
        if self._left < 0:
            raise ValueError("its streams are larger than the file")
        content: bytes = self._container.openstream(name).read()
        return content

    def _read_text(self, name: str, codec: str) -> str:
        wide = self._read(f"{name}001F").decode("utf-16-le", "replace")
        return (wide or self._read(f"{name}001E").decode(codec, "replace")).rstrip("\0")


def _format_moment(moment: int) -> str:
    """Return the date of a number of 100 ns since 1601; empty for none that a calendar has."""
    try:
        return (
            format_datetime(_FIRST_MOMENT + timedelta(microseconds=moment // 10)) if moment else ""
        )
    except OverflowError:
        return ""


_ATTACHMENT = re.compile(r"__attach_version1\.0_#[0-9A-F]{8}")
