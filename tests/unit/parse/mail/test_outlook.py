import struct
from base64 import b64encode

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.mail.message import EmailParser, MsgParser
from tests.unit.parse.office.compound_files import build_compound, build_msg
from tests.unit.parse.office.test_old_office import parse_sample

KOREAN = "등유를 주문합니다."
DELIVERED = 0x0E06, 133_540_974_000_000_000


def parse(streams):
    return MsgParser().parse(build_compound(streams), "a.msg")


def test_a_message_is_read_with_its_headers_and_what_is_attached():
    document = parse_sample("oil.msg")

    assert document.text == (
        "# Oil for the lamp\n\n"
        "From: Jun Park <jun@harbour.example>\nTo: Aiko Sato <aiko@harbour.example>\n"
        "Subject: Oil for the lamp\nDate: Tue, 05 Mar 2024 07:30:00 +0000\n\n"
        "Please order 310 litres of oil.\n\nThe tank is nearly empty.\n\n"
        "Attachments:\n\n- orders.csv (text/csv, 23 bytes)\n"
        "- 유류 주문.eml (message/rfc822, 360 bytes)"
    )
    assert document.metadata.authors == ("Jun Park",)
    assert document.metadata.date == "2024-03-05T07:30:00Z"


@pytest.mark.parametrize("name", ["1000001E", "10130102"])
def test_texts_are_decoded_by_the_code_pages_of_the_message(name):
    texts = {"0037001F": "유류".encode("utf-16-le"), name: KOREAN.encode("cp949")}
    document = parse(build_msg(texts, [(0x3FFD, 949), (0x3FDE, 949), DELIVERED]))

    assert document.title == "유류"
    assert KOREAN in document.text
    assert document.metadata.date == "2024-03-05T07:30:00Z"


def test_headers_that_were_sent_count_before_the_names_of_outlook():
    sent = "From: Aiko <aiko@harbour.example>\r\nTo: =?utf-8?B?67CV?= <p@harbour.example>\r\n\r\n"
    texts = {"007D001F": sent.encode("utf-16-le"), "0C1A001F": "A".encode("utf-16-le")}

    assert (
        "From: Aiko <aiko@harbour.example>\nTo: 박 <p@harbour.example>"
        in parse(build_msg(texts)).text
    )


RTF = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d"
    "0a800fa0"
)
"""The first example of [MS-OXRTFCP], of which a person reads `hello world`."""


def test_a_text_that_is_only_in_compressed_rtf_is_read():
    assert parse(build_msg({"0037001F": b"a\0", "10090102": RTF})).text.endswith("\n\nhello world")


def test_text_that_is_not_read_is_said():
    document = parse(build_msg({"0037001F": b"a\0", "10090102": b"LZFu"}))

    assert document.warnings == ("the text is only in damaged RTF, which is not read",)
    assert document.omissions[-1] == (*document.warnings, "")


def pack_attribute(attribute, data):
    return struct.pack("<BHHI", 1, attribute, 0, len(data)) + data + b"\0\0"


def pack_properties(*properties):
    """Return the number of properties, and each with its type, its name and one value."""
    texts = (
        struct.pack("<HH", kind, name)
        + (bytes(16) + struct.pack("<II2s2x", 1, 2, b"a\0") if name >= 0x8000 else b"")
        + (value if kind == 3 else struct.pack("<II", 1, len(value)) + value)
        + bytes(-len(value) % 4)
        for kind, name, value in properties
    )
    return struct.pack("<I", len(properties)) + b"".join(texts)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (pack_attribute(0x800C, b"text\0"), "text"),
        (
            pack_attribute(
                0x9003,
                pack_properties((3, 0x8001, b"1234"), (30, 0x1000, b"a"), (258, 0x1009, RTF)),
            ),
            "hello world",
        ),
        (pack_attribute(0x9003, pack_properties((258, 0x1013, b"<p>page</p>"))), "page"),
    ],
)
def test_a_message_that_outlook_has_packed_is_opened(body, text):
    data = b"\x78\x9f\x3e\x22\0\0" + body + pack_attribute(0x9002, b"")
    data += pack_attribute(0x800F, b"a") + pack_attribute(0x8010, b"ONE~1.TXT\0")
    name = (31, 0x3707, "one.txt\0".encode("utf-16-le"))
    data += pack_attribute(0x9005, pack_properties(name)) + b"cut off"

    assert (parse_packed("application/ms-tnef; name=winmail.dat", data)).endswith(
        f"{text}\n\nAttachments:\n\n- one.txt (text/plain, 1 bytes)"
    )


