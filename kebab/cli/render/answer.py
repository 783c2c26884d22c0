"""An answer with what carries it, or a refusal with the nearest passages."""

import shlex
from collections.abc import Iterable, Iterator
from itertools import groupby

from kebab.cli.render.canvas import Canvas, plural
from kebab.cli.render.hits import STALE, degraded, file_uri, headings, spot, stretch
from kebab.cli.render.markdown import markdown
from kebab.cli.render.width import cells, clean, clean_lines, fitted
from kebab.wire.ask import Answer, AnswerCitation
from kebab.wire.citation import Freshness
from kebab.wire.search import SearchHit

_INDENT = "     "
_QUOTED_LINES = 3
_NEAREST = 3
_LONGEST_HINT = 100
_SOON_MS = 100
_INTERRUPTED = "llm_stream_aborted"


def draw(reply: Answer, canvas: Canvas) -> Iterator[str]:
    """Yield the answer and its citations; for a person also the notes and what it cost."""
    yield from _said(reply, canvas)
    if reply.citations:
        yield ""
        # An answer in the words of the notes holds all quotes already.
        yield from sources(reply, canvas, quoted=reply.mode != "extractive")
    if reply.suggestions and reply.refusal_reason != _INTERRUPTED:
        yield ""
        yield from _nearest(reply.suggestions, canvas)
    if canvas.terminal:
        after = [*notes(reply, canvas), *_footer(reply, canvas)]
        yield from ["", *after] if after else []


def notes(reply: Answer, canvas: Canvas) -> Iterator[str]:
    """Yield what a reader must know of an answer."""
    if reply.refusal_reason == _INTERRUPTED:
        yield from canvas.note("interrupted")
    for message in dict.fromkeys(one.message for one in reply.warnings):
        yield from canvas.note(clean(message))
    for channel in reply.retrieval.degraded:
        yield from degraded(channel, canvas)
    for hint in _hints(reply):
        yield from canvas.hint(hint)


def sources(reply: Answer, canvas: Canvas, *, quoted: bool = True) -> Iterator[str]:
    """Yield where each citation stands, and what stands there; a marker is said once."""
    for marker, group in groupby(reply.citations, key=lambda one: one.marker):
        sign = f"{f'[{marker}]':>{len(_INDENT) - 1}} "
        for number, one in enumerate(group):
            yield (_INDENT if number else canvas.place(sign)) + _cited(one, canvas)
            if quoted:
                yield from _quoted(one.quote, canvas)


def _said(reply: Answer, canvas: Canvas) -> Iterable[str]:
    if canvas.width is None:
        return [clean_lines(reply.answer)]
    return markdown(reply.answer, canvas)


def _cited(one: AnswerCitation, canvas: Canvas) -> str:
    context = headings(one.title, one.heading_path)
    return _placed(stretch(one.citation), one.file, one.freshness, context, canvas)


def _quoted(text: str, canvas: Canvas) -> Iterator[str]:
    quote = " ".join(clean(text).split())
    if canvas.width is not None:
        quote = fitted(quote, _QUOTED_LINES * (canvas.width - len(_INDENT) - 2))
    yield from (canvas.faint(line) for line in canvas.paragraph(f'"{quote}"', _INDENT))


def _placed(
    where: str, file: str | None, freshness: Freshness, context: str, canvas: Canvas
) -> str:
    """Return a place with its headings, as far as these fit on the line."""
    stale = STALE[freshness]
    shown = canvas.link(canvas.place(where), file_uri(file)) + canvas.odd(stale)
    if canvas.width is not None:
        room = canvas.width - len(_INDENT) - cells(where + stale) - 2
        context = fitted(context, room) if room >= len(_INDENT) else ""
    return f"{shown}  {canvas.faint(context)}" if context else shown


def _nearest(hits: list[SearchHit], canvas: Canvas) -> Iterator[str]:
    yield canvas.faint("nearest:")
    for hit in hits[:_NEAREST]:
        context = headings(hit.title, hit.heading_path)
        yield "  " + _placed(spot(hit.citation), hit.file, hit.freshness, context, canvas)


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
    yield canvas.faint(f"{clean(who)} · {plural(used, 'passage')} · {time}")
