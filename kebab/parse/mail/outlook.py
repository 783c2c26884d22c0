"""Unpacks what mail programs pack.

These are messages of Outlook (`.msg`), which become e-mail, its `winmail.dat` and compressed RTF,
messages within a signature, and files that uuencode has put into a text.
"""

import binascii
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email import policy
from email.encoders import encode_base64
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.parser import BytesParser, HeaderParser
from email.utils import format_datetime, formataddr, quote
from itertools import count
from mimetypes import guess_type
from typing import Any

from kebab.errors.catalog import ParseFailed
from kebab.errors.system import translate_import_errors
from kebab.limits.deadline import build_refusal
from kebab.parse.office.old_office import FAULTS, refuse_foreign
from kebab.parse.office.rtf import RtfParser, find_page_codec


def parse_message(data: bytes) -> Message:
    """Return a message; the standard library accepts any bytes."""
    return BytesParser(policy=policy.compat32).parsebytes(data)


_KIND = re.compile(r"([\w.+-]+)/([\w.+-]+)", re.ASCII)


def build_part(kind: str, data: bytes, *, name: str = "", charset: str = "") -> Message:
    """Return a part of a message; without a name it is text of the message."""
    match = _KIND.fullmatch(kind)
    part = MIMEBase(*match.groups()) if match else MIMEBase("application", "octet-stream")
    part.set_payload(data)
    encode_base64(part)
    if charset:
        part.set_param("charset", charset)
    if name or not kind.startswith("text/"):
        part.add_header("Content-Disposition", "attachment", filename=name)
    return part


_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
"""What compressed RTF may refer to before its first byte ([MS-OXRTFCP] 2.1.2.1)."""

_WINDOW = 4_096


def read_rtf(data: bytes) -> str:
    """Return the text of compressed RTF, empty for none."""
    form, at, out = data[8:12], 16, bytearray(_DICTIONARY)
    if form == b"MELA":  # it is not compressed
        out += data[at:]
    while form == b"LZFu" and at < len(data):
        flags, at = data[at], at + 1
        for bit in range(8):
            if not flags >> bit & 1:
                out += data[at : at + 1]
                at += 1
                continue
            pair, at = int.from_bytes(data[at : at + 2], "big"), at + 2
            distance = (len(out) - (pair >> 4)) % _WINDOW
            if not 0 < distance <= len(out):  # the end, or damage
                at = len(data)
                break
            for _ in range((pair & 15) + 2):
                out.append(out[-distance])
    with suppress(ParseFailed):
        return RtfParser().parse(bytes(out[len(_DICTIONARY) :]), "").text
    return ""


_PACK = b"\x78\x9f\x3e\x22"
_CODE_PAGES, _BODY, _PACKED_PROPERTIES = 0x9007, 0x800C, 0x9003
_BEGIN_FILE, _FILE_NAME, _FILE, _FILE_PROPERTIES = 0x9002, 0x8010, 0x800F, 0x9005
"""Attributes of a packed message ([MS-OXTNEF] 2.1.3.2)."""

_HTML, _RTF, _LONG_NAME = 0x1013, 0x1009, 0x3707
_SIZES = {**dict.fromkeys((2, 3, 4, 10, 11), 4), **dict.fromkeys((5, 6, 7, 20, 64), 8), 72: 16}
_VARIABLE = frozenset({13, 30, 31, 258})
_FIRST_NAMED, _MANY = 0x8000, 0x1000
"""Types of properties by their sizes; those with a name, and those with many values."""


