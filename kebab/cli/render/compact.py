"""Renders a page of hits for programs: as compact text, as paths, or as `path:line:column:text`.

Compact text is made for programs that read text, such as coding agents: whole passages, and what
they share only once. Each block begins with a reference that `kebab fetch` takes. The lines below
it are the cited lines of the file, except those that begin with `context: `, which stand elsewhere
in the document.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePosixPath

from msgspec import Struct

from kebab.app.reference_syntax import decode_percent
from kebab.cli.render.canvas import Canvas, clean, clean_lines, pluralize
from kebab.cli.render.hits import (
    describe_absent_terms,
    describe_left_out,
    describe_no_answer,
    get_line,
    list_queries,
    note_freshness,
    note_origin,
    render_degraded,
    render_gaps,
    render_left_out_terms,
    render_limits,
    render_refresh,
    render_unmatched_filters,
    split_hits,
)
from kebab.search.citations import format_hit_reference, get_cited_lines
from kebab.wire.citation import SectionCitation
from kebab.wire.coverage import describe_gaps, describe_left_out_terms
from kebab.wire.search import SearchHit, SearchResponse


def render_paths(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    """Yield the path of each document once."""
    paths = dict.fromkeys(format_openable_path(hit.file, hit.doc_path) for hit in reply.hits)
    for path in paths:
        yield clean(path) if canvas.is_terminal else path


def render_vimgrep(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    """Yield one line for each hit: its path, and the line that matches best.

    The column counts bytes from 1, as in the lines that Vim and `rg --vimgrep` write.
    """
    for hit in reply.hits:
        path = format_openable_path(hit.file, hit.doc_path)
        number, column, line = find_best_line(hit)
        place = clean(path) if canvas.is_terminal else path
        yield f"{place}:{number}:{column}:{clean_lines(line)}"


def render_notes(reply: SearchResponse, canvas: Canvas, next_page: str) -> Iterator[str]:
    """Yield what is to know about a page of paths or lines, for another channel than theirs."""
    for channel in reply.degraded:
        yield from render_degraded(channel, canvas)
    yield from render_refresh(reply.refresh, canvas)
    yield from render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)
    if reply.hits and not reply.convincing:
        yield from canvas.note(describe_no_answer(reply, "nothing convincing"))
    incomplete = reply.coverage is not None and not reply.coverage.complete
    if incomplete and not (reply.hits or reply.unmatched_filters):
        yield from canvas.note(describe_no_answer(reply, "no results"))
    yield from render_gaps(reply, canvas)
    yield from render_left_out_terms(reply, canvas)
    if reply.absent_terms and not reply.unmatched_filters:
        yield from canvas.note(describe_absent_terms(reply))
    if reply.left_out:
        yield describe_left_out(reply.left_out, canvas)
    if next_page:
        yield f"more: {next_page}"


def format_openable_path(file: str | None, doc_path: str) -> str:
    """Return a path that opens from the working directory: below it relative, else absolute.

    Text from standard input has no file, so its name is returned.
    """
    if file is None:
        return doc_path
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (OSError, ValueError):
        return file


def find_best_line(hit: SearchHit) -> tuple[int, int, str]:
    """Return the number, the column and the text of the line with the most different matches.

    The column is that of the first match, counted in bytes from 1. A file without lines has one.
    """
    text, best = hit.text or "", (0, 0, 0)
    start, most = 0, -1
    for index, line in enumerate(text.split("\n")):
        end = start + len(line)
        inside = [span for span in hit.text_highlights or [] if start <= span[0] < end]
        words = {text[first:last].casefold() for first, last in inside}
        if len(words) > most and (line.strip() or not index):
            first = inside[0][0] if inside else start
            best, most = (index, start, first), len(words)
        start = end + 1
    index, start, first = best
    column = len(text[start:first].encode("utf-8", "surrogatepass")) + 1
    top, found = get_line(hit.citation), text[start:].partition("\n")[0]
    return (1, 1, found) if top is None else (top + index, column, found)


_CONFIDENCES = ("strong", "fair", "weak")

CONTEXT_MARK = "context: "
"""What begins a line that is not one of the cited lines of the file."""

_BLANK_LINES = 2
"""Two passages touch when at most this many line numbers, so one blank line, are between them."""

_TABLE_RULE = re.compile(r"\|(?: ?:?-{3,}:? ?\|)+")
"""The line below the header of a table; in extracted text it is not part of the file."""

_NOT_WORD = re.compile(r"\W+")
_HEADING_LINES = 8
"""How many lines at the beginning of a passage are searched for its headings."""


class Block(Struct, frozen=True):
    """Passages of one section that follow each other in the file, in the order of the file."""

    hits: tuple[SearchHit, ...]

    @property
    def first(self) -> SearchHit:
        """The passage that begins the block."""
        return self.hits[0]

    @property
    def confidence(self) -> str:
        """The best confidence of the passages."""
        return min((hit.confidence for hit in self.hits), key=_CONFIDENCES.index)

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of the passages."""
        return tuple(hit.text or hit.snippet for hit in self.hits)

    @property
    def lines(self) -> tuple[int, int] | None:
        """The first and the last line in the file; None for a citation without lines."""
        first = get_cited_lines(self.hits[0].citation)
        last = get_cited_lines(self.hits[-1].citation)
        return (first[0], last[1]) if first and last else None


