"""Renders hits, the places of passages, and a page of hits that fits the screen."""

import shlex
from collections.abc import Callable, Iterator, Sequence

from msgspec import UNSET, Struct

from kebab.cli.render.canvas import Canvas, Column, clean, clean_lines, render_columns, truncate
from kebab.cli.render.excerpt import INDENT, MOST_LINES, render_excerpt
from kebab.core.files import decode_percent
from kebab.core.media import MARKDOWN
from kebab.core.queries import FILTERS
from kebab.search.citations import locate_hit
from kebab.wire.coverage import (
    describe_absent_words,
    describe_gaps,
    describe_known_gaps,
    describe_left_out_terms,
    pluralize,
)
from kebab.wire.record import CellCitation, Citation, FetchedPlace, Freshness, PageCitation
from kebab.wire.search import (
    MAX_LIMIT,
    DegradedChannel,
    LeftOut,
    Retrieval,
    SearchHit,
    SearchResponse,
    UnmatchedFilter,
)


def render_unmatched_filters(
    unmatched: Sequence[UnmatchedFilter], hint: str | None, canvas: Canvas
) -> Iterator[str]:
    """Yield why no document passes the filters, the nearest values, and the next command."""
    if unmatched and unmatched[0].documents:
        yield from canvas.note("no document passes these filters together:")
        for one in unmatched:
            count = canvas.dim(pluralize(one.documents, "document"))
            yield f"  {_format_filter(one, canvas)}  {count}"
    else:
        for one in unmatched:
            yield from canvas.note(f"no document passes `{_format_filter(one, canvas)}`")
            if one.nearest:
                yield canvas.dim(f"  nearest: {clean(', '.join(one.nearest))}")
    yield from canvas.hint(hint or "")


def _format_filter(unmatched: UnmatchedFilter, canvas: Canvas) -> str:
    flag = canvas.name_flag(FILTERS[unmatched.filter].flag)
    return f"{flag} {clean(shlex.quote(unmatched.value))}"


_LONGEST_FRAGMENT = 48
"""The most cells of a heading in a location; `fetch` takes the cut form too."""


def format_location(citation: Citation) -> str:
    """Return a citation as `path:3-9`, or as `path#page=3` and the like; `fetch` takes it."""
    path, fragment = clean(citation.path), format_fragment(citation)
    if lines := citation.cited_lines:
        first, last = lines
        return f"{path}:{first}-{last}" if last > first else f"{path}:{first}"
    return f"{path}#{fragment}" if fragment else path


def format_fragment(citation: Citation) -> str:
    """Return what follows the `#` in the URI of a citation, e.g. `page=3`, for a person."""
    fragment = citation.uri.partition("#")[2]
    return truncate(clean(decode_percent(fragment)), _LONGEST_FRAGMENT)


def get_line(citation: Citation) -> int | None:
    """Return the first line of a citation, None without lines."""
    lines = citation.cited_lines
    return lines[0] if lines else None


def get_page(citation: Citation) -> int | None:
    """Return the page of a citation, None without pages."""
    return citation.page.number if isinstance(citation, PageCitation) else None


_FRESHNESS = {"changed": "changed since", "gone": "file is gone"}


def note_freshness(freshness: Freshness, form: str = "  ({})") -> str:
    """Return what happened to a file after it was indexed, empty when nothing did."""
    return form.format(_FRESHNESS[freshness]) if freshness in _FRESHNESS else ""


def note_origin(citation: Citation | FetchedPlace, form: str = "  ({})") -> str:
    """Return which model wrote a passage, empty for the text of the file itself."""
    return form.format(clean(citation.origin)) if citation.origin is not UNSET else ""


def render_hit(
    hit: SearchHit, file: str | None, canvas: Canvas, lines: int | None = MOST_LINES
) -> Iterator[str]:
    """Yield the place, the headings and the text of a hit, on a terminal at most `lines` of it."""
    paint = {"strong": canvas.success, "fair": canvas.warning, "weak": canvas.dim}[hit.confidence]
    score = paint(f"{hit.score:.2f} {hit.confidence:<6}")
    found = "".join(f" q{index + 1}" for index in hit.queries or [])
    base = f"{hit.base}:" if hit.base else ""
    where = base + render_location(hit.citation, file, hit.freshness, canvas)
    label = f"{canvas.strong(f'{hit.rank:>2}')}  {score}  "
    yield from canvas.wrap(where + canvas.dim(found), label)
    yield from render_headings(hit.title, hit.heading_path, canvas)
    if hit.context:
        # The header row of a table or the signature of a function, which stands above the passage.
        yield from map(canvas.dim, canvas.wrap(clean_lines(hit.context), INDENT))
    rows = isinstance(hit.citation, CellCitation) and hit.citation.cell.sheet is not None
    is_original = rows or hit.citation.cited_lines
    yield from render_excerpt(
        hit.text or hit.snippet,
        (hit.text_highlights or []) if hit.text else hit.highlights,
        canvas,
        media=hit.media if is_original else MARKDOWN,
        headings=[hit.title, *hit.heading_path],
        lines=lines,
    )
    if hit.retrieval.lifts is not UNSET:
        scores = ", ".join(_list_scores(hit.retrieval))
        yield from canvas.wrap(clean(scores), f"{INDENT}{canvas.dim('evidence')} ")


