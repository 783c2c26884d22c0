import struct
from base64 import b64encode

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.mail.message import EmailParser
from kebab.parse.mail.outlook import MsgParser
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


def test_text_that_is_not_read_is_said():
    document = parse(build_msg({"0037001F": b"a\0", "10090102": b"LZFu"}))

    assert document.warnings == ("the text is only in compressed RTF, which is not read",)
    assert document.omissions[-1] == (*document.warnings, "")


def test_a_message_that_outlook_has_packed_is_opened():
    def pack(attribute, data):
        return struct.pack("<BHHI", 1, attribute, 0, len(data)) + data + b"\0\0"

    data = b"\x78\x9f\x3e\x22\0\0" + pack(0x800C, b"text\0")
    data += pack(0x9002, b"") + pack(0x800F, b"a") + pack(0x8010, b"one.txt\0") + b"cut off"
    email = b"Subject: s\nContent-Type: application/ms-tnef; name=winmail.dat\n\n"
    email = email.replace(b"\n\n", b"\nContent-Transfer-Encoding: base64\n\n") + b64encode(data)

    assert (
        EmailParser()
        .parse(email, "a.eml")
        .text.endswith("text\n\nAttachments:\n\n- one.txt (text/plain, 1 bytes)")
    )


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
