"""Reads the headings of a file, and finds the section that contains a place."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kebab.core.documents import BlockKind, ParsedDocument
from kebab.core.file_ports import Parser


class Section(NamedTuple):
    """A heading with everything below it, to the next heading of the same or a higher level.

    `first` and `last` are lines of the file, 1-based and inclusive; `end` is the last line with the
    blank lines that follow.
    """

    level: int
    title: str
    path: tuple[str, ...]
    first: int
    last: int
    end: int


_NO_LETTERS = re.compile(r"[\W_]+")


def parse_file(data: bytes, path: str, parser: Parser) -> ParsedDocument:
    """Parse a file as ingest does, an isolated one in a worker process with the usual limits.

    Raises:
        ParseFailed: The bytes are not text, or the parser refuses them.
        TimedOut: An isolated parser takes too long.
    """
    from kebab.core.file_ports import is_isolated
    from kebab.parse.registry import convert_exceptions

    if is_isolated(parser):
        from kebab.parse.isolation import parse_guarded

        return parse_guarded(parser, data, path)
    with convert_exceptions(path, parser.version):
        return parser.parse(data, path)


def list_sections(document: ParsedDocument) -> list[Section]:
    """Return the sections of a document in the order of their headings."""
    lines = document.text.removesuffix("\n").split("\n")
    return build_sections(list(_find_headings(document)), lines)


def build_sections(
    headings: Sequence[tuple[int, str | None, int]], lines: Sequence[str]
) -> list[Section]:
    """Return the sections of headings, each given by its level, title and line.

    Without a title it is where the sections of its level and below end.
    """
    sections = []
    path: list[tuple[int, str]] = []
    for number, (level, title, first) in enumerate(headings):
        if title is None:
            continue
        after = (line for other, _, line in headings[number + 1 :] if other <= level)
        end = next(after, len(lines) + 1) - 1
        last = _skip_blank_lines(lines, first, end)
        path = [entry for entry in path if entry[0] < level] + [(level, title)]
        sections.append(Section(level, title, tuple(name for _, name in path), first, last, end))
    return sections


def _find_headings(document: ParsedDocument) -> Iterator[tuple[int, str | None, int]]:
    """Yield the level, the title and the line of each heading.

    A block that ends sections has no title.
    """
    line, position = 1, 0
    for block in document.blocks:
        if block.kind is BlockKind.HEADING or block.ends:
            line += document.text.count("\n", position, block.start)
            position = block.start
            heading = block.kind is BlockKind.HEADING
            yield block.level or block.ends, block.label if heading else None, line


def _skip_blank_lines(lines: Sequence[str], first: int, last: int) -> int:
    """Return the last line with text of a range of lines."""
    while last > first and not lines[last - 1].strip():
        last -= 1
    return last


def find_section(sections: Iterable[Section], first: int, last: int) -> Section | None:
    """Return the smallest section that contains the lines; None when none contains them all."""
    inside = [section for section in sections if section.first <= first and last <= section.end]
    return inside[-1] if inside else None


def find_section_by_title(
    sections: Sequence[Section], title: str, document_title: str = ""
) -> Section | None:
    """Return the section with this title, or with this anchor of a link.

    The titles of sections above it may stand before its own. A section below no other, or below
    the title of the document only, wins; then the first with the title does. A title that ends in
    `…` is the beginning of one.
    """
    if title.endswith("…"):
        cut = make_anchor(title.removesuffix("…"))
        paths = (
            (one, make_anchor(" ".join(_drop_title(one.path, document_title)))) for one in sections
        )
        return next((one for one, path in paths if cut and path.startswith(cut)), None)
    wanted = make_anchor(title)
    forms: tuple[Callable[[Section], bool], ...] = (
        lambda one: make_anchor(" ".join(_drop_title(one.path, document_title))) == wanted,
        lambda one: make_anchor(one.title) == wanted,
        lambda one: f"-{make_anchor(' '.join(one.path))}".endswith(f"-{wanted}"),
    )
    found = (section for fits in forms for section in sections if fits(section))
    return next(found, None) if wanted else None


def _drop_title(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    return path[1:] if len(path) > 1 and path[0] == title else path


def make_anchor(title: str) -> str:
    """Return a heading in the form that links use: lower case, with hyphens between words."""
    return _NO_LETTERS.sub("-", unicodedata.normalize("NFC", title).casefold()).strip("-")