def parse_packed(kind, data):
    email = f"Subject: s\nContent-Type: {kind}\nContent-Transfer-Encoding: base64\n\n"
    return EmailParser().parse(email.encode() + b64encode(data), "a.eml").text


@pytest.mark.parametrize("in_pieces", [False, True])
def test_a_message_within_its_signature_is_read(in_pieces):
    inner = b"Content-Type: text/plain\r\n\r\nThe lamp burns all night."
    content = b"\x04\x82" + len(inner).to_bytes(2, "big") + inner
    if in_pieces:
        pieces = (bytes([4, len(one)]) + one for one in (inner[:20], inner[20:]))
        content = b"\x24\x80" + b"".join(pieces) + b"\0\0"
    data = b"\x06\t*\x86H\x86\xf7\r\x01\x07\x01\xa0\x80" + content + b"\0\0\xa0\x03\x04\x01x"

    assert parse_packed("application/pkcs7-mime", data).endswith("The lamp burns all night.")


@pytest.mark.parametrize("content", [b"\x30\x03\x04\x01x", b"\xa0\x80\x04\x05%PDF-"])
def test_an_encrypted_message_and_a_signed_file_are_attachments(content):
    data = b"\x06\t*\x86H\x86\xf7\r\x01\x07\x01" + content

    assert "Attachments" in parse_packed("application/pkcs7-mime; name=smime.p7m", data)


CODED = b"begin 644 a.csv\n#86)C\n%s\nend\nBehind.\n"


@pytest.mark.parametrize("last", [b"`", b" ", b""])
def test_files_that_uuencode_has_put_into_a_text_are_attached(last):
    email = b"Subject: s\nContent-Type: text/plain; charset=iso-8859-2\n\nZa\xbf\xf3\xb3\xe6.\n"

    assert (
        EmailParser()
        .parse(email + CODED % last, "a.eml")
        .text.endswith("Zażółć.\n\nBehind.\n\nAttachments:\n\n- a.csv (text/csv, 3 bytes)")
    )


def test_what_uuencode_has_not_written_is_text():
    email = b"Subject: s\n\n" + CODED % b'"THE LAMP BURNS\n`'

    assert EmailParser().parse(email, "a.eml").text.endswith("LAMP BURNS\n`\nend\nBehind.")


def test_a_file_of_another_kind_is_no_message():
    with pytest.raises(ParseFailed) as refusal:
        parse({"Workbook": b"x"})
    assert refusal.value.cause == "damaged: no message of Outlook"


def test_what_mail_cannot_hold_costs_no_message():
    names = {"0037": "Oil", "0C1A": "Jürgen", "5D01": "jü@exämple.de"}
    texts = {f"{name}001F": text.encode("utf-16-le") for name, text in names.items()}
    document = parse(build_msg(texts, [(0x0039, 0x7FFF_FFFF_FFFF_FFFF)]))

    assert document.text == '# Oil\n\nFrom: "Jürgen" <jü@exämple.de>\nSubject: Oil'
    assert document.metadata.date is None


def test_the_name_of_an_attachment_is_one_line():
    attached = "__attach_version1.0_#00000000/__substg1.0_"
    streams = build_msg({"0037001F": b"a\0"})
    streams[f"{attached}3707001F"] = "a\nB: 1\n\nc.txt".encode("utf-16-le")
    streams[f"{attached}37010102"] = b"x"

    assert "- a B: 1 c.txt (text/plain" in parse(streams).text
