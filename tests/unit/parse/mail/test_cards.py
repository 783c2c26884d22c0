"""Calendars and contacts: fields, folds, encodings and escapes."""

from pathlib import Path

import pytest

from kebab.core.documents import ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.registry import PARSERS

EVENTS, CONTACTS = "text/calendar", "text/vcard"
SAMPLES = Path("samples/formats")


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
        (b"N:Lee;Ann;;Dr.;", "# Lee, Ann, Dr."),
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


def test_each_entry_is_a_section_with_its_fields():
    document = parse(EVENTS, (SAMPLES / "harbour.ics").read_bytes())
    assert document.title == "Harbour dates"
    assert document.metadata.tags == ("workshop", "harbour")
    assert document.text == (
        "# Net mending evening\n\n"
        "Start: 2024-05-04 18:00 (Europe/Berlin)\n"
        "End: 2024-05-04 20:00 (Europe/Berlin)\n"
        "Repeats: FREQ=WEEKLY;BYDAY=SA;COUNT=6\n"
        "Place: Old boathouse, pier 3\n"
        "Organiser: Jana Petersen <jana@example.org>\n"
        "Attendee: Ole Brandt <ole@example.org> (accepted)\n"
        "Categories: workshop,harbour\n\n"
        "Bring twine and a netting needle.\n"
        "We mend the torn herring net that the storm left behind.\n\n"
        "# Order new mooring lines\n\n"
        "Due: 2024-06-10\n"
        "Status: NEEDS-ACTION"
    )


def test_a_file_of_one_event_has_its_title_date_and_organiser():
    lines = b"SUMMARY:Sale\nDTSTART:20240504T180000Z\nORGANIZER;CN=Jana:mailto:j@example.org"
    metadata = parse(EVENTS, b"BEGIN:VEVENT\n" + lines + b"\nEND:VEVENT").metadata
    assert (metadata.title, metadata.authors) == ("Sale", ("Jana",))
    assert metadata.date == "2024-05-04T18:00:00Z"


def test_each_contact_is_a_section_with_its_fields():
    text = parse(CONTACTS, (SAMPLES / "harbour.vcf").read_bytes()).text
    assert text == (
        "# Karsten Möller\n\n"
        "Organisation: Harbour office, Moorings\n"
        "Phone (work): +49 431 5550117\n"
        "E-mail: karsten@example.org\n"
        "Address (work): Hafenstraße 12, Kiel, 24103, Germany\n\n"
        "Has the keys of the crane.\nCall before noon.\n\n"
        "# Mi-rae Han\n\n"
        "Phone (cell): +82-2-555-0142\n\n"
        "Repairs sails, also on Sundays."
    )


def test_a_file_of_one_contact_has_its_name_and_nicknames():
    data = b"BEGIN:VCARD\nFN:Ann Lee\nNICKNAME:Annie,AL\nCATEGORIES:crew\nEND:VCARD"
    metadata = parse(CONTACTS, data).metadata
    assert (metadata.title, metadata.aliases, metadata.tags) == (
        "Ann Lee",
        ("Annie", "AL"),
        ("crew",),
    )
