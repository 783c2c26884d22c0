"""Renders hits, and the places of passages."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from kebab.app.reference_syntax import decode_percent
from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.excerpt import INDENT, MARKDOWN, MOST_LINES, render_excerpt
from kebab.cli.render.width import clean, measure_width, truncate, truncate_path
from kebab.search.citations import quote_path
from kebab.wire.citation import (
    CellCitation,
    Citation,
    CodeCitation,
    Freshness,
    LineCitation,
    PageCitation,
)
from kebab.wire.coverage import describe_absent_words, describe_gaps, describe_known_gaps
from kebab.wire.filters import IndexRefresh
from kebab.wire.query_parsed import ActiveFilters
from kebab.wire.search import DegradedChannel, LeftOut, Retrieval, SearchHit, SearchResponse

_ARROW = " > "
_SHORTEST_PATH = 12
_LONGEST_FRAGMENT = 48
"""The most cells of a heading in a location; `fetch` takes the cut form too."""


def format_location(citation: Citation) -> str:
    """Return a citation as `path:line`, or as `path#page=3` and the like; `fetch` takes it."""
    return clean(citation.path) + _format_position(citation)


def format_line_range(citation: Citation) -> str:
    """Return a citation of lines as `path:first-last`, and any other like `format_location`."""
    match citation:
        case LineCitation(line=lines) | CodeCitation(code=lines) if lines.end > lines.start:
            return f"{clean(citation.path)}:{lines.start}-{lines.end}"
        case _:
            return format_location(citation)


def _format_position(citation: Citation) -> str:
    match citation:
        case LineCitation(line=lines) | CodeCitation(code=lines):
            return f":{lines.start}"
        case _:
            return f"#{format_fragment(citation)}"


def format_fragment(citation: Citation) -> str:
    """Return what follows the `#` in the URI of a citation, e.g. `page=3`, for a person."""
    fragment = citation.uri.removeprefix(quote_path(citation.path)).removeprefix("#")
    return truncate(clean(decode_percent(fragment)), _LONGEST_FRAGMENT)


def get_line(citation: Citation) -> int | None:
    """Return the first line of a citation, None without lines."""
    match citation:
        case LineCitation(line=span) | CodeCitation(code=span):
            return span.start
        case _:
            return None


def get_page(citation: Citation) -> int | None:
    """Return the page of a citation, None without pages."""
    return citation.page.number if isinstance(citation, PageCitation) else None


FRESHNESS_NOTES = {"fresh": "", "changed": "  (changed since)", "gone": "  (file is gone)"}
"""The notes on files that changed after they were indexed."""


def render_hit(hit: SearchHit, canvas: Canvas, lines: int | None = MOST_LINES) -> Iterator[str]:
    """Yield the place, the headings and the text of a hit, on a terminal at most `lines` of it."""
    paint = {"strong": canvas.success, "fair": canvas.warning, "weak": canvas.dim}[hit.confidence]
    score = paint(f"{hit.score:.2f} {hit.confidence:<6}")
    found = "".join(f" q{index + 1}" for index in hit.queries or [])
    margin = len(f"{hit.rank:>2}  {hit.score:.2f} {hit.confidence:<6}  {found}")
    where = render_location(hit.citation, hit.file, hit.freshness, canvas, margin)
    yield f"{canvas.strong(f'{hit.rank:>2}')}  {score}  {where}{canvas.dim(found)}"
    if context := fit_headings(hit.title, hit.heading_path, canvas, len(INDENT)):
        yield INDENT + canvas.dim(context)
    yield from _render_text(hit, canvas, lines)
    if hit.retrieval.lifts is not UNSET:
        yield from canvas.wrap_with_label(
            f"{INDENT}evidence", _format_scores(hit.retrieval), canvas.dim
        )


def _render_text(hit: SearchHit, canvas: Canvas, lines: int | None) -> Iterator[str]:
    """Yield lines of the passage if the hit contains it, otherwise of its snippet."""
    spans = (hit.text_highlights or []) if hit.text else hit.highlights
    yield from render_excerpt(
        hit.text or hit.snippet,
        spans,
        canvas,
        media=_choose_drawing(hit),
        headings=[hit.title, *hit.heading_path],
        lines=lines,
    )


def _choose_drawing(hit: SearchHit) -> str:
    """Return the media type to draw a hit as: extracted text is Markdown except rows."""
    match hit.citation:
        case LineCitation() | CodeCitation():
            return hit.media
        case CellCitation(cell=cells) if cells.sheet is not None:
            return hit.media
        case _:
            return MARKDOWN


def render_location(
    citation: Citation,
    file: str | None,
    freshness: Freshness,
    canvas: Canvas,
    margin: int = 0,
    *,
    ranged: bool = False,
) -> str:
    """Return a citation as a link to its file, with a note when the file changed.

    On a terminal the path is shortened to fit beside `margin` cells; its file name and line stay.
    A `ranged` location has its last line too.
    """
    note = FRESHNESS_NOTES[freshness]
    text = fit_location(citation, canvas, margin + len(note), ranged=ranged)
    shown = canvas.location(text)
    link = canvas.link(shown, file, get_line(citation), get_page(citation))
    return link + canvas.warning(note)


def fit_location(
    citation: Citation, canvas: Canvas, margin: int = 0, *, ranged: bool = False
) -> str:
    """Return a citation that fits beside `margin` cells; the middle of its path may be left out."""
    text = format_line_range(citation) if ranged else format_location(citation)
    path = clean(citation.path)
    position = text.removeprefix(path)
    if canvas.width is None:
        return text
    room = max(_SHORTEST_PATH, canvas.width - margin - measure_width(position))
    return truncate_path(path, room) + position


def _format_scores(retrieval: Retrieval) -> str:
    """Return the ranks and scores of a hit, for a trace."""
    channels = {
        "words": (retrieval.lexical_rank, retrieval.lexical_score),
        "meaning": (retrieval.vector_rank, retrieval.vector_score),
    }
    parts = [
        f"{name} {rank or 'beyond the candidates'} ({score:.3f})"
        for name, (rank, score) in channels.items()
        if score is not None
    ]
    parts += [f"{boost.reason} {boost.value:+.3f}" for boost in retrieval.lifts or []]
    return ", ".join([*parts, f"in all {retrieval.fusion_score:.3f}"])


def format_headings(title: str, path: list[str]) -> str:
    """Return title and headings on one line; a title that equals the first heading appears once."""
    below = path[1:] if path[:1] == [title] else path
    return _ARROW.join(clean(heading) for heading in (title, *below) if heading)


def fit_headings(title: str, path: list[str], canvas: Canvas, margin: int) -> str:
    """Return title and headings that fit beside `margin` cells; middle ones may be left out."""
    whole = format_headings(title, path)
    if canvas.width is None or measure_width(whole) <= canvas.width - margin:
        return whole
    parts = whole.split(_ARROW)
    for kept in range(len(parts) - 2, 0, -1):
        text = _ARROW.join([parts[0], "…", *parts[-kept:]])
        if measure_width(text) <= canvas.width - margin:
            return text
    return canvas.fit(whole, margin)


def list_queries(queries: Sequence[str]) -> list[str]:
    """Return the numbered queries of a search for several, one a line."""
    return [f"q{number}: {clean(query)}" for number, query in enumerate(queries, start=1)]


def describe_absent_terms(reply: SearchResponse) -> str:
    """Return which words of the query occur nowhere, or what else may hold them."""
    filtered = reply.query_parsed.filters != ActiveFilters()
    where = "what was searched" if filtered else "your notes"
    return clean(describe_absent_words(", ".join(reply.absent_terms), reply.coverage, where))


def describe_no_answer(reply: SearchResponse, statement: str, about: str = "") -> str:
    """Return that nothing was found, or that nothing was found so far and what is missing.

    With absent words another line says what is missing.
    """
    gaps = describe_gaps(reply.coverage, "convincing", by_words=reply.mode == "lexical")
    if reply.absent_terms and describe_gaps(reply.coverage, "absent"):
        return clean(f"{statement} so far{about}")
    return clean(f"{statement} so far{about} ({gaps})" if gaps else f"{statement}{about}")


def render_gaps(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    """Yield which files are missing or outdated, where no other line of the page says it."""
    told = reply.absent_terms or not reply.convincing or not reply.hits
    if not told and (gaps := describe_known_gaps(reply.coverage)):
        yield from canvas.note(clean(gaps))


def describe_left_out(left_out: LeftOut, budget: str = "--max-tokens") -> str:
    """Return what the token budget left out; it has another name where there are no flags."""
    part = "parts of the hits" if left_out.queries else "a part of the first hit"
    what = pluralize(left_out.hits, "hit") if left_out.hits else part
    found = " ".join(f"q{index + 1}" for index in left_out.queries or [])
    tokens = pluralize(left_out.tokens, "token")
    return f"left out by {budget}: {what}{found and f' for {found}'}, about {tokens}"


def render_refresh(refresh: IndexRefresh | None, canvas: Canvas) -> Iterator[str]:
    """Yield why the index of a folder was not brought up to date before the search."""
    if refresh and not refresh.refreshed:
        reason = clean(refresh.reason or "")
        yield from canvas.note(f"the index was not brought up to date: {reason}")


def render_degraded(degraded: DegradedChannel, canvas: Canvas, note: str = "") -> Iterator[str]:
    """Yield which channel did not work and what may fix it; `note` replaces the first words."""
    reranks = degraded.channel == "rerank"
    extent = "incomplete" if degraded.partial is True else "no"
    lost = "no reranking" if reranks else f"{extent} {clean(degraded.channel)} search"
    yield from canvas.note(f"{note or lost}: {clean(degraded.reason)}")
    if degraded.hint:
        yield from canvas.hint(clean(degraded.hint))
