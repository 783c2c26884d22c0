import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.mail import (
    find_file_name,
    list_names,
    parse_message,
    read_date,
    read_header,
    read_payload,
    read_text,
)

KOREAN = "등대 렌즈 청소 일정"


def parse(text):
    return parse_message(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (b"Subject: Oil  for\r\n the pier", "Oil for the pier"),
        (b"SUBJECT: =?euc-kr?B?" + b"te606w==" + b"?=", "등대"),
        (b"Subject: =?utf-8?q?caf=C3=A9?= =?utf-8?q?_noir?=", "caf\u00e9 noir"),
        (b"Subject: =?no-such-charset?q?caf=C3=A9?=", "caf\u00e9"),
        (b"Subject: =?utf-8?b?broken", "=?utf-8?b?broken"),
        (b"Subject: =?utf-8?b?a?=", "=?utf-8?b?a?="),
        (b"Subject: " + KOREAN.encode(), KOREAN),
        (b"Subject: " + (KOREAN * 3).encode("euc-kr"), KOREAN * 3),
        (b"Subject: " + bytes(range(1, 9)) * 20 + b"\xff", None),
        (b"X: y", ""),
    ],
)
def test_headers_are_decoded_however_broken(header, text):
    found = read_header(parse(header + b"\r\n\r\nbody"), "subject")

    assert text is None or found == text


def test_people_are_names_or_addresses():
    message = parse('From: "Lind, Nora" <n@x.example>, a@x.example, =?utf-8?q?J=C3=B6?= <j@x>\n\n')

    assert list_names(message, "from") == ["Lind, Nora", "a@x.example", "J\u00f6"]
    assert list_names(message, "to") == []


@pytest.mark.parametrize(
    ("date", "iso"),
    [
        ("Tue, 05 Mar 2024 09:30:00 +0200", "2024-03-05T07:30:00Z"),
        ("Tue, 05 Mar 2024 09:30:00 -0000", "2024-03-05"),
        ("yesterday", None),
        ("Tue, 99 Mar 2024 09:30:00 +0200", None),
        ("", None),
    ],
)
def test_dates_are_times_in_utc(date, iso):
    assert read_date(parse(f"Date: {date}\n\n")) == iso


def test_payloads_are_decoded_however_broken():
    assert read_payload(parse("Content-Transfer-Encoding: base64\n\nYWJj")) == b"abc"
    assert read_payload(parse("Content-Transfer-Encoding: base64\n\n!!!!")) is not None
    assert (
        read_payload(parse("Content-Type: multipart/mixed; boundary=x\n\n--x\n\na\n--x--")) == b""
    )


def test_the_text_of_a_part_is_in_its_declared_encoding_or_detected():
    declared = b"Content-Type: text/plain; charset=euc-kr\n\n" + "똠".encode("cp949")
    wrong = b"Content-Type: text/plain; charset=us-ascii\n\n" + KOREAN.encode()

    assert read_text(parse(declared), "a.eml", "email-v1", html=False) == "똠"
    assert read_text(parse(wrong), "a.eml", "email-v1", html=False) == KOREAN
    with pytest.raises(ParseFailed):
        read_text(parse(b"A: b\n\n" + bytes(range(256)) * 9), "a.eml", "email-v1", html=False)


def test_names_of_files_are_decoded():
    message = parse("Content-Disposition: attachment; filename*=utf-8''M%C3%A4rz.pdf\n\n")

    assert find_file_name(message) == "M\u00e4rz.pdf"
    assert find_file_name(parse("A: b\n\n")) == ""
