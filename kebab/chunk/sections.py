"""Finds the sections and the places of a document, in its parsed text or in its stored passages.

Passages are slices of the text at their lines, so they give its lines again where no parser runs.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kebab.core.chunks import Place
from kebab.core.documents import BlockKind, ParsedDocument
from kebab.core.queries import StoredChunk

_NO_LETTERS = re.compile(r"[\W_]+")
_HEADING = re.compile(r"(#{1,6}) (.+)")


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
        last = end
        while last > first and not lines[last - 1].strip():
            last -= 1
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


class PlaceLines(NamedTuple):
    """A page, a slide, a cell or rows of a sheet, and its lines, 1-based and inclusive."""

    place: Place
    first: int
    last: int


def list_places(parsed: ParsedDocument) -> Iterator[PlaceLines]:
    """Yield the places of a parsed document with their lines, without blank lines at the end."""
    ends = [*(place.start for place in parsed.places), len(parsed.text)][1:]
    line, position = 1, 0
    for place, end in zip(parsed.places, ends, strict=True):
        line += parsed.text.count("\n", position, place.start)
        position = place.start
        yield PlaceLines(place, line, line + parsed.text[place.start : end].rstrip().count("\n"))


def restore_places(chunks: Sequence[StoredChunk]) -> Iterator[PlaceLines]:
    """Yield the places of passages; passages of one place are in one, rows without gaps."""
    last: PlaceLines | None = None
    for chunk in chunks:
        if chunk.place is None:
            continue
        place, line = chunk.place, chunk.start_line
        if last is not None:
            before = last.place
            is_same = (before.number, before.label, before.origin) == (
                place.number,
                place.label,
                place.origin,
            )
            if is_same and (not place.row or place.row - line == before.row - last.first):
                last = last._replace(last=chunk.end_line)
                continue
            yield last
        last = PlaceLines(place, line, chunk.end_line)
    if last is not None:
        yield last


def restore_lines(chunks: Sequence[StoredChunk]) -> list[str]:
    """Return the lines of passages; two passages on one line are joined."""
    lines: list[str] = []
    for number, chunk in enumerate(chunks):
        first, *others = chunk.text.split("\n")
        lines += [""] * (chunk.start_line - 1 - len(lines))
        if number and lines and chunk.start_line <= len(lines):
            before = chunks[number - 1]
            if before.place is not None and chunk.place is not None:
                has_gap = chunk.place.start > before.place.start + len(before.text)
            else:  # a blank, except inside eastern text
                end = before.text[-1:]
                is_wide = bool(end) and unicodedata.east_asian_width(end) in "WF"
                has_gap = not is_wide or unicodedata.name(end, "").startswith("HANGUL")
            lines[-1] += " " * has_gap + first
        else:
            lines.append(first)
        lines += others
    return lines


def restore_sections(chunks: Sequence[StoredChunk], lines: Sequence[str]) -> list[Section]:
    """Return the sections of the passages; a parser writes headings as `#` lines at their start."""
    found: list[tuple[int, str, int]] = []
    for chunk in chunks:
        opening = []
        for number, line in enumerate(chunk.text.split("\n"), chunk.start_line):
            if match := _HEADING.fullmatch(line):
                opening.append((len(match[1]), match[2].strip(), number))
            elif line.strip():
                break
        # A long heading is cut in the path of a passage.
        last = chunk.heading_path[-1].removesuffix("…") if chunk.heading_path else None
        if last is not None and any(title.startswith(last) for _, title, _ in opening):
            found += opening
    return build_sections(found, lines)


def cut_rows(places: Sequence[PlaceLines], first: int, last: int) -> list[PlaceLines]:
    """Return the rows of a sheet with these numbers, with their lines."""
    found = []
    for one in places:
        top = max(first, one.place.row)
        bottom = min(last, one.place.row + one.last - one.first)
        if top <= bottom:
            start = one.first + top - one.place.row
            place = one.place._replace(row=top)
            found.append(PlaceLines(place, start, start + bottom - top))
    return found


def locate_passage(lines: Sequence[str], chunk: StoredChunk) -> tuple[int, int] | None:
    """Return the lines that contain the text of a passage now, nearest to where it was."""
    text, wanted = "\n".join(lines), chunk.text
    starts = []
    position = text.find(wanted) if wanted else -1
    while position >= 0:
        starts.append(text.count("\n", 0, position) + 1)
        position = text.find(wanted, position + len(wanted))
    if not starts:
        return None
    first = min(starts, key=lambda start: abs(start - chunk.start_line))
    return first, first + wanted.count("\n")


def find_marked_block(lines: Sequence[str], mark: str) -> tuple[int, int] | None:
    """Return the lines of a block of Obsidian, behind or below which its mark `^id` stands."""
    marked = (n for n, line in enumerate(lines, 1) if line.split()[-1:] == [mark])
    last = first = next(marked, 0)
    while first > 1 and (lines[first - 2].strip() or lines[first - 1].strip() in {"", mark}):
        first -= 1
    return (first, last) if last else None
