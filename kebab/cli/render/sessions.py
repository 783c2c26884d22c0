"""Renders ask sessions: the list, one session with its turns, and removals."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, format_tabs, pluralize
from kebab.cli.render.markdown import render_markdown
from kebab.cli.render.width import clean, clean_lines, measure_width, pad, truncate
from kebab.wire.ask import (
    SessionList,
    SessionRemoved,
    SessionSummary,
    SessionTranscript,
    SessionTurn,
)

_DATE = len("2025-01-31")
_MINUTE = len("2025-01-31T12:00")
_FEW = 10


def render_session_list(reply: SessionList, canvas: Canvas) -> Iterator[str]:
    """Yield one line per session: columns on a terminal, tab-separated fields in a pipe."""
    if canvas.width is None:
        for session in reply.sessions:
            times = (session.created_at, session.updated_at)
            yield format_tabs(session.name, str(session.turns), *times, session.first_question)
        return
    if reply.sessions:
        yield from _render_table(reply.sessions, canvas, canvas.width)
        yield ""
        yield canvas.dim(_count_turns(reply.sessions))
        yield canvas.dim("show one: kebab session show NAME")
    else:
        yield "no sessions"
    if not reply.history:
        yield from canvas.note("new turns are not remembered: `ask.history` is false")
    elif not reply.sessions:
        yield canvas.dim("begin one: kebab ask --session NAME QUESTION")


def render_transcript(reply: SessionTranscript, canvas: Canvas) -> Iterator[str]:
    """Yield a session with its questions and answers in order."""
    session = reply.session
    yield f"{canvas.strong(clean(session.name))}  {canvas.dim(pluralize(session.turns, 'turn'))}"
    for turn in reply.turns:
        yield ""
        yield from _render_turn(turn, canvas)


def render_removal_plan(reply: SessionList, canvas: Canvas) -> Iterator[str]:
    """Yield the sessions that would be deleted, or nothing without sessions."""
    if not reply.sessions:
        return
    yield f"this deletes {_count_turns(reply.sessions)}:"
    yield from (f"  {canvas.strong(clean(session.name))}" for session in reply.sessions[:_FEW])
    if len(reply.sessions) > _FEW:
        yield canvas.dim(f"  and {len(reply.sessions) - _FEW} more")


def render_removed_sessions(reply: SessionRemoved, canvas: Canvas) -> Iterator[str]:
    """Yield the deleted sessions."""
    if not reply.names:
        yield "no sessions"
        return
    yield from (f"{canvas.dim('deleted')}  {clean(name)}" for name in reply.names)
    yield f"{pluralize(len(reply.names), 'session')} with {pluralize(reply.turns, 'turn')} deleted"


def _count_turns(sessions: list[SessionSummary]) -> str:
    turns = pluralize(sum(session.turns for session in sessions), "turn")
    return f"{pluralize(len(sessions), 'session')} with {turns}"


def _render_table(sessions: list[SessionSummary], canvas: Canvas, width: int) -> Iterator[str]:
    longest = max(measure_width(clean(session.name)) for session in sessions)
    count = max(len(pluralize(session.turns, "turn")) for session in sessions)
    name = max(8, min(longest, width // 3))
    question = max(8, width - name - count - _DATE - 6)
    for session in sessions:
        columns = (
            canvas.strong(pad(truncate(clean(session.name), name), name)),
            canvas.dim(f"{pluralize(session.turns, 'turn'):>{count}}"),
            canvas.dim(session.updated_at[:_DATE]),
            truncate(_join_lines(session.first_question), question),
        )
        yield "  ".join(columns)


def _render_turn(turn: SessionTurn, canvas: Canvas) -> Iterator[str]:
    """Yield a question with its number, how it was answered, and the answer."""
    margin = f"{turn.turn_index + 1:>2}  "
    indent = " " * len(margin)
    first, *rest = _wrap_lines(turn.question, canvas, indent) or [indent]
    yield canvas.strong(margin + first[len(indent) :])
    yield from map(canvas.strong, rest)
    time = turn.created_at[:_MINUTE].replace("T", " ")
    refused = canvas.warning(f"no answer: {turn.refusal_reason}") if turn.refusal_reason else ""
    origin = canvas.dim(f"{time} UTC · {clean(turn.model or turn.mode)}")
    yield indent + (f"{origin} · {refused}" if refused else origin)
    if _join_lines(turn.query) != _join_lines(turn.question):
        searched = canvas.wrap(f"searched for: {_join_lines(turn.query)}", indent)
        yield from map(canvas.dim, searched)
    if answer := _render_answer(turn.answer, canvas, indent):
        yield ""
        yield from answer


def _render_answer(text: str, canvas: Canvas, indent: str) -> list[str]:
    """Return an answer as lines; a pipe gets the original Markdown."""
    if canvas.width is None:
        return _wrap_lines(text, canvas, indent)
    lines = render_markdown(text, canvas, canvas.width - len(indent))
    return [(indent + line).rstrip() for line in lines]


def _wrap_lines(text: str, canvas: Canvas, indent: str) -> list[str]:
    """Return text as lines that fit; its own line breaks stay, blank lines at its ends do not."""
    lines = clean_lines(text).expandtabs(4).strip("\n").split("\n")
    wrapped = [part.rstrip() for line in lines for part in canvas.wrap(line, indent) or [""]]
    return wrapped if any(wrapped) else []


def _join_lines(text: str) -> str:
    """Return text as one line without runs of blanks."""
    return " ".join(clean(text).split())
