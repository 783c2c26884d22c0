"""Renders answers with their citations, also while they are generated, and ask sessions."""

import io
import shlex
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Self, get_args

from msgspec import UNSET

from kebab.cli.channels import OutputChannel
from kebab.cli.render.canvas import (
    Canvas,
    Column,
    clean,
    clean_lines,
    format_duration,
    format_minute,
    limit_text_width,
    render_columns,
    truncate,
)
from kebab.cli.render.hits import (
    format_headings,
    render_degraded,
    render_location,
    render_unmatched_filters,
)
from kebab.cli.render.progress import StatusDisplay
from kebab.search.citations import locate_hit
from kebab.wire.ask import (
    Answer,
    AnswerCitation,
    AnswerEvent,
    AnswerWarning,
    DoubtCode,
    SessionList,
    SessionRemoved,
    SessionSummary,
    SessionTranscript,
)
from kebab.wire.coverage import describe_absent_words, describe_known_gaps, pluralize
from kebab.wire.search import SearchHit

_INDENT = "     "
_QUOTED_LINES = 3
_DOUBT_CODES = frozenset(get_args(DoubtCode))
_INTERRUPTED = "llm_stream_aborted"


def render_answer(reply: Answer, canvas: Canvas) -> Iterator[str]:
    """Yield the answer and its citations; on a terminal also the notes and a footer.

    That there is no answer stands last, behind the nearest passage.
    """
    if reply.refusal_reason and reply.refusal_reason != _INTERRUPTED:
        for hit in reply.suggestions[:1]:
            place = _format_place(hit, locate_hit(hit, reply.sources), canvas)
            yield from canvas.wrap(place, canvas.dim("nearest: "))
        yield from _render_doubts(reply, canvas)
        yield from render_notes(reply, canvas) if canvas.is_terminal else ()
        yield from _draw_answer(reply.answer, canvas)
        return
    yield from _draw_answer(reply.answer, canvas)
    if doubts := list(_render_doubts(reply, canvas)):
        yield from ["", *doubts]
    if reply.citations:
        yield ""
        # An extractive answer contains all quotes already.
        yield from render_sources(reply, canvas, quoted=reply.mode != "extractive")
    if canvas.is_terminal:
        after = [*render_notes(reply, canvas)]
        if used := reply.retrieval.chunks_used:
            took, model = reply.usage.latency_ms, clean(reply.model or reply.mode)
            facts = (model, pluralize(used, "passage"), format_duration(took / 1000))
            after.append(canvas.dim(" · ".join(facts)))
        yield from ["", *after] if after else []


def _draw_answer(text: str, canvas: Canvas, indent: str = "") -> list[str]:
    """Return an answer as lines; a pipe gets its Markdown."""
    if canvas.width is None:
        return canvas.wrap(clean_lines(text).strip("\n"), indent)
    from kebab.cli.render.markdown import render_markdown

    lines = render_markdown(text, canvas, canvas.width - len(indent))
    return [(indent + line).rstrip() for line in lines]


def render_notes(reply: Answer, canvas: Canvas) -> Iterator[str]:
    """Yield warnings, degraded channels and hints."""
    if reply.refusal_reason == _INTERRUPTED:
        yield from canvas.note("interrupted")
    others = (warning for warning in reply.warnings if not _is_shown_as_doubt(reply, warning))
    for message in dict.fromkeys(warning.message for warning in others):
        yield from canvas.note(message)
    told = any(warning.code == "incomplete_coverage" for warning in reply.warnings)
    if not told:
        yield from canvas.note(describe_known_gaps(reply.coverage))
    for channel in reply.retrieval.degraded:
        yield from render_degraded(channel, canvas)
    yield from render_unmatched_filters(reply.retrieval.unmatched_filters, None, canvas)
    # Commands may find what the answer lacks.
    if reply.retrieval.unmatched_filters:
        return
    if reply.refusal_reason == "no_chunks":
        yield from canvas.hint("kebab ingest FOLDER")
    elif reply.refusal_reason and reply.refusal_reason != _INTERRUPTED:
        question = clean(reply.question).strip()
        dashes = ["--"] * question.startswith("-")
        yield from canvas.hint(shlex.join(["kebab", "search", *dashes, question]))