def _read_properties(data: bytes, codec: str) -> Iterator[tuple[int, bytes]]:
    """Yield the properties of a packed message or file that have text ([MS-OXTNEF] 2.1.3.4)."""
    at, codecs = 0, {30: codec, 31: "utf-16-le"}

    def read_number() -> int:
        nonlocal at
        at += 4
        return int(struct.unpack_from("<I", data, at - 4)[0])

    with suppress(struct.error):
        for _ in range(read_number()):
            pair = read_number()
            kind, name = pair & 0xFFFF, pair >> 16
            if name >= _FIRST_NAMED:
                at += 16
                is_text = read_number()
                size = read_number()
                at += -(-size // 4) * 4 * bool(is_text)
            is_variable = kind & ~_MANY in _VARIABLE
            for _ in range(read_number() if is_variable or kind & _MANY else 1):
                size = read_number() if is_variable else _SIZES.get(kind & ~_MANY, len(data))
                if at > len(data):
                    return
                if is_variable:
                    value, form = data[at : at + size], codecs.get(kind & ~_MANY)
                    yield name, value.decode(form, "replace").encode() if form else value
                at += -(-size // 4) * 4


def _read_pack(data: bytes) -> list[Message]:
    """Return the text and the files of a message that Outlook has packed as `winmail.dat`."""
    groups: list[dict[int, bytes]] = [{}]
    at = 6
    while data.startswith(_PACK) and at + 9 < len(data):
        _, attribute, _, size = struct.unpack_from("<BHHI", data, at)
        if attribute == _BEGIN_FILE:
            groups.append({})
        groups[-1][attribute] = data[at + 9 : at + 9 + size]
        at += 11 + size
    codec = find_page_codec(int.from_bytes(groups[0].get(_CODE_PAGES, b"")[:4], "little"))
    parts: list[Message] = []
    body = dict(_read_properties(groups[0].get(_PACKED_PROPERTIES, b""), codec))
    text = groups[0].get(_BODY, b"").decode(codec, "replace").rstrip("\0")
    if text := text or read_rtf(body.get(_RTF, b"")):
        parts.append(build_part("text/plain", text.encode(), charset="utf-8"))
    elif html := body.get(_HTML):
        parts.append(build_part("text/html", html))
    for group in groups[1:]:
        if content := group.get(_FILE):
            names = dict(_read_properties(group.get(_FILE_PROPERTIES, b""), codec))
            short = group.get(_FILE_NAME, b"").decode(codec, "replace")
            name = names.get(_LONG_NAME, b"").decode("utf-8", "replace") or short
            shown = " ".join(name.replace("\0", " ").split())
            parts.append(build_part(guess_type(shown)[0] or "", content, name=shown))
    return parts


_DATA = b"\x06\x09*\x86H\x86\xf7\r\x01\x07\x01"
"""The identifier of plain content in a signed message (RFC 5652); the content follows."""

_CONTENT, _PIECES, _PIECE = 0xA0, 0x24, 0x04


def _read_signed(data: bytes) -> list[Message]:
    """Return the message that a signature contains; nothing for a file, or if it is encrypted."""
    start = data.find(_DATA) + len(_DATA)
    pieces, at = [], start
    while data.startswith(_DATA, start - len(_DATA)) and at + 1 < len(data):
        tag, size, at = data[at], data[at + 1], at + 2
        if size > 0x80:  # noqa: PLR2004 - so many bytes of the size follow
            count = size & 0x7F
            size, at = int.from_bytes(data[at : at + count], "big"), at + count
        if tag == _PIECE:
            pieces.append(data[at : at + size])
            at += size
        elif tag not in {_CONTENT, _PIECES}:
            break
    content = b"".join(pieces)
    return [parse_message(content)] if has_headers(content) else []


_CODED = re.compile(
    rb"^begin [0-7]{3,4} (\S[^\r\n]{0,200})\r?\n((?:[ -`]{0,62}\r?\n)+)end\b", re.MULTILINE
)


def _read_coded(data: bytes) -> list[Message]:
    """Return a text and the files that uuencode has put into it; nothing without files."""
    files: list[Message] = []

    def take(file: re.Match[bytes]) -> bytes:
        name = file[1].decode("utf-8", "replace").strip()
        with suppress(binascii.Error):  # it is text
            content = b"".join(binascii.a2b_uu(line) for line in file[2].splitlines() if line)
            files.append(build_part(guess_type(name)[0] or "", content, name=name))
            return b""
        return file[0]

    rest = _CODED.sub(take, data)
    return [build_part("text/plain", rest), *files] if files else []


UNPACKERS: Mapping[str, Callable[[bytes], list[Message]]] = {
    **dict.fromkeys(("application/ms-tnef", "application/vnd.ms-tnef"), _read_pack),
    **dict.fromkeys(("application/pkcs7-mime", "application/x-pkcs7-mime"), _read_signed),
    "text/plain": _read_coded,
}
"""By the type of a part, what returns the texts and the files in it, empty for none."""


_HEADER = re.compile(rb"[!-9;-~]{1,76}:")
_KNOWN_HEADER = re.compile(
    rb"^(?:from|to|subject|date|message-id|received|return-path|mime-version|content-type"
    rb"|delivered-to|reply-to|x-[\w-]+):",
    re.IGNORECASE | re.MULTILINE,
)


def has_headers(data: bytes) -> bool:
    """Return whether the bytes begin with the headers of a message."""
    head = data[:65_536].lstrip(b"\r\n \t\xef\xbb\xbf")
    first = head.partition(b"\n")[0]
    block = re.split(rb"\r?\n\r?\n", head, maxsplit=1)[0]
    begins = _HEADER.match(first) is not None or first.startswith(b"From ")
    return begins and _KNOWN_HEADER.search(block) is not None


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
        moment, date = fixed.get(_SUBMITTED) or fixed.get(_DELIVERED) or 0, ""
        with suppress(OverflowError):  # no calendar has such a date
            moved = _FIRST_MOMENT + timedelta(microseconds=moment // 10)
            date = format_datetime(moved) if moment else ""
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


_ATTACHMENT = re.compile(r"__attach_version1\.0_#[0-9A-F]{8}")
