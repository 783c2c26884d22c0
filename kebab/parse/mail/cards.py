"""Reads calendars (iCalendar) and contacts (vCard 2.1 to 4.0): each entry is a section.

Both consist of content lines `NAME;PARAMETER=VALUE:VALUE` (RFC 5545, RFC 6350); long ones are
folded over several lines of the file. Components stand between `BEGIN:KIND` and `END:KIND`.
"""

import codecs
import quopri
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from msgspec import Struct, field

from kebab.core.documents import Metadata, ParsedDocument
from kebab.limits.deadline import build_refusal
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import decode
from kebab.parse.metadata import list_unique, split_keywords
from kebab.text.dates import parse_date

_ENTRIES = frozenset({"VEVENT", "VTODO", "VJOURNAL", "VCARD"})
_NAMES_AND_LABELS = (
    "DTSTART:Start;DTEND:End;DUE:Due;DURATION:Duration;COMPLETED:Completed;RDATE:Also on"
    ";RECURRENCE-ID:Instead of;RRULE:Repeats;EXDATE:Not on;LOCATION:Place;ORGANIZER:Organiser"
    ";ATTENDEE:Attendee;CONTACT:Contact;STATUS:Status;RESOURCES:Resources"
    ";CONFERENCE:Conference;ATTACH:Attachment;NICKNAME:Nickname;ORG:Organisation"
    ";TITLE:Position;ROLE:Role;TEL:Phone;EMAIL:E-mail;ADR:Address;LABEL:Address;IMPP:Messenger"
    ";BDAY:Birthday;ANNIVERSARY:Anniversary;RELATED:Related;MEMBER:Member"
    ";CATEGORIES:Categories;URL:URL"
)
_LABELS = dict(pair.split(":") for pair in _NAMES_AND_LABELS.split(";"))
"""The properties that are lines of a section, in their order."""

_TEXTS = ("DESCRIPTION", "COMMENT", "NOTE")
"""The properties that are paragraphs."""

_PEOPLE = frozenset({"ORGANIZER", "ATTENDEE"})
_TIMES = frozenset(
    {"DTSTART", "DTEND", "DUE", "COMPLETED", "RECURRENCE-ID", "RDATE", "EXDATE", "BDAY"}
)
_LINE = re.compile(
    r'\s*+(?:[\w-]++\.)?([\w-]++)((?:;[^;:="]*+(?:=(?:"[^"]*+"|[^";:])*+)?+)*+)\s*+:(.*)', re.DOTALL
)
_NAMED = re.compile(r';CN="?([^";:]*)', re.IGNORECASE)
_REPLY = re.compile(r";PARTSTAT=(?!NEEDS-ACTION)([\w-]+)", re.IGNORECASE)
_ZONE = re.compile(r';TZID="?([^";:]*)', re.IGNORECASE)
_DATA = re.compile(r";(?:ENCODING=|VALUE=)?(?:b|base64|binary)(?=;|$)", re.IGNORECASE)
_KIND = re.compile(r"\b(work|home|cell|mobile|fax|main)\b", re.IGNORECASE)
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:00|(\d\d))?(Z)?)?", re.ASCII)
_ESCAPE = re.compile(r"\\([\\,;:nN\"])")
_DIVISION = re.compile(r"(?:[^\\;]|\\.)+", re.DOTALL)


class _Property(NamedTuple):
    """A content line; `name` is in upper case, and `value` keeps its escapes."""

    name: str
    parameters: str
    value: str

    @property
    def text(self) -> str:
        """The value without escapes."""
        return _ESCAPE.sub(lambda one: "\n" if one[1] in "nN" else one[1], self.value)

    def format(self) -> str:
        """Return the value in words; empty for data."""
        if _DATA.search(self.parameters) or self.value.startswith("data:"):
            return ""
        if self.name in {"ADR", "ORG", "N"}:
            parts = (self._replace(value=one).text for one in _DIVISION.findall(self.value))
            return ", ".join(" ".join(part.split()) for part in parts)
        text = re.sub("(?i)^(?:mailto|tel):", "", " ".join(self.text.split()))
        if self.name in _PEOPLE:
            name, reply = self.read_person(), _REPLY.search(self.parameters)
            known = text if name == text else f"{name} <{text}>"
            return f"{known} ({reply[1].lower()})" if reply else known
        is_time = self.name in _TIMES
        return ", ".join(map(self._format_time, text.split(","))) if is_time else text

    def _format_time(self, value: str) -> str:
        """Return a time as people write it, with its zone; another form is not changed."""
        found = _TIME.fullmatch(value.strip())
        if found is None:
            return value
        year, month, day, hour, minute, second, utc = found.groups()
        clock = f" {hour}:{minute}{f':{second}' if second else ''}" if hour else ""
        zone = _ZONE.search(self.parameters)
        return f"{year}-{month}-{day}{clock}" + (" UTC" if utc else f" ({zone[1]})" if zone else "")

    def read_person(self) -> str:
        """Return the name of a person, else the address."""
        name = _NAMED.search(self.parameters)
        return (name[1].strip() if name else "") or re.sub("(?i)^mailto:", "", self.text.strip())


