"""Writes the headers and the body of a message into a builder."""

import re
from email.message import Message

from kebab.errors.catalog import ParseFailed
from kebab.parse.html.parser import add_fragment
from kebab.parse.mail.message import find_file_name, read_header, read_payload, read_text
from kebab.parse.text_builder import TextBuilder

_HEADERS = ("From", "To", "Cc", "Subject", "Date")
_MAX_DEPTH = 10
_MAX_PARTS = 500
_KB = 1_000
_FLOWED_BREAK = re.compile(r"(?<=\S) \n(?=[^>\s])")
_MANY_WARNINGS = 20


class MessageWriter:
    """Writes messages into a builder, each below a heading with its subject."""

    def __init__(self, builder: TextBuilder, path: str, parser: str) -> None:
        """`path` and `parser` are for errors."""
        self.warnings: list[str] = []
        self._builder = builder
        self._path, self._parser = path, parser
        self._parts = 0
        self._level = 1
        self._attachments: list[tuple[int, str]] = []

    def write(self, message: Message, level: int = 1) -> None:
        """Write a message, its headers first, with a heading of a level."""
        attachments, self._attachments = self._attachments, []
        outer, self._level = self._level, level
        subject = read_header(message, "subject")
        self._builder.add_heading(level, subject or "(no subject)")
        headers = ((name, read_header(message, name.lower())) for name in _HEADERS)
        self._builder.add_paragraph("\n".join(f"{name}: {text}" for name, text in headers if text))
        self._write_part(message, 0)
        if self._attachments:
            self._builder.add_paragraph("Attachments:")
            self._builder.add_list(self._attachments)
        self._attachments, self._level = attachments, outer

    def _write_part(self, part: Message, depth: int) -> None:
        """Write a part of a message with its own parts."""
        self._parts += 1
        if depth > _MAX_DEPTH or self._parts > _MAX_PARTS:
            self._warn("parts of the message are left out: there are too many")
            return
        kind = part.get_content_type()
        parts = [inner for inner in _list_parts(part) if isinstance(inner, Message)]
        if kind == "message/rfc822" and parts:
            self.write(parts[0], min(self._level + 1, 6))
        elif kind == "multipart/alternative" and parts:
            self._write_part(_choose_alternative(parts), depth + 1)
        elif parts:
            for inner in parts:
                self._write_part(inner, depth + 1)
        elif kind in {"text/plain", "text/html"} and not _is_attachment(part):
            self._write_text(part, kind)
        else:
            self._list_attachment(part, kind)

    def _write_text(self, part: Message, kind: str) -> None:
        html = kind == "text/html"
        try:
            text = read_text(part, self._path, self._parser, html=html)
            if html:
                warning = add_fragment(self._builder, text, self._level)
                if warning:
                    self._warn(warning)
            else:
                add_plain_text(self._builder, text, flowed=part.get_param("format") == "flowed")
        except (ParseFailed, ValueError):
            self._warn("a part of a message is unreadable")

    def _list_attachment(self, part: Message, kind: str) -> None:
        name = find_file_name(part)
        data = read_payload(part)
        if name or data:
            size = f"{len(data) / _KB:.0f} kB" if len(data) >= _KB else f"{len(data)} bytes"
            self._attachments.append((0, f"{name or 'unnamed'} ({kind}, {size})"))

    def _warn(self, warning: str) -> None:
        if warning not in self.warnings and len(self.warnings) < _MANY_WARNINGS:
            self.warnings.append(warning)


def _list_parts(part: Message) -> list[object]:
    payload = part.get_payload()
    return list(payload) if isinstance(payload, list) else []


def _is_attachment(part: Message) -> bool:
    return str(part.get("content-disposition", "")).strip().lower().startswith("attachment")


def _choose_alternative(parts: list[Message]) -> Message:
    """Return the plain text of a message unless it is blank, else its last form."""
    for part in parts:
        if part.get_content_type() == "text/plain" and read_payload(part).strip():
            return part
    forms = [part for part in parts if part.get_content_type() != "text/calendar"]
    return forms[-1] if forms else parts[-1]


def add_plain_text(builder: TextBuilder, text: str, *, flowed: bool = False) -> None:
    """Add a plain text as paragraphs, and the lines of other messages in it as quotations."""
    text = _FLOWED_BREAK.sub(" ", text) if flowed else text
    lines: list[str] = []
    quoted = False
    for line in [*text.split("\n"), ""]:
        is_quoted = line.startswith(">")
        if lines and (is_quoted != quoted or not line.strip()):
            _add_lines(builder, lines, quoted=quoted)
            lines = []
        quoted = is_quoted
        if line.strip():
            lines.append(line.lstrip("> ") if is_quoted else line.rstrip())


def _add_lines(builder: TextBuilder, lines: list[str], *, quoted: bool) -> None:
    if quoted:
        builder.add_quote("\n".join(lines))
    else:
        builder.add_paragraph("\n".join(lines))
