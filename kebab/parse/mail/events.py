"""Reads calendars (iCalendar): each event, task, journal entry and free time is a section."""

import re
from pathlib import PurePosixPath

from kebab.core.documents import Metadata, ParsedDocument
from kebab.parse.blocks import TextBuilder
from kebab.parse.mail.content_lines import (
    Component,
    Property,
    list_categories,
    read_components,
    split_value,
)
from kebab.parse.metadata import list_unique
from kebab.text.dates import parse_date

_KINDS = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Journal entry", "AVAILABLE": "Available"}
_LABELS = {
    "DTSTART": "Start",
    "DTEND": "End",
    "DUE": "Due",
    "DURATION": "Duration",
    "COMPLETED": "Completed",
    "RECURRENCE-ID": "Instead of",
    "RRULE": "Repeats",
    "RDATE": "Also on",
    "EXDATE": "Not on",
    "LOCATION": "Place",
    "ORGANIZER": "Organiser",
    "ATTENDEE": "Attendee",
    "CONTACT": "Contact",
    "STATUS": "Status",
    "CATEGORIES": "Categories",
    "RESOURCES": "Resources",
    "URL": "URL",
    "CONFERENCE": "Conference",
    "ATTACH": "Attachment",
}
_DATES = frozenset({"DTSTART", "DTEND", "DUE", "COMPLETED", "RECURRENCE-ID", "RDATE", "EXDATE"})
_PEOPLE = frozenset({"ORGANIZER", "ATTENDEE"})
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?", re.ASCII)
_UNITS = {
    f"{unit}LY" if unit != "DAI" else "DAILY": "day" if unit == "DAI" else unit.lower()
    for unit in ("YEAR", "MONTH", "WEEK", "DAI", "HOUR", "MINUTE", "SECOND")
}
_DAYS = {
    day[:2].upper(): day
    for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
}


class CalendarParser:
    """Parses calendars."""

    version = "icalendar-v3"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; a file of one event has its title, date, organiser and categories.

        Raises:
            ParseFailed: The file is no calendar.
        """
        found = read_components(data, path, self.version)
        entries = [one for one in found.components if one.kind in _KINDS]
        calendars = [one for one in found.components if one.kind == "VCALENDAR"]
        builder = TextBuilder()
        for one in calendars:
            builder.add_paragraph(one.read("X-WR-CALDESC") or one.read("DESCRIPTION"))
        for entry in entries:
            _add_entry(builder, entry)
        alarms = (one for one in found.components if one.kind == "VALARM")
        builder.leave_out("reminders", " ".join(one.read("DESCRIPTION") for one in alarms))
        names = (one.read("X-WR-CALNAME") or one.read("NAME") for one in calendars)
        metadata = Metadata(
            title=next(filter(None, names), PurePosixPath(path).name),
            tags=list_unique(list_categories(entries)),
        )
        # All entries of one title are a series with its exceptions.
        if entries and len({entry.read("SUMMARY") for entry in entries}) == 1:
            start = entries[0].find("DTSTART") or entries[0].find("DUE")
            organiser = entries[0].find("ORGANIZER")
            metadata = metadata._replace(
                title=entries[0].read("SUMMARY") or metadata.title,
                date=start and parse_date(_format_time(start, start.value).split(" (")[0]),
                authors=_read_person(organiser)[:1] if organiser else (),
            )
        warnings = found.warnings if entries else (*found.warnings, "the calendar has no entries")
        return builder.build(path, metadata, warnings=warnings)


def _add_entry(builder: TextBuilder, entry: Component) -> None:
    """Add an event, a task or a journal entry."""
    builder.add_heading(1, entry.read("SUMMARY") or _KINDS[entry.kind])
    lines = (
        f"{label}: {value}"
        for name, label in _LABELS.items()
        for value in dict.fromkeys(_format(one) for one in entry.list_all(name))
        if value
    )
    builder.add_paragraph("\n".join(lines))
    for name in ("DESCRIPTION", "COMMENT"):
        for text in dict.fromkeys(one.text for one in entry.list_all(name)):
            builder.add_paragraph(text)


def _format(one: Property) -> str:
    """Return the value of a property in words; empty for data."""
    if one.name in _DATES:
        return ", ".join(_format_time(one, value) for value in one.value.split(","))
    if one.name in _PEOPLE:
        name, address = _read_person(one)
        reply = one.parameters.get("PARTSTAT", "").lower().replace("needs-action", "")
        known = name if name == address else f"{name} <{address}>"
        return known + (f" ({reply})" if reply else "")
    if one.name == "RRULE":
        return _describe_rule(one.value)
    if one.parameters.get("ENCODING", "").upper() == "BASE64" or one.value.startswith("data:"):
        return one.parameters.get("FILENAME", "")
    return " ".join(one.text.split())


def _format_time(one: Property, value: str) -> str:
    """Return a time as people write it, with its zone; a value of another form is not changed."""
    found = _TIME.fullmatch(value.strip())
    if found is None:
        return value.strip()
    year, month, day, hour, minute, second, utc = found.groups()
    seconds = f":{second}" if second and second != "00" else ""
    clock = f" {hour}:{minute}{seconds}" if hour else ""
    zone = one.parameters.get("TZID", "").strip('"')
    return f"{year}-{month}-{day}{clock}" + (" UTC" if utc else f" ({zone})" if zone else "")


def _read_person(one: Property) -> tuple[str, str]:
    """Return the name of a person, which may be the address, and the address."""
    address = re.sub("(?i)^mailto:", "", one.text.strip())
    return one.parameters.get("CN", "").strip('" ') or address, address


def _describe_rule(rule: str) -> str:
    """Return a rule of recurrence in words; one with rarer parts stays as it is written."""
    parts = dict(part.upper().partition("=")[::2] for part in rule.split(";") if part)
    unit = _UNITS.get(parts.pop("FREQ", ""), "")
    every, days = parts.pop("INTERVAL", "1"), parts.pop("BYDAY", "")
    if every == "1":
        parts.pop("WKST", None)  # the first day of the week matters only when weeks are counted
    count, until = parts.pop("COUNT", ""), parts.pop("UNTIL", "")
    names = [_DAYS.get(day, "") for day in split_value(days, ",")] if days else []
    if not unit or parts or not all(names):
        return rule
    words = [f"every {unit}" if every == "1" else f"every {every} {unit}s"]
    words += [f"on {', '.join(names)}"] if names else []
    words += [f"{count} times"] if count else []
    words += [f"until {_format_time(Property('UNTIL', {}, until), until)}"] if until else []
    return " ".join(words)
