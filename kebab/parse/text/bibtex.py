"""Reads bibliographies (BibTeX and BibLaTeX): each entry is a section."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath

from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import decode
from kebab.parse.metadata import list_unique, split_keywords
from kebab.parse.text.latex import to_plain_text
from kebab.text.dates import find_date

_ENTRY = re.compile(r"(?:^|(?<=[})]))[ \t]*@[ \t]*([A-Za-z]+)\s*[{(]", re.MULTILINE)
_KEY = re.compile(r"\s*+([^\s,={}\"]*+)\s*+(?:,|(?=[)}]))")
_FIELD = re.compile(r"(?:[\s,]++|%[^\n]*+\n)*+([A-Za-z][\w:+-]*)\s*=\s*")
_PLAIN = re.compile(r"[^\s,#{}\"()]+")
_JOIN = re.compile(r"\s*#\s*")
_MARK = re.compile(r'\\.|[{}"]', re.DOTALL)
_AND = re.compile(r"\{[^{}]*\}|(?<!\s)\s++and\s+")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_PROSE = ("abstract", "annotation", "annote", "note", "addendum")
_LEFT_OUT = frozenset({"file", "bdsk-file-1", "owner", "timestamp", "crossref", "xdata", "title"})
"""Fields that are shown elsewhere, and those of programs, which hold paths and times."""
_PEOPLE = {"author": "Authors", "editor": "Editors", "translator": "Translators"}
_PARENTS = ("crossref", "xdata")
_MAX_REPEATED = 300
_MAX_INHERITED = 50
"""What other entries repeat at most, so that a small file cannot grow without bound."""


class BibtexParser:
    """Parses a bibliography."""

    version = "bibtex-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; a file of one entry has its title, authors and date.

        Raises:
            ParseFailed: The bytes are not text, or there are no entries in it.
        """
        decoded = decode(data, path, self.version)
        builder = TextBuilder()
        entries = list(_read_entries(decoded.text, builder))
        if not _ENTRY.search(decoded.text):
            raise ParseFailed(
                path=path, parser=self.version, cause="not a bibliography: no `@book{...}` or alike"
            )
        by_key = {entry["key"].casefold(): entry for entry in entries}
        authors: list[str] = []
        tags: list[str] = []
        for entry in entries:
            fields = _inherit(entry, by_key)
            _add_entry(builder, fields)
            authors += _list_people(fields.get("author") or fields.get("editor", ""))
            tags += split_keywords(to_plain_text(fields.get("keywords", "")))
        metadata = Metadata(
            title=PurePosixPath(path).name, authors=list_unique(authors), tags=list_unique(tags)
        )
        if len(entries) == 1:
            only = entries[0]
            metadata = metadata._replace(
                title=to_plain_text(only.get("title", "")) or None,
                date=find_date(only.get("date", "")),
            )
        return builder.build(path, metadata, warnings=decoded.warnings)


def _read_entries(text: str, builder: TextBuilder) -> Iterator[dict[str, str]]:
    """Yield the fields of each entry, with its `type` of entry as `entrytype` and its `key`.

    An entry ends where the next begins at the latest, so one without end costs itself only. The
    builder gets the comments.
    """
    strings = dict(zip(_MONTHS.split(), _MONTHS.title().split(), strict=True))
    starts = list(_ENTRY.finditer(text))
    ends = [*(match.start() for match in starts), len(text)][1:]
    for start, end in zip(starts, ends, strict=False):
        kind, position = start[1].lower(), start.end()
        if kind in {"comment", "preamble"}:
            builder.leave_out("comments", text[position:end])
            continue
        fields: dict[str, str] = {}
        key = _KEY.match(text, position, end) if kind != "string" else None
        position = key.end() if key else position
        while field := _FIELD.match(text, position, end):
            value, position = _read_value(text, field.end(), end, strings)
            fields.setdefault(field[1].lower(), value)
        if kind == "string":
            short = {name: value for name, value in fields.items() if len(value) <= _MAX_REPEATED}
            strings.update(short)
        else:
            yield {**fields, "entrytype": kind, "key": key[1] if key else ""}


def _read_value(text: str, position: int, end: int, strings: Mapping[str, str]) -> tuple[str, int]:
    """Return the parts of a value, joined, and the offset behind it."""
    parts: list[str] = []
    while True:
        if text[position : position + 1] in {"{", '"'}:
            closed = _find_close(text, position, end)
            parts.append(text[position + 1 : closed])
            position = closed + 1
        elif plain := _PLAIN.match(text, position, end):
            parts.append(strings.get(plain[0].lower(), plain[0]))
            position = plain.end()
        joint = _JOIN.match(text, position, end)
        if joint is None:
            return "".join(parts), position
        position = joint.end()


def _find_close(text: str, start: int, end: int) -> int:
    """Return where a value in braces or quotes is closed; braces nest in both."""
    depth, is_quoted = 0, text[start] == '"'
    for mark in _MARK.finditer(text, start + 1, end):
        if mark[0] == "{":
            depth += 1
        elif mark[0] == "}":
            depth -= 1
        if depth < 0 or (is_quoted and not depth and mark[0] == '"'):
            return mark.start()
    return end


def _inherit(entry: dict[str, str], by_key: Mapping[str, dict[str, str]]) -> dict[str, str]:
    """Return an entry with the fields of the entry that it refers to."""
    fields = dict(entry)
    for name in _PARENTS:
        parent = by_key.get(entry.get(name, "").strip().casefold(), {})
        if title := parent.get("title", "") if name == "crossref" else "":
            fields.setdefault("booktitle", title)
        for field, value in islice(parent.items(), _MAX_INHERITED):
            if len(value) <= _MAX_REPEATED:
                fields.setdefault(field, value)
    return fields


def _add_entry(builder: TextBuilder, fields: Mapping[str, str]) -> None:
    """Add an entry: its title, its fields as lines, and its prose."""
    title = to_plain_text(fields.get("title", ""))
    builder.add_heading(1, title or fields["key"] or fields["entrytype"])
    names = [name for name in fields if name not in {*_PEOPLE, *_PROSE, *_LEFT_OUT}]
    lines = [
        f"{label}: {', '.join(_list_people(fields[name]))}"
        for name, label in _PEOPLE.items()
        if name in fields
    ]
    labels = {"entrytype": "Type", "doi": "DOI", "url": "URL", "isbn": "ISBN", "issn": "ISSN"}
    for name in names:
        is_address = name in {"url", "doi", "key"}
        value = fields[name].strip() if is_address else to_plain_text(fields[name])
        lines += [f"{labels.get(name, name.capitalize())}: {value}"] if value else []
    builder.add_paragraph("\n".join(lines))
    for name in _PROSE:
        builder.add_paragraph(to_plain_text(fields.get(name, "")))


def _list_people(value: str) -> list[str]:
    """Return names, the given ones first: `Doe, Jane and Lee, A.` is `Jane Doe`, `A. Lee`."""
    cuts = [match.span() for match in _AND.finditer(value) if match[0][0] != "{"]
    ends = [*(start for start, _ in cuts), len(value)]
    names = [
        value[first:last] for first, last in zip([0, *(end for _, end in cuts)], ends, strict=True)
    ]
    return [name for name in map(_order_name, names) if name]


def _order_name(name: str) -> str:
    """Return a name as it is spoken; the name of a group stands in braces."""
    is_group = name.lstrip().startswith("{")
    last, *others = [to_plain_text(part) for part in ([name] if is_group else name.split(","))]
    # `Last, First` or `Last, Jr, First`.
    return " ".join(filter(None, (*others[-1:], last, *others[:-1])))
