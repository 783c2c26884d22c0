"""Folds, encodings and escapes of iCalendar and vCard files."""

import pytest

from kebab.core.documents import ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.registry import PARSERS

EVENTS, CONTACTS = "text/calendar", "text/vcard"


def parse(media: str, data: bytes) -> ParsedDocument:
    return PARSERS[media].parse(data, "file")


def parse_card(lines: bytes) -> str:
    return parse(CONTACTS, b"BEGIN:VCARD\n" + lines + b"\nEND:VCARD\n").text


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("FN:Jör".encode()[:5] + b"\r\n " + "FN:Jör".encode()[5:], "# Jör"),
        (b"FN\n\n :Ann", "# Ann"),
        (b"FN;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:J=C3=\n=B6r=0D=0Ag", "# Jör g"),
        (b"FN;QUOTED-PRINTABLE;CHARSET=EUC-KR:=B1=E8", "# 김"),
        (b"FN;CHARSET=windows-1252:J\xf6rg", "# Jörg"),
        (b"FN:Lee\\, Ann\\; \\\\n", "# Lee, Ann; \\n"),
        (b"fn:Ann", "# Ann"),
        (b'FN;X="a:b;c":Ann', "# Ann"),
        (b"N:Lee;Ann;May;Dr.;Jr.", "# Dr. Ann May Lee Jr."),
        (b"ORG:Harbour", "# Harbour\n\nOrganisation: Harbour"),
        (b"FN:A\nURL:http://x/?a=\n b", "# A\n\nURL: http://x/?a=b"),
    ],
)
def test_a_line_is_read_without_its_folds_encoding_and_escapes(lines, expected):
    assert parse_card(lines) == expected


def test_a_file_in_utf_16_is_read():
    data = "BEGIN:VCARD\r\nFN:한\r\nEND:VCARD".encode("utf-16")
    assert parse(CONTACTS, data).title == "한"


def test_a_file_that_is_cut_off_keeps_its_entries_and_says_so():
    document = parse(EVENTS, b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Sale\nnonsense")
    assert document.text == "# Sale"
    assert document.warnings == (
        "lines that are no properties are left out: 1",
        "`VEVENT` has no end: the file is cut off",
    )


@pytest.mark.parametrize("media", [EVENTS, CONTACTS])
def test_a_file_without_a_component_is_refused(media):
    with pytest.raises(ParseFailed, match="no `BEGIN:`"):
        parse(media, b"FN:Ann")


@pytest.mark.parametrize(
    "data",
    [
        b"SUMMARY:" + b"word " * 300_000,
        b"BEGIN:VEVENT\n" * 30_000,
        b"SUMMARY:x\n" + b" y\n" * 60_000,
        b"ATTENDEE" + b';A="b' * 30_000 + b":c",
        b"RRULE:FREQ=SECONDLY;COUNT=" + b"9" * 300_000,
    ],
)
def test_hostile_calendars_cost_little(data):
    assert parse(EVENTS, b"BEGIN:VEVENT\nSUMMARY:Sale\n" + data).blocks
