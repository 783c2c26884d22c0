"""Sessions: a list of them, one with its turns, and what became of those to be forgotten."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, pluralize
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
    """Yield one line per session: columns for a person, tab-separated fields for a pipe."""
    if canvas.width is None:
        yield from map(_fields, reply.sessions)
        return
    if reply.sessions:
        yield from _table(reply.sessions, canvas, canvas.width)
        yield ""
        yield canvas.dim(_counted(reply.sessions))
        yield canvas.dim("show one: kebab session show NAME")
    else:
        yield "no sessions"
    if not reply.history:
        yield f"{canvas.warning('note:')} new turns are not remembered: `ask.history` is false"
    elif not reply.sessions:
        yield canvas.dim("begin one: kebab ask --session NAME QUESTION")


def render_transcript(reply: SessionTranscript, canvas: Canvas) -> Iterator[str]:
    """Yield a session with its questions and answers in order."""
    session = reply.session
    yield f"{canvas.strong(clean(session.name))}  {canvas.dim(pluralize(session.turns, 'turn'))}"
    for turn in reply.turns:
        yield ""
        yield from _turn(turn, canvas)


def render_removal_plan(reply: SessionList, canvas: Canvas) -> Iterator[str]:
    """Yield what forgetting every session would take away; nothing when there is none."""
    if not reply.sessions:
        return
    yield f"this forgets {_counted(reply.sessions)}:"
    yield from (f"  {canvas.strong(clean(one.name))}" for one in reply.sessions[:_FEW])
    if len(reply.sessions) > _FEW:
        yield canvas.dim(f"  and {len(reply.sessions) - _FEW} more")


def render_removed_sessions(reply: SessionRemoved, canvas: Canvas) -> Iterator[str]:
    """Yield which sessions are forgotten."""
    if not reply.names:
        yield "no sessions"
        return
    yield from (f"{canvas.dim('forgotten')}  {clean(name)}" for name in reply.names)
    yield f"{pluralize(len(reply.names), 'session')} with {pluralize(reply.turns, 'turn')} forgotten"


def _counted(sessions: list[SessionSummary]) -> str:
    turns = pluralize(sum(one.turns for one in sessions), "turn")
    return f"{pluralize(len(sessions), 'session')} with {turns}"


def _fields(one: SessionSummary) -> str:
    fields = (one.name, str(one.turns), one.created_at, one.updated_at, one.first_question)
    return "\t".join(map(clean, fields))


def _table(sessions: list[SessionSummary], canvas: Canvas, width: int) -> Iterator[str]:
    longest = max(measure_width(clean(one.name)) for one in sessions)
    count = max(len(pluralize(one.turns, "turn")) for one in sessions)
    name = max(8, min(longest, width // 3))
    question = max(8, width - name - count - _DATE - 6)
    for one in sessions:
        yield "  ".join(
            (
                canvas.strong(pad(truncate(clean(one.name), name), name)),
                canvas.dim(f"{pluralize(one.turns, 'turn'):>{count}}"),
                canvas.dim(one.updated_at[:_DATE]),
                truncate(_line(one.first_question), question),
            )
        )


def _turn(turn: SessionTurn, canvas: Canvas) -> Iterator[str]:
    """Yield a question with its number, how it was answered, and the answer."""
    margin = f"{turn.turn_index + 1:>2}  "
    indent = " " * len(margin)
    first, *rest = _block(turn.question, canvas, indent) or [indent]
    yield canvas.strong(margin + first[len(indent) :])
    yield from map(canvas.strong, rest)
    yield indent + _circumstances(turn, canvas)
    if _line(turn.query) != _line(turn.question):
        searched = canvas.wrap(f"searched for: {_line(turn.query)}", indent)
        yield from map(canvas.dim, searched)
    if answer := _answer(turn.answer, canvas, indent):
        yield ""
        yield from answer


def _circumstances(turn: SessionTurn, canvas: Canvas) -> str:
    when = turn.created_at[:_MINUTE].replace("T", " ")
    told = canvas.dim(f"{when} UTC · {clean(turn.model or turn.mode)}")
    return (
        f"{told} · {canvas.warning(f'no answer: {turn.refusal_reason}')}"
        if turn.refusal_reason
        else told
    )


def _answer(text: str, canvas: Canvas, indent: str) -> list[str]:
    """Return an answer as lines: a pipe gets the Markdown as it was said."""
    if canvas.width is None:
        return _block(text, canvas, indent)
    drawn = render_markdown(text, canvas, canvas.width - len(indent))
    return [(indent + line).rstrip() for line in drawn]


def _block(text: str, canvas: Canvas, indent: str) -> list[str]:
    """Return text as lines that fit, its own lines kept and blank ones at its ends left out."""
    lines = clean_lines(text).expandtabs(4).strip("\n").split("\n")
    drawn = [part.rstrip() for line in lines for part in canvas.wrap(line, indent) or [""]]
    return drawn if any(drawn) else []


def _line(text: str) -> str:
    """Return text as one line without runs of blanks."""
    return " ".join(clean(text).split())