def _render_doubts(reply: Answer, canvas: Canvas) -> Iterator[str]:
    """Yield why an answer is uncertain, or the words that the notes do not have."""
    if reply.answers_question == "uncertain":
        shown = [one.message for one in reply.warnings if _is_shown_as_doubt(reply, one)]
        label, text = "uncertain:", "; ".join(shown)
    elif reply.absent_terms:
        words = describe_absent_words(", ".join(reply.absent_terms), reply.coverage, "the notes")
        start, _, text = words.partition(": ")
        label = f"{start}:"
    else:
        return
    yield from canvas.wrap(clean(text), f"{canvas.warning(label)} ")


def _is_shown_as_doubt(reply: Answer, warning: AnswerWarning) -> bool:
    return reply.answers_question == "uncertain" and warning.code in _DOUBT_CODES


def render_sources(reply: Answer, canvas: Canvas, *, quoted: bool = True) -> Iterator[str]:
    """Yield the location and the quote of each citation; a repeated marker appears once."""
    for marker, group in groupby(reply.citations, key=lambda citation: citation.marker):
        label = canvas.location(f"{f'[{marker}]':>{len(_INDENT) - 1}} ")
        for source in group:
            place = _format_place(source, source.file, canvas)
            yield from canvas.wrap(place, label)
            label = _INDENT
            if quoted:
                quote = _join_lines(source.quote)
                if canvas.width is not None:
                    quote = truncate(quote, _QUOTED_LINES * (canvas.width - len(_INDENT) - 2))
                yield from map(canvas.dim, canvas.wrap(f'"{quote}"', _INDENT))


def _format_place(found: SearchHit | AnswerCitation, file: str | None, canvas: Canvas) -> str:
    """Return a location with its headings."""
    base = f"{found.base}:" if found.base else ""
    place = render_location(found.citation, file, found.freshness, canvas)
    headings = format_headings(found.title, found.heading_path)
    return f"{base}{place}  {canvas.dim(headings)}".rstrip()


def render_session_list(reply: SessionList, canvas: Canvas) -> Iterator[str]:
    """Yield one line per session, and on a terminal what can be done with them."""
    rows = [
        (clean(one.name), format_minute(one.updated_at), _join_lines(one.first_question))
        for one in reply.sessions
    ]
    columns = (Column("", canvas.strong, wraps=True), Column("", canvas.dim), Column(wraps=True))
    yield from render_columns(columns, rows, canvas)
    if canvas.width is None:
        return
    if reply.sessions:
        yield ""
        yield canvas.dim(_count_turns(reply.sessions))
        yield canvas.step("show one", "kebab session show NAME")
    else:
        yield "no sessions"
    if not reply.history:
        yield from canvas.note("new turns are not remembered: `ask.history` is false")
    elif not reply.sessions:
        yield canvas.step("begin one", "kebab ask --session NAME QUESTION")


def render_transcript(reply: SessionTranscript, canvas: Canvas) -> Iterator[str]:
    """Yield a session with its questions and answers in order."""
    session = reply.session
    yield f"{canvas.strong(clean(session.name))}  {canvas.dim(pluralize(session.turns, 'turn'))}"
    for turn in reply.turns:
        yield ""
        margin = f"{turn.turn_index + 1:>2}  "
        indent = " " * len(margin)
        question = clean_lines(turn.question).strip("\n")
        yield from map(canvas.strong, canvas.wrap(question, margin))
        origin = f"{format_minute(turn.created_at)} UTC · {clean(turn.model or turn.mode)}"
        reason = turn.refusal_reason
        shown = "interrupted" if reason == _INTERRUPTED else f"no answer: {reason}"
        refused = f" · {canvas.warning(shown)}" if reason else ""
        yield indent + canvas.dim(origin) + refused
        if _join_lines(turn.query) != _join_lines(turn.question):
            searched = canvas.wrap(f"searched for: {_join_lines(turn.query)}", indent)
            yield from map(canvas.dim, searched)
        if turn.answer:
            yield from ("", *_draw_answer(turn.answer, canvas, indent))


