"""Builds the documents of markup that is cited by lines: its text is the file, its blocks lines."""

import re
from collections.abc import Iterable, Mapping

from kebab.core.documents import Metadata, ParsedDocument
from kebab.parse.blocks import Span, build_blocks, choose_title
from kebab.parse.encoding import Decoded
from kebab.text.language import detect_document_language

_TAB = 8
_MAX_NAMES = 256
_LANG = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*\Z")
_ISO_DATE = re.compile(r"\b(\d{4})([-/.])(\d{1,2})\2(\d{1,2})\b")
_EMAIL = re.compile(r"\s*<[^<>]*@[^<>]*>")


def build_line_document(
    decoded: Decoded,
    path: str,
    spans: Iterable[Span],
    metadata: Metadata,
    links: Iterable[str] = (),
) -> ParsedDocument:
    """Return the document whose text is the decoded file."""
    text = decoded.text
    blocks = build_blocks(text, 0, spans)
    return ParsedDocument(
        text=text,
        title=choose_title(metadata, blocks, path),
        blocks=blocks,
        metadata=metadata,
        lang=metadata.lang or detect_document_language(text, blocks),
        encoding=decoded.encoding,
        warnings=decoded.warnings,
        links=tuple(dict.fromkeys(links)),
    )


class Lines:
    """The lines of a text without tabs, with their indents; a blank line has the indent -1."""

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        self.raw = [line.expandtabs(_TAB) if "\t" in line else line for line in lines]
        self.text = [line.strip() for line in self.raw]
        self.indents = [
            len(line) - len(line.lstrip()) if bare else -1
            for line, bare in zip(self.raw, self.text, strict=True)
        ]
        self.count = len(lines)

    def find_dedent(self, first: int, last: int, minimum: int) -> int:
        """Return the first line from `first` on that is indented less than `minimum`."""
        number = first
        while number < last and not 0 <= self.indents[number] < minimum:
            number += 1
        return number

    def find_blank(self, first: int, last: int) -> int:
        """Return the first blank line from `first` on."""
        number = first
        while number < last and self.text[number]:
            number += 1
        return number

    def skip_blank(self, first: int, last: int) -> int:
        """Return the first line with text from `first` on."""
        number = first
        while number < last and not self.text[number]:
            number += 1
        return number


def read_metadata(fields: Mapping[str, str]) -> Metadata:
    """Return the metadata that fields declare; their names are in lower case."""
    tags = fields.get("tags") or fields.get("keywords") or fields.get("filetags") or ""
    authors = fields.get("authors") or fields.get("author") or ""
    lang = _LANG.match((fields.get("lang") or fields.get("language") or "").strip())
    return Metadata(
        title=fields.get("title") or None,
        tags=split_names(tags.replace("#", ""), ",;:" if ":" in tags else ",;"),
        lang=lang[1].lower() if lang else None,
        authors=split_names(authors, ";" if ";" in authors else ","),
        date=find_date(fields.get("date", "")),
    )


def split_names(value: str, separators: str) -> tuple[str, ...]:
    """Return the names of a list, each once, without addresses of e-mail."""
    parts = re.split(f"[{re.escape(separators)}\n]", _EMAIL.sub("", value))
    names = (" ".join(part.split()) for part in parts)
    return tuple(dict.fromkeys(name for name in names if name))[:_MAX_NAMES]


def find_date(value: str) -> str | None:
    """Return the first date of the form year, month, day in a value, in ISO 8601."""
    match = _ISO_DATE.search(value)
    if match is None:
        return None
    month, day = int(match[3]), int(match[4])
    known = 1 <= month <= 12 and 1 <= day <= 31  # noqa: PLR2004 - of the calendar
    return f"{match[1]}-{month:02}-{day:02}" if known else None
