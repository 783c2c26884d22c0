"""Events, tasks and journal entries of a calendar."""

from pathlib import Path

import pytest

from kebab.parse.registry import PARSERS

SAMPLE = Path("samples/formats/harbour.ics")


def parse(*lines: str):
    text = "\r\n".join(("BEGIN:VCALENDAR", "BEGIN:VEVENT", *lines, "END:VEVENT", "END:VCALENDAR"))
    return PARSERS["text/calendar"].parse(text.encode(), "a.ics")


def test_each_entry_is_a_section_with_its_fields():
    document = PARSERS["text/calendar"].parse(SAMPLE.read_bytes(), "harbour.ics")
    assert document.title == "Harbour dates"
    assert document.metadata.tags == ("workshop", "harbour")
    assert document.text == (
        "# Net mending evening\n\n"
        "Start: 2024-05-04 18:00 (Europe/Berlin)\n"
        "End: 2024-05-04 20:00 (Europe/Berlin)\n"
        "Repeats: every week on Saturday 6 times\n"
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
    lines = ("SUMMARY:Sale", "DTSTART:20240504T180000Z", "ORGANIZER;CN=Jana:mailto:j@example.org")
    metadata = parse(*lines).metadata
    assert (metadata.title, metadata.authors) == ("Sale", ("Jana",))
    assert metadata.date == "2024-05-04T18:00:00Z"


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=DAILY", "every day"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR", "every 2 weeks on Monday, Friday"),
        ("FREQ=YEARLY;UNTIL=20300101", "every year until 2030-01-01"),
        ("FREQ=WEEKLY;WKST=SU", "every week"),
        ("FREQ=WEEKLY;INTERVAL=2;WKST=SU", "FREQ=WEEKLY;INTERVAL=2;WKST=SU"),
        ("FREQ=MONTHLY;BYDAY=2TU", "FREQ=MONTHLY;BYDAY=2TU"),
        ("nonsense", "nonsense"),
    ],
)
def test_a_rule_is_told_in_words_or_as_it_is_written(rule, expected):
    assert parse("SUMMARY:Sale", f"RRULE:{rule}").text == f"# Sale\n\nRepeats: {expected}"
