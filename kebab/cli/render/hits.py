"""A page of hits."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.measure import cells, fitted
from kebab.cli.render.place import file_uri, spot
from kebab.cli.render.snippets import INDENT, marked_lines
from kebab.wire.search import DegradedChannel, Retrieval, SearchHit, SearchResponse, TraceStage

_NEAREST = 3
"""How many passages are shown when none is convincing."""

STALE = {"fresh": "", "changed": "  (changed since)", "gone": "  (file is gone)"}
"""What is said of a file that is not as it was indexed."""


def draw(reply: SearchResponse, canvas: Canvas, again: str = "") -> Iterator[str]:
    """Yield the hits, then what a reader must know of them; `again` asks for the next page."""
    if not reply.hits:
        yield from _nothing(reply, canvas)
    elif _unconvincing(reply):
        yield from _nearest(reply, canvas)
    else:
        yield from _all(reply.hits, canvas)
    yield from _footer(reply, canvas, again)


def _unconvincing(reply: SearchResponse) -> bool:
    """Return whether a search found nothing that is likely to answer; later pages never do."""
    first = bool(reply.hits) and reply.hits[0].rank == 1
    return first and all(hit.confidence == "weak" for hit in reply.hits)


def _nearest(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    yield from canvas.note(f"nothing convincing for: {clean(reply.query)}")
    yield canvas.faint("the nearest passages, likely on other matters (all of them: --json)")
    yield ""
    yield from _all(reply.hits[:_NEAREST], canvas)


def _all(hits: Sequence[SearchHit], canvas: Canvas) -> Iterator[str]:
    for hit in hits:
        yield from _hit(hit, canvas)
        yield ""


def _hit(hit: SearchHit, canvas: Canvas) -> Iterator[str]:
    uri = file_uri(hit.file)
    where = canvas.link(canvas.place(spot(hit.citation)), uri)
    note = canvas.odd(STALE[hit.freshness])
    yield f"{canvas.strong(f'{hit.rank:>2}')}  {_score(hit, canvas)}  {where}{note}"
    if context := headings(hit.title, hit.heading_path):
        yield INDENT + canvas.faint(fitted(context, canvas.width - 4) if canvas.width else context)
    yield from marked_lines(hit.snippet, hit.highlights, canvas)
    if hit.retrieval.lifts is not UNSET:
        yield from canvas.wrap_labelled(f"{INDENT}evidence", _evidence(hit.retrieval), canvas.faint)


def _score(hit: SearchHit, canvas: Canvas) -> str:
    paint = {"strong": canvas.good, "fair": canvas.odd, "weak": canvas.faint}[hit.confidence]
    return paint(f"{hit.score:.2f} {hit.confidence:<6}")


def _evidence(found: Retrieval) -> str:
    """Return what the evidence of a hit is of, for a trace."""
    channels = {
        "words": (found.lexical_rank, found.lexical_score),
        "meaning": (found.vector_rank, found.vector_score),
    }
    parts = [
        f"{name} {rank or 'beyond the candidates'} ({score:.3f})"
        for name, (rank, score) in channels.items()
        if score is not None
    ]
    parts += [f"{one.reason} {one.value:+.3f}" for one in found.lifts or []]
    return ", ".join([*parts, f"in all {found.fusion_score:.3f}"])


def headings(title: str, path: list[str]) -> str:
    """Return title and headings on one line; a title that opens the headings is said once."""
    below = path[1:] if path[:1] == [title] else path
    return " > ".join(clean(one) for one in (title, *below) if one)


def _nothing(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    yield f"no results for: {clean(reply.query)}"
    yield canvas.faint("try fewer or other words, or drop a filter")
    if reply.mode != "hybrid":
        yield canvas.faint("try both channels: --mode hybrid")
    yield canvas.faint("see what is indexed: kebab list")
    yield canvas.faint("read more files: kebab ingest FOLDER")


def _footer(reply: SearchResponse, canvas: Canvas, again: str) -> Iterator[str]:
    for one in reply.degraded:
        yield from degraded(one, canvas)
    if reply.truncated:
        yield canvas.faint("shortened to fit --max-tokens")
    if reply.has_more and reply.next_cursor and not _unconvincing(reply):
        yield canvas.faint("more: ") + canvas.faint(again or f"--cursor {reply.next_cursor}")
    yield from _trace(reply.trace or [], canvas)


def degraded(one: DegradedChannel, canvas: Canvas) -> Iterator[str]:
    """Yield which channel could not look, and what may mend it."""
    yield from canvas.note(f"no {clean(one.channel)} search: {clean(one.reason)}")
    if one.hint:
        yield from canvas.hint(clean(one.hint))


def _trace(stages: list[TraceStage], canvas: Canvas) -> Iterator[str]:
    width = max((cells(one.stage) for one in stages), default=0)
    for one in stages:
        line = f"{one.stage:<{width}}  {one.duration_ms:8.2f} ms  {one.candidates:6}  {one.note}"
        yield canvas.faint(clean(line).rstrip())
