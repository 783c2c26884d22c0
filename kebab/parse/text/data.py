"""Reads files of data: JSON, YAML, TOML, INI, CSV and XML, along their keys.

The scanners read tokens and lines, and build no values. They need no valid file, time in proportion
to its length, and no stack.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from xml.parsers import expat

from msgspec.structs import replace

from kebab.core.documents import BlockKind, Edit, ParsedDocument
from kebab.core.files import get_suffix
from kebab.parse.blocks import Range, Span, cut_text, format_file_name, group_lines, is_repeated
from kebab.parse.code.source import build_bounded, build_document
from kebab.parse.encoding import (
    decode,
    find_escapes,
    find_json_escapes,
    find_nested_references,
    find_references,
    find_string_escapes,
    find_tags,
)
from kebab.parse.metadata import shorten_line
from kebab.parse.web.html_page import decode_html
from kebab.text.normalize import load_words, split_names

MAX_CHARS = 5_000_000
"""How much of a file is searched: about 15,000 passages."""
_DEEPEST_LEVEL = 6
_FEW_LINES = 8
_WORD = re.compile(r"\w")
_VAGUE_STEMS, _LOCK_FILES = map(split_names, load_words("data_files").values())
"""Stems of files that say less than the names of their folders, and names of lock files."""

_LONG_LINE = 2_000
_WIDTH = 200
_ITEMS = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|([\[{])|([\]}],?)|(,)')
_TAGS = re.compile(r"(<\w[^<>]*(?<!/)>)|(</\w[^<>]*>)|(<\w[^<>]*/>)")


class Region(NamedTuple):
    """A key with its value on the lines [first, last), 0-based; the heading ends before `head`."""

    label: str
    first: int
    head: int
    last: int


class Outline(NamedTuple):
    """The spans of a file, its long runs of numbers, which are left out, and warnings."""

    spans: Iterable[Span]
    numbers: Sequence[Range] = ()
    warnings: tuple[str, ...] = ()


def break_long_lines(text: str, tokens: re.Pattern[str], follow: str) -> tuple[str, list[int]]:
    """Return a text whose long lines are broken at their structure, and where it has new line ends.

    A line may be broken behind a token, which opens, closes or separates values as its group
    says, where `follow` comes next. It is broken at the outermost of these places.
    """
    lines, ends, at = [], list[int](), 0
    for line in text.split("\n"):
        if len(line) > _LONG_LINE and not is_repeated(line):
            parts = [*_find_breaks(line, tokens, follow), len(line)]
            line = "\n".join(line[one:two] for one, two in pairwise([0, *parts]))  # noqa: PLW2901
            ends += (at + number + part for number, part in enumerate(parts[:-1]))
        lines.append(line)
        at += len(line) + 1
    return "\n".join(lines), ends


def _find_breaks(line: str, tokens: re.Pattern[str], follow: str) -> Iterator[int]:
    """Yield where to break a long line; the places that wait go inwards from left to right."""
    depth = start = 0
    waiting: list[tuple[int, int]] = []
    for token in tokens.finditer(line):
        if token.lastindex is None:
            continue
        end = token.end()
        while waiting and end - start > _WIDTH:
            start = waiting.pop(0)[1]
            yield start
        depth += {1: 1, 2: -1, 3: 0}[token.lastindex]
        if end < len(line) and line.startswith(follow, end):
            while waiting and waiting[-1][0] >= depth:
                waiting.pop()
            waiting.append((depth, end))


def cut_regions(regions: Iterable[Region], lines: int) -> Iterator[Span]:
    """Yield a heading for the first line of each region, and code for all other lines.

    The regions are sorted by their first lines and nested. One that begins on a line of another
    heading is left out.
    """
    done = 0
    around: list[Region] = []
    end = Region("", lines, lines, lines)
    for region in (*regions, end):
        while around and around[-1].last <= region.first:
            yield from _cut_code(done, around[-1].last, len(around) + 1)
            done = max(done, around.pop().last)
        if region.first < done or len(around) >= _DEEPEST_LEVEL:
            continue
        yield from _cut_code(done, region.first, len(around) + 1)
        if region is end:
            return
        around.append(region)
        done = region.head
        whole = len(around) if done == region.last else 0
        yield Span(BlockKind.HEADING, region.first, done, len(around), region.label, whole)


def _cut_code(first: int, last: int, level: int) -> Iterator[Span]:
    if first < last:
        yield Span(BlockKind.CODE, first, last, ends=level)


_LEAST_VALUE_LINES = 6
"""A value on fewer lines stays in a passage with its neighbours."""
_DEEPEST_KEY = 4
_MAX_OPENED = 100_000
_LONG_NUMBERS = 20
_MAX_KEY_CHARS = 300
"""How much of a line is searched for a key, so that no pattern takes long."""
_TOKEN = re.compile(r'("[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?)([ \t]*:)?|([\[{])|([\]}])|(\n)|//[^\n]*')
_LETTER = re.compile(r"[^\W\d_]")
_YAML_KEY = re.compile(
    r"""("[^"]*"|'[^']*'|[^\s#&*!|>'"%@`{}\[\],?:-](?:[^:#]*[^\s:#])?)\s*+:(?=\s|$)"""
)
_YAML_SCALAR = re.compile(r":\s++(?:[&!]\S++\s++){0,3}+[|>][-+0-9]*+\s*+(?:#.*)?$")
_KIND = re.compile(r"^kind:\s*(\S+)")
_NAME = re.compile(r"^ +name:\s*(\S+)")
_SECTION = re.compile(r"\s*\[\[?([^\[\],]+)\]\]?\s*(?:[#;].*)?")
_TRIPLE = re.compile(r"\"\"\"|'''")


class _Container(NamedTuple):
    """An object or a list that is open, with the key that names it."""

    closer: str
    key: str
    line: int


def scan_json(text: str) -> list[Region] | None:
    """Return the keys of a JSON text, which may have comments and lack its end.

    None means that a bracket closes another kind, or that very many are open.
    """
    regions: list[Region] = []
    opened: list[_Container] = []
    line, key = 0, ""
    for token in _TOKEN.finditer(text):
        string, colon, opener, closer, end = token.groups()
        if end:
            line += 1
        elif string:
            key = string[1:-1] if colon else ""
        elif opener:
            if len(opened) == _MAX_OPENED:
                return None
            opened.append(_Container("}" if opener == "{" else "]", key, line))
            key = ""
        elif closer:
            if not opened or opened[-1].closer != closer:
                return None
            regions += _close(opened.pop(), line, len(opened))
    while opened:
        regions += _close(opened.pop(), line, len(opened))
    return sorted(regions, key=lambda region: (region.first, -region.last))


def _close(container: _Container, line: int, depth: int) -> Iterator[Region]:
    """Yield the key of a container that ends on a line, unless it is short or deep."""
    if container.key and depth <= _DEEPEST_KEY and line - container.line >= _LEAST_VALUE_LINES - 1:
        label = shorten_label(container.key)
        yield Region(label, container.line, container.line + 1, line + 1)


def find_number_runs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the long runs of lines without any letter, such as vectors and coordinates."""
    bare = (number for number, line in enumerate(lines) if not _LETTER.search(line))
    return [(first, last) for first, last in group_lines(bare) if last - first >= _LONG_NUMBERS]


def scan_yaml(lines: Sequence[str]) -> list[Region]:
    """Return the keys of YAML, and the documents of a file with several that say their kind."""
    regions = list(_list_objects(lines))
    opened: list[tuple[int, str, int]] = []
    used, scalar = 0, -1
    for number, whole in enumerate([*lines, "---"]):
        line = whole[:_MAX_KEY_CHARS]
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if not bare or bare[0] == "#" or (0 <= scalar < indent):
            used = number + 1 if 0 <= scalar < indent and bare else used
            continue
        is_item = bare.startswith("- ") or bare == "-"  # items may stand right below their key
        while opened and indent < opened[-1][0] + (not is_item):
            first = opened[-1][2]
            if used - first >= _LEAST_VALUE_LINES and len(opened) <= _DEEPEST_KEY:
                lead, label = _find_lead(lines, first), shorten_label(opened[-1][1])
                regions.append(Region(label, lead, first + 1, used))
            opened.pop()
        key = _YAML_KEY.match(line, indent)
        if key:
            opened.append((indent, key[1].strip("\"'"), number))
        scalar = indent if _YAML_SCALAR.search(line) else -1
        used = number + 1
    return sorted(regions, key=lambda region: (region.first, -region.last))


def _list_objects(lines: Sequence[str]) -> Iterator[Region]:
    marks = [number for number, line in enumerate(lines) if line.rstrip() == "---"]
    for first, last in zip([-1, *marks], [*marks, len(lines)], strict=True):
        body = range(first + 1, last)
        kind = next((found[1] for number in body if (found := _KIND.match(lines[number]))), "")
        name = next((found[1] for number in body if (found := _NAME.match(lines[number]))), "")
        start = next((number for number in body if lines[number].strip()), last)
        if marks and kind and start < last:
            yield Region(shorten_label(f"{kind} {name}".strip()), start, start + 1, last)


def scan_sections(lines: Sequence[str]) -> list[Region]:
    """Return the sections of TOML or of an INI file."""
    heads, in_string = [], False
    for number, line in enumerate(lines):
        is_short = len(line) <= _MAX_KEY_CHARS
        found = _SECTION.fullmatch(line) if is_short and not in_string else None
        if found:
            heads.append((number, found[1].strip()))
        in_string ^= len(_TRIPLE.findall(line)) % 2 == 1
    starts = [_find_lead(lines, number) for number, _ in heads]
    return [
        Region(shorten_label(label), first, number + 1, last)
        for (number, label), (first, last) in zip(
            heads, pairwise([*starts, len(lines)]), strict=True
        )
    ]


def _find_lead(lines: Sequence[str], number: int) -> int:
    """Return the first of the comment lines right above a line."""
    while number and lines[number - 1].lstrip()[:1] in {"#", ";"}:
        number -= 1
    return number


def shorten_label(label: str) -> str:
    """Return a key as the label of a heading."""
    return shorten_line(" ".join(label.split()), 80)


_LEAST_ELEMENT_LINES = 8
_DEEPEST = 4
_NAMES = ("name", "id", "key", "title", "text", "label")


class _Refused(Exception):  # noqa: N818 - ends the parser from a handler
    """The file declares entities."""


def scan_xml(text: str) -> tuple[list[Region], str]:
    """Return the elements of XML that end, and what is wrong; of a broken file those before."""
    reader, fault = _ElementReader(), ""
    try:
        reader.parser.Parse(text.encode("utf-8", "replace"), False)  # noqa: FBT003 - its own order
    except _Refused:
        return [], "the file declares entities: read as text"
    except (expat.ExpatError, ValueError) as error:
        fault = f"not well-formed at line {getattr(error, 'lineno', 0)}: read as text from there"
    return sorted(reader.regions, key=lambda one: (one.first, -one.last)), fault


class _ElementReader:
    """Collects the lines of elements while expat reads them."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._refuse
        self.regions: list[Region] = []
        self._opened: list[tuple[str, int]] = []
        self._depth = 0

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth <= _DEEPEST:
            value = next((attributes[name] for name in _NAMES if name in attributes), "")
            label = f"{tag} {value}".strip()
            self._opened.append((label, self.parser.CurrentLineNumber - 1))

    def _end(self, _tag: str) -> None:
        if self._depth <= _DEEPEST:
            label, first = self._opened.pop()
            last = self.parser.CurrentLineNumber
            if self._depth > 1 and last - first >= _LEAST_ELEMENT_LINES:
                self.regions.append(Region(shorten_label(label), first, first + 1, last))
        self._depth -= 1

    def _refuse(self, *_declaration: object) -> None:
        raise _Refused


_MAX_HEADER_CHARS = 400
_LONGEST_ROW = 200
"""A quote that is open for more lines than this is taken for a stray one."""


def find_table_spans(lines: Sequence[str]) -> list[Span]:
    """Return the rows as blocks: a run of rows of one line, or one row of several.

    The header is the label of each block but the first, which begins with it.
    """
    header = find_header(lines)
    spans: list[Span] = []
    is_run = False
    for first, last in _list_rows(lines):
        is_single = last - first == 1
        if is_run and is_single:
            spans[-1] = spans[-1]._replace(last=last)
        else:
            spans.append(Span(BlockKind.TABLE, first, last, label=header if spans else ""))
        is_run = is_single
    return spans


def find_header(lines: Sequence[str]) -> str:
    """Return the first line when it names the columns, else an empty string."""
    first = lines[0].strip()
    separator = max("\t;,|", key=first.count)
    names = [cell.strip("\"' ") for cell in first.split(separator)]
    is_header = separator in first and not any(_is_number(name) for name in names)
    return first if is_header and len(first) <= _MAX_HEADER_CHARS else ""


def _is_number(cell: str) -> bool:
    digits = sum(char.isdigit() for char in cell)
    return digits > 0 and digits * 2 >= len(cell)


def _list_rows(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines of each row; a cell in quotes may have several."""
    number = 0
    while number < len(lines):
        last = number + 1
        if lines[number].count('"') % 2:
            near = range(last, min(number + _LONGEST_ROW, len(lines)))
            last = next((end + 1 for end in near if lines[end].count('"') % 2), last)
        yield number, last
        number = last


class DataParser:
    """Parses one kind of data; its text is the file."""

    def __init__(self, kind: str) -> None:
        """Parse `json`, `lines` (JSON on each line), `yaml`, `sections`, `table` or `xml`."""
        self._read = _READERS[kind]
        self._structure = STRUCTURES.get(kind)
        self._kind = kind

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; keys with a value of several lines are headings.

        Long lines are read as if they had line ends at their structure.
        """
        decoded = decode_html(data) if self._kind == "xml" else decode(data)
        if PurePosixPath(path).name.lower() in _LOCK_FILES:
            return build_bounded(decoded, path, "lock file")
        text, warnings = cut_text(decoded.text, MAX_CHARS)
        broken, ends = break_long_lines(text, *self._structure) if self._structure else (text, [])
        outline, lines = self._read(broken), broken.split("\n")
        spans = (  # a few lines that only close something say nothing
            one
            for one in outline.spans
            if one.last - one.first > _FEW_LINES
            or any(map(_WORD.search, lines[one.first : one.last]))
        )
        document = build_document(
            replace(decoded, text=broken),
            path,
            spans,
            title=format_file_name(path, _VAGUE_STEMS),
            numbers=[number for run in outline.numbers for number in range(*run)],
            warnings=outline.warnings,
        )
        moved = (
            block._replace(
                start=block.start - bisect_left(ends, block.start),
                end=block.end - bisect_left(ends, block.end),
            )
            for block in document.blocks
        )
        blocks = tuple(moved) if ends else document.blocks
        find = _ESCAPES.get(self._kind) or _ESCAPES.get(get_suffix(path))
        if self._kind == "xml" and _PROSE_ROOT.search(decoded.text, 0, 4_000):
            find = find_tags
        edits = (edit for one in blocks for edit in find(text, one.start, one.end)) if find else ()
        return document._replace(
            text=decoded.text,
            blocks=blocks,
            warnings=(*warnings, *document.warnings),
            edits=tuple(edits),
        )


def _read_json(text: str) -> Outline:
    keys, lines = scan_json(text), text.split("\n")
    warnings = ("brackets do not match: read as text",) if keys is None else ()
    return Outline(cut_regions(keys or (), len(lines)), find_number_runs(lines), warnings)


def _read_regions(scan: Callable[[list[str]], Iterable[Region]], text: str) -> Outline:
    lines = text.split("\n")
    return Outline(cut_regions(scan(lines), len(lines)), find_number_runs(lines))


def _read_xml(text: str) -> Outline:
    regions, fault = scan_xml(text)
    return Outline(cut_regions(regions, text.count("\n") + 1), (), (fault,) if fault else ())


_READERS: dict[str, Callable[[str], Outline]] = {
    "json": _read_json,
    "lines": lambda text: Outline([Span(BlockKind.CODE, 0, text.count("\n") + 1)]),
    "yaml": partial(_read_regions, scan_yaml),
    "sections": partial(_read_regions, scan_sections),
    "table": lambda text: Outline(find_table_spans(text.split("\n"))),
    "xml": _read_xml,
}
_ESCAPES: dict[str, Callable[[str, int, int], Iterable[Edit]]] = {
    **dict.fromkeys(("json", "lines"), find_json_escapes),
    ".properties": find_escapes,
    **dict.fromkeys(("yaml", ".toml"), find_string_escapes),
    "table": find_references,
    "xml": find_nested_references,
}
"""What finds the escapes of a kind of data, or of files with a suffix."""
_PROSE_ROOT = re.compile(
    r"\A\s*(?:<[?!](?:[^<>\[]|\[[^\]]*\])*>\s*|<!--.*?-->\s*)*"
    r"<(?:\w+:)?(?:FictionBook|article|book|chapter|sect(?:ion|1)|refentry|TEI|topic|concept|task|reference)\b",
    re.DOTALL,
)
"""The first element of text in XML: JATS, DocBook, TEI, DITA, FictionBook. Tags are no words."""

STRUCTURES = {**dict.fromkeys(("json", "lines", "yaml"), (_ITEMS, "")), "xml": (_TAGS, "<")}


def load_json(text: str) -> Any:
    """Return the value of a text; None when it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def list_records(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list; none for another value."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def get_text(record: object, key: str) -> str:
    """Return the text of a field of an object; empty when it has none."""
    value = record.get(key) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""