def render_removal_plan(reply: SessionList, canvas: Canvas) -> Iterator[str]:
    """Yield the number of sessions that would be deleted, or nothing without sessions."""
    if reply.sessions:
        yield f"this deletes {_count_turns(reply.sessions)}"


def render_removed_sessions(reply: SessionRemoved, canvas: Canvas) -> Iterator[str]:
    """Yield the deleted sessions."""
    yield from (f"{canvas.dim('deleted')}  {clean(name)}" for name in reply.names)
    sessions, turns = pluralize(len(reply.names), "session"), pluralize(reply.turns, "turn")
    yield f"{sessions} with {turns} deleted" if reply.names else "no sessions"


def _count_turns(sessions: list[SessionSummary]) -> str:
    turns = pluralize(sum(session.turns for session in sessions), "turn")
    return f"{pluralize(len(sessions), 'session')} with {turns}"


def _join_lines(text: str) -> str:
    return " ".join(clean(text).split())


_SHOW_CURSOR = "\x1b[?25h\r\x1b[J"
"""Restores a terminal when a live display ends early."""


class AnswerLog(StatusDisplay[AnswerEvent]):
    """Writes the state of an answer to a log when it takes long.

    `model` is what writes the answer, if anything does.
    """

    patience_ms = 2_000

    def __init__(
        self,
        channel: OutputChannel,
        canvas: Canvas,
        model: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(channel, canvas)
        self._model = clean(model) if model else None
        self._text = ""
        self._clock = clock
        self._started = clock()
        self._activity = "looking for passages"

    def __call__(self, event: AnswerEvent) -> bool:
        """Update the state."""
        if event.type == "token" and event.delta is not UNSET:
            self._text += event.delta
        elif event.type == "retrieval_done" and event.hits is not UNSET:
            passages = pluralize(len(event.hits), "passage")
            reader = f"asking {self._model} about" if self._model else "reading"
            self._activity = f"{reader} {passages}"
        elif event.type == "restart" and event.reason is not UNSET:
            self._text = ""
            self._activity = f"asking again with less: {clean(event.reason)}"
        elif event.type == "waiting" and event.reason is not UNSET:
            self._activity = clean(event.reason)
        return False

    def describe(self, elapsed_ms: float = 0) -> str:
        """Return what is done now, and how long the answer takes."""
        what = self._activity
        if self._text:
            what = f"{self._model} is writing" if self._model else "writing"
        seconds = int(self._clock() - self._started)
        return f"{what}  {seconds} s" if seconds else what


class LiveAnswer(AnswerLog):
    """Shows the end of the text and a status line until the answer is complete."""

    silence_s = float("inf")
    """It needs no heartbeat, because the status line shows the time."""

    def __init__(
        self, channel: OutputChannel, canvas: Canvas, model: str | None, *, shows_text: bool
    ) -> None:
        super().__init__(channel, canvas, model)
        self._shows_text = shows_text
        from rich.console import Console
        from rich.live import Live

        file = io.FileIO(channel.descriptor, "w", closefd=False)
        stream = io.TextIOWrapper(file, "utf-8", errors="replace")
        self._console = Console(file=stream, force_terminal=True, no_color=not canvas.color)
        self._live = Live(
            console=self._console,
            get_renderable=self._render,
            transient=True,
            refresh_per_second=8,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the text and the status line."""
        self._live.stop()

    def abort(self) -> None:
        """Restore the terminal."""
        self._channel.write(_SHOW_CURSOR)

    def lines(self, width: int, rows: int) -> list[str]:
        """Return the lines to show now: the end of the text and the status line."""
        from kebab.cli.render.markdown import render_markdown

        status = self._canvas.dim(truncate(self.describe(), width))
        if not (self._shows_text and self._text.strip()):
            return [status]
        body = render_markdown(self._text, self._canvas, width)
        room = rows - 4
        if len(body) > room:
            body = [self._canvas.dim("…"), *body[-room:]]
        return [*body, "", status]

    def _render(self) -> Any:
        from rich.text import Text

        columns, rows = self._channel.columns, self._channel.rows
        self._console.size = (columns, rows)
        lines = self.lines(limit_text_width(columns), rows)
        return Text.from_ansi("\n".join(lines), no_wrap=True, overflow="crop")
