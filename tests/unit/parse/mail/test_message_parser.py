from pathlib import Path

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.mail.message import EmailParser

SAMPLES = Path("samples/formats")


def parse(data, path="mail/a.eml"):
    return EmailParser().parse(data, path)


def test_a_message_is_read():
    document = parse((SAMPLES / "oil.eml").read_bytes())

    assert document.title == "Oil for the north pier – March"
    assert document.metadata.authors == ("Nora Lind",)
    assert document.metadata.date == "2024-03-05T07:30:00Z"
    assert "forty litres on Friday" in document.text
    assert "> How much oil is left?" in document.text
    assert "HTML copy" not in document.text
    assert "- Lieferschein M\u00e4rz.pdf (application/pdf, 2 kB)" in document.text


def test_a_korean_message_in_html_is_read():
    document = parse((SAMPLES / "lighthouse-euc-kr.eml").read_bytes())

    assert document.title == "등대 렌즈 청소 일정"
    assert document.metadata.authors == ("이수진",)
    assert "묵호 등대의 렌즈는 금요일에" in document.text
    assert "| 속초 | 12월 9일 |" in document.text


def test_a_file_of_apple_mail_is_read():
    message = b"Subject: Oil\n\nbody\n"
    data = f"{len(message)}   \n".encode() + message + b"<?xml version='1.0'?><plist></plist>"

    assert parse(data, "1.emlx").text == "# Oil\n\nSubject: Oil\n\nbody"


@pytest.mark.parametrize("data", [b"", b"\x00" * 99, b"<html>"])
def test_what_has_no_headers_is_no_message(data):
    with pytest.raises(ParseFailed, match=r"no e-mail|not text"):
        parse(data)
