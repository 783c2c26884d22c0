"""Renders a page of hits for programs: as compact text or as paths.

Compact text is made for programs that read text, such as coding agents: whole passages, and what
they share only once. Each block begins with a reference that `kebab fetch` takes. The lines below
it are the cited lines of the file, except those that begin with `context: `, which stand elsewhere
in the document.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from kebab.cli.render.canvas import Canvas, clean, clean_lines
from kebab.cli.render.hits import (
    describe_absent_terms,
    describe_left_out,
    describe_no_answer,
    list_queries,
    note_freshness,
    note_origin,
    render_limits,
    render_unmatched_filters,
    split_hits,
)
from kebab.core.files import decode_percent
from kebab.platform import shorten_path
from kebab.search.citations import format_hit_reference, locate_hit
from kebab.wire.coverage import describe_gaps, describe_left_out_terms, pluralize
from kebab.wire.record import CodeCitation, SectionCitation, find_fragment
from kebab.wire.search import SearchHit, SearchResponse


def render_paths(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    """Yield the path of each document once."""
    paths = dict.fromkeys(
        format_openable_path(locate_hit(hit, reply.sources), hit.doc_path) for hit in reply.hits
    )
    for path in paths:
        yield clean(path) if canvas.is_terminal else path


def format_openable_path(file: str | None, doc_path: str = "") -> str:
    """Return a path that opens from the working directory: below it relative, else absolute.

    Text from standard input has no file, so its name is returned.
    """
    return doc_path if file is None else shorten_path(file)


CONTEXT_MARK = "context: "
"""What begins a line that is not one of the cited lines of the file."""

_TABLE_RULE = re.compile(r"\|(?: ?:?-{3,}:? ?\|)+")
"""The line below the header of a table; in extracted text it is not part of the file."""

_NOT_WORD = re.compile(r"\W+")
_HEADING_LINES = 8
"""How many lines at the beginning of a passage are searched for its headings."""


def render_compact(
    reply: SearchResponse,
    canvas: Canvas,
    next_page: str = "",
    *,
    shows_weak: bool = False,
) -> Iterator[str]:
    """Yield the passages with their references; of those without a text only the references.

    `next_page` is what the call gets in addition for more. With `shows_weak` all weak passages are
    listed.
    """
    hits, weaker = split_hits(reply, shows_weak=shows_weak)
    is_weak = bool(hits) and hits[0].confidence == "weak"
    listed = [hit for hit in weaker if hit.text or not is_weak]
    hits, unlisted = hits + listed, len(weaker) - len(listed)
    hits = [hit for hit in hits if hit.text or not any(_contains(other, hit) for other in hits)]
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
    shown: dict[str, str] = {}
    references: dict[str, list[str]] = {}
    for hit in hits:
        text, lines = hit.text or hit.snippet, hit.citation.cited_lines
        is_clear = folders[hit.doc_path] == {folder}
        file = None if is_clear else locate_hit(hit, reply.sources)
        reference = format_hit_reference(hit, lines, file)
        if text:
            earlier = shown.setdefault(text, reference)
            yield from ("", _render_head(hit, canvas, reference))
            same = canvas.dim(f"the same text as {earlier}")
            yield from _render_text(hit, canvas) if earlier == reference else (same,)
        else:
            known = references.setdefault(hit.doc_id, [])
            place = find_fragment(reference) if known else reference
            known.append(_render_head(hit, canvas, place or reference))
    if references:
        yield from ("", *map("; ".join, references.values()))
    if reply.unmatched_filters:
        yield from ["", *render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)]
        return
    notes = list(_list_notes(reply, canvas))
    if unlisted:
        flag = canvas.name_flag("--all")
        notes.append(f"{pluralize(unlisted, 'weaker hit')}: {flag or 'not listed'}")
    if next_page:
        notes.append(f"more: {next_page}")
    if notes:
        yield from ["", *map(canvas.dim, notes)]


def _contains(hit: SearchHit, other: SearchHit) -> bool:
    """Return whether the text of a hit has all lines of another one."""
    lines, inside = hit.citation.cited_lines, other.citation.cited_lines
    if not (hit.text and lines and inside and hit.doc_id == other.doc_id):
        return False
    return lines[0] <= inside[0] and inside[1] <= lines[1]


def _render_head(hit: SearchHit, canvas: Canvas, reference: str) -> str:
    """Return the line above a text: reference, confidence and the headings that lead to it."""
    facts = " ".join([hit.confidence, *(f"q{index + 1}" for index in hit.queries or [])])
    facts += note_freshness(hit.freshness, ", {}") + note_origin(hit.citation, ", {}")
    headings = " > ".join(map(clean, _select_headings(hit)))
    symbol, lines = hit.symbol_lines, hit.citation.cited_lines
    if symbol and lines and not (lines[0] <= symbol.start and symbol.end <= lines[1]):
        headings += f" (L{symbol.start}-L{symbol.end})"  # code is a part of its symbol
    return f"{canvas.location(reference)} [{facts}]" + (
        f" {canvas.dim(headings)}" if headings else ""
    )


def _select_headings(hit: SearchHit) -> list[str]:
    """Return title and headings, each once, without those that the passage itself begins with.

    Those that the reference names are left out too, and the title of code, its first comment.
    """
    title = "" if isinstance(hit.citation, CodeCitation) else hit.title
    headings = list(dict.fromkeys(heading for heading in (title, *hit.heading_path) if heading))
    opening = (hit.text or "").split("\n", _HEADING_LINES)[:_HEADING_LINES]
    if isinstance(hit.citation, SectionCitation):
        opening += decode_percent(hit.citation.uri.rpartition("#")[2]).split("/")
    path = PurePosixPath(hit.doc_path)
    shown = {_normalize(line) for line in (*opening, path.name, path.stem)}
    return [heading for heading in headings if _normalize(heading) not in shown]


def _normalize(heading: str) -> str:
    return _NOT_WORD.sub(" ", heading).strip().casefold()


def _render_text(hit: SearchHit, canvas: Canvas) -> Iterator[str]:
    """Yield the marked context, and the lines of a text as they are in the file."""
    if context := hit.context:
        yield from (canvas.dim(CONTEXT_MARK + line) for line in clean_lines(context).split("\n"))
    extracted = hit.citation.cited_lines is None
    for line in clean_lines(hit.text or hit.snippet).split("\n"):
        if not extracted or not _TABLE_RULE.fullmatch(line):
            yield line


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
        yield f"in none of these texts: {clean(', '.join(reply.unheld_terms))}"
    if found := describe_left_out_terms(reply.coverage):
        yield found
    if reply.left_out:
        yield describe_left_out(reply.left_out, canvas)