def render_location(
    citation: Citation, file: str | None, freshness: Freshness, canvas: Canvas
) -> str:
    """Return a citation as a link to its file, with a note when the file changed."""
    text = canvas.location(format_location(citation))
    link = canvas.link(text, file, get_line(citation), get_page(citation))
    return link + canvas.warning(note_freshness(freshness) + note_origin(citation))


def _list_scores(found: Retrieval) -> Iterator[str]:
    """Yield the ranks and scores of a hit, for a trace."""
    for name, rank, score in (
        ("words", found.lexical_rank, found.lexical_score),
        ("meaning", found.vector_rank, found.vector_score),
    ):
        if score is not None:
            yield f"{name} {rank or 'beyond the candidates'} ({score:.3f})"
    yield from (f"{boost.reason} {boost.value:+.3f}" for boost in found.lifts or [])
    yield f"in all {found.fusion_score:.3f}"


def format_headings(title: str, path: list[str]) -> str:
    """Return title and headings on one line; a title that equals the first heading appears once."""
    below = path[1:] if path[:1] == [title] else path
    return " > ".join(clean(heading) for heading in (title, *below) if heading)


def render_headings(title: str, path: list[str], canvas: Canvas) -> Iterator[str]:
    """Yield title and headings as lines below a location."""
    if headings := format_headings(title, path):
        yield from map(canvas.dim, canvas.wrap(headings, INDENT))


def list_queries(queries: Sequence[str]) -> list[str]:
    """Return the numbered queries of a search for several, one a line."""
    return [f"q{number}: {clean(query)}" for number, query in enumerate(queries, start=1)]


def describe_absent_terms(reply: SearchResponse) -> str:
    """Return which words of the query occur nowhere, or what else may hold them."""
    filtered = bool(reply.query_parsed.filters)
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