def render_compact(
    reply: SearchResponse,
    canvas: Canvas,
    next_page: str = "",
    *,
    whole_page: str = "not listed",
    shows_weak: bool = False,
) -> Iterator[str]:
    """Yield the passages with their references; of those without a text only the references.

    `next_page` is the command for more, and `whole_page` that for all hits of this page. With
    `shows_weak` all weak passages are listed.
    """
    hits, weaker = split_hits(reply, shows_weak=shows_weak)
    unlisted = len(weaker) if hits and hits[0].confidence == "weak" else 0
    hits += weaker[unlisted:]
    folder = hits[0].source if hits else ""
    count = pluralize(len(hits), "passage") if hits else "no passages"
    place = f" in {clean(folder)}" if folder else ""
    queries = list_queries(reply.queries or [])
    shared = f"{count}{place} (revision {reply.corpus_revision}) for:"
    header = [shared, *queries] if queries else [f"{shared} {clean(reply.query)}"]
    yield from map(canvas.dim, header)
    yield from render_limits(reply, canvas)
    folders: dict[str, set[str]] = {}
    for hit in hits:
        folders.setdefault(hit.doc_path, set()).add(hit.source)
    shown: dict[tuple[str, ...], str] = {}
    references = []
    for block in merge_adjacent(hits):
        absolute = folders[block.first.doc_path] != {folder}
        reference = format_hit_reference(block.first, block.lines, absolute=absolute)
        head = _render_head(block, canvas, reference)
        if not any(block.texts):
            references.append(head)
            continue
        earlier = shown.setdefault(block.texts, reference)
        yield from ("", head)
        if earlier == reference:
            yield from _render_text(block, canvas)
        else:
            yield canvas.dim(f"the same text as {earlier}")
    if references:
        yield from ("", *references)
    if reply.unmatched_filters:
        yield from ["", *render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)]
        return
    notes = list(_list_notes(reply, canvas))
    if unlisted:
        notes.append(f"{pluralize(unlisted, 'weaker hit')}: {whole_page}")
    if next_page:
        notes.append(f"more: {next_page}")
    if notes:
        yield from ["", *map(canvas.dim, notes)]


def merge_adjacent(hits: Sequence[SearchHit]) -> list[Block]:
    """Return blocks in the order of their best hits; neighbours in one section share a block."""
    blocks: list[Block] = []
    for hit in hits:
        joined = Block((hit,))
        place = len(blocks)
        for index in reversed(range(len(blocks))):
            if merged := _join_blocks(blocks[index], joined):
                joined, place = merged, index
                del blocks[index]
        blocks.insert(place, joined)
    return blocks


def _join_blocks(one: Block, other: Block) -> Block | None:
    """Return both blocks as one, None when they are not neighbours in one section.

    One with text and one without stay apart.
    """
    early, late = sorted((one, other), key=lambda block: block.lines or (0, 0))
    above, below = early.lines, late.lines
    sections = [(block.first.doc_id, block.first.heading_path) for block in (early, late)]
    # Two passages that share a line stay apart: joined, they would show it as two lines.
    touch = above and below and 0 < below[0] - above[1] <= _BLANK_LINES
    fits = touch and sections[0] == sections[1] and any(early.texts) == any(late.texts)
    return Block((*early.hits, *late.hits)) if fits else None


