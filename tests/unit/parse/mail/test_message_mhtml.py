from pathlib import Path

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.mail import message as mail
from kebab.parse.mail.message import MhtmlParser

SAMPLE = Path("samples/formats/kimchi-chromium.mhtml")


def parse(data):
    return MhtmlParser().parse(data, "a.mhtml")


def test_a_page_that_a_browser_saved_is_read():
    document = parse(SAMPLE.read_bytes())

    assert document.title == "김치냉장고 온도 설정"
    assert document.metadata.authors == ("이수진",)
    assert "| 배추김치 | -1.5도 |" in document.text
    assert "쿠키" not in document.text


def test_the_frames_of_a_page_are_read():
    page = b"--b\nContent-Type: text/html\n\n<p>%s</p>\n"
    data = b"Content-Type: multipart/related; boundary=b\n\n" + page % b"page" + page % b"frame"
    data += page % (b"<div>" * 6_000)

    assert parse(data + b"--b--\n").text == "page\n\nframe"


@pytest.mark.parametrize("data", [b"", b"Subject: s\nContent-Type: text/plain\n\nx"])
def test_a_file_without_a_page_is_refused(data):
    with pytest.raises(ParseFailed, match="not a saved page"):
        parse(data)


def test_a_page_that_the_library_refuses_is_damaged(monkeypatch):
    def refuse(text):
        raise ValueError(text)

    monkeypatch.setattr(mail, "read_parts", refuse)
    with pytest.raises(ParseFailed, match="damaged: <p>x"):
        parse(b"Content-Type: text/html\n\n<p>x")
