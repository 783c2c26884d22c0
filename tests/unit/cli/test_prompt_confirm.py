import io
import os
import pty
import sys

import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.options import Flags
from kebab.cli.prompt import confirm
from kebab.errors.catalog import Cancelled, ConfirmationRequired

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
        confirm(context, "wipe", lambda _: plan)
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


@pytest.mark.parametrize("typed", [b"y\n", b"Yes\n", b"  YES \n"])
def test_yes_confirms_after_the_plan_is_shown(asked, typed):
    screen = asked(typed)

    assert "this deletes a lot:" in screen
    assert "go on? [y/N]" in screen


@pytest.mark.parametrize("typed", [b"n\n", b"\n", b"yep\n", b"\x04"])
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
        confirm(context, "wipe", lambda _: PLAN)
    os.write(far, b"end")
    assert _screen(near).endswith("go on? [y/N] \r\nend")
    os.close(near)
    os.close(far)


def test_an_empty_plan_needs_no_confirmation(asked):
    assert "go on?" not in asked(b"", plan=[])


def test_json_output_never_prompts(asked):
    with pytest.raises(ConfirmationRequired):
        asked(b"y\n", machine=True)


@pytest.mark.parametrize("stdin", [None, io.StringIO("y\n")])
def test_without_a_terminal_confirmation_is_required(asked, monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(ConfirmationRequired) as caught:
        asked(b"", plan=[])

    assert caught.value.operation == "wipe"