def _render_head(block: Block, canvas: Canvas, reference: str) -> str:
    """Return the line above a block: reference, confidence and the headings that lead to it."""
    first = block.first
    found = sorted({index for hit in block.hits for index in hit.queries or []})
    facts = " ".join([block.confidence, *(f"q{index + 1}" for index in found)])
    facts += note_freshness(first.freshness, ", {}") + note_origin(first.citation, ", {}")
    headings = " > ".join(map(clean, select_headings(first)))
    return f"{canvas.location(reference)} [{facts}]" + (
        f" {canvas.dim(headings)}" if headings else ""
    )


def select_headings(hit: SearchHit) -> list[str]:
    """Return title and headings, each once, without those that the passage itself begins with.

    Those that the reference names are left out too.
    """
    headings = list(dict.fromkeys(heading for heading in (hit.title, *hit.heading_path) if heading))
    opening = (hit.text or "").split("\n", _HEADING_LINES)[:_HEADING_LINES]
    if isinstance(hit.citation, SectionCitation):
        opening += decode_percent(hit.citation.uri.rpartition("#")[2]).split("/")
    path = PurePosixPath(hit.doc_path)
    shown = {_normalize(line) for line in (*opening, path.name, path.stem)}
    return [heading for heading in headings if _normalize(heading) not in shown]


def _normalize(heading: str) -> str:
    return _NOT_WORD.sub(" ", heading).strip().casefold()


def _render_text(block: Block, canvas: Canvas) -> Iterator[str]:
    """Yield the marked context, and the lines of a block as they are in the file."""
    end = None
    if context := block.first.context:
        yield from (canvas.dim(CONTEXT_MARK + line) for line in clean_lines(context).split("\n"))
    for hit in block.hits:
        lines = get_cited_lines(hit.citation)
        if end is not None and lines and lines[0] - end == _BLANK_LINES:
            yield ""
        yield from _render_lines(hit, canvas)
        end = lines[1] if lines else None


def _render_lines(hit: SearchHit, canvas: Canvas) -> Iterator[str]:
    """Yield the lines of a passage, with its matches painted if the canvas has colour."""
    text = hit.text or hit.snippet
    extracted = get_cited_lines(hit.citation) is None
    spans = (hit.text_highlights or []) if hit.text else hit.highlights
    marks = [False] * len(text)
    for first, last in spans:
        marks[first:last] = [True] * (last - first)
    start = 0
    for line in text.split("\n"):
        shown, end = clean_lines(line), start + len(line)
        if not extracted or not _TABLE_RULE.fullmatch(line):
            runs = groupby(zip(marks[start:end], shown, strict=True), key=itemgetter(0))
            parts = ((marked, "".join(letter for _, letter in run)) for marked, run in runs)
            yield "".join(canvas.match(part) if marked else part for marked, part in parts)
        start = end + 1


def _list_notes(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    """Yield what a reader has to know about the page."""
    if not reply.hits:
        if gaps := describe_gaps(reply.coverage, "convincing", by_words=reply.mode == "lexical"):
            yield f"not everything is searched: {clean(gaps)}"
        yield "try other words, or drop a filter"
    elif not reply.convincing:
        statement = describe_no_answer(reply, "nothing convincing")
        yield f"{statement}: these passages are likely on other matters"
    elif reply.hits[0].rank == 1:
        shown = {index for hit in reply.hits for index in hit.queries or []}
        for index in range(len(reply.queries or [])):
            if index not in (reply.convincing_queries or []):
                yield describe_no_answer(reply, "nothing convincing", f" for q{index + 1}")
            elif index not in shown:
                yield f"left out by a limit of this search: the passages for q{index + 1}"
    if reply.absent_terms:
        yield describe_absent_terms(reply)
    if reply.unheld_terms:
        yield f"in none of these passages: {clean(', '.join(reply.unheld_terms))}"
    if found := describe_left_out_terms(reply.coverage):
        yield found
    if reply.left_out:
        yield describe_left_out(reply.left_out, canvas)
