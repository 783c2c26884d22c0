import io
import os
import pty

import pytest

from kebab.cli.channels import OutputChannel
from kebab.cli.render.answer import (
    AnswerLog,
    LiveAnswer,
    render_removal_plan,
    render_removed_sessions,
    render_session_list,
    render_transcript,
)
from kebab.cli.render.canvas import Canvas, measure_width
from kebab.wire.ask import AnswerEvent
from tests.fakes import replies
from tests.fakes.waiting import wait_until

FOUND = AnswerEvent(type="retrieval_done", hits=[replies.hit(), replies.hit(2)])
AGAIN = AnswerEvent(type="restart", reason="the window is full\x1b")
PLAIN = Canvas(width=40)


def token(delta):
    return AnswerEvent(type="token", delta=delta)


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def terminal():
    near, far = pty.openpty()
    os.set_blocking(near, False)
    yield near, OutputChannel(far, "<stderr>")
    os.close(near)
    os.close(far)


def shown(near):
    parts = []
    while True:
        try:
            parts.append(os.read(near, 65_536))
        except BlockingIOError:
            return b"".join(parts).decode()


def test_a_wait_says_what_it_is_for_and_how_long_it_took(now, terminal):
    wait = AnswerLog(terminal[1], PLAIN, "gemma\x1b", clock=lambda: now[0])
    said = [wait.describe()]
    for now[0], event in ((0.5, FOUND), (4.0, token("a")), (5.0, AGAIN)):
        wait(event)
        said.append(wait.describe())

    assert said == [
        "looking for passages",
        "asking gemma\ufffd about 2 passages",
        "gemma\ufffd is writing  4 s",
        "asking again with less: the window is full\ufffd  5 s",
    ]


def test_the_text_is_above_the_status_line(terminal):
    region = LiveAnswer(terminal[1], PLAIN, "gemma\x1b", shows_text=True)
    assert region.lines(40, 10) == ["looking for passages"]

    region(token("so **it** is [1]\n\n"))
    region(token("- a\x1b"))

    assert region.lines(40, 10) == ["so it is [1]", "", " • a\ufffd", "", "gemma\ufffd is writing"]


def test_a_live_region_is_rendered_and_removed(terminal):
    near, channel = terminal
    with LiveAnswer(channel, Canvas(width=40, live=True), None, shows_text=True) as region:
        region(token("so it is"))
        seen = io.StringIO()
        wait_until(lambda: seen.write(shown(near)) and "so it is" in seen.getvalue())
        region.show_heartbeat(0)
    last = shown(near)

    assert last.endswith("\x1b[1A\x1b[2K")


TERMINAL = Canvas(width=60)
HOSTILE = "red \x1b[31m\u202e\x07"


def drawn(*turns, canvas=TERMINAL):
    return list(render_transcript(replies.session_transcript("backups", *turns), canvas))


def test_a_conversation_is_rendered_question_by_question():
    second = replies.session_turn(
        turn_index=1,
        question="And on Fridays?",
        query="How do I restore on Fridays?",
        answer="The notes do not say.",
        refusal_reason="score_gate",
        mode="extractive",
        model=None,
    )

    assert drawn(replies.session_turn(), second) == [
        "backups  2 turns",
        "",
        " 1  How do I restore a snapshot?",
        "    2025-01-31 12:00 UTC · gemma4:e4b",
        "",
        "    Stop the writer, then restore the snapshot [1].",
        "",
        " 2  And on Fridays?",
        "    2025-01-31 12:00 UTC · extractive · no answer: score_gate",
        "    searched for: How do I restore on Fridays?",
        "",
        "    The notes do not say.",
    ]


@pytest.mark.parametrize("text", ["word " * 100, "가나다라 " * 100, "x" * 500, "- a\n\n\tb\n" * 9])
def test_everything_fits_the_terminal(text):
    turn = replies.session_turn(question=text, query=text + "!", answer=text)

    assert all(measure_width(line) <= 60 for line in drawn(turn))


@pytest.mark.parametrize("canvas", [TERMINAL, Canvas()])
def test_texts_of_a_session_cannot_control_the_terminal(canvas):
    summary = replies.session_summary(name=HOSTILE, first_question=HOSTILE)
    turn = replies.session_turn(
        question=HOSTILE, query="?" + HOSTILE, answer=HOSTILE, model=HOSTILE
    )
    lines = [
        *render_session_list(replies.session_list(summary), canvas),
        *render_removal_plan(replies.session_list(summary), canvas),
        *render_transcript(replies.session_transcript(HOSTILE, turn), canvas),
        *render_removed_sessions(replies.session_removed(HOSTILE), canvas),
    ]

    assert not {"\x1b", "\u202e", "\x07"} & set("".join(lines))
    assert sum("red" in line for line in lines) >= 7
