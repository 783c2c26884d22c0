"""Renders a page of hits: what fits the screen, and the commands for the rest."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.excerpt import MOST_LINES
from kebab.cli.render.filters import render_unmatched_filters
from kebab.cli.render.hits import (
    describe_absent_terms,
    describe_left_out,
    describe_no_answer,
    list_queries,
    render_degraded,
    render_gaps,
    render_hit,
    render_refresh,
)
from kebab.cli.render.width import clean, measure_width
from kebab.wire.search import SearchHit, SearchResponse

_NEAREST = 3
"""The number of passages that are shown when none is convincing."""

_FEWEST = 3
"""The number of hits that are shown on every screen; their excerpts shrink before they do not."""

_FEWEST_LINES = 2
_PROMPTS = 2
"""The lines of the shell before and after the output."""


@dataclass(frozen=True, slots=True)
class Paging:
    """Which hits of a page are shown, and how to call for the others.

    Args:
        limit: The number of hits on a page.
        page: The number of the page, 1 also for a page after a cursor.
        fits_screen: Whether only the best hits that fit the screen are shown.
        shows_weak: Whether a terminal gets weak hits behind better ones, and more than the nearest.
        whole: Whether passages are shown whole, not only the lines around the matches.
        repeat: Returns the command line with more words, and without some flags.
    """

    limit: int = 10
    page: int = 1
    fits_screen: bool = False
    shows_weak: bool = False
    whole: bool = False
    repeat: Callable[..., str] = lambda *more, **_: " ".join(more)

    def next_page(self, reply: SearchResponse, last: int) -> str:
        """Return the command for the page after the hit of rank `last`."""
        limit = max(self.limit, len(reply.queries or ()))
        if last % limit == 0:
            number = str(last // limit + 1)
            return self.repeat("--page", number, without=("--page", "--cursor"))
        return self.repeat("--cursor", reply.next_cursor or "", without=("--page", "--cursor"))


def render_hits(
    reply: SearchResponse, canvas: Canvas, paging: Paging | None = None
) -> Iterator[str]:
    """Yield the hits and notes on them."""
    paging = paging or Paging()
    if not reply.hits:
        yield from _render_no_hits(reply, canvas, paging)
    hits, weaker = _split_hits(reply, canvas, paging)
    head, notes = list(_render_head(reply, canvas)), list(_render_notes(reply, canvas))
    yield from (*head, "") if head and hits else head
    blocks = _fit_hits(hits, canvas, paging, len(head) + len(notes))
    for block in blocks:
        yield from (*block, "")
    yield from notes
    yield from _render_rest(reply, canvas, paging, len(hits) - len(blocks), weaker)
    yield from _render_trace(reply, canvas)


def _render_head(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    """Yield what a reader of the hits must know first."""
    yield from map(canvas.dim, list_queries(reply.queries or []) if reply.hits else [])
    if _is_weak(reply):
        yield from canvas.note(
            describe_no_answer(reply, "nothing convincing", f" for: {reply.query}")
        )
    if reply.absent_terms and not reply.unmatched_filters:
        yield from canvas.note(describe_absent_terms(reply))
    if _is_weak(reply):
        yield canvas.dim("the nearest passages, likely on other matters")


def _is_weak(reply: SearchResponse) -> bool:
    """Return whether no hit of a first page is likely to answer the query."""
    first = bool(reply.hits) and reply.hits[0].rank == 1
    return first and all(hit.confidence == "weak" for hit in reply.hits)


def _split_hits(
    reply: SearchResponse, canvas: Canvas, paging: Paging
) -> tuple[list[SearchHit], int]:
    """Return the hits to show, and the number of weaker hits that are not shown."""
    hits = reply.hits
    if paging.shows_weak:
        return hits, 0
    if _is_weak(reply):
        return hits[:_NEAREST], len(hits) - len(hits[:_NEAREST])
    if not canvas.is_terminal:
        return hits, 0
    better = [hit for hit in hits if hit.confidence != "weak"]
    return (better, len(hits) - len(better)) if better else (hits, 0)


def _fit_hits(
    hits: Sequence[SearchHit], canvas: Canvas, paging: Paging, notes: int
) -> list[list[str]]:
    """Return the lines of each hit to show."""
    if canvas.height is None or not paging.fits_screen:
        lines = None if paging.whole else MOST_LINES
        return [list(render_hit(hit, canvas, lines)) for hit in hits]
    room = canvas.height - _PROMPTS - notes - 1
    shown = MOST_LINES
    blocks = [list(render_hit(hit, canvas, shown)) for hit in hits[:_FEWEST]]
    while _count_lines(blocks) > room and shown > _FEWEST_LINES:
        shown -= 1
        blocks = [list(render_hit(hit, canvas, shown)) for hit in hits[:_FEWEST]]
    for hit in hits[_FEWEST:]:
        block = list(render_hit(hit, canvas, shown))
        if _count_lines([*blocks, block]) > room:
            break
        blocks.append(block)
    return blocks


def _count_lines(blocks: list[list[str]]) -> int:
    return sum(len(block) + 1 for block in blocks)


def _render_rest(
    reply: SearchResponse, canvas: Canvas, paging: Paging, hidden: int, weaker: int
) -> Iterator[str]:
    """Yield the command that shows more hits."""
    shown = len(reply.hits) - hidden - weaker
    if hidden:
        fits = shown >= len(reply.queries or ())
        command = paging.repeat(*(("-n", str(shown), "--page", "2") if fits else ("--page", "1")))
        yield canvas.dim(f"more: {command}")
    elif weaker:
        noun = "weaker hits" if reply.has_more else pluralize(weaker, "weaker hit")
        yield canvas.dim(f"{noun}: {paging.repeat('--all')}")
    elif reply.has_more and reply.next_cursor:
        yield canvas.dim(f"more: {paging.next_page(reply, reply.hits[-1].rank)}")


def _render_no_hits(reply: SearchResponse, canvas: Canvas, paging: Paging) -> Iterator[str]:
    if paging.page > 1:
        yield f"no hits on page {paging.page:,} for: {clean(reply.query)}"
        return
    yield describe_no_answer(reply, "no results", f" for: {reply.query}")
    if reply.unmatched_filters:
        yield from render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)
        return
    if reply.indexing:
        return
    found = reply.coverage
    if found and (found.unread or found.new or found.changed or found.unlisted):
        yield canvas.step("read what is missing first", paging.repeat("--refresh"))
    yield canvas.dim("try fewer or other words, or drop a filter")
    if reply.mode != "hybrid":
        command = paging.repeat("--mode", "hybrid", without=("--mode",))
        yield canvas.dim(f"try both channels: {command}")
    yield canvas.step("see what is indexed", "kebab list")
    yield canvas.step("read more files", "kebab ingest FOLDER")


def _render_notes(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    for channel in reply.degraded:
        yield from render_degraded(channel, canvas)
    yield from render_refresh(reply.refresh, canvas)
    yield from render_gaps(reply, canvas)
    if reply.left_out:
        yield canvas.dim(describe_left_out(reply.left_out))


def _render_trace(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    stages = reply.trace or []
    width = max((measure_width(stage.stage) for stage in stages), default=0)
    for stage in stages:
        figures = f"{stage.duration_ms:8.2f} ms  {stage.candidates:6,}"
        yield canvas.dim(clean(f"{stage.stage:<{width}}  {figures}  {stage.note}").rstrip())
