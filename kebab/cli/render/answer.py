"""An answer with what carries it, or a refusal with the nearest passages."""

import shlex
from collections.abc import Iterable, Iterator
from itertools import groupby

from kebab.cli.render.clean import clean, clean_lines
from kebab.cli.render.hits import STALE, degraded, headings
from kebab.cli.render.markdown import markdown
from kebab.cli.render.measure import cells, fitted
from kebab.cli.render.page import Page
from kebab.cli.render.place import file_uri, spot, stretch
from kebab.cli.render.sheet import plural
from kebab.wire.ask import Answer, AnswerCitation
from kebab.wire.citation import Freshness
from kebab.wire.search import SearchHit

_INDENT = "     "
_QUOTED_LINES = 3
_NEAREST = 3
_LONGEST_HINT = 100
_SOON_MS = 100
_INTERRUPTED = "llm_stream_aborted"


def draw(reply: Answer, page: Page) -> Iterator[str]:
    """Yield the answer and its citations; for a person also the notes and what it cost."""
    yield from _said(reply, page)
    if reply.citations:
        yield ""
        # An answer in the words of the notes holds all quotes already.
        yield from sources(reply, page, quoted=reply.mode != "extractive")
    if reply.suggestions and reply.refusal_reason != _INTERRUPTED:
        yield ""
        yield from _nearest(reply.suggestions, page)
    if page.terminal:
        after = [*notes(reply, page), *_footer(reply, page)]
        yield from ["", *after] if after else []


def notes(reply: Answer, page: Page) -> Iterator[str]:
    """Yield what a reader must know of an answer."""
    if reply.refusal_reason == _INTERRUPTED:
        yield from page.note("interrupted")
    for message in dict.fromkeys(one.message for one in reply.warnings):
        yield from page.note(clean(message))
    for channel in reply.retrieval.degraded:
        yield from degraded(channel, page)
    for hint in _hints(reply):
        yield from page.hint(hint)


def sources(reply: Answer, page: Page, *, quoted: bool = True) -> Iterator[str]:
    """Yield where each citation stands, and what stands there; a marker is said once."""
    for marker, group in groupby(reply.citations, key=lambda one: one.marker):
        sign = f"{f'[{marker}]':>{len(_INDENT) - 1}} "
        for number, one in enumerate(group):
            yield (_INDENT if number else page.place(sign)) + _cited(one, page)
            if quoted:
                yield from _quoted(one.quote, page)


def _said(reply: Answer, page: Page) -> Iterable[str]:
    if page.width is None:
        return [clean_lines(reply.answer)]
    return markdown(reply.answer, page)


def _cited(one: AnswerCitation, page: Page) -> str:
    context = headings(one.title, one.heading_path)
    return _placed(stretch(one.citation), one.file, one.freshness, context, page)


def _quoted(text: str, page: Page) -> Iterator[str]:
    quote = " ".join(clean(text).split())
    if page.width is not None:
        quote = fitted(quote, _QUOTED_LINES * (page.width - len(_INDENT) - 2))
    yield from (page.faint(line) for line in page.paragraph(f'"{quote}"', _INDENT))


def _placed(where: str, file: str | None, freshness: Freshness, context: str, page: Page) -> str:
    """Return a place with its headings, as far as these fit on the line."""
    stale = STALE[freshness]
    shown = page.link(page.place(where), file_uri(file)) + page.odd(stale)
    if page.width is not None:
        room = page.width - len(_INDENT) - cells(where + stale) - 2
        context = fitted(context, room) if room >= len(_INDENT) else ""
    return f"{shown}  {page.faint(context)}" if context else shown


def _nearest(hits: list[SearchHit], page: Page) -> Iterator[str]:
    yield page.faint("nearest:")
    for hit in hits[:_NEAREST]:
        context = headings(hit.title, hit.heading_path)
        yield "  " + _placed(spot(hit.citation), hit.file, hit.freshness, context, page)


def _hints(reply: Answer) -> Iterator[str]:
    """Yield commands that may find what the answer does not give."""
    if reply.refusal_reason == "no_chunks":
        yield from ("kebab list", "kebab ingest FOLDER")
    elif reply.refusal_reason and reply.refusal_reason != _INTERRUPTED:
        words = shlex.quote(clean(reply.question).strip())
        seam = "-- " if words.startswith("-") else ""
        yield f"kebab search {seam}{words}" if len(words) <= _LONGEST_HINT else "kebab search WORDS"


def _footer(reply: Answer, page: Page) -> Iterator[str]:
    used = reply.retrieval.chunks_used
    if not used:
        return
    who = reply.model or reply.mode
    took = reply.usage.latency_ms
    time = f"{took / 1000:.1f} s" if took >= _SOON_MS else f"{took:.0f} ms"
    yield page.faint(f"{clean(who)} · {plural(used, 'passage')} · {time}")
