"""Unpacks texts and files that mail programs pack.

These are `winmail.dat` and the compressed RTF of Outlook, messages within a signature, and files
that uuencode has put into a text.
"""

import binascii
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from email import policy
from email.encoders import encode_base64
from email.message import Message
from email.mime.base import MIMEBase
from email.parser import BytesParser
from mimetypes import guess_type
from typing import TypeAlias

from kebab.errors.catalog import ParseFailed
from kebab.parse.office.rtf import RtfParser, find_page_codec

Unpacker: TypeAlias = Callable[[bytes], list[Message | str]]


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
_CODE_PAGES, _BODY, _PROPERTIES = 0x9007, 0x800C, 0x9003
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
                if is_variable:
                    value, form = data[at : at + size], codecs.get(kind & ~_MANY)
                    yield name, value.decode(form, "replace").encode() if form else value
                at += -(-size // 4) * 4


def _read_pack(data: bytes) -> list[Message | str]:
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
    parts: list[Message | str] = []
    body = dict(_read_properties(groups[0].get(_PROPERTIES, b""), codec))
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


def _read_signed(data: bytes) -> list[Message | str]:
    """Return the message that a signature contains; nothing for one that is encrypted."""
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
    return [parse_message(b"".join(pieces))] if pieces else []


_CODED = re.compile(
    rb"^begin [0-7]{3,4} (\S[^\r\n]{0,200})\r?\n((?:[ -`]{1,62}\r?\n)+)end\b", re.MULTILINE
)


def _read_coded(data: bytes) -> list[Message | str]:
    """Return a text and the files that uuencode has put into it; nothing without files."""
    files = [*_CODED.finditer(data)]
    parts: list[Message | str] = [build_part("text/plain", _CODED.sub(b"", data))] if files else []
    for file in files:
        name, content = file[1].decode("utf-8", "replace").strip(), b""
        with suppress(binascii.Error):
            content = b"".join(map(binascii.a2b_uu, file[2].splitlines()))
        parts.append(build_part(guess_type(name)[0] or "", content, name=name))
    return parts


UNPACKERS: Mapping[str, Unpacker] = {
    **dict.fromkeys(("application/ms-tnef", "application/vnd.ms-tnef"), _read_pack),
    **dict.fromkeys(("application/pkcs7-mime", "application/x-pkcs7-mime"), _read_signed),
    "text/plain": _read_coded,
}
"""By the type of a part, what returns the texts and the files in it, empty for none."""
