import os
import pty
import time

import pytest

from kebab.cli.channels import OutputChannel
from kebab.cli.render.answer import AnswerLog, AnswerStatus, LiveAnswer
from kebab.cli.render.canvas import Canvas
from kebab.wire.ask import AnswerEvent
from tests.fakes import replies

FOUND = AnswerEvent(type="retrieval_done", hits=[replies.hit(), replies.hit(2)])
AGAIN = AnswerEvent(type="restart", reason="the window is full\x1b")
PLAIN = Canvas(width=40)


def token(delta):
    return AnswerEvent(type="token", delta=delta)


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def wait(now):
    return AnswerStatus("gemma\x1b", clock=lambda: now[0])


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


def test_a_wait_says_what_it_is_for_and_how_long_it_took(wait, now):
    said = [str(wait)]
    for at, event in ((0.5, FOUND), (3.2, None), (4.0, token("a")), (5.0, AGAIN), (9.0, None)):
        now[0] = at
        if event:
            wait.update(event)
        said.append(str(wait))

    assert said == [
        "looking for passages",
        "reading 2 passages",
        "waiting for gemma\ufffd  3 s",
        "gemma\ufffd is writing  4 s",
        "asking again with less: the window is full\ufffd  5 s",
        "asking again with less: the window is full\ufffd  9 s",
    ]


def test_without_a_model_the_status_names_none(now):
    wait = AnswerStatus(None, clock=lambda: now[0])
    wait.update(FOUND)
    now[0] = 5.0

    assert str(wait) == "reading 2 passages  5 s"
    wait.update(token("a"))
    assert str(wait) == "writing  5 s"


def test_a_log_gets_one_line_when_it_takes_long(wait, now, tmp_path):
    with (tmp_path / "err").open("wb") as file:
        line = AnswerLog(OutputChannel(file.fileno(), "<stderr>"), wait)
        with line:
            line(FOUND)
            now[0] = 2.5
            line.show_heartbeat(2500)
            line.show_heartbeat(5000)
        line.abort()

    assert (tmp_path / "err").read_text() == "waiting for gemma\ufffd  2 s\n"


def test_the_text_is_above_the_status_line(wait, terminal):
    region = LiveAnswer(terminal[1], PLAIN, wait, shows_text=True)
    assert region.lines(40, 10) == ["looking for passages"]

    region(token("so **it** is [1]\n\n"))
    region(token("- a\x1b"))

    assert region.lines(40, 10) == ["so it is [1]", "", "• a\ufffd", "", "gemma\ufffd is writing"]


def test_of_a_long_text_the_end_is_shown(wait, terminal):
    region = LiveAnswer(terminal[1], PLAIN, wait, shows_text=True)
    region(token("\n\n".join(f"line {number}" for number in range(100))))

    lines = region.lines(40, 10)

    assert len(lines) <= 9
    assert lines[0] == "…"
    assert lines[-3] == "line 99"


def test_a_restart_removes_the_text(wait, terminal):
    region = LiveAnswer(terminal[1], PLAIN, wait, shows_text=True)
    region(token("wrong"))
    region(AGAIN)

    assert region.lines(60, 10) == ["asking again with less: the window is full\ufffd"]


def test_where_the_answer_goes_elsewhere_only_the_status_is_shown(wait, terminal):
    region = LiveAnswer(terminal[1], PLAIN, wait, shows_text=False)
    region(token("so"))

    assert region.lines(40, 10) == ["gemma\ufffd is writing"]


def test_a_live_region_is_rendered_and_removed(wait, terminal):
    near, channel = terminal
    with LiveAnswer(channel, Canvas(width=40, live=True), wait, shows_text=True) as region:
        region(token("so it is"))
        seen = ""
        for _ in range(100):
            seen += shown(near)
            if "so it is" in seen:
                break
            time.sleep(0.05)
        region.show_heartbeat(0)
    last = shown(near)

    assert "so it is" in seen
    assert last.endswith("\x1b[1A\x1b[2K")


def test_leaving_at_once_shows_the_cursor_again(wait, terminal):
    near, channel = terminal

    LiveAnswer(channel, PLAIN, wait, shows_text=True).abort()

    assert shown(near).startswith("\x1b[?25h")


def test_a_live_region_takes_every_event(wait, terminal):
    region = LiveAnswer(terminal[1], PLAIN, wait, shows_text=False)

    assert [region(event) for event in (FOUND, token("so"), AGAIN)] == [True] * 3
