import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.blocks import TextBuilder
from kebab.parse.mail import message as mail
from kebab.parse.mail.message import (
    add_plain_text,
    list_attachments,
    list_names,
    read_attachment,
    read_date,
    read_header,
    read_payload,
    read_text,
    write_message,
)
from kebab.parse.mail.outlook import parse_message


def write(text):
    builder = TextBuilder()
    warnings = write_message(
        builder, parse_message(text if isinstance(text, bytes) else text.encode())
    )
    return builder.build("a.eml").text, warnings


def add(text, flow=None):
    builder = TextBuilder()
    add_plain_text(builder, text, flow)
    return builder.build("a.eml").text


MIXED = "Subject: s\nContent-Type: multipart/{kind}; boundary=x\n\n--x\n{parts}\n--x--\n"


def join_parts(*parts, kind="mixed"):
    return MIXED.format(kind=kind, parts="\n--x\n".join(parts))


PLAIN = "Content-Type: text/plain\n\nplain"
HTML = "Content-Type: text/html\n\n<h1>A</h1><p>rich"


def test_the_plain_form_of_a_message_is_read_and_not_its_copy():
    text, _ = write(join_parts(PLAIN, HTML, kind="alternative"))

    assert "plain" in text
    assert "rich" not in text


def test_a_blank_plain_form_gives_way_to_html():
    text, _ = write(join_parts("Content-Type: text/plain\n\n \n", HTML, kind="alternative"))

    assert "## A\n\nrich" in text


def test_an_invitation_is_read_only_where_a_message_has_no_other_form():
    calendar = "Content-Type: text/calendar\n\nBEGIN:VCALENDAR"

    text, _ = write(join_parts(HTML, calendar, kind="alternative"))
    assert "## A\n\nrich" in text
    assert "part-2.ics (text/calendar, 15 bytes)" in text

    text, _ = write(join_parts(calendar, kind="alternative"))
    assert "part-1.ics (text/calendar, 15 bytes)" in text


def test_attachments_are_named_and_not_read():
    attached = (
        'Content-Type: text/plain; name="a.txt"\nContent-Disposition: attachment; '
        'filename="a.txt"\n\nsecret'
    )
    text, _ = write(join_parts(PLAIN, attached, "Content-Type: image/png\n\n" + "x" * 5_000))

    assert "secret" not in text
    assert "- a.txt (text/plain, 6 bytes)\n- part-3.png (image/png, 5 kB)" in text


def test_a_forwarded_message_is_an_attachment_and_keeps_its_own():
    forwarded = "Content-Type: message/rfc822\n\nSubject: inner\nFrom: b@x\n\ndeep"
    coded = (
        "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n"
        'Content-Disposition: attachment; filename="../a/b.eml"\n\nU3ViamVjdDogYg==\n'
    )
    message = parse_message(join_parts(PLAIN, forwarded, coded).encode())

    found = {name: read_attachment(part) for name, part in list_attachments(message).items()}
    assert found == {"part-2.eml": b"Subject: inner\nFrom: b@x\n\ndeep", "a/b.eml": b"Subject: b"}


def test_a_file_beside_a_text_that_is_not_shown_is_an_attachment():
    plan = 'Content-Type: application/pdf; name="plan.pdf"\n\nx'
    other = MIXED.replace("x\n", "y\n").replace("--x", "--y").partition("\n")[2]
    inner = other.format(kind="mixed", parts=f"{HTML}\n--y\n{plan}\n--y\n{plan}")
    text, _ = write(join_parts(PLAIN, inner, kind="alternative"))

    assert "rich" not in text
    assert "- plan.pdf (application/pdf, 1 bytes)\n- plan (2).pdf" in text


def test_an_unreadable_part_costs_only_itself():
    data = join_parts(PLAIN, "Content-Type: text/plain\n\n@@").encode()
    text, warnings = write(data.replace(b"@@", bytes(range(1, 256)).replace(b"\n", b"") * 9))

    assert "plain" in text
    assert warnings == ["a part of a message is unreadable"]


def test_too_many_parts_are_left_out(monkeypatch):
    monkeypatch.setattr(mail, "_MAX_MESSAGE_PARTS", 3)
    text, warnings = write(join_parts(*[PLAIN] * 9))

    assert text.count("plain") == 2
    assert warnings == ["parts of the message are left out: there are too many"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\n\nc", "a\nb\n\nc"),
        ("> a\n>> b\n\nc", "> a\n> b\n\nc"),
        ("a\n> b\nc", "a\n\n> b\n\nc"),
        ("", ""),
    ],
)
def test_quoted_lines_are_quotations(text, expected):
    assert add(text) == expected


@pytest.mark.parametrize(
    ("text", "flow", "expected"),
    [
        ("one \ntwo\nthree", " ", "one two\nthree"),
        ("one \ntwo", None, "one\ntwo"),
        ("bro \nken", "", "broken"),
        ("> one \n> two", " ", "> one two"),
        ("-- \nAnn", " ", "-- \nAnn"),
    ],
)
def test_flowed_lines_are_joined(text, flow, expected):
    assert add(text, flow) == expected


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
    latin = b"Content-Type: text/plain; charset=iso-8859-1\n\n" + "Grüße".encode()
    cut = b"Content-Type: text/plain; charset=utf-8\n\n" + "Grüße".encode() + b"\xe2"
    quoted = b"A: b\n\n" + b"x" * 70 + b"=\nCaf=C3=A9"

    assert read_text(parse(declared), html=False) == "똠"
    assert read_text(parse(wrong), html=False) == KOREAN
    assert read_text(parse(latin), html=False) == "Grüße"
    assert read_text(parse(cut), html=False) == "Grüße\ufffd"
    assert read_text(parse(quoted), html=False) == "x" * 70 + "Café"
    with pytest.raises(ParseFailed):
        read_text(parse(b"A: b\n\n" + bytes(range(256)) * 9), html=False)
