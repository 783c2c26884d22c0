"""An answer with what carries it, or a refusal with the nearest passages."""

import shlex
from collections.abc import Iterable, Iterator
from itertools import groupby

from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.hits import (
    FRESHNESS_NOTES,
    build_file_uri,
    format_headings,
    format_line_range,
    format_location,
    render_degraded,
)
from kebab.cli.render.markdown import render_markdown
from kebab.cli.render.width import clean, clean_lines, measure_width, truncate
from kebab.wire.ask import Answer, AnswerCitation
from kebab.wire.citation import Freshness
from kebab.wire.search import SearchHit

_INDENT = "     "
_QUOTED_LINES = 3
_NEAREST = 3
_LONGEST_HINT = 100
_SOON_MS = 100
_INTERRUPTED = "llm_stream_aborted"


def render_answer(reply: Answer, canvas: Canvas) -> Iterator[str]:
    """Yield the answer and its citations; for a person also the notes and what it cost."""
    yield from _said(reply, canvas)
    if reply.citations:
        yield ""
        # An answer in the words of the notes holds all quotes already.
        yield from render_sources(reply, canvas, quoted=reply.mode != "extractive")
    if reply.suggestions and reply.refusal_reason != _INTERRUPTED:
        yield ""
        yield from _nearest(reply.suggestions, canvas)
    if canvas.is_terminal:
        after = [*render_notes(reply, canvas), *_footer(reply, canvas)]
        yield from ["", *after] if after else []


def render_notes(reply: Answer, canvas: Canvas) -> Iterator[str]:
    """Yield what a reader must know of an answer."""
    if reply.refusal_reason == _INTERRUPTED:
        yield from canvas.note("interrupted")
    for message in dict.fromkeys(one.message for one in reply.warnings):
        yield from canvas.note(clean(message))
    for channel in reply.retrieval.degraded:
        yield from render_degraded(channel, canvas)
    for hint in _hints(reply):
        yield from canvas.hint(hint)


def render_sources(reply: Answer, canvas: Canvas, *, quoted: bool = True) -> Iterator[str]:
    """Yield where each citation stands, and what stands there; a marker is said once."""
    for marker, group in groupby(reply.citations, key=lambda one: one.marker):
        sign = f"{f'[{marker}]':>{len(_INDENT) - 1}} "
        for number, one in enumerate(group):
            yield (_INDENT if number else canvas.location(sign)) + _cited(one, canvas)
            if quoted:
                yield from _quoted(one.quote, canvas)


def _said(reply: Answer, canvas: Canvas) -> Iterable[str]:
    if canvas.width is None:
        return [clean_lines(reply.answer)]
    return render_markdown(reply.answer, canvas)


def _cited(one: AnswerCitation, canvas: Canvas) -> str:
    context = format_headings(one.title, one.heading_path)
    return _placed(format_line_range(one.citation), one.file, one.freshness, context, canvas)


def _quoted(text: str, canvas: Canvas) -> Iterator[str]:
    quote = " ".join(clean(text).split())
    if canvas.width is not None:
        quote = truncate(quote, _QUOTED_LINES * (canvas.width - len(_INDENT) - 2))
    yield from (canvas.dim(line) for line in canvas.paragraph(f'"{quote}"', _INDENT))


def _placed(
    where: str, file: str | None, freshness: Freshness, context: str, canvas: Canvas
) -> str:
    """Return a place with its headings, as far as these fit on the line."""
    stale = FRESHNESS_NOTES[freshness]
    shown = canvas.link(canvas.location(where), build_file_uri(file)) + canvas.warning(stale)
    if canvas.width is not None:
        room = canvas.width - len(_INDENT) - measure_width(where + stale) - 2
        context = truncate(context, room) if room >= len(_INDENT) else ""
    return f"{shown}  {canvas.dim(context)}" if context else shown


def _nearest(hits: list[SearchHit], canvas: Canvas) -> Iterator[str]:
    yield canvas.dim("nearest:")
    for hit in hits[:_NEAREST]:
        context = format_headings(hit.title, hit.heading_path)
        yield "  " + _placed(
            format_location(hit.citation), hit.file, hit.freshness, context, canvas
        )


def _hints(reply: Answer) -> Iterator[str]:
    """Yield commands that may find what the answer does not give."""
    if reply.refusal_reason == "no_chunks":
        yield from ("kebab list", "kebab ingest FOLDER")
    elif reply.refusal_reason and reply.refusal_reason != _INTERRUPTED:
        words = shlex.quote(clean(reply.question).strip())
        seam = "-- " if words.startswith("-") else ""
        yield f"kebab search {seam}{words}" if len(words) <= _LONGEST_HINT else "kebab search WORDS"


def _footer(reply: Answer, canvas: Canvas) -> Iterator[str]:
    used = reply.retrieval.chunks_used
    if not used:
        return
    who = reply.model or reply.mode
    took = reply.usage.latency_ms
    time = f"{took / 1000:.1f} s" if took >= _SOON_MS else f"{took:.0f} ms"
    yield canvas.dim(f"{clean(who)} · {pluralize(used, 'passage')} · {time}")