class _Component(Struct):
    """The properties of a component, without those of the components inside it."""

    kind: str
    properties: list[_Property] = field(default_factory=list)

    def list_all(self, *names: str) -> Iterator[_Property]:
        """Yield the properties that have a value, name by name."""
        return (p for name in names for p in self.properties if p.name == name and p.value.strip())

    def read(self, *names: str) -> str:
        """Return the first property of some names in words."""
        return next((one.format() for one in self.list_all(*names)), "")

    def write(self, builder: TextBuilder) -> None:
        """Add the component as a section."""
        builder.add_heading(1, self.read("SUMMARY", *_NAMES) or "(untitled)")
        lines = []
        for one in self.list_all(*_LABELS):
            kind = _KIND.search(one.parameters) if one.name not in _PEOPLE else None
            label = _LABELS[one.name] + (f" ({kind[0].lower()})" if kind else "")
            lines += [f"{label}: {value}" for value in (one.format(),) if value]
        builder.add_paragraph("\n".join(dict.fromkeys(lines)))
        for text in dict.fromkeys(one.text for one in self.list_all(*_TEXTS)):
            builder.add_paragraph(text)


_NAMES = ("FN", "N", "NICKNAME", "ORG", "EMAIL", "TEL")
"""What names a contact."""


class CardParser:
    """Parses calendars and contacts."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; a file of one entry has its title, date and organiser."""
        components, warnings = _read_components(data)
        entries = [one for one in components if one.kind in _ENTRIES]
        calendars = [one for one in components if one.kind == "VCALENDAR"]
        builder = TextBuilder()
        for one in calendars:
            builder.add_paragraph(one.read("X-WR-CALDESC", "DESCRIPTION"))
        for entry in entries:
            entry.write(builder)
            own = (one.text for one in entry.properties if one.name.startswith("X-"))
            builder.leave_out("fields of programs", " ".join(own))
        for one in components:
            if one.kind not in {"VCALENDAR", *_ENTRIES}:
                texts = (it.text for it in one.list_all("SUMMARY", "DESCRIPTION"))
                builder.leave_out("reminders and free times", " ".join(texts))
        names = (one.read("X-WR-CALNAME", "NAME") for one in calendars)
        metadata = Metadata(
            title=next(filter(None, names), PurePosixPath(path).name),
            tags=list_unique(
                tag
                for entry in entries
                for one in entry.list_all("CATEGORIES")
                for tag in split_keywords(one.text)
            ),
        )
        # All entries of one title are a series with its exceptions.
        if entries and len({entry.read("SUMMARY", "FN", "N") for entry in entries}) == 1:
            first = entries[0]
            metadata = metadata._replace(
                title=first.read("SUMMARY", *_NAMES) or metadata.title,
                date=parse_date(first.read("DTSTART", "DUE").split(" (")[0]),
                authors=tuple(one.read_person() for one in first.list_all("ORGANIZER"))[:1],
                aliases=list_unique(split_keywords(first.read("NICKNAME"))),
            )
        warnings += [] if entries else ["the file has no entries"]
        return builder.build(path, metadata, warnings=warnings)


_QUOTED_PRINTABLE = re.compile(rb"[^:]*;(?:ENCODING=)?QUOTED-PRINTABLE\b[^:]*:", re.IGNORECASE)
_CHARSET = re.compile(rb"[^:]*;CHARSET=\"?([\w.:-]+?)\"?[;:]", re.IGNORECASE)
_HEAD_BYTES = 1000
"""The longest start of a line in which its parameters are looked for."""

_MAX_OPEN = 20
"""How many open components an `END` may close."""


def _read_components(data: bytes) -> tuple[list[_Component], list[str]]:
    """Return the components of a file in the order of their starts, and warnings."""
    decoded = decode(b"\n".join(_unfold(data)))
    components: list[_Component] = []
    stack: list[_Component] = []
    unread = 0
    for line in decoded.text.split("\n"):
        match = _LINE.match(line)
        if match is None:
            unread += bool(line.strip()) and bool(stack)
            continue
        name, kind = match[1].upper(), match[3].strip().upper()
        if name == "BEGIN":
            stack.append(_Component(kind))
            components.append(stack[-1])
        elif name == "END":
            while any(one.kind == kind for one in stack[-_MAX_OPEN:]) and stack.pop().kind != kind:
                pass
        elif stack:
            stack[-1].properties.append(_Property(name, match[2], match[3]))
    if not components:
        raise build_refusal("not a calendar and no contacts: no `BEGIN:`")
    warnings = list(decoded.warnings)
    if unread:
        warnings.append(f"lines that are no properties are left out: {unread}")
    if stack:
        warnings.append(f"`{stack[-1].kind}` has no end: the file is cut off")
    return components, warnings


def _unfold(data: bytes) -> Iterator[bytes]:
    """Yield the lines in UTF-8, or in the encoding of the file, without folds.

    A fold may split a character, so bytes are joined before they are decoded. vCard 2.1 has an
    encoding per line.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", "replace").encode()
    parts: list[bytes] = []
    is_quoted = False
    for line in data.removeprefix(codecs.BOM_UTF8).splitlines():
        if parts and is_quoted and parts[-1].endswith(b"="):
            parts[-1] = parts[-1][:-1]
            parts.append(line.lstrip(b" \t") if line[:1] in b" \t" else line)
        elif parts and (not line or line[:1] in b" \t"):
            parts.append(line[1:])  # some programs leave a line empty before a fold
        else:
            yield _convert(b"".join(parts), is_quoted=is_quoted)
            parts = [line]
            is_quoted = _QUOTED_PRINTABLE.match(line[:_HEAD_BYTES]) is not None
    yield _convert(b"".join(parts), is_quoted=is_quoted)


def _convert(line: bytes, *, is_quoted: bool) -> bytes:
    """Return a line without the encoding that its own parameters name."""
    head, colon, value = line.partition(b":")
    if is_quoted:
        value = re.sub(rb"\r\n?|\n", rb"\\n", quopri.decodestring(value))
    found = _CHARSET.match(head[:_HEAD_BYTES] + b":")
    try:
        value = value.decode(found[1].decode(), "strict").encode() if found else value
    except (LookupError, ValueError):
        return head + colon + value
    return head + colon + value