def render_limits(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    """Yield which channels did not work, and which files are missing or outdated.

    Where another line of the page says what is missing, or a filter matches nothing, it is not said
    again. Words of the query that are only in text that is not searched are told, too.
    """
    if reply.unmatched_filters:
        return
    for channel in reply.degraded:
        yield from render_degraded(channel, canvas)
    told = reply.absent_terms or not reply.convincing or not reply.hits
    if not told:
        shown = [hit.doc_path for hit in reply.hits]
        yield from canvas.note(describe_known_gaps(reply.coverage, shown))
    yield from canvas.note(describe_left_out_terms(reply.coverage))


def describe_left_out(left_out: LeftOut, canvas: Canvas) -> str:
    """Return what the token budget left out."""
    part = "parts of the hits" if left_out.queries else "a part of the first hit"
    what = pluralize(left_out.hits, "hit") if left_out.hits else part
    found = " ".join(f"q{index + 1}" for index in left_out.queries or [])
    tokens = pluralize(left_out.tokens, "token")
    budget = canvas.name_flag("--max-tokens")
    return f"left out by {budget}: {what}{found and f' for {found}'}, about {tokens}"


def render_degraded(degraded: DegradedChannel, canvas: Canvas, note: str = "") -> Iterator[str]:
    """Yield which channel did not work and what may fix it; `note` replaces the first words."""
    names = {"lexical": "search by words", "vector": "search by meaning", "rerank": "reranking"}
    extent = "incomplete" if degraded.partial is True else "no"
    lost = f"{extent} {names.get(degraded.channel, degraded.channel)}"
    whole = {"published": "published base", "index": "the index was not brought up to date"}
    lost = whole.get(degraded.channel, lost)
    yield from canvas.note(f"{note or lost}: {degraded.reason}", degraded.hint)


_NEAREST = 3
"""The most passages that are shown when none is convincing; a person reads only the first."""

_FEWEST = 3
"""The number of hits that are shown on every screen; their excerpts shrink before they do not."""

_FEWEST_LINES = 2
_FRAME = 3
"""The lines of a hit beside its excerpt: location, headings and a blank one."""
_PROMPTS = 3
"""The lines of the shell before and after the output, and the command for more."""

_HEIGHT = 24
"""The number of lines of a page where there is no screen, as in a pipe."""


def format_added_words(*words: str, **_: object) -> str:
    """Return the words that a command gets in addition."""
    return " ".join(words)


_LIMIT = ("-n", "--limit")


class Paging(Struct, frozen=True):
    """Which hits of a page are shown, and how to call for the others.

    More hits are a larger first page if it `grows`, which takes less words than a cursor. Passages
    are shown `whole`, or only the lines around the matches. `repeat` returns the command line with
    more words, and without some flags.
    """

    grows: bool = True
    fits_screen: bool = False
    shows_weak: bool = False
    whole: bool = False
    repeat: Callable[..., str] = format_added_words

    def suggest_more(self, reply: SearchResponse) -> str:
        """Return the command for more hits: for a larger first page, or for the next one."""
        last = reply.hits[-1].rank
        if self.grows and last == len(reply.hits) <= MAX_LIMIT // 2 and not reply.left_out:
            return self.repeat("-n", str(2 * last), without=_LIMIT)
        return self.repeat("--cursor", reply.next_cursor or "", without=("--cursor",))


def render_hits(reply: SearchResponse, canvas: Canvas, paging: Paging) -> Iterator[str]:
    """Yield the hits and notes on them; that nothing was found stands last."""
    hits, weaker = split_hits(reply, shows_weak=paging.shows_weak, nearest=1)
    head = list(_render_head(reply, canvas))
    yield from (*head, "") if head and hits else head
    lines, shown = None if paging.whole else MOST_LINES, 0
    room = (canvas.height or _HEIGHT) - _PROMPTS - len([*head, *render_limits(reply, canvas)])
    if paging.fits_screen:
        lines = max(_FEWEST_LINES, min(MOST_LINES, room // _FEWEST - _FRAME))
    for hit in hits:
        block = [*render_hit(hit, locate_hit(hit, reply.sources), canvas, lines), ""]
        room -= len(block)
        if paging.fits_screen and room < 0 and shown >= _FEWEST:
            break
        yield from block
        shown += 1
    yield from render_notes(reply, canvas, paging, len(hits) - shown, len(weaker))


def render_notes(
    reply: SearchResponse, canvas: Canvas, paging: Paging, hidden: int = 0, weaker: int = 0
) -> Iterator[str]:
    """Yield what is to know about a page, of which some hits and some weaker ones are not shown."""
    yield from render_limits(reply, canvas)
    if reply.left_out:
        yield canvas.dim(describe_left_out(reply.left_out, canvas))
    weak = weaker + (hidden if _is_weak(reply) else 0)
    if hidden and not _is_weak(reply):
        command = paging.repeat("-n", str(len(reply.hits)), without=_LIMIT)
        yield canvas.dim(f"more: {command}")
    elif weak:
        yield canvas.dim(f"{pluralize(weak, 'weaker hit')}: {paging.repeat('--all')}")
    elif reply.has_more and reply.next_cursor and reply.hits:
        yield canvas.dim(f"more: {paging.suggest_more(reply)}")
    stages = [
        (clean(one.stage), f"{one.duration_ms:8.2f} ms  {one.candidates:6,}", clean(one.note))
        for one in reply.trace or []
    ]
    yield from map(canvas.dim, render_columns([Column()] * 3, stages, canvas))
    if not reply.hits:
        yield from _render_no_hits(reply, canvas, paging)
    elif _is_weak(reply):
        yield from canvas.note(_describe_verdict(reply, "nothing convincing"))


def _render_head(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    """Yield what a reader of the hits must know first."""
    yield from map(canvas.dim, list_queries(reply.queries or []) if reply.hits else [])
    if reply.absent_terms and reply.hits and not _is_weak(reply):
        yield from canvas.note(describe_absent_terms(reply))


def _describe_verdict(reply: SearchResponse, statement: str) -> str:
    """Return that nothing was found, with the words that occur nowhere, as one sentence."""
    verdict = describe_no_answer(reply, statement, f" for: {reply.query}")
    if not reply.absent_terms or reply.unmatched_filters:
        return verdict
    return f"{verdict}; {describe_absent_terms(reply)}"


def _is_weak(reply: SearchResponse) -> bool:
    """Return whether no hit of a first page is likely to answer the query."""
    first = bool(reply.hits) and reply.hits[0].rank == 1
    return first and all(hit.confidence == "weak" for hit in reply.hits)


def split_hits(
    reply: SearchResponse, *, shows_weak: bool, nearest: int = _NEAREST
) -> tuple[list[SearchHit], list[SearchHit]]:
    """Return the hits to show, and the weaker hits that are not shown."""
    hits = reply.hits
    if shows_weak:
        return hits, []
    if _is_weak(reply):
        return hits[:nearest], hits[nearest:]
    better = [hit for hit in hits if hit.confidence != "weak"]
    return (better, [hit for hit in hits if hit.confidence == "weak"]) if better else (hits, [])


def _render_no_hits(reply: SearchResponse, canvas: Canvas, paging: Paging) -> Iterator[str]:
    """Yield the call that may find more than nothing, and that nothing was found."""
    found = reply.coverage
    if reply.unmatched_filters:
        yield from render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)
    elif found and found.indexing:
        pass  # what is read now may have it
    elif found and (found.unread or found.new or found.changed or found.unlisted):
        yield canvas.step("read what is missing first", "kebab ingest")
    elif reply.mode != "hybrid":
        command = paging.repeat("--mode", "hybrid", without=("--mode",))
        yield canvas.dim(f"try both channels: {command}")
    else:
        yield canvas.step("see what is indexed", "kebab list")
    yield from canvas.wrap(_describe_verdict(reply, "no results"))
