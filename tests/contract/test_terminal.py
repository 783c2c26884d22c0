"""What a person at a terminal gets, through a real one."""

import os
import pty
import re
import signal
import subprocess
import sys

import pytest

from tests.contract.conftest import ROOT, SCRIPTED

COLOUR = re.compile("\x1b\\[[0-9;]*m")
LINK = "\x1b]8;;file:///home/ada/notes/ops/backup.md\x1b\\"


@pytest.fixture
def terminal(empty):
    """Run a command line at a terminal and type an answer; return its status and the screen."""

    def run(*arguments, typed=b"", interrupt=None, number=signal.SIGINT, keys=b"", **environ):
        near, far = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", SCRIPTED, *arguments],
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "60", **environ},
            cwd=ROOT,
            stdin=far,
            stdout=far,
            stderr=far,
        )
        os.close(far)
        os.write(near, typed)
        screen = ""
        if interrupt:
            screen = _read_until(near, interrupt)
            if keys:
                os.write(near, keys)
            else:
                _signal(process, number)
        screen += _read_all(near)
        os.close(near)
        return process.wait(60), screen.replace("\r\n", "\n")

    return run


def _signal(process, number):
    """Send a signal until it is noticed: readline may be about to wait for a key just then."""
    for _ in range(60):
        process.send_signal(number)
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            continue
        return


def _read_until(near, words):
    """Return what is shown up to these words."""
    seen = b""
    while words not in seen:
        seen += os.read(near, 65_536)
    return seen.decode("utf-8", "ignore")


def _read_all(near):
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(near, 65_536)
        except OSError:
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)


def test_hits_are_coloured_and_linked(terminal):
    status, screen = terminal("search", "word", "-n", "1")

    assert status == 0
    assert LINK in screen
    assert COLOUR.search(screen)


def test_a_first_run_says_what_it_does_and_what_to_try_next(terminal):
    status, screen = terminal("ingest", NO_COLOR="1")
    first, _, last = screen.partition("\n\n10 documents, 12 files found, in 1.2 s: ")

    assert status == 0
    assert first.startswith("kebab keeps the text and an index in ")
    assert first.endswith("Ctrl-C keeps what is done; the next `kebab ingest` goes on from there")
    assert last.endswith("\nnext: kebab search WORDS\n")
    assert last.count("\n") <= 4


@pytest.mark.parametrize(
    ("typed", "status", "words"),
    [(b"y\n", 0, "12.3 kB freed"), (b"n\n", 130, "interrupted: reset")],
)
def test_a_reset_asks_first(terminal, typed, status, words):
    found, screen = terminal("reset", typed=typed)

    assert found == status
    assert "this deletes 12.3 kB" in screen
    assert words in COLOUR.sub("", screen)


@pytest.mark.parametrize(
    ("typed", "status", "words"),
    [
        (b"n\n", 130, "interrupted: session rm --all"),
    ],
)
def test_forgetting_every_session_asks_first(terminal, typed, status, words):
    found, screen = terminal("session", "rm", "--all", typed=typed)

    assert found == status
    assert "this deletes 2 sessions with 3 turns" in screen
    assert words in COLOUR.sub("", screen)


def test_a_machine_is_never_asked(terminal):
    status, screen = terminal("reset", "--json", typed=b"y\n")

    assert status == 2
    assert '"code":"confirmation_required"' in screen


def test_an_answer_is_set_with_markers_and_links(terminal):
    status, screen = terminal("ask", "x")

    assert status == 0
    assert "Stop, then \x1b[1mrestore\x1b[0m \x1b[36m[1]\x1b[0m." in screen
    assert LINK in screen


def test_an_answer_comes_as_it_is_said_and_then_stands_once(terminal):
    status, screen = terminal("ask", "slow everything")

    plain = COLOUR.sub("", screen)
    assert status == 0
    assert "gemma3:4b is writing" in plain
    whole = plain[plain.rindex("\x1b[?25h") :]
    assert whole.count("Restoring a backup") == 1
    assert "is writing" not in whole


def test_an_interrupted_question_leaves_the_terminal_as_it_was(terminal):
    status, screen = terminal("ask", "halting", interrupt=b"is writing")

    assert status == 130
    assert screen.rindex("\x1b[?25h") < screen.index("note:")
    assert COLOUR.sub("", screen).splitlines()[-2] == "note: interrupted"


def test_a_chat_asks_until_it_is_left(terminal):
    status, screen = terminal("chat", typed=b"x\n/sources\ncut\nexit\n")

    plain = COLOUR.sub("", screen)
    assert status == 0
    assert "session: chat-" in plain
    assert "Stop, then restore [1]." in plain
    assert plain.count("ops/backup.md:12-13") == 2
    assert "code: model_unreachable" in plain
    assert "noise" not in plain


def test_a_chat_that_is_terminated_ends(terminal):
    status, _ = terminal("chat", interrupt=b"Ctrl-D leaves", number=signal.SIGTERM)

    assert status == 130


def test_a_search_without_a_query_shows_examples_and_waits_for_one(terminal):
    status, screen = terminal("search", interrupt=b"Esc leave", keys=b"\x03")

    assert status == 130
    assert "how do I restore a backup" in screen
