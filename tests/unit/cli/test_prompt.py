import codecs
import io
import os
import pty
import signal
import stat
import subprocess
import sys
import time

import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.options import Flags
from kebab.cli.prompt import confirm, find_terminal
from kebab.errors.catalog import Cancelled, ConfirmationRequired
from tests.shape.tree import ROOT

PROGRAM = """
import sys
from pathlib import Path
from kebab.cli.channels import open_channels
from kebab.cli.prompt import find_terminal, open_prompt
channels = open_channels()
ask = open_prompt(find_terminal(channels), "never", Path(sys.argv[1]) if sys.argv[1:] else None)
while True:
    try:
        channels.out.write("<" + ask() + ">\\n")
    except (EOFError, KeyboardInterrupt) as fault:
        channels.out.write(type(fault).__name__ + "\\n")
        if isinstance(fault, EOFError):
            break
"""


SIGN = "\x1b[2C"
"""The move of the cursor behind the sign of the prompt."""


class Terminal:
    """A process at a terminal, and a person who types."""

    def __init__(self, *arguments):
        self.near, far = pty.openpty()
        os.set_blocking(self.near, False)
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            env={**os.environ, "TERM": "xterm", "PYTHONPATH": str(ROOT), "INPUTRC": os.devnull},
            stdin=far,
            stdout=far,
            stderr=far,
            start_new_session=True,
        )
        os.close(far)
        self.screen, self.location = "", 0
        self.decoder = codecs.getincrementaldecoder("utf-8")()

    def type(self, keys):
        os.write(self.near, keys.encode())

    def interrupt_for(self, words):
        """Interrupt until these words show."""
        for _ in range(10):
            self.process.send_signal(signal.SIGINT)
            if self.sees(words, tries=40):
                return
        raise AssertionError(self.screen)

    def wait_for(self, words):
        """Read on until these words show."""
        assert self.sees(words), self.screen

    def sees(self, words, tries=600):
        """Read on; return whether these words show, after those waited for before."""
        for _ in range(tries):
            found = self.screen.find(words, self.location)
            if found >= 0:
                self.location = found + len(words)
                return True
            try:
                self.screen += self.decoder.decode(os.read(self.near, 65_536))
            except BlockingIOError:
                time.sleep(0.05)
        return False

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.near)


@pytest.fixture
def at_terminal():
    opened = []

    def start(*arguments):
        opened.append(Terminal(*arguments))
        opened[-1].wait_for(SIGN)
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_history_is_private_and_available_in_the_next_process(at_terminal, tmp_path):
    history = tmp_path / "state" / "chat_history"
    first = at_terminal(str(history))
    first.type("one\n")
    first.wait_for("<one>")

    second = at_terminal(str(history))
    second.type("\x1b[A\n")
    second.wait_for("<one>")

    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_a_line_that_ctrl_c_cleared_comes_back_with_up(at_terminal, tmp_path):
    history = tmp_path / "chat_history"
    person = at_terminal(str(history))
    person.type("한글 half")
    person.wait_for("half")
    person.interrupt_for("<>")
    person.wait_for(SIGN)
    person.type("\x1b[A!\n")
    person.wait_for("<한글 half!>")

    again = at_terminal(str(history))
    again.type("\x1b[A\x1b[A\n")
    again.wait_for("<한글 half>")


def test_there_is_no_person_without_a_terminal_at_both_ends(monkeypatch, tmp_path):
    near, far = pty.openpty()
    with (tmp_path / "log").open("wb") as log, os.fdopen(far, "rb", closefd=True) as typed:
        screen, file = (
            OutputChannel(typed.fileno(), "<stderr>"),
            OutputChannel(log.fileno(), "<stdout>"),
        )
        monkeypatch.setattr(sys, "stdin", typed)
        assert find_terminal(OutputChannels(file, screen)) is screen
        assert find_terminal(OutputChannels(screen, file)) is screen
        assert find_terminal(OutputChannels(file, file)) is None
        monkeypatch.setattr(sys, "stdin", None)
        assert find_terminal(OutputChannels(screen, screen)) is None
    os.close(near)


PLAN = ["this deletes a lot:", "  everything"]


@pytest.fixture
def asked(monkeypatch):
    """Ask a person who types an answer; return what stood on the screen."""
    near, far = pty.openpty()
    stdin = os.fdopen(os.dup(far), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stdin)
    channel = OutputChannel(far, "<stderr>")

    def ask(typed, plan=PLAN, **flags):
        os.write(near, typed)
        context = CommandContext(
            OutputChannels(channel, channel), Interrupts(lambda: None), flags=Flags(**flags)
        )
        confirm(context, "wipe", plan, lambda plan, _: plan)
        os.write(far, b"\nend")
        return _screen(near)

    yield ask
    stdin.close()
    os.close(near)
    os.close(far)


class InterruptedTerminal:
    """A terminal at which a person presses Ctrl-C."""

    def isatty(self):
        return True

    def readline(self):
        raise KeyboardInterrupt


def _screen(descriptor):
    seen = b""
    while not seen.endswith(b"end"):
        seen += os.read(descriptor, 65_536)
    return seen.decode()


@pytest.mark.parametrize("typed", [b"y\n", b"  YES \n"])
def test_yes_confirms_after_the_plan_is_shown(asked, typed):
    screen = asked(typed)

    assert "this deletes a lot:" in screen
    assert "go on? [y/N]" in screen


@pytest.mark.parametrize("typed", [b"n\n", b"yep\n", b"\x04"])
def test_any_other_answer_cancels(asked, typed):
    with pytest.raises(Cancelled) as caught:
        asked(typed)

    assert caught.value.operation == "wipe"


def test_an_interruption_ends_the_line_of_the_question(monkeypatch):
    near, far = pty.openpty()
    monkeypatch.setattr(sys, "stdin", InterruptedTerminal())
    channel = OutputChannel(far, "<stderr>")
    context = CommandContext(OutputChannels(channel, channel), Interrupts(lambda: None))

    with pytest.raises(KeyboardInterrupt):
        confirm(context, "wipe", PLAN, lambda plan, _: plan)
    os.write(far, b"end")
    assert _screen(near).endswith("go on? [y/N] \r\nend")
    os.close(near)
    os.close(far)


@pytest.mark.parametrize("stdin", [None, io.StringIO("y\n")])
def test_without_a_terminal_confirmation_is_required(asked, monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(ConfirmationRequired) as caught:
        asked(b"", plan=[])

    assert caught.value.operation == "wipe"
