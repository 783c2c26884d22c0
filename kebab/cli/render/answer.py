"""Renders an answer with its citations, or a refusal with the nearest passages."""

import shlex
from collections.abc import Iterator
from itertools import groupby

from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.hits import (
    FRESHNESS_NOTES,
    format_headings,
    format_line_range,
    format_location,
    render_degraded,
    render_location,
)
from kebab.cli.render.markdown import render_markdown
from kebab.cli.render.width import clean, clean_lines, measure_width, truncate
from kebab.wire.ask import Answer
from kebab.wire.citation import Freshness
from kebab.wire.search import SearchHit

_INDENT = "     "
_QUOTED_LINES = 3
_NEAREST = 3
_LONGEST_HINT = 100
_SOON_MS = 100
_INTERRUPTED = "llm_stream_aborted"


def render_answer(reply: Answer, canvas: Canvas) -> Iterator[str]:
    """Yield the answer and its citations; on a terminal also the notes and a footer."""
    if canvas.width is None:
        yield clean_lines(reply.answer)
    else:
        yield from render_markdown(reply.answer, canvas)
    if reply.citations:
        yield ""
        # An extractive answer contains all quotes already.
        yield from render_sources(reply, canvas, quoted=reply.mode != "extractive")
    if reply.suggestions and reply.refusal_reason != _INTERRUPTED:
        yield ""
        yield from _render_nearest(reply.suggestions, canvas)
    if canvas.is_terminal:
        after = [*render_notes(reply, canvas), *_render_footer(reply, canvas)]
        yield from ["", *after] if after else []


def render_notes(reply: Answer, canvas: Canvas) -> Iterator[str]:
    """Yield warnings, degraded channels and hints."""
    if reply.refusal_reason == _INTERRUPTED:
        yield from canvas.note("interrupted")
    for message in dict.fromkeys(warning.message for warning in reply.warnings):
        yield from canvas.note(clean(message))
    for channel in reply.retrieval.degraded:
        yield from render_degraded(channel, canvas)
    for hint in _list_hints(reply):
        yield from canvas.hint(hint)


def render_sources(reply: Answer, canvas: Canvas, *, quoted: bool = True) -> Iterator[str]:
    """Yield the location and the quote of each citation; a repeated marker appears once."""
    for marker, group in groupby(reply.citations, key=lambda citation: citation.marker):
        label = f"{f'[{marker}]':>{len(_INDENT) - 1}} "
        for number, source in enumerate(group):
            context = format_headings(source.title, source.heading_path)
            where = format_line_range(source.citation)
            place = _render_place(where, source.file, source.freshness, context, canvas)
            yield (_INDENT if number else canvas.location(label)) + place
            if quoted:
                yield from _render_quote(source.quote, canvas)


def _render_quote(text: str, canvas: Canvas) -> Iterator[str]:
    quote = " ".join(clean(text).split())
    if canvas.width is not None:
        quote = truncate(quote, _QUOTED_LINES * (canvas.width - len(_INDENT) - 2))
    yield from (canvas.dim(line) for line in canvas.wrap(f'"{quote}"', _INDENT))


def _render_place(
    where: str, file: str | None, freshness: Freshness, context: str, canvas: Canvas
) -> str:
    """Return a location with its headings, cut to the line."""
    if canvas.width is not None:
        width = measure_width(where + FRESHNESS_NOTES[freshness])
        room = canvas.width - len(_INDENT) - width - 2
        context = truncate(context, room) if room >= len(_INDENT) else ""
    location = render_location(where, file, freshness, canvas)
    return f"{location}  {canvas.dim(context)}" if context else location


def _render_nearest(hits: list[SearchHit], canvas: Canvas) -> Iterator[str]:
    yield canvas.dim("nearest:")
    for hit in hits[:_NEAREST]:
        context = format_headings(hit.title, hit.heading_path)
        where = format_location(hit.citation)
        yield "  " + _render_place(where, hit.file, hit.freshness, context, canvas)


def _list_hints(reply: Answer) -> Iterator[str]:
    """Yield commands that may find what the answer lacks."""
    if reply.refusal_reason == "no_chunks":
        yield from ("kebab list", "kebab ingest FOLDER")
    elif reply.refusal_reason and reply.refusal_reason != _INTERRUPTED:
        words = shlex.quote(clean(reply.question).strip())
        end_of_flags = "-- " if words.startswith("-") else ""
        short = len(words) <= _LONGEST_HINT
        yield f"kebab search {end_of_flags}{words}" if short else "kebab search WORDS"


def _render_footer(reply: Answer, canvas: Canvas) -> Iterator[str]:
    used = reply.retrieval.chunks_used
    if not used:
        return
    took = reply.usage.latency_ms
    time = f"{took / 1000:.1f} s" if took >= _SOON_MS else f"{took:.0f} ms"
    model = clean(reply.model or reply.mode)
    yield canvas.dim(f"{model} · {pluralize(used, 'passage')} · {time}")
